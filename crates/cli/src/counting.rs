//! How tokens are counted and the budget is made: the arguments that `inspect` and `compact` share.

use clap::Args;
use mainstay_engine::account::Budget;
use mainstay_engine::account::Calibration;
use mainstay_engine::account::Family;
use mainstay_engine::account::Fit;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::Tally;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::account::facts;
use mainstay_wire::document::Document;

use crate::config::Overrides;
use crate::config::Settings;

/// Which model, which window, how to count.
#[derive(Debug, Args)]
pub struct Counting {
    /// The model's window in tokens (default: what the session or the model's name says).
    #[arg(long, value_name = "TOKENS")]
    pub window: Option<u64>,

    /// The model, where the session does not name it or another is meant.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// Models that may stand in for it; the budget follows the smallest window of all.
    #[arg(long, value_name = "NAME")]
    pub fallback: Vec<String>,

    /// The threshold as a share of the window (default: 0.50 from 512k on, 0.75 below).
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<f64>,

    /// How to count: o200k and cl100k are exact, other families are estimates (default: by the model).
    #[arg(long, value_name = "FAMILY", value_parser = parse_family)]
    pub tokenizer: Option<Family>,
}

fn parse_family(name: &str) -> Result<Family, String> {
    Family::named(name).ok_or_else(|| {
        let known: Vec<_> = Family::ALL.iter().map(|family| family.name()).collect();
        format!("unknown tokenizer; known: {}", known.join(", "))
    })
}

impl Counting {
    /// The model's name, as given or as the session says.
    pub fn model_of(&self, document: &Document) -> Option<String> {
        self.model
            .clone()
            .or_else(|| document.about.model.as_deref().map(str::to_owned))
    }

    /// How to count this session.
    pub fn family(&self, document: &Document) -> Family {
        let model = self.model_of(document);
        self.tokenizer
            .unwrap_or_else(|| facts(model.as_deref().unwrap_or("")).family)
    }

    /// What these flags say over the configuration file.
    pub fn overrides(&self) -> Overrides {
        Overrides {
            window: self.window,
            threshold: self.threshold,
            ..Overrides::default()
        }
    }

    /// The budget for this session.
    pub fn budget(&self, document: &Document, settings: &Settings) -> anyhow::Result<Budget> {
        let model = self.model_of(document);
        let limits = ModelLimits::of(model.as_deref().unwrap_or("unknown"));
        let limits = match settings.window.or(document.about.window) {
            Some(window) => limits.with_window(window),
            None => limits,
        };
        let mut chain = vec![limits];
        chain.extend(self.fallback.iter().map(|name| ModelLimits::of(name)));
        Ok(Budget::new(&chain, &settings.policy.budget)?)
    }
}

/// What the tool definitions of a request cost.
pub fn definitions(document: &Document, family: Family) -> u64 {
    family.count(document.about.tools.as_deref().unwrap_or(""), TextKind::Arguments)
}

/// How our count relates to what the provider reported, from the requests the session recorded.
pub fn calibrate(document: &Document, tally: &Tally, definitions: u64) -> Fit {
    let mut calibration = Calibration::default();
    let mut before = definitions;
    for (message, tokens) in document.transcript.messages().iter().zip(tally.messages()) {
        if let Some(usage) = &message.usage {
            calibration.observe(before, usage.input);
        }
        before += tokens.total();
    }
    calibration.fit()
}
