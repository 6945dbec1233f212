//! What the provider has seen, in figures.

use serde::Serialize;

use super::cache::Course;
use super::cache::Hit;
use super::refusal::Refusal;
use super::refusal::Rule;
use crate::conversation::Form;

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// Which request, the first being 0.
    pub request: usize,
    /// Its form.
    pub form: &'static str,
    /// The status it got.
    pub status: u16,
    /// The rule.
    pub rule: &'static str,
    /// The words it got.
    pub message: String,
    /// Whether it was malformed, rather than too long or unlucky.
    pub is_malformed: bool,
}

/// Totals over all requests of the three forms.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// All requests, of any path.
    pub requests: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Those that were only counted.
    pub counted: u64,
    /// Those that were refused, each with its reason.
    pub rejections: Vec<Rejection>,
    /// Tokens of the answered prompts.
    pub prompt_tokens: u64,
    /// Of these, read from the provider's cache.
    pub cached_tokens: u64,
    /// Of these, written to it.
    pub written_tokens: u64,
    /// Of these, repeating the beginning of an earlier prompt token by token.
    pub repeated_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Tokens of the longest answered prompt.
    pub longest_prompt: u64,
    /// Prompts that left an earlier one behind its first message.
    pub breaks: u64,
    /// Prompts whose first message was new.
    pub beginnings: u64,
    /// Answers on whose way something went wrong.
    pub faults: u64,
}

impl Report {
    /// The share of prompt tokens that the provider's cache read.
    pub fn cache_share(&self) -> f64 {
        self.cached_tokens as f64 / self.prompt_tokens.max(1) as f64
    }

    /// The share of prompt tokens that repeated an earlier prompt: what a perfect cache would have read.
    pub fn repeated_share(&self) -> f64 {
        self.repeated_tokens as f64 / self.prompt_tokens.max(1) as f64
    }

    /// The requests that were refused as malformed.
    pub fn malformed(&self) -> Vec<&Rejection> {
        self.rejections
            .iter()
            .filter(|rejection| rejection.is_malformed)
            .collect()
    }

    /// The requests that were refused as too long.
    pub fn overflows(&self) -> usize {
        let overflow = Rule::Overflow.name();
        let too_long = self.rejections.iter().filter(|rejection| rejection.rule == overflow);
        too_long.count()
    }

    /// As JSON, shares included.
    pub fn json(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value["cache_share"] = self.cache_share().into();
        value["repeated_share"] = self.repeated_share().into();
        value["overflows"] = self.overflows().into();
        value["malformed"] = self.malformed().len().into();
        serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
    }

    /// Takes a refusal in.
    pub(super) fn refuse(&mut self, request: usize, form: Form, refusal: &Refusal) {
        self.rejections.push(Rejection {
            request,
            form: form.name(),
            status: refusal.status,
            rule: refusal.rule.name(),
            message: refusal.message.clone(),
            is_malformed: refusal.rule.is_malformed(),
        });
    }

    /// Takes an answer in.
    pub(super) fn answer(&mut self, hit: &Hit, output: u64) {
        self.answered += 1;
        self.prompt_tokens += hit.tokens;
        self.cached_tokens += hit.read;
        self.written_tokens += hit.written;
        self.repeated_tokens += hit.repeated;
        self.output_tokens += output;
        self.longest_prompt = self.longest_prompt.max(hit.tokens);
        match hit.course {
            Course::Begins => self.beginnings += 1,
            Course::Breaks => self.breaks += 1,
            Course::Continues => {}
        }
    }
}
