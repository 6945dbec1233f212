//! Source code as the names that stand in it.
//!
//! A file that the agent can read again is not copied line by line: its path and the names to look for are what an agent needs to find
//! the place again, at a fifth of the cost. Everything else that a tool printed cannot be had again, and stays in lines.

use std::collections::HashSet;
use std::ops::Range;

use crate::ledger::evidence::scan::Class;
use crate::ledger::evidence::scan::Found;
use crate::ledger::evidence::scan::scan;

/// A text with fewer lines than this is not taken for a file.
const LEAST_LINES: usize = 4;
/// Percent of the lines that must read as code.
const CODE_SHARE: usize = 55;
/// Lines looked at: enough to tell code from everything else.
const LINES_LOOKED_AT: usize = 400;
/// Between a name and the number that is its value stand at most this many bytes.
const BEFORE_VALUE: usize = 8;
/// What separates the path from the names in a row, and the names from each other.
pub const BEHIND_PATH: &str = ": ";
pub const BETWEEN_NAMES: &str = ", ";

/// Endings of files of source code.
const CODE_ENDINGS: &str = "rs py go ts tsx js jsx mjs cjs java kt kts c h cc cpp cxx hpp cs rb php swift scala sh bash zsh sql css scss html vue \
    svelte proto lua ex exs erl hs ml clj dart r jl pl zig nim";

/// Whether a file is source code, from its name.
pub fn is_code_file(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    CODE_ENDINGS.split_whitespace().any(|code| code == ending)
}

/// Whether a text is what a version control program shows of changes to source code, and to nothing else.
pub fn is_diff_of_code(text: &str) -> bool {
    let mut files = text
        .lines()
        .filter_map(|line| line.strip_prefix("diff --git "))
        .peekable();
    files.peek().is_some() && files.all(is_code_file)
}

/// Whether most lines of a text are source code.
pub fn is_code(text: &str) -> bool {
    let (mut lines, mut code, mut found) = (0, 0, 0);
    for line in text.lines().take(LINES_LOOKED_AT) {
        let line = without_number(line).trim();
        if line.is_empty() {
            continue;
        }
        if tells_of_failure(line) {
            return false;
        }
        found += usize::from(is_found_line(line));
        lines += 1;
        code += usize::from(reads_as_code(line));
    }
    lines >= LEAST_LINES && code * 100 >= lines * CODE_SHARE && found * 2 < lines
}

/// The names of a text of code, each where it stands first: symbols, paths, addresses, and a number beside the name it is the value of.
pub fn names<'t>(text: &'t str, found: &[Found]) -> Vec<Range<usize>> {
    let mut seen: HashSet<&'t str> = HashSet::new();
    let mut names: Vec<Range<usize>> = Vec::new();
    let mut before: Option<&Found> = None;
    let is_diff = text.lines().any(|line| line.starts_with("diff --git "));
    for one in found {
        // What a change took out is not there any more.
        if is_diff && is_removed(text, one.range.start) {
            continue;
        }
        // `500` inside of `--gray-500` is part of that name.
        if before.is_some_and(|name| one.range.start < name.range.end) {
            continue;
        }
        let range = match (one.class, before) {
            (Class::Number, Some(name))
                if name.class == Class::Symbol && is_value_of(&text[name.range.end..one.range.start]) =>
            {
                name.range.start..one.range.end
            }
            (Class::Number, _) => continue,
            _ => one.range.clone(),
        };
        before = Some(one);
        if !seen.insert(&text[range.clone()]) {
            continue;
        }
        // The value stands with its name, which then needs no place of its own.
        if names.last().is_some_and(|last| last.end > range.start) {
            names.pop();
        }
        names.push(range);
    }
    names
}

/// The path in front of a row of names, or nothing, if a text is such a row: what an earlier block chose from code.
pub fn row_of_names(text: &str) -> Option<Option<&str>> {
    let text = text.trim_end();
    if text.contains('\n') {
        return None;
    }
    let whole = |words: &str| matches!(scan(words).as_slice(), [one] if one.range == (0..words.len()));
    let is_path = |words: &str| matches!(scan(words).as_slice(), [one] if one.range == (0..words.len()) && one.class == Class::Path);
    let (path, names) = match text.split_once(BEHIND_PATH) {
        Some((path, names)) if is_path(path) && !names.is_empty() => (Some(path), names),
        _ => (None, text),
    };
    let is_name = |words: &str| match words.find([' ', ':', '=', '(']) {
        // A number stands beside the name it is the value of.
        Some(end) => {
            let value = words[end..].trim_start_matches([' ', ':', '=', '(', '"', '\'']);
            whole(&words[..end]) && value.starts_with(|letter: char| letter.is_ascii_digit())
        }
        None => whole(words),
    };
    (names.contains(BETWEEN_NAMES) || path.is_some()).then_some(())?;
    names.split(BETWEEN_NAMES).all(is_name).then_some(path)
}

/// Whether a place of a diff is in a line that was taken out.
fn is_removed(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    text[start..].starts_with('-') && !text[start..].starts_with("---")
}

/// Whether what stands between a name and a number makes the number its value.
fn is_value_of(between: &str) -> bool {
    between.len() <= BEFORE_VALUE
        && between.contains(['=', ':'])
        && between.bytes().all(|byte| b" =:(\"'".contains(&byte))
}

/// A line without the number that an editor or a search put in front of it.
fn without_number(line: &str) -> &str {
    let line = line.strip_prefix(['+', '-']).unwrap_or(line);
    let digits = line
        .trim_start()
        .trim_start_matches(|letter: char| letter.is_ascii_digit());
    if digits.len() == line.trim_start().len() {
        return line;
    }
    let marks = ['\t', '→', '|', ':', '-'];
    digits.strip_prefix(marks).unwrap_or(line)
}

/// A line that a search found, behind its file and line number: it says by itself where it is from.
fn is_found_line(line: &str) -> bool {
    let mut fields = line.splitn(3, ':');
    let (path, number) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
    path.contains(['.', '/'])
        && !path.contains(' ')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Code inside of a report of what failed cannot be had again.
fn tells_of_failure(line: &str) -> bool {
    line.starts_with("E  ") || line.starts_with("Traceback (") || line.starts_with("error[") || line.contains(" FAILED")
}

fn reads_as_code(line: &str) -> bool {
    const KEYWORDS: &str = "def class import from return if elif else for while func fn pub let const var use type struct impl export package \
        private public static assert assertEquals yield raise throw try except catch switch case match";
    const MARKS: [&str; 9] = ["#include", "#define", "//", "/*", "*/", "* ", "# ", "@", "</"];
    let ends = line.ends_with(['{', '}', ';', '(', ')', ',', '[', ']', '>']) || line.ends_with("):");
    let word = line
        .split(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    ends || KEYWORDS.split_whitespace().any(|keyword| keyword == word)
        || MARKS.iter().any(|mark| line.starts_with(mark))
        || line.contains(" = ")
        || line.contains(" := ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "    12\tpub fn open_store(path: &Path) -> Store {\n    13\t    let retry_limit = 250;\n\
        14\t    Store::at(path).with_limit(retry_limit)\n    15\t}\n";

    #[test]
    fn files_of_code_are_code_and_reports_are_not() {
        assert!(is_code(CODE));
        assert!(is_code(
            "import os\n\nclass A:\n    def b(self):\n        return os.getcwd()\n"
        ));
        for text in [
            "collected 3 items\ntests/test_a.py ...\n3 passed in 0.4s\nall is well\n",
            "The plan:\nfirst we read the log.\nthen we talk.\nthen we go home.\n",
            "def f():\n    x = 1\n    assert x == 2\nE   assert 1 == 2\n    return x\n",
            "name: a\nversion: 1.2.3\nservices:\n  web:\n    port: 8080\n",
        ] {
            assert!(!is_code(text), "{text}");
        }
    }

    #[test]
    fn a_diff_of_code_is_known_by_its_files() {
        let diff =
            |file: &str| format!("commit 1a2b3c4\n\ndiff --git a/{file} b/{file}\n@@ -1,2 +1,3 @@\n+    run();\n");
        assert!(is_diff_of_code(&diff("src/a.rs")));
        assert!(!is_diff_of_code(&diff("data/invoice.json")));
        assert!(!is_diff_of_code(&(diff("src/a.rs") + &diff("notes.md"))));
        assert!(!is_diff_of_code("10:02:11 worker started (pid 12)\n"));
    }

    #[test]
    fn of_a_diff_only_what_stands_now_has_names() {
        let diff = "diff --git a/a.rs b/a.rs\n@@ -1,2 +1,2 @@\n-let old_limit = 100;\n+let new_limit = 250;\n";
        let listed: Vec<&str> = names(diff, &scan(diff)).into_iter().map(|range| &diff[range]).collect();
        assert!(listed.contains(&"new_limit = 250"), "{listed:?}");
        assert!(!listed.iter().any(|name| name.contains("old_limit")), "{listed:?}");
    }

    #[test]
    fn names_stand_once_and_values_with_their_name() {
        let listed: Vec<&str> = names(CODE, &scan(CODE)).into_iter().map(|range| &CODE[range]).collect();
        assert!(listed.contains(&"open_store"), "{listed:?}");
        assert!(listed.contains(&"retry_limit = 250"), "{listed:?}");
        assert_eq!(listed.iter().filter(|name| name.starts_with("open_store")).count(), 1);
    }

    #[test]
    fn numbers_inside_of_names_are_part_of_them() {
        let css = "--gray-500: #6b7280;\n--since-2024: 1px;\n--sha-abc12345: 2px;";
        let listed: Vec<&str> = names(css, &scan(css)).into_iter().map(|range| &css[range]).collect();
        assert!(listed.contains(&"--gray-500"), "{listed:?}");
    }

    #[test]
    fn a_row_of_names_is_known_again() {
        assert_eq!(
            row_of_names("src/store.rs: open_store, retry_limit = 250"),
            Some(Some("src/store.rs"))
        );
        assert_eq!(row_of_names("open_store, close_store"), Some(None));
        for text in [
            "open_store",
            "we said: yes, no",
            "file_path: src/a.rs, src/b.rs",
            "src/a.rs: all is well",
            "open_store, close_store\nmore",
        ] {
            assert_eq!(row_of_names(text), None, "{text}");
        }
    }
}
