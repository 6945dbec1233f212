//! The grader against recorded conversations: what they say word for word is found, and what only others say is not.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::Path;

use mainstay_eval::fixture::Exam;
use mainstay_eval::fixture::Kind;
use mainstay_eval::fixture::Probe;
use mainstay_eval::fixture::Subject;
use mainstay_eval::grade::grade_state;
use mainstay_eval::retention::render;

fn texts(subject: &Subject) -> Vec<String> {
    subject.messages.iter().map(render).collect()
}

/// Whether a text has a fact as it is spelled, between characters that are no part of a word. A bare `yes` or `no` is a word
/// of anything.
fn is_verbatim(raw: &str, fact: &str) -> bool {
    let fact = fact.to_lowercase();
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    fact.len() > 3
        && raw
            .match_indices(&fact)
            .any(|(at, _)| is_edge(raw[..at].chars().next_back()) && is_edge(raw[at + fact.len()..].chars().next()))
}

#[test]
fn whole_conversations_have_what_they_say_and_not_what_others_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hermes-eval");
    let Ok(exam) = Exam::read(&folder) else {
        eprintln!("skipped: no recorded exam beside the workspace");
        return;
    };
    let (mut expected, mut found) = (0, 0);
    for subject in &exam.subjects {
        let messages = texts(subject);
        let raw = messages.join("\n").to_lowercase();
        for probe in &subject.bank.probes {
            let grade = grade_state(&messages, probe, &[]);
            for fact in &grade.facts {
                expected += 1;
                found += usize::from(fact.found);
                if !fact.found {
                    eprintln!("not there: {} / {} / {:?}", subject.name(), probe.id, fact.fact);
                    assert!(!is_verbatim(&raw, &fact.fact), "{:?} is there word for word", fact.fact);
                }
            }
        }
    }
    eprintln!("{found} of {expected} expected facts are found in their own conversation");
    assert!(found * 4 >= expected * 3, "{found} of {expected}");
    let (mut asked, mut elsewhere) = (0, 0);
    for subject in &exam.subjects {
        for other in exam.subjects.iter().filter(|other| other.name() != subject.name()) {
            let messages = texts(other);
            let raw = messages.join("\n").to_lowercase();
            for probe in &subject.bank.probes {
                for fact in grade_state(&messages, probe, &[]).facts {
                    let is_verbatim = is_verbatim(&raw, &fact.fact);
                    asked += usize::from(!is_verbatim);
                    if fact.found && !is_verbatim {
                        elsewhere += 1;
                        eprintln!("by other words in {}: {:?}", other.name(), fact.fact);
                    }
                }
            }
        }
    }
    eprintln!("{elsewhere} of {asked} facts that another conversation does not have word for word are found there");
    // What is left are bare numbers and pairs of everyday words.
    assert!(elsewhere * 20 <= asked, "{elsewhere} of {asked}");
}

/// Conversations in which values are corrected, as the ledger and as nothing but the newest messages show them: the states with their
/// probes, each asking for one value.
fn graded(engine: &str) -> (usize, usize, Vec<String>) {
    let engines = mainstay_eval::preflight::engines();
    let engine = engines.iter().find(|known| known.name() == engine).unwrap();
    let (mut asked, mut found, mut stale) = (0, 0, Vec::new());
    for seed in 0..24 {
        let conversation = mainstay_eval::preflight::planted(seed);
        let state = engine.compact(&conversation.transcript, conversation.tail);
        let messages: Vec<String> = state.messages.iter().map(render).collect();
        // Of other languages the ledger knows basics, and may miss a correction.
        for fact in conversation
            .sheet
            .facts
            .iter()
            .filter(|fact| fact.language.is_first_class())
        {
            let probe = Probe {
                id: "value".to_owned(),
                kind: Kind::Recall,
                question: format!("What is {}?", fact.subject),
                expected_facts: vec![fact.current.clone()],
                stale_facts: fact.stale.clone(),
                forms: BTreeMap::new(),
                spans: BTreeMap::new(),
            };
            let grade = grade_state(&messages, &probe, &[]);
            asked += 1;
            found += usize::from(grade.facts[0].found);
            stale.extend(
                grade
                    .stale
                    .into_iter()
                    .map(|value| format!("seed {seed}: {value} for {}", fact.current)),
            );
        }
    }
    (asked, found, stale)
}

#[test]
fn states_of_a_ledger_have_the_values_and_give_no_old_ones_as_current() {
    let (asked, found, stale) = graded("ledger");
    assert_eq!((found, stale.as_slice()), (asked, &[][..]), "{stale:#?}");
    let (_, found, _) = graded("hot-tail-only");
    assert_eq!(found, 0, "nothing that is planted stands in the tail");
}
