//! Everything that can go wrong with a summary by a model, against servers that speak the providers' real forms over real
//! sockets. Whatever happens: exit code 0, a valid and smaller result with everything critical in it, the exact original in
//! the store, and a message that says what happened.
#![allow(clippy::unwrap_used, clippy::print_stderr, dead_code)]

mod answers;
mod contents;
#[path = "../home/mod.rs"]
mod home;
#[cfg(unix)]
mod interrupting;
mod page;
mod running;
mod scripts;
mod session;
mod table;

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use mainstay_tests::conversation::Form;

use crate::page::Row;
use crate::running::Case;
use crate::running::Delivery;
use crate::running::Variant;

/// The endpoints that a case is run at. The first is the one that the page shows.
fn variants(case: &Case) -> Vec<Variant> {
    let deliveries: &[[bool; 3]] = match case.delivery {
        Delivery::Any => &[[true; 3], [false; 3]],
        Delivery::Either => &[[true, false, true]],
        Delivery::Streamed => &[[true; 3]],
        Delivery::Whole => &[[false; 3]],
    };
    let at = |streams: &[bool; 3]| {
        let both = Form::ALL.into_iter().zip(*streams);
        both.map(|(form, streams)| Variant { form, streams })
            .collect::<Vec<_>>()
    };
    deliveries.iter().flat_map(at).collect()
}

/// Does this with every number below an end, several at a time: most of them wait for a server.
fn in_parallel(end: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    if index >= end {
                        return;
                    }
                    work(index);
                }
            });
        }
    });
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let owned = panic.downcast_ref::<String>().cloned();
    owned.unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap_or(&"").to_string())
}

/// The groups in which it matters whether the ledger stands beside a summary.
const ABOUT_ANSWERS: [&str; 3] = [
    "The answer is of no use",
    "The answer is wrong",
    "The request is too long",
];

#[test]
fn whatever_happens_the_compaction_ends_well_and_the_page_says_how() {
    let groups = table::groups();
    let cases: Vec<(&str, &Case)> = groups
        .iter()
        .flat_map(|(title, cases)| cases.iter().map(move |case| (*title, case)))
        .collect();
    let mut tasks: Vec<(usize, Variant, &str)> = Vec::new();
    for (index, (title, case)) in cases.iter().enumerate() {
        let variants = variants(case);
        tasks.push((index, variants[0], "shown"));
        tasks.extend(variants[1..].iter().map(|variant| (index, *variant, "hybrid")));
        // Without the ledger beside it, at one endpoint: what is wrong with an answer does not depend on it.
        if ABOUT_ANSWERS.contains(title) {
            tasks.push((index, variants[variants.len() - 1], "summary"));
        }
    }
    let failed = Mutex::new(Vec::new());
    let shown = Mutex::new(vec![String::new(); cases.len()]);
    in_parallel(tasks.len(), |task| {
        let (index, variant, engine) = tasks[task];
        let case = cases[index].1;
        let done = catch_unwind(AssertUnwindSafe(|| match engine {
            "shown" => shown.lock().unwrap()[index] = running::shown(case, variant),
            _ => running::run(case, variant, engine),
        }));
        if let Err(panic) = done {
            let what = words(&*panic);
            failed
                .lock()
                .unwrap()
                .push(format!("{} ({variant:?}, {engine}): {what}", case.happens));
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n\n"));
    let shown = shown.into_inner().unwrap();
    let rows = cases
        .iter()
        .zip(&shown)
        .map(|((title, case), printed)| Row::new(title, case, printed));
    page::check(&rows.collect::<Vec<_>>());
}
