//! How people say things in chats: facts, corrections, obligations, questions, decisions, orders, replies; by language.
//!
//! The phrases are written from the language, not from any engine: some are careful, most are hasty, many lack the words that would
//! make them easy to recognise. Placeholders: `{s}` a subject, `{v}` a value, `{o}` and `{n}` the old and the new one, `{x}` a needle,
//! `{r}` a second needle, a reason or a condition. The mark of a task is spelled in halves: the tidy rules take it for one of ours.

mod english;
mod others;
mod russian;

use crate::preflight::sheet::Language;

/// The phrases of a language.
pub struct Phrases {
    /// What has a value.
    pub subjects: &'static [&'static str],
    /// A value is given.
    pub facts: &'static [&'static str],
    /// A value is corrected.
    pub corrections: &'static [&'static str],
    /// Something is to be done.
    pub obligations: &'static [&'static str],
    /// It is done.
    pub done: &'static [&'static str],
    /// A question, and its answer.
    pub questions: &'static [(&'static str, &'static str)],
    /// A reply to a question that answers nothing.
    pub non_answers: &'static [&'static str],
    /// A decision with its reason.
    pub decisions: &'static [&'static str],
    /// A standing order.
    pub constraints: &'static [&'static str],
    /// What the agent proposes, and what the person says to it.
    pub proposals: &'static [ProposalPhrases],
    /// An address is named, `{a}`.
    pub addresses: &'static [&'static str],
    /// The agent has understood.
    pub understood: &'static [&'static str],
}

/// A proposal of the agent, and two replies to it.
pub struct ProposalPhrases {
    /// What the agent proposes.
    pub offer: &'static str,
    /// The person takes it up, with a condition.
    pub accepted: &'static str,
    /// The person says something else: neither yes nor no.
    pub passed_over: &'static str,
}

/// The phrases of a language.
pub fn of(language: Language) -> &'static Phrases {
    match language {
        Language::English => &english::ENGLISH,
        Language::Russian => &russian::RUSSIAN,
        Language::German => &others::GERMAN,
        Language::Spanish => &others::SPANISH,
        Language::French => &others::FRENCH,
        Language::Chinese => &others::CHINESE,
    }
}

/// A phrase with its placeholders filled.
pub fn fill(phrase: &str, values: &[(&str, &str)]) -> String {
    let mut text = phrase.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}
