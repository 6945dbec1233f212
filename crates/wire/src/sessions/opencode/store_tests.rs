//! opencode's session store: both generations of tables, lineage, damage, a writer at work.

use std::path::PathBuf;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Trigger;
use rusqlite::Connection;
use serde_json::Value;
use serde_json::json;

use super::tests::compacted;
use super::tests::user;
use crate::format;
use crate::reading::History;
use crate::session_directories::Homes;
use crate::sessions::store_proof;

const SCHEMA: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
        version TEXT, revert TEXT, model TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT NOT NULL);
    CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, data TEXT NOT NULL);
";

struct Store {
    directory: tempfile::TempDir,
    connection: Connection,
}

impl Store {
    fn new(schema: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let connection = Connection::open(directory.path().join("opencode.db")).unwrap();
        connection.execute_batch(schema).unwrap();
        Self { directory, connection }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("opencode.db")
    }

    fn session(&self, id: &str, parent: Option<&str>, updated: i64) {
        let statement = "INSERT INTO session (id, parent_id, directory, title, version, model, time_created,
            time_updated) VALUES (?1, ?2, '/w', 'Title of ' || ?1, '1.2', '{\"modelID\":\"m\"}', 1000000000000, ?3)";
        self.connection
            .execute(statement, rusqlite::params![id, parent, updated])
            .unwrap();
    }

    fn turns(&self, session: &str, turns: &[Value]) {
        for turn in turns {
            let mut info = turn["info"].clone();
            let id = info["id"].as_str().unwrap().to_owned();
            let at = info["time"]["created"].as_i64();
            info.as_object_mut().unwrap().remove("id");
            let statement = "INSERT INTO message VALUES (?, ?, ?, ?)";
            let values = rusqlite::params![id, session, at, info.to_string()];
            self.connection.execute(statement, values).unwrap();
            for part in turn["parts"].as_array().unwrap() {
                let values = rusqlite::params![part["id"].as_str(), id, session, part.to_string()];
                self.connection
                    .execute("INSERT INTO part VALUES (?, ?, ?, ?)", values)
                    .unwrap();
            }
        }
    }

    fn projected(&self, session: &str, seq: i64, kind: &str, data: Value) {
        let values = rusqlite::params![format!("evt_{session}_{seq}"), session, kind, seq, data.to_string()];
        self.connection
            .execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?)", values)
            .unwrap();
    }
}

fn filled() -> Store {
    let store = Store::new(SCHEMA);
    store.session("ses_1", None, 1_000_000_009_000);
    store.session("ses_2", Some("ses_1"), 1_000_000_099_000);
    store.turns("ses_1", &compacted(Some("msg_3")));
    store.turns("ses_2", &[user("msg_x", 1, "helper")]);
    store
}

#[test]
fn a_store_reads_like_an_export_of_it() {
    let store = filled();
    let (live, full) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(live.format.name, "opencode");
    assert_eq!(store_proof::counts(&live), (8, 1, 1));
    assert_eq!(store_proof::counts(&full), (11, 2, 2));
    assert_eq!(store_proof::events(&full), [(6, Some(7)), (10, None)]);
    assert_eq!(full.about.title.as_deref(), Some("Title of ses_1"));
    assert_eq!((full.about.model.as_deref(), full.about.conversations), (Some("m"), 2));
    let (from_directory, _) = store_proof::read_both(&store_proof::open(store.directory.path()), None);
    assert_eq!(store_proof::outline(&from_directory), store_proof::outline(&live));
    let source = store_proof::open(&store.path());
    let entries = (format::detect(&source).unwrap().list)(&source).unwrap();
    let ids: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.messages))
        .collect();
    assert_eq!(ids, [("ses_2", Some(1)), ("ses_1", Some(9))]);
    let helper = store_proof::read(&source, History::Live, Some("ses_2")).unwrap();
    assert_eq!(helper.about.parent.as_deref(), Some("ses_1"));
    let missing = store_proof::read(&source, History::Live, Some("x"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("it holds ses_2, ses_1"), "{missing}");
}

#[test]
fn reverts_and_damage_in_rows_cost_only_themselves() {
    let store = filled();
    store
        .connection
        .execute("UPDATE message SET data = '{' WHERE id = 'msg_1'", [])
        .unwrap();
    store
        .connection
        .execute("UPDATE part SET data = '' WHERE message_id = 'msg_8'", [])
        .unwrap();
    let revert = json!({"messageID": "msg_9"}).to_string();
    store
        .connection
        .execute("UPDATE session SET revert = ?", [revert])
        .unwrap();
    let (_, full) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(store_proof::counts(&full), (8, 2, 2));
    assert_eq!(
        store_proof::rules(&full),
        [
            (Rule::BadRecord, Place::Item(0)),
            (Rule::BadRecord, Place::Item(7)),
            (Rule::Abandoned, Place::Item(8)),
        ]
    );
}

/// A session that only the newer table has.
fn projected() -> Store {
    let store = Store::new(SCHEMA);
    store.session("ses_1", None, 1_000_000_009_000);
    let at = |offset: u64| json!({"created": 1_000_000_000_000_u64 + offset});
    let file = json!({"uri": "data:image/png;base64,AA", "mime": "image/png"});
    store.projected(
        "ses_1",
        0,
        "user",
        json!({"text": "first", "files": [file], "time": at(0)}),
    );
    store.projected(
        "ses_1",
        1,
        "model-switched",
        json!({"model": {"id": "m2"}, "time": at(1)}),
    );
    let tool = |id: &str, state: Value, time: Value| json!({"type": "tool", "id": id, "name": "t", "state": state, "time": time});
    let content = json!([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "see"},
        tool("c1", json!({"status": "completed", "input": {}, "content": [{"type": "text", "text": "out"}]}), json!({"created": 1, "pruned": 1_000_000_000_002_u64})),
        tool("c2", json!({"status": "error", "input": {}, "content": [], "error": {"type": "unknown", "message": "bad"}}), json!({"created": 1}))]);
    let tokens = json!({"input": 5, "output": 3, "reasoning": 1, "cache": {"read": 2, "write": 0}});
    let answer = json!({"agent": "a", "model": {"id": "m2", "providerID": "p"}, "content": content, "tokens": tokens, "time": at(2)});
    store.projected("ses_1", 2, "assistant", answer);
    store.projected(
        "ses_1",
        3,
        "compaction",
        json!({"reason": "manual", "summary": "story", "recent": "tail", "time": at(3)}),
    );
    store.projected("ses_1", 4, "synthetic", json!({"text": "note", "time": at(4)}));
    store.projected(
        "ses_1",
        5,
        "shell",
        json!({"callID": "x", "command": "ls", "output": "a", "time": at(5)}),
    );
    store.projected("ses_1", 6, "system", json!({"text": "rules", "time": at(6)}));
    store.projected("ses_1", 7, "hologram", json!({"time": at(7)}));
    let running = json!([tool(
        "c3",
        json!({"status": "pending", "input": "{\"a"}),
        json!({"created": 1})
    )]);
    store.projected("ses_1", 8, "assistant", json!({"content": running, "time": at(8)}));
    store
}

#[test]
fn the_newer_table_is_read_where_it_has_the_session() {
    let store = projected();
    let (live, full) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(
        store_proof::outline(&live),
        [
            "user | story | tail",
            "user | note",
            "user | $ ls\na",
            "system | rules",
            "assistant | call c3 t {\"a",
        ]
    );
    assert_eq!(
        store_proof::outline(&full)[..4],
        [
            "user | first | <media>",
            "assistant | see | call c1 t {} | call c2 t {}",
            "tool | result c1 out",
            "tool | result c2 bad",
        ]
    );
    assert_eq!(store_proof::events(&live), [(0, Some(0))]);
    assert_eq!(store_proof::events(&full), [(4, Some(4)), (4, None)]);
    assert_eq!(full.transcript.events()[0].trigger, Trigger::Manual);
    assert_eq!(
        store_proof::authors(&live)[..3],
        [Author::Summary, Author::Host, Author::Host]
    );
    let answer = &full.transcript.messages()[1];
    assert_eq!(
        (answer.model.as_deref(), answer.usage.as_deref().unwrap().input),
        (Some("m2"), 7)
    );
    assert!(live.transcript.has_open_calls());
    assert_eq!(store_proof::rules(&full), [(Rule::UnknownType, Place::Item(7))]);
}

#[test]
fn a_session_in_both_tables_is_read_from_the_fuller() {
    let store = filled();
    store.projected("ses_1", 0, "user", json!({"text": "only here"}));
    let (live, _) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(store_proof::counts(&live).0, 8);
    assert_eq!(store_proof::rules(&live), [(Rule::MissingPiece, Place::Whole)]);
    store
        .connection
        .execute("DELETE FROM message WHERE session_id = 'ses_1'", [])
        .unwrap();
    let (live, _) = store_proof::read_both(&store_proof::open(&store.path()), None);
    assert_eq!(store_proof::outline(&live), ["user | only here"]);
}

#[test]
fn an_older_schema_is_read_and_an_unknown_one_refused() {
    let old = Store::new(
        "CREATE TABLE session (id TEXT PRIMARY KEY);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT);
        INSERT INTO session VALUES ('ses_1');
        INSERT INTO message VALUES ('msg_1', 'ses_1', '{\"role\":\"user\"}');
        INSERT INTO part VALUES ('prt_1', 'msg_1', '{\"type\":\"text\",\"text\":\"hi\"}');",
    );
    let (live, _) = store_proof::read_both(&store_proof::open(&old.path()), None);
    assert_eq!(store_proof::outline(&live), ["user | hi"]);
    let unknown = Store::new("CREATE TABLE session (id TEXT); CREATE TABLE message (id TEXT, blob BLOB);");
    let source = store_proof::open(&unknown.path());
    let refusal = store_proof::read(&source, History::Live, None).unwrap_err().to_string();
    assert!(
        refusal.contains("a database with the tables message, session"),
        "{refusal}"
    );
    let opencode = format::by_name("opencode").unwrap();
    let refusal = format::read(&source, Some(opencode), &store_proof::request(History::Live, None)).unwrap_err();
    assert!(refusal.to_string().contains("no column session_id, data"), "{refusal}");
}

#[test]
fn a_store_in_use_or_damaged_is_handled() {
    let store = filled();
    let path = store.path();
    let insert = "INSERT INTO message VALUES ('msg_z', 'ses_1', 2000000000000, '{\"role\":\"user\"}');
        INSERT INTO part VALUES ('prt_z', 'msg_z', 'ses_1', '{\"type\":\"text\",\"text\":\"more\"}');";
    let Store { directory, connection } = store;
    drop(connection);
    store_proof::assert_store_is_tolerated(&path, insert);
    drop(directory);
}

#[test]
fn sessions_are_found_where_opencode_keeps_them() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("elsewhere");
    for below in [
        "opencode.db",
        "opencode-dev.db",
        "storage/session/prj/ses_1.json",
        "storage/message/ses_1/msg_1.json",
    ] {
        let path = root.join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let homes = Homes {
        home: home.path().to_owned(),
        variables: [("OPENCODE_DATA_DIR".to_owned(), root)].into(),
    };
    let found = crate::discover::find(&homes);
    assert_eq!(found.iter().filter(|found| found.format.name == "opencode").count(), 3);
}
