//! Damaged sessions: whatever happens to the bytes, a reader returns, and what it read can be written and read again.
//!
//! A short, repeatable relative of the fuzz targets that runs with every test run.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::format::FORMATS;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

/// Larger line files are cut to this; larger documents are left out, for a cut one is only ever refused.
const MOST_SEED: usize = 32_000;
/// How many damaged versions of each seed are tried.
const MUTATIONS: u64 = 150;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Text that means something to a parser.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "\\",
    "\\u",
    "\\ud800",
    "null",
    "true",
    "-1",
    "1e999",
    "\n",
    "\r\n",
    "\0",
    "\u{feff}",
    "{}",
    "[]",
    "\"\"",
    "\"role\":\"user\",",
    "\"type\":\"message\",",
    "\"id\":\"x\",",
    "\"parentUuid\":",
    "\"uuid\":",
    "{\"a\":",
    "⟦",
    "\u{202e}",
];

fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 if random.below(4) == 0 => bytes.truncate(at.max(1)),
            1 => {
                // A value becomes one of another kind.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let value = ["null", "[]", "{}", "\"\"", "0", "-1.5", "[null]", "true"][random.below(8)];
                if let Some(colon) = text
                    .char_indices()
                    .filter(|(at, c)| *c == ':' && *at >= text.len() / 9)
                    .map(|(at, _)| at)
                    .nth(random.below(200))
                {
                    let end = text[colon..]
                        .find([',', '}'])
                        .map_or(text.len(), |length| colon + length);
                    bytes = format!("{}:{value}{}", &text[..colon], &text[end..]).into_bytes();
                }
            }
            2 => {
                let end = (at + 1 + random.below(400)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let end = (at + 1 + random.below(400)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, copy);
            }
            4 => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..at, token.bytes());
            }
            5 => {
                // Swap two lines: order is what sessions rely on most.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let mut lines: Vec<_> = text.lines().collect();
                let (one, two) = (random.below(lines.len()), random.below(lines.len()));
                lines.swap(one, two);
                bytes = lines.join("\n").into_bytes();
            }
            6 => bytes.splice(at..at, [0xFF, 0xFE]).for_each(drop),
            _ => {
                // One id becomes another.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let quoted: Vec<_> = text.split('"').filter(|piece| (4..60).contains(&piece.len())).collect();
                if quoted.len() > 1 {
                    let (one, two) = (quoted[random.below(quoted.len())], quoted[random.below(quoted.len())]);
                    bytes = text
                        .replacen(&format!("\"{one}\""), &format!("\"{two}\""), 1 + random.below(3))
                        .into_bytes();
                }
            }
        }
        if bytes.is_empty() {
            bytes.push(b' ');
        }
    }
    bytes
}

fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("examples"), root.join("crates/wire/tests/data")];
    let samples = root.join("../shared/data/samples");
    match std::fs::read_dir(&samples) {
        Ok(entries) => folders.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir())),
        Err(_) => eprintln!(
            "no samples at {}; only the project's own sessions are mutated",
            samples.display()
        ),
    }
    folders.sort();
    let mut seeds = Vec::new();
    for folder in folders {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.sort();
        for path in files
            .into_iter()
            .filter(|path| path.extension().is_some_and(|end| end == "json" || end == "jsonl"))
        {
            let mut bytes = std::fs::read(&path).unwrap();
            if bytes.len() > MOST_SEED {
                if path.extension().is_some_and(|end| end == "json") {
                    continue;
                }
                let end = bytes[..MOST_SEED]
                    .iter()
                    .rposition(|byte| *byte == b'\n')
                    .unwrap_or(MOST_SEED);
                bytes.truncate(end);
            }
            if !bytes.is_empty() {
                seeds.push((path, bytes));
            }
        }
    }
    seeds
}

fn survive(bytes: Vec<u8>, name: Option<&str>) -> bool {
    let source = Source::memory("mutated", bytes);
    let from = name.map(|name| format::by_name(name).unwrap());
    let mut was_read = false;
    for history in [History::Live, History::Full] {
        let request = Request {
            history,
            ..Request::default()
        };
        let Ok(document) = format::read(&source, from, &request) else {
            continue;
        };
        was_read = true;
        compact(&document);
        let written = document.write();
        let form = format::by_name(document.form().name()).unwrap();
        let again = format::read(
            &Source::memory("again", written.into_bytes()),
            Some(form),
            &Request::default(),
        );
        assert!(again.is_ok(), "{:?}", again.err());
    }
    was_read
}

/// A forced pass on anything that was read gives something that can be read, with no call lost.
fn compact(document: &Document) {
    let policy = Policy {
        engine: Engine::Prune,
        recent_outputs: Some(0),
        tail: Some(10),
        tail_messages: 1,
        ..Policy::default()
    };
    let budget = Budget::new(&[ModelLimits::of("gpt-4o")], &policy.budget).unwrap();
    let settings = SessionSettings::with_budget(document.form(), Family::O200k, policy, budget).forced();
    let mut session = Session::of(settings, Arc::clone(&document.transcript));
    let outcome = session.pass();
    assert!(outcome.counted_after <= outcome.counted_before);
    let written = document.write_changed(session.changes());
    let form = format::by_name(document.form().name()).unwrap();
    let again = format::read(
        &Source::memory("again", written.into_bytes()),
        Some(form),
        &Request::default(),
    )
    .unwrap();
    assert_eq!(
        again.transcript.pairs().len(),
        document.transcript.pairs().len(),
        "no call is lost"
    );
}

#[test]
fn mutated_sessions_are_survived() {
    let seeds = seeds();
    assert!(seeds.len() >= 6, "only {} seeds", seeds.len());
    let mut random = Random(7);
    let (mut tried, mut read) = (0, 0);
    for (path, seed) in &seeds {
        for _ in 0..MUTATIONS {
            let bytes = mutate(seed, &mut random);
            // A third of the time some other format has to make sense of it.
            let name = (random.below(3) == 0).then(|| FORMATS[random.below(FORMATS.len())].name);
            let kept = bytes.clone();
            let survived = std::panic::catch_unwind(move || survive(bytes, name));
            let was_read = survived.unwrap_or_else(|_| {
                panic!(
                    "{} as {name:?} panics on {}",
                    path.display(),
                    String::from_utf8_lossy(&kept)
                )
            });
            tried += 1;
            read += u64::from(was_read);
        }
    }
    println!("{read} of {tried} mutated sessions were read");
    assert!(
        read * 4 > tried,
        "only {read} of {tried} were read: the mutations are too coarse to test readers"
    );
}
