//! Statistics of a session: its requests, what they cost, what they would have cost, and what earlier passes taught.

use mainstay_engine::account::Budget;
use mainstay_engine::account::Pressure;
use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::decide::Economist;
use mainstay_engine::decide::Thrash;
use mainstay_engine::economy::Profile;
use mainstay_engine::transcript::Timestamp;
use mainstay_llm::answer::Usage;

/// The last request that went out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPrompt {
    /// When.
    pub at: Timestamp,
    /// Its prompt, on the provider's scale.
    pub prompt: u64,
    /// What the prompt would have been without us.
    pub whole: u64,
}

/// Statistics of a session.
#[derive(Clone, Debug)]
pub struct SessionStats {
    /// When its first request came.
    pub began: Timestamp,
    /// Requests so far.
    pub requests: u64,
    /// Tokens that came back so far.
    pub output: u64,
    /// Tokens of prompts that went out, and that would have gone out.
    pub prompts: u64,
    /// The same without us.
    pub prompts_whole: u64,
    /// The last request.
    pub last: Option<SentPrompt>,
    /// The prompt of the last request but one, and what it would have been: what the cache could have.
    before_last: Option<SentPrompt>,
    /// Passes that were made.
    pub passes: u64,
    /// Tokens of prompts that went out since the last pass.
    pub since_pass: u64,
    /// Dollars that requests cost, and that they would have cost, where prices are known.
    pub cost: f64,
    /// The same without us.
    pub cost_whole: f64,
    /// Whether passes help.
    pub thrash: Thrash,
    /// Levels of pressure that were told.
    pub pressure: Pressure,
    /// When a pass pays.
    pub economist: Economist,
    /// The window it was last held against.
    pub window: u64,
    /// From where on a pass has not helped.
    pub threshold: u64,
    /// From where on a pass is due at the latest.
    pub due_at: u64,
    /// Whether the provider has ever said that it caches these prompts.
    is_cached: bool,
    /// Why the last pass was made, or why none is.
    pub reason: String,
}

impl SessionStats {
    /// A conversation that begins now.
    pub fn new(economic: EconomicPolicy, now: Timestamp) -> Self {
        Self {
            began: now,
            requests: 0,
            output: 0,
            prompts: 0,
            prompts_whole: 0,
            last: None,
            before_last: None,
            passes: 0,
            since_pass: 0,
            cost: 0.0,
            cost_whole: 0.0,
            thrash: Thrash::default(),
            pressure: Pressure::default(),
            economist: Economist::new(economic),
            window: 0,
            threshold: 0,
            due_at: 0,
            is_cached: false,
            reason: String::new(),
        }
    }

    /// The same for a conversation that leaves this one: what was learnt stays, what was counted does not.
    pub fn branch(&self) -> Self {
        Self {
            output: 0,
            requests: 0,
            prompts: 0,
            prompts_whole: 0,
            passes: 0,
            cost: 0.0,
            cost_whole: 0.0,
            ..self.clone()
        }
    }

    /// A request goes out.
    pub fn sent(&mut self, sent: SentPrompt, budget: &Budget) {
        self.requests += 1;
        self.since_pass += sent.prompt;
        self.before_last = self.last;
        self.last = Some(sent);
        self.window = budget.window;
        self.threshold = budget.threshold;
    }

    /// How many tokens of the next prompt's beginning the provider's cache has, if it keeps them for so many milliseconds.
    pub fn warm(&self, now: Timestamp, lifetime: i64) -> u64 {
        let alive = self.last.filter(|last| now.0 - last.at.0 <= lifetime);
        alive.map_or(0, |last| last.prompt)
    }

    /// The answer to the last request is through.
    pub fn answered(&mut self, usage: Usage, profile: Option<&Profile>, now: Timestamp) {
        self.output += usage.output;
        self.prompts += usage.input;
        let Some(last) = self.last else {
            return;
        };
        // What we added or took away is known by our count only; everything else was reported.
        let whole = usage.input + last.whole.saturating_sub(last.prompt);
        self.prompts_whole += whole;
        self.thrash.reported(usage.input, self.threshold, now);
        let Some(profile) = profile else {
            return;
        };
        let rates = profile.tariff.at(usage.input as f64);
        let read = usage.cache_read.min(usage.input);
        let written = usage.cache_write.min(usage.input - read);
        let fresh = usage.input - read - written;
        let output = usage.output as f64 * rates.output;
        let cost =
            fresh as f64 * rates.input + read as f64 * rates.cache_read + written as f64 * rates.cache_write + output;
        self.cost += cost / 1e6;
        self.is_cached |= read + written > 0;
        // What was sent as it came cost what it cost.
        if last.whole == last.prompt {
            self.cost_whole += cost / 1e6;
            return;
        }
        let alive = self
            .before_last
            .filter(|before| last.at.0 - before.at.0 <= profile.cache.lifetime);
        // A client whose prompts the provider caches would have had the whole beginning cached, all others none of it.
        let cached = alive
            .filter(|_| self.is_cached)
            .map_or(0, |before| before.whole.min(whole));
        let rates = profile.tariff.at(whole as f64);
        let anew = if self.is_cached { rates.cache_write } else { rates.input };
        let output = usage.output as f64 * rates.output;
        let cost = cached as f64 * rates.cache_read + (whole - cached) as f64 * anew + output;
        self.cost_whole += cost / 1e6;
    }

    /// Tokens that came back with every request, on average.
    pub fn mean_output(&self) -> f64 {
        self.output as f64 / self.requests.max(1) as f64
    }
}
