//! Every recorded session and sample beside the project is detected as what it is and read, or refused in words.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::transcript::Severity;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no recorded sessions at {}", path.display());
    None
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found)
        } else {
            found.push(path)
        }
    }
}

/// What a file must be read as, by its place; a refusal is given as the words it must contain.
fn expected(below: &str) -> Result<&'static str, &'static str> {
    let name = below.rsplit('/').next().unwrap();
    let folder = below.split('/').rev().nth(1).unwrap_or("");
    match folder {
        _ if name.ends_with(".md") || name.ends_with(".sql") || name.ends_with(".txt") => {
            Err("no conversation format matches")
        }
        _ if name.starts_with("LICENSE") || name.ends_with(".tsv") => Err("no conversation format matches"),
        "claude-code" => Ok("claude-code"),
        "codex" => Ok("codex"),
        "hermes" => Ok("hermes"),
        "pi" => Ok("pi"),
        "openhands" => Ok("openhands"),
        "gemini-cli" => Ok("gemini-cli"),
        "cline" if name == "session.json" => Err("messages_path"),
        "cline" => Ok("cline"),
        "grok" => Err("Grok"),
        "wire" if name.starts_with("gemini") => Err("Gemini"),
        "wire" if name.starts_with("bedrock") => Err("Bedrock"),
        "wire" => Ok("recording"),
        "other-agents" if name.contains("chat_history") || name.contains("events") => Err("it is empty"),
        "other-agents" => Err(""),
        "trajectories" => Ok("trajectories"),
        "fixtures" => Ok("hermes"),
        other => panic!("no expectation for {other}: {below}"),
    }
}

#[test]
fn every_file_is_read_as_what_it_is_or_refused_in_words() {
    let Some(root) = shared() else { return };
    let mut paths = Vec::new();
    for folder in ["samples", "sessions", "trajectories", "hermes-eval/fixtures"] {
        files(&root.join(folder), &mut paths);
    }
    let (mut read, mut refused) = (0, 0);
    for path in &paths {
        let below = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let found = Source::open(path).and_then(|source| format::detect(&source).map(|format| (source, format)));
        let outcome = found.and_then(|(source, format)| {
            format::read(&source, Some(format), &Request::default())?;
            Ok(format.name)
        });
        match (expected(below), outcome) {
            (Ok(wanted), Ok(name)) => {
                assert_eq!(name, wanted, "{below}");
                read += 1;
            }
            (Err(words), Err(error)) => {
                assert!(error.to_string().contains(words), "{below} is refused with {error}");
                refused += 1;
            }
            (Ok(wanted), Err(error)) => panic!("{below} should be {wanted}: {error}"),
            (Err(_), Ok(name)) => panic!("{below} should be refused, not read as {name}"),
        }
    }
    println!("{read} read, {refused} refused");
    assert!(read >= 115 && refused >= 18, "{read} read, {refused} refused");
}

#[test]
fn both_views_of_every_recorded_session_are_whole_and_can_be_written() {
    let Some(root) = shared() else { return };
    let mut paths = Vec::new();
    files(&root.join("sessions"), &mut paths);
    for path in &paths {
        let source = Source::open(path).unwrap();
        for history in [History::Live, History::Full] {
            let request = Request {
                history,
                ..Request::default()
            };
            let document = format::read(&source, None, &request).unwrap();
            let lost: Vec<_> = document
                .findings
                .iter()
                .filter(|finding| finding.rule.severity() == Severity::Lost)
                .collect();
            assert!(lost.is_empty(), "{}: {lost:?}", path.display());
            if history == History::Full {
                let inserted = document
                    .origins()
                    .iter()
                    .filter(|origin| **origin == mainstay_engine::transcript::Origin::Inserted);
                let read = document.transcript.messages().len() - inserted.count();
                assert_eq!(read as u64, document.recorded.messages, "{}", path.display());
            }
            let form = format::by_name(document.form().name()).unwrap();
            let written = Source::memory("written", document.write().into_bytes());
            let again = format::read(&written, Some(form), &Request::default()).unwrap();
            let calls = |transcript: &mainstay_engine::transcript::Transcript| transcript.pairs().len();
            assert_eq!(
                calls(&again.transcript),
                calls(&document.transcript),
                "{}",
                path.display()
            );
            assert!(
                again
                    .findings
                    .iter()
                    .all(|finding| finding.rule.severity() != Severity::Lost)
            );
        }
    }
}
