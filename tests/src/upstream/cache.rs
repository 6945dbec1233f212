//! What a provider's prompt cache makes of a row of prompts.
//!
//! Everything that was accepted is remembered as a tree of blocks, one tree a model. From it follow two figures: how many of a
//! prompt's tokens repeat the beginning of an earlier prompt, token by token; and how many of them the provider's own cache
//! reads, which begins at a least length and, at Anthropic, ends at marks. Entries do not expire: time is no part of a test.

use std::collections::BTreeMap;
use std::collections::HashMap;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;

use super::prompt::Prompt;
use crate::conversation::Form;

/// Shorter beginnings are not cached: both providers' documented least length.
const LEAST: u64 = 1_024;
/// OpenAI reads in steps of this many tokens, as documented.
const STEP: u64 = 128;
/// Anthropic looks back this many blocks from a mark, as documented.
const LOOKBACK: usize = 20;

/// What the cache did for a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// All tokens of the prompt.
    pub tokens: u64,
    /// Tokens that repeat the beginning of an earlier prompt.
    pub repeated: u64,
    /// Tokens that the provider reads from its cache.
    pub read: u64,
    /// Tokens that it writes to it.
    pub written: u64,
    /// How the prompt goes on from earlier ones.
    pub course: Course,
}

/// How a prompt goes on from earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// Its first message is new: another conversation.
    #[default]
    Begins,
    /// It begins with the longest earlier prompt that it shares a beginning with, or is the beginning of one.
    Continues,
    /// It leaves an earlier prompt somewhere behind the first message.
    Breaks,
}

#[derive(Debug, Default)]
struct Node {
    children: HashMap<u64, usize>,
    /// Which texts the children have, for the tokens that two different blocks begin with.
    texts: Vec<String>,
    is_written: bool,
}

/// Trees of prompts, one a model.
#[derive(Debug, Default)]
pub struct Cache {
    models: BTreeMap<String, Vec<Node>>,
}

impl Cache {
    /// Serves a prompt and remembers it.
    pub fn serve(&mut self, model: &str, form: Form, prompt: &Prompt) -> Hit {
        let nodes = self.models.entry(model.to_owned()).or_default();
        if nodes.is_empty() {
            nodes.push(Node::default());
        }
        let mut path = vec![0];
        for block in &prompt.blocks {
            let here = &nodes[path[path.len() - 1]];
            match here.children.get(&block.hash) {
                Some(next) => path.push(*next),
                None => break,
            }
        }
        let depth = path.len() - 1;
        let mut sums = vec![0];
        for block in &prompt.blocks {
            sums.push(sums[sums.len() - 1] + block.tokens);
        }
        let end = &nodes[path[depth]];
        let partial = prompt.blocks.get(depth).map_or(0, |block| {
            let begun = end.texts.iter().map(|text| begins_alike(text, &block.text)).max();
            let begun = &block.text[..begun.unwrap_or(0)];
            let counted = Family::O200k.count(begun, TextKind::Output);
            counted.min(block.tokens.saturating_sub(1))
        });
        let course = course(prompt, depth, end);
        for block in &prompt.blocks[depth..] {
            nodes.push(Node::default());
            let next = nodes.len() - 1;
            let here = &mut nodes[path[path.len() - 1]];
            here.children.insert(block.hash, next);
            here.texts.push(block.text.clone());
            path.push(next);
        }
        let mut hit = Hit {
            tokens: sums[prompt.blocks.len()],
            repeated: sums[depth] + partial,
            course,
            ..Hit::default()
        };
        match form {
            Form::Chat | Form::Responses if hit.repeated >= LEAST => hit.read = hit.repeated / STEP * STEP,
            Form::Chat | Form::Responses => {}
            Form::Anthropic => (hit.read, hit.written) = marked(nodes, &path, &sums, prompt),
        }
        hit
    }
}

fn course(prompt: &Prompt, depth: usize, end: &Node) -> Course {
    let first_message = prompt.blocks.iter().position(|block| block.message.is_some());
    let is_first_new = first_message.is_none_or(|first| depth <= first);
    if depth == prompt.blocks.len() {
        Course::Continues
    } else if is_first_new {
        Course::Begins
    } else if end.children.is_empty() {
        Course::Continues
    } else {
        Course::Breaks
    }
}

/// What is read and written where marks decide: from every mark the newest entry at most so many blocks before it is read, and
/// entries are written at the marks.
fn marked(nodes: &mut [Node], path: &[usize], sums: &[u64], prompt: &Prompt) -> (u64, u64) {
    let marks = prompt.blocks.iter().enumerate().filter(|(_, block)| block.marked);
    let marks: Vec<usize> = marks.map(|(index, _)| index + 1).collect();
    let mut read = 0;
    for mark in &marks {
        let reach = mark.saturating_sub(LOOKBACK)..=*mark;
        let entry = reach.rev().find(|length| nodes[path[*length]].is_written);
        read = read.max(entry.map_or(0, |length| sums[length]));
    }
    let mut end = 0;
    for mark in marks.into_iter().filter(|mark| sums[*mark] >= LEAST) {
        nodes[path[mark]].is_written = true;
        end = end.max(sums[mark]);
    }
    (read, end.saturating_sub(read))
}

/// How many bytes two texts have in common at their beginning, whole characters only.
fn begins_alike(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other);
    let mut length = same.count();
    while !other.is_char_boundary(length) {
        length -= 1;
    }
    length
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
