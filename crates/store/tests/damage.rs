//! Damaged files: bits that flip, pages that turn to zeros, ends that are cut off. Reading gives the exact content or an error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mainstay_engine::account::Calibration;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::Checkpoint;
use mainstay_store::CheckpointId;
use mainstay_store::Fetched;
use mainstay_store::NewTrimmed;
use mainstay_store::Scope;
use mainstay_store::Store;
use sample::Dice;
use sample::Sample;

struct Known {
    checkpoints: BTreeMap<CheckpointId, (Checkpoint, Sample)>,
    texts: BTreeMap<String, Fetched>,
    calibration: Calibration,
}

/// A store of some dozen pages, and what is in it.
fn stocked(place: &Path) -> (Store, Known) {
    let mut store = Store::open(place).unwrap();
    let mut known = Known {
        checkpoints: BTreeMap::new(),
        texts: BTreeMap::new(),
        calibration: Calibration::default(),
    };
    known.calibration.observe(10_000, 12_345);
    store.save_calibration("gpt-sample", &known.calibration).unwrap();
    for length in [6, 14, 25] {
        for key in ["first", "second"] {
            let sample = Sample::of(key, length);
            let id = sample.append(&mut store).unwrap();
            for (reference, _) in sample.dropped() {
                let fetched = store.fetch(&reference).unwrap().unwrap();
                known.texts.insert(reference, fetched);
            }
            known.checkpoints.insert(id.clone(), (store.load(&id).unwrap(), sample));
        }
    }
    let original = "a large output that was trimmed; ".repeat(400).into_bytes();
    let new = NewTrimmed {
        conversation: None,
        tool: "bash",
        original: &original,
        tokens: 9,
        failed: true,
        created: Timestamp(1),
    };
    let reference = store.keep_trimmed(&new).unwrap();
    let fetched = store.fetch(&reference).unwrap().unwrap();
    known.texts.insert(reference, fetched);
    (store, known)
}

#[derive(Default)]
struct Tally {
    refused: usize,
    errors: usize,
    exact: usize,
    unnoticed: usize,
}

/// Reads everything. Whatever comes back is what was written; whether anything was noticed.
fn read_all(store: &Store, known: &Known, tally: &mut Tally) -> bool {
    let mut errors = 0;
    let mut note = |failed: bool| errors += usize::from(failed);
    match store.checkpoints(None, 100) {
        Ok(rows) => rows
            .iter()
            .for_each(|row| assert_eq!(known.checkpoints[&row.id].0.row, *row)),
        Err(_) => note(true),
    }
    for (id, (checkpoint, sample)) in &known.checkpoints {
        match store.load(id) {
            Ok(found) => assert_eq!(found, *checkpoint),
            Err(_) => note(true),
        }
        for (document, expected) in [
            (store.original(id), sample.original()),
            (store.result(id), sample.result()),
        ] {
            match document {
                Ok(document) => assert!(document == expected),
                Err(_) => note(true),
            }
        }
        match store.dropped(id) {
            Ok(dropped) => {
                let pairs: Vec<_> = dropped
                    .iter()
                    .map(|one| (one.reference.clone(), one.text.as_str()))
                    .collect();
                assert_eq!(pairs, sample.dropped());
            }
            Err(_) => note(true),
        }
    }
    for (reference, text) in &known.texts {
        match store.fetch(reference) {
            Ok(Some(fetched)) => assert!(fetched == *text),
            Ok(None) | Err(_) => note(true),
        }
    }
    for query in ["server", "ошибки port", "trimmed output"] {
        match store.find(query, Scope::Everything, 10) {
            Ok(hits) => hits
                .iter()
                .for_each(|hit| assert_eq!(hit.size, known.texts[&hit.reference].original.len())),
            Err(_) => note(true),
        }
    }
    note(store.stats(None).is_err());
    match store.calibration("gpt-sample") {
        Ok(Some(found)) => assert_eq!(found, known.calibration),
        Ok(None) | Err(_) => note(true),
    }
    if errors > 0 {
        tally.errors += 1;
        // What shows in reading shows in the check.
        assert!(store.check().map_or(true, |faults| !faults.is_empty()));
    } else {
        tally.exact += 1;
    }
    errors > 0
}

/// One way to damage a file.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.roll(bytes.len());
    match dice.roll(5) {
        0 => bytes.truncate(at),
        1 => {
            let page = at / 4096 * 4096;
            let end = (page + 4096).min(bytes.len());
            bytes[page..end].fill(0);
        }
        2 => {
            let end = (at + 16).min(bytes.len());
            bytes[at..end].iter_mut().for_each(|byte| *byte = dice.roll(256) as u8);
        }
        // Damage at the beginning, where the file describes itself.
        3 => {
            let at = dice.roll(bytes.len().min(200));
            bytes[at] ^= 1 << dice.roll(8);
        }
        _ => bytes[at] ^= 1 << dice.roll(8),
    }
}

#[test]
fn a_damaged_file_gives_exact_content_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let (store, known) = stocked(&place);
    drop(store);
    let sound = fs::read(&place).unwrap();
    let mut tally = Tally::default();
    let mut dice = Dice::new(7);
    let mutations = sample::by_hand("MAINSTAY_MUTATIONS", 300);
    for number in 0..mutations {
        let mut bytes = sound.clone();
        mutate(&mut bytes, &mut dice);
        let copy = place.with_file_name(format!("damaged-{number}.db"));
        fs::write(&copy, &bytes).unwrap();
        match Store::open_existing(&copy) {
            Err(_) => tally.refused += 1,
            Ok(store) => {
                let noticed = read_all(&store, &known, &mut tally);
                let faults = store.check();
                tally.unnoticed += usize::from(!noticed && faults.is_ok_and(|faults| faults.is_empty()));
            }
        }
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(place.with_file_name(format!("damaged-{number}.db{ending}")));
        }
    }
    let Tally {
        refused,
        errors,
        exact,
        unnoticed,
    } = tally;
    println!(
        "{mutations} mutations: {refused} refused, {errors} with errors, {exact} read exactly ({unnoticed} changed nothing that is read or checked)"
    );
    assert!(errors > mutations / 5);
}

#[test]
fn a_damaged_log_gives_exact_content_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    // Still open, so most of it is in the log.
    let (store, known) = stocked(&place);
    let log = fs::read(place.with_file_name("store.db-wal")).unwrap();
    assert!(log.len() > 50_000);
    let mut dice = Dice::new(8);
    for number in 0..100 {
        let mut bytes = log.clone();
        mutate(&mut bytes, &mut dice);
        let copy = place.with_file_name(format!("damaged-{number}.db"));
        fs::copy(&place, &copy).unwrap();
        fs::write(place.with_file_name(format!("damaged-{number}.db-wal")), &bytes).unwrap();
        // SQLite takes a log up to the first frame that is wrong: later checkpoints are missing, none is half there.
        let Ok(copied) = Store::open_existing(&copy) else {
            continue;
        };
        for row in copied.checkpoints(None, 100).unwrap() {
            let (checkpoint, sample) = &known.checkpoints[&row.id];
            assert_eq!(row, checkpoint.row);
            assert_eq!(copied.original(&row.id).unwrap(), sample.original());
        }
        assert_eq!(copied.check().unwrap(), Vec::<String>::new());
    }
    drop(store);
}

/// Changes that SQLite itself has nothing against.
const CHANGES: &[&str] = &[
    "UPDATE checkpoint SET created = created + 1",
    "UPDATE checkpoint SET conversation = conversation || 's' WHERE seq = 2",
    "UPDATE checkpoint SET record = replace(record, 'ledger', 'prune') WHERE seq = 3",
    "UPDATE checkpoint SET original = result WHERE seq = 4",
    "UPDATE checkpoint SET result = original WHERE seq = 4",
    "UPDATE checkpoint SET dropped = (SELECT dropped FROM checkpoint WHERE seq = 1) WHERE seq = 3",
    "UPDATE checkpoint SET seq = seq + 100",
    "UPDATE checkpoint SET id = substr(id, 2) || '0' WHERE seq = 5",
    "DELETE FROM body WHERE id = 3",
    "UPDATE body SET bytes = (SELECT bytes FROM body WHERE id = 4), size = (SELECT size FROM body WHERE id = 4),
        coding = (SELECT coding FROM body WHERE id = 4) WHERE id = 3",
    "UPDATE body SET size = 9000000000000000000",
    "UPDATE body SET size = -1",
    "UPDATE body SET coding = 7",
    "UPDATE body SET id = -id WHERE id IN (1, 2); UPDATE body SET id = 3 + id WHERE id < 0",
    "UPDATE passage SET body = (SELECT body FROM passage WHERE id = 2) WHERE id = 1",
    "UPDATE passage SET body = zeroblob(3)",
    "UPDATE passage SET id = id + 1000 WHERE id = 4",
    "DELETE FROM passage WHERE id = 5",
    "UPDATE mention SET created = created - 1 WHERE passage = 1",
    "UPDATE mention SET record = replace(record, 'removed', 'trimmed')",
    "UPDATE mention SET record = 'not json'",
    "DELETE FROM mention WHERE passage = 2",
    "UPDATE calibration SET fit = replace(fit, '1', '2')",
];

#[test]
fn a_row_that_was_changed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let (store, known) = stocked(&place);
    drop(store);
    for (number, change) in CHANGES.iter().enumerate() {
        let copy = place.with_file_name(format!("changed-{number}.db"));
        fs::copy(&place, &copy).unwrap();
        let hand = rusqlite::Connection::open(&copy).unwrap();
        hand.execute_batch(change).unwrap();
        drop(hand);
        let store = Store::open_existing(&copy).unwrap();
        assert!(read_all(&store, &known, &mut Tally::default()), "{change}");
    }
}
