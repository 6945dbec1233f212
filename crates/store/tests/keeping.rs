//! What goes in comes out: originals, results, what was dropped, and figures; and a growing conversation costs what is new.
#![allow(clippy::unwrap_used)]

mod sample;

use std::cell::RefCell;

use mainstay_engine::account::Calibration;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewTrimmed;
use mainstay_store::Store;
use mainstay_store::StoreError;
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest::test_runner::TestRunner;
use sample::Dice;
use sample::Sample;

fn body_count(store: &Store) -> i64 {
    let reader = rusqlite::Connection::open(store.path()).unwrap();
    reader
        .query_row("SELECT count(*) FROM body", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_checkpoint_comes_back_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let conversation = Sample::of("one", 12);
    let id = conversation.append(&mut store).unwrap();
    assert_eq!(store.original(&id).unwrap(), conversation.original());
    assert_eq!(store.result(&id).unwrap(), conversation.result());

    let loaded = store.load(&id).unwrap();
    assert_eq!(loaded.row, store.checkpoints(None, 10).unwrap()[0]);
    assert_eq!(loaded.plan, "{\"keep\":3,\"of\":12}");
    assert_eq!(loaded.prompts, [("summary".to_owned(), "5d41402a".to_owned())]);
    assert_eq!((loaded.row.source.as_str(), loaded.row.dropped), ("12", 9));
    assert_eq!(loaded.row.original_size, conversation.original().len() as u64);

    let dropped = store.dropped(&id).unwrap();
    let pairs: Vec<_> = dropped
        .iter()
        .map(|one| (one.reference.clone(), one.text.as_str()))
        .collect();
    assert_eq!(pairs, conversation.dropped());
    let fetched = store.fetch(&dropped[4].reference).unwrap().unwrap();
    assert_eq!(fetched.original, conversation.texts[4].as_bytes());
    assert_eq!(
        (fetched.mention.message, fetched.mention.checkpoint),
        (Some(4), Some(id.clone()))
    );
    assert_eq!(store.fetch("m0000000000").unwrap(), None);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());

    // The same from another process's point of view.
    let store = Store::open_existing(&sample::place(folder.path())).unwrap();
    assert_eq!(store.original(&id).unwrap(), conversation.original());
}

#[test]
fn checkpoints_are_listed_newest_first_and_found_by_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let mut ids = Vec::new();
    for length in 4..40 {
        // The clock runs backwards; the order is that of appending.
        let key = if length % 2 == 0 { "even" } else { "odd" };
        ids.push(
            Sample::of(key, length)
                .append_at(&mut store, Timestamp(-(length as i64)))
                .unwrap(),
        );
    }
    let listed: Vec<_> = store
        .checkpoints(None, 100)
        .unwrap()
        .into_iter()
        .map(|row| row.id)
        .collect();
    assert_eq!(listed, ids.iter().rev().cloned().collect::<Vec<_>>());
    let odd = store.checkpoints(Some("odd"), 5).unwrap();
    assert_eq!(odd.len(), 5);
    assert!(odd.iter().all(|row| row.conversation == "odd"));
    assert_eq!(store.conversations().unwrap(), ["even", "odd"]);

    for id in &ids {
        assert_eq!(store.find_checkpoint(id.as_str()).unwrap(), *id);
        assert_eq!(store.find_checkpoint(&id.as_str()[..12].to_uppercase()).unwrap(), *id);
    }
    // Thirty-six ids over sixteen first digits: some digit begins two of them.
    let ambiguous = (0..16).any(|digit| {
        matches!(
            store.find_checkpoint(&format!("{digit:x}")),
            Err(StoreError::Ambiguous { .. })
        )
    });
    assert!(ambiguous);
    for nothing in ["", "zz", "%", "'; --", "ffffffffffffffffffff"] {
        assert!(
            matches!(store.find_checkpoint(nothing), Err(StoreError::NoSuchCheckpoint { .. })),
            "{nothing}"
        );
    }
}

#[test]
fn a_reference_stands_for_one_content() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let first = [sample::dropped(0, "m1", "the port is 8080")];
    let again = [
        sample::dropped(3, "m1", "the port is 8080"),
        sample::dropped(4, "m1", "the port is 8080"),
    ];
    let other = [
        sample::dropped(0, "m2", "fine"),
        sample::dropped(1, "m1", "the port is 9090"),
    ];
    let mut append = |key: &str, dropped| {
        store.append(&NewCheckpoint {
            dropped,
            ..NewCheckpoint::new(key, Timestamp(0))
        })
    };
    append("a", &first).unwrap();
    append("b", &again).unwrap();
    let refused = append("c", &other).unwrap_err();
    assert_eq!(refused.to_string(), "reference \"m1\" already stands for other content");
    // Nothing of the refused checkpoint is there.
    assert_eq!(store.fetch("m2").unwrap(), None);
    assert_eq!(store.checkpoints(None, 10).unwrap().len(), 2);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn trimmed_outputs_are_fetched_by_a_reference_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    let output = b"line one\n\xff\xfe not text \0 at all".repeat(50);
    let new = NewTrimmed {
        conversation: Some("a"),
        tool: "bash",
        original: &output,
        tokens: 400,
        failed: false,
        created: Timestamp(7),
    };
    let reference = store.keep_trimmed(&new).unwrap();
    assert_eq!(store.keep_trimmed(&new).unwrap(), reference);
    let elsewhere = NewTrimmed {
        conversation: None,
        ..new
    };
    assert_eq!(store.keep_trimmed(&elsewhere).unwrap(), reference);
    let fetched = store.fetch(&reference).unwrap().unwrap();
    assert_eq!(fetched.original, output);
    assert_eq!(
        (fetched.mention.tool.as_deref(), fetched.mention.action.as_str()),
        (Some("bash"), "trimmed")
    );
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn calibrations_and_figures_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    assert_eq!(store.calibration("gpt-sample").unwrap(), None);
    let mut calibration = Calibration::default();
    for counted in [1_000, 20_000, 50_000, 90_001] {
        calibration.observe(counted, counted * 13 / 10 + 700);
        store.save_calibration("gpt-sample", &calibration).unwrap();
    }
    assert_eq!(store.calibration("gpt-sample").unwrap(), Some(calibration));

    Sample::of("a", 10).append(&mut store).unwrap();
    Sample::of("a", 30).append(&mut store).unwrap();
    Sample::of("b", 20).append(&mut store).unwrap();
    let all = store.stats(None).unwrap();
    assert_eq!((all.conversations, all.compactions, all.turns), (2, 3, 50));
    assert_eq!(all.tokens_saved, 6_000 - 900);
    let one = store.stats(Some("a")).unwrap();
    assert_eq!(
        (one.conversations, one.compactions, one.mean_turns_between),
        (1, 2, Some(20.0))
    );
    assert_eq!(store.stats(Some("nobody")).unwrap().compactions, 0);
}

#[test]
fn a_growing_conversation_costs_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&sample::place(folder.path())).unwrap();
    Sample::of("long", 400).append(&mut store).unwrap();
    let mut bodies = body_count(&store);
    for length in (405..450).step_by(5) {
        Sample::of("long", length).append(&mut store).unwrap();
        let now = body_count(&store);
        // Five new messages, five newly dropped texts, the head of the result, the plan.
        assert_eq!(now - bodies, 5 + 5 + 2);
        bodies = now;
    }
    let reader = rusqlite::Connection::open(store.path()).unwrap();
    let manifests: i64 = reader
        .query_row(
            "SELECT max(length(original) + length(result)) FROM checkpoint",
            [],
            |row| row.get(0),
        )
        .unwrap();
    // Chunks that came in together are neighbours: the list of all 445 takes a few bytes for each growth.
    assert!(manifests < 400, "{manifests} bytes of manifests");
}

/// Appends a document three times, growing it somewhere in between, and reads everything back.
fn grow_and_read_back(store: &mut Store, document: Vec<Vec<u8>>, growth: &[Vec<u8>], seed: u64) {
    let mut document = document;
    let mut kept = Vec::new();
    let mut dice = Dice::new(seed);
    for round in 0..3 {
        let original: Vec<&[u8]> = document.iter().map(Vec::as_slice).collect();
        let result: Vec<&[u8]> = original.iter().filter(|_| dice.roll(3) > 0).copied().collect();
        let new = NewCheckpoint {
            original: &original,
            result: &result,
            ..NewCheckpoint::new("any", Timestamp(0))
        };
        let before = body_count(store);
        let id = store.append(&new).unwrap();
        let fresh = if round == 0 { original.len() + 1 } else { growth.len() };
        assert!(body_count(store) - before <= fresh as i64);
        kept.push((id, original.concat(), result.concat()));
        let at = dice.roll(document.len() + 1);
        document.splice(at..at, growth.iter().map(|chunk| [chunk.as_slice(), &[round]].concat()));
    }
    for (id, original, result) in kept {
        assert_eq!(store.original(&id).unwrap(), original);
        assert_eq!(store.result(&id).unwrap(), result);
    }
}

#[test]
fn any_document_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = RefCell::new(Store::open(&sample::place(folder.path())).unwrap());
    let bytes = |most| prop::collection::vec(any::<u8>(), 0..most);
    let documents = (
        prop::collection::vec(bytes(200), 0..20),
        prop::collection::vec(bytes(2_000), 0..5),
        any::<u64>(),
    );
    let mut runner = TestRunner::new(Config {
        cases: 200,
        ..Config::default()
    });
    let outcome = runner.run(&documents, |(document, growth, seed)| {
        grow_and_read_back(&mut store.borrow_mut(), document, &growth, seed);
        Ok(())
    });
    outcome.unwrap();
    assert_eq!(store.borrow().check().unwrap(), Vec::<String>::new());
}
