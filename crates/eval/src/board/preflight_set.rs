//! Preflight's conversations: what its checks say of false claims, leaks and what is kept.

use crate::board::conversations::Done;
use crate::board::figure::BoardObservation;
use crate::board::figure::FigureTable;
use crate::board::measure::BoardMeasure;
use crate::preflight;
use crate::preflight::checks;
use crate::preflight::checks::Verdict;
use crate::preflight::examine;

/// So many conversations are generated, as `mainstay eval preflight` does by default.
const SEEDS: u64 = 24;
/// Preflight chooses the size itself: what it plants must fit.
const SIZE: &str = "own";
/// Checks that fail where the state claims something that is not so.
const CLAIMS: [&str; 8] = [
    "stale-fact",
    "obligation-done",
    "question-answered",
    "changed-by-tool",
    "not-as-user",
    "not-as-order",
    "no-forged-frame",
    "forged-reference",
];
/// Checks that fail where a secret is shown.
const HIDDEN: [&str; 2] = ["token-hidden", "address-hidden"];

/// The table, and how many conversations there are.
pub fn measure(done: Done<'_>) -> (FigureTable, usize) {
    let engines = preflight::engines();
    let ledger = engines.iter().find(|engine| engine.name() == "ledger");
    let ledger = ledger.expect("the ledger is one of preflight's engines");
    let mut conversations = vec![preflight::smoke()];
    conversations.extend((0..SEEDS).map(preflight::planted));
    let mut table = FigureTable::default();
    for (index, conversation) in conversations.iter().enumerate() {
        let verdicts = examine(&**ledger, conversation);
        table.extend(&conversation.name, observations(&verdicts));
        done(index + 1, conversations.len());
    }
    (table, conversations.len())
}

fn observations(verdicts: &[Verdict]) -> Vec<BoardObservation> {
    let seen = |measure, value| BoardObservation {
        size: SIZE.to_owned(),
        measure,
        value,
    };
    let (mut claims, mut leaks) = (0, 0);
    let mut observations = Vec::new();
    for (check, verdict) in checks::ALL.iter().zip(verdicts) {
        let reasons = match verdict {
            Verdict::NotAsked => continue,
            Verdict::Passed => 0,
            Verdict::Failed(reasons) => reasons.len(),
        };
        if CLAIMS.contains(&check.name) {
            claims += reasons;
        } else if HIDDEN.contains(&check.name) {
            leaks += reasons;
        } else {
            observations.push(seen(BoardMeasure::Kept, if reasons == 0 { 1.0 } else { 0.0 }));
        }
    }
    observations.push(seen(BoardMeasure::FalseClaims, claims as f64));
    observations.push(seen(BoardMeasure::Leaks, leaks as f64));
    observations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_that_is_sorted_here_exists() {
        for name in CLAIMS.iter().chain(&HIDDEN) {
            assert!(checks::ALL.iter().any(|check| check.name == *name), "{name}");
        }
    }

    #[test]
    fn failed_checks_become_claims_leaks_or_something_that_is_not_kept() {
        let verdict = |name: &str| match name {
            "stale-fact" | "token-hidden" => Verdict::Failed(vec!["one".to_owned(), "two".to_owned()]),
            "decision" => Verdict::Failed(vec!["gone".to_owned()]),
            "question" => Verdict::Passed,
            _ => Verdict::NotAsked,
        };
        let verdicts: Vec<Verdict> = checks::ALL.iter().map(|check| verdict(check.name)).collect();
        let seen: Vec<_> = observations(&verdicts)
            .into_iter()
            .map(|seen| (seen.measure, seen.value))
            .collect();
        assert_eq!(
            seen,
            [
                (BoardMeasure::Kept, 0.0),
                (BoardMeasure::Kept, 1.0),
                (BoardMeasure::FalseClaims, 2.0),
                (BoardMeasure::Leaks, 2.0),
            ]
        );
    }
}
