//! Hermes' session store: history and live view, lineage, older schemas, damage, a writer at work.

use std::path::PathBuf;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use rusqlite::Connection;

use crate::format;
use crate::reading::History;
use crate::session_directories::Homes;
use crate::sessions::store_proof;

const SCHEMA: &str = "
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT,
        system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, cwd TEXT, title TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
        content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
        reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,
        active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT);
    CREATE VIRTUAL TABLE messages_fts USING fts5(content);
";

struct Store {
    directory: tempfile::TempDir,
    connection: Connection,
}

impl Store {
    fn new(schema: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let connection = Connection::open(directory.path().join("state.db")).unwrap();
        connection.execute_batch(schema).unwrap();
        Self { directory, connection }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("state.db")
    }

    fn session(&self, id: &str, more: &[(&str, &str)]) {
        let (names, values): (Vec<_>, Vec<_>) = more.iter().copied().unzip();
        let names = names.iter().map(|name| format!(", {name}")).collect::<String>();
        let marks = ", ?".repeat(values.len());
        let statement =
            format!("INSERT INTO sessions (id, source, started_at{names}) VALUES ('{id}', 'cli', 1000{marks})");
        self.connection
            .execute(&statement, rusqlite::params_from_iter(values))
            .unwrap();
    }

    /// Adds a row; `standing` is the pair of `active` and `compacted`.
    fn row(&self, session: &str, role: &str, content: &str, at: f64, standing: (i64, i64), more: &[(&str, &str)]) {
        let statement = "INSERT INTO messages (session_id, role, content, timestamp, active, compacted)
            VALUES (?, ?, ?, ?, ?, ?)";
        let values = rusqlite::params![session, role, content, at, standing.0, standing.1];
        self.connection.execute(statement, values).unwrap();
        for (name, value) in more {
            let update = format!("UPDATE messages SET {name} = ? WHERE id = last_insert_rowid()");
            self.connection.execute(&update, [value]).unwrap();
        }
    }
}

const LIVE: (i64, i64) = (1, 0);
const ARCHIVED: (i64, i64) = (0, 1);
const HIDDEN: (i64, i64) = (0, 0);
const CALL: &str = r#"[{"id":"c1","call_id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]"#;

/// A session that was rewound once and compacted once, with one message carried over.
fn compacted() -> Store {
    let store = Store::new(SCHEMA);
    store.session(
        "s1",
        &[
            ("title", "The work"),
            ("system_prompt", "Be brief."),
            ("model", "m"),
            ("model_config", "{\"context_length\":200000}"),
            ("cwd", "/w"),
            ("parent_session_id", "s0"),
        ],
    );
    store.row("s1", "user", "first", 1001.0, ARCHIVED, &[]);
    store.row(
        "s1",
        "assistant",
        "",
        1002.0,
        ARCHIVED,
        &[("tool_calls", CALL), ("reasoning", "hm")],
    );
    store.row(
        "s1",
        "tool",
        "out",
        1003.0,
        ARCHIVED,
        &[("tool_call_id", "c1"), ("tool_name", "terminal")],
    );
    store.row("s1", "user", "taken back", 1004.0, HIDDEN, &[]);
    store.row("s1", "user", "second", 1005.0, ARCHIVED, &[]);
    store.row("s1", "assistant", "kept answer", 1006.0, HIDDEN, &[]);
    store.row("s1", "user", "first", 1001.0, LIVE, &[]);
    store.row(
        "s1",
        "assistant",
        "[CONTEXT COMPACTION — REFERENCE ONLY] the story",
        1010.0,
        LIVE,
        &[],
    );
    store.row("s1", "user", "second", 1005.0, LIVE, &[]);
    store.row("s1", "assistant", "kept answer", 1006.0, LIVE, &[]);
    store.row(
        "s1",
        "user",
        "third",
        1020.5,
        LIVE,
        &[("api_content", "third\n\n[memory]")],
    );
    store
}

#[test]
fn history_and_live_view_differ_by_what_was_compacted() {
    let store = compacted();
    let (live, full) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(live.format.name, "hermes");
    assert_eq!(
        store_proof::outline(&live),
        [
            "system | Be brief.",
            "user | first",
            "assistant | [CONTEXT COMPACTION — REFERENCE ONLY] the story",
            "user | second",
            "assistant | kept answer",
            "user | third\n\n[memory]",
        ]
    );
    assert_eq!(
        store_proof::outline(&full),
        [
            "system | Be brief.",
            "user | first",
            "assistant | call c1 terminal {\"command\":\"ls\"}",
            "tool | result c1 out",
            "user | second",
            "assistant | [CONTEXT COMPACTION — REFERENCE ONLY] the story",
            "assistant | kept answer",
            "user | third",
        ]
    );
    assert_eq!(store_proof::events(&live), [(2, Some(2))]);
    assert_eq!(store_proof::events(&full), [(5, Some(5))]);
    assert_eq!(live.transcript.messages()[2].author, Author::Summary);
    assert_eq!(full.recorded.messages, 8);
    assert_eq!(
        store_proof::rules(&full),
        [
            (Rule::Abandoned, Place::Item(3)),
            (Rule::DuplicateRecord, Place::Item(5)),
            (Rule::DuplicateRecord, Place::Item(6)),
            (Rule::DuplicateRecord, Place::Item(8)),
        ]
    );
    let about = &live.about;
    assert_eq!(about.title.as_deref(), Some("The work"));
    assert_eq!(about.parent.as_deref(), Some("s0"));
    assert_eq!(about.window, Some(200_000));
    assert_eq!(about.ended.unwrap().0, 1_020_500);
}

#[test]
fn archived_rows_without_a_summary_are_still_a_compaction() {
    let store = Store::new(SCHEMA);
    store.session("s", &[]);
    store.row("s", "user", "a", 1.0, ARCHIVED, &[]);
    store.row("s", "assistant", "b", 2.0, ARCHIVED, &[]);
    store.row("s", "user", "c", 3.0, LIVE, &[]);
    let (live, full) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(store_proof::events(&live), [(0, None)]);
    assert_eq!(store_proof::events(&full), [(2, None)]);
}

#[test]
fn rows_hold_structured_content_reasoning_and_junk() {
    let store = Store::new(SCHEMA);
    store.session("s", &[]);
    let image = "\0json:[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA\"}}]";
    store.row("s", "user", image, 1.0, LIVE, &[]);
    store.row("s", "user", "\0json:[broken", 2.0, LIVE, &[]);
    store.row("s", "session_meta", "{}", 2.5, LIVE, &[]);
    let sealed = r#"[{"type":"reasoning","encrypted_content":"XX"}]"#;
    store.row("s", "assistant", "a", 3.0, LIVE, &[("codex_reasoning_items", sealed)]);
    store.row(
        "s",
        "assistant",
        "b",
        4.0,
        LIVE,
        &[("reasoning", "why"), ("reasoning_details", "[{\"k\":1}]")],
    );
    store.row(
        "s",
        "assistant",
        "c",
        5.0,
        LIVE,
        &[("tool_calls", "[{"), ("reasoning_content", "x")],
    );
    store.row("s", "oracle", "d", 6.0, LIVE, &[]);
    store
        .connection
        .execute(
            "UPDATE messages SET content = CAST(x'61ff62' AS TEXT) WHERE role = 'oracle'",
            [],
        )
        .unwrap();
    let (live, _) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(
        store_proof::outline(&live),
        [
            "user | see | <media>",
            "user | \0json:[broken",
            "assistant | a",
            "assistant | b",
            "assistant | c",
            "user | a\u{fffd}b",
        ]
    );
    let parts = live.transcript.messages().iter().flat_map(|message| &message.parts);
    let seals = parts.filter_map(|part| match part {
        Part::Thinking(thinking) => Some(thinking.seal.clone()),
        _ => None,
    });
    assert_eq!(
        seals.collect::<Vec<_>>(),
        [
            Seal::Encrypted(sealed.into()),
            Seal::Signed("[{\"k\":1}]".into()),
            Seal::Unsealed
        ]
    );
    assert_eq!(
        store_proof::rules(&live),
        [
            (Rule::BadRecord, Place::Item(1)),
            (Rule::BadRecord, Place::Item(5)),
            (Rule::UnknownRole, Place::Item(6)),
            (Rule::InvalidUtf8, Place::Item(6)),
        ]
    );
}

#[test]
fn sessions_are_listed_newest_first_and_subagents_are_not_the_default() {
    let store = Store::new(SCHEMA);
    store.session("old", &[("title", "Old")]);
    store.session("new", &[("title", "New")]);
    store.session("empty", &[("ended_at", "999999")]);
    store.session("helper", &[]);
    store
        .connection
        .execute("UPDATE sessions SET source = 'subagent' WHERE id = 'helper'", [])
        .unwrap();
    store.row("old", "user", "o", 5.0, LIVE, &[]);
    store.row("new", "user", "n", 9.0, LIVE, &[]);
    store.row("helper", "user", "h", 11.0, LIVE, &[]);
    let source = store_proof::open(&store.path());
    let entries = (format::detect(&source).unwrap().list)(&source).unwrap();
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["empty", "helper", "new", "old"]);
    assert_eq!(entries[2].title.as_deref(), Some("New"));
    assert_eq!(entries[2].messages, Some(1));
    let newest = store_proof::read(&source, History::Live, None).unwrap();
    assert_eq!(store_proof::outline(&newest), ["user | n"]);
    assert_eq!(newest.about.conversations, 4);
    let old = store_proof::read(&source, History::Live, Some("old")).unwrap();
    assert_eq!(store_proof::outline(&old), ["user | o"]);
    let missing = store_proof::read(&source, History::Live, Some("nope"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("it holds empty, helper, new, old"), "{missing}");
}

#[test]
fn an_older_schema_is_read_and_an_unknown_one_refused() {
    let old = "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,
            tool_call_id TEXT, tool_calls TEXT, timestamp REAL);
        INSERT INTO sessions VALUES ('s', 'cli', 1.0);
        INSERT INTO messages VALUES (1, 's', 'user', 'hi', NULL, NULL, 2.0);";
    let store = Store::new(old);
    let (live, _) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(store_proof::outline(&live), ["user | hi"]);

    let unknown = Store::new("CREATE TABLE sessions (id TEXT, source TEXT); CREATE TABLE messages (id, body TEXT);");
    let source = store_proof::open(&unknown.path());
    let refusal = store_proof::read(&source, History::Live, None).unwrap_err().to_string();
    assert!(
        refusal.contains("a database with the tables messages, sessions"),
        "{refusal}"
    );
    let hermes = format::by_name("hermes").unwrap();
    let refusal = format::read(&source, Some(hermes), &store_proof::request(History::Live, None)).unwrap_err();
    let refusal = refusal.to_string();
    assert!(refusal.contains("no column session_id, role, content"), "{refusal}");

    let empty = Store::new(SCHEMA);
    let refusal = store_proof::read(&store_proof::open(&empty.path()), History::Live, None)
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("no conversation"), "{refusal}");
}

#[test]
fn a_store_in_use_or_damaged_is_handled() {
    let store = compacted();
    let path = store.path();
    let insert = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'assistant', 'more', 1030)";
    let Store { directory, connection } = store;
    drop(connection);
    store_proof::assert_store_is_tolerated(&path, insert);
    drop(directory);
}

#[test]
fn sessions_are_found_where_hermes_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".hermes");
    for below in [
        "state.db",
        "state.db-wal",
        "sessions/session_1.json",
        "sessions/20260801_100000_ab12.jsonl",
        "sessions/sessions.json",
        "profiles/second/state.db",
        "logs/x.jsonl",
    ] {
        let path = root.join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let homes = Homes {
        home: home.path().to_owned(),
        ..Homes::default()
    };
    let found = crate::discover::find(&homes);
    assert_eq!(found.iter().filter(|found| found.format.name == "hermes").count(), 4);
}
