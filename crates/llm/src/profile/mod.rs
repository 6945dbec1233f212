//! Price-and-cache profiles of models, as data.
//!
//! What a model costs comes from the price list, which is asked at prompt sizes until its steps are found: see [`list`].
//! How its provider caches prompts stands in `rules.tsv`, with where each figure comes from; which profiles have a name, in
//! `profiles.tsv`. A model with no price, or with no rules, has no profile: nothing is guessed.

mod list;
mod rules;

use mainstay_engine::account;
use mainstay_engine::economy::CacheRules;
use mainstay_engine::economy::Matching;
use mainstay_engine::economy::Place;
use mainstay_engine::economy::Profile;

use list::PriceList;
use list::WriteLife;
use rules::Life;
use rules::ProviderMatching;
use rules::Rules;

const TABLE: &str = include_str!("profiles.tsv");

/// Who asks a model, which decides where prompts are marked and for how long they are kept. Only where a provider lets its
/// clients decide that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code: its instructions, the message two before the last, and the last, each for an hour; as its requests and the
    /// usage in its sessions show.
    ClaudeCode,
    /// A client that marks what compaction leaves alone: its instructions, the end of what the last pass left or put in place, and
    /// the last message, for the five minutes that cost least.
    Mainstay,
}

impl Client {
    /// The client whose sessions have this format.
    pub fn of_format(format: &str) -> Self {
        match format {
            "claude-code" => Self::ClaudeCode,
            _ => Self::Mainstay,
        }
    }

    fn named(name: &str) -> Option<Self> {
        let clients = [Self::ClaudeCode, Self::Mainstay];
        clients.into_iter().find(|client| client.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Mainstay => "mainstay",
        }
    }

    fn places(self) -> Vec<Place> {
        match self {
            Self::ClaudeCode => vec![Place::Preface, Place::Back(2), Place::Back(0)],
            Self::Mainstay => vec![Place::Preface, Place::Anchor, Place::Back(0)],
        }
    }

    fn write_life(self) -> WriteLife {
        match self {
            Self::ClaudeCode => WriteLife::Hour,
            Self::Mainstay => WriteLife::Usual,
        }
    }

    /// In milliseconds.
    fn lifetime(self) -> i64 {
        match self {
            Self::ClaudeCode => 60 * rules::MINUTE,
            Self::Mainstay => 5 * rules::MINUTE,
        }
    }
}

/// A line of the table.
struct Row<'a> {
    name: &'a str,
    model: &'a str,
    client: Client,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut columns = line.split('\t');
        Some(Row {
            name: columns.next()?,
            model: columns.next()?,
            client: Client::named(columns.next()?)?,
        })
    })
}

/// All profiles that have a name, in the order of their table.
pub fn all() -> Vec<Profile> {
    rows().filter_map(|row| of_model(row.model, row.client)).collect()
}

/// The profile of this name: one of the table, or one formed like those there for another model.
pub fn named(name: &str) -> Option<Profile> {
    if let Some(row) = rows().find(|row| row.name == name) {
        return of_model(row.model, row.client);
    }
    let anthropic = |short: &str| format!("claude-{}", short.replace('.', "-"));
    let (model, client) = if let Some(short) = name.strip_prefix("claude-code-") {
        (anthropic(short), Client::ClaudeCode)
    } else if let Some(short) = name.strip_prefix("anthropic-") {
        (anthropic(short), Client::Mainstay)
    } else {
        let model = name.strip_prefix("openai-").unwrap_or(name);
        (model.to_owned(), Client::Mainstay)
    };
    of_model(&model, client).filter(|profile| profile.name == name)
}

/// The profile of a model under the name that a session recorded, with or without a provider before it, as this client asks it.
pub fn of_model(model: &str, client: Client) -> Option<Profile> {
    let plain = account::plain_name(model);
    let rules = rules::of(&plain)?;
    // Other providers know no marks of Claude Code's.
    let client = if rules.provider == "anthropic" {
        client
    } else {
        Client::Mainstay
    };
    let write_life = match rules.life {
        Life::Client => client.write_life(),
        Life::Fixed(_) => WriteLife::Usual,
    };
    let list = PriceList::of(rules.provider, &plain, write_life)?;
    let facts = account::facts(&plain);
    let row = rows().find(|row| row.model == list.model() && row.client == client);
    Some(Profile {
        name: row.map_or_else(|| name(&rules, list.model(), client), |row| row.name.to_owned()),
        title: title(&rules, list.title(), client),
        model: list.model().to_owned(),
        family: facts.family,
        window: facts.window,
        tariff: list.tariff(facts.window)?,
        cache: cache(&rules, client),
    })
}

fn cache(rules: &Rules, client: Client) -> CacheRules {
    let matching = match rules.matching {
        ProviderMatching::Longest => Matching::Longest,
        ProviderMatching::Ends => Matching::Marked {
            places: vec![Place::Back(0)],
            lookback: rules.lookback,
        },
        ProviderMatching::Marks => Matching::Marked {
            places: client.places(),
            lookback: rules.lookback,
        },
    };
    CacheRules {
        matching,
        granularity: rules.step,
        least: rules.least,
        lifetime: match rules.life {
            Life::Client => client.lifetime(),
            Life::Fixed(life) => life,
        },
        holds_answers: rules.holds_answers,
        missed: rules.missed,
        thinking: rules.thinking,
    }
}

/// The name of a profile that has none in the table, formed like those there: `claude-code-opus-4.7`, `openai-gpt-5.2`.
fn name(rules: &Rules, model: &str, client: Client) -> String {
    match (rules.provider, client) {
        ("anthropic", Client::ClaudeCode) => format!("claude-code-{}", dotted(model)),
        ("anthropic", Client::Mainstay) => format!("anthropic-{}", dotted(model)),
        ("openai", _) => format!("openai-{model}"),
        _ => model.to_ascii_lowercase(),
    }
}

/// `claude-opus-4-7` as `opus-4.7`.
fn dotted(model: &str) -> String {
    let short = model.strip_prefix("claude-").unwrap_or(model);
    let mut parts = short.split('-');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
        name.push(if is_number(&name) && is_number(part) { '.' } else { '-' });
        name.push_str(part);
    }
    name
}

fn title(rules: &Rules, model: &str, client: Client) -> String {
    match (rules.matching, client) {
        (ProviderMatching::Marks, Client::ClaudeCode) => format!("{model} with the cache marks of Claude Code"),
        (ProviderMatching::Marks, Client::Mainstay) => format!("{model} with a cache mark where compaction ended"),
        (ProviderMatching::Ends | ProviderMatching::Longest, _) => format!("{model}, cached automatically"),
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
