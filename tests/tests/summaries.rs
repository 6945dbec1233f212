//! Summaries held against recorded sessions: what agents wrote themselves when they compacted is not refused, what was said is
//! not called invented, and what belongs to another session is.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::ledger::Ledger;
use mainstay_engine::ledger::evidence::Evidence;
use mainstay_engine::ledger::quote::Quoting;
use mainstay_engine::summary::Stop;
use mainstay_engine::summary::records::Record;
use mainstay_engine::summary::records::Room;
use mainstay_engine::summary::records::serialise;
use mainstay_engine::summary::references::References;
use mainstay_engine::summary::references::invented;
use mainstay_engine::summary::said::Said;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::verify::Expected;
use mainstay_engine::verify::check_answer;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

fn sessions() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if !root.is_dir() {
        eprintln!("skipped: no recorded sessions at {}", root.display());
        return Vec::new();
    }
    let folders = [
        "sessions/claude-code",
        "sessions/codex",
        "samples/claude-code",
        "samples/codex",
        "samples/hermes",
        "samples/pi",
    ]
    .map(|name| root.join(name));
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths
}

fn transcript(path: &Path) -> Option<Transcript> {
    let request = Request {
        history: History::Full,
        ..Request::default()
    };
    let document = format::read(&Source::open(path).ok()?, None, &request).ok()?;
    Some(document.transcript)
}

fn tokens(text: &str) -> u64 {
    Family::O200k.count(text, TextKind::Output)
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(&**text),
        _ => None,
    })
}

#[test]
fn measure_recorded() {
    for path in sessions() {
        let Some(transcript) = transcript(&path) else { continue };
        let events: Vec<_> = transcript
            .events()
            .iter()
            .filter(|event| event.summary.is_some())
            .collect();
        let mut from = 0;
        for event in events {
            let Some(summary) = event.summary else { continue };
            let text = texts(&transcript.messages()[summary]).collect::<Vec<_>>().join("\n");
            let until = event.before.min(transcript.messages().len());
            let messages = &transcript.messages()[from..until];
            let mut ledger = Ledger::default();
            let mut evidence = Evidence::new();
            let mut said = Said::default();
            for (index, message) in transcript.messages()[..until].iter().enumerate() {
                ledger.fold(message);
                evidence.fold(index as u32, message);
                said.hear(message);
            }
            let records: Vec<Record<'_>> = (from as u32..)
                .zip(messages)
                .map(|(number, message)| Record { number, message })
                .collect();
            let references = References::of(&ledger, &records, None);
            let missing = references.missing(&text);
            let critical = references.critical();
            let lost = critical.iter().filter(|one| missing.contains(one)).count();
            let knows = |name: &str| evidence.knows(name);
            let expected = Expected {
                references: &references,
                previous: None,
                quoting: &Quoting::new(&ledger),
                said: &said,
                knows: &knows,
                most_tokens: 10_000,
                replaced_tokens: 1_000_000,
                count: &tokens,
            };
            eprintln!(
                "{} from {from} until {until}: summary {} tokens, {} references, {} missing, critical {}/{} lost",
                path.file_name().unwrap().to_str().unwrap(),
                tokens(&text),
                references.list().len(),
                missing.len(),
                lost,
                critical.len()
            );
            for one in critical.iter().filter(|one| missing.contains(one)).take(60) {
                eprintln!("    lost {:?} {} {:.80}", one.kind, one.weight, one.text);
            }
            for flaw in check_answer(&text, Stop::End, &expected) {
                eprintln!("    {} {:?} {:.200}", flaw.kind.code(), flaw.weight, flaw.detail);
            }
            from = until;
        }
    }
}

#[test]
fn measure_records() {
    for path in sessions() {
        let Some(transcript) = transcript(&path) else { continue };
        if transcript.messages().len() < 60 {
            continue;
        }
        let records: Vec<Record<'_>> = (0..)
            .zip(transcript.messages())
            .map(|(number, message)| Record { number, message })
            .collect();
        let started = std::time::Instant::now();
        let written = serialise(
            &records,
            None,
            Room {
                total: 60_000,
                each: 60_000,
            },
            &tokens,
        );
        eprintln!(
            "{}: {} messages, shown {} skipped {} collapsed {}, tokens {:?}, {:?}",
            path.file_name().unwrap().to_str().unwrap(),
            records.len(),
            written.shown,
            written.skipped,
            written.collapsed,
            written.chunks.iter().map(|c| tokens(c)).collect::<Vec<_>>(),
            started.elapsed()
        );
    }
}

#[test]
fn measure_invented() {
    let mut all: Vec<(Evidence, Vec<String>)> = Vec::new();
    let (mut before_names, mut before_texts, mut before_bad) = (0, 0, 0);
    for path in sessions() {
        let Some(transcript) = transcript(&path) else { continue };
        if transcript.messages().len() < 40 {
            continue;
        }
        let mut evidence = Evidence::new();
        let mut own = Vec::new();
        for (index, message) in transcript.messages().iter().enumerate() {
            if message.author == Author::Assistant {
                for text in texts(message).filter(|text| text.len() >= 200) {
                    let names = invented(text, &|name| evidence.knows(name));
                    before_texts += 1;
                    before_bad += usize::from(!names.is_empty());
                    before_names += names.len();
                    if before_texts % 10 == 0 && !names.is_empty() {
                        eprintln!("  new: {names:?}");
                    }
                    own.push(text.to_owned());
                }
            }
            evidence.fold(index as u32, message);
        }
        all.push((evidence, own));
    }
    eprintln!("before only: {before_texts} texts, {before_bad} with invented, {before_names} names");
    let (mut own_bad, mut own_all, mut other_bad, mut other_all) = (0, 0, 0, 0);
    let (mut claims, mut flagged) = (0, 0);
    for place in 0..all.len() {
        let (evidence, own) = &all[place];
        for text in own {
            own_all += 1;
            let names = invented(text, &|name| evidence.knows(name));
            if !names.is_empty() {
                own_bad += 1;
                eprintln!("  own: {names:?}");
            }
        }
        for (_, other) in all.iter().cycle().skip(place + 1).take(3) {
            for text in other {
                let total = invented(text, &|_| false).len();
                if total == 0 {
                    continue;
                }
                let names = invented(text, &|name| evidence.knows(name));
                claims += total;
                flagged += names.len();
                other_all += 1;
                other_bad += usize::from(!names.is_empty());
            }
        }
    }
    eprintln!("own: {own_bad}/{own_all}; others with claims: {other_bad}/{other_all}; names {flagged}/{claims}");
}
