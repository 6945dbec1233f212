//! opencode sessions as exports and as directories of files; compactions, clearings, reverts, damage.

use std::path::Path;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::Trigger;
use serde_json::Value;
use serde_json::json;

use crate::document::Document;
use crate::reading::History;
use crate::sessions::store_proof;
use crate::sessions::store_proof::memory;

/// A turn as an export has it.
pub fn turn(id: &str, at: u64, info: Value, parts: Value) -> Value {
    let mut full = json!({"id": id, "sessionID": "ses_1", "time": {"created": at}});
    full.as_object_mut().unwrap().extend(info.as_object().unwrap().clone());
    let mut parts = parts.as_array().unwrap().clone();
    for (index, part) in parts.iter_mut().enumerate() {
        part["id"] = json!(format!("prt_{id}_{index}"));
    }
    json!({"info": full, "parts": parts})
}

pub fn user(id: &str, at: u64, text: &str) -> Value {
    turn(id, at, json!({"role": "user"}), json!([{"type": "text", "text": text}]))
}

pub fn answer(id: &str, at: u64, text: &str) -> Value {
    let info = json!({"role": "assistant", "modelID": "m", "finish": "stop"});
    turn(id, at, info, json!([{"type": "text", "text": text}]))
}

/// A call that was answered; `cleared` is when its output was cleared.
fn call(id: &str, at: u64, cleared: Option<u64>) -> Value {
    let mut times = json!({"start": at, "end": at + 1});
    if let Some(cleared) = cleared {
        times["compacted"] = json!(cleared);
    }
    let state = json!({"status": "completed", "input": {"p": 1}, "output": "long output", "title": "t",
        "metadata": {}, "time": times});
    let parts = json!([{"type": "step-start"},
        {"type": "tool", "callID": format!("c{id}"), "tool": "read", "state": state},
        {"type": "step-finish", "reason": "tool-calls", "cost": 0,
         "tokens": {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 100, "write": 20}}}]);
    turn(
        id,
        at,
        json!({"role": "assistant", "modelID": "m", "finish": "tool-calls"}),
        parts,
    )
}

/// A session that was compacted: two turns, the request, the summary, and what follows.
pub fn compacted(tail: Option<&str>) -> Vec<Value> {
    let mut marker = json!({"type": "compaction", "auto": true});
    if let Some(tail) = tail {
        marker["tail_start_id"] = json!(tail);
    }
    vec![
        user("msg_1", 1_000_000_000_000, "first"),
        call("msg_2", 1_000_000_001_000, None),
        user("msg_3", 1_000_000_002_000, "second"),
        call("msg_4", 1_000_000_003_000, Some(1_000_000_008_500)),
        turn("msg_5", 1_000_000_005_000, json!({"role": "user"}), json!([marker])),
        turn(
            "msg_6",
            1_000_000_006_000,
            json!({"role": "assistant", "summary": true, "finish": "stop", "parentID": "msg_5", "modelID": "m"}),
            json!([{"type": "text", "text": "the story"}]),
        ),
        turn(
            "msg_7",
            1_000_000_007_000,
            json!({"role": "user"}),
            json!([{"type": "text", "text": "Continue if you have next steps", "synthetic": true}]),
        ),
        user("msg_8", 1_000_000_008_000, "third"),
        answer("msg_9", 1_000_000_009_000, "done"),
    ]
}

pub fn session() -> Value {
    json!({"id": "ses_1", "title": "Work", "directory": "/w", "version": "1.2.3", "parentID": "ses_0",
        "time": {"created": 1_000_000_000_000_u64, "updated": 1_000_000_009_000_u64}})
}

fn export(session: Value, turns: &[Value]) -> String {
    json!({"info": session, "messages": turns}).to_string()
}

fn read(turns: &[Value]) -> (Document, Document) {
    store_proof::read_both(&memory("export.json", &export(session(), turns)), None)
}

#[test]
fn a_compaction_reorders_what_is_sent() {
    let (live, full) = read(&compacted(Some("msg_3")));
    assert_eq!(live.format.name, "opencode");
    assert_eq!(
        store_proof::outline(&live),
        [
            "user | What did we do so far?",
            "assistant | the story",
            "user | second",
            "assistant | call cmsg_4 read {\"p\":1}",
            "tool | result cmsg_4 [Old tool result content cleared]",
            "user | Continue if you have next steps",
            "user | third",
            "assistant | done",
        ]
    );
    assert_eq!(
        store_proof::outline(&full)[..6],
        [
            "user | first",
            "assistant | call cmsg_2 read {\"p\":1}",
            "tool | result cmsg_2 long output",
            "user | second",
            "assistant | call cmsg_4 read {\"p\":1}",
            "tool | result cmsg_4 long output",
        ]
    );
    assert_eq!(store_proof::events(&live), [(0, Some(1)), (7, None)]);
    assert_eq!(store_proof::events(&full), [(6, Some(7)), (10, None)]);
    let events = full.transcript.events();
    assert_eq!(
        (events[0].kind, events[0].trigger),
        (CompactionKind::Summary, Trigger::Automatic)
    );
    assert_eq!(events[1].kind, CompactionKind::Clearing);
    assert_eq!(events[1].at, Some(Timestamp(1_000_000_008_500)));
    assert_eq!(
        store_proof::authors(&full)[6..],
        [
            Author::Host,
            Author::Summary,
            Author::Host,
            Author::User,
            Author::Assistant
        ]
    );
    let about = &full.about;
    assert_eq!(
        (about.parent.as_deref(), about.version.as_deref()),
        (Some("ses_0"), Some("1.2.3"))
    );
    assert_eq!(about.model.as_deref(), Some("m"));
    let usage = full.transcript.messages()[1].usage.as_deref().unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (130, 100, 7));
}

#[test]
fn a_tail_that_is_not_there_is_not_sent_and_an_unfinished_summary_changes_nothing() {
    for tail in [None, Some("msg_gone"), Some("msg_8")] {
        let (live, _) = read(&compacted(tail));
        assert_eq!(store_proof::outline(&live).len(), 5, "{tail:?}");
    }
    let mut turns = compacted(Some("msg_3"));
    turns[5]["info"].as_object_mut().unwrap().remove("finish");
    let (live, full) = read(&turns);
    assert_eq!(store_proof::outline(&live).len(), store_proof::outline(&full).len());
    assert_eq!(live.transcript.events().len(), 1);
}

#[test]
fn a_summary_of_an_older_version_stands_alone() {
    let info = json!({"role": "assistant", "summary": true, "modelID": "m"});
    let summary = turn("msg_3", 3, info, json!([{"type": "text", "text": "story"}]));
    let (live, full) = read(&[
        user("msg_1", 1, "a"),
        answer("msg_2", 2, "b"),
        summary,
        user("msg_4", 4, "c"),
    ]);
    assert_eq!(store_proof::outline(&live), ["assistant | story", "user | c"]);
    assert_eq!(store_proof::events(&full), [(2, Some(2))]);
}

#[test]
fn tools_end_in_every_state() {
    let tool = |id: &str, state: Value| json!({"type": "tool", "callID": id, "tool": "t", "state": state});
    let picture = json!({"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA"});
    let parts = json!([
        {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "s"}}},
        {"type": "reasoning", "text": "", "metadata": {"openai": {"reasoningEncryptedContent": "x"}}},
        {"type": "step-start"},
        tool("c1", json!({"status": "completed", "input": {}, "output": "ok", "attachments": [picture]})),
        tool("c2", json!({"status": "error", "input": {}, "error": "failed"})),
        tool("c3", json!({"status": "error", "input": {}, "error": "x", "metadata": {"interrupted": true, "output": "half"}})),
        {"type": "step-start"},
        {"type": "text", "text": "next"},
        tool("c4", json!({"status": "running", "input": {"a": 1}, "time": {"start": 1}})),
        tool("c5", json!({"status": "pending", "input": {}, "raw": ""})),
        {"type": "patch", "hash": "h", "files": []}, {"type": "hologram"},
    ]);
    let tokens = json!({"total": 115, "input": 100, "output": 15, "reasoning": 5, "cache": {"read": 0, "write": 0}});
    let info = json!({"role": "assistant", "modelID": "m", "tokens": tokens});
    let (live, _) = read(&[user("msg_1", 1, "go"), turn("msg_2", 2, info, parts)]);
    assert_eq!(
        store_proof::outline(&live)[2..],
        [
            "assistant | call c1 t {} | call c2 t {} | call c3 t {}",
            "tool | result c1 ok <media>",
            "tool | result c2 failed",
            "tool | result c3 half",
            "assistant | next | call c4 t {\"a\":1} | call c5 t {}",
        ]
    );
    let messages = live.transcript.messages();
    assert!(matches!(&messages[1].parts[0], Part::Thinking(t) if matches!(t.seal, Seal::Signed(_))));
    assert!(matches!(&messages[1].parts[1], Part::Thinking(t) if matches!(t.seal, Seal::Encrypted(_))));
    assert_eq!(messages[4].results().next().unwrap().outcome, ToolOutcome::Failure);
    assert!(live.transcript.has_open_calls());
    assert_eq!(messages[6].usage.as_deref().unwrap().output, 15);
    assert_eq!(store_proof::rules(&live), [(Rule::UnknownType, Place::Item(1))]);
}

#[test]
fn what_users_attach_and_programs_add_is_told_apart() {
    let parts = json!([{"type": "text", "text": "look"}, {"type": "text", "text": "not sent", "ignored": true},
        {"type": "file", "mime": "text/plain", "url": "file:///a"}, {"type": "text", "text": "file body", "synthetic": true},
        {"type": "file", "mime": "application/pdf", "url": "data:application/pdf;base64,AA"}, {"type": "agent", "name": "x"}]);
    let subtask = json!([{"type": "subtask", "prompt": "p", "description": "d", "agent": "a"}]);
    let failed = json!({"role": "assistant", "error": {"name": "APIError", "data": {}}});
    let aborted = json!({"role": "assistant", "error": {"name": "MessageAbortedError", "data": {}}});
    let text = json!([{"type": "text", "text": "partial"}]);
    let (live, full) = read(&[
        turn("msg_1", 1, json!({"role": "user", "system": "Be brief."}), parts),
        turn("msg_2", 2, failed, text.clone()),
        turn("msg_3", 3, aborted, text),
        turn("msg_4", 4, json!({"role": "user"}), subtask),
        turn(
            "msg_5",
            5,
            json!({"role": "wizard"}),
            json!([{"type": "text", "text": "?"}]),
        ),
        user("msg_5", 6, "again"),
        turn("msg_6", 7, json!({"role": "user"}), json!([])),
        json!({"parts": []}),
    ]);
    assert_eq!(
        store_proof::outline(&live),
        [
            "system | Be brief.",
            "user | look | file body | <media>",
            "assistant | partial",
            "user | The following tool was executed by the user",
            "user | ?",
        ]
    );
    assert_eq!(
        store_proof::authors(&live)[1..],
        [Author::User, Author::Assistant, Author::Host, Author::Host]
    );
    assert_eq!(store_proof::outline(&full).len(), 6);
    assert_eq!(
        store_proof::rules(&full),
        [
            (Rule::UnknownRole, Place::Item(4)),
            (Rule::DuplicateRecord, Place::Item(5)),
            (Rule::NotARecord, Place::Item(7)),
        ]
    );
}

#[test]
fn a_revert_takes_back_messages_or_parts() {
    let turns = [
        user("msg_1", 1, "a"),
        answer("msg_2", 2, "b"),
        user("msg_3", 3, "c"),
        answer("msg_4", 4, "d"),
    ];
    let mut reverted = session();
    reverted["revert"] = json!({"messageID": "msg_3"});
    let (live, full) = store_proof::read_both(&memory("e.json", &export(reverted.clone(), &turns)), None);
    assert_eq!(store_proof::outline(&live), ["user | a", "assistant | b"]);
    assert_eq!(store_proof::outline(&full), store_proof::outline(&live));
    assert_eq!(
        store_proof::rules(&full),
        [(Rule::Abandoned, Place::Item(2)), (Rule::Abandoned, Place::Item(3))]
    );

    let mut turns = turns;
    turns[1]["parts"] =
        json!([{"id": "prt_a", "type": "text", "text": "b"}, {"id": "prt_b", "type": "text", "text": "x"}]);
    reverted["revert"] = json!({"messageID": "msg_2", "partID": "prt_b"});
    let (live, _) = store_proof::read_both(&memory("e.json", &export(reverted, &turns)), None);
    assert_eq!(store_proof::outline(&live), ["user | a", "assistant | b"]);
}

/// Writes a session the way older versions stored it.
fn store_files(root: &Path, session: &Value, turns: &[Value]) {
    let id = session["id"].as_str().unwrap();
    let write = |below: String, value: &Value| {
        let path = root.join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    };
    write(format!("session/prj/{id}.json"), session);
    for turn in turns {
        let message = turn["info"]["id"].as_str().unwrap();
        write(format!("message/{id}/{message}.json"), &turn["info"]);
        for part in turn["parts"].as_array().unwrap() {
            write(format!("part/{message}/{}.json", part["id"].as_str().unwrap()), part);
        }
    }
}

#[test]
fn a_directory_of_files_is_read_from_any_side() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("opencode/storage");
    let turns = compacted(Some("msg_3"));
    let mut main = session();
    main.as_object_mut().unwrap().remove("parentID");
    store_files(&root, &main, &turns);
    let mut helper = session();
    helper["id"] = json!("ses_2");
    helper["time"]["updated"] = json!(2_000_000_000_000_u64);
    store_files(&root, &helper, &[user("msg_x", 1, "helper")]);
    let (expected, _) = read(&turns);
    let file = root.join("session/prj/ses_1.json");
    for path in [&root, &home.path().join("opencode"), &file] {
        let (live, full) = store_proof::read_both(&store_proof::open(path), None);
        assert_eq!(live.format.name, "opencode", "{}", path.display());
        assert_eq!(store_proof::outline(&live), store_proof::outline(&expected));
        assert_eq!(full.about.conversations, if *path == file { 1 } else { 2 });
    }
    let source = store_proof::open(&root);
    let entries = (super::FORMAT.list)(&source).unwrap();
    let ids: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.messages))
        .collect();
    assert_eq!(ids, [("ses_2", Some(1)), ("ses_1", Some(9))]);
    let helper = store_proof::read(&source, History::Live, Some("ses_2")).unwrap();
    assert_eq!(store_proof::outline(&helper), ["user | helper"]);
    for wanted in ["ses_9", "../../x", ""] {
        let missing = store_proof::read(&source, History::Live, Some(wanted))
            .unwrap_err()
            .to_string();
        assert!(missing.contains("it holds ses_2, ses_1"), "{missing}");
    }
    std::fs::write(root.join("message/ses_1/msg_1.json"), "{\"role\":").unwrap();
    std::fs::write(root.join("part/msg_8/prt_msg_8_0.json"), "").unwrap();
    let torn = store_proof::read(&store_proof::open(&file), History::Full, None).unwrap();
    let rules = store_proof::rules(&torn);
    assert_eq!(
        rules,
        [(Rule::BadRecord, Place::Item(0)), (Rule::BadRecord, Place::Item(7))]
    );
    std::fs::remove_dir_all(root.join("message")).unwrap();
    let bare = store_proof::read(&store_proof::open(&file), History::Full, None).unwrap();
    assert_eq!(store_proof::rules(&bare), [(Rule::MissingPiece, Place::Whole)]);
    assert!(store_proof::read(&store_proof::open(&root.join("part")), History::Full, None).is_err());
}

#[test]
fn a_session_file_in_a_stream_has_no_messages() {
    let refusal = store_proof::read(&memory("ses.json", &session().to_string()), History::Live, None);
    let refusal = refusal.unwrap_err().to_string();
    assert!(refusal.contains("files beside it"), "{refusal}");
}

#[test]
fn damage_anywhere_ends_in_a_document_or_an_error() {
    store_proof::assert_survives_damage("export.json", &export(session(), &compacted(Some("msg_3"))));
}
