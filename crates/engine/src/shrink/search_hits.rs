//! Search hits: every file with its first hits, the others as counts with their lines.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::elide::elide;
use super::line_forms::is_frame;
use super::line_forms::is_log_entry;
use super::marker::CLOSE;
use super::marker::OPEN;
use super::marker::is_marker;
use super::pick::counted;
use super::signals;
use super::signals::pattern;

/// `path:line:text`, `path:line-text` for context, `line:text` under a file name or for one file.
static HIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?P<path>(?:[A-Za-z]:)?[^\s:|](?:[^:|\n]{0,250}?[^\s:|])?)(?P<mark>[:-]))?(?P<line>\d{1,7})[:-](?P<rest>.*)$",
    )
});

/// Whether a line has the form of a hit. A path has no clock time in it.
pub(super) fn is_hit(line: &str) -> bool {
    parts(line).is_some_and(|hit| {
        hit.path
            .is_none_or(|path| path.contains(['/', '.', '\\']) && !path.contains("  "))
    }) && !is_log_entry(line)
        && !is_frame(line)
}

struct Hit<'t> {
    path: Option<&'t str>,
    line: &'t str,
}

fn parts(line: &str) -> Option<Hit<'_>> {
    let found = HIT.captures(line)?;
    Some(Hit {
        path: found.name("path").map(|path| path.as_str()),
        line: found.name("line")?.as_str(),
    })
}

/// The hits of one file in order of appearance, and lines between files that are no hits.
struct Group<'t> {
    path: &'t str,
    hits: Vec<(&'t str, &'t str)>,
}

/// How many hits of a file are shown; the first that fits wins.
const SHOWN: [usize; 6] = [12, 6, 4, 3, 2, 1];

/// Fewest files that are shown.
const FEWEST: usize = 3;

/// Most bytes of one hit when they are many: a line of code.
const MOST_HIT: usize = 200;

/// The shortened hits.
pub(super) fn shrink(text: &str, most_bytes: usize) -> String {
    let groups = group(text);
    for shown in SHOWN {
        let short = write(&groups, shown, groups.len());
        if short.len() <= most_bytes {
            return short;
        }
    }
    // One hit a file is still too much: files at the head and at the tail, the rest by name and count alone.
    let mut files = groups.len();
    loop {
        files = files * 2 / 3;
        let short = write(&groups, 1, files.max(FEWEST));
        if short.len() <= most_bytes || files <= FEWEST {
            return short;
        }
    }
}

fn group(text: &str) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut by_path: HashMap<&str, usize> = HashMap::new();
    let mut heading = "";
    for line in text.lines() {
        let hit = parts(line);
        let path = hit.as_ref().and_then(|hit| hit.path);
        let key = match (&hit, path) {
            (Some(_), Some(path)) => path,
            (Some(_), None) => heading,
            (None, _) => "",
        };
        if hit.is_none() || is_marker(line) {
            // A heading, a separator or a wrapper's own line: stands alone, and may name the hits that follow.
            if line.trim().is_empty() || line == "--" {
                continue;
            }
            heading = line;
            groups.push(Group {
                path: "",
                hits: vec![("", line)],
            });
            continue;
        }
        let number = hit.map_or("", |hit| hit.line);
        match by_path.get(key) {
            Some(at) => groups[*at].hits.push((number, line)),
            None => {
                by_path.insert(key, groups.len());
                groups.push(Group {
                    path: key,
                    hits: vec![(number, line)],
                });
            }
        }
    }
    groups
}

fn write(groups: &[Group<'_>], shown: usize, files: usize) -> String {
    let mut text = String::new();
    let tail = files / 3;
    let (mut dropped_files, mut dropped_hits) = (0, 0);
    let mut dropped_names: Vec<&str> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let is_shown = index < files - tail || index + tail >= groups.len();
        let is_must = group.path.is_empty() && group.hits.iter().any(|(_, line)| must(line));
        if !is_shown && !is_must {
            if !group.path.is_empty() {
                dropped_files += 1;
                dropped_names.push(group.path);
            }
            dropped_hits += group.hits.len();
            continue;
        }
        flush(&mut text, &mut dropped_files, &mut dropped_hits, &mut dropped_names);
        write_group(&mut text, group, shown);
    }
    flush(&mut text, &mut dropped_files, &mut dropped_hits, &mut dropped_names);
    text.pop();
    text
}

/// Lines that are no hits and say something about the search itself.
fn must(line: &str) -> bool {
    signals::is_mention(line) || signals::is_summary(line) || is_marker(line)
}

fn flush(text: &mut String, files: &mut usize, hits: &mut usize, names: &mut Vec<&str>) {
    match (*hits, *files) {
        (0, _) => {}
        (lines, 0) => text.push_str(&format!("{OPEN} {} dropped{CLOSE}\n", counted(lines, "line"))),
        (hits, files) => {
            let (hits, files) = (counted(hits, "hit"), counted(files, "more file"));
            text.push_str(&format!("{OPEN} {hits} in {files} dropped{}{CLOSE}\n", folders(names)));
        }
    }
    (*files, *hits) = (0, 0);
    names.clear();
}

/// The folders of dropped files, most frequent first, a few of them.
fn folders(names: &[&str]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for name in names {
        let folder = name.rfind('/').map_or("", |slash| &name[..=slash]);
        let place = *places.entry(folder).or_insert_with(|| {
            counts.push((folder, 0));
            counts.len() - 1
        });
        counts[place].1 += 1;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named: Vec<String> = counts
        .iter()
        .filter(|(folder, _)| !folder.is_empty() && folder.len() <= MOST_HIT)
        .take(5)
        .map(|(folder, count)| format!("{count} under {folder}"))
        .collect();
    if named.is_empty() {
        String::new()
    } else {
        format!(": {}", named.join(", "))
    }
}

fn write_group(text: &mut String, group: &Group<'_>, shown: usize) {
    let total = group.hits.len();
    for (index, (_, line)) in group.hits.iter().enumerate() {
        if index < shown || total == shown + 1 || is_failure(line) {
            text.push_str(&elide(line, MOST_HIT));
            text.push('\n');
        }
    }
    if total <= shown + 1 {
        return;
    }
    let dropped: Vec<_> = group.hits[shown..]
        .iter()
        .filter(|(_, line)| !is_failure(line))
        .collect();
    if dropped.is_empty() {
        return;
    }
    // Most line numbers that are listed; the count says the rest.
    let numbers: Vec<&str> = dropped.iter().take(12).map(|(number, _)| *number).collect();
    let more = if dropped.len() > numbers.len() { ", …" } else { "" };
    let path = if group.path.len() > MOST_HIT { "" } else { group.path };
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(" in {path}")
    };
    text.push_str(&format!(
        "{OPEN} {}{place} dropped: lines {}{more}{CLOSE}\n",
        counted(dropped.len(), "more hit"),
        numbers.join(", ")
    ));
}

/// A hit whose text announces a failure, as hits in logs do. Code that mentions errors is no such thing.
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\S+?[:-]\d+[:-](?:\S+[ :]+){0,4}?\[?(?:ERROR|FATAL|FAILED|PANIC|CRITICAL)\b|^\S+?:\d+:\s*(?:error|fatal|panic|Error|\w+Error|\w+Exception)(?:\[\w+\])?: \S|^\S+?:\d+:Traceback ",
    )
});

fn is_failure(line: &str) -> bool {
    FAILURE.is_match(line)
}
