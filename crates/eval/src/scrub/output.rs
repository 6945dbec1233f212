//! Long outputs of tools: their beginning and end, and where they hold facts that are to be kept, those.

/// How much stands around a fact that is kept, in characters: a line of a terminal.
const AROUND: usize = 80;

/// How many facts are kept apart from beginning and end, so that an output stays within its limit.
const MOST_KEPT: usize = 8;

/// The longest note on what is left out, in characters, with numbers of any size.
const NOTE: usize = 60;

/// Shortens a text to at most this many characters; what fits stays as it is.
pub(super) fn shorten(text: &str, most: usize, facts: &[String]) -> Option<String> {
    // Characters are counted only where bytes leave a doubt.
    if text.len() <= most {
        return None;
    }
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let total = starts.len() - 1;
    if total <= most {
        return None;
    }
    let windows = windows(text, &starts, facts, most);
    let spent: usize = windows.iter().map(|(from, to)| to - from + NOTE).sum();
    let room = most.saturating_sub(spent + NOTE);
    let mut pieces = vec![(0, room * 2 / 3)];
    pieces.extend(windows);
    pieces.push((total - room / 3, total));
    pieces.sort_unstable();
    let mut out = String::new();
    let mut done = 0;
    for (from, to) in pieces {
        let from = from.max(done);
        if to <= from {
            continue;
        }
        if from > done {
            out.push_str(&format!("\n[… {} of {total} characters left out …]\n", from - done));
        }
        out.push_str(&text[starts[from]..starts[to]]);
        done = to;
    }
    if done < total {
        out.push_str(&format!("\n[… {} of {total} characters left out …]", total - done));
    }
    Some(out)
}

/// Where facts stand, with what is around them: places in characters.
fn windows(text: &str, starts: &[usize], facts: &[String], most: usize) -> Vec<(usize, usize)> {
    let total = starts.len() - 1;
    let lower = text.to_lowercase();
    // Lowering may move places; then only what is spelled as given is found.
    let lower = if lower.len() == text.len() { &*lower } else { text };
    let found = facts.iter().filter_map(|fact| {
        let at = lower.find(&fact.to_lowercase())?;
        let from = starts.partition_point(|start| *start < at);
        let to = starts.partition_point(|start| *start < at + fact.len());
        Some((from.saturating_sub(AROUND), (to + AROUND).min(total)))
    });
    let mut windows: Vec<(usize, usize)> = Vec::new();
    for window in found.take(MOST_KEPT) {
        let spent: usize = windows.iter().map(|(from, to)| to - from + NOTE).sum();
        if spent + (window.1 - window.0) + 4 * NOTE < most {
            windows.push(window);
        }
    }
    windows
}
