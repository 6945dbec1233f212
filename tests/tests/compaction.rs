//! What must hold of every compaction, on generated conversations of all provider forms.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_engine::account::measure;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::Store;
use mainstay_tests::conversation::Form;
use mainstay_tests::conversation::Generated;
use mainstay_tests::provider::violations;
use mainstay_tests::trial;
use mainstay_tests::trial::pass;
use mainstay_tests::trial::read;
use serde_json::Value;

const CASES: u64 = 2_000;

fn policy(seed: u64) -> Policy {
    Policy {
        engine: Engine::Prune,
        recent_outputs: Some([0, 200, 1_000][(seed % 3) as usize]),
        tail: Some(100 + seed % 700),
        tail_messages: (seed % 5) as usize,
        ..Policy::default()
    }
}

#[test]
fn every_result_is_valid_smaller_and_leaves_the_protected_alone() {
    let mut compacted = 0;
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(4 + (seed % 40) as usize, 1_500);
        let body = generated.body();
        let document = read(form, &body);
        let policy = policy(seed);
        let mut session = trial::session(form, &policy);
        let outcome = pass(&mut session, &document, true);
        let written = document.write_changed(session.changes());
        if outcome.verdict != Verdict::Compacted {
            assert_eq!(written, body, "seed {seed}: the original comes back");
            continue;
        }
        compacted += 1;
        assert!(outcome.counted_after < outcome.counted_before, "seed {seed}");
        assert!(written.len() < body.len(), "seed {seed}: bytes grew");
        let before: Value = serde_json::from_str(&body).unwrap();
        let after: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(violations(&after, form), violations(&before, form), "seed {seed}");
        assert!(
            violations(&after, form).is_empty(),
            "seed {seed}: {:?}",
            violations(&after, form)
        );

        // Untouched messages are byte-identical: the tail, the head, the newest words of the person among them.
        let again = read(form, &written);
        let boundary = &outcome.plan.boundary;
        for index in 0..document.transcript.messages().len() {
            if !boundary.is_open(index) {
                assert_eq!(
                    again.verbatim(index),
                    document.verbatim(index),
                    "seed {seed}, message {index}"
                );
            }
        }
        let newest = document
            .transcript
            .messages()
            .iter()
            .rposition(|message| message.opens_turn());
        assert!(newest.is_none_or(|index| !boundary.is_open(index)), "seed {seed}");
        assert!(written.ends_with(",\"x\":1.50}") || written.ends_with("],\"x\":1.50}"));

        // What the session says it costs is what it costs.
        let recounted: u64 = session
            .messages()
            .iter()
            .map(|message| measure(message, Family::O200k).total())
            .sum();
        assert_eq!(recounted, outcome.counted_after.0, "seed {seed}");
        let mut tally = Tally::new(Family::O200k);
        tally.extend(again.transcript.messages());
        assert_eq!(
            tally.total().total(),
            outcome.counted_after.0,
            "seed {seed}: what was written costs what was said"
        );
        // Everything taken out is handed over, and its reference stands in the text.
        for dropped in &outcome.dropped {
            assert!(!dropped.text.is_empty() || dropped.tokens > 0, "seed {seed}");
            let is_marked = written.contains(dropped.reference.as_ref());
            assert!(
                is_marked || dropped.action.name() == "old reasoning",
                "seed {seed}: {dropped:?}"
            );
        }
    }
    println!("{compacted} of {CASES} conversations were compacted");
    assert!(compacted > CASES / 2);
}

#[test]
fn compacting_twice_changes_nothing_the_second_time() {
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(4 + (seed % 40) as usize, 1_500);
        let document = read(form, &generated.body());
        let policy = policy(seed);
        let mut session = trial::session(form, &policy);
        pass(&mut session, &document, true);
        let once = document.write_changed(session.changes());
        // The same session, and one that knows nothing of the first pass.
        let again = pass(&mut session, &document, true);
        assert!(again.changes.is_empty(), "seed {seed}: {:?}", again.plan);
        let second = read(form, &once);
        let mut fresh = trial::session(form, &policy);
        let outcome = pass(&mut fresh, &second, true);
        assert!(outcome.changes.is_empty(), "seed {seed}: {:?}", outcome.changes);
        assert_eq!(second.write_changed(fresh.changes()), once);
    }
}

#[test]
fn the_prefix_is_stable_between_passes_and_a_pass_only_adds() {
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        let policy = policy(seed);
        let mut session = trial::session(form, &policy);
        let mut emitted: Option<(usize, String)> = None;
        for round in 0..6 {
            generated.grow(10 + 12 * round, 1_500);
            let document = read(form, &generated.body());
            session.observe(Arc::clone(&document.transcript));
            // Appending alone changes nothing of what was emitted before.
            let before = document.write_changed(session.changes());
            if let Some((_, prefix)) = &emitted {
                assert!(before.starts_with(prefix.as_str()), "seed {seed}, round {round}");
            }
            let earlier = session.changes().clone();
            let outcome = pass(&mut session, &document, true);
            for (spot, change) in &earlier {
                assert_eq!(
                    session.changes().get(spot),
                    Some(change),
                    "seed {seed}: a change is never taken back"
                );
            }
            let after = document.write_changed(session.changes());
            // The end of the list belongs to the next request already.
            let list_end = after.rfind("],\"x\":").unwrap();
            emitted = Some((outcome.earliest_changed.unwrap_or(0), after[..list_end].to_owned()));
        }
    }
}

#[test]
fn growing_step_by_step_gives_what_a_session_that_learns_all_at_once_gives() {
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        let policy = policy(seed);
        let mut stepwise = trial::session(form, &policy);
        let mut last = String::new();
        for round in 0..5 {
            generated.grow(6 + 9 * round, 900);
            last = generated.body();
            stepwise.observe(read(form, &last).transcript);
        }
        let document = read(form, &last);
        let mut at_once = trial::session(form, &policy);
        let one = pass(&mut stepwise, &document, true);
        let two = pass(&mut at_once, &document, true);
        assert_eq!(one.changes, two.changes, "seed {seed}");
        assert_eq!(
            document.write_changed(stepwise.changes()),
            document.write_changed(at_once.changes())
        );
    }
}

#[test]
fn the_store_gives_back_every_original_and_every_dropped_text() {
    // Memory-backed where there is such a place: durability is tested elsewhere, and 2,000 flushes take long.
    let shared = std::path::Path::new("/dev/shm");
    let folder = if shared.is_dir() {
        tempfile::tempdir_in(shared).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    };
    let mut store = Store::open(&folder.path().join("kept/store.db")).unwrap();
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(4 + (seed % 20) as usize, 900);
        let body = generated.body();
        let document = read(form, &body);
        let policy = policy(seed);
        let mut session = trial::session(form, &policy);
        let outcome = pass(&mut session, &document, true);
        let result = document.changed_chunks(session.changes());
        let original: Vec<&[u8]> = document.original_chunks().into_iter().map(str::as_bytes).collect();
        let pieces: Vec<&[u8]> = result.iter().map(|chunk| chunk.as_bytes()).collect();
        let dropped: Vec<_> = outcome.dropped.iter().map(NewDropped::from).collect();
        let key = format!("conversation {seed}");
        let id = store
            .append(&NewCheckpoint {
                original: &original,
                result: &pieces,
                dropped: &dropped,
                ..NewCheckpoint::new(&key, Timestamp(seed as i64))
            })
            .unwrap();
        assert_eq!(store.original(&id).unwrap(), body.as_bytes(), "seed {seed}");
        assert_eq!(
            store.result(&id).unwrap(),
            document.write_changed(session.changes()).as_bytes(),
            "seed {seed}"
        );
        for dropped in outcome.dropped.iter().take(2) {
            let fetched = store.fetch(&dropped.reference).unwrap().unwrap();
            assert_eq!(fetched.original, dropped.text.as_bytes(), "seed {seed}");
        }
    }
}
