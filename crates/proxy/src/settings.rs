//! What the operator has set. Plain values: where they come from is the host's business.

use std::path::PathBuf;
use std::time::Duration;

use mainstay_engine::compaction::InjectedFault;
use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Roles;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_llm::chain::Chain;
use mainstay_session::Redaction;

/// When conversations are compacted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PassTiming {
    /// When it pays by the prices of the model; by the threshold where its prices are not known.
    Economic(EconomicPolicy),
    /// At the threshold.
    Threshold,
    /// Never by itself: only where the provider refuses a prompt.
    Never,
}

/// Models that write summaries in the background.
pub struct SummaryModels {
    /// The models that get records, in order.
    pub chain: Chain,
    /// What they are asked with.
    pub prompts: Prompts,
}

/// How conversations are kept.
pub struct CompactionSettings {
    /// Where the store is.
    pub store: PathBuf,
    /// How they are compacted.
    pub policy: Policy,
    /// When.
    pub timing: PassTiming,
    /// The window of every model, where the operator knows better than the table of models.
    pub window: Option<u64>,
    /// What servers want of the order of roles.
    pub roles: Roles,
    /// What is hidden from blocks and summaries.
    pub redaction: Redaction,
    /// Who writes summaries; without anybody, the ledger stands alone.
    pub writing: Option<SummaryModels>,
    /// Tool results of more tokens are shrunk when they first come by.
    pub trim: Option<u64>,
    /// How long a request may be held up by us, in all.
    pub patience: Duration,
    /// How many bytes of conversations are remembered; the least recently seen go first.
    pub memory: usize,
    /// Spoils results before they are verified. Only tests have one.
    #[doc(hidden)]
    pub fault: Option<InjectedFault>,
}

impl CompactionSettings {
    /// How conversations are kept where nobody says anything but where the store is: by prices, without models, and nothing shrunk.
    pub fn at(store: PathBuf) -> Self {
        Self {
            store,
            policy: Policy::default(),
            timing: PassTiming::Economic(EconomicPolicy::default()),
            window: None,
            roles: Roles::Open,
            redaction: Redaction::default(),
            writing: None,
            trim: None,
            patience: Duration::from_secs(2),
            memory: 256 << 20,
            fault: None,
        }
    }
}
