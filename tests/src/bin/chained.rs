//! Compacts long recorded sessions three times with a summariser that forgets half of what it reads, and prints what of
//! that which must not be lost is left beside the ledger and without it.
//!
//!     cargo run --release -p mainstay-tests --bin chained [FOLDER]
//!
//! Exits with 100 when a critical reference is lost beside the ledger.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::decide::Engine;
use mainstay_engine::summary::Request;
use mainstay_engine::transcript::Message;
use mainstay_tests::cycles::Cycles;
use mainstay_tests::cycles::forgetful;
use mainstay_tests::cycles::references;
use mainstay_tests::cycles::words;
use mainstay_tests::scripted;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request as Reading;
use mainstay_wire::source::Source;

/// Shorter sessions are the tests' business.
const LEAST_TOKENS: u64 = 100_000;
/// What a compaction leaves: an eighth of the conversation, and no less than anybody would ask for.
const LEFT: u64 = 8;
const LEAST_LEFT: u64 = 8_000;
const SEEDS: u64 = 2;

fn main() -> ExitCode {
    let given = std::env::args().nth(1).map(PathBuf::from);
    let root = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/sessions"));
    let mut lost = 0;
    for agent in ["claude-code", "codex"] {
        let Ok(listed) = std::fs::read_dir(root.join(agent)) else {
            eprintln!("no sessions at {}", root.join(agent).display());
            return ExitCode::from(1);
        };
        let mut paths: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        lost += paths.iter().map(|path| session(agent, path)).sum::<usize>();
    }
    match lost {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(100),
    }
}

/// How many critical references of a session are lost beside the ledger.
fn session(agent: &str, path: &Path) -> usize {
    let source = Source::open(path).unwrap();
    let request = Reading {
        history: History::Full,
        ..Reading::default()
    };
    let Ok(document) = format::read(&source, None, &request) else {
        return 0;
    };
    let messages = document.transcript.messages();
    let tokens: u64 = messages
        .iter()
        .map(|message| measure(message, Family::O200k).total())
        .sum();
    if tokens < LEAST_TOKENS {
        return 0;
    }
    let references = references(messages);
    let target = (tokens / LEFT).max(LEAST_LEFT);
    let mut lost = 0;
    for engine in [Engine::Hybrid, Engine::Summary] {
        for seed in 0..SEEDS {
            let mut keeps = forgetful(seed);
            let model =
                &mut |request: &Request, _: &[Message]| scripted::answer(scripted::summary(request, &mut keeps));
            let (left, outcomes) = Cycles::new(engine, target).walk(messages, model);
            let left = words(&left);
            let missing: BTreeSet<&str> = references.missing(&left).iter().map(|one| &*one.text).collect();
            let critical = references.critical();
            let gone: Vec<_> = critical.iter().filter(|one| missing.contains(&*one.text)).collect();
            let modes: Vec<&str> = outcomes.iter().map(|outcome| outcome.mode().name()).collect();
            println!(
                "{agent} {} {tokens} tokens to {target}, {} seed {seed}: critical {} of {}, all {} of {} {modes:?}",
                path.file_stem().unwrap().to_string_lossy(),
                engine.name(),
                critical.len() - gone.len(),
                critical.len(),
                references.list().len() - missing.len(),
                references.list().len(),
            );
            if engine == Engine::Hybrid {
                for one in &gone {
                    println!(
                        "   lost: {} by {} in m{}: {}",
                        one.kind.name(),
                        one.author.name(),
                        one.message,
                        one.text
                    );
                }
                lost += gone.len();
            }
        }
    }
    lost
}
