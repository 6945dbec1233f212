//! The policies that can be replayed.

use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::decide::Leave;

/// A policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// What the agent did itself.
    Recorded,
    /// Nothing is ever taken out, whether it fits or not.
    Never,
    /// At a share of the window everything but head and tail becomes a summary.
    Threshold,
    /// At that share old outputs are pruned; where that buys no runway, a summary follows in the same pass.
    PruneFirst,
    /// At that share old outputs are pruned, and that is enough as long as it gets below the share.
    NaivePrune,
    /// The provider clears old tool results.
    Clearing,
    /// Giant outputs are trimmed when they arrive; then as prune-first.
    Trimming,
    /// When it pays.
    Economic,
    /// When it pays, and with a model's summary beside the ledger.
    EconomicHybrid,
    /// When it pays, and giant outputs are trimmed when they arrive.
    EconomicTrimming,
    /// At these requests, leaving this: the offline optimum.
    Scheduled(Vec<(usize, Leave)>),
}

impl Strategy {
    /// Those that are replayed where nobody says otherwise, baselines first.
    pub const USUAL: [Strategy; 10] = [
        Strategy::Recorded,
        Strategy::Never,
        Strategy::Threshold,
        Strategy::PruneFirst,
        Strategy::NaivePrune,
        Strategy::Clearing,
        Strategy::Trimming,
        Strategy::EconomicHybrid,
        Strategy::EconomicTrimming,
        Strategy::Economic,
    ];

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::Recorded => "as-recorded",
            Strategy::Never => "never",
            Strategy::Threshold => "threshold-summary",
            Strategy::PruneFirst => "prune-first",
            Strategy::NaivePrune => "naive-prune",
            Strategy::Clearing => "provider-clearing",
            Strategy::Trimming => "trimming",
            Strategy::Economic => "economic",
            Strategy::EconomicHybrid => "economic-hybrid",
            Strategy::EconomicTrimming => "economic-trimming",
            Strategy::Scheduled(_) => "optimum",
        }
    }

    /// What it does, in words.
    pub fn title(&self) -> &'static str {
        match self {
            Strategy::Recorded => "as the agent itself did it",
            Strategy::Never => "nothing is ever taken out",
            Strategy::Threshold => "a summary at a share of the window",
            Strategy::PruneFirst => "prune at that share, a summary where that buys no runway",
            Strategy::NaivePrune => "prune at that share, content with getting below it",
            Strategy::Clearing => "the provider clears old tool results",
            Strategy::Trimming => "giant outputs trimmed as they arrive, then prune-first",
            Strategy::Economic => "the ledger, when carrying has cost as much as taking out",
            Strategy::EconomicHybrid => "the same with a model's summary beside the ledger",
            Strategy::EconomicTrimming => "the same as economic, giant outputs trimmed as they arrive",
            Strategy::Scheduled(_) => "the same passes with the future known",
        }
    }

    /// Whether it is one of those to beat.
    pub fn is_baseline(&self) -> bool {
        matches!(
            self,
            Strategy::Recorded
                | Strategy::Never
                | Strategy::Threshold
                | Strategy::PruneFirst
                | Strategy::NaivePrune
                | Strategy::Clearing
        )
    }

    /// Whether what it does depends on what things cost.
    pub fn knows_prices(&self) -> bool {
        matches!(
            self,
            Strategy::Economic | Strategy::EconomicHybrid | Strategy::EconomicTrimming | Strategy::Scheduled(_)
        )
    }

    /// Whether giant outputs are trimmed as they arrive.
    pub fn trims(&self) -> bool {
        matches!(self, Strategy::Trimming | Strategy::EconomicTrimming)
    }
}

/// The settings of policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The window that prompts and answers have to fit; by default the profile's.
    pub window: Option<u64>,
    /// The share of the window at which the threshold policies act. The seed's.
    pub threshold: f64,
    /// Tokens of a summary: the median of recorded ones.
    pub summary: u64,
    /// Tokens that a model reads for a summary in the auxiliary way.
    pub summary_input: u64,
    /// The provider clears from prompts of this size on. Its own default.
    pub clear_above: u64,
    /// And leaves the results of so many newest calls. Its own default.
    pub clear_keeps: usize,
    /// And only where so many tokens are cleared at once: each time what follows has to be written anew. By default nothing
    /// is too little for the provider; this is about what an agent with a clearing of its own takes out at a time.
    pub clear_least: u64,
    /// Outputs of more bytes are trimmed as they arrive.
    pub trim_above: usize,
    /// To so many bytes.
    pub trim_to: usize,
    /// The economic policy.
    pub economic: EconomicPolicy,
    /// How many requests lie between the moments at which all policies are asked what they kept.
    pub every: usize,
    /// How many messages ahead what is needed is looked for.
    pub horizon: usize,
    /// A moment counts when at least this many identifiers are needed.
    pub least_needed: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: None,
            threshold: 0.50,
            summary: 3_000,
            summary_input: 60_000,
            clear_above: 100_000,
            clear_keeps: 3,
            clear_least: 20_000,
            trim_above: 16_000,
            trim_to: 8_000,
            economic: EconomicPolicy::default(),
            every: 10,
            horizon: 40,
            least_needed: 5,
        }
    }
}
