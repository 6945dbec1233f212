//! Tests of the conversation: lines into messages, branches, compactions, attachments, other conversations.

use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Trigger;

use super::*;
use crate::format;

/// The fields of every record; the parent is `null` where it is given as nothing.
pub(super) fn envelope(kind: &str, id: &str, parent: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    format!(
        r#""type":"{kind}","uuid":"{id}","parentUuid":{parent},"isSidechain":false,"sessionId":"s1","cwd":"/w","version":"2.1.0","timestamp":"2026-08-01T10:00:00.000Z""#
    )
}

pub(super) fn user(id: &str, parent: &str, text: &str) -> String {
    let head = envelope("user", id, parent);
    format!(r#"{{{head},"message":{{"role":"user","content":"{text}"}}}}"#)
}

pub(super) fn block(id: &str, parent: &str, response: &str, block: &str) -> String {
    let head = envelope("assistant", id, parent);
    let usage = format!(
        r#"{{"input_tokens":1,"cache_read_input_tokens":10,"cache_creation_input_tokens":5,"output_tokens":{}}}"#,
        id.len()
    );
    format!(
        r#"{{{head},"message":{{"id":"{response}","role":"assistant","model":"m","content":[{block}],"usage":{usage}}}}}"#
    )
}

pub(super) fn text(id: &str, parent: &str, response: &str, text: &str) -> String {
    block(id, parent, response, &format!(r#"{{"type":"text","text":"{text}"}}"#))
}

pub(super) fn call(id: &str, parent: &str, response: &str, call: &str) -> String {
    let json = format!(r#"{{"type":"tool_use","id":"{call}","name":"Read","input":{{"b":1.0,"a":2}}}}"#);
    block(id, parent, response, &json)
}

pub(super) fn result(id: &str, parent: &str, call: &str, text: &str) -> String {
    let head = envelope("user", id, parent);
    format!(
        r#"{{{head},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":"{text}"}}]}},"toolUseResult":{{"x":1}}}}"#
    )
}

pub(super) fn attached(id: &str, parent: &str, attachment: &str) -> String {
    let head = envelope("attachment", id, parent);
    format!(r#"{{{head},"attachment":{attachment}}}"#)
}

pub(super) fn boundary(id: &str, continues: &str, metadata: &str) -> String {
    let head = envelope("system", id, "");
    format!(
        r#"{{{head},"subtype":"compact_boundary","logicalParentUuid":"{continues}","content":"Conversation compacted","compactMetadata":{{"trigger":"auto","preTokens":900,"postTokens":90{metadata}}}}}"#
    )
}

pub(super) fn flagged(record: &str, flag: &str) -> String {
    record.replacen('{', &format!("{{\"{flag}\":true,"), 1)
}

pub(super) fn parse(lines: &[String], history: History) -> Document {
    let source = Source::memory("s1.jsonl", lines.join("\n").into_bytes());
    let request = Request { history, session: None };
    let document = format::read(&source, None, &request).unwrap();
    assert_eq!(document.format.name, "claude-code");
    assert_writes_back(&document);
    document
}

/// What is written reads back as the same messages.
pub(super) fn assert_writes_back(document: &Document) {
    let written = document.write();
    serde_json::from_str::<serde_json::Value>(&written).unwrap();
    let source = Source::memory("written", written.into_bytes());
    let anthropic = format::by_name("anthropic").unwrap();
    let again = format::read(&source, Some(anthropic), &Request::default()).unwrap();
    // The form has no place for a tool's name in its result; a stub for a missing result has one.
    let nameless = |part: &Part| match part.clone() {
        Part::Result(mut result) => {
            result.name = None;
            Part::Result(result)
        }
        other => other,
    };
    let told = |document: &Document| -> Vec<_> {
        let messages = document.transcript.messages().iter();
        let parts = |message: &Message| message.parts.iter().map(nameless).collect::<Vec<_>>();
        messages.map(|message| (message.role, parts(message))).collect()
    };
    assert_eq!(told(&again), told(document));
}

/// One line a message: author, then its parts in short.
pub(super) fn shape(document: &Document) -> Vec<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Call(call) => format!("call {}", call.id.as_str()),
        Part::Result(result) => match result.content.first() {
            Some(Content::Text(text)) => format!("{}={text}", result.id.as_str()),
            _ => format!("{}=?", result.id.as_str()),
        },
        Part::Thinking(thinking) => format!("thinks {}", thinking.text),
        Part::Media(_) => "media".to_owned(),
        Part::Opaque(opaque) => format!("opaque {}", opaque.kind),
    };
    let messages = document.transcript.messages().iter();
    messages
        .map(|message| {
            let parts: Vec<_> = message.parts.iter().map(part).collect();
            format!("{} {}", message.author.name(), parts.join(" + "))
        })
        .collect()
}

pub(super) fn findings(document: &Document) -> Vec<(Rule, Place)> {
    let findings = document.findings.iter();
    findings.map(|finding| (finding.rule, finding.place)).collect()
}

#[test]
fn lines_of_a_response_are_one_message_whatever_stands_between_them() {
    let lines = [
        user("u1", "", "go"),
        block(
            "a1",
            "u1",
            "r1",
            r#"{"type":"thinking","thinking":"hm","signature":"x"}"#,
        ),
        text("a2", "a1", "r1", "looking"),
        call("a3", "a2", "r1", "c1"),
        result("t1", "a3", "c1", "one"),
        attached(
            "h1",
            "t1",
            r#"{"type":"hook_additional_context","hookName":"Post","content":["ctx"]}"#,
        ),
        r#"{"type":"ai-title","aiTitle":"A title","sessionId":"s1"}"#.to_owned(),
        call("a4-last", "a3", "r1", "c2"),
        result("t2", "a4-last", "c2", "two"),
        text("a5", "t2", "r2", "done"),
    ];
    let document = parse(&lines, History::Live);
    assert_eq!(
        shape(&document),
        [
            "user go",
            "assistant thinks hm + looking + call c1 + call c2",
            "tool c1=one",
            "tool c2=two",
            "host <system-reminder>\nThe hook Post adds:\nctx\n</system-reminder>",
            "assistant done",
        ]
    );
    assert!(document.findings.is_empty(), "{:?}", document.findings);
    let response = &document.transcript.messages()[1];
    assert_eq!((response.place, response.model.as_deref()), (Place::Line(2), Some("m")));
    let usage = response.usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.output), (16, "a4-last".len() as u64));
    assert!(document.verbatim(1).unwrap().contains(r#""input":{"b":1.0,"a":2}"#));
    assert_eq!(document.recorded.messages, 6);
    assert_eq!(document.about.title.as_deref(), Some("A title"));
    assert_eq!(document.about.directory.as_deref(), Some("/w"));
    assert_eq!(document.about.id.as_deref(), Some("s1"));
}

#[test]
fn a_prompt_parts_responses_that_share_an_id() {
    let lines = [
        user("u1", "", "go"),
        text("a1", "u1", "r1", "one"),
        user("u2", "a1", "again"),
        text("a2", "u2", "r1", "two"),
    ];
    assert_eq!(shape(&parse(&lines, History::Live)).len(), 4);
}

#[test]
fn records_may_stand_before_their_parents() {
    let lines = [
        user("u1", "", "go"),
        result("t1", "a1", "c1", "one"),
        call("a1", "u1", "r1", "c1"),
    ];
    assert_eq!(
        shape(&parse(&lines, History::Live)),
        ["user go", "assistant call c1", "tool c1=one"]
    );
}

#[test]
fn the_branch_written_last_is_the_conversation() {
    let lines = [
        user("u1", "", "start over"),
        text("a0", "u1", "r0", "never mind"),
        user("u2", "", "go"),
        text("a1", "u2", "r1", "one"),
        user("u3", "a1", "this way"),
        text("a2", "u3", "r2", "yes"),
        text("a3", "a2", "r2", "really"),
        user("u4", "a1", "that way"),
        text("a4", "u4", "r3", "fine"),
    ];
    let document = parse(&lines, History::Full);
    assert_eq!(
        shape(&document),
        ["user go", "assistant one", "user that way", "assistant fine"]
    );
    assert_eq!(
        findings(&document),
        [(Rule::Abandoned, Place::Line(1)), (Rule::Abandoned, Place::Line(5))]
    );
    assert_eq!(document.findings[1].detail, "2 messages");
    assert_eq!(document.recorded.messages, 4);
}

#[test]
fn a_compaction_ends_what_is_sent_and_is_an_event_of_what_was() {
    let lines = [
        user("u1", "", "go"),
        text("a1", "u1", "r1", "one"),
        boundary("b1", "a1", ""),
        flagged(&user("s1", "b1", "In short"), "isCompactSummary"),
        user("u2", "s1", "next"),
        text("a2", "u2", "r2", "two"),
    ];
    let live = parse(&lines, History::Live);
    assert_eq!(shape(&live), ["summary In short", "user next", "assistant two"]);
    assert_eq!(live.recorded.messages, 5);
    assert_eq!(live.transcript.events().len(), 1);
    let full = parse(&lines, History::Full);
    assert_eq!(shape(&full)[..3], ["user go", "assistant one", "summary In short"]);
    let event = &full.transcript.events()[0];
    assert_eq!(
        (event.before, event.summary, event.trigger),
        (2, Some(2), Trigger::Automatic)
    );
    assert_eq!((event.tokens_before, event.tokens_after), (Some(900), Some(90)));
    assert!(full.findings.is_empty());
}

/// Two compactions, of which the second kept the last exchange.
fn compacted_twice(kept: &str, parent_of_next: &str) -> Vec<String> {
    vec![
        user("u1", "", "go"),
        text("a1", "u1", "r1", "one"),
        boundary("b1", "a1", ""),
        flagged(&user("s1", "b1", "First"), "isCompactSummary"),
        user("u2", "s1", "more"),
        call("a2", "u2", "r2", "c2"),
        result("t2", "a2", "c2", "two"),
        boundary("b2", "t2", kept),
        flagged(&user("s2", "b2", "Second"), "isCompactSummary"),
        user("u3", parent_of_next, "next"),
    ]
}

#[test]
fn what_a_compaction_kept_goes_behind_its_summary() {
    let listed = r#","preservedMessages":{"anchorUuid":"s2","uuids":["u2","a2","t2"]}"#;
    let between = r#","preservedSegment":{"headUuid":"u2","anchorUuid":"s2","tailUuid":"t2"}"#;
    for (kept, parent) in [(listed, "s2"), (listed, "t2"), (between, "s2"), (between, "t2")] {
        let lines = compacted_twice(kept, parent);
        let live = parse(&lines, History::Live);
        let sent = [
            "summary Second",
            "user more",
            "assistant call c2",
            "tool c2=two",
            "user next",
        ];
        assert_eq!(shape(&live), sent, "{kept} {parent}");
        let full = parse(&lines, History::Full);
        let recorded = [
            "user go",
            "assistant one",
            "summary First",
            "user more",
            "assistant call c2",
            "tool c2=two",
            "summary Second",
            "user next",
        ];
        assert_eq!(shape(&full), recorded, "{kept} {parent}");
        let events = full.transcript.events();
        assert_eq!((events[0].before, events[1].before, events[1].summary), (2, 6, Some(6)));
        assert!(full.findings.is_empty(), "{:?}", full.findings);
        // Right after the compaction, the kept messages are there already.
        let ended = parse(&lines[..9], History::Live);
        assert_eq!(shape(&ended), sent[..4], "{kept}");
    }
}

#[test]
fn a_compaction_of_the_end_keeps_the_beginning_before_its_summary() {
    let kept = r#","preservedSegment":{"headUuid":"s1","anchorUuid":"b2","tailUuid":"u2"}"#;
    let live = parse(&compacted_twice(kept, "s2"), History::Live);
    assert_eq!(
        shape(&live),
        ["summary First", "user more", "summary Second", "user next"]
    );
}

#[test]
fn kept_messages_that_are_gone_are_missing() {
    let kept = r#","preservedMessages":{"anchorUuid":"zz","uuids":["u2","gone","t2"]}"#;
    let live = parse(&compacted_twice(kept, "s2"), History::Live);
    assert_eq!(shape(&live)[..2], ["summary Second", "user more"]);
    assert!(findings(&live).contains(&(Rule::MissingPiece, Place::Line(8))));
    let kept = r#","preservedSegment":{"headUuid":"gone","anchorUuid":"s2","tailUuid":"t2"}"#;
    let live = parse(&compacted_twice(kept, "s2"), History::Live);
    assert_eq!(shape(&live), ["summary Second", "user next"]);
    assert_eq!(findings(&live), [(Rule::MissingPiece, Place::Line(8))]);
}

#[test]
fn a_summary_without_a_boundary_is_a_compaction_too() {
    for parent in ["", "a1"] {
        let lines = [
            user("u1", "", "go"),
            text("a1", "u1", "r1", "one"),
            flagged(&user("s1", parent, "In short"), "isCompactSummary"),
            text("a2", "s1", "r2", "two"),
        ];
        assert_eq!(
            shape(&parse(&lines, History::Live)),
            ["summary In short", "assistant two"]
        );
        let full = parse(&lines, History::Full);
        assert_eq!(full.transcript.messages().len(), 4);
        assert_eq!(
            (full.transcript.events()[0].before, full.transcript.events()[0].summary),
            (2, Some(2))
        );
    }
}

#[test]
fn cleared_results_are_cleared_only_in_what_is_sent() {
    let head = envelope("system", "m1", "t2");
    let lines = [
        user("u1", "", "go"),
        attached(
            "f1",
            "u1",
            r#"{"type":"file","filename":"x","content":{"type":"text","file":{"content":"body"}}}"#,
        ),
        call("a1", "f1", "r1", "c1"),
        result("t1", "a1", "c1", "old"),
        call("a2", "t1", "r2", "c2"),
        result("t2", "a2", "c2", "new"),
        format!(
            r#"{{{head},"subtype":"microcompact_boundary","microcompactMetadata":{{"trigger":"auto","preTokens":50,"tokensSaved":20,"compactedToolIds":["c1"],"clearedAttachmentUUIDs":["f1"]}}}}"#
        ),
        text("a3", "m1", "r3", "done"),
    ];
    let live = parse(&lines, History::Live);
    assert_eq!(
        shape(&live),
        [
            "user go",
            "assistant call c1",
            &format!("tool c1={}", turns::CLEARED),
            "assistant call c2",
            "tool c2=new",
            "assistant done"
        ]
    );
    let full = parse(&lines, History::Full);
    assert_eq!(
        shape(&full)[1],
        "host <system-reminder>\nContents of x:\nbody\n</system-reminder>"
    );
    assert_eq!(shape(&full)[3], "tool c1=old");
    let event = &full.transcript.events()[0];
    assert_eq!(
        (event.kind, event.before, event.tokens_after),
        (CompactionKind::Clearing, 6, Some(30))
    );
}

#[test]
fn other_voices_in_the_users_role() {
    let head = envelope("system", "l1", "q2");
    let lines = [
        user("u1", "", "go"),
        flagged(&user("m1", "u1", "Base directory for this skill"), "isMeta"),
        attached(
            "q1",
            "m1",
            r#"{"type":"queued_command","prompt":"wait","commandMode":"prompt"}"#,
        ),
        attached(
            "q2",
            "q1",
            r#"{"type":"queued_command","prompt":"task x ended","commandMode":"task-notification"}"#,
        ),
        format!(r#"{{{head},"subtype":"local_command","content":"printed"}}"#),
        attached("e1", "l1", r#"{"type":"task_reminder","content":[],"itemCount":0}"#),
        attached(
            "e2",
            "e1",
            r#"{"type":"task_reminder","content":[{"id":"1","subject":"Try","status":"pending"}]}"#,
        ),
        attached("e3", "e2", r#"{"type":"brand_new","content":"words"}"#),
        attached("e4", "e3", r#"{"type":"brand_new","n":1}"#),
        flagged(&text("x1", "e4", "r1", "API Error: 500"), "isApiErrorMessage"),
        text("x2", "x1", "r2", "No response requested.").replace(r#""model":"m""#, r#""model":"<synthetic>""#),
        text("a1", "x2", "r3", "hello"),
    ];
    let document = parse(&lines, History::Live);
    assert_eq!(
        shape(&document),
        [
            "user go",
            "host Base directory for this skill",
            "user wait",
            "host task x ended",
            "host printed",
            "host <system-reminder>\nThe task list:\n[pending] Try\n</system-reminder>",
            "host <system-reminder>\nbrand_new:\nwords\n</system-reminder>",
            "assistant hello",
        ]
    );
    assert_eq!(
        findings(&document),
        [
            (Rule::UnknownType, Place::Line(9)),
            (Rule::LocalError, Place::Line(10)),
            (Rule::LocalError, Place::Line(11))
        ]
    );
}

#[test]
fn attachments_say_what_they_hold() {
    for (attachment, said) in [
        (
            r#"{"type":"opened_file_in_ide","filename":"/a"}"#,
            "The user opened /a in the editor.",
        ),
        (
            r#"{"type":"selected_lines_in_ide","lineStart":2,"lineEnd":3,"filename":"/a","content":"x"}"#,
            "The user selected lines 2 to 3 of /a:\nx",
        ),
        (
            r#"{"type":"diagnostics","files":[{"uri":"/a","diagnostics":[{"message":"bad","severity":"Error","range":{"start":{"line":4}}}]}]}"#,
            "Diagnostics:\n/a\n  line 5: Error: bad",
        ),
        (
            r#"{"type":"deferred_tools_delta","addedNames":[],"removedNames":["LSP"]}"#,
            "Tools removed:\nLSP",
        ),
        (
            r#"{"type":"nested_memory","path":"/m","content":{"path":"/m","type":"Project","content":"rule"}}"#,
            "Contents of /m:\n/m\nrule",
        ),
    ] {
        let document = parse(&[user("u1", "", "go"), attached("f1", "u1", attachment)], History::Live);
        let expected = format!("host <system-reminder>\n{said}\n</system-reminder>");
        assert_eq!(shape(&document)[1], expected);
    }
    let image =
        r#"{"type":"file","filename":"/p.png","content":{"type":"image","file":{"base64":"AA==","type":"image/png"}}}"#;
    let document = parse(&[user("u1", "", "go"), attached("f1", "u1", image)], History::Live);
    assert_eq!(shape(&document)[1], "host media");
}
