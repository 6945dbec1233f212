//! What the ledger says was done in recorded sessions, against a count that knows nothing of it.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use mainstay_engine::ledger::Ledger;
use mainstay_engine::ledger::entry::Entry;
use mainstay_engine::ledger::entry::Kind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Transcript;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

fn sessions() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/sessions");
    if !root.is_dir() {
        eprintln!("skipped: no recorded sessions at {}", root.display());
        return Vec::new();
    }
    let folders = ["claude-code", "codex"].map(|name| root.join(name));
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn transcript(path: &Path) -> Arc<Transcript> {
    let request = Request {
        history: History::Full,
        ..Request::default()
    };
    format::read(&Source::open(path).unwrap(), None, &request)
        .unwrap()
        .transcript
}

fn part(transcript: &Transcript, spot: Spot) -> &Part {
    &transcript.messages()[spot.message as usize].parts[spot.part as usize]
}

/// The files that editing tools were given, by nothing but their arguments' spelling.
fn named(call: &ToolCall) -> Vec<String> {
    let input = call.input.as_str();
    match &*call.name {
        "Write" | "Edit" | "MultiEdit" => {
            let arguments: serde_json::Value = serde_json::from_str(input).unwrap();
            arguments["file_path"].as_str().map(str::to_owned).into_iter().collect()
        }
        "apply_patch" => {
            let openings = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
            let lines = input
                .lines()
                .filter_map(|line| openings.iter().find_map(|opening| line.strip_prefix(opening)));
            lines.map(|path| path.trim().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

fn went_well(result: &ToolResult) -> bool {
    let says_no = matches!(result.content.first(), Some(Content::Text(text)) if text.starts_with('<') || text.contains("verification failed"));
    result.outcome != ToolOutcome::Failure && !says_no
}

fn changed(transcript: &Transcript) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for pair in transcript.pairs() {
        let Some(result) = pair.result else { continue };
        if let (Part::Call(call), Part::Result(result)) = (part(transcript, pair.call), part(transcript, result))
            && went_well(result)
        {
            paths.extend(named(call));
        }
    }
    paths
}

fn folded(transcript: &Transcript) -> Ledger {
    let mut ledger = Ledger::default();
    for message in transcript.messages() {
        ledger.fold(message);
    }
    ledger
}

#[test]
fn every_file_that_an_editing_tool_changed_is_on_the_trail() {
    let mut count = 0;
    for path in sessions() {
        let transcript = transcript(&path);
        let ledger = folded(&transcript);
        let files: Vec<&Entry> = ledger.entries().filter(|entry| entry.kind == Kind::File).collect();
        for wanted in changed(&transcript) {
            let was_renamed = format!("renamed from {wanted}");
            let is_there = |entry: &&&Entry| entry.key.ends_with(&wanted) || entry.value.contains(&was_renamed);
            let entry = files.iter().find(is_there);
            let value = entry.map_or("nothing", |entry| &entry.value);
            let is_changed = ["modified", "created", "deleted", "renamed"]
                .iter()
                .any(|word| value.contains(word));
            assert!(is_changed, "{}: {wanted} is known as {value}", path.display());
            count += 1;
        }
    }
    println!("{count} files");
}

#[test]
fn nothing_but_files_is_on_the_trail() {
    for path in sessions() {
        let ledger = folded(&transcript(&path));
        for entry in ledger.entries().filter(|entry| entry.kind == Kind::File) {
            let key = &*entry.key;
            let is_odd =
                key.contains(['*', '?', '|', '<', '>', '"', '\n', '$']) || key.contains("://") || key.starts_with('-');
            assert!(!is_odd && !key.starts_with("/dev/"), "{}: {key}", path.display());
        }
    }
}

#[test]
fn a_ledger_that_was_put_away_goes_on_as_if_it_had_not() {
    for path in sessions() {
        let transcript = transcript(&path);
        let mut ledger = Ledger::default();
        for (index, message) in transcript.messages().iter().enumerate() {
            ledger.fold(message);
            if index % 100 == 50 {
                ledger = serde_json::from_str(&serde_json::to_string(&ledger).unwrap()).unwrap();
            }
        }
        assert_eq!(ledger, folded(&transcript), "{}", path.display());
    }
}
