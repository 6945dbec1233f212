//! The table as a page for people, written from what the command really printed.

use std::path::Path;

use crate::running::Case;

/// A row of the page.
pub struct Row {
    group: String,
    happens: String,
    made: &'static str,
    requests: String,
    seen: Vec<String>,
}

impl Row {
    pub fn new(group: &str, case: &Case, printed: &str) -> Self {
        let requests: Vec<String> = case.requests.iter().map(usize::to_string).collect();
        Self {
            group: group.to_owned(),
            happens: case.happens.to_owned(),
            made: match case.made {
                "hybrid" => "summary and ledger",
                _ => "ledger",
            },
            requests: requests.join(" + "),
            seen: seen(printed),
        }
    }
}

/// The lines that tell what happened with the models: warnings, reasons, and what there is to know.
fn seen(printed: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut within = "";
    for line in printed.lines() {
        match line {
            "Why" | "Summary" | "To know" => within = line,
            "" => within = "",
            _ if line.starts_with("  the ledger stands alone") || line.starts_with("warning: ") => lines.push(line),
            // What a summary leaves out stands in the ledger beside it; the list is long and differs by form.
            _ if within == "To know" && !line.starts_with("  missing: ") => lines.push(line),
            _ => {}
        }
    }
    lines.into_iter().map(|line| steady(line.trim())).collect()
}

/// What differs between runs and systems: the word before it, what it is made of, and what stands for it.
const VARYING: &[(&str, &str, &str)] = &[
    ("127.0.0.1:", "0123456789", "PORT"),
    ("credential_ref:github:", "0123456789abcdef", "NAME"),
    (" (os error ", "0123456789", "NUMBER"),
];

/// A line without what differs between runs and systems.
fn steady(line: &str) -> String {
    let mut line = line.to_owned();
    for (before, letters, name) in VARYING {
        let mut pieces = line.split(before);
        let mut out = pieces.next().unwrap_or("").to_owned();
        for piece in pieces {
            let rest = piece.trim_start_matches(|letter: char| letters.contains(letter));
            out.extend([*before, *name, rest]);
        }
        line = out;
    }
    line
}

const OPENING: &str = include_str!("opening.md");

/// The page must be what the table says. Where it is not, the right one is left beside the build.
pub fn check(rows: &[Row]) {
    let mut page = OPENING.to_owned();
    let mut group = "";
    for row in rows {
        if row.group != group {
            group = &row.group;
            page.push_str(&format!(
                "\n## {group}\n\n| what happens | requests | the result is made of | what you see |\n|---|---|---|---|\n"
            ));
        }
        let seen: Vec<String> = row
            .seen
            .iter()
            .map(|line| format!("`{}`", line.replace('|', "\\|")))
            .collect();
        let seen = if seen.is_empty() {
            "nothing special".to_owned()
        } else {
            seen.join("<br>")
        };
        page.push_str(&format!(
            "| {} | {} | {} | {seen} |\n",
            row.happens, row.requests, row.made
        ));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = std::fs::read_to_string(root.join("docs/failures.md")).unwrap_or_default();
    if kept != page {
        let beside = root.join("target/failures.md");
        std::fs::create_dir_all(root.join("target")).unwrap();
        std::fs::write(&beside, &page).unwrap();
        panic!("docs/failures.md is not what happens; target/failures.md is: look at it and copy it");
    }
}
