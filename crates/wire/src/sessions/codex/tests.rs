//! Tests on small rollouts: every feature, and every kind of damage.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolOutcome;

use crate::document::Document;
use crate::format;
use crate::reading::History;
use crate::reading::Request;
use crate::session_directories::Homes;
use crate::source::Source;

pub(super) const META: &str = r#"{"timestamp":"2026-08-01T10:00:00Z","type":"session_meta","payload":{"id":"t1","timestamp":"2026-08-01T09:59:59Z","cwd":"/home/me","cli_version":"0.145.0","source":"cli"}}"#;
const CONTEXT: &str = r#"{"type":"turn_context","payload":{"cwd":"/home/me/app","model":"gpt-5.4"}}"#;

pub(super) fn line(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-08-01T10:00:00.250Z","type":"{kind}","payload":{payload}}}"#)
}

pub(super) fn item(payload: &str) -> String {
    line("response_item", payload)
}

pub(super) fn said(role: &str, text: &str) -> String {
    format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
}

pub(super) fn user(text: &str) -> String {
    item(&said("user", text))
}

pub(super) fn assistant(text: &str) -> String {
    item(&said("assistant", text))
}

pub(super) fn event(payload: &str) -> String {
    line("event_msg", payload)
}

fn read_bytes(bytes: Vec<u8>, history: History) -> Document {
    let request = Request { history, session: None };
    let document = format::read(&Source::memory("rollout", bytes), None, &request).unwrap();
    assert_eq!(document.format.name, "codex");
    document
}

pub(super) fn read(lines: &[&str], history: History) -> Document {
    read_bytes(lines.join("\n").into_bytes(), history)
}

pub(super) fn live(lines: &[&str]) -> Document {
    read(lines, History::Live)
}

pub(super) fn full(lines: &[&str]) -> Document {
    read(lines, History::Full)
}

/// The words of a message, whatever they stand in.
pub(super) fn words(message: &Message) -> String {
    let word = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Call(call) => format!("call {}", call.id.as_str()),
        Part::Result(result) => format!("result {}", result.id.as_str()),
        Part::Thinking(thinking) => thinking.text.to_string(),
        Part::Opaque(opaque) => format!("opaque {}", opaque.kind),
        Part::Media(_) => "media".to_owned(),
    };
    message.parts.iter().map(word).collect::<Vec<_>>().join("|")
}

pub(super) fn shape(document: &Document) -> Vec<String> {
    document.transcript.messages().iter().map(words).collect()
}

pub(super) fn rules(document: &Document) -> Vec<(Rule, Place)> {
    document
        .findings
        .iter()
        .map(|finding| (finding.rule, finding.place))
        .collect()
}

#[test]
fn items_go_out_as_they_came_in() {
    let call =
        r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"ls\"}","call_id":"c1","extra":1.10}"#;
    let output = r#"{"type":"function_call_output","call_id":"c1","output":"Exit code: 1\nOutput:\nno"}"#;
    let reasoning = r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"abc"}"#;
    let document = live(&[META, CONTEXT, &user("go"), &item(reasoning), &item(call), &item(output)]);
    assert_eq!(shape(&document), ["go", "hm", "call c1", "result c1"]);
    assert_eq!(
        document.write(),
        format!(r#"{{"input":[{},{reasoning},{call},{output}]}}"#, said("user", "go"))
    );
    let messages = document.transcript.messages();
    assert_eq!(messages[2].place, Place::Line(5));
    assert_eq!(messages[2].at, Some(Timestamp(1_785_578_400_250)));
    assert_eq!(messages[2].model.as_deref(), Some("gpt-5.4"));
    assert_eq!(messages[0].model, None);
    assert_eq!(messages[3].results().next().unwrap().outcome, ToolOutcome::Failure);
    assert!(document.findings.is_empty());
    let about = &document.about;
    assert_eq!(about.id.as_deref(), Some("t1"));
    assert_eq!(about.directory.as_deref(), Some("/home/me/app"));
    assert_eq!(about.version.as_deref(), Some("0.145.0"));
    assert_eq!(about.model.as_deref(), Some("gpt-5.4"));
    assert_eq!(about.started, Some(Timestamp(1_785_578_399_000)));
}

#[test]
fn base_instructions_are_a_system_message() {
    let meta = line("session_meta", r#"{"id":"t","base_instructions":{"text":"be brief"}}"#);
    let document = live(&[&meta, &user("go")]);
    let messages = document.transcript.messages();
    assert_eq!(
        (messages[0].role, words(&messages[0])),
        (Role::System, "be brief".to_owned())
    );
    assert_eq!(document.recorded.messages, 2);
    assert!(document.write().contains(r#""role":"system""#));
}

#[test]
fn a_fork_keeps_its_own_identity_and_names_its_parent() {
    let own = line(
        "session_meta",
        r#"{"id":"child","forked_from_id":"root","source":{"subagent":{"thread_spawn":{"parent_thread_id":"mother","depth":1}}}}"#,
    );
    let document = live(&[&own, META, &user("go")]);
    assert_eq!(document.about.id.as_deref(), Some("child"));
    assert_eq!(document.about.parent.as_deref(), Some("mother"));
    for (payload, parent) in [
        (
            r#"{"id":"c","parent_thread_id":"p","source":{"subagent":"review"}}"#,
            "p",
        ),
        (r#"{"id":"c","forked_from_id":"f"}"#, "f"),
        (
            r#"{"id":"c","history_base":{"thread_id":"b","end_ordinal_exclusive":9}}"#,
            "b",
        ),
    ] {
        let document = live(&[&line("session_meta", payload), &user("go")]);
        assert_eq!(document.about.parent.as_deref(), Some(parent));
        assert_eq!(
            rules(&document).contains(&(Rule::MissingPiece, Place::Line(1))),
            parent == "b"
        );
    }
}

#[test]
fn injected_messages_are_the_hosts() {
    let document = live(&[
        META,
        &user("<environment_context>x</environment_context>"),
        &user("<subagent_notification>done</subagent_notification>"),
        &user("# AGENTS.md instructions for /x"),
        &user("hello"),
    ]);
    let authors: Vec<_> = document.transcript.messages().iter().map(|m| m.author).collect();
    assert_eq!(authors, [Author::Host, Author::Host, Author::Host, Author::User]);
}

#[test]
fn usage_is_counted_once_and_on_the_newest_answer() {
    let count = |total: u64, input: u64| {
        event(&format!(
            r#"{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":{total}}},"last_token_usage":{{"input_tokens":{input},"cached_input_tokens":7,"output_tokens":3,"reasoning_output_tokens":2,"total_tokens":{}}},"model_context_window":258400}}}}"#,
            input + 3
        ))
    };
    let document = live(&[
        META,
        &event(r#"{"type":"token_count","info":null}"#),
        &user("a"),
        &assistant("b"),
        &count(13, 10),
        &count(13, 10),
        &user("c"),
        &assistant("d"),
        &count(13, 10),
        &assistant("e"),
        &count(36, 20),
    ]);
    let usage: Vec<_> = document
        .transcript
        .messages()
        .iter()
        .map(|message| message.usage.as_ref().map(|usage| usage.input))
        .collect();
    assert_eq!(usage, [None, Some(10), None, None, Some(20)]);
    let first = document.transcript.messages()[1].usage.as_ref().unwrap();
    assert_eq!((first.cache_read, first.output, first.reasoning), (7, 3, 2));
    assert_eq!(document.about.window, Some(258_400));
}

#[test]
fn the_oldest_form_has_everything_bare() {
    let document = live(&[
        r#"{"id":"old","timestamp":"2025-05-01T10:00:00Z","instructions":"be kind","git":{"branch":"main"}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
        r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#,
        r#"{"type":"function_call_output","call_id":"c","output":"{\"output\":\"\",\"metadata\":{\"exit_code\":0}}"}"#,
        r#"{"record_type":"state"}"#,
    ]);
    assert_eq!(shape(&document), ["be kind", "hi", "call c", "result c"]);
    assert_eq!(document.about.id.as_deref(), Some("old"));
    assert!(document.findings.is_empty());
}

#[test]
fn damage_costs_only_itself() {
    let mut bytes = b"\xEF\xBB\xBF".to_vec();
    let lines = [
        META.to_owned(),
        r#"{"type":"response_item","payload":"nothing"}"#.to_owned(),
        r#"{"type":"brand_new","payload":{}}"#.to_owned(),
        event(r#"{"type":"brand_new_event"}"#),
        event(r#"{"type":"exec_command_end","call_id":"c"}"#),
        "[1]".to_owned(),
        item(r#"{"id":"x"}"#),
        "garbage".to_owned(),
        item(r#"{"type":"ghost_snapshot","ghost_commit":{}}"#),
        user("kept"),
        r#"{"type":"session_meta"}"#.to_owned(),
        r#"{"foo":1}"#.to_owned(),
    ];
    for line in lines {
        bytes.extend(line.into_bytes());
        bytes.extend(b"\r\n");
    }
    bytes.extend(&user("torn").into_bytes()[..60]);
    let document = read_bytes(bytes, History::Live);
    assert_eq!(shape(&document), ["kept"]);
    let on = |rule, number| (rule, Place::Line(number));
    let mut found = rules(&document);
    found.retain(|(rule, _)| !matches!(rule, Rule::CarriageReturns | Rule::ByteOrderMark));
    assert_eq!(
        found,
        [
            on(Rule::NotARecord, 2),
            on(Rule::UnknownType, 3),
            on(Rule::UnknownType, 4),
            on(Rule::NotARecord, 6),
            on(Rule::NotARecord, 7),
            on(Rule::BadRecord, 8),
            on(Rule::UnknownType, 11),
            on(Rule::NotARecord, 12),
            on(Rule::TornRecord, 13),
        ]
    );
}

#[test]
fn ordinals_may_be_missing_or_used_again() {
    let at = |ordinal: u64, text: &str| {
        format!(
            r#"{{"ordinal":{ordinal},"type":"response_item","payload":{}}}"#,
            said("user", text)
        )
    };
    let document = live(&[
        META,
        &at(1, "a"),
        &at(1, "b"),
        &at(1, "b"),
        &at(7, "c"),
        &user("d"),
        &user("d"),
    ]);
    assert_eq!(shape(&document), ["a", "b", "c", "d", "d"]);
    assert_eq!(rules(&document), [(Rule::DuplicateRecord, Place::Line(4))]);
}

#[test]
fn letters_of_other_agents_are_items_by_the_host() {
    let letter = line(
        "inter_agent_communication",
        r#"{"author":"/root","recipient":"/root/x","content":"do \"it\"","trigger_turn":true}"#,
    );
    let document = live(&[META, &letter, &line("world_state", r#"{"full":true}"#)]);
    let message = &document.transcript.messages()[0];
    assert_eq!(
        (words(message).as_str(), message.author),
        ("opaque agent_message", Author::Host)
    );
    assert!(document.write().contains(r#""text":"do \"it\"""#));
    assert!(document.findings.is_empty());
}

#[test]
fn titles_come_from_thread_names() {
    let named = |name: &str| event(&format!(r#"{{"type":"thread_name_updated","thread_name":"{name}"}}"#));
    let document = live(&[META, &named("first"), &user("a"), &named("second")]);
    assert_eq!(document.about.title.as_deref(), Some("second"));
}

#[test]
fn compressed_files_and_outputs_in_blocks_are_read() {
    let output = r#"{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"Script failed\nWall time 1"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}"#;
    let call = r#"{"type":"custom_tool_call","call_id":"c","name":"exec","input":"await x"}"#;
    let text = [META, &user("a"), &item(call), &item(output)].join("\n");
    let file = tempfile::NamedTempFile::with_suffix(".jsonl.zst").unwrap();
    std::fs::write(file.path(), zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    let document = format::read(&Source::open(file.path()).unwrap(), None, &Request::default()).unwrap();
    assert_eq!(document.format.name, "codex");
    let result = document.transcript.messages()[2].results().next().unwrap();
    assert!(matches!(result.content[1], Content::Media(_)));
    assert_eq!(result.outcome, ToolOutcome::Failure);
}

#[test]
fn sessions_are_found_where_codex_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/08/01");
    std::fs::create_dir_all(&day).unwrap();
    std::fs::create_dir_all(home.path().join("archived_sessions")).unwrap();
    for name in [
        "sessions/2026/08/01/rollout-a.jsonl",
        "archived_sessions/rollout-b.jsonl.zst",
        "sessions/2026/08/01/notes.txt",
    ] {
        std::fs::write(home.path().join(name), META).unwrap();
    }
    let homes = Homes {
        home: "/nowhere".into(),
        variables: [("CODEX_HOME".to_owned(), home.path().to_owned())].into(),
    };
    let found = crate::discover::find(&homes);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|found| found.format.name == "codex"));
}
