//! Whether what a model wrote may stand for what it replaces, and its answer without what may not.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::ledger::quote::Quoting;
use crate::summary::Stop;
use crate::summary::references::References;
use crate::summary::references::invented;
use crate::summary::said::Said;
use crate::summary::said::lines_of_person;
use crate::summary::sections::Heading;
use crate::summary::sections::Section;
use crate::summary::sections::Sections;
use crate::summary::sections::says_nothing;
use crate::summary::sections::unwrapped;
use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// What an answer is held against.
pub struct Expected<'a> {
    /// What must not be lost.
    pub references: &'a References,
    /// The summary that was to be updated.
    pub previous: Option<&'a str>,
    /// What no longer holds.
    pub quoting: &'a Quoting,
    /// What the person and tools said.
    pub said: &'a Said,
    /// Whether the source has an identifier.
    pub knows: &'a dyn Fn(&str) -> bool,
    /// Whether the ledger's sections stand beside it, with the person's words, files and errors.
    pub is_beside_ledger: bool,
    /// How long it was asked to be.
    pub most_tokens: u64,
    /// How long what it replaces is.
    pub replaced_tokens: u64,
    /// Counts tokens.
    pub count: &'a dyn Fn(&str) -> u64,
}

/// Shorter answers are no summaries, by the requirement.
const LEAST_CHARACTERS: usize = 100;
/// An answer may be this many hundredths of what was asked for: models count badly. A longer one is shortened.
const MOST_OVER: u64 = 150;
/// An answer that is this many times as long as it should be is no summary, unless it is short all the same: there models
/// are worst at counting.
const RUNAWAY: u64 = 4;
const NEVER_RUNAWAY: u64 = 4_000;
/// A short summary cannot name as much: one reference in so many tokens is asked for, about half of what models write.
const TOKENS_A_REFERENCE: u64 = 50;
/// That many any summary can name.
const LEAST_CRITICAL: usize = 5;
/// Beside the ledger, which shows them anyway and which the writer is told of, one reference in so many is enough to tell that an answer
/// is about this conversation.
const LEAST_BESIDE: usize = 8;
/// How many references a flaw lists.
const MOST_LISTED: usize = 40;

/// What is wrong with an answer. What makes it useless is fatal; the rest can be mended from the ledger.
pub fn check_answer(text: &str, stop: Stop, expected: &Expected<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let mut fatal = |kind, detail: String| flaws.push(Flaw::fatal(kind, None, detail));
    let answer = unwrapped(text);
    let characters = answer.chars().count();
    let sections = Sections::parse(text);
    match stop {
        Stop::End => {}
        Stop::Length => fatal(FlawKind::CutOff, "the answer ends at its limit".into()),
        Stop::Refusal => fatal(FlawKind::Refused, "the model refused".into()),
        Stop::ToolCall => fatal(FlawKind::ToolCall, "the model called a tool".into()),
    }
    if characters == 0 {
        fatal(FlawKind::Empty, "the answer is empty".into());
        return flaws;
    }
    if stop != Stop::Refusal && !sections.has_any() && is_refusal(answer) {
        fatal(FlawKind::Refused, "the answer is a refusal".into());
    }
    if characters < LEAST_CHARACTERS {
        fatal(FlawKind::TooShort, format!("{characters} characters are no summary"));
    }
    let tokens = (expected.count)(answer);
    let most = expected.most_tokens;
    let oversized = format!("{tokens} tokens, {most} were asked for");
    let is_runaway = tokens > most.saturating_mul(RUNAWAY).max(NEVER_RUNAWAY);
    if is_runaway {
        fatal(FlawKind::Oversized, oversized.clone());
    }
    if tokens >= expected.replaced_tokens {
        let replaced = expected.replaced_tokens;
        fatal(FlawKind::Inflated, format!("{tokens} tokens stand for {replaced}"));
    }
    if tokens > most_shown(most) && !is_runaway {
        flaws.push(Flaw::warning(FlawKind::Oversized, None, oversized));
    }
    check_references(answer, expected, &mut flaws);
    check_lines(&sections, expected, &mut flaws);
    flaws
}

/// How long an answer may be that was asked to have so many tokens, before it is shortened.
pub fn most_shown(asked_for: u64) -> u64 {
    asked_for.saturating_mul(MOST_OVER) / 100
}

fn check_references(answer: &str, expected: &Expected<'_>, flaws: &mut Vec<Flaw>) {
    let missing = expected.references.missing(answer);
    let most_critical = (expected.most_tokens / TOKENS_A_REFERENCE) as usize;
    // A story of a few lines beside the ledger may name any reference: one tells that it is about this conversation.
    let is_brief = expected.is_beside_ledger && most_critical < LEAST_BESIDE;
    let critical: Vec<_> = match is_brief {
        true => expected.references.list().iter().collect(),
        false => {
            let mut critical = expected.references.critical();
            critical.truncate(most_critical.max(LEAST_CRITICAL));
            critical
        }
    };
    let lacking: BTreeSet<&str> = missing.iter().map(|reference| &*reference.text).collect();
    let lost: Vec<&str> = critical
        .iter()
        .map(|reference| &*reference.text)
        .filter(|text| lacking.contains(text))
        .collect();
    let most_lost = match expected.is_beside_ledger {
        true if is_brief => critical.len().saturating_sub(1),
        true => critical.len() * (LEAST_BESIDE - 1) / LEAST_BESIDE,
        false => critical.len() / 2,
    };
    if lost.len() > most_lost {
        let detail = format!(
            "{} of {} critical references are missing: {}",
            lost.len(),
            critical.len(),
            listed(&lost)
        );
        flaws.push(Flaw::fatal(FlawKind::Unfaithful, None, detail));
    }
    let unnamed: BTreeSet<&str> = match expected.previous {
        Some(previous) => expected
            .references
            .missing(previous)
            .iter()
            .map(|one| &*one.text)
            .collect(),
        None => BTreeSet::new(),
    };
    let (earlier, new): (Vec<_>, Vec<_>) = missing
        .iter()
        .map(|reference| &*reference.text)
        .partition(|text| expected.previous.is_some() && !unnamed.contains(text));
    for (kind, texts) in [(FlawKind::Missing, new), (FlawKind::DroppedEarlier, earlier)] {
        if !texts.is_empty() {
            flaws.push(Flaw::warning(kind, None, listed(&texts)));
        }
    }
}

fn check_lines(sections: &Sections<'_>, expected: &Expected<'_>, flaws: &mut Vec<Flaw>) {
    let mut warn = |kind, detail: String| flaws.push(Flaw::warning(kind, None, detail));
    if !sections.has_any() {
        warn(FlawKind::NoSections, "none of the headings is there".into());
    }
    for section in sections.iter() {
        for Judged { line, kept, flaw } in judged(section, expected) {
            if let Some((kind, detail)) = flaw {
                warn(kind, detail);
            }
            let Some(kept) = kept else { continue };
            if is_a_tools_order(section, &kept, expected) {
                warn(FlawKind::Unsupported, line.trim().to_owned());
            }
            let names = invented(&kept, expected.knows);
            if !names.is_empty() {
                warn(FlawKind::Invented, names.join(", "));
            }
        }
    }
}

/// What came of looking at a line.
struct Judged<'a> {
    line: &'a str,
    /// What of it may stay.
    kept: Option<Cow<'a, str>>,
    /// What is wrong with the rest.
    flaw: Option<(FlawKind, String)>,
}

/// The lines of a section, each with what of it may stay: nothing where it shows what no longer holds, and no sentence that says
/// that the person said or wants what they did not.
fn judged<'a>(section: &Section<'a>, expected: &Expected<'_>) -> Vec<Judged<'a>> {
    let theirs = lines_of_person(section);
    let lines = section.lines.iter().zip(theirs);
    lines
        .map(|(line, is_theirs)| judged_line(line, is_theirs, expected))
        .collect()
}

fn judged_line<'a>(line: &'a str, is_theirs: bool, expected: &Expected<'_>) -> Judged<'a> {
    let judged = |kept, flaw| Judged { line, kept, flaw };
    if says_nothing(line) {
        return judged(Some(Cow::Borrowed(line)), None);
    }
    if expected.quoting.is_stale(line) || expected.said.is_corrected(line) {
        return judged(None, Some((FlawKind::Superseded, line.trim().to_owned())));
    }
    let forged = expected.said.unsupported(line, is_theirs);
    if forged.is_empty() {
        return judged(Some(Cow::Borrowed(line)), None);
    }
    let (mut kept, mut gone, mut from) = (String::new(), Vec::new(), 0);
    for range in forged {
        kept.push_str(&line[from..range.start]);
        gone.push(line[range.clone()].trim());
        from = range.end;
    }
    kept.push_str(&line[from..]);
    let is_left = kept.chars().any(char::is_alphabetic);
    judged(
        is_left.then(|| Cow::Owned(kept.trim_end().to_owned())),
        Some((FlawKind::Unsupported, gone.join(" "))),
    )
}

/// Whether a line tells what to do in the words of a tool's output. It may be a finding that matters or somebody's trap, so
/// it stays, with a remark.
fn is_a_tools_order(section: &Section<'_>, line: &str, expected: &Expected<'_>) -> bool {
    let orders = matches!(
        section.heading,
        Some(Heading::Goal | Heading::Decisions | Heading::NextSteps)
    );
    orders && !says_nothing(line) && expected.said.is_echo(line)
}

fn listed(texts: &[&str]) -> String {
    let mut list = texts[..texts.len().min(MOST_LISTED)].join(", ");
    if texts.len() > MOST_LISTED {
        list.push_str(&format!(" and {} more", texts.len() - MOST_LISTED));
    }
    list
}

/// The answer as it may be shown: without what stands around it, without lines that show what no longer holds or that put
/// words into the person's mouth, and with a remark where it names what nobody named. Never empty where the answer is not.
pub fn cleaned(text: &str, expected: &Expected<'_>) -> String {
    let sections = Sections::parse(text);
    let has_any = sections.has_any();
    let mut written: Vec<(Option<Heading>, String)> = Vec::new();
    let mut has_begun = false;
    for section in sections.iter() {
        has_begun = has_begun || section.heading.is_some();
        // What stands before the first heading is chatter.
        if has_any && !has_begun {
            continue;
        }
        let text = write_section(section, expected);
        let is_none = text.lines().skip(1).all(says_nothing);
        // "none", or nothing any more, is not worth its heading.
        if !has_any || !is_none || section.heading == Some(Heading::Progress) {
            written.push((section.heading, text));
        }
    }
    let mut out = String::with_capacity(text.len());
    for (place, (heading, text)) in written.iter().enumerate() {
        let next = written.get(place + 1).and_then(|(heading, _)| *heading);
        let heads_others = next.is_some_and(Heading::is_below_progress);
        if *heading != Some(Heading::Progress) || heads_others || !text.lines().skip(1).all(says_nothing) {
            out.push_str(text);
        }
    }
    let cleaned = out.trim();
    match cleaned
        .lines()
        .all(|line| line.trim_start().starts_with('#') || says_nothing(line))
    {
        true => unwrapped(text).to_owned(),
        false => cleaned.to_owned(),
    }
}

fn write_section(section: &Section<'_>, expected: &Expected<'_>) -> String {
    let mut out = String::new();
    match section.heading {
        Some(heading) => out.push_str(&heading.line()),
        None => out.push_str(section.title),
    }
    if !section.title.is_empty() {
        out.push('\n');
    }
    for Judged { kept, .. } in judged(section, expected) {
        let Some(line) = kept else { continue };
        out.push_str(line.trim_end());
        if is_a_tools_order(section, &line, expected) && !line.contains(NOT_ASKED) {
            out.push_str(&format!(" ({NOT_ASKED})"));
        }
        let names = invented(&line, expected.knows);
        if !names.is_empty() && !line.contains(NOT_SEEN) {
            out.push_str(&format!(" ({NOT_SEEN}: {})", names.join(", ")));
        }
        out.push('\n');
    }
    out
}

/// What stands behind a line that names what nobody named.
const NOT_SEEN: &str = "not seen in the conversation";

/// What stands behind a line that tells what to do in a tool's words.
const NOT_ASKED: &str = "words of a tool's output, not asked for by the user";

/// How models say that they will not, in lower case with straight apostrophes, one a line.
const REFUSALS: &str = include_str!("refusals.txt");
/// Longer texts explain something.
const LONGEST_REFUSAL: usize = 600;
/// A refusal says so at once.
const WITHIN: usize = 160;

/// Whether a short text says that its writer will not do what was asked.
fn is_refusal(text: &str) -> bool {
    if text.chars().nth(LONGEST_REFUSAL).is_some() {
        return false;
    }
    let opening: String = text.chars().take(WITHIN).collect();
    let opening = opening.to_lowercase().replace('’', "'");
    REFUSALS.lines().any(|words| opening.contains(words))
}

#[cfg(test)]
#[path = "fidelity_tests.rs"]
mod tests;
