//! What a run was asked for, and with what it was done.

use serde::Deserialize;
use serde::Serialize;

use mainstay_llm::model::Rates;

/// A fixture in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixtureUsed {
    /// Its name.
    pub name: String,
    /// The hash of its file.
    pub digest: String,
    /// The hash of its bank's file.
    pub probes_digest: String,
    /// How many probes the bank has.
    pub probes: usize,
    /// Its messages.
    pub messages: usize,
    /// Its tokens.
    pub tokens: u64,
}

/// An arm in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmUsed {
    /// Its name.
    pub name: String,
    /// How it is written on the command line.
    pub spec: String,
    /// Whether it is there to compare with: no engine of ours.
    pub is_control: bool,
    /// Whether the answering model may search what was dropped, once.
    pub has_recall: bool,
    /// The hash of everything that decides what it does: engine, policy, prompts.
    pub digest: String,
}

/// A model in a run. Never its key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelUsed {
    /// What the configuration calls it.
    pub name: String,
    /// What its endpoint calls it.
    pub id: String,
    /// The endpoint's address, without anything secret.
    pub url: String,
    /// Its window, in tokens.
    pub window: u64,
    /// What it costs a million tokens, where that is known.
    pub rates: Option<Rates>,
}

/// Everything that decides what a run comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this form.
    pub version: u32,
    /// What the run is called.
    pub label: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: i64,
    /// The version of the program.
    pub program: String,
    /// The fixtures.
    pub fixtures: Vec<FixtureUsed>,
    /// The arms.
    pub arms: Vec<ArmUsed>,
    /// How often everything is done.
    pub repeats: u32,
    /// The tokenizer that counts.
    pub tokenizer: String,
    /// How many tokens a state may have: a number, or a share of its fixture.
    pub target: String,
    /// What the summary shall keep most of.
    pub focus: Option<String>,
    /// Who writes summaries, in the order in which they are asked.
    pub summarisers: Vec<ModelUsed>,
    /// Who answers; `None` where only states are graded.
    pub answerer: Option<ModelUsed>,
    /// Who judges; `None` where answers are only graded.
    pub judge: Option<ModelUsed>,
    /// The hashes of the prompts, by name.
    pub prompts: Vec<(String, String)>,
    /// Where chance begins.
    pub seed: u64,
    /// The run whose calls were scored anew, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scored_from: Option<String>,
}
