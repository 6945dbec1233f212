//! Listings: the first entries of every folder, the others as counts by extension.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::elide::elide;
use super::marker::CLOSE;
use super::marker::OPEN;
use super::marker::is_marker;
use super::pick::counted;
use super::signals;
use super::signals::pattern;

/// A path alone on its line, an entry of `ls -l`, an entry of `tree`, a folder heading of `ls -R`.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:\./|\.\./|/|~/|[A-Za-z]:\\)?[\w.@+~#=%(),\[\]{} -]*(?:[/\\][\w.@+~#=%(),\[\]{} -]+)*[/\\*@]?:?$",
        r"|^[dlcbps-][rwxsStT-]{9}[.+@]?\s+\d+ |^total \d+|^[│├└─|` \u{a0}\\-]*(?:├|└|\||`)[─-]+ ?\S|^(?:drwx|-rw)|^[ MADRCU?!]{2} \S+$|^\s*[\d.]+[KMGT]?B?\s+\S+$",
    ))
});

/// Whether the lines are a listing: nearly all are entries, and most of those can be told from words.
pub(super) fn is_listing(lines: &[&str]) -> bool {
    let entries = lines.iter().filter(|line| ENTRY.is_match(line)).count();
    let telling = lines
        .iter()
        .filter(|line| ENTRY.is_match(line) && is_telling(line))
        .count();
    lines.len() >= 5 && entries * 100 >= lines.len() * 85 && telling * 100 >= lines.len() * 60
}

/// A slash, an extension, a mode or a branch of a tree, and few spaces.
fn is_telling(line: &str) -> bool {
    let name = line.trim();
    let spaces = name.matches(' ').count();
    name.contains("── ")
        || name.starts_with("drwx")
        || name.starts_with("-rw")
        || name.starts_with("lrwx")
        || spaces <= 2
            && !name.ends_with(['{', '}', '(', ')', ',', ';'])
            && (name.contains('/') || extension(name).is_some())
}

/// Entries of a folder that are shown; the first number with which all folders fit wins.
const SHOWN: [usize; 6] = [20, 10, 6, 4, 2, 1];

/// Fewest folders that are shown.
const FEWEST: usize = 3;

/// Most bytes of one entry: the longest path of common file systems is a name of 255.
const MOST_ENTRY: usize = 255;

struct Folder<'t> {
    path: &'t str,
    entries: Vec<&'t str>,
}

/// The shortened listing.
pub(super) fn shrink(text: &str, most_bytes: usize) -> String {
    let folders = group(text);
    for shown in SHOWN {
        let short = write(&folders, shown, folders.len());
        if short.len() <= most_bytes {
            return short;
        }
    }
    let mut most = folders.len();
    loop {
        most = most * 2 / 3;
        let short = write(&folders, 1, most.max(FEWEST));
        if short.len() <= most_bytes || most <= FEWEST {
            return short;
        }
    }
}

fn group(text: &str) -> Vec<Folder<'_>> {
    let mut folders: Vec<Folder<'_>> = Vec::new();
    let mut by_path: HashMap<&str, usize> = HashMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.ends_with(':') || is_must(line) {
            // A heading of `ls -R`, or a word of the tool: a group of its own, in its place.
            by_path.remove("");
            folders.push(Folder {
                path: "",
                entries: vec![line],
            });
            continue;
        }
        let path = folder(line);
        match by_path.get(path) {
            Some(at) => folders[*at].entries.push(line),
            None => {
                by_path.insert(path, folders.len());
                folders.push(Folder {
                    path,
                    entries: vec![line],
                });
            }
        }
    }
    folders
}

fn is_must(line: &str) -> bool {
    is_marker(line) || signals::is_summary(line) || (signals::is_report(line) && line.contains(' '))
}

/// The folder of a plain path; long listings and trees have one for all.
fn folder(line: &str) -> &str {
    let is_plain = !line.contains("── ") && !line.starts_with(['d', 'l', '-']) || !line.contains("  ");
    match line.trim_end_matches('/').rfind('/') {
        Some(slash) if is_plain => &line[..=slash],
        _ => "",
    }
}

/// Most letters of an extension; longer endings are parts of a name.
const EXTENSION: usize = 6;

fn extension(entry: &str) -> Option<&str> {
    let name = entry.trim_end().rsplit(['/', '\\', ' ']).next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let plain =
        !extension.is_empty() && extension.len() <= EXTENSION && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    (plain && !stem.is_empty()).then_some(extension)
}

fn write(folders: &[Folder<'_>], shown: usize, most: usize) -> String {
    let mut text = String::new();
    let tail = most / 3;
    let mut dropped: Vec<&str> = Vec::new();
    let mut dropped_folders = 0;
    for (index, folder) in folders.iter().enumerate() {
        let is_shown = index < most - tail || index + tail >= folders.len();
        if !is_shown && !is_must(folder.entries[0]) {
            dropped.extend(&folder.entries);
            dropped_folders += 1;
            continue;
        }
        flush(&mut text, &mut dropped, &mut dropped_folders);
        write_folder(&mut text, folder, shown);
    }
    flush(&mut text, &mut dropped, &mut dropped_folders);
    text.pop();
    text
}

fn flush(text: &mut String, dropped: &mut Vec<&str>, folders: &mut usize) {
    if *folders > 0 {
        let entries = counted(dropped.len(), "line");
        let kinds = by_extension(dropped);
        text.push_str(&format!(
            "{OPEN} {entries} of {} dropped{kinds}{CLOSE}\n",
            counted(*folders, "more folder")
        ));
    }
    dropped.clear();
    *folders = 0;
}

fn write_folder(text: &mut String, folder: &Folder<'_>, shown: usize) {
    let (entries, total) = (&folder.entries, folder.entries.len());
    // One entry more costs less than a marker on it.
    if total <= shown + 1 {
        for entry in entries {
            text.push_str(&elide(entry, MOST_ENTRY));
            text.push('\n');
        }
        return;
    }
    let head = shown.div_ceil(2).max(1);
    let tail = shown - head.min(shown);
    for entry in &entries[..head] {
        text.push_str(&elide(entry, MOST_ENTRY));
        text.push('\n');
    }
    let dropped = &entries[head..total - tail];
    let path = if folder.path.len() > MOST_ENTRY {
        ""
    } else {
        folder.path
    };
    let place = if path.is_empty() {
        String::new()
    } else {
        format!(" in {path}")
    };
    let kinds = by_extension(dropped);
    text.push_str(&format!(
        "{OPEN} {}{place} dropped{kinds}{CLOSE}\n",
        counted(dropped.len(), "more line")
    ));
    for entry in &entries[total - tail..] {
        text.push_str(&elide(entry, MOST_ENTRY));
        text.push('\n');
    }
}

/// `: 12 .rs, 3 .toml, 2 other`, most frequent first.
fn by_extension(entries: &[&str]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut other = 0;
    for entry in entries {
        let Some(extension) = extension(entry) else {
            other += 1;
            continue;
        };
        let place = *places.entry(extension).or_insert_with(|| {
            counts.push((extension, 0));
            counts.len() - 1
        });
        counts[place].1 += 1;
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    // Kinds that are named; a folder rarely has more that matter.
    other += counts.iter().skip(6).map(|(_, count)| count).sum::<usize>();
    let mut named: Vec<String> = counts
        .iter()
        .take(6)
        .map(|(name, count)| format!("{count} .{name}"))
        .collect();
    if named.is_empty() {
        return String::new();
    }
    if other > 0 {
        named.push(format!("{other} other"));
    }
    format!(": {}", named.join(", "))
}
