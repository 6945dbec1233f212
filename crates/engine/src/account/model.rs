//! What is known about models: tokenizer family, window, usual output. A table, not code.

use crate::account::counter::Family;

const TABLE: &str = include_str!("models.tsv");

/// The window assumed for a model nobody knows: the smallest that current agent models have in common.
pub const UNKNOWN_WINDOW: u64 = 128_000;
/// The output reservation assumed for a model nobody knows.
pub const UNKNOWN_OUTPUT: u64 = 16_384;

/// What is known about a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    /// How it counts tokens.
    pub family: Family,
    /// Its window.
    pub window: u64,
    /// What is reserved for its answer.
    pub output: u64,
    /// Whether the name was found; otherwise these are the assumptions for unknown models.
    pub known: bool,
}

/// The name of a model without a provider before it, in lower case, as its own provider spells it.
pub fn plain_name(model: &str) -> String {
    let name = model
        .rsplit(['/', ':'])
        .find(|piece| piece.contains(|c: char| c.is_ascii_alphabetic()));
    // Bedrock and Vertex put a vendor before the name: `us.anthropic.claude-…`.
    let name = name.unwrap_or(model).to_ascii_lowercase();
    let name = name.rsplit_once("anthropic.").map_or(name.as_str(), |(_, after)| after);
    // Routers spell Claude's versions with dots, the provider with dashes; Bedrock puts a version of its own behind them, and
    // Vertex a date.
    if name.starts_with("claude") {
        let name = name.split('@').next().unwrap_or(name);
        name.strip_suffix("-v1").unwrap_or(name).replace('.', "-")
    } else {
        name.to_owned()
    }
}

/// Looks a model up by its name, with or without a provider before it.
pub fn facts(model: &str) -> ModelFacts {
    let name = plain_name(model);
    let mut best: Option<(usize, ModelFacts)> = None;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let (Some(prefix), Some(family), Some(window), Some(output)) =
            (columns.next(), columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        if !name.starts_with(prefix) || best.is_some_and(|(length, _)| length >= prefix.len()) {
            continue;
        }
        let facts = ModelFacts {
            family: Family::named(family).unwrap_or(Family::Unknown),
            window: window.parse().unwrap_or(UNKNOWN_WINDOW),
            output: output.parse().unwrap_or(UNKNOWN_OUTPUT),
            known: true,
        };
        best = Some((prefix.len(), facts));
    }
    best.map_or(
        ModelFacts {
            family: Family::Unknown,
            window: UNKNOWN_WINDOW,
            output: UNKNOWN_OUTPUT,
            known: false,
        },
        |(_, facts)| facts,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete() {
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<_> = line.split('\t').collect();
            assert_eq!(columns.len(), 4, "{line}");
            assert!(Family::named(columns[1]).is_some(), "{line}");
            let window: u64 = columns[2].parse().unwrap();
            let output: u64 = columns[3].parse().unwrap();
            assert!(output < window, "{line}");
        }
    }

    #[test]
    fn a_plain_name_is_the_providers_own() {
        for (recorded, plain) in [
            ("us.anthropic.claude-opus-5-5-v1:0", "claude-opus-5-5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("openrouter/anthropic/claude-opus-4.7", "claude-opus-4-7"),
            ("openai/GPT-5.4", "gpt-5.4"),
            ("", ""),
        ] {
            assert_eq!(plain_name(recorded), plain);
        }
    }

    #[test]
    fn the_longest_prefix_wins() {
        for (model, family, window) in [
            ("gpt-4o-mini-2024-07-18", Family::O200k, 128_000),
            ("gpt-4-0613", Family::Cl100k, 8_192),
            ("openai/gpt-5.4-mini", Family::O200k, 400_000),
            ("claude-sonnet-4-5-20250929", Family::ClaudeClassic, 200_000),
            ("us.anthropic.claude-opus-5-5-v1:0", Family::Claude, 1_000_000),
            ("anthropic/claude-opus-4.7", Family::Claude, 1_000_000),
            ("o3-mini", Family::O200k, 200_000),
            ("somebody/new-model", Family::Unknown, UNKNOWN_WINDOW),
            ("", Family::Unknown, UNKNOWN_WINDOW),
        ] {
            let found = facts(model);
            assert_eq!((found.family, found.window), (family, window), "{model}");
        }
    }
}
