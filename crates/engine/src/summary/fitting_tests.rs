//! What is left of a summary in too little room, in which order, and where it is cut.

use proptest::prelude::*;

use super::*;

const LONG: &str = "## Goal\nMake uploads resume after a lost connection. The last request was to fix the flaky test.\n\n\
    ## Constraints & Preferences\n- No new dependencies.\n- \"never push to main\" (m4)\n\n\
    ## Progress\n### Done\n- Read the old uploader and its seven callers.\n- Wrote the chunk table in src/chunks.rs; unit tests pass.\n\
    - Added the retry loop. It is not verified.\n### In Progress\n\
    - tests/resume.rs::cut_twice fails with 3 chunks instead of 4. The offset is taken before the flush.\n### Blocked\nnone\n\n\
    ## Key Decisions\n- Offsets are kept per chunk. A single offset was rejected, because parts finish out of order.\n\n\
    ## Tried and Failed\n- Locking the table: deadlock in finish().\n\n\
    ## Relevant Files\n- src/chunks.rs (modified)\n- src/uploader.rs (modified)\n- tests/resume.rs (created)\n\n\
    ## Next Steps\n1. Move the flush before line 88 of src/uploader.rs.\n2. Run cargo test --test resume.\n3. Ask about the limit of 16.\n\n\
    ## Critical Context\n- chunk size 8388608\n";

fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

#[test]
fn what_fits_stays_as_it_is() {
    assert_eq!(fitted(LONG, words(LONG), &words), LONG.trim());
}

#[test]
fn the_task_the_point_reached_and_the_next_step_come_first() {
    let small = fitted(LONG, 50, &words);
    assert_eq!(
        small,
        "## Goal\nMake uploads resume after a lost connection. […]\n## Progress\n### In Progress\n\
         - tests/resume.rs::cut_twice fails with 3 chunks instead of 4. The offset is taken before the flush.\n\
         ## Next Steps\n1. Move the flush before line 88 of src/uploader.rs. […]",
    );
    // With more room every section but the lists has its first words before a long one has its last.
    let larger = fitted(LONG, 115, &words);
    for kept in [
        "The last request was to fix the flaky test.",
        "\"never push to main\" (m4)",
        "- Added the retry loop. It is not verified.",
        "The offset is taken before the flush.",
        "- Offsets are kept per chunk.",
        "2. Run cargo test --test resume.",
    ] {
        assert!(larger.contains(kept), "{kept}: {larger}");
    }
    assert!(
        !larger.contains("## Relevant Files") && !larger.contains("none"),
        "{larger}"
    );
    // Of finished work the newest is kept, and the mark says that older lines are gone.
    assert!(larger.contains("### Done\n[…]\n"), "{larger}");
}

#[test]
fn bullets_keep_what_stands_below_them_and_code_stays_whole() {
    let text = "## Next Steps\n- Deploy, in this order:\n  - drain the queue\n  - stop the worker with the long name that nobody remembers\n\
                - Run this:\n```sh\nmake all\nmake check\n```\n";
    for room in 1..words(text) {
        let left = fitted(text, room, &words);
        assert!(words(&left) <= room, "{room}: {left}");
        assert!(!left.contains("  - ") || left.contains("- Deploy"), "{left}");
        assert_eq!(left.contains("make all"), left.contains("make check"), "{left}");
        assert_eq!(left.matches("```").count() % 2, 0, "{left}");
    }
}

#[test]
fn a_text_without_headings_or_stops_is_still_of_use() {
    let prose =
        "The parser drops the last byte. The fix is in read(). Nothing was tested yet. The next step is a test.";
    assert_eq!(
        fitted(prose, 12, &words),
        "The parser drops the last byte. The fix is in read(). […]"
    );
    let endless = "word ".repeat(400);
    assert!(words(&fitted(&endless, 60, &words)) <= 60);
}

proptest! {
    /// Nothing is made up and nothing is over the budget, whatever the text is.
    #[test]
    fn what_is_left_is_from_the_text_and_fits(text in "(## (Goal|Done|Next Steps|Other)\n|- [a-z]{1,6}\\. [a-z ]{1,20}\n|  - [a-z]{1,9}\n|```\n|none\n){1,30}", room in 1..60u64) {
        let left = fitted(&text, room, &words);
        prop_assert!(words(&left) <= room || left == text.trim(), "{}", left);
        for word in left.split_whitespace().filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase())) {
            prop_assert!(text.contains(word), "{} in {}", word, left);
        }
    }
}
