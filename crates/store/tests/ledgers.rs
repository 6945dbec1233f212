//! Ledger states and the store's key: kept with their checkpoint, gone with it, and there after an upgrade.
#![allow(clippy::unwrap_used)]

use mainstay_engine::transcript::Timestamp;
use mainstay_store::Erase;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewLedger;
use mainstay_store::Store;

fn place(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join("kept/store.db")
}

fn keep(store: &mut Store, conversation: &str, name: &str, state: &[u8]) -> mainstay_store::CheckpointId {
    let at = Timestamp(1_700_000_000_000);
    store
        .append(&NewCheckpoint {
            original: &[b"one ", conversation.as_bytes()],
            result: &[b"one"],
            ledgers: &[NewLedger { name, state }],
            ..NewCheckpoint::new(conversation, at)
        })
        .unwrap()
}

#[test]
fn a_state_comes_back_and_a_newer_one_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&place(&folder)).unwrap();
    assert_eq!(store.ledger("talk").unwrap(), None);
    keep(&mut store, "talk", "talk", b"first state");
    let long = "second ".repeat(1_000);
    keep(&mut store, "talk", "talk", long.as_bytes());
    drop(store);
    let store = Store::open(&place(&folder)).unwrap();
    assert_eq!(store.ledger("talk").unwrap().as_deref(), Some(long.as_bytes()));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_state_goes_with_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&place(&folder)).unwrap();
    let first = keep(&mut store, "a", "a", b"state of a");
    keep(&mut store, "b", "b", b"state of b");
    store.erase(Erase::Checkpoint(&first)).unwrap();
    assert_eq!(store.ledger("a").unwrap(), None);
    assert!(store.ledger("b").unwrap().is_some());
    store.erase(Erase::Conversation("b")).unwrap();
    assert_eq!(store.ledger("b").unwrap(), None);
}

#[test]
fn the_key_stays_and_differs_between_stores() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let key = Store::open(&place(&folder)).unwrap().key().unwrap();
    assert_eq!(Store::open(&place(&folder)).unwrap().key().unwrap(), key);
    assert_ne!(Store::open(&place(&other)).unwrap().key().unwrap(), key);
    let mut store = Store::open(&place(&folder)).unwrap();
    store.erase(Erase::Everything).unwrap();
    assert_ne!(store.key().unwrap(), key);
}

#[test]
fn a_damaged_key_or_state_is_an_error_and_not_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&place(&folder)).unwrap();
    store.key().unwrap();
    keep(&mut store, "a", "a", b"state of a");
    drop(store);
    let raw = rusqlite::Connection::open(place(&folder)).unwrap();
    raw.execute("UPDATE key SET bytes = randomblob(32)", []).unwrap();
    raw.execute("UPDATE ledger SET checkpoint = 7", []).unwrap();
    drop(raw);
    let mut store = Store::open(&place(&folder)).unwrap();
    assert!(store.key().is_err());
    assert!(store.ledger("a").is_err());
    assert_eq!(store.check().unwrap().len(), 2);
}

#[test]
fn a_store_of_version_1_gets_the_new_tables_and_keeps_all_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&place(&folder)).unwrap();
    let id = keep(&mut store, "a", "a", b"state of a");
    drop(store);
    let raw = rusqlite::Connection::open(place(&folder)).unwrap();
    raw.execute_batch("DROP TABLE ledger; DROP TABLE key; PRAGMA user_version = 1;")
        .unwrap();
    drop(raw);
    let mut store = Store::open(&place(&folder)).unwrap();
    assert_eq!(store.original(&id).unwrap(), b"one a");
    assert_eq!(store.ledger("a").unwrap(), None);
    keep(&mut store, "a", "a", b"again");
    store.key().unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn the_newest_state_of_a_conversation_is_found_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&place(&folder)).unwrap();
    assert_eq!(store.newest_ledger("a").unwrap(), None);
    keep(&mut store, "a", "a", b"old");
    let newest = keep(&mut store, "a", "frame 0123", b"new");
    keep(&mut store, "b", "b", b"another's");
    let found = store.newest_ledger("a").unwrap().unwrap();
    assert_eq!((found.checkpoint, &found.state[..]), (newest.clone(), &b"new"[..]));
    store.erase(Erase::Checkpoint(&newest)).unwrap();
    assert_eq!(store.newest_ledger("a").unwrap().unwrap().state, b"old");

    let both = [
        NewLedger {
            name: "a",
            state: b"own",
        },
        NewLedger {
            name: "frame 4567",
            state: b"behind a block",
        },
    ];
    let newer = NewCheckpoint {
        ledgers: &both,
        ..NewCheckpoint::new("a", Timestamp(1))
    };
    store.append(&newer).unwrap();
    assert_eq!(store.newest_ledger("a").unwrap().unwrap().state, b"behind a block");
}

#[test]
fn a_conversation_is_found_by_how_its_key_begins() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&place(&folder)).unwrap();
    for key in ["talk", "talk-2", "wörk", "100%_done"] {
        keep(&mut store, key, key, b"state");
    }
    for (asked, found) in [
        ("talk", "talk"),
        ("talk-", "talk-2"),
        ("wö", "wörk"),
        ("100%", "100%_done"),
    ] {
        assert_eq!(store.find_conversation(asked).unwrap(), found);
    }
    let several = store.find_conversation("t").unwrap_err().to_string();
    assert!(several.contains("talk, talk-2"), "{several}");
    for missing in ["", "  ", "%", "alk", "TALK"] {
        let error = store.find_conversation(missing).unwrap_err().to_string();
        assert!(error.starts_with("no conversation"), "{error}");
    }
}
