//! Summaries held against recorded sessions: what agents wrote themselves when they compacted is judged, what was said is not
//! called invented, what belongs to another session is, and every session fits its room as records.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

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
use mainstay_engine::verify::Flaw;
use mainstay_engine::verify::FlawKind;
use mainstay_engine::verify::check_answer;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

/// Sessions of some length, in order.
fn sessions() -> Vec<(PathBuf, Arc<Transcript>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    if !root.is_dir() {
        eprintln!("skipped: no recorded sessions at {}", root.display());
        return Vec::new();
    }
    let folders = ["sessions/claude-code", "sessions/codex", "samples/pi"].map(|name| root.join(name));
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let read = paths.into_iter().filter_map(|path| {
        let request = Request {
            history: History::Full,
            ..Request::default()
        };
        let document = format::read(&Source::open(&path).ok()?, None, &request).ok()?;
        (document.transcript.messages().len() >= 40).then_some((path, document.transcript))
    });
    read.collect()
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

fn numbered(messages: &[Message], from: usize) -> Vec<Record<'_>> {
    let numbers = (0..).zip(messages);
    let records = numbers.map(|(number, message)| Record { number, message });
    records.skip(from).collect()
}

#[test]
fn every_recorded_session_fits_its_room() {
    for (path, transcript) in sessions() {
        let records = numbered(transcript.messages(), 0);
        for room in [
            Room {
                total: 60_000,
                each: 60_000,
            },
            Room {
                total: 12_000,
                each: 4_000,
            },
        ] {
            let written = serialise(&records, None, room, &tokens);
            let costs: Vec<u64> = written.chunks.iter().map(|chunk| tokens(chunk)).collect();
            let all: u64 = costs.iter().sum();
            assert!(
                costs.iter().all(|cost| *cost <= room.each) && all <= room.total,
                "{}",
                path.display()
            );
            // Room that is there is used: records are left out only where the next one would not have fitted.
            assert!(
                written.skipped == 0 || all * 100 >= room.total * 90,
                "{}: {all}",
                path.display()
            );
        }
    }
}

#[test]
fn what_was_said_is_known_and_what_others_said_is_not() {
    let mut known: Vec<(Evidence, Vec<String>)> = Vec::new();
    for (_, transcript) in sessions() {
        let mut evidence = Evidence::new();
        let mut own = Vec::new();
        for (index, message) in (0..).zip(transcript.messages()) {
            evidence.fold(index, message);
            if message.author == Author::Assistant {
                own.extend(texts(message).filter(|text| text.len() >= 200).map(str::to_owned));
            }
        }
        known.push((evidence, own));
    }
    let (mut own_texts, mut other_texts, mut flagged) = (0, 0, 0);
    for (place, (evidence, own)) in known.iter().enumerate() {
        for text in own {
            own_texts += 1;
            assert_eq!(
                invented(text, &|name| evidence.knows(name)),
                Vec::<String>::new(),
                "{text}"
            );
        }
        // Three others each; every text that names anything at all.
        for (_, other) in known.iter().cycle().skip(place + 1).take(3) {
            for text in other.iter().filter(|text| !invented(text, &|_| false).is_empty()) {
                other_texts += 1;
                flagged += usize::from(!invented(text, &|name| evidence.knows(name)).is_empty());
            }
        }
    }
    println!("{own_texts} texts known, {flagged} of {other_texts} foreign ones flagged");
    assert!(flagged * 100 >= other_texts * 85, "{flagged} of {other_texts}");
}

#[test]
fn recorded_summaries_are_judged() {
    let (mut judged, mut refused, mut claimed, mut unsupported) = (0, 0, 0, 0);
    for (path, transcript) in sessions() {
        let mut from = 0;
        let mut previous: Option<String> = None;
        for event in transcript.events() {
            let Some(summary) = event.summary else { continue };
            let until = event.before.min(transcript.messages().len());
            let text = texts(&transcript.messages()[summary]).collect::<Vec<_>>().join("\n");
            let (mut ledger, mut evidence, mut said) = (Ledger::default(), Evidence::new(), Said::default());
            for (index, message) in (0..).zip(&transcript.messages()[..until]) {
                ledger.fold(message);
                evidence.fold(index, message);
                said.hear(message);
            }
            let records = numbered(&transcript.messages()[..until], from);
            let references = References::of(&ledger, &records, previous.as_deref());
            let expected = Expected {
                references: &references,
                previous: previous.as_deref(),
                quoting: &Quoting::new(&ledger),
                said: &said,
                knows: &|name| evidence.knows(name),
                is_beside_ledger: false,
                most_tokens: 2_000,
                replaced_tokens: u64::MAX,
                count: &tokens,
            };
            let flaws = check_answer(&text, Stop::End, &expected);
            for flaw in &flaws {
                println!("{}: {} {:.300}", path.display(), flaw.kind.code(), flaw.detail);
            }
            judged += 1;
            refused += usize::from(flaws.iter().any(|flaw| flaw.kind == FlawKind::Unfaithful));
            unsupported += count_unsupported(&flaws);
            // Held against silence, every sentence in the person's name is without their word.
            let silent = Expected {
                said: &Said::default(),
                ..expected
            };
            claimed += count_unsupported(&check_answer(&text, Stop::End, &silent));
            assert!(!flaws.iter().any(|flaw| flaw.kind == FlawKind::Refused), "{flaws:?}");
            (from, previous) = (until, Some(text));
        }
    }
    println!(
        "{judged} judged, {refused} unfaithful, {unsupported} of {claimed} sentences in the person's name without their word"
    );
    // Agents take habits of their own for the person's wishes; what the person did say, in whatever words, is found again.
    assert!(judged == 0 || claimed > 0, "{judged} judged");
    assert!(unsupported * 2 <= claimed, "{unsupported} of {claimed}");
}

fn count_unsupported(flaws: &[Flaw]) -> usize {
    flaws.iter().filter(|flaw| flaw.kind == FlawKind::Unsupported).count()
}
