//! What is wrong with a state whatever is asked about it: a provider would refuse it, it is larger than what it was made of, it
//! names files that nobody named, it has lost what the person asked for last.

use std::collections::BTreeSet;

use mainstay_engine::account::Family;
use mainstay_engine::decide::ProviderForm;
use mainstay_engine::transcript::Message;
use mainstay_engine::verify::Flaw;
use mainstay_engine::verify::check_structure;

use crate::retention::identifiers;
use crate::retention::identifiers::Class;
use crate::retention::render;
use crate::state::State;
use crate::state::tokens;

/// So much of the newest request has to stand in a state, in characters; a long one may be told in its first lines.
const REQUEST: usize = 200;

/// A state may be so much over its target: what an engine estimates and what is counted differ by less.
const OVER: f64 = 1.02;

/// The faults of a state that was made of these messages, each as a code and words; the target is an engine's, controls have none.
pub fn faults(messages: &[Message], state: &State, target: Option<u64>, family: Family) -> Vec<String> {
    let mut faults = structure(messages, &state.messages);
    if let Some(target) = target {
        faults.extend(size(state, target, family));
    }
    let (before, after) = (tokens(messages, family), state.tokens(family));
    if after > before {
        faults.push(format!("inflated: {after} tokens were made of {before}"));
    }
    faults.extend(invented(messages, state));
    faults.extend(lost_request(messages, state));
    faults
}

/// An engine that did nothing, or not enough.
fn size(state: &State, target: u64, family: Family) -> Option<String> {
    if let Some(pass) = state
        .passes
        .last()
        .filter(|_| state.passes.iter().all(|pass| pass.made == "unchanged"))
    {
        let why = pass.remarks.last().map_or("", String::as_str);
        return Some(format!("not-compacted: {why}"));
    }
    let after = state.tokens(family);
    (after as f64 > target as f64 * OVER).then(|| format!("over-target: {after} tokens, {target} were asked for"))
}

/// What a provider would refuse about the state and not about the conversation.
fn structure(before: &[Message], after: &[Message]) -> Vec<String> {
    let known = check_structure(before, ProviderForm::Chat);
    let is_new = |flaw: &&Flaw| {
        let same = |other: &Flaw| other.kind == flaw.kind && other.detail == flaw.detail;
        !known.iter().any(same)
    };
    let found = check_structure(after, ProviderForm::Chat);
    let new = found.iter().filter(is_new);
    new.map(|flaw| format!("{}: {}", flaw.kind.code(), flaw.detail))
        .collect()
}

/// Paths in what was written that stand nowhere in the conversation.
fn invented(before: &[Message], state: &State) -> Vec<String> {
    let whole: Vec<String> = before.iter().map(render).collect();
    let kept: BTreeSet<&str> = whole.iter().map(String::as_str).collect();
    let written: Vec<String> = state
        .messages
        .iter()
        .map(render)
        .filter(|text| !kept.contains(text.as_str()))
        .collect();
    let mut named = BTreeSet::new();
    for text in &written {
        let paths = identifiers::find(text)
            .into_iter()
            .filter(|(_, class)| *class == Class::Path);
        // A single name without an ending is as likely a word, or the mark of a block.
        let is_file = |path: &str| path.trim_matches('/').contains(['/', '.']);
        named.extend(paths.map(|(path, _)| path.to_string()).filter(|path| is_file(path)));
    }
    let stands = |name: &str| whole.iter().any(|text| text.contains(name));
    let base = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or("").to_owned();
    named
        .into_iter()
        .filter(|path| !stands(path) && !stands(&base(path)))
        .map(|path| format!("invented-file: {path}"))
        .collect()
}

/// What the person asked for last, where it does not stand in the state any more.
fn lost_request(before: &[Message], state: &State) -> Option<String> {
    let words = before
        .iter()
        .rev()
        .find_map(|message| message.person_words().first().map(|words| flat(words)))?;
    let request: String = words.chars().take(REQUEST).collect();
    let stands = state
        .messages
        .iter()
        .any(|message| flat(&render(message)).contains(&request));
    (!stands).then(|| format!("lost-request: {}", request.chars().take(80).collect::<String>()))
}

/// Words with single spaces between them.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
