//! What an A/B comes to. Field names are the documented JSON shape.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::ab::outcome::Miss;
use crate::ab::outcome::Outcome;
use crate::record::Manifest;
use crate::stats::Estimate;

/// What an A/B comes to.
#[derive(Clone, Debug, Serialize)]
pub struct AbReport {
    /// The version of this form.
    pub version: u32,
    /// What was asked for.
    pub manifest: Manifest,
    /// The name of the first arm.
    pub a: String,
    /// The name of the second.
    pub b: String,
    /// `answers`, or `states` where nobody answers.
    pub scored: &'static str,
    /// How many sessions were replayed.
    pub sessions: usize,
    /// How often they were stopped, repeats aside.
    pub checkpoints: usize,
    /// How many questions were asked of each arm, repeats aside.
    pub questions: usize,
    /// What each arm showed the model.
    pub contexts: Vec<ContextReport>,
    /// What each scorer says: the grader, and a judge and people where there are any.
    pub scorers: Vec<ScorerReport>,
    /// The share of samples on which two scorers agree, by their names.
    pub agreement: BTreeMap<String, f64>,
}

/// What an arm showed the model, over all checkpoints and repeats.
#[derive(Clone, Debug, Serialize)]
pub struct ContextReport {
    /// The arm.
    pub arm: String,
    /// How many states there are.
    pub states: usize,
    /// Messages of a state, in the mean.
    pub messages: f64,
    /// Tokens of a state, in the mean.
    pub tokens: f64,
    /// Tokens of what it was made of, in the mean.
    pub tokens_before: f64,
    /// Credentials of the compacted history that stand in what compaction wrote, over all states.
    pub secrets: usize,
    /// Addresses likewise.
    pub addresses: usize,
    /// How many states are larger than their target: then sizes have to be compared too.
    pub over_target: usize,
    /// In how many states the hot tail stands byte for byte: of the newest messages that stand behind every block and gap, up to six.
    pub tail_unchanged: usize,
    /// How many of the newest messages stand byte for byte without a gap, in the mean.
    pub tail_messages: f64,
}

/// What a scorer says.
#[derive(Clone, Debug, Serialize)]
pub struct ScorerReport {
    /// `grader`, `judge` or `people`.
    pub scorer: &'static str,
    /// Both arms, the first first.
    pub arms: Vec<ArmReport>,
    /// How often which outcome of the first arm met which of the second.
    pub pairs: Vec<PairCount>,
    /// The share of each outcome, and of answers that miss in any way (`missed`): the second arm's less the first's, on the same questions,
    /// with an interval clustered by session.
    pub differences: BTreeMap<&'static str, Estimate>,
    /// Questions whose outcomes differ.
    pub differing: Vec<Differing>,
}

/// What a scorer says of an arm.
#[derive(Clone, Debug, Serialize)]
pub struct ArmReport {
    /// The arm.
    pub arm: String,
    /// How many samples were scored.
    pub scored: usize,
    /// How many were not, by reason.
    pub unscored: BTreeMap<String, usize>,
    /// How often each outcome.
    pub outcomes: BTreeMap<Outcome, usize>,
    /// How often each way to miss; a sample may miss in several.
    pub misses: BTreeMap<Miss, usize>,
    /// How many samples miss in any way.
    pub missed: usize,
    /// How often the user would have to put something right, in 100 turns: the turns of the sessions and the questions.
    pub corrections_per_100_turns: f64,
    /// Stale answers in a session, in the mean.
    pub stale_per_session: f64,
    /// How often an obligation was lost.
    pub obligation_misses: usize,
}

/// How often two outcomes met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairCount {
    /// The first arm's.
    pub a: Outcome,
    /// The second arm's.
    pub b: Outcome,
    /// How often.
    pub count: usize,
}

/// A question whose outcomes differ.
#[derive(Clone, Debug, Serialize)]
pub struct Differing {
    /// The checkpoint.
    pub checkpoint: String,
    /// The question's name.
    pub probe: String,
    /// Which repeat.
    pub repeat: u32,
    /// The first arm's outcome.
    pub a: Outcome,
    /// The second arm's.
    pub b: Outcome,
    /// Why the first has its: the scorer's words, or what is lacking or stale.
    pub a_why: String,
    /// Why the second has its.
    pub b_why: String,
}
