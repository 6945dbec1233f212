//! What is known about every tool call and result, learned once and kept as the conversation grows.
//!
//! Planning needs to know which outputs repeat one another, which reads a later edit made stale, and how much
//! each part costs. All of that is folded message by message, so that planning again after new messages costs
//! work in proportion to what is new.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use crate::account::Family;
use crate::account::measure_part;
use crate::decide::marker::is_placeholder;
use crate::decide::tools;
use crate::decide::tools::Deed;
use crate::transcript::Content;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Spot;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;
use crate::transcript::Transcript;

/// Shorter outputs are not worth comparing: their placeholder would be as long.
const LEAST_COMPARED: usize = 200;

/// Why an output says nothing that a later one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Superseded {
    /// The same output stands again, there.
    Duplicate(Spot),
    /// The file was changed by this call.
    Changed(Spot),
    /// The file was read again by this call.
    ReadAgain(Spot),
}

/// A tool result and what is known about it.
#[derive(Clone, Debug)]
pub struct Output {
    /// Where the result is.
    pub result: Spot,
    /// Where its call is.
    pub call: Spot,
    /// What the tool does.
    pub deed: Deed,
    /// What the result costs, with all that is around it.
    pub tokens: u64,
    /// What its call costs.
    pub call_tokens: u64,
    /// Whether the policy protects its tool, or that of an earlier output whose place it takes. It is not pruned for its
    /// age; where a later output supersedes it, it is.
    pub is_protected: bool,
    /// Whether an earlier pass has already made a placeholder of it.
    pub is_settled: bool,
    /// Why it is no longer needed, if so.
    pub superseded: Option<Superseded>,
}

/// A part beside tool results that may be pruned.
#[derive(Clone, Copy, Debug)]
pub struct Aside {
    /// Where it is.
    pub spot: Spot,
    /// What it costs.
    pub tokens: u64,
}

/// Everything planning needs to know, folded message by message.
#[derive(Clone, Debug)]
pub struct Survey {
    family: Family,
    protected: Vec<String>,
    outputs: Vec<Output>,
    thinking: Vec<Aside>,
    media: Vec<Aside>,
    seen_messages: usize,
    seen_pairs: usize,
    by_content: HashMap<(usize, u64), u32>,
    reads: HashMap<Box<str>, Vec<u32>>,
    deeds: HashMap<Box<str>, Deed>,
    /// Outputs that were superseded and that no pass has dealt with yet.
    superseded: BTreeSet<u32>,
}

impl Survey {
    /// An empty survey for a family of models and a list of protected tools.
    pub fn new(family: Family, protected_tools: &[String]) -> Self {
        Self {
            family,
            protected: protected_tools.to_vec(),
            outputs: Vec::new(),
            thinking: Vec::new(),
            media: Vec::new(),
            seen_messages: 0,
            seen_pairs: 0,
            by_content: HashMap::new(),
            reads: HashMap::new(),
            deeds: HashMap::new(),
            superseded: BTreeSet::new(),
        }
    }

    /// Learns what is new. The messages seen before must be the same as before.
    pub fn observe(&mut self, transcript: &Transcript) {
        let messages = transcript.messages();
        while let Some(pair) = transcript.pairs().get(self.seen_pairs) {
            // Results of the open tool loop come later; they are in the tail anyway.
            let Some(result) = pair.result else { break };
            self.seen_pairs += 1;
            self.learn_output(messages, pair.call, result);
        }
        for (index, message) in messages.iter().enumerate().skip(self.seen_messages) {
            self.learn_asides(index, message);
        }
        self.seen_messages = self.seen_messages.max(messages.len());
    }

    /// The tool results, in the order of their calls.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The reasoning parts, in order.
    pub fn thinking(&self) -> &[Aside] {
        &self.thinking
    }

    /// The media parts of messages, in order; those in tool results are not among them.
    pub fn media(&self) -> &[Aside] {
        &self.media
    }

    /// Outputs that were superseded and that no pass has dealt with yet, in order.
    pub fn superseded(&self) -> impl Iterator<Item = usize> {
        self.superseded.iter().map(|index| *index as usize)
    }

    /// A pass has dealt with these.
    pub fn settle_superseded(&mut self, is_settled: impl Fn(&Output) -> bool) {
        let outputs = &self.outputs;
        self.superseded.retain(|index| !is_settled(&outputs[*index as usize]));
    }

    fn learn_output(&mut self, messages: &[Message], call_spot: Spot, result_spot: Spot) {
        let (Part::Call(call), Part::Result(result)) = (part(messages, call_spot), part(messages, result_spot)) else {
            return;
        };
        let deed = self.deed(call);
        let index = u32::try_from(self.outputs.len()).expect("fewer outputs than parts fit in 2^32");
        self.outputs.push(Output {
            result: result_spot,
            call: call_spot,
            deed,
            tokens: measure_part(part(messages, result_spot), self.family).total(),
            call_tokens: measure_part(part(messages, call_spot), self.family).total(),
            is_protected: self.protected.iter().any(|name| **name == *call.name),
            is_settled: matches!(result.content.as_slice(), [Content::Text(text)] if is_placeholder(text)),
            superseded: None,
        });
        self.learn_duplicate(messages, index, result);
        self.learn_path(call, call_spot, deed, index, has_failed(result));
    }

    fn deed(&mut self, call: &ToolCall) -> Deed {
        match self.deeds.get(&call.name) {
            Some(Deed::Edit) | None => {
                let deed = tools::deed_of_call(call);
                if deed != Deed::Edit {
                    self.deeds
                        .entry(call.name.clone())
                        .or_insert(tools::deed_of(&call.name));
                }
                deed
            }
            Some(deed) => *deed,
        }
    }

    fn learn_duplicate(&mut self, messages: &[Message], index: u32, result: &ToolResult) {
        let Some(key) = content_key(result) else { return };
        let Some(older) = self.by_content.insert(key, index) else {
            return;
        };
        // The key is only a hash: what it finds must be the same to the letter.
        let is_same = match part(messages, self.outputs[older as usize].result) {
            Part::Result(before) => before.content == result.content,
            _ => false,
        };
        if is_same {
            let newer = self.outputs[index as usize].result;
            self.pass_protection(older, index);
            self.supersede(older, Superseded::Duplicate(newer));
        }
    }

    fn learn_path(&mut self, call: &ToolCall, spot: Spot, deed: Deed, index: u32, failed: bool) {
        // What failed has neither changed nor shown the file.
        if failed {
            return;
        }
        match deed {
            Deed::Read => {
                let Some(path) = tools::path_of(call) else { return };
                let earlier = self.reads.entry(path.clone()).or_default();
                if tools::is_partial(call) {
                    earlier.push(index);
                    return;
                }
                let earlier = std::mem::replace(earlier, vec![index]);
                for older in earlier {
                    // Some agents answer a second read with a word that nothing has changed.
                    if self.outputs[index as usize].tokens * 2 >= self.outputs[older as usize].tokens {
                        self.pass_protection(older, index);
                        self.supersede(older, Superseded::ReadAgain(spot));
                    } else {
                        self.reads.entry(path.clone()).or_default().push(older);
                    }
                }
            }
            Deed::Write | Deed::Edit => {
                for path in tools::changed_paths(call) {
                    for older in self.reads.remove(&path).unwrap_or_default() {
                        self.supersede(older, Superseded::Changed(spot));
                    }
                }
            }
            _ => {}
        }
    }

    /// What stands for a protected output is protected as well: the newest copy stays whole, whichever tool showed it.
    fn pass_protection(&mut self, older: u32, newer: u32) {
        let is_protected = self.outputs[older as usize].is_protected;
        self.outputs[newer as usize].is_protected |= is_protected;
    }

    /// Protection is for the newest copy of a content, so that it does not keep an output from being superseded.
    fn supersede(&mut self, index: u32, why: Superseded) {
        let output = &mut self.outputs[index as usize];
        // The first reason stands: a duplicate is named before what made it stale.
        if output.superseded.is_none() && !output.is_settled {
            output.superseded = Some(why);
            self.superseded.insert(index);
        }
    }

    fn learn_asides(&mut self, index: usize, message: &Message) {
        for (part_index, part) in (0..).zip(&message.parts) {
            let list = match part {
                Part::Thinking(_) => &mut self.thinking,
                Part::Media(_) => &mut self.media,
                Part::Text(_) | Part::Call(_) | Part::Result(_) | Part::Opaque(_) => continue,
            };
            let cost = measure_part(part, self.family);
            list.push(Aside {
                spot: Spot {
                    message: u32::try_from(index).expect("a transcript has fewer than 2^32 messages"),
                    part: part_index,
                },
                tokens: cost.total(),
            });
        }
    }
}

fn part(messages: &[Message], spot: Spot) -> &Part {
    &messages[spot.message as usize].parts[spot.part as usize]
}

/// Whether a result says that its call came to nothing: by its mark, or by how it begins.
fn has_failed(result: &ToolResult) -> bool {
    const OPENINGS: [&str; 5] = ["error", "failed", "fatal", "<tool_use_error>", "file not found"];
    let says_so = match result.content.first() {
        Some(Content::Text(text)) => {
            let opening: String = text.trim_start().chars().take(40).collect();
            let opening = opening.to_ascii_lowercase();
            OPENINGS.iter().any(|word| opening.starts_with(word))
        }
        Some(Content::Media(_) | Content::Opaque(_)) | None => false,
    };
    result.outcome == ToolOutcome::Failure || (says_so && result.outcome == ToolOutcome::Unstated)
}

/// A key that equal outputs share; `None` for those too short to matter, or with media in them.
fn content_key(result: &ToolResult) -> Option<(usize, u64)> {
    let mut length = 0;
    // Fixed keys: the same text has the same hash on every machine.
    let mut hasher = DefaultHasher::new();
    for content in &result.content {
        match content {
            Content::Text(text) => {
                length += text.len();
                text.hash(&mut hasher);
            }
            Content::Media(_) | Content::Opaque(_) => return None,
        }
    }
    (length >= LEAST_COMPARED).then(|| (length, hasher.finish()))
}
