//! Leads and announcements.

use super::*;

fn announced(words: &str) -> bool {
    announces(words, &SentenceSigns::read(words))
}

#[test]
fn a_sentence_that_only_says_what_comes_next_is_an_announcement() {
    for words in [
        "Got enough.",
        "Let me check the tests next.",
        "Now the docs.",
        "Three blockers, several smaller findings.",
        "I'm re-running the review.",
    ] {
        assert!(announced(words), "{words}");
    }
    for words in [
        "No.",
        "Not a defect.",
        "Fixed in main.go:38.",
        "Commit is 8b4d61d.",
        "Want me to commit?",
        "The flaky test waits for a port that another process holds.",
    ] {
        assert!(!announced(words), "{words}");
    }
}

#[test]
fn the_lead_is_the_first_sentence_that_says_something() {
    let record = ConversationRecord::new(
        0,
        Speaker::Agent,
        "## Result\n\nDone. PR #31 is open on the main repository now. It has two commits.",
    );
    let leads: Vec<bool> = (0..record.sentences.len())
        .map(|index| is_lead(&record, index))
        .collect();
    assert_eq!(leads, [false, true, true, false]);
}
