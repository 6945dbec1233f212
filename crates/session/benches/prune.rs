//! Pruning a long conversation, and pruning it again after it grew.
//!
//! The first figure is a whole pass over about a million tokens whose counts and ledger are known: plan, placeholders, verify.
//! The second is a pass after 20 new messages, which are counted and read into the ledger with secrets hidden, on a history
//! and on one ten times as long: the ratio says whether the cost follows what is new. Times are the best of several runs on
//! one thread.

#![allow(clippy::print_stdout)]

#[path = "../../engine/benches/conversation/mod.rs"]
mod conversation;

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::transcript::Transcript;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_wire::reading::WireForm;

use crate::conversation::transcript;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let (messages, runs) = if quick { (200, 1) } else { (2_000, 7) };
    let learned = learned(transcript(messages));
    println!(
        "conversation: {} messages, {} tokens",
        learned.transcript().messages().len(),
        learned.counted()
    );

    let first = best(runs, || {
        let mut session = learned.clone();
        let start = Instant::now();
        let outcome = session.pass();
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
    let after = Arc::new(transcript(messages + 20));
    let mut pruned = learned(transcript(messages));
    pruned.pass();
    best(runs, || {
        let mut session = pruned.clone();
        let start = Instant::now();
        session.observe(Arc::clone(&after));
        let outcome = session.pass();
        let time = start.elapsed();
        assert!(!outcome.changes.is_empty());
        time
    })
}

/// A forced session that has counted a conversation and read it into its ledger.
fn learned(transcript: Transcript) -> Session {
    let limits = ModelLimits {
        name: "bench".to_owned(),
        window: 200_000,
        output: 20_000,
    };
    let policy = Policy {
        engine: Engine::Prune,
        ..Policy::default()
    };
    let budget = Budget::new(&[limits], &policy.budget).expect("the window has room");
    let settings = SessionSettings::with_budget(WireForm::Chat, Family::O200k, policy, budget).forced();
    let mut session = Session::of(settings, transcript);
    session.fold_ledger();
    session
}

fn best(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
