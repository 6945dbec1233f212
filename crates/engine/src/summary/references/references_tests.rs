//! What is a reference, and when a text has it.

use proptest::prelude::*;

use super::*;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

fn said(role: Role, words: &str) -> Message {
    Message::new(role, vec![Part::Text(words.into())])
}

fn step(id: &str, name: &str, input: &str, output: &str, outcome: ToolOutcome) -> [Message; 2] {
    let call = ToolCall {
        id: CallId::new(id),
        name: name.into(),
        input: Input::Json(input.into()),
    };
    let result = ToolResult {
        id: CallId::new(id),
        name: None,
        content: vec![Content::Text(output.into())],
        outcome,
    };
    [
        Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]),
        Message::new(Role::Tool, vec![Part::Result(Box::new(result))]),
    ]
}

fn of(messages: &[Message], previous: Option<&str>) -> References {
    let mut ledger = Ledger::default();
    messages.iter().for_each(|message| ledger.fold(message));
    let records: Vec<Record<'_>> = (0..)
        .zip(messages)
        .map(|(number, message)| Record { number, message })
        .collect();
    References::of(&ledger, &records, previous)
}

fn texts(references: &References) -> Vec<(&'static str, &str)> {
    references
        .list()
        .iter()
        .map(|one| (one.kind.name(), &*one.text))
        .collect()
}

#[test]
fn what_binds_what_broke_and_what_was_done_is_a_reference() {
    let mut messages = vec![said(
        Role::User,
        "Never touch src/legacy/api.rs. Please fix parse_header in src/http.rs.",
    )];
    messages.extend(step(
        "a",
        "Edit",
        r#"{"file_path":"/repo/src/http.rs","old_string":"let max_header_size = 1;","new_string":"let max_header_size = 2;"}"#,
        "The file /repo/src/http.rs has been updated.",
        ToolOutcome::Success,
    ));
    messages.extend(step(
        "b",
        "Bash",
        r#"{"command":"cargo test -p http max_header_size"}"#,
        "error[E0425]: cannot find value `max_body` in this scope\n --> src/http.rs:40:9\nerror: could not compile",
        ToolOutcome::Failure,
    ));
    let references = of(&messages, None);
    let list = texts(&references);
    assert_eq!(list[0], ("statement", "src/legacy/api.rs"), "{list:?}");
    assert!(
        list.iter()
            .any(|(kind, text)| *kind == "error" && text.contains("E0425")),
        "{list:?}"
    );
    for wanted in [("file", "/repo/src/http.rs"), ("used", "max_header_size")] {
        assert!(list.contains(&wanted), "{wanted:?} in {list:?}");
    }
    assert!(list.iter().any(|(_, text)| *text == "parse_header"), "{list:?}");
    assert!(
        !list
            .iter()
            .any(|(_, text)| matches!(*text, "file_path" | "old_string" | "src/http.rs")),
        "{list:?}"
    );
}

#[test]
fn what_no_longer_holds_is_none() {
    let messages = [
        said(Role::User, "The staging server is alpha.corp.net. The port is 8081."),
        said(Role::Assistant, "Understood."),
        said(
            Role::User,
            "Correction: the staging server is beta.corp.net now, not alpha.corp.net.",
        ),
    ];
    let references = of(&messages, None);
    let list = texts(&references);
    assert!(list.iter().any(|(_, text)| *text == "beta.corp.net"), "{list:?}");
    assert!(!list.iter().any(|(_, text)| *text == "alpha.corp.net"), "{list:?}");
}

#[test]
fn what_was_pasted_weighs_little() {
    let trace: String = (0..12)
        .map(|line| format!("    at load_module_{line} (loader_{line}.js:2{line}:40)\n"))
        .collect();
    let references = of(&[said(Role::User, &format!("what is this\n{trace}"))], None);
    assert!(
        !references.list().is_empty() && references.critical().is_empty(),
        "{:?}",
        texts(&references)
    );
    let typed = of(&[said(Role::User, "please look at load_module_3 for me")], None);
    assert_eq!(typed.critical().len(), 1);
}

#[test]
fn the_previous_summary_adds_what_lasts() {
    let previous = "## Goal\nx\n## Progress\n### Done\n- wrote old_stuff.rs\n## Relevant Files\n- src/keep.rs (modified)\n\
                    ## Critical Context\n- retry_limit is 7500\n";
    let references = of(&[said(Role::User, "go on")], Some(previous));
    let list = texts(&references);
    for wanted in ["src/keep.rs", "retry_limit", "7500"] {
        assert!(list.contains(&("earlier", wanted)), "{wanted} in {list:?}");
    }
    assert!(!list.iter().any(|(_, text)| *text == "old_stuff.rs"), "{list:?}");
}

fn listed(kind: RefKind, texts: &[&str]) -> References {
    let list = texts.iter().map(|text| Reference {
        kind,
        text: (*text).into(),
        author: Author::User,
        message: 1,
        weight: 50,
    });
    References::new(list.collect())
}

#[test]
fn tolerant_where_a_summary_may_write_otherwise() {
    for (kind, reference, has, lacks) in [
        (
            RefKind::File,
            "/repo/src/http.rs",
            vec![
                "`src/http.rs`: fixed",
                "http.rs:40",
                "/repo/src/http.rs.",
                "(src/http.rs)",
                "in repo/src/http.rs,",
            ],
            vec!["src/https.rs", "myhttp.rs", "http.rs.bak", "HTTP.rs", "other-http.rs"],
        ),
        (
            RefKind::File,
            "deploy/Makefile",
            vec!["the Makefile", "`deploy/Makefile`"],
            vec!["Makefiles"],
        ),
        (
            RefKind::Fact,
            "128431",
            vec!["128,431 rows", "it is 128_431", "(128431)"],
            vec!["1284310", "128431.5", "128,43"],
        ),
        (RefKind::Fact, "12,500", vec!["12500", "12,500."], vec!["12,5000"]),
        (
            RefKind::Said,
            "1.2",
            vec!["v1: 1.2", "1.2, then"],
            vec!["1.2.3", "11.2", "0.1.2"],
        ),
        (
            RefKind::Said,
            "--no-verify",
            vec!["git commit --no-verify"],
            vec!["--no-verify-ssl"],
        ),
        (
            RefKind::Error,
            "error[E0425]: cannot find value `max_body` in this scope",
            vec![
                "cannot find value max_body in the scope (E0425)",
                "error E0425: max_body missing, cannot find value in scope",
            ],
            vec!["a compile error remains", "cannot compile in this crate"],
        ),
        (
            RefKind::Fact,
            "blue green deploys with a canary",
            vec!["Deploys: blue green with canary"],
            vec!["green deploys"],
        ),
        (
            RefKind::Credential,
            "credential_ref:github:01ab",
            vec!["token credential_ref:github:01ab"],
            vec!["credential_ref:github:01abc"],
        ),
    ] {
        let references = listed(kind, &[reference]);
        for text in has {
            assert!(references.missing(text).is_empty(), "{reference} stands in {text}");
        }
        for text in lacks {
            assert_eq!(
                references.missing(text).len(),
                1,
                "{reference} does not stand in {text}"
            );
        }
    }
}

#[test]
fn an_end_that_two_paths_share_tells_neither() {
    let references = listed(RefKind::File, &["/repo/a/mod.rs", "/repo/b/mod.rs"]);
    assert_eq!(references.missing("mod.rs").len(), 2);
    assert_eq!(references.missing("a/mod.rs").len(), 1);
    let spellings = listed(RefKind::File, &["/repo/a/mod.rs", "@a/mod.rs"]);
    assert_eq!(spellings.list().len(), 1);
    assert!(spellings.missing("mod.rs").is_empty());
}

#[test]
fn the_list_is_bounded() {
    let words: String = (0..900)
        .map(|number| format!("please see symbol_number_{number} once more in this text. "))
        .collect();
    let messages: Vec<Message> = words
        .split_inclusive(". ")
        .map(|words| said(Role::User, words))
        .collect();
    let references = of(&messages, None);
    assert_eq!(references.list().len(), MOST);
    assert!(references.critical().len() <= MOST_CRITICAL);
    assert_eq!(
        &*references.list()[0].text,
        "symbol_number_899",
        "the newest come first"
    );
}

proptest! {
    #[test]
    fn a_text_has_what_is_in_it(words in prop::collection::vec("[a-z]{2,8}(_[a-z]{2,6}){0,2}|/[a-z]{3,6}/[a-z]{3,6}\\.rs|[0-9]{4,6}", 1..20), any in any::<String>()) {
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        for kind in [RefKind::Said, RefKind::Error, RefKind::File] {
            let references = listed(kind, &texts);
            prop_assert!(references.missing(&words.join(" ")).is_empty());
            references.missing(&any);
            listed(kind, &[&any]).missing(&any);
        }
        invented(&any, &|_| false);
    }
}

#[test]
fn nobody_is_asked_for_what_they_were_not_shown() {
    let one = |text: &str| Reference {
        kind: RefKind::File,
        text: text.into(),
        author: Author::Assistant,
        message: 0,
        weight: 70,
    };
    let all = References::new(["src/shown.rs", "src/told.rs", "src/left_out.rs"].map(one).to_vec());
    let asked = all.found_in(
        &["[m1 user] look at src/shown.rs".to_owned()],
        "## Relevant Files\n- src/told.rs",
    );
    let texts: Vec<&str> = asked.list().iter().map(|reference| &*reference.text).collect();
    assert_eq!(texts, ["src/shown.rs", "src/told.rs"]);
    assert_eq!(asked.missing("src/shown.rs and src/told.rs").len(), 0);
}

#[test]
fn junk_is_no_reference() {
    let mut messages = vec![said(
        Role::User,
        "Please fix parse_header in src/http.rs; the buffer has 163,840 bytes and grep -r x . 2>/dev/null finds nothing.",
    )];
    let lint = "In build.sh line 3:\nSC2086 (info): Double quote to prevent globbing: error handling\nerror: linking with cc failed";
    for id in ["c1", "c2"] {
        let input = r#"{"command":"make all > /dev/null && cat /dev/stdin"}"#;
        messages.extend(step(id, "bash", input, lint, ToolOutcome::Failure));
    }
    let references = of(&messages, None);
    let all = texts(&references);
    assert!(
        !all.iter()
            .any(|(_, text)| text.contains("/dev/") || text.contains("(info)") || *text == "840" || *text == "163"),
        "{all:?}"
    );
    assert!(all.contains(&("said", "163,840")), "{all:?}");
    let missing = |text: &str| references.missing(text).iter().any(|one| &*one.text == "163,840");
    assert!(!missing("a buffer of 163840 bytes") && !missing("163,840") && missing("163 and 840"));
}
