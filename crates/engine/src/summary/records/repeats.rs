//! What need not be read twice: repeated outputs, the same call over and over, and what the previous summary says.

use std::collections::HashMap;
use std::collections::HashSet;

use crate::decide::marker;
use crate::transcript::Author;

use super::arguments;
use super::raw_part::RawPart;
use super::raw_part::What;

/// Shorter outputs are as short as the line that would stand for them.
const LEAST_REPEAT: usize = 200;
/// Shorter lines are braces and blank words that any text holds.
const LEAST_LINE: usize = 40;

/// What becomes of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// The last message that it stands for.
    pub last: u32,
    /// How many it stands for.
    pub times: u32,
    /// The message whose output is the same.
    pub same_as: Option<u32>,
    /// Whether it is a summary whose content the previous summary holds.
    pub is_old_summary: bool,
    /// Whether an earlier record stands for it.
    pub is_gone: bool,
}

impl Fate {
    /// Whether anything of it is not written as it is.
    pub(super) fn is_collapsed(self) -> bool {
        self.is_gone || self.is_short()
    }

    /// Whether one line stands for it.
    pub(super) fn is_short(self) -> bool {
        self.same_as.is_some() || self.is_old_summary
    }
}

/// What becomes of every record.
pub(super) fn fates(raws: &[RawPart<'_>], has_previous: bool) -> Vec<Fate> {
    let mut fates: Vec<Fate> = raws
        .iter()
        .map(|raw| Fate {
            last: raw.number,
            times: 1,
            is_old_summary: has_previous && is_summary(raw),
            ..Fate::default()
        })
        .collect();
    collapse_runs(raws, &mut fates);
    let mut newest: HashMap<&str, u32> = HashMap::new();
    for (raw, fate) in raws.iter().zip(&mut fates).rev() {
        let What::Result { text, .. } = &raw.what else { continue };
        if fate.is_gone || text.len() < LEAST_REPEAT || text.chars().nth(LEAST_REPEAT - 1).is_none() {
            continue;
        }
        match newest.get(&**text) {
            Some(number) => fate.same_as = Some(*number),
            None => {
                newest.insert(text, raw.number);
            }
        }
    }
    fates
}

fn is_summary(raw: &RawPart<'_>) -> bool {
    match &raw.what {
        What::Text(author, text) => *author == Author::Summary || marker::opens_block(text),
        What::Call(_) | What::Result { .. } | What::Media(..) => false,
    }
}

/// The same call with the same result, one after the other: the first stands for all.
fn collapse_runs(raws: &[RawPart<'_>], fates: &mut [Fate]) {
    let mut at = 0;
    while at + 1 < raws.len() {
        let mut next = at + 2;
        while is_same_step(raws, at, next) {
            for place in 0..2 {
                fates[next + place].is_gone = true;
                fates[at + place].times += 1;
                fates[at + place].last = raws[next + place].number;
            }
            next += 2;
        }
        at = if next > at + 2 { next } else { at + 1 };
    }
}

/// Whether two steps are the same call with the same result.
fn is_same_step(raws: &[RawPart<'_>], one: usize, other: usize) -> bool {
    let (Some(first), Some(second)) = (raws.get(one..one + 2), raws.get(other..other + 2)) else {
        return false;
    };
    match (&first[0].what, &first[1].what, &second[0].what, &second[1].what) {
        (
            What::Call(call),
            What::Result { result, text, .. },
            What::Call(again),
            What::Result {
                result: answer,
                text: other,
                ..
            },
        ) => {
            call.id == result.id
                && again.id == answer.id
                && call.name == again.name
                && call.input == again.input
                && result.outcome == answer.outcome
                && text == other
        }
        _ => false,
    }
}

/// The lines that the previous summary holds.
#[derive(Debug, Default)]
pub(super) struct Known {
    lines: HashSet<Box<str>>,
}

/// The lines of a summary that are long enough to be told from others: whole, without the mark of a list, and what
/// stands between backticks.
pub(super) fn known_lines(summary: &str) -> Known {
    let mut lines: HashSet<Box<str>> = HashSet::new();
    let mut learn = |line: &str| {
        let line = line.trim();
        if line.chars().nth(LEAST_LINE - 1).is_some() {
            lines.insert(line.into());
        }
    };
    for line in summary.lines() {
        learn(line);
        let bare = line.trim_start().trim_start_matches(['-', '*', '>', '|', ' ']);
        learn(bare);
        let number = bare.trim_start_matches(|letter: char| letter.is_ascii_digit());
        if let Some(item) = number.strip_prefix(['.', ')']) {
            learn(item);
        }
        for (place, quoted) in line.split('`').enumerate() {
            if place % 2 == 1 {
                learn(quoted);
            }
        }
    }
    Known { lines }
}

impl Known {
    /// The text without lines that the summary holds, and a note of how many they are; `None` when it holds none.
    pub(super) fn without(&self, text: &str) -> Option<String> {
        if self.lines.is_empty() || arguments::is_json(text) {
            return None;
        }
        let is_known = |line: &&str| line.len() >= LEAST_LINE && self.lines.contains(line.trim());
        let left = text.lines().filter(is_known).count();
        if left == 0 {
            return None;
        }
        let mut news = String::with_capacity(text.len());
        for line in text.lines().filter(|line| !is_known(line)) {
            news.push_str(line);
            news.push('\n');
        }
        let noun = if left == 1 { "line" } else { "lines" };
        news.push_str(&format!("({left} {noun} left out that the previous summary has)"));
        Some(news)
    }
}

/// From how many equal lines in a row on one stands for all; two may mean something.
const LEAST_RUN: usize = 3;

/// The text with runs of equal lines as one line and their number; `None` when it has none.
pub(super) fn folded(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut has_run = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut times = 1;
        while lines.next_if(|next| *next == line).is_some() {
            times += 1;
        }
        let is_run = times >= LEAST_RUN && !line.trim().is_empty();
        has_run = has_run || is_run;
        for _ in 0..if is_run { 1 } else { times } {
            out.push_str(line);
            out.push('\n');
        }
        if is_run {
            out.truncate(out.len() - 1);
            out.push_str(&format!(" (×{times})\n"));
        }
    }
    if !has_run || arguments::is_json(text) {
        return None;
    }
    out.truncate(out.trim_end().len());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_in_a_row_are_one() {
        assert_eq!(folded("a\nb\nb\nb\nc").as_deref(), Some("a\nb (×3)\nc"));
        assert_eq!(folded("a\nb\nb\nc\n\n\n\nd"), None);
        assert_eq!(folded("[\n1,\n1,\n1,\n1]"), None);
    }

    #[test]
    fn lines_of_a_summary_are_known_in_every_dress() {
        let line = "a line that is long enough to be told from others";
        for summary in [
            line.to_owned(),
            format!("  - {line}"),
            format!("3. {line}"),
            format!("it said `{line}` twice"),
        ] {
            let known = known_lines(&summary);
            assert_eq!(
                known.without(&format!("x\n  {line}\ny")).as_deref(),
                Some("x\ny\n(1 line left out that the previous summary has)"),
                "{summary}"
            );
        }
        assert_eq!(known_lines("short").without("short\nshort"), None);
    }
}
