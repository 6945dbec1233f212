//! Tests of the reader of Gemini CLI sessions.

use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::ToolOutcome;

use super::*;
use crate::reading::History;
use crate::sessions::proof;

const HEAD: &str = r#"{"sessionId":"s1","projectHash":"p","startTime":"2026-08-01T10:00:00.000Z","lastUpdated":"2026-08-01T10:00:00.000Z","kind":"main"}"#;
const ASK: &str = r#"{"id":"u1","timestamp":"2026-08-01T10:00:01.000Z","type":"user","content":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}"#;
const EARLY: &str =
    r#"{"id":"g1","timestamp":"2026-08-01T10:00:02.000Z","type":"gemini","content":"","model":"gemini-x"}"#;
const CALLS: &str = r#"{"id":"g1","timestamp":"2026-08-01T10:00:02.000Z","type":"gemini","content":"Looking.","model":"gemini-x","thoughts":[{"subject":"Plan","description":"Look first.","timestamp":"t"}],"tokens":{"input":100,"output":7,"cached":60,"thoughts":3,"tool":2,"total":112},"toolCalls":[{"id":"c1","name":"read_file","args":{"path":"a"},"status":"success","timestamp":"2026-08-01T10:00:03.000Z","result":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"text of a"}}}]},{"id":"c2","name":"shell","args":{"command":"x"},"status":"error","result":[{"functionResponse":{"id":"c2","name":"shell","response":{"error":"not found"}}}]}]}"#;
const NOTICE: &str = r#"{"id":"i1","timestamp":"2026-08-01T10:00:04.000Z","type":"info","content":"Update available"}"#;
const ANSWER: &str =
    r#"{"id":"g2","timestamp":"2026-08-01T10:00:05.000Z","type":"gemini","content":"Done.","model":"gemini-x"}"#;
const MORE: &str = r#"{"id":"u2","timestamp":"2026-08-01T10:00:06.000Z","type":"user","content":"and now?"}"#;

fn log(records: &[&str]) -> String {
    records.join("\n") + "\n"
}

#[test]
fn updates_make_one_message_with_its_calls_and_results() {
    let text = log(&[
        HEAD,
        ASK,
        EARLY,
        r#"{"$set":{"lastUpdated":"2026-08-01T11:00:00.000Z","summary":"A look"}}"#,
        CALLS,
        NOTICE,
        ANSWER,
    ]);
    for history in [History::Live, History::Full] {
        let document = proof::read_text(&text, history).unwrap();
        assert_eq!(document.format.name, "gemini-cli");
        assert_eq!(
            proof::voices(&document),
            ["user", "assistant", "tool", "tool", "assistant"]
        );
        assert_eq!(proof::rules(&document), []);
        let recorded = document.recorded;
        assert_eq!((recorded.messages, recorded.calls, recorded.results), (5, 2, 2));
        assert_eq!(document.about.title.as_deref(), Some("A look"));
        assert_eq!(document.about.id.as_deref(), Some("s1"));
    }
    let document = proof::read_text(&text, History::Live).unwrap();
    let said = &document.transcript.messages()[1];
    assert!(matches!(&said.parts[0], Part::Thinking(thought) if thought.text.as_ref() == "Plan\nLook first."));
    let usage = said.usage.as_ref().unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output, usage.reasoning),
        (102, 60, 10, 3)
    );
    assert_eq!(said.place, Place::Line(3));
    let results: Vec<_> = document
        .transcript
        .messages()
        .iter()
        .flat_map(Message::results)
        .collect();
    assert_eq!(results[0].content, [Content::Text("text of a".into())]);
    assert_eq!(
        (results[0].outcome, results[1].outcome),
        (ToolOutcome::Success, ToolOutcome::Failure)
    );
}

#[test]
fn a_single_record_reads_like_its_log() {
    let head = HEAD.strip_suffix('}').unwrap();
    let single = format!("{head},\"messages\":[{ASK},{CALLS},{NOTICE},{ANSWER}]}}");
    let lines = log(&[HEAD, ASK, CALLS, NOTICE, ANSWER]);
    let (single, lines) = (
        proof::read_text(&single, History::Live),
        proof::read_text(&lines, History::Live),
    );
    let (single, lines) = (single.unwrap(), lines.unwrap());
    assert_eq!(single.write(), lines.write());
    assert_eq!(single.transcript.messages()[1].place, Place::Item(1));
}

#[test]
fn a_rewind_takes_messages_back() {
    let text = log(&[
        HEAD,
        ASK,
        CALLS,
        ANSWER,
        MORE,
        r#"{"$rewindTo":"g2"}"#,
        r#"{"id":"u3","type":"user","content":"instead"}"#,
    ]);
    for history in [History::Live, History::Full] {
        let document = proof::read_text(&text, history).unwrap();
        assert_eq!(proof::voices(&document), ["user", "assistant", "tool", "tool", "user"]);
        assert_eq!(proof::rules(&document), [Rule::Abandoned]);
        assert_eq!(document.recorded.messages, 5);
    }
    let lost = log(&[HEAD, ASK, r#"{"$rewindTo":"gone"}"#, ANSWER]);
    let document = proof::read_text(&lost, History::Live).unwrap();
    assert_eq!(
        document.findings,
        [Finding::new(Rule::MissingParent, Place::Line(3), "a rewind to gone")]
    );
    assert_eq!(document.transcript.messages().len(), 2);
}

#[test]
fn a_replaced_history_is_live_and_the_old_one_is_full() {
    let summary = r#"{"id":"n1","timestamp":"2026-08-01T10:10:00.000Z","type":"user","content":[{"text":"<state_snapshot>We looked.</state_snapshot>"}]}"#;
    let heard = r#"{"id":"n2","type":"gemini","content":[{"text":"Got it."}]}"#;
    let kept = MORE.replace("\"and now?\"", "[{\"text\":\"and now?\"}]");
    let set = format!(
        "{{\"$set\":{{\"messages\":[{summary},{heard},{kept}],\"lastUpdated\":\"2026-08-01T10:10:01.000Z\"}}}}"
    );
    let after = r#"{"id":"g3","type":"gemini","content":"Go on."}"#;
    let text = log(&[HEAD, ASK, CALLS, ANSWER, MORE, &set, after]);
    let live = proof::read_text(&text, History::Live).unwrap();
    assert_eq!(proof::voices(&live), ["user/summary", "assistant", "user", "assistant"]);
    assert_eq!(live.recorded.messages, 9);
    assert_eq!(live.transcript.events()[0].summary, Some(0));
    let full = proof::read_text(&text, History::Full).unwrap();
    let voices = [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
        "user/summary",
        "assistant",
        "assistant",
    ];
    assert_eq!(proof::voices(&full), voices);
    let [event] = full.transcript.events() else { panic!() };
    assert_eq!(
        (event.before, event.summary, event.kind),
        (6, Some(6), CompactionKind::Summary)
    );
}

#[test]
fn a_replacement_that_repeats_results_does_not_double_them() {
    let called = CALLS.replace(
        "\"content\":\"Looking.\"",
        r#""content":[{"text":"Looking."},{"functionCall":{"id":"c1","name":"read_file","args":{"path":"a"}}},{"functionCall":{"id":"c2","name":"shell","args":{}}}]"#,
    );
    let masked = called.replace("text of a", "<masked>");
    let answers = r#"{"id":"n1","type":"user","content":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"<masked>"}}},{"functionResponse":{"id":"c2","name":"shell","response":{"error":"not found"}}}]}"#;
    let set = format!("{{\"$set\":{{\"messages\":[{ASK},{masked},{answers}]}}}}");
    let text = log(&[HEAD, ASK, CALLS, &set]);
    let live = proof::read_text(&text, History::Live).unwrap();
    assert_eq!(proof::voices(&live), ["user", "assistant", "tool", "tool"]);
    assert!(live.write().contains("<masked>"));
    let full = proof::read_text(&text, History::Full).unwrap();
    assert!(full.write().contains("text of a"));
    assert_eq!((full.recorded.calls, full.recorded.results), (2, 2));
    assert_eq!(full.transcript.events(), []);
    assert_eq!(proof::rules(&full), [Rule::DuplicateRecord, Rule::DuplicateRecord]);
}

#[test]
fn a_summary_on_its_own_stands_for_what_is_before_it() {
    let summary = r#"{"id":"n1","type":"user","content":"<scratchpad>x</scratchpad>\n<state_snapshot>We looked.</state_snapshot>"}"#;
    let text = log(&[HEAD, ASK, ANSWER, summary, MORE]);
    let live = proof::read_text(&text, History::Live).unwrap();
    assert_eq!(proof::voices(&live), ["user/summary", "user"]);
    let full = proof::read_text(&text, History::Full).unwrap();
    assert_eq!(full.transcript.events()[0].before, 2);
    // A person may well talk about snapshots.
    let quoted = log(&[
        HEAD,
        ASK,
        r#"{"id":"n1","type":"user","content":"what is <state_snapshot> for?"}"#,
    ]);
    assert_eq!(
        proof::voices(&proof::read_text(&quoted, History::Live).unwrap()),
        ["user", "user"]
    );
}

#[test]
fn damage_costs_only_itself() {
    let odd = r#"{"id":"x1","type":"oracle","content":"?"}"#;
    let text = log(&[
        &format!("\u{feff}{HEAD}\r"),
        ASK,
        "nonsense",
        "[1]",
        r#"{"id":"x"}"#,
        odd,
        r#"{"$set":{"messages":[]}}"#,
        r#"{"id":7,"type":"gemini","content":{"strange":1},"toolCalls":[3,{"name":"n","args":null,"result":"plain"}],"tokens":"many"}"#,
    ]) + &ANSWER[..40];
    let document = proof::read_text(&text, History::Live).unwrap();
    assert_eq!(proof::voices(&document), ["user", "assistant", "tool"]);
    for rule in [
        Rule::ByteOrderMark,
        Rule::CarriageReturns,
        Rule::BadRecord,
        Rule::NotARecord,
        Rule::UnknownType,
        Rule::TornRecord,
        Rule::MissingCallId,
    ] {
        assert!(
            proof::rules(&document).contains(&rule),
            "{rule:?} in {:?}",
            document.findings
        );
    }
    let error = proof::read_text(&log(&[HEAD, HEAD]), History::Live)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no message"), "{error}");
}

#[test]
fn the_real_session_is_all_there() {
    let Some(path) = proof::samples("gemini-cli/gemini-cli-session.json") else {
        return;
    };
    let tree = proof::tree(&path);
    let messages = tree["messages"].as_array().unwrap();
    for history in [History::Live, History::Full] {
        let document = proof::read(&Source::open(&path).unwrap(), history).unwrap();
        assert_eq!(document.recorded.messages, messages.len() as u64);
        assert_eq!(document.about.title.as_deref(), tree["summary"].as_str());
        assert_eq!(document.about.model.as_deref(), messages[1]["model"].as_str());
        assert_eq!(proof::rules(&document), []);
    }
}

#[test]
fn sessions_are_found_where_they_live() {
    let home = tempfile::tempdir().unwrap();
    let chats = home.path().join(".gemini/tmp/0a1b/chats");
    std::fs::create_dir_all(&chats).unwrap();
    for name in ["session-a.json", "session-b.jsonl", "other.json"] {
        std::fs::write(chats.join(name), HEAD).unwrap();
    }
    std::fs::write(home.path().join(".gemini/tmp/0a1b/logs.json"), "[]").unwrap();
    let homes = Homes {
        home: home.path().to_owned(),
        ..Homes::default()
    };
    assert_eq!(crate::discover::find(&homes).len(), 2);
}

#[test]
fn values_of_any_kind_are_tolerated_anywhere() {
    let set = format!("{{\"$set\":{{\"messages\":[{CALLS},{MORE}],\"summary\":\"s\"}}}}");
    let records = [
        HEAD,
        ASK,
        CALLS,
        NOTICE,
        ANSWER,
        r#"{"$rewindTo":"g2"}"#,
        MORE,
        &set,
        MORE,
    ];
    let records: Vec<_> = records
        .iter()
        .map(|record| serde_json::from_str(record).unwrap())
        .collect();
    proof::prove_tolerant(&FORMAT, &records, proof::as_lines);
}
