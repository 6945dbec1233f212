//! What must hold of every full pass, on generated conversations of all provider forms.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::ledger::scribe::NothingToHide;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::transcript::Message;
use mainstay_session::Session;
use mainstay_tests::conversation::Form;
use mainstay_tests::conversation::Generated;
use mainstay_tests::provider::violations;
use mainstay_tests::trial;
use mainstay_tests::trial::kept_faults;
use mainstay_tests::trial::pass;
use mainstay_tests::trial::read;
use mainstay_wire::document::Document;
use serde_json::Value;

const CASES: u64 = 2_000;

fn policy(seed: u64, prompt: u64) -> Policy {
    Policy {
        engine: Engine::Ledger,
        target: Some(prompt * [10, 30, 60][(seed % 3) as usize] / 100),
        tail_messages: (seed % 5) as usize,
        ..Policy::default()
    }
}

/// Whoever writes a session's ledger, before anything was read.
fn scribe() -> Scribe {
    let mut session = trial::session(Form::Chat, &Policy::default());
    session.fold_ledger();
    session.scribe().unwrap().clone()
}

struct Tried {
    body: String,
    document: Document,
    session: Session,
    outcome: Outcome,
    target: u64,
}

fn attempt(form: Form, seed: u64) -> Tried {
    let mut generated = Generated::new(form, seed);
    generated.grow(4 + (seed % 40) as usize, 1_500);
    let body = generated.body();
    let document = read(form, &body);
    let mut tally = Tally::new(Family::O200k);
    tally.extend(document.transcript.messages());
    let policy = policy(seed, tally.total().total());
    let mut session = trial::session(form, &policy);
    let outcome = pass(&mut session, &document, true);
    Tried {
        body,
        document,
        session,
        outcome,
        target: policy.target.unwrap(),
    }
}

fn written(tried: &Tried) -> String {
    let block = tried.outcome.block.as_ref();
    tried.document.compacted_chunks(&tried.outcome.changes, block).concat()
}

#[test]
fn every_result_is_valid_within_its_target_and_keeps_the_tail() {
    let (mut compacted, mut shortened) = (0, 0);
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let tried = attempt(form, seed);
        let written = written(&tried);
        let Some(block) = &tried.outcome.block else {
            assert_eq!(written, tried.body, "seed {seed}: the original comes back");
            continue;
        };
        assert_eq!(tried.outcome.verdict, Verdict::Compacted);
        compacted += 1;
        assert!(
            tried.outcome.counted_after.0 <= tried.target,
            "seed {seed}: over target"
        );
        assert!(
            tried.outcome.counted_after < tried.outcome.counted_before,
            "seed {seed}"
        );
        let after: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(violations(&after, form), Vec::<String>::new(), "seed {seed}");

        let again = read(form, &written);
        let mut tally = Tally::new(Family::O200k);
        tally.extend(again.transcript.messages());
        assert_eq!(tally.total().total(), tried.outcome.counted_after.0, "seed {seed}");
        assert_eq!(
            again.transcript.messages().len(),
            block.span.kept.len() + 1,
            "seed {seed}"
        );
        assert_eq!(
            kept_faults(&tried.document, &again, block, &tried.outcome.changes),
            Vec::<String>::new(),
            "seed {seed}"
        );
        shortened += u64::from(!tried.outcome.changes.is_empty());
        let messages = tried.document.transcript.messages();
        let newest = messages.iter().rposition(Message::opens_turn).unwrap();
        assert!(block.span.keeps(newest) || block.span.is_squeezed, "seed {seed}");
        assert!(
            block.span.keeps(messages.len() - 1)
                || block.span.is_squeezed
                || !messages[messages.len() - 1].has_results()
        );
        // What is gone of a shortened part was handed over, too.
        for spot in tried.outcome.changes.keys() {
            let whole = tried.outcome.dropped.iter().any(|dropped| dropped.spot == *spot);
            assert!(whole, "seed {seed}: {spot:?} cannot be had again");
        }
        // Every part that is gone was handed over.
        let gone = (0..messages.len()).filter(|index| !block.span.keeps(*index));
        for index in gone {
            let handed = tried
                .outcome
                .dropped
                .iter()
                .any(|dropped| dropped.spot.message as usize == index);
            assert!(
                handed || messages[index].parts.is_empty(),
                "seed {seed}: message {index} is lost"
            );
        }
    }
    println!(
        "{compacted} of {CASES} conversations were replaced by a ledger, {shortened} with a newest step shortened"
    );
    assert!(
        compacted > CASES / 2 && shortened > CASES / 50,
        "{compacted} {shortened}"
    );
}

#[test]
fn the_same_conversation_gives_the_same_bytes_however_it_was_learnt() {
    for seed in (0..CASES).step_by(4) {
        let form = Form::ALL[(seed % 3) as usize];
        let tried = attempt(form, seed);
        let messages = tried.document.transcript.messages();
        let at_once = tried.session.scribe().unwrap().memory().to_bytes();
        // One message at a time, and a restart in between.
        let mut stepwise = scribe();
        for end in 1..=messages.len() {
            stepwise.observe(&messages[..end]);
            if end == messages.len() / 2 {
                let saved = Memory::from_bytes(&stepwise.memory().to_bytes()).unwrap();
                stepwise = scribe();
                assert!(stepwise.resume(saved, messages), "seed {seed}");
            }
        }
        assert_eq!(stepwise.memory().to_bytes(), at_once, "seed {seed}");
        assert_eq!(written(&attempt(form, seed)), written(&tried), "seed {seed}");
        // A state of another conversation is not taken for this one's.
        let mut other = Generated::new(form, seed + 1_000_000);
        other.grow(4 + (seed % 40) as usize, 1_500);
        let other = read(form, &other.body());
        assert!(!scribe().resume(Memory::from_bytes(&at_once).unwrap(), other.transcript.messages()));
    }
}

#[test]
fn a_compacted_conversation_goes_on_from_its_block() {
    for seed in (0..CASES).step_by(5) {
        let form = Form::ALL[(seed % 3) as usize];
        let tried = attempt(form, seed);
        let Some(saved) = tried.session.memory() else { continue };
        let again = read(form, &written(&tried));
        let first = tried.session.scribe().unwrap();
        let mut resumed = trial::session(form, &tried.session.settings().policy);
        resumed.observe(Arc::clone(&again.transcript));
        assert!(
            resumed.resume_from(Memory::from_bytes(&saved.to_bytes()).unwrap()),
            "seed {seed}: the block is found"
        );
        let second = resumed.scribe().unwrap();
        assert_eq!(second.ledger(), first.ledger(), "seed {seed}: nothing is folded twice");
        // Another key does not take the block for its own.
        let stranger = Scribe::new([4; 32], Arc::new(NothingToHide));
        assert!(stranger.find_frame(again.transcript.messages()).is_none());
    }
}

#[test]
fn words_beside_results_keep_their_step() {
    let mut elements = vec![r#"{"role":"user","content":"start"}"#.to_owned()];
    for step in 0..40 {
        let input = format!(r#"{{"file_path":"src/{step}.rs"}}"#);
        elements.push(format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"c{step}","name":"Read","input":{input}}}]}}"#
        ));
        let words = r#",{"type":"text","text":"and now do it differently"}"#;
        let words = if step == 20 { words } else { "" };
        let output = "word ".repeat(300);
        elements.push(format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{step}","content":"{output}"}}{words}]}}"#
        ));
    }
    let body = format!(r#"{{"model":"m","messages":[{}]}}"#, elements.join(","));
    let document = read(Form::Anthropic, &body);
    for target in [3_000, 4_000, 8_000] {
        let policy = Policy {
            engine: Engine::Ledger,
            target: Some(target),
            ..Policy::default()
        };
        let mut session = trial::session(Form::Anthropic, &policy);
        let outcome = pass(&mut session, &document, true);
        let block = outcome.block.as_ref().unwrap();
        let result = document.compacted_chunks(&outcome.changes, Some(block)).concat();
        let found = violations(&serde_json::from_str(&result).unwrap(), Form::Anthropic);
        assert_eq!(found, Vec::<String>::new(), "{:?}", block.span);
        assert!(block.span.keeps(42) && block.span.keeps(41), "{:?}", block.span);
    }
}
