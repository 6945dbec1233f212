//! Pruning a long conversation, and pruning it again after it grew.
//!
//! The first figure is a whole pass over about a million tokens whose counts are known: plan, placeholders, verify. The
//! second is a pass after 20 new messages, on a history and on one ten times as long: the ratio says whether the cost
//! follows what is new. Times are the best of several runs on one thread.

#![allow(clippy::print_stdout)]

mod conversation;

use std::time::Duration;
use std::time::Instant;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Situation;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;

use crate::conversation::transcript;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let (messages, runs) = if quick { (200, 1) } else { (2_000, 7) };
    let transcript = transcript(messages);
    let mut learned = Compactor::new(Family::O200k, &policy());
    learned.observe(&transcript);
    println!(
        "conversation: {} messages, {} tokens",
        transcript.messages().len(),
        learned.counted()
    );

    let first = best(runs, || {
        let mut compactor = learned.clone();
        let start = Instant::now();
        let outcome = pass(&mut compactor, &transcript);
        let time = start.elapsed();
        assert!(outcome.counted_after < outcome.counted_before);
        time
    });
    println!("first pass, counts known:              {:>8.2} ms", milliseconds(first));

    let short = again(messages, runs);
    let long = again(messages * 10, runs);
    println!("pass after 20 new messages:            {:>8.3} ms", milliseconds(short));
    println!(
        "the same after ten times the history:  {:>8.3} ms, ratio {:.2}",
        milliseconds(long),
        long.as_secs_f64() / short.as_secs_f64()
    );
}

/// Learning 20 new messages and making another pass, on a history that was already pruned.
fn again(messages: usize, runs: usize) -> Duration {
    let before = transcript(messages);
    let after = transcript(messages + 20);
    let mut pruned = Compactor::new(Family::O200k, &policy());
    pruned.observe(&before);
    pass(&mut pruned, &before);
    best(runs, || {
        let mut compactor = pruned.clone();
        let start = Instant::now();
        compactor.observe(&after);
        let outcome = pass(&mut compactor, &after);
        let time = start.elapsed();
        assert!(!outcome.changes.is_empty());
        time
    })
}

fn policy() -> Policy {
    Policy {
        engine: Engine::Prune,
        ..Policy::default()
    }
}

fn pass(compactor: &mut Compactor, transcript: &Transcript) -> Outcome {
    let limits = ModelLimits {
        name: "bench".to_owned(),
        window: 200_000,
        output: 20_000,
    };
    let policy = policy();
    let budget = Budget::new(&[limits], &policy.budget).expect("the window has room");
    let situation = Situation {
        prompt: compactor.counted(),
        scale: 1.0,
        forced: true,
        reasoning: ReasoningRule::MayDrop,
        margin: 0,
        roles: Roles::Open,
        block_role: Role::User,
    };
    compactor.pass(transcript, &budget, &policy, situation)
}

fn best(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
