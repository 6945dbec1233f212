//! The ledger against conversations that it was not written for, and what the newest messages alone would be worth.

use mainstay_eval::preflight::engines;
use mainstay_eval::preflight::run;

/// Two languages come twice in as many seeds: each phrase is met several times.
const SEEDS: u64 = 20;
/// Keeping only the newest messages passes what asks for nothing to be shown; more would mean that the checks ask too little.
const MOST_WITHOUT_LEDGER: usize = 5;
#[test]
fn the_ledger_holds_and_the_tail_alone_does_not() {
    let report = run(&engines(), SEEDS, &|_| {});
    for engine in &report.engines {
        if engine.engine == "ledger" {
            assert!(engine.failures.is_empty(), "{:#?}", engine.failures);
        } else {
            assert!(engine.smoke_passed <= MOST_WITHOUT_LEDGER, "{}", engine.smoke_passed);
        }
    }
    assert_eq!(report.engines.len(), 2);
}
