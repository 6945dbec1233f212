//! Tests on small sessions: every kind of entry, and every kind of damage.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolOutcome;

use crate::document::Document;
use crate::format;
use crate::reading::History;
use crate::reading::Request;
use crate::session_directories::Homes;
use crate::source::Source;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-08-01T10:00:00Z","cwd":"/home/me/app","parentSession":"/home/me/old.jsonl"}"#;

/// An entry: its type, its id, its parent and its other members.
fn entry(kind: &str, id: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!(",{rest}")
    };
    format!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-08-01T10:00:01Z"{rest}}}"#)
}

fn message(id: &str, parent: &str, inside: &str) -> String {
    entry("message", id, parent, &format!(r#""message":{{{inside}}}"#))
}

fn user(id: &str, parent: &str, text: &str) -> String {
    message(
        id,
        parent,
        &format!(r#""role":"user","content":"{text}","timestamp":1785578400250"#),
    )
}

fn assistant(id: &str, parent: &str, text: &str) -> String {
    message(
        id,
        parent,
        &format!(
            r#""role":"assistant","content":[{{"type":"text","text":"{text}"}}],"model":"m1","stopReason":"stop""#
        ),
    )
}

fn read(lines: &[&str], history: History) -> Document {
    let request = Request { history, session: None };
    let document = format::read(&Source::memory("s", lines.join("\n").into_bytes()), None, &request).unwrap();
    assert_eq!(document.format.name, "pi");
    document
}

fn live(lines: &[&str]) -> Document {
    read(lines, History::Live)
}

fn full(lines: &[&str]) -> Document {
    read(lines, History::Full)
}

fn words(message: &Message) -> String {
    let word = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Call(call) => format!("call {}", call.id.as_str()),
        Part::Result(result) => format!("result {}", result.id.as_str()),
        Part::Thinking(thinking) => format!("thinks {}", thinking.text),
        Part::Opaque(opaque) => format!("opaque {}", opaque.kind),
        Part::Media(_) => "media".to_owned(),
    };
    message.parts.iter().map(word).collect::<Vec<_>>().join("|")
}

fn shape(document: &Document) -> Vec<String> {
    document.transcript.messages().iter().map(words).collect()
}

fn rules(document: &Document) -> Vec<(Rule, Place)> {
    document
        .findings
        .iter()
        .map(|finding| (finding.rule, finding.place))
        .collect()
}

const SUMMED: &str =
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\nS\n</summary>";

#[test]
fn messages_of_every_role_are_read() {
    let answer = r#""role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"sig"},{"type":"thinking","thinking":"","thinkingSignature":"enc","redacted":true},{"type":"text","text":"look"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a.rs"}}],"model":"m1","usage":{"input":10,"output":5,"cacheRead":100,"cacheWrite":7,"reasoning":2,"totalTokens":122},"stopReason":"toolUse","timestamp":1785578400250"#;
    let result = r#""role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"no"},{"type":"image","data":"AA==","mimeType":"image/png"}],"isError":true"#;
    let document = live(&[
        HEADER,
        &user("a", "", "go"),
        &message("b", "a", answer),
        &message("c", "b", result),
        &message(
            "d",
            "c",
            r#""role":"bashExecution","command":"ls","output":"x","exitCode":2,"truncated":true,"fullOutputPath":"/x""#,
        ),
        &message(
            "e",
            "d",
            r#""role":"bashExecution","command":"secret","output":"","excludeFromContext":true"#,
        ),
        &message(
            "f",
            "e",
            r#""role":"custom","customType":"x","content":"injected","display":true"#,
        ),
        &entry(
            "custom_message",
            "g",
            "f",
            r#""customType":"x","content":[{"type":"text","text":"more"}],"display":false"#,
        ),
        &message("h", "g", r#""role":"martian","content":"hello""#),
    ]);
    let messages = document.transcript.messages();
    assert_eq!(
        shape(&document),
        [
            "go",
            "thinks hm|thinks |look|call c1",
            "result c1",
            "Ran `ls`\n```\nx\n```\n\nCommand exited with code 2\n\n[Output truncated. Full output: /x]",
            "injected",
            "more",
            "hello"
        ]
    );
    let authors: Vec<_> = messages.iter().map(|message| message.author).collect();
    let host = Author::Host;
    assert_eq!(
        authors,
        [Author::User, Author::Assistant, Author::Tool, host, host, host, host]
    );
    assert!(matches!(&messages[1].parts[0], Part::Thinking(t) if t.seal == Seal::Signed("sig".into())));
    assert!(matches!(&messages[1].parts[1], Part::Thinking(t) if t.seal == Seal::Encrypted("enc".into())));
    let usage = messages[1].usage.as_ref().unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write, usage.output),
        (117, 100, 7, 5)
    );
    assert_eq!(
        (messages[1].at, messages[1].place),
        (Some(Timestamp(1_785_578_400_250)), Place::Line(3))
    );
    let result = messages[2].results().next().unwrap();
    assert_eq!(
        (result.outcome, result.name.as_deref()),
        (ToolOutcome::Failure, Some("read"))
    );
    assert!(matches!(result.content[1], Content::Media(_)));
    assert_eq!(rules(&document), [(Rule::UnknownRole, Place::Line(9))]);
    assert_eq!(document.recorded.messages, 8);
    let about = &document.about;
    assert_eq!(
        (about.id.as_deref(), about.directory.as_deref()),
        (Some("s1"), Some("/home/me/app"))
    );
    assert_eq!(
        (about.parent.as_deref(), about.model.as_deref()),
        (Some("/home/me/old.jsonl"), Some("m1"))
    );
}

#[test]
fn answers_that_were_cut_off_are_recorded_but_not_sent() {
    let cut = r#""role":"assistant","content":[{"type":"toolCall","id":"c","name":"x","arguments":{}}],"stopReason":"aborted","usage":{"input":0,"output":0}"#;
    let lines = [
        HEADER,
        &user("a", "", "go"),
        &message("b", "a", cut),
        &user("c", "b", "again"),
    ];
    assert_eq!(shape(&live(&lines)), ["go", "again"]);
    let all = full(&lines);
    assert_eq!(all.recorded.messages, 3);
    assert_eq!(all.transcript.messages()[1].usage, None);
}

#[test]
fn a_compaction_leaves_the_summary_what_was_kept_and_what_came_later() {
    let compaction = entry(
        "compaction",
        "e",
        "d",
        r#""summary":"S","firstKeptEntryId":"c","tokensBefore":500,"usage":{"input":9,"output":1}"#,
    );
    let lines = [
        HEADER,
        &user("a", "", "1"),
        &assistant("b", "a", "2"),
        &user("c", "b", "3"),
        &assistant("d", "c", "4"),
        &compaction,
        &user("f", "e", "5"),
    ];
    let now = live(&lines);
    assert_eq!(shape(&now), [SUMMED, "3", "4", "5"]);
    assert_eq!(now.transcript.messages()[0].author, Author::Summary);
    let event = &now.transcript.events()[0];
    assert_eq!(
        (event.before, event.summary, event.tokens_before),
        (3, Some(0), Some(500))
    );
    let all = full(&lines);
    assert_eq!(shape(&all), ["1", "2", "3", "4", SUMMED, "5"]);
    let event = &all.transcript.events()[0];
    assert_eq!((event.before, event.summary), (4, Some(4)));
    assert_eq!(now.recorded, all.recorded);
}

#[test]
fn a_compaction_may_keep_nothing_or_name_what_is_not_there() {
    for (kept, is_missing) in [("c", false), ("zz", true)] {
        let compaction = entry(
            "compaction",
            "c",
            "b",
            &format!(r#""summary":"S","firstKeptEntryId":"{kept}""#),
        );
        let now = live(&[
            HEADER,
            &user("a", "", "1"),
            &assistant("b", "a", "2"),
            &compaction,
            &user("d", "c", "3"),
        ]);
        assert_eq!(shape(&now), [SUMMED, "3"]);
        assert_eq!(rules(&now).contains(&(Rule::MissingPiece, Place::Line(4))), is_missing);
    }
}

#[test]
fn the_first_version_is_a_line_without_ids() {
    let said = |role: &str, text: &str| {
        format!(
            r#"{{"type":"message","timestamp":"2026-08-01T10:00:01Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let header = r#"{"type":"session","id":"s","timestamp":"2026-08-01T10:00:00Z","cwd":"/x","provider":"p","modelId":"m0","branchedFrom":"/old"}"#;
    let change = r#"{"type":"model_change","timestamp":"2026-08-01T10:00:01Z","provider":"p","modelId":"m2"}"#;
    let compaction = r#"{"type":"compaction","timestamp":"2026-08-01T10:00:02Z","summary":"S","firstKeptEntryIndex":3,"tokensBefore":9}"#;
    let lines = [
        header,
        &said("user", "1"),
        &said("assistant", "2"),
        &said("user", "3"),
        change,
        compaction,
        &said("assistant", "4"),
    ];
    let now = live(&lines);
    assert_eq!(shape(&now), [SUMMED, "3", "4"]);
    assert_eq!(
        (now.about.parent.as_deref(), now.about.model.as_deref()),
        (Some("/old"), Some("m2"))
    );
    assert_eq!(full(&lines).transcript.messages().len(), 5);
    // A damaged line still counts.
    let lines = [
        header,
        "{\"torn",
        &said("assistant", "2"),
        &said("user", "3"),
        compaction,
    ];
    assert_eq!(shape(&live(&lines)), [SUMMED, "3"]);
}

#[test]
fn abandoned_branches_are_left_out_with_a_finding_each() {
    let lines = [
        HEADER,
        &user("a", "", "1"),
        &assistant("b", "a", "left"),
        &user("c", "b", "left too"),
        &assistant("d", "a", "also left"),
        &entry("branch_summary", "e", "a", r#""fromId":"c","summary":"S""#),
        &assistant("f", "e", "2"),
        &entry("label", "g", "f", r#""targetId":"a","label":"here""#),
    ];
    for document in [live(&lines), full(&lines)] {
        let branch =
            "The following is a summary of a branch that this conversation came back from:\n\n<summary>\nS</summary>";
        assert_eq!(shape(&document), ["1", branch, "2"]);
        assert_eq!(
            rules(&document),
            [(Rule::Abandoned, Place::Line(3)), (Rule::Abandoned, Place::Line(5))]
        );
        assert_eq!(document.findings[0].detail, "a branch of 2 messages");
        assert_eq!(document.transcript.messages()[1].author, Author::Summary);
        assert_eq!(document.about.title.as_deref(), Some("here"));
    }
    let mut lines = lines.to_vec();
    let leaf = entry("leaf", "h", "g", r#""targetId":"b""#);
    lines.push(&leaf);
    assert_eq!(shape(&live(&lines)), ["1", "left"]);
}

#[test]
fn context_edits_change_only_what_is_sent() {
    let call = r#""role":"assistant","content":[{"type":"toolCall","id":"c","name":"x","arguments":{}}]"#;
    let lines = [
        HEADER,
        &user("a", "", "1"),
        &message("b", "a", call),
        &message(
            "c",
            "b",
            r#""role":"toolResult","toolCallId":"c","toolName":"x","content":[{"type":"text","text":"long"}],"isError":false"#,
        ),
        &assistant("d", "c", "wrong"),
        &entry("context_edit", "e", "d", r#""targetId":"d","replacement":"not this""#),
        &entry("context_edit", "f", "e", r#""targetId":"d","replacement":null"#),
        &entry("context_edit", "g", "f", r#""targetId":"c","replacement":"short""#),
        &entry(
            "context_edit",
            "h",
            "g",
            r#""targetId":"a","replacement":[{"type":"text","text":"one"}]"#,
        ),
        &entry("context_edit", "i", "h", r#""targetId":"nowhere","replacement":null"#),
    ];
    let now = live(&lines);
    assert_eq!(shape(&now), ["one", "call c", "result c"]);
    let result = now.transcript.messages()[2].results().next().unwrap();
    assert_eq!(result.content, [Content::Text("short".into())]);
    assert_eq!(shape(&full(&lines)), ["1", "call c", "result c", "wrong"]);
}

#[test]
fn the_prompt_is_replayed_from_its_changes() {
    let first = r#""role":"system","content":"","sections":{"preamble":"P","skills":"K"},"toolsAdded":[{"name":"read","description":"r"},{"name":"write"}]"#;
    let second = r#""role":"system","content":"","sections":{"skills":null,"cwd":"C","preamble":"P2"},"toolsRemoved":[{"name":"write"}]"#;
    let third = r#""role":"system","content":"","toolsAdded":[]"#;
    let mut lines = vec![
        HEADER.to_owned(),
        message("a", "", first),
        user("b", "a", "1"),
        message("c", "b", second),
        message("d", "c", third),
    ];
    let read = |lines: &[String], history| read(&lines.iter().map(String::as_str).collect::<Vec<_>>(), history);
    let now = read(&lines, History::Live);
    assert_eq!(shape(&now), ["P2|C", "1"]);
    assert_eq!(now.transcript.messages()[0].role, Role::System);
    let tools = r#"[{"type":"function","function":{"name":"read","description":"r"}}]"#;
    assert_eq!(now.about.tools.as_deref(), Some(tools));
    assert_eq!(shape(&read(&lines, History::Full)), ["P|K", "1", "C|P2"]);

    let checkpoint =
        r#""summary":"S","firstKeptEntryId":"a","systemMessage":{"role":"system","content":"Q","toolsAdded":[]}"#;
    lines.push(entry("compaction", "e", "d", checkpoint));
    let now = read(&lines, History::Live);
    assert_eq!(shape(&now), ["Q", SUMMED, "1"]);
    assert_eq!(now.about.tools, None);
}

#[test]
fn damage_costs_only_itself() {
    let first = user("a", "", "1");
    let document = live(&[
        HEADER,
        &first,
        &first,
        "garbage",
        &assistant("c", "lost", "2"),
        &entry("brand_new", "d", "c", ""),
        "[1]",
        r#"{"id":"x"}"#,
        &entry("message", "e", "d", r#""message":"no""#),
        HEADER,
        &user("f", "e", "3"),
        &user("g", "f", "torn")[..40],
    ]);
    assert_eq!(shape(&document), ["1", "2", "3"]);
    let on = |rule, number| (rule, Place::Line(number));
    assert_eq!(
        rules(&document),
        [
            on(Rule::DuplicateRecord, 3),
            on(Rule::BadRecord, 4),
            on(Rule::UnknownType, 6),
            on(Rule::NotARecord, 7),
            on(Rule::NotARecord, 8),
            on(Rule::NotARecord, 9),
            on(Rule::DuplicateRecord, 10),
            on(Rule::TornRecord, 12),
            on(Rule::MissingParent, 5),
        ]
    );
}

#[test]
fn cycles_and_parents_that_come_later_end_the_walk() {
    let lines = [HEADER, &user("a", "c", "1"), &user("b", "a", "2"), &user("c", "b", "3")];
    let document = live(&lines);
    assert_eq!(shape(&document), ["1", "2", "3"]);
    assert_eq!(rules(&document), [(Rule::ParentCycle, Place::Line(4))]);
    let document = live(&[HEADER, &user("b", "a", "2"), &user("a", "", "1"), &user("c", "b", "3")]);
    assert_eq!(shape(&document), ["1", "2", "3"]);
    let document = live(&[HEADER, &user("a", "a", "1")]);
    assert_eq!(shape(&document), ["1"]);
}

#[test]
fn a_session_without_its_header_is_known_by_its_messages() {
    let result = message(
        "b",
        "a",
        r#""role":"toolResult","toolCallId":"c","toolName":"x","content":[],"isError":false"#,
    );
    let document = live(&[&user("a", "", "1"), &result]);
    assert_eq!(document.transcript.messages().len(), 2);
    let named = entry("session_info", "c", "b", r#""name":"Fix it""#);
    let document = live(&["{\"type\":\"sess", &user("a", "", "1"), &result, &named]);
    assert_eq!(document.about.title.as_deref(), Some("Fix it"));
}

#[test]
fn sessions_of_both_agents_are_found() {
    let home = tempfile::tempdir().unwrap();
    for name in [
        ".pi/agent/sessions/--home-me--/a.jsonl",
        ".openclaw/agents/main/sessions/b.jsonl",
        ".openclaw/agents/main/sessions/b.jsonl.deleted.1",
        ".openclaw/agents/main/notes/c.jsonl",
    ] {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, HEADER).unwrap();
    }
    let homes = Homes {
        home: home.path().to_owned(),
        ..Homes::default()
    };
    let found = crate::discover::find(&homes);
    assert_eq!(found.iter().filter(|found| found.format.name == "pi").count(), 2);
    let document = format::read(&Source::open(&found[0].path).unwrap(), None, &Request::default()).unwrap();
    assert!(document.transcript.messages().is_empty());
}
