//! From messages as they were read to a well-formed [`Transcript`].
//!
//! Sound input, which is nearly all of it, is not copied. Otherwise: ids are given where they are missing
//! or taken, results that answer nothing become text, results that stand elsewhere move behind their
//! calls, and calls that nobody answered get a stub. No content is dropped.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::transcript::Transcript;
use crate::transcript::event::CompactionEvent;
use crate::transcript::finding::Finding;
use crate::transcript::finding::Rule;
use crate::transcript::message::Author;
use crate::transcript::message::Message;
use crate::transcript::message::Role;
use crate::transcript::pairing::Pairing;
use crate::transcript::pairing::Spot;
use crate::transcript::pairing::pair;
use crate::transcript::part::CallId;
use crate::transcript::part::Content;
use crate::transcript::part::Part;
use crate::transcript::part::ToolOutcome;
use crate::transcript::part::ToolResult;

/// What stands in for a result that was never recorded. Short: it is sent with every request.
const STUB: &str = "[no result was recorded for this call]";

/// Messages as a reader found them, not yet known to be well formed.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Recorded compactions; their indices refer to `messages`.
    pub events: Vec<CompactionEvent>,
    /// Whether this source gives results a message of their own ([`Role::Tool`]) or puts them into user
    /// messages; inserted stubs follow suit.
    pub results_in_user_messages: bool,
    /// Whether the calls of one step may stand in several assistant messages before their results. In chat they may
    /// not: there every result follows the very message that asked for it.
    pub steps_span_messages: bool,
}

/// Where a message of an assembled transcript comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The message at this index of the draft, unchanged.
    Read(u32),
    /// The message at this index of the draft, changed by a repair.
    Repaired(u32),
    /// Added by a repair.
    Inserted,
}

/// A well-formed transcript, with what had to be done to get it.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The conversation.
    pub transcript: Transcript,
    /// One finding for every departure.
    pub findings: Vec<Finding>,
    /// For every message, where it comes from.
    pub origins: Vec<Origin>,
}

impl Draft {
    /// Makes the transcript, repairing what is malformed.
    pub fn assemble(mut self) -> Assembly {
        let (mut findings, repaired) = settle_misplaced(&mut self.messages);
        let mut pairing = pair(&self.messages, self.steps_span_messages);
        if repaired.is_empty() && pairing.is_sound() {
            findings.append(&mut pairing.findings);
            let count = u32::try_from(self.messages.len()).expect("pairing checked the count");
            return Assembly {
                origins: (0..count).map(Origin::Read).collect(),
                transcript: Transcript {
                    messages: self.messages,
                    pairs: pairing.ties.iter().map(|tie| tie.pair).collect(),
                    events: self.events,
                },
                findings,
            };
        }
        findings.append(&mut pairing.findings);
        Repair::new(self, repaired, findings).run(pairing)
    }
}

/// Calls belong into assistant messages, results into user or tool messages; elsewhere they become text.
fn settle_misplaced(messages: &mut [Message]) -> (Vec<Finding>, BTreeSet<u32>) {
    let mut findings = Vec::new();
    let mut repaired = BTreeSet::new();
    for (index, message) in messages.iter_mut().enumerate() {
        let takes_calls = message.role == Role::Assistant;
        let takes_results = matches!(message.role, Role::User | Role::Tool);
        let is_misplaced = |part: &Part| match part {
            Part::Call(_) => !takes_calls,
            Part::Result(_) => !takes_results,
            Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => false,
        };
        if !message.parts.iter().any(is_misplaced) {
            continue;
        }
        let mut settled = Vec::with_capacity(message.parts.len());
        for part in std::mem::take(&mut message.parts) {
            match part {
                Part::Call(call) if !takes_calls => {
                    findings.push(Finding::new(Rule::MisplacedPart, message.place, call.name.as_ref()));
                    settled.push(Part::Text(format!("{} {}", call.name, call.input.as_str()).into()));
                }
                Part::Result(result) if !takes_results => {
                    findings.push(Finding::new(Rule::MisplacedPart, message.place, result.id.as_str()));
                    settled.extend(result.content.into_iter().map(Part::from));
                }
                other => settled.push(other),
            }
        }
        message.parts = settled;
        repaired.insert(u32::try_from(index).expect("a transcript has fewer than 2^32 messages"));
    }
    (findings, repaired)
}

/// The messages under repair. Every pass is linear, and pairs anew when it has moved anything.
struct Repair {
    messages: Vec<Message>,
    origins: Vec<Origin>,
    events: Vec<CompactionEvent>,
    results_in_user_messages: bool,
    steps_span_messages: bool,
    findings: Vec<Finding>,
    /// Draft indices of messages that no longer stand where they stood.
    moved: BTreeSet<u32>,
}

impl Repair {
    fn new(draft: Draft, repaired: BTreeSet<u32>, findings: Vec<Finding>) -> Self {
        let count = u32::try_from(draft.messages.len()).expect("pairing checked the count");
        let origin = |index| {
            if repaired.contains(&index) {
                Origin::Repaired(index)
            } else {
                Origin::Read(index)
            }
        };
        Self {
            origins: (0..count).map(origin).collect(),
            messages: draft.messages,
            events: draft.events,
            results_in_user_messages: draft.results_in_user_messages,
            steps_span_messages: draft.steps_span_messages,
            findings,
            moved: BTreeSet::new(),
        }
    }

    fn run(mut self, mut pairing: Pairing) -> Assembly {
        let count = self.messages.len();
        self.rename(&mut pairing);
        if !pairing.strays.is_empty() {
            self.keep_as_text(&pairing);
            pairing = pair(&self.messages, self.steps_span_messages);
        }
        if pairing.ties.iter().any(|tie| tie.displaced) {
            self.move_displaced(&pairing);
            pairing = pair(&self.messages, self.steps_span_messages);
        }
        self.answer_unanswered(&pairing);
        self.settle_events(count);
        Assembly {
            transcript: Transcript {
                pairs: pair(&self.messages, self.steps_span_messages)
                    .ties
                    .iter()
                    .map(|tie| tie.pair)
                    .collect(),
                messages: self.messages,
                events: self.events,
            },
            findings: self.findings,
            origins: self.origins,
        }
    }

    fn mark_repaired(&mut self, index: usize) {
        self.origins[index] = match self.origins[index] {
            Origin::Read(from) | Origin::Repaired(from) => Origin::Repaired(from),
            Origin::Inserted => Origin::Inserted,
        };
    }

    fn rename(&mut self, pairing: &mut Pairing) {
        let mut given: BTreeMap<Spot, CallId> = pairing.renames.drain(..).collect();
        // A result without an id takes its call's: the one it was given, or the one it always had.
        for tie in &pairing.ties {
            let Some(result) = tie.pair.result else { continue };
            if given.get(&result).is_some_and(CallId::is_missing)
                && let Part::Call(call) = self.part(tie.pair.call)
            {
                given.insert(result, call.id.clone());
            }
        }
        for (spot, id) in given {
            match &mut self.messages[spot.message as usize].parts[spot.part as usize] {
                Part::Call(call) => call.id = id,
                Part::Result(result) => result.id = id,
                Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
            }
            self.mark_repaired(spot.message as usize);
        }
    }

    fn part(&self, spot: Spot) -> &Part {
        &self.messages[spot.message as usize].parts[spot.part as usize]
    }

    /// Results that answer nothing become text of their message.
    fn keep_as_text(&mut self, pairing: &Pairing) {
        let mut by_message: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (spot, _) in &pairing.strays {
            by_message.entry(spot.message).or_default().insert(spot.part);
        }
        for (index, strays) in by_message {
            let message = &mut self.messages[index as usize];
            let (mut results, mut rest) = (Vec::new(), Vec::new());
            for (part_index, part) in (0..).zip(std::mem::take(&mut message.parts)) {
                match part {
                    Part::Result(stray) if strays.contains(&part_index) => {
                        rest.extend(stray.content.into_iter().map(Part::from));
                    }
                    Part::Result(result) => results.push(Part::Result(result)),
                    other => rest.push(other),
                }
            }
            // Results first: what became text must not stand before a result that stays.
            results.append(&mut rest);
            message.parts = results;
            if message.role == Role::Tool && !message.has_results() {
                message.role = Role::User;
                message.author = Author::Tool;
            }
            self.mark_repaired(index as usize);
        }
    }

    /// Results that stand elsewhere move to the end of their step's zone.
    fn move_displaced(&mut self, pairing: &Pairing) {
        let mut wanted: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
        for tie in pairing.ties.iter().filter(|tie| tie.displaced) {
            if let Some(spot) = tie.pair.result {
                wanted.entry(spot.message).or_default().insert(spot.part, tie.step);
            }
        }
        let mut arrivals: BTreeMap<u32, Vec<(Message, Origin)>> = BTreeMap::new();
        let mut emptied = BTreeSet::new();
        for (index, steps) in wanted {
            let message = &mut self.messages[index as usize];
            let mut leaving: BTreeMap<u32, Vec<Part>> = BTreeMap::new();
            let mut staying = Vec::new();
            for (part_index, part) in (0..).zip(std::mem::take(&mut message.parts)) {
                match steps.get(&part_index) {
                    Some(step) => leaving.entry(*step).or_default().push(part),
                    None => staying.push(part),
                }
            }
            let shell = message.clone();
            message.parts = staying;
            let goes_whole = message.parts.is_empty() && leaving.len() == 1;
            if message.parts.is_empty() {
                emptied.insert(index);
            }
            if !goes_whole {
                self.mark_repaired(index as usize);
            }
            let origin = self.origins[index as usize];
            if let Origin::Read(from) | Origin::Repaired(from) = origin {
                self.moved.insert(from);
            }
            for (step, parts) in leaving {
                let message = Message { parts, ..shell.clone() };
                arrivals
                    .entry(pairing.zone_ends[step as usize])
                    .or_default()
                    .push((message, origin));
            }
        }
        self.interleave(arrivals, &emptied);
    }

    /// Calls that nobody answered get a stub at the end of their step's zone.
    fn answer_unanswered(&mut self, pairing: &Pairing) {
        let mut stubs: BTreeMap<u32, Vec<Part>> = BTreeMap::new();
        for tie in pairing.unanswered() {
            let place = self.messages[tie.pair.call.message as usize].place;
            if let Part::Call(call) = self.part(tie.pair.call) {
                let stub = Part::Result(Box::new(ToolResult {
                    id: call.id.clone(),
                    name: Some(call.name.clone()),
                    content: vec![Content::Text(STUB.into())],
                    outcome: ToolOutcome::Unstated,
                }));
                let finding = Finding::new(Rule::UnansweredCall, place, call.name.as_ref());
                stubs
                    .entry(pairing.zone_ends[tie.step as usize])
                    .or_default()
                    .push(stub);
                self.findings.push(finding);
            }
        }
        let mut arrivals: BTreeMap<u32, Vec<(Message, Origin)>> = BTreeMap::new();
        for (zone_end, parts) in stubs {
            if !self.results_in_user_messages {
                let messages = parts.into_iter().map(|part| Message::new(Role::Tool, vec![part]));
                arrivals.insert(zone_end, messages.map(|message| (message, Origin::Inserted)).collect());
                continue;
            }
            let last = zone_end as usize - 1;
            let message = &mut self.messages[last];
            if message.role == Role::User && message.has_results() {
                let after = message.parts.iter().rposition(|part| matches!(part, Part::Result(_)));
                let at = after.map_or(0, |position| position + 1);
                message.parts.splice(at..at, parts);
                self.mark_repaired(last);
            } else {
                arrivals.insert(zone_end, vec![(Message::new(Role::User, parts), Origin::Inserted)]);
            }
        }
        self.interleave(arrivals, &BTreeSet::new());
    }

    /// Puts each group of arrivals before the message at its index, and leaves out what was emptied.
    fn interleave(&mut self, mut arrivals: BTreeMap<u32, Vec<(Message, Origin)>>, emptied: &BTreeSet<u32>) {
        if arrivals.is_empty() {
            return;
        }
        let messages = std::mem::take(&mut self.messages);
        let origins = std::mem::take(&mut self.origins);
        let end = u32::try_from(messages.len()).expect("pairing checked the count");
        for (index, (message, origin)) in (0..).zip(messages.into_iter().zip(origins)) {
            self.arrive(arrivals.remove(&index));
            if !emptied.contains(&index) {
                self.messages.push(message);
                self.origins.push(origin);
            }
        }
        self.arrive(arrivals.remove(&end));
    }

    fn arrive(&mut self, arrivals: Option<Vec<(Message, Origin)>>) {
        for (message, origin) in arrivals.unwrap_or_default() {
            self.messages.push(message);
            self.origins.push(origin);
        }
    }

    /// Points the events at where their messages now stand.
    fn settle_events(&mut self, count: usize) {
        if self.events.is_empty() {
            return;
        }
        let mut new_index = vec![self.messages.len(); count + 1];
        for (index, origin) in self.origins.iter().enumerate() {
            if let Origin::Read(from) | Origin::Repaired(from) = origin
                && !self.moved.contains(from)
            {
                new_index[*from as usize] = index;
            }
        }
        // What was emptied or moved points at the next message that stayed.
        for index in (0..count).rev() {
            new_index[index] = new_index[index].min(new_index[index + 1]);
        }
        for event in &mut self.events {
            event.before = new_index[event.before.min(count)];
            event.summary = event.summary.map(|index| new_index[index.min(count)]);
        }
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
