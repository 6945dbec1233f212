//! What answering and judging models are asked, and how their words are read.
//!
//! The prompts are text files. What comes from a conversation or from a model stands between marks that it cannot have
//! known: they are made of a hash over it.

mod judgement;

pub use judgement::Unreadable;
pub(crate) use judgement::object;
pub use judgement::read as read_judgement;

use mainstay_engine::summary::prompts::fill;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Shape;
use mainstay_llm::prompt::Speaker;

use crate::fixture::Probe;

const ANSWER: &str = include_str!("prompts/answer.md");
const QUESTION: &str = include_str!("prompts/question.md");
const SEARCH: &str = include_str!("prompts/search.md");
const FOUND: &str = include_str!("prompts/found.md");
const JUDGE: &str = include_str!("prompts/judge.md");
const CASE: &str = include_str!("prompts/case.md");

/// Hexadecimal digits of a hash in marks and manifests: 64 bits tell any two apart.
const HASH_DIGITS: usize = 16;

/// The prompts' names and hashes.
pub fn hashes() -> Vec<(String, String)> {
    let all = [
        ("answer", ANSWER),
        ("question", QUESTION),
        ("search", SEARCH),
        ("found", FOUND),
        ("judge", JUDGE),
        ("case", CASE),
    ];
    all.map(|(name, text)| (name.to_owned(), hash(text))).to_vec()
}

/// A short hash of a text.
pub fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..HASH_DIGITS].to_owned()
}

/// Asks for an answer from a state.
pub fn question(state: &str, probe: &Probe) -> Prompt {
    let mark = format!("history-{}", hash(state));
    let values = [("mark", mark.as_str()), ("state", state), ("question", &probe.question)];
    asked(ANSWER, fill(QUESTION, &values), Shape::Text)
}

/// Asks for an answer from a state, or for what to search for.
pub fn search(state: &str, probe: &Probe) -> Prompt {
    let mark = format!("history-{}", hash(state));
    let values = [("mark", mark.as_str()), ("state", state), ("question", &probe.question)];
    asked(ANSWER, fill(SEARCH, &values), Shape::Json)
}

/// Asks for an answer from a state and what a search found.
pub fn found(state: &str, words: &str, found: &str, probe: &Probe) -> Prompt {
    let mark = format!("history-{}", hash(&format!("{state}{found}")));
    let values = [
        ("mark", mark.as_str()),
        ("state", state),
        ("words", words),
        ("found", found),
        ("question", &probe.question),
    ];
    asked(ANSWER, fill(FOUND, &values), Shape::Text)
}

/// Asks for a judgement of an answer. Nothing in it tells by which arm the answer was given.
pub fn case(probe: &Probe, answer: &str) -> Prompt {
    let mark = format!("answer-{}", hash(answer));
    let (expected, stale) = (list(probe, &probe.expected_facts), list(probe, &probe.stale_facts));
    let values = [
        ("kind", probe.kind.name()),
        ("question", &probe.question),
        ("expected", &expected),
        ("stale", &stale),
        ("mark", &mark),
        ("answer", answer),
    ];
    asked(JUDGE, fill(CASE, &values), Shape::Json)
}

/// What a model with a search said: an answer, or what to search for. What is no such object is taken as the answer.
pub fn read_search(text: &str) -> Reading {
    let object = object(text);
    let text_of = |key: &str| object.as_ref()?.get(key)?.as_str().map(str::trim);
    match (text_of("search"), text_of("answer")) {
        (_, Some(answer)) if !answer.is_empty() => Reading::Answer(answer.to_owned()),
        (Some(words), _) if !words.is_empty() => Reading::Search(words.to_owned()),
        _ => Reading::Answer(text.trim().to_owned()),
    }
}

/// What a model with a search said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// An answer.
    Answer(String),
    /// It wants to search for this first.
    Search(String),
}

fn asked(system: &str, user: String, shape: Shape) -> Prompt {
    Prompt {
        system: system.trim().to_owned(),
        turns: vec![(Speaker::User, user)],
        most_tokens: None,
        temperature: None,
        shape,
    }
}

/// Facts one a line, with the other ways to say them.
fn list(probe: &Probe, facts: &[String]) -> String {
    if facts.is_empty() {
        return "- none".to_owned();
    }
    let line = |fact: &String| {
        let others: Vec<&str> = probe.forms_of(fact).skip(1).collect();
        match others.is_empty() {
            true => format!("- {fact}"),
            false => format!("- {fact} (also: {})", others.join("; ")),
        }
    };
    facts.iter().map(line).collect::<Vec<_>>().join("\n")
}
