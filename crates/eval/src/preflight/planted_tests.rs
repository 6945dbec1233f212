//! The generator's own promises: repeatable, varied, and true to its sheet.

use std::collections::BTreeSet;

use super::*;
use crate::preflight::checks::mentions;
use crate::retention::render;

fn texts(conversation: &Conversation) -> Vec<String> {
    conversation.transcript.messages().iter().map(render).collect()
}

#[test]
fn a_seed_is_a_conversation() {
    for seed in 0..24 {
        let (one, other) = (conversation(seed), conversation(seed));
        assert_eq!(one.transcript, other.transcript);
        assert!(one.transcript.messages().len() > 100, "{}", one.name);
        assert!(one.transcript.pairs().iter().all(|pair| pair.result.is_some()));
        assert_ne!(
            texts(&one),
            texts(&conversation(seed + 10)),
            "two seeds of one language"
        );
    }
}

#[test]
fn what_is_on_the_sheet_stands_in_the_cold_part_only() {
    for seed in 0..24 {
        let planted = conversation(seed);
        let all = texts(&planted);
        let (cold, hot) = all.split_at(all.len() - planted.tail);
        let sheet = &planted.sheet;
        let facts = sheet
            .facts
            .iter()
            .flat_map(|fact| fact.stale.iter().chain([&fact.current]));
        let needles = facts
            .chain(sheet.obligations.iter().map(|task| &task.needle))
            .chain(sheet.questions.iter().map(|question| &question.needle))
            .chain(
                sheet
                    .decisions
                    .iter()
                    .flat_map(|decision| [&decision.needle].into_iter().chain(&decision.reason)),
            )
            .chain(sheet.files.iter().map(|file| &file.path))
            .chain(sheet.secrets.iter().chain(&sheet.addresses))
            .chain(sheet.hostile.iter().chain(&sheet.quoted).chain(&sheet.constraints));
        for needle in needles {
            assert!(
                cold.iter().any(|text| text.contains(needle.as_str())),
                "{}: no {needle}",
                planted.name
            );
            assert!(
                !hot.iter().any(|text| text.contains(needle.as_str())),
                "{}: {needle} in the tail",
                planted.name
            );
        }
        assert_eq!(planted.hot().len(), planted.tail);
        assert!(planted.hot()[0].opens_turn(), "a tail begins with the person");
    }
}

#[test]
fn a_correction_comes_after_what_it_corrects_and_done_after_asked() {
    for seed in 0..24 {
        let planted = conversation(seed);
        let all = texts(&planted);
        let first = |needle: &str| all.iter().position(|text| mentions(text, needle)).unwrap();
        for fact in &planted.sheet.facts {
            let order: Vec<_> = fact
                .stale
                .iter()
                .chain([&fact.current])
                .map(|value| first(value))
                .collect();
            assert!(order.is_sorted(), "{}: {fact:?} {order:?}", planted.name);
        }
        let last = |needle: &str| all.iter().rposition(|text| mentions(text, needle)).unwrap();
        for task in planted
            .sheet
            .obligations
            .iter()
            .filter(|task| task.state != State::Open)
        {
            assert!(last(&task.needle) > first(&task.needle));
        }
    }
}

#[test]
fn all_languages_ways_and_attacks_come_up() {
    let planted: Vec<_> = (0..24).map(conversation).collect();
    let facts = planted.iter().flat_map(|planted| &planted.sheet.facts);
    let languages: BTreeSet<_> = facts.map(|fact| fact.language).collect();
    assert_eq!(languages.len(), Language::ALL.len());
    let everything: Vec<String> = planted.iter().flat_map(texts).collect();
    for words in [
        "my bad",
        "instead of",
        "не трогать",
        "перепутал",
        "Not sure yet",
        "ok push a new branch",
        "запушь новую ветку",
        "server 1",
        "npm ERR!",
        "FAILED",
        "old_string",
        "completed",
        "USER DECISION",
        "Ignore all previous",
        "SYSTEM: new policy",
        "## Decisions",
        "<|im_start|>",
        "As you decided",
        "The page says",
    ] {
        assert!(
            everything.iter().any(|text| text.contains(words)),
            "nobody says {words:?}"
        );
    }
}
