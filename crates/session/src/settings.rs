//! What a session is made of: the provider's rules, the policy, the budget, what is hidden, and how tokens are counted.

use mainstay_engine::account::Budget;
use mainstay_engine::account::BudgetError;
use mainstay_engine::account::CountedTokens;
use mainstay_engine::account::Family;
use mainstay_engine::account::Fit;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::ProviderTokens;
use mainstay_engine::account::facts;
use mainstay_engine::compaction::InjectedFault;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ProviderRules;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Writers;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_wire::reading::WireForm;

use crate::redaction::Redaction;

/// A model writes at most this part of its window, where nobody says: the least that current ones allow.
const WRITTEN_PART: u64 = 8;

/// How large the next prompt is, in the provider's tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PromptSize {
    /// What is counted, through what reports of the provider say about counts.
    Calibrated {
        /// What a count means to the provider.
        fit: Fit,
        /// Counted tokens of what every request has beside the messages: definitions of tools.
        beside: CountedTokens,
    },
    /// The host knows it.
    Known {
        /// The size of the prompt.
        tokens: ProviderTokens,
        /// Tokens of the prompt per token counted.
        scale: f64,
    },
}

impl PromptSize {
    /// Counts are what the provider would report, and nothing stands beside the messages.
    pub const COUNTED: Self = PromptSize::Calibrated {
        fit: Fit::IDENTITY,
        beside: CountedTokens(0),
    };
}

/// The models that may write a summary, and what they are asked with.
#[derive(Clone, Debug)]
pub struct SummaryWriters {
    /// What the engine has to know of the models.
    pub models: Writers,
    /// What they are asked with.
    pub prompts: Prompts,
}

impl SummaryWriters {
    /// One model, asked with the built-in prompts, that gets records of what is replaced and has a window of so many tokens.
    pub fn with_window(window: u64) -> Self {
        Self {
            models: Writers {
                window,
                output: window / WRITTEN_PART,
                in_place: InPlace::Impossible("the host sends requests of its own".to_owned()),
            },
            prompts: Prompts::default(),
        }
    }
}

/// What a session is made of. Tokenizer, redaction, key and protected tools are taken over when the conversation is first read; a
/// session with others is a new session. Everything else may change from pass to pass.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// What the provider demands.
    pub rules: ProviderRules,
    /// How messages are counted.
    pub family: Family,
    /// How the conversation is compacted.
    pub policy: Policy,
    /// What the prompt has to fit.
    pub budget: Budget,
    /// What is hidden.
    pub redaction: Redaction,
    /// The key of references to hidden values and of frames, where no store gives one. The built-in one is no secret: a short value
    /// could be guessed from its reference.
    pub key: [u8; 32],
    /// How large the prompt is.
    pub prompt: PromptSize,
    /// Whether passes are made that are not due.
    pub is_forced: bool,
    /// Who writes summaries; without anybody there is the ledger alone.
    pub writers: Option<SummaryWriters>,
    /// Spoils results before they are verified. Only tests of hosts have one.
    #[doc(hidden)]
    pub fault: Option<InjectedFault>,
}

impl SessionSettings {
    /// Settings for a model and the form in which it is asked, with a policy: redaction is on, the budget is the model's.
    ///
    /// # Errors
    ///
    /// Where the policy's shares of the window leave no room.
    pub fn new(form: WireForm, model: &str, policy: Policy) -> Result<Self, BudgetError> {
        let budget = Budget::new(&[ModelLimits::of(model)], &policy.budget)?;
        Ok(Self::with_budget(form, facts(model).family, policy, budget))
    }

    /// The same with a budget that is known.
    pub fn with_budget(form: WireForm, family: Family, policy: Policy, budget: Budget) -> Self {
        Self {
            rules: form.rules(Roles::Open),
            family,
            policy,
            budget,
            redaction: Redaction::default(),
            key: [0; 32],
            prompt: PromptSize::COUNTED,
            is_forced: false,
            writers: None,
            fault: None,
        }
    }

    /// Compacts whether it is due or not.
    pub fn forced(self) -> Self {
        Self {
            is_forced: true,
            ..self
        }
    }

    /// The size of a prompt of which this is counted, in the provider's tokens.
    pub(crate) fn prompt_of(&self, counted: CountedTokens) -> ProviderTokens {
        match self.prompt {
            PromptSize::Calibrated { fit, beside } => fit.apply(CountedTokens(counted.0 + beside.0)),
            PromptSize::Known { tokens, .. } => tokens,
        }
    }
}
