//! goose sessions: the store, line files, exports; compactions, older forms, damage, a writer at work.

use std::path::PathBuf;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::Trigger;
use rusqlite::Connection;

use crate::format;
use crate::reading::History;
use crate::session_directories::Homes;
use crate::sessions::store_proof;
use crate::sessions::store_proof::memory;

const SCHEMA: &str = "
    CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT DEFAULT 'user',
        working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, input_tokens INTEGER, output_tokens INTEGER,
        model_config_json TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
        role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
    INSERT INTO sessions VALUES ('old', '', 'Older', 'user', '/o', '2026-07-01 10:00:00', '2026-07-01 10:00:00', NULL, NULL, NULL);
    INSERT INTO sessions VALUES ('s', 'Work', '', 'user', '/w', '2026-08-01 10:00:00', '2026-08-01 11:00:00', 900, 40,
        '{\"model_name\":\"m\",\"context_limit\":128000}');
    INSERT INTO sessions VALUES ('h', 'Helper', '', 'sub_agent', '/w', '2026-08-01 10:00:00', '2026-08-02 11:00:00', NULL, NULL, NULL);
    INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('old', 'user', '[{\"type\":\"text\",\"text\":\"o\"}]', 5);
    INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('h', 'user', '[{\"type\":\"text\",\"text\":\"h\"}]', 6);
";

const BOTH: &str = r#"{"userVisible":true,"agentVisible":true}"#;
const USER: &str = r#"{"userVisible":true,"agentVisible":false}"#;
const AGENT: &str = r#"{"userVisible":false,"agentVisible":true}"#;
const NOBODY: &str = r#"{"userVisible":false,"agentVisible":false}"#;

struct Store {
    directory: tempfile::TempDir,
    connection: Connection,
}

impl Store {
    fn new(schema: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let connection = Connection::open(directory.path().join("sessions.db")).unwrap();
        connection.execute_batch(schema).unwrap();
        Self { directory, connection }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("sessions.db")
    }

    fn row(&self, id: &str, role: &str, content: &str, at: i64, metadata: &str) {
        let statement = "INSERT INTO messages (session_id, message_id, role, content_json, created_timestamp,
            metadata_json) VALUES ('s', ?, ?, ?, ?, ?)";
        let values = rusqlite::params![id, role, content, at, metadata];
        self.connection.execute(statement, values).unwrap();
    }

    fn text(&self, role: &str, text: &str, at: i64, metadata: &str) {
        let content = format!("[{{\"type\":\"text\",\"text\":{text:?}}}]");
        self.row("", role, &content, at, metadata);
    }
}

const REQUEST: &str = r#"[{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]"#;
const RESPONSE: &str = r#"[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"content":[
    {"type":"text","text":"a","annotations":{"audience":["assistant"]}},
    {"type":"text","text":"shown","annotations":{"audience":["user"],"priority":0.0}}],"isError":false}}}]"#;

/// A session that was compacted while a turn was under way.
fn compacted() -> Store {
    let store = Store::new(SCHEMA);
    store.text("user", "first", 10, USER);
    store.row(
        "m1",
        "assistant",
        "[{\"type\":\"text\",\"text\":\"let me see\"}]",
        11,
        USER,
    );
    store.row("m1", "assistant", REQUEST, 11, USER);
    store.row("", "user", RESPONSE, 12, USER);
    store.text("user", "second", 13, NOBODY);
    let notice = r#"[{"type":"systemNotification","notificationType":"inlineMessage","msg":"compacting"}]"#;
    store.row("", "assistant", notice, 14, USER);
    store.text("user", "what happened so far", 20, AGENT);
    store.text("assistant", "The previous message is a structured summary", 20, AGENT);
    store.text("user", "second", 20, BOTH);
    store.text("assistant", "done", 30, BOTH);
    store
}

#[test]
fn a_compaction_hides_rows_from_the_live_view() {
    let store = compacted();
    let (live, full) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(live.format.name, "goose");
    let after = [
        "user | what happened so far",
        "assistant | The previous message is a structured summary",
        "user | second",
        "assistant | done",
    ];
    assert_eq!(store_proof::outline(&live), after);
    assert_eq!(
        store_proof::outline(&full)[..3],
        [
            "user | first",
            "assistant | let me see | call c1 developer__shell {\"command\":\"ls\"}",
            "tool | result c1 a",
        ]
    );
    assert_eq!(store_proof::outline(&full)[3..], after);
    assert_eq!(store_proof::events(&live), [(0, Some(0))]);
    assert_eq!(store_proof::events(&full), [(3, Some(3))]);
    assert_eq!(full.transcript.events()[0].trigger, Trigger::Automatic);
    assert_eq!(
        store_proof::authors(&live),
        [Author::Summary, Author::Host, Author::User, Author::Assistant]
    );
    assert_eq!(store_proof::rules(&full), [(Rule::DuplicateRecord, Place::Item(4))]);
    assert_eq!(
        (full.recorded.messages, full.recorded.calls, full.recorded.results),
        (7, 1, 1)
    );
    let usage = live.transcript.messages()[3].usage.as_deref().unwrap();
    assert_eq!((usage.input, usage.output), (900, 40));
    let about = &live.about;
    assert_eq!(
        (about.title.as_deref(), about.directory.as_deref()),
        (Some("Work"), Some("/w"))
    );
    assert_eq!((about.model.as_deref(), about.window), (Some("m"), Some(128_000)));
    assert_eq!(about.started, Some(Timestamp(1_785_578_400_000)));
}

#[test]
fn sessions_are_listed_newest_first_and_subagents_are_not_the_default() {
    let store = compacted();
    let source = store_proof::open(&store.path());
    let entries = (format::detect(&source).unwrap().list)(&source).unwrap();
    let ids: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.messages))
        .collect();
    assert_eq!(ids, [("h", Some(1)), ("s", Some(10)), ("old", Some(1))]);
    assert_eq!(entries[2].title.as_deref(), Some("Older"));
    let newest = store_proof::read(&source, History::Live, None).unwrap();
    assert_eq!((newest.about.id.as_deref(), newest.about.conversations), (Some("s"), 3));
    let old = store_proof::read(&source, History::Live, Some("old")).unwrap();
    assert_eq!(store_proof::outline(&old), ["user | o"]);
    let missing = store_proof::read(&source, History::Live, Some("x"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("it holds h, s, old"), "{missing}");
}

#[test]
fn every_kind_of_content_is_read() {
    let store = Store::new(SCHEMA);
    let content = r#"[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"redactedThinking","data":"XX"},
        {"type":"reasoning","text":"old"},{"type":"text","text":"so"},
        {"type":"toolRequest","id":"c1","toolCall":{"status":"error","error":"no such tool"}},
        {"type":"frontendToolRequest","id":"c2","toolCall":{"status":"success","value":{"name":"f"}}},
        {"type":"toolConfirmationRequest","id":"c2","toolName":"f","arguments":{}},{"type":"hologram"}]"#;
    store.row("", "assistant", content, 1, BOTH);
    let answers = r#"[{"type":"toolResponse","id":"c1","toolResult":{"status":"error","error":"bad"}},
        {"type":"toolResponse","id":"c2","toolResult":{"status":"success","value":[
            {"type":"text","text":"legacy"},{"type":"image","data":"AA","mimeType":"image/png"},
            {"type":"resource","resource":{"uri":"file:///x","text":"res"}}]}},
        {"type":"text","text":"and this"},{"type":"image","data":"BB","mimeType":"image/png"}]"#;
    store.row("", "user", answers, 2, BOTH);
    store.row("", "user", "[{\"type\":", 3, BOTH);
    store.row("", "oracle", "[{\"type\":\"text\",\"text\":\"x\"}]", 4, BOTH);
    let (live, _) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(
        store_proof::outline(&live),
        [
            "assistant | so | call c1 unreadable_call no such tool | call c2 f {}",
            "tool | result c1 bad",
            "tool | result c2 legacy <media> res",
            "user | and this | <media>",
            "user | x",
        ]
    );
    let messages = live.transcript.messages();
    let seals: Vec<_> = messages[0].parts.iter().take(3).collect();
    assert!(matches!(seals[0], Part::Thinking(thinking) if thinking.seal == Seal::Signed("sig".into())));
    assert!(matches!(seals[1], Part::Thinking(thinking) if thinking.seal == Seal::Encrypted("XX".into())));
    assert!(matches!(seals[2], Part::Thinking(thinking) if thinking.seal == Seal::Unsealed));
    assert_eq!(messages[1].results().next().unwrap().outcome, ToolOutcome::Failure);
    assert_eq!(messages[4].author, Author::Host);
    assert_eq!(
        store_proof::rules(&live),
        [
            (Rule::MalformedArguments, Place::Item(0)),
            (Rule::UnknownType, Place::Item(0)),
            (Rule::BadRecord, Place::Item(2)),
            (Rule::UnknownRole, Place::Item(3)),
        ]
    );
}

#[test]
fn a_line_file_has_a_header_and_survives_damage() {
    let lines = [
        "\u{feff}{\"working_dir\":\"/w\",\"description\":\"Title\",\"message_count\":3,\"total_tokens\":9}",
        r#"{"role":"user","created":1785578400,"content":[{"type":"text","text":"hi"}]}"#,
        r#"{"role":"assistant","created":1785578401,"content":[{"type":"text","text":"yo"}]"#,
        r#"{"stray":1}"#,
        r#"{"role":"assistant","created":1785578402,"content":[{"type":"text","text":"again"}]}"#,
        r#"{"role":"user","cre"#,
    ];
    let source = memory("20260801_1.jsonl", &lines.join("\n"));
    let (live, _) = store_proof::read_both(&source, None);
    assert_eq!(live.format.name, "goose");
    assert_eq!(store_proof::outline(&live), ["user | hi", "assistant | again"]);
    assert_eq!(live.about.title.as_deref(), Some("Title"));
    assert_eq!(live.about.id.as_deref(), Some("20260801_1"));
    assert_eq!(live.about.started, Some(Timestamp(1_785_578_400_000)));
    let rules = store_proof::rules(&live);
    for expected in [
        (Rule::ByteOrderMark, Place::Line(1)),
        (Rule::TornRecord, Place::Line(3)),
        (Rule::NotARecord, Place::Line(4)),
        (Rule::TornRecord, Place::Line(6)),
    ] {
        assert!(rules.contains(&expected), "{expected:?} in {rules:?}");
    }
    let header = memory("h.jsonl", lines[0]);
    let refusal = store_proof::read(&header, History::Live, None).unwrap_err().to_string();
    assert!(refusal.contains("no message"), "{refusal}");
}

#[test]
fn an_export_is_read() {
    let export = format!(
        r#"{{"id":"s","working_dir":"/w","name":"N","conversation":[
            {{"id":"a","role":"user","created":1,"content":[{{"type":"text","text":"q"}}],"metadata":{BOTH}}},
            {{"id":"b","role":"assistant","created":2,"content":{REQUEST},"metadata":{BOTH}}},5]}}"#
    );
    let (live, _) = store_proof::read_both(&memory("export.json", &export), None);
    assert_eq!(live.format.name, "goose");
    assert_eq!(store_proof::counts(&live), (2, 1, 0));
    assert!(live.transcript.has_open_calls());
    assert_eq!(store_proof::rules(&live), [(Rule::NotARecord, Place::Item(2))]);
}

#[test]
fn an_older_schema_is_read_and_an_unknown_one_refused() {
    let old = Store::new(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT);
        INSERT INTO sessions VALUES ('s');
        INSERT INTO messages VALUES (1, 's', 'user', '[{\"type\":\"text\",\"text\":\"hi\"}]');",
    );
    let (live, _) = store_proof::read_both(&store_proof::open(&old.path()), None);
    assert_eq!(store_proof::outline(&live), ["user | hi"]);
    let unknown = Store::new("CREATE TABLE threads (id TEXT); CREATE TABLE messages (id, body BLOB);");
    let source = store_proof::open(&unknown.path());
    assert!(store_proof::read(&source, History::Live, None).is_err());
    let goose = format::by_name("goose").unwrap();
    let refusal = format::read(&source, Some(goose), &store_proof::request(History::Live, None)).unwrap_err();
    assert!(refusal.to_string().contains("no table \"sessions\""), "{refusal}");
}

#[test]
fn a_store_in_use_or_damaged_is_handled() {
    let store = compacted();
    let path = store.path();
    let insert = "INSERT INTO messages (session_id, role, content_json, created_timestamp)
        VALUES ('s', 'user', '[{\"type\":\"text\",\"text\":\"more\"}]', 40)";
    let Store { directory, connection } = store;
    drop(connection);
    store_proof::assert_store_is_tolerated(&path, insert);
    drop(directory);
}

#[test]
fn sessions_are_found_where_goose_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join(".local/share/goose/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    for name in ["sessions.db", "20260801_1.jsonl", "notes.txt"] {
        std::fs::write(sessions.join(name), "x").unwrap();
    }
    let homes = Homes {
        home: home.path().to_owned(),
        ..Homes::default()
    };
    let found = crate::discover::find(&homes);
    let goose = found.iter().filter(|found| found.format.name == "goose").count();
    assert_eq!(goose, 2);
}

#[test]
fn damage_anywhere_ends_in_a_document_or_an_error() {
    let message = |role: &str, content: &str| format!("{{\"role\":{role:?},\"created\":1,\"content\":{content}}}");
    let lines = [
        r#"{"working_dir":"/w","description":"T","message_count":3}"#.to_owned(),
        message("user", r#"[{"type":"text","text":"hi"}]"#),
        message("assistant", REQUEST),
        message("user", &RESPONSE.replace('\n', " ")),
    ];
    store_proof::assert_survives_damage("s.jsonl", &lines.join("\n"));
}
