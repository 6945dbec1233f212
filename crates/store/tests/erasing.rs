//! Erased is gone: from the file, its log and the index. What others need stays.
#![allow(clippy::unwrap_used)]

mod sample;

use std::path::Path;

use mainstay_engine::transcript::Timestamp;
use mainstay_store::CheckpointId;
use mainstay_store::Erase;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewTrimmed;
use mainstay_store::Scope;
use mainstay_store::Store;
use mainstay_store::StoreError;
use sample::Sample;

/// Which of these bytes stand anywhere in the store's files, as they are, in another case, or as the end of a word whose
/// beginning the index has folded into its neighbour.
fn surviving(place: &Path, planted: &[&str]) -> Vec<String> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(place.parent().unwrap()).unwrap() {
        bytes.extend(std::fs::read(entry.unwrap().path()).unwrap());
    }
    let bytes = bytes.to_ascii_lowercase();
    let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let found = planted.iter().filter(|word| {
        let lower = word.to_lowercase();
        holds(&lower.as_bytes()[lower.len() - 6..])
    });
    found.map(|word| (*word).to_owned()).collect()
}

/// Appends a document that is too irregular to be compressed, so that its words can be seen on the disk.
fn plant(store: &mut Store, key: &str, created: i64, words: &[&str]) -> CheckpointId {
    let texts: Vec<String> = words.iter().map(|word| format!("{word}!")).collect();
    let references: Vec<String> = words
        .iter()
        .map(|word| format!("m{:x}", sample::number_of(word)))
        .collect();
    let pairs = references.iter().zip(&texts).enumerate();
    let dropped: Vec<_> = pairs
        .map(|(index, (reference, text))| sample::dropped(index, reference, text))
        .collect();
    let original: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let new = NewCheckpoint {
        source: key,
        original: &original,
        result: &original[..1],
        dropped: &dropped,
        ..NewCheckpoint::new(key, Timestamp(created))
    };
    store.append(&new).unwrap()
}

const SECRETS: &[&str] = &["Zqxkeyone7gvbw", "qwvplant2jhdzx", "секретьщфы"];
const OTHERS: &[&str] = &["keepsake81hgtr", "mementovxb52q"];

#[test]
fn an_erased_conversation_leaves_no_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut store = Store::open(&place).unwrap();
    plant(&mut store, "conversation-zzgoing77kx", 5, SECRETS);
    let stays = plant(&mut store, "staying", 5, OTHERS);
    // Merges of the index leave copies behind; many small appends make it merge.
    for length in 4..60 {
        Sample::of("noise", length).append(&mut store).unwrap();
    }
    assert_eq!(surviving(&place, SECRETS), SECRETS);
    let reference = format!("m{:x}", sample::number_of(SECRETS[0]));
    assert!(store.fetch(&reference).unwrap().is_some());

    let erased = store.erase(Erase::Conversation("conversation-zzgoing77kx")).unwrap();
    assert_eq!((erased.checkpoints, erased.references, erased.scrubbed), (1, 3, true));
    assert_eq!(surviving(&place, SECRETS), Vec::<String>::new());
    assert_eq!(surviving(&place, &["conversation-zzgoing77kx"]), Vec::<String>::new());
    assert_eq!(surviving(&place, OTHERS), OTHERS);
    assert!(store.find(SECRETS[0], Scope::Everything, 5).unwrap().is_empty());
    assert_eq!(store.find(OTHERS[0], Scope::Everything, 5).unwrap().len(), 1);
    assert_eq!(store.fetch(&reference).unwrap(), None);
    assert_eq!(
        store.original(&stays).unwrap(),
        format!("{}!{}!", OTHERS[0], OTHERS[1]).as_bytes()
    );
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    drop(store);
    assert_eq!(surviving(&place, SECRETS), Vec::<String>::new());
}

#[test]
fn what_another_conversation_needs_stays() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut store = Store::open(&place).unwrap();
    let shared = [OTHERS[0], SECRETS[0]];
    plant(&mut store, "first", 1, &shared);
    let second = plant(&mut store, "second", 2, &[OTHERS[0], OTHERS[1]]);
    let erased = store.erase(Erase::Conversation("first")).unwrap();
    assert_eq!((erased.checkpoints, erased.references), (1, 1));
    assert_eq!(
        store.original(&second).unwrap(),
        format!("{}!{}!", OTHERS[0], OTHERS[1]).as_bytes()
    );
    let hit = &store.find(OTHERS[0], Scope::Everything, 5).unwrap()[0];
    assert_eq!(hit.mention.checkpoint.as_ref(), Some(&second));
    assert_eq!(surviving(&place, &shared), [OTHERS[0]]);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn one_checkpoint_of_a_growing_conversation_can_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let lengths = [10, 20, 30];
    let ids: Vec<CheckpointId> = lengths
        .iter()
        .map(|length| Sample::of("long", *length).append(&mut store).unwrap())
        .collect();
    let early = Sample::of("long", 10).reference(2);
    assert_eq!(
        store.fetch(&early).unwrap().unwrap().mention.checkpoint.as_ref(),
        Some(&ids[0])
    );

    let erased = store.erase(Erase::Checkpoint(&ids[0])).unwrap();
    // Everything it held is in the later ones too, but for its plan and the head of its result.
    assert_eq!((erased.checkpoints, erased.references, erased.bodies), (1, 0, 2));
    assert!(matches!(
        store.original(&ids[0]),
        Err(StoreError::NoSuchCheckpoint { .. })
    ));
    assert!(matches!(
        store.erase(Erase::Checkpoint(&ids[0])),
        Err(StoreError::NoSuchCheckpoint { .. })
    ));
    assert_eq!(
        store.fetch(&early).unwrap().unwrap().mention.checkpoint.as_ref(),
        Some(&ids[1])
    );
    store.erase(Erase::Checkpoint(&ids[2])).unwrap();
    assert_eq!(store.original(&ids[1]).unwrap(), Sample::of("long", 20).original());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());

    // What was erased can come again.
    let again = Sample::of("long", 30).append(&mut store).unwrap();
    assert_eq!(store.original(&again).unwrap(), Sample::of("long", 30).original());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_old_goes_by_the_hosts_clock() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut store = Store::open(&place).unwrap();
    plant(&mut store, "old", 10, &SECRETS[..1]);
    plant(&mut store, "new", 20, OTHERS);
    let trimmed = |original, created| NewTrimmed {
        conversation: Some("old"),
        tool: "bash",
        original,
        tokens: 1,
        failed: false,
        created: Timestamp(created),
    };
    let gone = store.keep_trimmed(&trimmed(b"qwvplant2jhdzx", 15)).unwrap();
    let stays = store.keep_trimmed(&trimmed(b"late", 20)).unwrap();
    let erased = store.erase(Erase::Before(Timestamp(20))).unwrap();
    assert_eq!((erased.checkpoints, erased.references), (1, 2));
    assert_eq!(store.conversations().unwrap(), ["new"]);
    assert!(store.fetch(&gone).unwrap().is_none() && store.fetch(&stays).unwrap().is_some());
    assert_eq!(surviving(&place, &SECRETS[..2]), Vec::<String>::new());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn everything_can_go_and_the_store_lives_on() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut store = Store::open(&place).unwrap();
    plant(&mut store, "a", 1, SECRETS);
    plant(&mut store, "b", 2, OTHERS);
    let erased = store.erase(Erase::Everything).unwrap();
    assert_eq!((erased.checkpoints, erased.references, erased.scrubbed), (2, 5, true));
    assert_eq!(surviving(&place, SECRETS), Vec::<String>::new());
    assert_eq!(surviving(&place, OTHERS), Vec::<String>::new());
    let id = plant(&mut store, "c", 3, OTHERS);
    assert!(store.original(&id).is_ok());
    assert_eq!(store.find(OTHERS[0], Scope::Everything, 5).unwrap().len(), 1);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn an_idle_reader_is_no_hindrance() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut store = Store::open(&place).unwrap();
    plant(&mut store, "a", 1, SECRETS);
    let other = Store::open_existing(&place).unwrap();
    assert_eq!(other.checkpoints(None, 5).unwrap().len(), 1);
    assert!(store.erase(Erase::Everything).unwrap().scrubbed);
    assert_eq!(other.checkpoints(None, 5).unwrap(), []);
    assert_eq!(surviving(&place, SECRETS), Vec::<String>::new());
}
