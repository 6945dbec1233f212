//! Tests of logs in a bad state, of other forms and places, and of refusals.

use std::fs;

use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use proptest::prelude::*;

use super::tests::*;
use super::*;
use crate::discover;
use crate::format;

#[test]
fn replayed_records_are_read_once() {
    let mut lines = vec![user("u1", "", "go"), text("a1", "u1", "r1", "one")];
    lines.extend(lines.clone());
    lines.push(user("u1", "", "something else"));
    lines.push(user("u2", "a1", "next"));
    let document = parse(&lines, History::Live);
    assert_eq!(shape(&document), ["user go", "assistant one", "user next"]);
    assert_eq!(findings(&document), [(Rule::DuplicateRecord, Place::Line(3))]);
    assert_eq!(document.findings[0].detail, "3 in a row, 1 not the same as before");
}

#[test]
fn a_readable_record_replaces_an_unreadable_one_of_its_id() {
    let broken = format!(r#"{{{},"message":"error"}}"#, envelope("user", "u1", ""));
    let document = parse(&[broken, user("u1", "", "go")], History::Live);
    assert_eq!(shape(&document), ["user go"]);
    assert_eq!(
        findings(&document),
        [
            (Rule::NotARecord, Place::Line(1)),
            (Rule::DuplicateRecord, Place::Line(2))
        ]
    );
}

#[test]
fn subagents_in_the_file_are_left_out() {
    let side = |record: String| record.replace("\"isSidechain\":false", "\"isSidechain\":true");
    let lines = [
        user("u1", "", "go"),
        side(user("x1", "", "sub")),
        side(text("x2", "x1", "rx", "subbed")),
        text("a1", "u1", "r1", "one"),
    ];
    let document = parse(&lines, History::Full);
    assert_eq!(shape(&document), ["user go", "assistant one"]);
    assert_eq!(findings(&document), [(Rule::Sidechain, Place::Line(2))]);
    assert_eq!(document.findings[0].detail, "2 messages");
}

#[test]
fn a_missing_parent_is_what_stands_before() {
    let lines = [
        user("u1", "", "go"),
        text("a1", "u1", "r1", "one"),
        user("u2", "lost", "next"),
        text("a2", "u2", "r2", "two"),
    ];
    let document = parse(&lines, History::Live);
    assert_eq!(document.transcript.messages().len(), 4);
    assert_eq!(findings(&document), [(Rule::MissingParent, Place::Line(3))]);
}

#[test]
fn without_links_the_order_is_the_files() {
    let bare = |record: String| record.replace("\"parentUuid\":null,", "");
    let lines = [
        user("u1", "", "go"),
        text("a1", "", "r1", "one"),
        user("u2", "", "next"),
    ]
    .map(bare);
    let document = parse(&lines, History::Live);
    assert_eq!(shape(&document), ["user go", "assistant one", "user next"]);
    assert_eq!(findings(&document), [(Rule::MissingParent, Place::Whole)]);
}

#[test]
fn cycles_are_cut() {
    let lines = [
        user("u1", "a1", "go"),
        text("a1", "u1", "r1", "one"),
        user("u2", "a1", "next"),
        user("u3", "u3", "me"),
        user("u4", "u2", "end"),
    ];
    let document = parse(&lines, History::Full);
    assert_eq!(shape(&document), ["user go", "assistant one", "user next", "user end"]);
    assert!(findings(&document).iter().any(|(rule, _)| *rule == Rule::ParentCycle));
    let eras = [
        boundary("b1", "s2", ""),
        flagged(&user("s1", "b1", "A"), "isCompactSummary"),
        boundary("b2", "s1", ""),
        flagged(&user("s2", "b2", "B"), "isCompactSummary"),
    ];
    let document = parse(&eras, History::Full);
    assert_eq!(shape(&document), ["summary A", "summary B"]);
    assert!(findings(&document).iter().any(|(rule, _)| *rule == Rule::ParentCycle));
}

#[test]
fn a_compaction_that_broke_off_changed_nothing() {
    let lines = [
        user("u1", "", "go"),
        text("a1", "u1", "r1", "one"),
        boundary("b1", "a1", ""),
    ];
    let document = parse(&lines, History::Live);
    assert_eq!(shape(&document), ["user go", "assistant one"]);
}

#[test]
fn damage_costs_only_itself() {
    let whole = [user("u1", "", "go"), text("a1", "u1", "r1", "one")].join("\r\n");
    let extra = [
        r#"{"type":"from-the-future","uuid":"z1","parentUuid":"a1"}"#,
        r#"{"type":"system","subtype":"novel","uuid":"z2","parentUuid":"z1"}"#,
        r#"{"type":"user","uuid":"z3","parentUuid":"z2","message":{"role":"user"}}"#,
        r#"{"type":"user","uuid":"z4","parentUuid":"z3","message":{"role":"user","content":[]}}"#,
        r#"{"silly":1}"#,
        "42",
        r#"{"type":"summary","message":{}}"#,
        r#"{"type":"user","uuid":7,"parentUuid":[],"message":{"role":"user","content":7}}"#,
        r#"{"type":"user","uuid":"z5","parentUuid":"z4","message":{"role":"user","content":["end"]}}"#,
        r#"{"type":"user","uuid":"z6","mess"#,
    ];
    let bytes = format!("\u{feff}{whole}\r\n{}", extra.join("\n"));
    let source = Source::memory("x.jsonl", bytes.into_bytes());
    let document = format::read(&source, None, &Request::default()).unwrap();
    assert_writes_back(&document);
    assert_eq!(shape(&document), ["user go", "assistant one", "user end"]);
    let rules: Vec<_> = document.findings.iter().map(|finding| finding.rule).collect();
    for rule in [
        Rule::ByteOrderMark,
        Rule::CarriageReturns,
        Rule::UnknownType,
        Rule::NotARecord,
        Rule::TornRecord,
        Rule::Abandoned,
    ] {
        assert!(rules.contains(&rule), "{rule:?} in {rules:?}");
    }
    assert_eq!(rules.iter().filter(|rule| **rule == Rule::NotARecord).count(), 5);
    assert_eq!(rules.iter().filter(|rule| **rule == Rule::UnknownType).count(), 2);
}

#[test]
fn the_web_form_is_read() {
    let log = r#"{"loglines":[
        {"type":"user","timestamp":"2026-08-01T10:00:00Z","message":{"role":"user","content":"go"}},
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Read","input":{}}]}},
        {"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"}]}}
    ]}"#;
    for log in [log.to_owned(), log.replace('\n', "")] {
        let source = Source::memory("web.json", log.into_bytes());
        let document = format::read(&source, None, &Request::default()).unwrap();
        assert_eq!(document.format.name, "claude-code");
        assert_eq!(shape(&document), ["user go", "assistant call c1", "tool c1=one"]);
        assert_eq!(document.transcript.messages()[2].place, Place::Item(2));
    }
}

#[test]
fn subagents_beside_the_file_are_conversations() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s1.jsonl");
    let below = directory.path().join("s1/subagents");
    fs::create_dir_all(below.join("workflows/w1")).unwrap();
    let log = |id: &str, words: &str| {
        let record = user("x1", "", words).replace("\"isSidechain\":false", "\"isSidechain\":true");
        record.replacen('{', &format!("{{\"agentId\":\"{id}\","), 1)
    };
    fs::write(&path, [user("u1", "", "go"), text("a1", "u1", "r1", "one")].join("\n")).unwrap();
    fs::write(below.join("agent-aa.jsonl"), log("aa", "look")).unwrap();
    fs::write(below.join("agent-aa.meta.json"), r#"{"description":"Looks"}"#).unwrap();
    fs::write(below.join("workflows/w1/agent-bb.jsonl"), log("bb", "flow")).unwrap();
    fs::write(directory.path().join("agent-cc.jsonl"), log("cc", "old")).unwrap();
    let foreign = log("dd", "foreign").replace("\"s1\"", "\"s9\"");
    fs::write(directory.path().join("agent-dd.jsonl"), foreign).unwrap();

    let source = Source::open(&path).unwrap();
    let entries = (FORMAT.list)(&source).unwrap();
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.title.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        rows,
        [
            ("s1", "go"),
            ("agent-aa", "Looks"),
            ("agent-bb", "flow"),
            ("agent-cc", "old")
        ]
    );
    for (id, words) in [
        ("s1", "go"),
        ("agent-aa", "look"),
        ("agent-bb", "flow"),
        ("agent-cc", "old"),
    ] {
        let request = Request {
            session: Some(id.to_owned()),
            ..Request::default()
        };
        let document = format::read(&source, None, &request).unwrap();
        assert_eq!(shape(&document)[0], format!("user {words}"));
        assert_eq!(document.about.id.as_deref(), Some(id));
        let is_agent = id != "s1";
        assert_eq!(document.about.parent.as_deref(), is_agent.then_some("s1"));
        assert!(document.findings.is_empty());
    }
    let document = format::read(&source, None, &Request::default()).unwrap();
    assert_eq!(document.about.conversations, 4);
    let request = Request {
        session: Some("agent-dd".to_owned()),
        ..Request::default()
    };
    let error = format::read(&source, None, &request).unwrap_err().to_string();
    assert!(error.contains("agent-dd") && error.contains("agent-aa"), "{error}");
}

#[test]
fn sessions_apart_in_one_file_are_told_apart() {
    let other = |record: String| record.replace("\"s1\"", "\"s2\"");
    let lines = [
        user("u1", "", "go"),
        other(user("v1", "", "other")),
        text("a1", "u1", "r1", "one"),
        other(text("w1", "v1", "r2", "two")),
    ];
    // The file is named after the first.
    assert_eq!(shape(&parse(&lines[..3], History::Live)), ["user go", "assistant one"]);
    let source = Source::memory("x", lines.join("\n").into_bytes());
    let newest = format::read(&source, None, &Request::default()).unwrap();
    assert_eq!(shape(&newest), ["user other", "assistant two"]);
    assert_eq!(newest.about.conversations, 2);
    let ids: Vec<_> = (FORMAT.list)(&source)
        .unwrap()
        .into_iter()
        .map(|entry| entry.id)
        .collect();
    assert_eq!(ids, ["s2", "s1"]);
}

#[test]
fn titles_have_an_order() {
    let mut lines = vec![
        user("u1", "", "go"),
        r#"{"type":"summary","summary":"Own","leafUuid":"u1"}"#.to_owned(),
        r#"{"type":"summary","summary":"Foreign","leafUuid":"zz"}"#.to_owned(),
    ];
    for (line, title) in [
        (r#"{"type":"mode","mode":"normal","sessionId":"s1"}"#, "Own"),
        (r#"{"type":"ai-title","aiTitle":"Generated"}"#, "Generated"),
        (r#"{"type":"custom-title","customTitle":"Given"}"#, "Given"),
        (r#"{"type":"ai-title","aiTitle":"Generated again"}"#, "Given"),
    ] {
        lines.push(line.to_owned());
        assert_eq!(parse(&lines, History::Live).about.title.as_deref(), Some(title));
    }
}

#[test]
fn sessions_are_found_where_they_live() {
    let home = tempfile::tempdir().unwrap();
    for path in [
        ".claude/projects/-w/s1.jsonl",
        ".claude/projects/-w/s1/subagents/agent-a.jsonl",
        ".config/claude/projects/-w/s2.jsonl",
        "moved/projects/-w/s3.jsonl",
        ".claude/history.jsonl",
    ] {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, user("u1", "", "go")).unwrap();
    }
    let mut homes = Homes {
        home: home.path().to_owned(),
        ..Homes::default()
    };
    let names = |homes: &Homes| {
        let found = discover::find(homes)
            .into_iter()
            .filter(|found| found.format.name == "claude-code");
        let mut names: Vec<_> = found
            .filter_map(|found| Some(found.path.file_name()?.to_string_lossy().into_owned()))
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names(&homes), ["agent-a.jsonl", "s1.jsonl", "s2.jsonl"]);
    homes
        .variables
        .insert("CLAUDE_CONFIG_DIR".to_owned(), home.path().join("moved"));
    assert_eq!(names(&homes), ["s3.jsonl"]);
}

#[test]
fn what_is_no_session_is_refused() {
    let source = Source::memory("LICENSE", b"MIT License\n\nPermission is hereby granted".to_vec());
    let error = format::read(&source, None, &Request::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("neither JSON nor a database"), "{error}");
    let qwen = r#"{"uuid":"1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"x"}]}}"#;
    let source = Source::memory("q.jsonl", format!("{qwen}\n{qwen}").into_bytes());
    assert!(format::detect(&source).is_err());
    let empty = r#"{"type":"summary","summary":"T","leafUuid":"x"}"#;
    let source = Source::memory("e.jsonl", format!("{empty}\n{empty}").into_bytes());
    let error = format::read(&source, None, &Request::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("no conversation"), "{error}");
}

/// Lines with ids from a small set, so that they link, repeat, loop and dangle.
fn any_line() -> impl Strategy<Value = String> {
    let id = || prop::sample::select(vec!["", "a", "b", "c", "d", "e"]);
    (0..9_u8, id(), id(), id()).prop_map(|(kind, one, two, three)| match kind {
        0 => user(one, two, three),
        1 => text(one, two, three, "x"),
        2 => call(one, two, three, three),
        3 => result(one, two, three, "x"),
        4 => boundary(
            one,
            two,
            &format!(r#","preservedMessages":{{"anchorUuid":"{three}","uuids":["{two}","c","{one}"]}}"#),
        ),
        5 => boundary(
            one,
            two,
            &format!(r#","preservedSegment":{{"headUuid":"{two}","anchorUuid":"{three}","tailUuid":"b"}}"#),
        ),
        6 => flagged(&user(one, two, "s"), "isCompactSummary"),
        7 => attached(one, two, r#"{"type":"queued_command","prompt":"p"}"#),
        _ => user(one, two, "x").chars().take(150).collect(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn whatever_the_links_are_reading_ends(lines in prop::collection::vec(any_line(), 1..14)) {
        let source = Source::memory("s1.jsonl", lines.join("\n").into_bytes());
        for history in [History::Live, History::Full] {
            let request = Request { history, session: None };
            if let Ok(document) = format::read(&source, Some(&FORMAT), &request) {
                assert_writes_back(&document);
                let stubs = document.transcript.messages().len() as u64;
                prop_assert!(history == History::Live || document.recorded.messages <= stubs);
            }
        }
        let _ = (FORMAT.list)(&source);
    }
}
