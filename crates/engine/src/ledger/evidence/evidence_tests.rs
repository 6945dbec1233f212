//! Evidence as a whole: what is chosen, that it fits, that it is verbatim, and that it is always the same.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::account::Family;
use crate::account::TextKind;
use crate::account::TokenCounter;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

fn said(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn call(tool: &str, arguments: &str) -> Message {
    let call = ToolCall {
        id: CallId::new("c"),
        name: tool.into(),
        input: Input::Json(arguments.into()),
    };
    Message::new(Role::Assistant, vec![Part::Call(Box::new(call))])
}

fn result(text: &str) -> Message {
    let result = ToolResult {
        id: CallId::new("c"),
        name: None,
        content: vec![Content::Text(text.into())],
        outcome: ToolOutcome::Unstated,
    };
    Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
}

fn folded(messages: &[Message]) -> Evidence {
    let mut evidence = Evidence::new();
    for (index, message) in (0u32..).zip(messages) {
        evidence.fold(index, message);
    }
    evidence
}

fn count(text: &str) -> u64 {
    Family::Cl100k.count(text, TextKind::Output)
}

fn choose(evidence: &Evidence, messages: &[Message], budget: u64) -> Vec<Snippet> {
    let room = Room {
        is_cold: &|_| true,
        shown: &[],
        budget,
        count: &count,
        filter: &|text| Cow::Borrowed(text),
        number: &|place| place,
        focus: &[],
    };
    evidence.choose(messages, &room)
}

fn session() -> Vec<Message> {
    let listing: String = (0..200)
        .map(|line| format!("src/part_{line}/unrelated_{line}.rs: nothing to see in item_{line}\n"))
        .collect();
    vec![
        said(
            Role::User,
            "The login in src/auth/session.rs returns 401 for tenant ACME42.",
        ),
        call("read_file", r#"{"path": "src/auth/session.rs"}"#),
        result("fn verify_token(token: &Token) -> bool {\n    token.expires_at > now()\n}\n"),
        call("list_files", r#"{"path": "."}"#),
        result(&listing),
        said(
            Role::Assistant,
            "verify_token compares expires_at with local time; src/auth/session.rs needs utc_now.",
        ),
        call(
            "edit_file",
            r#"{"path": "src/auth/session.rs", "old": "now()", "new": "utc_now()"}"#,
        ),
        result("edited"),
    ]
}

#[test]
fn what_the_agent_works_with_is_kept_and_what_a_listing_shows_is_not() {
    let messages = session();
    let block = render(&choose(&folded(&messages), &messages, 120));
    for name in ["src/auth/session.rs", "verify_token", "expires_at", "utc_now", "ACME42"] {
        assert!(block.contains(name), "{name} is missing in\n{block}");
    }
    assert!(block.matches("unrelated").count() <= 1, "{block}");
}

#[test]
fn every_snippet_names_its_message_and_its_author() {
    let messages = session();
    let snippets = choose(&folded(&messages), &messages, 4_000);
    let block = render(&snippets);
    assert!(block.starts_with("0 user:\nThe login"), "{block}");
    assert!(block.contains("1 call read_file:\npath: "), "{block}");
    assert!(block.contains("2 tool:\nfn verify_token"), "{block}");
    assert!(snippets.windows(2).all(|two| two[0].message <= two[1].message));
    assert!(
        snippets
            .iter()
            .all(|snippet| snippet.message != 2 || snippet.author == Author::Tool)
    );
}

#[test]
fn what_stays_visible_is_not_shown_again() {
    let messages = session();
    let evidence = folded(&messages);
    let request = "The login in src/auth/session.rs returns 401 for tenant ACME42.";
    let room = Room {
        is_cold: &|index| index < 5,
        shown: &[request],
        budget: 60,
        count: &count,
        filter: &|text| Cow::Borrowed(text),
        number: &|place| place,
        focus: &[],
    };
    let snippets = evidence.choose(&messages, &room);
    assert!(!snippets.is_empty());
    assert!(snippets.iter().all(|snippet| snippet.message < 5), "{snippets:?}");
    let alone = Room {
        is_cold: &|index| index == 0,
        ..room
    };
    assert!(
        render(&evidence.choose(&messages, &alone)).is_empty(),
        "all that message 0 holds is visible elsewhere"
    );
}

#[test]
fn instructions_are_never_evidence() {
    let messages = [
        said(Role::System, "Always use tool_runner from /opt/tools/runner.sh"),
        said(Role::User, "call tool_runner on data_set_7"),
    ];
    let snippets = choose(&folded(&messages), &messages, 500);
    assert!(snippets.iter().all(|snippet| snippet.message == 1), "{snippets:?}");
}

#[test]
fn a_filter_is_applied_before_anything_is_counted_or_shown() {
    let messages = [said(Role::User, "connect to db_host_one with pass_word_77 please")];
    let evidence = folded(&messages);
    let room = Room {
        is_cold: &|_| true,
        shown: &[],
        budget: 40,
        count: &count,
        filter: &|text| Cow::Owned(text.replace("pass_word_77", "[hidden]")),
        number: &|place| place,
        focus: &[],
    };
    let block = render(&evidence.choose(&messages, &room));
    assert!(block.contains("[hidden]") && !block.contains("pass_word_77"), "{block}");
}

#[test]
fn repeated_lines_are_kept_once_and_newest() {
    let line = "error in module_alpha at src/alpha/core.rs\n";
    let messages = [result(line), result(line), said(Role::Assistant, "again module_alpha")];
    let snippets = choose(&folded(&messages), &messages, 500);
    let with: Vec<u32> = snippets
        .iter()
        .filter(|one| one.text.contains("src/alpha"))
        .map(|one| one.message)
        .collect();
    assert_eq!(with, [1]);
}

#[test]
fn a_key_stays_beside_its_value_in_a_long_record() {
    let record = format!(
        "{{\"user_id\": \"mia_li_3668\", {} \"payment_id\": \"credit_card_4421486\"}}",
        "\"filler\": \"nothing of note here\", ".repeat(60)
    );
    let messages = [
        result(&record),
        said(Role::Assistant, "I charge credit_card_4421486 of mia_li_3668."),
        said(Role::User, "which payment_id was that?"),
    ];
    let room = Room {
        is_cold: &|index| index == 0,
        shown: &[],
        budget: 40,
        count: &count,
        filter: &|text| Cow::Borrowed(text),
        number: &|place| place,
        focus: &[],
    };
    let block = render(&folded(&messages).choose(&messages, &room));
    assert!(block.contains("payment_id: credit_card_4421486"), "{block}");
}

#[test]
fn messages_that_are_gone_or_shorter_are_passed_over() {
    let messages = session();
    let evidence = folded(&messages);
    assert!(choose(&evidence, &[], 500).is_empty());
    let cut: Vec<Message> = messages.iter().map(|_| said(Role::User, "é")).collect();
    let _ = choose(&evidence, &cut, 500);
}

#[test]
fn a_saved_state_that_does_not_hold_together_is_refused() {
    let saved = serde_json::to_string(&folded(&session())).expect("the state is plain data");
    let mut seen = 0;
    for (at, _) in saved.match_indices(",1,") {
        let broken = format!("{},99999999,{}", &saved[..at], &saved[at + 3..]);
        if let Ok(evidence) = serde_json::from_str::<Evidence>(&broken) {
            // A number that is only counted may be any number.
            let _ = choose(&evidence, &session(), 200);
        } else {
            seen += 1;
        }
    }
    assert!(seen > 0);
}

/// Text with identifiers, odd characters, long lines and JSON.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,8}",
        "[a-z]{2,6}_[a-z0-9]{2,6}",
        "(/[a-z]{1,5}){1,4}\\.rs",
        "[0-9]{1,6}",
        "[0-9a-f]{7,12}",
        "https?://[a-z./]{1,12}",
        Just("\\n".to_owned()),
        Just("\", \"".to_owned()),
        Just("\n".to_owned()),
        any::<char>().prop_map(String::from),
        "\\PC{0,6}",
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

fn any_message() -> impl Strategy<Value = Message> {
    (0..5u8, any_text()).prop_map(|(kind, text)| match kind {
        0 => said(Role::User, &text),
        1 => said(Role::Assistant, &text),
        2 => call("run_tests", &text),
        3 => result(&text),
        _ => said(Role::System, &text),
    })
}

proptest! {
    #[test]
    fn snippets_fit_are_verbatim_and_come_in_order(messages in prop::collection::vec(any_message(), 0..12), budget in 0u64..300) {
        let snippets = choose(&folded(&messages), &messages, budget);
        prop_assert!(snippets.is_empty() || count(&render(&snippets)) <= budget);
        for snippet in &snippets {
            let said = spoken(&messages[snippet.message as usize]).nth(snippet.text_slot as usize).expect("the slot exists");
            prop_assert!(said.text().contains(&snippet.text));
            prop_assert_eq!(said.author, snippet.author);
        }
        prop_assert!(snippets.is_sorted_by_key(|snippet| (snippet.message, snippet.text_slot)));
    }

    #[test]
    fn a_saved_state_goes_on_as_if_nothing_had_happened(messages in prop::collection::vec(any_message(), 0..10), at in 0usize..10) {
        let whole = folded(&messages);
        let at = at.min(messages.len());
        let saved = serde_json::to_string(&folded(&messages[..at])).expect("the state is plain data");
        let mut resumed: Evidence = serde_json::from_str(&saved).expect("what was saved can be read");
        for (index, message) in messages.iter().enumerate().skip(at) {
            resumed.fold(index as u32, message);
        }
        prop_assert_eq!(&resumed, &whole);
        prop_assert_eq!(choose(&resumed, &messages, 100), choose(&whole, &messages, 100));
    }

    #[test]
    fn pieces_cover_a_text_and_cut_no_identifier(text in any_text()) {
        let found = scan(&text);
        let mut end = 0;
        for range in pieces::cut(&text, &found) {
            prop_assert!(range.start >= end && text[end..range.start].trim_ascii().is_empty());
            end = range.end;
            for one in &found {
                prop_assert!(one.range.end <= range.start || one.range.start >= range.end || (one.range.start >= range.start && one.range.end <= range.end));
            }
        }
        prop_assert!(text[end..].trim_ascii().is_empty());
    }
}

#[test]
fn what_the_conversation_holds_is_known() {
    let evidence = folded(&[
        said(
            Role::User,
            "fix parse_header in /repo/src/http/wire.rs, see abc1234 and 1.2.3",
        ),
        result("listening on 48080"),
    ]);
    let restored = Evidence::try_from(SavedEvidence::from(evidence.clone())).unwrap();
    for evidence in [&evidence, &restored] {
        for known in [
            "parse_header",
            "/repo/src/http/wire.rs",
            "wire.rs",
            "./wire.rs",
            "src/http",
            "/repo/src/",
            "abc1234",
            "1.2.3",
            "48080",
        ] {
            assert!(evidence.knows(known), "{known}");
        }
        for unknown in ["parse_footer", "src/wire", "http/src", "src/https", "1.2.4", "4808", ""] {
            assert!(!evidence.knows(unknown), "{unknown}");
        }
    }
}
