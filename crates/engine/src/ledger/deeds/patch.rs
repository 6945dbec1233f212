//! Patches: unified diffs, and the form with `*** Begin Patch`.

use super::path;
use super::touch::Act;
use super::touch::Swap;
use super::touch::Touches;
use super::values::Change;

/// The files a patch touches.
pub(super) fn touches(patch: &str, folder: Option<&str>, touches: &mut Touches) {
    let mut updated: Option<&str> = None;
    let mut old: Option<&str> = None;
    let mut renamed: Option<&str> = None;
    for line in patch.lines() {
        if let Some(rest) = line.strip_prefix("*** ") {
            if let Some(file) = rest.strip_prefix("Add File: ") {
                touches.add(Act::Create, folder, file.trim());
            } else if let Some(file) = rest.strip_prefix("Delete File: ") {
                touches.add(Act::Delete, folder, file.trim());
            } else if let Some(file) = rest.strip_prefix("Update File: ") {
                touches.add(Act::Modify, folder, file.trim());
                updated = Some(file.trim());
            } else if let (Some(file), Some(from)) = (rest.strip_prefix("Move to: "), updated) {
                touches.rename(folder, from, file.trim());
            }
        } else if let Some(file) = line.strip_prefix("--- ") {
            old = Some(diff_path(file));
        } else if let (Some(file), Some(from)) = (line.strip_prefix("+++ "), old.take()) {
            match (from, diff_path(file)) {
                ("/dev/null", new) => touches.add(Act::Create, folder, new),
                (gone, "/dev/null") => touches.add(Act::Delete, folder, gone),
                (_, new) => touches.add(Act::Modify, folder, new),
            }
        } else if let Some(from) = line.strip_prefix("rename from ") {
            renamed = Some(from.trim());
        } else if let (Some(to), Some(from)) = (line.strip_prefix("rename to "), renamed.take()) {
            touches.rename(folder, from, to.trim());
        }
    }
}

/// The path in `--- a/src/x.rs<tab>date`.
fn diff_path(text: &str) -> &str {
    let file = text.split('\t').next().unwrap_or(text).trim();
    file.strip_prefix("a/")
        .or_else(|| file.strip_prefix("b/"))
        .unwrap_or(file)
}

/// What a patch takes out and puts in, stretch by stretch.
pub(super) fn swaps(patch: &str, swaps: &mut Vec<Swap>) {
    // A patch of more stretches is a rewrite.
    const MOST: usize = 16;
    let mut stretches: Vec<(String, String, String)> = Vec::new();
    let mut file: Option<String> = None;
    let mut is_inside = false;
    for line in patch.lines() {
        let header = ["*** Update File: ", "+++ "]
            .iter()
            .find_map(|opening| line.strip_prefix(opening));
        let is_mark =
            header.is_some() || line.starts_with("@@") || line.starts_with("*** ") || line.starts_with("--- ");
        if let Some(named) = header.map(diff_path).filter(|named| path::is_path(named)) {
            file = Some(path::normalise(named));
        }
        let change = if is_mark {
            None
        } else {
            line.chars().next().filter(|sign| matches!(sign, '-' | '+'))
        };
        let (Some(sign), Some(file)) = (change, &file) else {
            is_inside = false;
            continue;
        };
        if !is_inside {
            if stretches.len() >= MOST {
                break;
            }
            stretches.push((file.clone(), String::new(), String::new()));
        }
        is_inside = true;
        if let Some((_, old, new)) = stretches.last_mut() {
            let side = if sign == '-' { old } else { new };
            side.push_str(&line[1..]);
            side.push('\n');
        }
    }
    swaps.extend(stretches.iter().map(|(file, old, new)| Swap::of(file, old, new)));
}

/// The values a patch changes, file by file and stretch by stretch.
pub(super) fn changes(patch: &str, folder: Option<&str>, changes: &mut Vec<Change>) {
    let mut file: Option<String> = None;
    let (mut old, mut new) = (String::new(), String::new());
    let mut flush = |file: &Option<String>, old: &mut String, new: &mut String| {
        if let Some(file) = file
            && !(old.is_empty() && new.is_empty())
        {
            Change::between(file, old, new, changes);
        }
        old.clear();
        new.clear();
    };
    for line in patch.lines() {
        let header = ["*** Update File: ", "*** Add File: ", "+++ "]
            .iter()
            .find_map(|opening| line.strip_prefix(opening));
        if header.is_some() || line.starts_with("@@") || line.starts_with("*** ") || line.starts_with("--- ") {
            flush(&file, &mut old, &mut new);
            if let Some(named) = header.map(diff_path).filter(|named| path::is_path(named)) {
                file = Some(path::join(folder, named));
            }
        } else if let Some(removed) = line.strip_prefix('-') {
            old.push_str(removed);
            old.push('\n');
        } else if let Some(added) = line.strip_prefix('+') {
            new.push_str(added);
            new.push('\n');
        } else {
            flush(&file, &mut old, &mut new);
        }
    }
    flush(&file, &mut old, &mut new);
}
