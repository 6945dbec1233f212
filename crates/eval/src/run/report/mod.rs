//! What a run comes to, made from what it kept. Field names are the documented JSON shape.

mod build;
mod identical;
mod junit;
mod markdown;

pub(crate) use build::duty_spent;
pub use build::report;
pub use junit::junit;
pub use markdown::identical_words;
pub use markdown::made_otherwise;
pub use markdown::markdown;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::agreement::Agreement;
use crate::fixture::Kind;
use crate::record::Manifest;
use crate::stats::Estimate;

/// Below this the mean of a judge's six scores is a miss, as the published harness has it.
pub const MISS: f64 = 3.0;

/// What a run comes to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this form.
    pub version: u32,
    /// What was asked for.
    pub manifest: Manifest,
    /// Each arm.
    pub arms: Vec<ArmReport>,
    /// Probes that an arm answers badly, or could not answer.
    pub misses: Vec<Miss>,
    /// Samples that count in no score of a judge, by reason.
    pub excluded: BTreeMap<String, usize>,
    /// How far the grader and the judge agree on answers; `None` without a judge.
    pub agreement: Option<Agreement>,
    /// Arms that came to the same texts: where they do, no difference between them can be seen.
    pub identical: Vec<IdenticalArms>,
    /// What models cost, by duty.
    pub spent: Vec<DutySpent>,
}

/// Two arms of which some answers, or some states, are the same to the byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdenticalArms {
    /// The two.
    pub arms: [String; 2],
    /// Of how many probes and repeats both have an answer.
    pub answers: usize,
    /// In how many of these the answers are the same, character by character.
    pub same_answers: usize,
    /// Of how many fixtures and repeats both have a state; none is counted for an arm with a search, whose states are those of the arm
    /// without.
    pub states: usize,
    /// In how many of these the states are the same.
    pub same_states: usize,
}

/// A figure over the repeats of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The mean over all probes and repeats, with its interval, clustered by fixture.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The median over repeats of the mean over probes.
    pub median: f64,
}

/// The scores of a judge: medians over repeats, by dimension, and `overall`.
pub type Medians = BTreeMap<&'static str, f64>;

/// What an arm comes to.
#[derive(Clone, Debug, Serialize)]
pub struct ArmReport {
    /// Its name.
    pub arm: String,
    /// Whether it is there to compare with.
    pub is_control: bool,
    /// How many samples it has.
    pub samples: usize,
    /// How many of them count in no score of a judge.
    pub excluded: usize,
    /// The judge's scores by dimension, and `overall`; empty without a judge.
    pub scores: BTreeMap<&'static str, Figure>,
    /// The share of expected facts in answers; `None` without a model that answers.
    pub answer_recall: Option<Figure>,
    /// The share of expected facts in states: the most that answers can have.
    pub state_recall: Option<Figure>,
    /// How often a stale fact is given as current: in answers where there are any, else in states.
    pub stale: usize,
    /// How many secrets are shown, counted likewise.
    pub leaks: usize,
    /// How many faults states have that a provider would refuse.
    pub flaws: usize,
    /// How often the state was larger than what it was made of.
    pub inflated: usize,
    /// Tokens of a fixture, in the mean.
    pub tokens_before: f64,
    /// Tokens of a state, in the mean.
    pub tokens_after: f64,
    /// How states were made: how often each way.
    pub made: BTreeMap<String, usize>,
    /// Of an arm that should ask a model for summaries: why none of its states holds a model's words, so that its figures are those of
    /// an engine without one.
    pub without_model: Option<String>,
    /// Each fixture.
    pub fixtures: Vec<FixtureReport>,
    /// Each type of probe.
    pub types: Vec<KindReport>,
}

/// What an arm comes to on one fixture.
#[derive(Clone, Debug, Serialize)]
pub struct FixtureReport {
    /// The fixture.
    pub fixture: String,
    /// The judge's scores.
    pub scores: Medians,
    /// The share of expected facts in answers.
    pub answer_recall: Option<f64>,
    /// The share of expected facts in states.
    pub state_recall: f64,
    /// Tokens of the fixture.
    pub tokens_before: u64,
    /// Tokens of the state, in the mean over repeats.
    pub tokens_after: f64,
}

/// What an arm comes to on one type of probe.
#[derive(Clone, Debug, Serialize)]
pub struct KindReport {
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The judge's scores.
    pub scores: Medians,
    /// The share of expected facts in answers.
    pub answer_recall: Option<f64>,
    /// The share of expected facts in states.
    pub state_recall: f64,
}

/// A probe that an arm answers badly, or could not answer.
#[derive(Clone, Debug, Serialize)]
pub struct Miss {
    /// The fixture.
    pub fixture: String,
    /// The probe.
    pub probe: String,
    /// The arm.
    pub arm: String,
    /// The mean of the judge's scores, as the median over repeats; `None` without a judge.
    pub score: Option<f64>,
    /// The share of expected facts: in answers where there are any, else in states.
    pub recall: f64,
    /// Expected facts that are missing there in at least one repeat.
    pub missing: Vec<String>,
    /// Stale facts that are given as current.
    pub stale: Vec<String>,
    /// The judge's reason in the worst repeat.
    pub reason: Option<String>,
}

/// What models cost for one duty.
#[derive(Clone, Debug, Serialize)]
pub struct DutySpent {
    /// `summarise`, `answer` or `judge`.
    pub duty: &'static str,
    /// How many requests were answered.
    pub calls: u64,
    /// Tokens of their prompts.
    pub input: u64,
    /// Of these, read from a cache.
    pub cache_read: u64,
    /// Tokens of the answers.
    pub output: u64,
    /// US dollars, as far as prices are known.
    pub cost: Option<f64>,
    /// How many requests have no known price.
    pub unpriced: u64,
}
