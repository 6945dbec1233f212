//! Source code: imports, signatures and what opens the file; bodies while there is room.
//!
//! Line numbers that a reading tool put before lines (`12|`, `12→`, `12<tab>`, `12:`) are looked through and kept, so that
//! a gap can be read again by its numbers. A line that raises an error is worth more than its neighbours, but is no
//! error: only what looks like the report of one must stay.

use std::sync::LazyLock;

use regex::Regex;

use super::pick::Line;
use super::pick::MUST;
use super::signals;
use super::signals::pattern;

/// The number before a line, as reading tools print it.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s{0,8}(\d{1,7})(?:\t|→|\||: ?|│| \| | )"));

/// Lines at the top of a file that say what it is for.
const OPENING: usize = 5;

/// Imports that come before the rest of them.
const IMPORTS: usize = 12;

/// Whether the lines are a file shown with line numbers: nearly all have one, and most follow their predecessor.
pub(super) fn is_numbered_view(lines: &[&str]) -> bool {
    let numbers: Vec<Option<u64>> = lines.iter().map(|line| number(line)).collect();
    let numbered = numbers.iter().flatten().count();
    let follows = |pair: &[Option<u64>]| matches!(pair, [Some(one), Some(next)] if *next > *one && next - one <= 3);
    let following = numbers.windows(2).filter(|pair| follows(pair)).count();
    numbered >= 3 && numbered * 100 >= lines.len() * 60 && following * 100 >= numbered * 80
}

fn number(line: &str) -> Option<u64> {
    NUMBER.captures(line)?.get(1)?.as_str().parse().ok()
}

/// The line without its number.
fn bare(line: &str) -> &str {
    NUMBER.find(line).map_or(line, |found| &line[found.end()..])
}

/// The line without the number that a reading tool put before it. A space alone is no such number: `2 passed` is a count.
pub(super) fn bare_view(line: &str) -> &str {
    match NUMBER.find(line) {
        Some(found) if found.as_str().ends_with(['\t', '→', '|', '│']) => &line[found.end()..],
        _ => line,
    }
}

/// Whether the lines are source code. A view with numbers needs fewer signs, for a tool showed a file.
pub(super) fn is_code(lines: &[&str], is_view: bool) -> bool {
    let signs = lines
        .iter()
        .map(|line| if is_view { bare(line) } else { line })
        .filter(|line| is_sign(line))
        .count();
    let declared = lines
        .iter()
        .map(|line| if is_view { bare(line) } else { line })
        .filter(|line| is_signature(line))
        .count();
    let percent = if is_view { 20 } else { 35 };
    lines.len() >= 3 && signs * 100 >= lines.len() * percent || declared >= 3 && declared * 100 >= lines.len() * 8
}

/// What lines of code end or begin with.
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"[;{}]\s*$|^\s*[})\]]+[,;)]*\s*$|^\s*(?://|/\*|\* |\*/|#include|#define|#\[|@\w+)|[\w)\]]\s*(?::=|\+=|==|!=|&&|\|\||=>|->)\s*\S|\)\s*:\s*$|^\s*(?:return|if|elif|else|for|while|try|except|case|switch|match)\b.*[:{(]?",
        r"|^\s*(?:let|const|var|val|self\.|this\.)\s*\w+.*=|^\s+\w+(?:\.\w+)*\(.*\),?$|^\s*[\w.]+\s=\s\S",
    ))
});

fn is_sign(line: &str) -> bool {
    SIGN.is_match(line) || is_signature(line) || is_import(line)
}

/// The signature of a function, a type, a module, a test.
static SIGNATURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*(?:pub(?:\([^)]*\))?\s+|export\s+|default\s+|async\s+|static\s+|final\s+|abstract\s+|public\s+|private\s+|protected\s+|internal\s+|override\s+|virtual\s+|inline\s+|extern\s+|unsafe\s+|const\s+|partial\s+|sealed\s+|data\s+|open\s+|suspend\s+|declare\s+|readonly\s+)*",
        r"(?:fn|def|class|struct|enum|trait|impl|interface|func|fun|function\*?|module|mod|namespace|type|union|macro_rules!|protocol|extension|object|record|defmodule|defp?|sub|proc|package|@interface|@implementation)\b[\s<({!]*[\w$~:<>*.\[(]",
        r"|^\s*(?:public|private|protected|internal)\s+(?:[\w<>\[\],.?]+\s+)+\w+\s*\(",
        r"|^(?:export\s+)?(?:const|let|var)\s+\w+(?:\s*:\s*[^=]+)?\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*(?::\s*[^=]+)?=>",
        r"|^(?:[A-Za-z_][\w:<>*&\s]*\s[*&]?)[A-Za-z_]\w*\([^;]*\)\s*(?:const\s*)?\{?$",
        r"|^\s*(?:describe|it|test|context)(?:\.\w+)?\(\s*['\x22`]|^(?:CREATE|ALTER|DROP) (?:TABLE|VIEW|INDEX|FUNCTION)|^\s*(?:async\s+)?(?:constructor|get|set)?\s*\w+\([^)]*\)(?:\s*:\s*[\w<>\[\]| ]+)?\s*\{$",
    ))
});

/// Words that open a statement and, with parentheses and a brace, look like a method.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:\}?\s*else\b|if|for|while|switch|catch|return|match|elif|with|do|try|foreach|when|using|await|throw|new|case|assert)\b",
    )
});

fn is_signature(line: &str) -> bool {
    SIGNATURE.is_match(line) && !STATEMENT.is_match(line)
}

static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:pub )?(?:import|from|use|using|#include|require|include|package|mod|extern crate|const \w+ = require|@import|export \* from)\b",
    )
});

fn is_import(line: &str) -> bool {
    IMPORT.is_match(line)
}

/// Constants and fields at the outermost level: they hold the values.
static CONSTANT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:export |pub(?:\([^)]*\))? |public |private |static |final )*(?:const|static|let|var|val|define|type)\b|^[A-Z][A-Z0-9_]{2,}\s*[:=]|^#define |^\w+\s*=\s",
    )
});

/// What looks like the report of an error rather than code about one.
static REPORTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\S+:\d+(?::\d+)?: ?|- )?(?i:error|fatal|panic)(?:\[\w+\])?: \S|^(?:ERROR|FATAL|FAILED|ERRORS)\b[^()=;]*$|^Traceback |^(?:\w+\.)*[A-Z]\w*(?:Error|Exception): \S|^- [EFW]\d{3} |^thread '.+' panicked at|panicked at \S+:\d+:\d+:?$",
    )
});

static RAISES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:raise|throw|panic!?|bail!|fatal|abort|unreachable!?|reject|Errorf|errors\.New|exit|Fatalf?|assert\w*!?)\b",
    )
});

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    let mut imports = 0;
    let mut opening = 0;
    let lines = text.lines().map(|line| {
        let code = bare(line);
        let says = !code.trim().is_empty();
        if REPORTED.is_match(line) || REPORTED.is_match(code) || is_exit(line) {
            return Line::new(line, MUST, "");
        }
        opening += usize::from(says);
        let rank = if opening <= OPENING && says || is_signature(code) {
            1
        } else if is_import(code) {
            imports += 1;
            if imports <= IMPORTS { 2 } else { 6 }
        } else if CONSTANT.is_match(code) {
            3
        } else if RAISES.is_match(code) || signals::is_mention(code) {
            4
        } else if is_comment(code) {
            5
        } else {
            6
        };
        Line::new(line, rank, "")
    });
    lines.collect()
}

/// A wrapper's word on how the reading command ended.
fn is_exit(line: &str) -> bool {
    line.len() < 200 && line.starts_with("Process exited with")
}

fn is_comment(code: &str) -> bool {
    let code = code.trim_start();
    ["//", "#", "/*", "*", "\"\"\"", "--", "'''"]
        .iter()
        .any(|mark| code.starts_with(mark))
}
