//! The grader against recorded conversations: what they say word for word is found, and what only others say is not.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;

use mainstay_eval::fixture::Exam;
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
