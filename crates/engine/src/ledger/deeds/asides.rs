//! What is said beside calls that changes how their results are read: the agent that provokes a failure, the host that forks a
//! conversation.

use std::sync::LazyLock;

use regex::Regex;

use super::log_line::cut_at_word;

/// Bytes at each end of a text that are searched: what is said of a call stands right before or right behind it.
const NEAR: usize = 600;

/// Longest words that are quoted.
const QUOTE: usize = 90;

/// The words in which the agent calls a failure expected, a reproduction or a mutation.
pub(super) fn provoked(text: &str) -> Option<Box<str>> {
    let head = &text[..text.floor_char_boundary(NEAR.min(text.len()))];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(NEAR))..];
    [tail, head].into_iter().find_map(|near| {
        let found = PROVOKED.find(near)?;
        let ends = ['\n', '.', ';', '!', '?'];
        let start = near[..found.start()].rfind(ends).map_or(0, |at| at + 1);
        let end = near[found.end()..].find(ends).map_or(near.len(), |at| found.end() + at);
        let mut words = near[start..end].trim().trim_start_matches(['-', '*', '#', ' ']);
        if words.len() > QUOTE {
            // A long sentence is quoted from where it speaks of the failure.
            words = near[found.start()..end].trim();
        }
        Some(cut_at_word(&words.replace('"', "'"), QUOTE).into())
    })
}

static PROVOKED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i)\breproduc(?:e|es|ed|ing|tion)\b|\brepro\b|\btemporarily\b|\bmutation (?:test|check|proof|run)|\bmutat(?:e|ing) the\b|\bon purpose\b|\bdeliberate(?:ly)?\b|\bintentional(?:ly)?\b",
        r"|\b(?:fails?|failed|failure|failing|errors?|errored|rejects?|rejected)\b[^.\n]{0,30}\bas (?:expected|intended|it should)\b|\bas expected\b",
        r"|\b(?:expected|meant|supposed|should|must) (?:to )?(?:now )?fail\b|\bexpected (?:failure|error|to (?:error|be rejected))|\b(?:confirm|verify|prove|see|check|show)(?:s|ing)? (?:that )?(?:the |it |this )?(?:new )?(?:tests? )?(?:it )?(?:really |actually |now )?fails?\b",
        r"|\b(?:negative (?:test|control|case)|usage (?:check|error)|provoke|simulate)\b",
        r"|\b(?:test|check|exercis|trigger|hit|cover)(?:s|e|es|ing)? (?:the |this )?(?:error|failure) path\b",
        r"|воспроизв|намеренно|как и ожидалось|absichtlich|wie erwartet|reproduzier|volontairement|a propósito",
    );
    Regex::new(pattern).expect("the pattern is well formed, which a test shows")
});

/// Whether the host tells an agent that what stands before is the history of another one: such a notice opens the text it stands in.
pub(super) fn is_fork(text: &str) -> bool {
    const NOTICES: [&str; 3] = [
        "You are the newly spawned agent",
        "The prior conversation history was forked from your parent",
        "You are a forked",
    ];
    NOTICES.iter().any(|notice| text.trim_start().starts_with(notice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_is_meant_is_told_in_the_agents_words() {
        for (text, words) in [
            (
                "Good. Now temporarily re-arm the cleanup, confirm the test fails, then restore.",
                "Now temporarily re-arm the cleanup, confirm the test fails, then restore",
            ),
            ("Let me reproduce the bug first:", "Let me reproduce the bug first:"),
            ("It fails as expected.", "It fails as expected"),
        ] {
            assert_eq!(provoked(text).as_deref(), Some(words));
        }
        for text in [
            "Let me run the tests.",
            "That failed, fixing it.",
            "I expected 3.",
            "This exposed a regression: the delete-failure path, or the test is order-sensitive.",
        ] {
            assert_eq!(provoked(text), None, "{text}");
        }
        assert!(is_fork(
            "You are the newly spawned agent. The prior conversation history was forked from your parent agent."
        ));
        assert!(!is_fork("spawned agents are done"));
    }
}
