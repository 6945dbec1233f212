//! Questions about long chats whose answer stands in the person's own words: is the answer still in the state?
//!
//! The file is LongMemEval's oracle form. The sessions that hold the evidence are joined, in the order of the file, into
//! conversations long enough to be compacted. An answer counts where it stands literally, so a short number may stand there
//! by chance: figures of one size compare with each other, they are not absolute.

use std::collections::BTreeSet;
use std::path::Path;

use mainstay_engine::account::Family;
use mainstay_engine::decide::Engine;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use serde::Deserialize;
use serde_json::Value;

use crate::board::figure::BoardObservation;
use crate::board::measure::BoardMeasure;
use crate::board::own_words::folded;
use crate::board::size::BoardSize;
use crate::board::state_check::CheckedState;
use crate::board::state_check::StateCheck;
use crate::forced::ForcedPasses;
use crate::retention::render;
use crate::state::tokens;

/// The tokenizer that chats are counted with.
const FAMILY: Family = Family::O200k;
/// So many questions are asked: those that the file has first.
const MOST_QUESTIONS: usize = 150;
/// A conversation ends with the question whose sessions bring it to so many tokens.
const LEAST_TOKENS: u64 = 60_000;
/// So many characters an answer has: a longer one is a sentence of its own that nobody said.
const ANSWER_LENGTH: std::ops::RangeInclusive<usize> = 2..=40;

/// A joined conversation with the answers that stand in it.
pub struct QaConversation {
    /// Its place in the file, as a name.
    pub name: String,
    /// Its messages.
    pub messages: Vec<Message>,
    /// The answers, folded and in lower case.
    pub answers: Vec<String>,
}

#[derive(Deserialize)]
struct QaRecord {
    answer: Value,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<QaTurn>>,
}

#[derive(Deserialize)]
struct QaTurn {
    role: String,
    content: String,
}

/// Reads the file and joins its sessions.
pub fn load(path: &Path) -> Result<Vec<QaConversation>, String> {
    let problem = |cause: &dyn std::fmt::Display| format!("{}: {cause}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| problem(&error))?;
    let records: Vec<QaRecord> = serde_json::from_str(&text).map_err(|error| problem(&error))?;
    Ok(join(&records))
}

fn join(records: &[QaRecord]) -> Vec<QaConversation> {
    let mut conversations = Vec::new();
    let mut current = QaConversation::empty(0);
    let mut sessions: BTreeSet<&str> = BTreeSet::new();
    let mut size = 0;
    let asked = records.iter().filter_map(|record| Some((record, answer(record)?)));
    for (record, answer) in asked.take(MOST_QUESTIONS) {
        for (id, session) in record.haystack_session_ids.iter().zip(&record.haystack_sessions) {
            // Two questions may be about one session; nobody says the same twice.
            if !sessions.insert(id) {
                continue;
            }
            let messages: Vec<Message> = session.iter().map(message).collect();
            size += tokens(&messages, FAMILY);
            current.messages.extend(messages);
        }
        current.answers.push(answer);
        if size >= LEAST_TOKENS {
            conversations.push(std::mem::replace(
                &mut current,
                QaConversation::empty(conversations.len() + 1),
            ));
            sessions.clear();
            size = 0;
        }
    }
    if !current.messages.is_empty() {
        conversations.push(current);
    }
    conversations
}

/// The answer, where it is short and stands in the person's words.
fn answer(record: &QaRecord) -> Option<String> {
    let answer = match &record.answer {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    if !ANSWER_LENGTH.contains(&answer.chars().count()) {
        return None;
    }
    let answer = searched(&answer);
    let turns = record.haystack_sessions.iter().flatten();
    let own: Vec<&str> = turns
        .filter(|turn| turn.role == "user")
        .map(|turn| turn.content.as_str())
        .collect();
    searched(&own.join("\n")).contains(&answer).then_some(answer)
}

fn searched(text: &str) -> String {
    folded(text).to_lowercase()
}

fn message(turn: &QaTurn) -> Message {
    let role = if turn.role == "user" {
        Role::User
    } else {
        Role::Assistant
    };
    Message::new(role, vec![Part::Text(turn.content.as_str().into())])
}

impl QaConversation {
    fn empty(index: usize) -> Self {
        Self {
            name: format!("chat-{index}"),
            messages: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// What its states show at these sizes.
    pub fn observe(&self, sizes: &[BoardSize]) -> Vec<BoardObservation> {
        let draft = Draft {
            messages: self.messages.clone(),
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        let check = StateCheck::new(transcript.messages());
        let whole = tokens(transcript.messages(), FAMILY);
        let passes = ForcedPasses::new(transcript, FAMILY, Engine::Ledger);
        let mut observations = Vec::new();
        for size in sizes {
            let target = size.target(whole);
            let state = passes.to(target);
            let name = size.to_string();
            let checked = CheckedState {
                size: &name,
                messages: &state.messages,
                tokens: tokens(&state.messages, FAMILY),
                target,
                is_compacted: state.is_compacted(),
            };
            observations.extend(check.observe(&checked));
            let shown: Vec<String> = match checked.is_refused() {
                true => Vec::new(),
                false => state.messages.iter().map(render).collect(),
            };
            let shown = searched(&shown.join("\n"));
            observations.extend(self.answers.iter().map(|answer| BoardObservation {
                size: name.clone(),
                measure: BoardMeasure::Answers,
                value: if shown.contains(answer) { 1.0 } else { 0.0 },
            }));
        }
        observations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(answer: Value, sessions: &[(&str, &[(&str, &str)])]) -> QaRecord {
        let turn = |(role, content): &(&str, &str)| QaTurn {
            role: (*role).to_owned(),
            content: (*content).to_owned(),
        };
        QaRecord {
            answer,
            haystack_session_ids: sessions.iter().map(|(id, _)| (*id).to_owned()).collect(),
            haystack_sessions: sessions
                .iter()
                .map(|(_, turns)| turns.iter().map(turn).collect())
                .collect(),
        }
    }

    #[test]
    fn only_answers_in_the_persons_words_are_asked_and_a_session_stands_once() {
        let car = (
            "car",
            [("user", "My car is a  Blue\nBeetle."), ("assistant", "A Red Kadett?")],
        );
        let records = [
            record("blue beetle".into(), &[(car.0, &car.1)]),
            record("Red Kadett".into(), &[(car.0, &car.1)]),
            record("b".into(), &[(car.0, &car.1)]),
            record(17.into(), &[(car.0, &car.1), ("age", &[("user", "I am 17 now")])]),
        ];
        let joined = join(&records);
        assert_eq!(joined.len(), 1);
        assert_eq!(joined[0].answers, ["blue beetle", "17"]);
        assert_eq!(joined[0].messages.len(), 3);
    }
}
