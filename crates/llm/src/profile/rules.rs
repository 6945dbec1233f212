//! The table of how providers cache prompts.

use mainstay_engine::economy::ThinkingRule;

const TABLE: &str = include_str!("rules.tsv");

/// In milliseconds.
pub(super) const MINUTE: i64 = 60_000;

/// Which beginnings a provider finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProviderMatching {
    /// What the client marked.
    Marks,
    /// Ends of earlier prompts and answers.
    Ends,
    /// Any beginning of an earlier prompt.
    Longest,
}

/// How long an entry lives after its last use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// As long as the client asks for.
    Client,
    /// So many milliseconds.
    Fixed(i64),
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rules {
    /// The provider, as the price list calls it.
    pub(super) provider: &'static str,
    pub(super) matching: ProviderMatching,
    pub(super) lookback: u64,
    pub(super) step: u64,
    pub(super) least: u64,
    pub(super) life: Life,
    pub(super) holds_answers: bool,
    pub(super) missed: f64,
    pub(super) thinking: ThinkingRule,
}

/// The rules for a model, by the longest prefix of its plain name.
pub(super) fn of(model: &str) -> Option<Rules> {
    let fitting = lines().filter(|(prefix, _)| model.starts_with(prefix));
    let (_, columns) = fitting.max_by_key(|(prefix, _)| prefix.len())?;
    parse(columns)
}

/// The prefix of each row, and the rest of it.
pub(super) fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t'))
}

pub(super) fn parse(columns: &'static str) -> Option<Rules> {
    let mut columns = columns.split('\t');
    let rules = Rules {
        provider: columns.next()?,
        matching: match columns.next()? {
            "marks" => ProviderMatching::Marks,
            "ends" => ProviderMatching::Ends,
            "longest" => ProviderMatching::Longest,
            _ => return None,
        },
        lookback: match columns.next()? {
            "-" => u64::MAX,
            blocks => blocks.parse().ok()?,
        },
        step: columns.next()?.parse().ok()?,
        least: columns.next()?.parse().ok()?,
        life: life(columns.next()?)?,
        holds_answers: match columns.next()? {
            "yes" => true,
            "no" => false,
            _ => return None,
        },
        missed: columns.next()?.parse().ok()?,
        thinking: match columns.next()? {
            "kept" => ThinkingRule::Kept,
            "dropped" => ThinkingRule::DroppedByNextTurn,
            _ => return None,
        },
    };
    columns.next().is_none().then_some(rules)
}

/// `5m`, `3h` or `client`.
fn life(text: &str) -> Option<Life> {
    if text == "client" {
        return Some(Life::Client);
    }
    let (number, minutes) = match text.strip_suffix('h') {
        Some(hours) => (hours, 60),
        None => (text.strip_suffix('m')?, 1),
    };
    let number: i64 = number.parse().ok()?;
    Some(Life::Fixed(number * minutes * MINUTE))
}
