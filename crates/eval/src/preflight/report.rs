//! What preflight comes to: the seed's twelve by line, the generated conversations by check, every failure by name.
//! Field names are the documented JSON shape.

use serde::Serialize;

use crate::preflight::checks;
use crate::preflight::checks::Case;
use crate::preflight::checks::Verdict;
use crate::preflight::claims::ClaimKind;
use crate::preflight::engines::Engine;
use crate::preflight::planted;
use crate::preflight::sheet::Conversation;
use crate::preflight::smoke;

/// What all engines came to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How many conversations were generated.
    pub conversations: usize,
    /// Each engine.
    pub engines: Vec<EngineReport>,
}

/// What one engine came to.
#[derive(Clone, Debug, Serialize)]
pub struct EngineReport {
    /// Its name.
    pub engine: String,
    /// How many of the seed's checks hold on the seed's conversation.
    pub smoke_passed: usize,
    /// How many there are.
    pub smoke_checks: usize,
    /// Each of them.
    pub smoke: Vec<SmokeLine>,
    /// Every check over all conversations, the seed's included.
    pub checks: Vec<CheckCount>,
    /// False claims by kind, over all conversations.
    pub false_claims: Vec<FalseClaimCount>,
    /// Every failure.
    pub failures: Vec<Failure>,
}

/// How often a block claims what is not so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FalseClaimCount {
    /// The kind.
    pub claim: ClaimKind,
    /// How many things there are about which it could be claimed falsely.
    pub asked: usize,
    /// How many of them it is claimed of.
    pub claimed: usize,
}

/// One of the seed's checks on the seed's conversation.
#[derive(Clone, Debug, Serialize)]
pub struct SmokeLine {
    /// The check.
    pub check: &'static str,
    /// What it asks.
    pub title: &'static str,
    /// Whether it holds.
    pub passed: bool,
}

/// A check over all conversations.
#[derive(Clone, Debug, Serialize)]
pub struct CheckCount {
    /// The check.
    pub check: &'static str,
    /// What it asks.
    pub title: &'static str,
    /// In how many conversations it was asked.
    pub asked: usize,
    /// In how many of them it holds.
    pub passed: usize,
}

/// A check that does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// In which conversation.
    pub conversation: String,
    /// Which check.
    pub check: &'static str,
    /// Why, each reason.
    pub reasons: Vec<String>,
}

impl EngineReport {
    /// How often a kind of false claim was made.
    pub fn claimed(&self, kind: ClaimKind) -> usize {
        let own = self.false_claims.iter().filter(|count| count.claim == kind);
        own.map(|count| count.claimed).sum()
    }

    /// Whether everything holds.
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Puts engines through the seed's conversation and as many generated ones as there are seeds.
pub fn run(engines: &[Box<dyn Engine>], seeds: u64, done: &dyn Fn(usize)) -> Report {
    let mut conversations = vec![smoke::conversation()];
    conversations.extend((0..seeds).map(planted::conversation));
    let examine_all = |(index, engine): (usize, &dyn Engine)| {
        let verdicts: Vec<_> = conversations
            .iter()
            .enumerate()
            .map(|(place, conversation)| {
                let verdicts = examine(engine, conversation);
                done(index * conversations.len() + place + 1);
                verdicts
            })
            .collect();
        engine_report(engine.name(), &conversations, &verdicts)
    };
    Report {
        conversations: conversations.len() - 1,
        engines: engines
            .iter()
            .map(|engine| &**engine)
            .enumerate()
            .map(examine_all)
            .collect(),
    }
}

/// The verdicts of all checks on one conversation, in their order.
pub fn examine(engine: &dyn Engine, conversation: &Conversation) -> Vec<Verdict> {
    let result = engine.compact(&conversation.transcript, conversation.tail);
    let again = engine.compact(&conversation.transcript, conversation.tail);
    let case = Case::new(conversation, &result, &again);
    checks::ALL.iter().map(|check| (check.ask)(&case)).collect()
}

fn engine_report(name: &str, conversations: &[Conversation], verdicts: &[Vec<Verdict>]) -> EngineReport {
    let smoke: Vec<SmokeLine> = checks::ALL[..checks::OF_THE_SEED]
        .iter()
        .zip(&verdicts[0])
        .map(|(check, verdict)| SmokeLine {
            check: check.name,
            title: check.title,
            passed: *verdict == Verdict::Passed,
        })
        .collect();
    let counts = checks::ALL.iter().enumerate().map(|(place, check)| {
        let own = || verdicts.iter().map(move |verdicts| &verdicts[place]);
        CheckCount {
            check: check.name,
            title: check.title,
            asked: own().filter(|verdict| **verdict != Verdict::NotAsked).count(),
            passed: own().filter(|verdict| **verdict == Verdict::Passed).count(),
        }
    });
    let false_claims = ClaimKind::ALL.into_iter().map(|kind| {
        let own = || {
            checks::ALL
                .iter()
                .zip(0..)
                .filter(move |(check, _)| check.claim == Some(kind))
        };
        let failed = own().flat_map(|(_, place): (_, usize)| verdicts.iter().map(move |verdicts| &verdicts[place]));
        FalseClaimCount {
            claim: kind,
            asked: conversations
                .iter()
                .map(|conversation| conversation.sheet.claimable(kind))
                .sum(),
            claimed: failed
                .map(|verdict| match verdict {
                    Verdict::Failed(reasons) => reasons.len(),
                    Verdict::NotAsked | Verdict::Passed => 0,
                })
                .sum(),
        }
    });
    let false_claims = false_claims.collect();
    let mut failures = Vec::new();
    for (conversation, verdicts) in conversations.iter().zip(verdicts) {
        for (check, verdict) in checks::ALL.iter().zip(verdicts) {
            if let Verdict::Failed(reasons) = verdict {
                failures.push(Failure {
                    conversation: conversation.name.clone(),
                    check: check.name,
                    reasons: reasons.clone(),
                });
            }
        }
    }
    EngineReport {
        engine: name.to_owned(),
        smoke_passed: smoke.iter().filter(|line| line.passed).count(),
        smoke_checks: smoke.len(),
        smoke,
        checks: counts.collect(),
        false_claims,
        failures,
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
