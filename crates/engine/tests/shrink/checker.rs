//! An independent judge of a shrunk output, with patterns of its own.

use std::collections::HashSet;
use std::sync::LazyLock;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::shrink::ContentKind;
use mainstay_engine::shrink::Goal;
use mainstay_engine::shrink::Shrunk;
use mainstay_engine::shrink::kind_of;
use mainstay_engine::shrink::shrink;
use regex::Regex;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns of this file are well formed")
}

/// Errors and failing tests where tools report on a run.
static REPORTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?:^|\s)(?:error|Error|fatal|panic)(?:\[\w+\]| TS\d+)?: \S|\bERROR\b|\bFAILED\b|\bFATAL\b|^\s*--- FAIL: |panicked at |^Traceback \(most|^\s*(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): ",
        r"|^FAIL\s|^not ok \d|^\s*[✕✗×] \S|^\s*● .+ › |npm ERR! |^make.*\*\*\* |: error: |\*\*\*Failed|<<< FAILURE!|^Caused by: |^Segmentation fault",
    ))
});

/// The same where text speaks of errors without having any: code, hits, prose, rows.
static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:error|Error|fatal)(?:\[\w+\])?: \S|^FAILED \S+[^;{(]*$|^panic: |^Traceback \(most|^thread '.+' panicked at|^[A-Z]\w*(?:Error|Exception): \S",
    )
});

/// Lines that only sound like it.
static EXCUSED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\bno errors?\b|\b0 (?:errors?|failed|failures)\b|errors?[:=] ?0\b|\.\.\. ok$|^\s*[✓✔√]|--- PASS|\bPASSED\b|⟦…",
    )
});

/// Numbers, hexadecimal ids and white space masked: lines that are equal then are repeats of one message.
fn mask(line: &str) -> String {
    static ID: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:0x)?[0-9a-fA-F]*\d[0-9a-fA-F]*\b|[a-fA-F]{8,}|\d+"));
    static SPACE: LazyLock<Regex> = LazyLock::new(|| regex(r"\s+"));
    let masked = ID.replace_all(line.trim(), "0");
    let joined = SPACE.replace_all(&masked, " ");
    joined.replace("0.0", "0").replace("-0", "0")
}

/// Lines longer than this may be cut.
const CUT: usize = 2000;

fn reports(kind: ContentKind, text: &str) -> Vec<&str> {
    let pattern = match kind {
        ContentKind::TestLog | ContentKind::BuildLog | ContentKind::StackTrace | ContentKind::Log => &*REPORTED,
        ContentKind::Diff
        | ContentKind::SearchHits
        | ContentKind::Listing
        | ContentKind::Table
        | ContentKind::Code
        | ContentKind::Text => &*ANNOUNCED,
        ContentKind::Json | ContentKind::JsonLines | ContentKind::Html | ContentKind::Base64 => return Vec::new(),
    };
    let matching = text
        .lines()
        .filter(|line| pattern.is_match(line) && !EXCUSED.is_match(line));
    matching.filter(|line| line.len() <= CUT).collect()
}

/// Error lines of the input that are neither in the result nor repeats of one that is.
fn lost<'t>(kind: ContentKind, before: &'t str, after: &str) -> Vec<&'t str> {
    let shown: HashSet<String> = after.lines().map(mask).collect();
    reports(kind, before)
        .into_iter()
        .filter(|line| !shown.contains(&mask(line)))
        .collect()
}

fn tokens(text: &str) -> u64 {
    Family::O200k.count(text, TextKind::Output)
}

/// Shrinks and judges. What comes back has passed.
pub fn judge(text: &str, most_bytes: usize) -> Option<Shrunk> {
    let goal = Goal { most_bytes };
    let small = shrink(text, goal)?;
    assert_eq!(Some(&small), shrink(text, goal).as_ref(), "not the same twice");
    assert!(
        small.text.len() < text.len(),
        "not smaller: {} -> {}",
        text.len(),
        small.text.len()
    );
    assert!(tokens(&small.text) < tokens(text), "not fewer tokens");
    assert_eq!(small.dropped_bytes, text.len() - small.text.len());
    assert_eq!(small.kind, kind_of(text));
    let plain = !text.contains(['\x1b', '\r', '\x08']);
    if plain {
        let lost = lost(small.kind, text, &small.text);
        assert!(lost.is_empty(), "{:?} lost {lost:#?}\nin\n{}", small.kind, small.text);
    }
    if small.kind == ContentKind::Json && serde_json::from_str::<serde_json::Value>(text).is_ok() {
        let value = serde_json::from_str::<serde_json::Value>(&small.text);
        assert!(value.is_ok(), "no longer JSON: {}", small.text);
    }
    judge_again(&small, goal);
    Some(small)
}

/// A shrunk text that is shrunk again, also harder, does not grow and keeps its errors.
fn judge_again(small: &Shrunk, goal: Goal) {
    for most_bytes in [goal.most_bytes, goal.most_bytes / 2] {
        let Some(again) = shrink(&small.text, Goal { most_bytes }) else {
            continue;
        };
        assert!(again.text.len() < small.text.len());
        let lost = lost(again.kind, &small.text, &again.text);
        assert!(
            lost.is_empty(),
            "again, {:?} lost {lost:#?}\nin\n{}",
            again.kind,
            again.text
        );
    }
}
