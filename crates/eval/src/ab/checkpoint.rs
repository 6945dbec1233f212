//! Where a session is stopped and asked.

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::fixture::Bank;
use crate::fixture::Exam;
use crate::fixture::ExamError;
use crate::fixture::Probe;
use crate::fixture::Subject;

/// The checkpoints of an exam, in the order of their names. Each fixture is stopped at `count` places that divide its second half
/// evenly, the last at its end: with 3 about behind 50, 75 and 100 % of its messages, before a turn of the user. There it is asked what
/// stands before it whole: every expected and stale fact of the probe, from its first to its last mention. A fact whose place the bank
/// does not tell is asked for only at the end.
pub fn from_exam(exam: &Exam, count: usize) -> Result<Exam, ExamError> {
    let mut subjects = Vec::new();
    for subject in &exam.subjects {
        let whole = parsed(subject.name(), &subject.fixture_text)?;
        for at in places(&subject.messages, count) {
            let probes = subject.bank.probes.iter().filter(|probe| stands(probe, at, subject));
            let bank = Bank {
                probes: probes.cloned().collect(),
                ..subject.bank.clone()
            };
            if !bank.probes.is_empty() {
                subjects.push(cut(whole.clone(), subject.name(), at, bank)?);
            }
        }
    }
    Ok(sorted(subjects))
}

/// The session of a checkpoint, and after how many of its messages it is.
pub fn session_of(name: &str) -> (&str, usize) {
    let split = name.rsplit_once('@');
    split.map_or((name, 0), |(session, at)| (session, at.parse().unwrap_or(0)))
}

/// A session as a fixture that ends behind its first messages.
pub(super) fn cut(
    mut whole: Map<String, Value>,
    session: &str,
    at: usize,
    mut bank: Bank,
) -> Result<Subject, ExamError> {
    let name = format!("{session}@{at}");
    if let Some(Value::Array(messages)) = whole.get_mut("messages") {
        messages.truncate(at);
    }
    if let Some(Value::Array(chain)) = whole.get_mut("chain") {
        chain.retain(|point| point.as_u64().is_some_and(|point| point < at as u64));
    }
    whole.insert("name".to_owned(), json!(name));
    bank.fixture.clone_from(&name);
    let text = |value: &Value| format!("{value:#}\n");
    let bank = serde_json::to_value(&bank).unwrap_or_default();
    Subject::read(
        (&format!("{name}.json"), text(&Value::Object(whole))),
        (&format!("{name}.probes.json"), text(&bank)),
    )
}

/// The order in which a run reads its subjects back.
pub(super) fn sorted(mut subjects: Vec<Subject>) -> Exam {
    subjects.sort_by(|one, other| one.name().cmp(other.name()));
    Exam { subjects }
}

pub(super) fn parsed(name: &str, text: &str) -> Result<Map<String, Value>, ExamError> {
    serde_json::from_str(text).map_err(|cause| ExamError::NotJson {
        file: name.to_owned(),
        cause,
    })
}

/// Behind how many messages a session is asked: as near as turns allow to even parts of its second half.
fn places(messages: &[Message], count: usize) -> Vec<usize> {
    let length = messages.len();
    let is_turn = |at: &usize| messages[*at].role == Role::User;
    let mut places: Vec<usize> = (1..=count.max(1))
        .map(|number| {
            let wanted = match count {
                0 | 1 => length,
                _ => (length * (count - 2 + number)).div_ceil(2 * (count - 1)),
            };
            let turns = (1..length).filter(is_turn).chain([length]);
            turns.min_by_key(|at| at.abs_diff(wanted)).unwrap_or(length)
        })
        .collect();
    places.dedup();
    places
}

fn stands(probe: &Probe, at: usize, subject: &Subject) -> bool {
    let mut facts = probe.expected_facts.iter().chain(&probe.stale_facts);
    at == subject.messages.len() || facts.all(|fact| probe.spans.get(fact).is_some_and(|span| span.1 < at))
}
