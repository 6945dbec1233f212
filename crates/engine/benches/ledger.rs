//! Folding a long conversation into the ledger, one more message, and writing the block.
//!
//! The first figure is a whole fold of about a million tokens, redaction included, on one thread. The second is one more
//! message of the same kind, on a history and on one ten times as long: the ratio says whether the cost follows what is
//! new. The baseline of the same run is counting the same messages' tokens. Times are the best of several runs.

#![allow(clippy::print_stdout)]

mod conversation;

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::decide::Span;
use mainstay_engine::ledger::scribe::NothingToHide;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::ledger::scribe::Sheet;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Message;

use crate::conversation::transcript;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let (messages, runs) = if quick { (200, 1) } else { (2_000, 5) };
    let whole = transcript(messages);
    let list = whole.messages();
    let mut tally = Tally::new(Family::O200k);
    let counting = best(runs, || {
        tally = Tally::new(Family::O200k);
        time(|| tally.extend(list))
    });
    println!(
        "conversation: {} messages, {} tokens",
        list.len(),
        tally.total().total()
    );
    println!(
        "baseline, counting its tokens:         {:>8.1} ms",
        milliseconds(counting)
    );

    let bare = best(runs, || {
        let mut scribe = Scribe::new([0; 32], Arc::new(NothingToHide));
        time(|| scribe.observe(list))
    });
    let fold = best(runs, || {
        let mut scribe = scribe();
        time(|| scribe.observe(list))
    });
    let against = |duration: Duration| duration.as_secs_f64() / counting.as_secs_f64();
    println!(
        "fold without redaction:                {:>8.1} ms, ratio {:.2}",
        milliseconds(bare),
        against(bare)
    );
    println!(
        "fold:                                  {:>8.1} ms, ratio {:.2}",
        milliseconds(fold),
        against(fold)
    );

    let mut learned = scribe();
    learned.observe(list);
    let nothing = Span {
        until: list.len(),
        ..Span::default()
    };
    let count = |text: &str| Family::O200k.count(text, TextKind::Prose);
    for budget in [2_000, 10_000, 50_000] {
        let block = best(runs, || {
            time(|| drop(learned.block(&Sheet::new(list, &nothing, budget, &count))))
        });
        println!(
            "block of {budget:>6} tokens:                {:>8.1} ms",
            milliseconds(block)
        );
    }
    let short = one_more(&learned, list, runs);
    let long_list = transcript(messages * 10);
    let mut long = scribe();
    long.observe(long_list.messages());
    let ten = one_more(&long, long_list.messages(), runs);
    println!("one more message:                      {:>8.3} ms", milliseconds(short));
    println!(
        "the same after ten times the history:  {:>8.3} ms, ratio {:.2}",
        milliseconds(ten),
        ten.as_secs_f64() / short.as_secs_f64()
    );
}

fn scribe() -> Scribe {
    Scribe::new([0; 32], Arc::new(Redactor::new(Key::new([0; 32]), Options::default())))
}

/// Folding a step's call and result again at the end, per message.
fn one_more(learned: &Scribe, list: &[Message], runs: usize) -> Duration {
    const AGAIN: usize = 20;
    let mut longer = list.to_vec();
    longer.extend_from_slice(&list[1..=AGAIN]);
    let all = best(runs, || {
        let mut scribe = learned.clone();
        time(|| scribe.observe(&longer))
    });
    all / AGAIN as u32
}

fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn best(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
