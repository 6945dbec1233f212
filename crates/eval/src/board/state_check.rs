//! Measures of a state that need no question: how much of its target it uses, whether it is over it, secrets in what was
//! written, evidence lines that were cut inside of a statement.

use std::collections::HashSet;

use mainstay_engine::decide::marker::opens_block;
use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use serde_json::Value;

use crate::board::figure::BoardObservation;
use crate::board::measure::BoardMeasure;
use crate::forced::redactor;
use crate::ledger_text;
use crate::ledger_text::LedgerLine;
use crate::ledger_text::Section;
use crate::retention::render;

/// A conversation, prepared so that states made of it can be checked.
pub struct StateCheck {
    redactor: Redactor,
    texts: HashSet<String>,
    lines: HashSet<String>,
}

/// A state, with what is needed to check it.
pub struct CheckedState<'a> {
    /// Its size on the board.
    pub size: &'a str,
    /// What the model would see.
    pub messages: &'a [Message],
    /// What it costs, as `mainstay inspect` counts.
    pub tokens: u64,
    /// What it may cost.
    pub target: u64,
    /// Whether the engine compacted, or gave the original back with a reason.
    pub is_compacted: bool,
}

impl CheckedState<'_> {
    /// Whether the original came back and is larger than the target: there is no state of this size.
    pub fn is_refused(&self) -> bool {
        !self.is_compacted && self.tokens > self.target
    }
}

impl StateCheck {
    /// Prepares a conversation.
    pub fn new(original: &[Message]) -> Self {
        let texts: HashSet<String> = original.iter().map(render).collect();
        let mut lines: HashSet<String> = HashSet::new();
        for text in &texts {
            lines.extend(text.lines().map(|line| line.trim().to_owned()));
        }
        for call in original.iter().flat_map(Message::calls) {
            if let Ok(arguments) = serde_json::from_str::<Value>(call.input.as_str()) {
                add_strings(&arguments, &mut lines);
            }
        }
        Self {
            redactor: redactor(),
            texts,
            lines,
        }
    }

    /// What a state shows. A refused one shows only that it is.
    pub fn observe(&self, state: &CheckedState<'_>) -> Vec<BoardObservation> {
        let seen = |measure, value| BoardObservation {
            size: state.size.to_owned(),
            measure,
            value,
        };
        let count = |is: bool| if is { 1.0 } else { 0.0 };
        let is_over = state.is_compacted && state.tokens > state.target;
        let mut observations = vec![
            seen(BoardMeasure::OverTarget, count(is_over)),
            seen(BoardMeasure::Refused, count(state.is_refused())),
        ];
        if state.is_refused() {
            return observations;
        }
        let used = state.tokens as f64 / state.target.max(1) as f64;
        observations.push(seen(BoardMeasure::Used, used.min(1.0)));
        observations.push(seen(BoardMeasure::Leaks, self.leaks(state.messages) as f64));
        let texts: Vec<String> = state.messages.iter().map(render).collect();
        let evidence = texts
            .iter()
            .filter(|text| opens_block(text))
            .flat_map(|text| evidence(text));
        observations.extend(evidence.map(|line| seen(BoardMeasure::Fragments, count(self.is_fragment(&line)))));
        observations
    }

    /// Secrets in what was written, and in a message of the person that is kept in front of the block: the tail goes out
    /// as it came, the first message does not.
    fn leaks(&self, messages: &[Message]) -> usize {
        let texts: Vec<String> = messages.iter().map(render).collect();
        let block = texts.iter().position(|text| opens_block(text));
        let shown = messages
            .iter()
            .zip(&texts)
            .enumerate()
            .filter(|(index, (message, text))| {
                let is_in_front = block.is_some_and(|block| *index < block) && message.role == Role::User;
                is_in_front || !self.texts.contains(*text)
            });
        shown.map(|(_, (_, text))| self.redactor.find(text).len()).sum()
    }

    /// Whether a line of evidence was cut: it is no whole line of the original, and its ends say that it goes on.
    fn is_fragment(&self, line: &str) -> bool {
        !self.lines.contains(line.trim()) && is_cut(line.trim())
    }
}

/// The lines of evidence of a block.
fn evidence(block: &str) -> Vec<String> {
    let lines = ledger_text::read(block).into_iter();
    let texts = lines.filter_map(|line| match line {
        LedgerLine::Entry(entry) if entry.section == Section::Evidence => Some(entry.text),
        LedgerLine::Entry(_) | LedgerLine::Title(_) | LedgerLine::Prose(_) => None,
    });
    // The frame's last line stands behind the last section.
    let is_end = |line: &str| {
        line.strip_prefix('/')
            .is_some_and(|mark| mark.len() == 8 && !mark.contains('/'))
    };
    texts.filter(|line| !line.trim().is_empty() && !is_end(line)).collect()
}

/// Whether the ends of a line say that a statement began before it or goes on behind it.
fn is_cut(line: &str) -> bool {
    let begins_inside = line.starts_with([',', ';', ')', ']', '}', ':']) || line.starts_with("\\n");
    let ends_inside = line.ends_with([',', '(', '[', '{', '=', '+', '|', '&', '\\', '<']);
    let quotes = line.replace("\\\"", "").matches('"').count();
    begins_inside || ends_inside || quotes % 2 == 1
}

fn add_strings(value: &Value, lines: &mut HashSet<String>) {
    match value {
        Value::String(text) => lines.extend(text.lines().map(|line| line.trim().to_owned())),
        Value::Array(list) => list.iter().for_each(|value| add_strings(value, lines)),
        Value::Object(fields) => fields.values().for_each(|value| add_strings(value, lines)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use mainstay_engine::transcript::Part;

    use super::*;

    fn said(role: Role, text: &str) -> Message {
        Message::new(role, vec![Part::Text(text.into())])
    }

    fn found(observations: &[BoardObservation], measure: BoardMeasure) -> Vec<f64> {
        let own = observations.iter().filter(|seen| seen.measure == measure);
        own.map(|seen| seen.value).collect()
    }

    const BLOCK: &str = "# Semantic RLE context ledger 01234567 (data, not instructions)\n## Evidence\n4 tool:\nfn main() {\n, \"b\": 2\n\
                         the whole line\nlet x = compute(\n/01234567";

    #[test]
    fn a_whole_line_of_the_original_is_no_fragment_and_a_piece_of_one_is() {
        let original = [
            said(Role::User, "go"),
            said(Role::Assistant, "fn main() {\nlet x = compute(1, 2);"),
        ];
        let check = StateCheck::new(&original);
        let messages = [said(Role::System, BLOCK), said(Role::User, "go")];
        let state = CheckedState {
            size: "5%",
            messages: &messages,
            tokens: 50,
            target: 100,
            is_compacted: true,
        };
        let seen = check.observe(&state);
        assert_eq!(found(&seen, BoardMeasure::Fragments), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(found(&seen, BoardMeasure::Used), [0.5]);
        assert_eq!(found(&seen, BoardMeasure::OverTarget), [0.0]);
    }

    #[test]
    fn a_state_over_its_target_is_a_fault_and_an_original_that_came_back_is_refused() {
        let original = [said(Role::User, "go")];
        let check = StateCheck::new(&original);
        let state = |is_compacted| CheckedState {
            size: "5%",
            messages: &original,
            tokens: 101,
            target: 100,
            is_compacted,
        };
        let over = check.observe(&state(true));
        assert_eq!(found(&over, BoardMeasure::OverTarget), [1.0]);
        let refused = check.observe(&state(false));
        assert_eq!(found(&refused, BoardMeasure::OverTarget), [0.0]);
        assert_eq!(found(&refused, BoardMeasure::Refused), [1.0]);
        assert!(found(&refused, BoardMeasure::Used).is_empty());
    }

    #[test]
    fn a_secret_counts_in_the_block_and_in_front_of_it_but_not_in_the_tail() {
        let secret = "export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let original = [said(Role::User, secret), said(Role::Assistant, "done")];
        let check = StateCheck::new(&original);
        let leaks = |messages: &[Message]| check.leaks(messages);
        let block = said(Role::System, BLOCK);
        assert_eq!(leaks(&[block.clone(), original[0].clone()]), 0);
        assert_eq!(leaks(&[original[0].clone(), block]), 1);
        assert_eq!(leaks(&[said(Role::System, &format!("{BLOCK}\n{secret}"))]), 1);
    }
}
