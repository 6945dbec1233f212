//! The last steps before the tail, newest in most detail: what the agent said, what it called, and what came of it.
//!
//! This is the exact point that the work has reached. Every line is the agent's words, a call with its telling arguments, or telling
//! lines of a result; bodies of files that were only read are not copied, for they can be read again.

use std::collections::HashMap;
use std::collections::HashSet;

use crate::decide::Deed;
use crate::decide::asked;
use crate::decide::changed_paths;
use crate::decide::cut;
use crate::decide::deed_of_call;
use crate::json::Object;
use crate::ledger::deeds::viewing::Shows;
use crate::ledger::deeds::viewing::shows;
use crate::ledger::quote::GUARD;
use crate::ledger::quote::flat;
use crate::ledger::source_mark::source;
use crate::ledger::statements::sentences::split;
use crate::shrink::ExcerptKind;
use crate::shrink::excerpt;
use crate::transcript::Author;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

/// How much is shown of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StepDetail {
    /// Tokens of the agent's words.
    words: u64,
    /// Characters of a call's arguments.
    arguments: usize,
    /// Lines that an edit put in.
    edited: usize,
    /// Telling lines of a result.
    lines: usize,
}

/// Details from the newest steps to the oldest, each with the percentage of the budget that the steps up to it may fill. The shares
/// are those of the sketch that agents continued best from: half for where the work stands, the rest for how it got there.
const DETAILS: [(u64, StepDetail); 3] = [
    (
        50,
        StepDetail {
            words: 200,
            arguments: 320,
            edited: 14,
            lines: 8,
        },
    ),
    (
        80,
        StepDetail {
            words: 60,
            arguments: 160,
            edited: 3,
            lines: 3,
        },
    ),
    (
        100,
        StepDetail {
            words: 24,
            arguments: 90,
            edited: 0,
            lines: 1,
        },
    ),
];
/// Characters of a shown line of output or of an edit.
const LINE_CHARACTERS: usize = 180;
/// Lines of a listing: where more are wanted, it can be had again.
const LISTED_LINES: usize = 5;
/// So many steps in a row that do not fit end the search.
const MISSES: usize = 3;

/// The newest of these messages as lines, oldest first, within a budget. Messages come with their numbers, oldest first.
pub fn last_steps(messages: &[(u32, &Message)], budget: u64, count: &dyn Fn(&str) -> u64) -> String {
    let mut results: HashMap<&CallId, (u32, &ToolResult)> = HashMap::new();
    let mut steps: Vec<String> = Vec::new();
    let mut used = 0;
    let mut misses = 0;
    for (number, message) in messages.iter().rev() {
        for result in message.results() {
            results.insert(&result.id, (*number, result));
        }
        if used * 20 >= budget * 19 || misses >= MISSES {
            break;
        }
        let share = used * 100 / budget.max(1);
        let details = DETAILS
            .iter()
            .filter(|(until, _)| share < *until)
            .map(|(_, detail)| *detail);
        let mut is_shown = false;
        for detail in details {
            let step = step_lines(*number, message, &results, detail, count);
            if step.is_empty() {
                is_shown = true;
                break;
            }
            let cost = count(&step) + 1;
            if used + cost <= budget {
                used += cost;
                steps.push(step);
                is_shown = true;
                break;
            }
        }
        misses = if is_shown { 0 } else { misses + 1 };
    }
    steps.reverse();
    steps.concat()
}

fn step_lines(
    number: u32,
    message: &Message,
    results: &HashMap<&CallId, (u32, &ToolResult)>,
    detail: StepDetail,
    count: &dyn Fn(&str) -> u64,
) -> String {
    let author = message.author;
    // Talk stands in the conversation; a step is a message that calls something.
    if author != Author::Assistant || message.calls().next().is_none() {
        return String::new();
    }
    let mut lines: Vec<String> = Vec::new();
    let mut words = String::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => {
                words.push_str(&shortened_words(text, detail.words, count));
                words.push(' ');
            }
            Part::Call(call) => call_lines(call, results.get(&call.id).copied(), detail, &mut lines),
            Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    if words.trim().is_empty() && lines.is_empty() {
        return String::new();
    }
    let mut step = format!("- {} {}", source(author, number, number), words.trim());
    step.truncate(step.trim_end().len());
    step.push('\n');
    for line in lines {
        step.push_str("  ");
        step.push_str(&line);
        step.push('\n');
    }
    step
}

/// The beginning and the end of the agent's words: what it saw, and what it was about to do.
fn shortened_words(text: &str, tokens: u64, count: &dyn Fn(&str) -> u64) -> String {
    let whole = flat(text);
    if count(&whole) <= tokens {
        return whole;
    }
    let sentences: Vec<String> = split(text).into_iter().map(|range| flat(&text[range])).collect();
    let costs: Vec<u64> = sentences.iter().map(|sentence| count(sentence) + 1).collect();
    let mut is_kept = vec![false; sentences.len()];
    let mut used = 0;
    let last = (0..sentences.len()).rev().take(sentences.len().div_ceil(2));
    let first = 0..sentences.len() / 2;
    // In turns from both ends.
    let mut order: Vec<usize> = Vec::with_capacity(sentences.len());
    let (mut last, mut first) = (last, first);
    loop {
        let pair = [last.next(), first.next()];
        if pair == [None, None] {
            break;
        }
        order.extend(pair.into_iter().flatten());
    }
    for index in order {
        if used + costs[index] > tokens {
            break;
        }
        used += costs[index];
        is_kept[index] = true;
    }
    if used == 0 {
        return cut(&whole, tokens as usize * 4);
    }
    let mut shown = String::new();
    let mut gap = false;
    for (sentence, kept) in sentences.iter().zip(is_kept) {
        if !kept {
            gap = true;
            continue;
        }
        if !shown.is_empty() {
            shown.push(' ');
        }
        if std::mem::take(&mut gap) {
            shown.push_str("[…] ");
        }
        shown.push_str(sentence);
    }
    shown
}

fn call_lines(call: &ToolCall, result: Option<(u32, &ToolResult)>, detail: StepDetail, lines: &mut Vec<String>) {
    let deed = deed_of_call(call);
    let name = flat(&call.name);
    match deed {
        // The list stands under its own heading, as it was left last.
        Deed::Plan => return,
        Deed::Edit | Deed::Write => {
            let paths: Vec<String> = changed_paths(call).iter().map(|path| flat(path)).collect();
            let what = match paths.is_empty() {
                true => flat(&asked(call, detail.arguments)),
                false => paths.join(", "),
            };
            lines.push(format!("{name} {what}"));
            let edit = EditedLines::of(call);
            let added = edit.added.iter().map(|line| ('+', line));
            // An edit that only takes lines out is told by those.
            let removed = edit
                .removed
                .iter()
                .map(|line| ('-', line))
                .filter(|_| edit.added.is_empty());
            for (sign, line) in added.chain(removed).take(detail.edited) {
                lines.push(format!("  {sign} {}", cut(&flat(line), LINE_CHARACTERS)));
            }
        }
        _ => lines.push(format!("{name}: {}", flat(&asked(call, detail.arguments)))),
    }
    let Some((_, result)) = result else {
        lines.push("→ no result seen".to_owned());
        return;
    };
    let output = result_text(result);
    let failed = result.outcome == ToolOutcome::Failure;
    let shown = shows(call);
    let is_read = shown == Shows::Files || matches!(deed, Deed::Edit | Deed::Write);
    // What was read stands in its file, what was written in the call.
    if is_read && !failed {
        return;
    }
    let told = match shown == Shows::Listing && !failed {
        true => excerpt(&output, ExcerptKind::Opening, detail.lines.min(LISTED_LINES)),
        false => excerpt(&output, ExcerptKind::Telling, detail.lines),
    };
    let says_nothing = told.lines.is_empty() && told.left_out == 0;
    // A search that finds nothing ends like this; whether anything failed is not known.
    if failed && shown == Shows::Listing && says_nothing && told.exit_code == Some(1) {
        lines.push("→ (no output), exit 1".to_owned());
        return;
    }
    if failed {
        lines.push(match told.exit_code {
            Some(code) if code != 0 => format!("→ failed, exit {code}"),
            Some(_) | None => "→ failed".to_owned(),
        });
    }
    // Whatever it had printed by then, how it ended is not known.
    let is_running = runs_on(&output);
    if is_running {
        lines.push("→ still running".to_owned());
    }
    let mut shown: Vec<String> = told
        .lines
        .iter()
        .map(|line| flat(line))
        .filter(|line| !line.is_empty())
        .map(|line| match reads_as_mark(&line) {
            true => format!("{GUARD}{line}"),
            false => line,
        })
        .collect();
    match shown.last_mut() {
        // A reader takes what is shown for all there is unless told otherwise.
        Some(last) if told.left_out > 0 => last.push_str(&format!(" (+{} lines)", told.left_out)),
        Some(_) => {}
        None if is_running => {}
        None if told.left_out == 0 => lines.push("→ (no output)".to_owned()),
        None => lines.push(format!("→ (+{} lines)", told.left_out)),
    }
    lines.extend(shown.into_iter().map(|line| format!("→ {line}")));
}

/// Whether a line of output would read as what a block says of a call.
fn reads_as_mark(line: &str) -> bool {
    line.starts_with("(no output)")
        || line == "still running"
        || line == "no result seen"
        || line == "failed"
        || line.starts_with("failed, exit ")
        || line.ends_with(" lines)") && line.contains("(+")
}

/// Whether a host says that a command was still running when its result came.
fn runs_on(output: &str) -> bool {
    const MARKS: [&str; 3] = [
        "process running with session id",
        "command running in background with id",
        "running in the background",
    ];
    let head = output[..output.floor_char_boundary(400.min(output.len()))].to_lowercase();
    MARKS.iter().any(|mark| head.contains(mark))
}

fn result_text(result: &ToolResult) -> String {
    let texts = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Media(_) | Content::Opaque(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The lines that an edit put in and took out: of its new and its old text those that the other one lacks, or the marked lines of
/// a patch.
#[derive(Default)]
struct EditedLines {
    added: Vec<String>,
    removed: Vec<String>,
}

impl EditedLines {
    fn of(call: &ToolCall) -> Self {
        const NEW: [&str; 8] = [
            "new_string",
            "new_str",
            "newText",
            "new_text",
            "replacement",
            "insert_text",
            "content",
            "file_text",
        ];
        const OLD: [&str; 5] = ["old_string", "old_str", "oldText", "old_text", "search"];
        const PATCH: [&str; 4] = ["patch", "input", "diff", "command"];
        let object = match &call.input {
            Input::Text(text) => return Self::of_patch(text),
            Input::Json(json) => Object::parse(json).unwrap_or_default(),
        };
        let first = |keys: &[&str]| keys.iter().find_map(|key| object.text(key));
        if let Some(new) = first(&NEW) {
            let old = first(&OLD).unwrap_or_default();
            return Self {
                added: lines_lacking(&new, &old),
                removed: lines_lacking(&old, &new),
            };
        }
        first(&PATCH).map(|patch| Self::of_patch(&patch)).unwrap_or_default()
    }

    fn of_patch(patch: &str) -> Self {
        let marked = |mark: char, header: &str| -> Vec<String> {
            let lines = patch.lines().filter(|line| !line.starts_with(header));
            lines
                .filter_map(|line| line.strip_prefix(mark))
                .filter(|line| !line.trim().is_empty())
                .map(str::to_owned)
                .collect()
        };
        Self {
            added: marked('+', "+++"),
            removed: marked('-', "---"),
        }
    }
}

/// The lines of a text that another one does not have.
fn lines_lacking(text: &str, other: &str) -> Vec<String> {
    let known: HashSet<&str> = other.lines().map(str::trim).collect();
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !known.contains(line.trim()));
    lines.map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
