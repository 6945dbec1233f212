//! Scrubbing recorded sessions of many formats: the audit finds nothing, scrubbing again changes nothing, and the facts that the
//! recorded probe banks ask for are still there.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use mainstay_eval::fixture::Bank;
use mainstay_eval::scrub;
use mainstay_eval::scrub::Options;
use mainstay_eval::scrub::audit::Auditor;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

/// Larger files are left to the figures that are made in an optimised build.
const MOST_BYTES: u64 = 300_000;

fn data() -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        eprintln!("skipped: there are no recorded sessions at {}", data.display());
        return None;
    }
    Some(data)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|ending| ending == "json" || ending == "jsonl")
        {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Option<Document> {
    let source = Source::open(path).ok()?;
    let document = format::read(&source, None, &Request::default()).ok()?;
    (!document.transcript.messages().is_empty()).then_some(document)
}

#[test]
fn recorded_sessions_come_out_clean() {
    let Some(data) = data() else { return };
    let mut paths = Vec::new();
    for folder in ["samples", "sessions"] {
        files(&data.join(folder), &mut paths);
    }
    let (mut sessions, mut formats, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for path in paths
        .iter()
        .filter(|path| std::fs::metadata(path).unwrap().len() <= MOST_BYTES)
    {
        let Some(document) = read(path) else { continue };
        let options = Options {
            source: path.display().to_string(),
            ..Options::new("recorded")
        };
        let scrubbed = scrub::scrub(&document, &options);
        let text = scrubbed.fixture.text();
        let found = Auditor::new(&scrubbed.names, &[]).audit(&text).unwrap();
        wrong.extend(found.iter().map(|finding| format!("{}: {finding:?}", path.display())));
        assert!(
            text.len() <= scrub::FIXTURE_LIMIT,
            "{}: {} bytes",
            path.display(),
            text.len()
        );
        let source = Source::memory("again.json", text.into_bytes());
        let chat = format::by_name("openai-chat").unwrap();
        let again = format::read(&source, Some(chat), &Request::default()).unwrap();
        let twice = scrub::scrub(&again, &options);
        if twice.fixture.messages != scrubbed.fixture.messages {
            wrong.push(format!("{}: scrubbing again changes it", path.display()));
        }
        sessions += 1;
        formats.insert(document.format.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        sessions >= 30 && formats.len() >= 7,
        "only {sessions} sessions of {formats:?}"
    );
}

#[test]
fn facts_of_the_recorded_banks_survive() {
    let Some(data) = data() else { return };
    let mut fixtures = Vec::new();
    files(&data.join("hermes-eval/fixtures"), &mut fixtures);
    assert!(!fixtures.is_empty());
    for path in fixtures {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bank = std::fs::read_to_string(data.join(format!("hermes-eval/probes/{name}.probes.json"))).unwrap();
        let bank: Bank = serde_json::from_str(&bank).unwrap();
        assert!(bank.probes.len() >= 8);
        let options = Options {
            bank: Some(bank),
            ..Options::new(&name)
        };
        let scrubbed = scrub::scrub(&read(&path).unwrap(), &options);
        assert_eq!(scrubbed.report.lost_facts, [], "{name}");
    }
}
