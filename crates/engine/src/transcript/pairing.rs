//! Which result answers which call.
//!
//! One pass, linear in the parts. An assistant message is a step, or a run of them where the form lets a
//! step span messages; the messages that follow it and answer it are its zone. A result goes to the nearest step before it that has an unanswered call of
//! its id, because some models count their ids anew in every step. Nothing is changed here: [`Pairing`]
//! says what is wrong, `repair` mends it.

use std::collections::HashMap;
use std::collections::VecDeque;

use crate::transcript::finding::Finding;
use crate::transcript::finding::Rule;
use crate::transcript::message::Message;
use crate::transcript::message::Role;
use crate::transcript::part::CallId;
use crate::transcript::part::Part;
use crate::transcript::part::ToolCall;
use crate::transcript::part::ToolResult;

/// A part's position in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// Index of the message.
    pub message: u32,
    /// Index of the part in it.
    pub part: u32,
}

/// A tool call and its result; only calls of the open tool loop have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Where the call is.
    pub call: Spot,
    /// Where its result is.
    pub result: Option<Spot>,
}

/// A call as found, with what pairing learned about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tied {
    pub pair: Pair,
    pub step: u32,
    /// The result stands outside of the step's zone.
    pub displaced: bool,
}

/// What one pass over the messages found.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    pub ties: Vec<Tied>,
    /// Results that answer nothing, with the reason.
    pub strays: Vec<(Spot, Rule)>,
    /// New ids for calls and results that had none, or one that was taken.
    pub renames: Vec<(Spot, CallId)>,
    pub findings: Vec<Finding>,
    /// For every step, the index of the first message after its zone.
    pub zone_ends: Vec<u32>,
    /// The step whose zone reaches the end of the conversation, if any.
    pub open_step: Option<u32>,
}

impl Pairing {
    /// Calls without a result that are not part of the open tool loop.
    pub fn unanswered(&self) -> impl Iterator<Item = &Tied> {
        self.ties
            .iter()
            .filter(|tie| tie.pair.result.is_none() && Some(tie.step) != self.open_step)
    }

    /// Whether the messages can stay as they are.
    pub fn is_sound(&self) -> bool {
        self.strays.is_empty()
            && self.renames.is_empty()
            && !self.ties.iter().any(|tie| tie.displaced)
            && self.unanswered().next().is_none()
    }
}

/// The newest step that used an id, and its calls that wait.
struct Waiting {
    step: u32,
    ties: VecDeque<u32>,
}

/// Pairs the calls and results of a list of messages. `spans` says whether a step may be several assistant messages.
pub(super) fn pair(messages: &[Message], spans: bool) -> Pairing {
    let mut walk = Walk {
        spans,
        ..Walk::default()
    };
    for (index, message) in messages.iter().enumerate() {
        let index = u32::try_from(index).expect("a transcript has fewer than 2^32 messages");
        if message.role == Role::Assistant {
            walk.enter_assistant(index);
        } else {
            walk.previous_zone = walk.zone.take();
        }
        walk.was_assistant = message.role == Role::Assistant;
        for (part_index, part) in message.parts.iter().enumerate() {
            let spot = Spot {
                message: index,
                part: u32::try_from(part_index).expect("a message has fewer than 2^32 parts"),
            };
            match part {
                Part::Call(call) => walk.call(spot, call, message),
                Part::Result(result) => walk.result(spot, result, message),
                Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
            }
        }
    }
    walk.pairing.open_step = walk.zone;
    walk.pairing
}

#[derive(Default)]
struct Walk<'a> {
    pairing: Pairing,
    by_id: HashMap<&'a str, Waiting>,
    /// Calls of the newest step in order, for results without an id.
    newest: VecDeque<u32>,
    was_assistant: bool,
    spans: bool,
    /// The step whose zone the current message belongs to.
    zone: Option<u32>,
    /// The step whose zone the message before the current one belongs to.
    previous_zone: Option<u32>,
}

impl<'a> Walk<'a> {
    fn enter_assistant(&mut self, index: u32) {
        if !self.was_assistant || !self.spans || self.pairing.zone_ends.is_empty() {
            self.pairing.zone_ends.push(index);
            self.newest.clear();
        }
        let step = self.step();
        self.pairing.zone_ends[step as usize] = index + 1;
        self.zone = Some(step);
    }

    fn step(&self) -> u32 {
        u32::try_from(self.pairing.zone_ends.len().saturating_sub(1)).expect("fewer steps than messages")
    }

    fn call(&mut self, spot: Spot, call: &'a ToolCall, message: &Message) {
        let step = self.step();
        let tie = u32::try_from(self.pairing.ties.len()).expect("fewer calls than parts fit in 2^32");
        self.pairing.ties.push(Tied {
            pair: Pair {
                call: spot,
                result: None,
            },
            step,
            displaced: false,
        });
        self.newest.push_back(tie);
        if call.id.is_missing() {
            let id = given_id(spot);
            self.note(Rule::MissingCallId, message, format!("call of {}", call.name));
            self.pairing.renames.push((spot, id));
            return;
        }
        let id = call.id.as_str();
        match self.by_id.get_mut(id) {
            None => {
                let ties = VecDeque::from([tie]);
                self.by_id.insert(id, Waiting { step, ties });
            }
            Some(waiting) if waiting.step == step && !waiting.ties.is_empty() => {
                waiting.ties.push_back(tie);
                let renamed = CallId::new(format!("{id}~{}.{}", spot.message, spot.part));
                self.pairing.renames.push((spot, renamed));
                self.note(Rule::DuplicateCallId, message, id.to_owned());
            }
            Some(waiting) => {
                waiting.step = step;
                waiting.ties.clear();
                waiting.ties.push_back(tie);
                self.note(Rule::RepeatedCallId, message, id.to_owned());
            }
        }
    }

    fn result(&mut self, spot: Spot, result: &'a ToolResult, message: &Message) {
        let found = if result.id.is_missing() {
            self.note(Rule::MissingCallId, message, "result".to_owned());
            self.first_unanswered()
        } else {
            self.by_id
                .get_mut(result.id.as_str())
                .and_then(|waiting| waiting.ties.pop_front())
                .filter(|tie| self.pairing.ties[*tie as usize].pair.result.is_none())
        };
        let Some(tie) = found else {
            let known = self.by_id.contains_key(result.id.as_str());
            let rule = if known {
                Rule::DuplicateResult
            } else {
                Rule::OrphanResult
            };
            self.note(rule, message, result.id.as_str().to_owned());
            self.pairing.strays.push((spot, rule));
            return;
        };
        let renamed = self.pairing.renamed(self.pairing.ties[tie as usize].pair.call);
        if let Some(id) = renamed {
            self.pairing.renames.push((spot, id));
        } else if result.id.is_missing() {
            self.pairing.renames.push((spot, CallId::new("")));
        }
        let step = self.pairing.ties[tie as usize].step;
        let displaced = self.previous_zone != Some(step);
        if displaced {
            self.note(Rule::DisplacedResult, message, result.id.as_str().to_owned());
        } else {
            self.zone = Some(step);
            self.pairing.zone_ends[step as usize] = spot.message + 1;
        }
        let tie = &mut self.pairing.ties[tie as usize];
        tie.pair.result = Some(spot);
        tie.displaced = displaced;
    }

    fn first_unanswered(&mut self) -> Option<u32> {
        while let Some(tie) = self.newest.pop_front() {
            if self.pairing.ties[tie as usize].pair.result.is_none() {
                return Some(tie);
            }
        }
        None
    }

    fn note(&mut self, rule: Rule, message: &Message, detail: String) {
        self.pairing.findings.push(Finding::new(rule, message.place, detail));
    }
}

impl Pairing {
    /// The new id of a renamed call. Renames are pushed in message order, so a search finds it.
    fn renamed(&self, call: Spot) -> Option<CallId> {
        let calls = |probe: &(Spot, CallId)| probe.0.cmp(&call);
        let found = self.renames.binary_search_by(calls).ok()?;
        Some(self.renames[found].1.clone())
    }
}

fn given_id(spot: Spot) -> CallId {
    CallId::new(format!("call-{}.{}", spot.message, spot.part))
}
