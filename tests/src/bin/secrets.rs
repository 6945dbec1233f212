//! How the redactor does on labelled texts, on examples of other people's rules, and on recorded sessions.
//!
//!     cargo run --release -p mainstay-tests --bin secrets [missed|alarms|examples SOURCE|findings [N]]
//!
//! Without an argument the figures; with one, what is behind them: secrets that are not safe, texts changed without a reason,
//! examples that were not flagged, findings in recorded sessions (every Nth, without the values' middle).

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use mainstay_tests::secrets::Share;
use mainstay_tests::secrets::flagged;
use mainstay_tests::secrets::judge;
use mainstay_tests::secrets::load;
use mainstay_tests::secrets::redactor;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(corpus), Some(examples), Some(people)) = (
        load("secrets-corpus.dev.jsonl.gz"),
        load("third-party-examples.jsonl.gz"),
        load("pii.dev.jsonl.gz"),
    ) else {
        eprintln!("the labelled texts are not there");
        return ExitCode::from(1);
    };
    let outcome = judge(&redactor(false), &corpus);
    let personal = judge(&redactor(true), &people);
    match arguments.first().map(String::as_str) {
        Some("missed") => {
            for ((kind, context), texts) in outcome.missed.iter().chain(&personal.missed) {
                for text in texts {
                    println!("{kind} / {context}: {text:?}");
                }
            }
        }
        Some("alarms") => {
            for (kind, before, after) in outcome.alarms.iter().chain(&personal.alarms) {
                println!("{kind}: {before:?}\n    {after:?}");
            }
        }
        Some("examples") => {
            let source = arguments.get(1).map_or("", String::as_str);
            let label = arguments.get(2).map_or("tp", String::as_str);
            let redactor = redactor(false);
            for case in examples
                .iter()
                .filter(|case| case.context.starts_with(source) && case.label == label)
            {
                if redactor.find(&case.text).is_empty() == (label == "tp") {
                    println!("{}: {:?}", case.kind, case.text);
                }
            }
        }
        Some("findings") => {
            let every = arguments.get(1).and_then(|every| every.parse().ok()).unwrap_or(1);
            sessions(Some(every));
        }
        Some(_) | None => {
            line("safe", outcome.safe());
            line("  kinds that were looked at", outcome.first);
            line("  other kinds", outcome.second);
            line("texts changed without a reason", outcome.touched);
            line("  of what providers want back", outcome.protocol);
            for ((source, label), share) in flagged(&redactor(false), &examples) {
                line(&format!("examples {source} {label}"), share);
            }
            line("data of people safe", personal.safe());
            line("  texts changed without a reason", personal.touched);
            sessions(None);
        }
    }
    ExitCode::SUCCESS
}

fn line(name: &str, share: Share) {
    println!(
        "{name:<40} {:>5} of {:>5}  {:.3}",
        share.part,
        share.whole,
        share.value()
    );
}

/// Findings in the strings of recorded sessions.
fn sessions(every: Option<usize>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/trajectories");
    let redactor = redactor(false);
    let (mut bytes, mut findings, mut addresses) = (0, 0, 0);
    let start = Instant::now();
    let mut files: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        bytes += text.len();
        for span in redactor.find(&text) {
            if &*span.kind == "ip" {
                addresses += 1;
                continue;
            }
            findings += 1;
            if every.is_some_and(|every| findings % every == 0) {
                let before: String = text[..span.start]
                    .chars()
                    .rev()
                    .take(60)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .collect();
                let value: String = text[span.start..span.end].chars().take(40).collect();
                let after: String = text[span.end..].chars().take(15).collect();
                println!("{} [{}] {:?} >>{value}<< {:?}", span.kind, span.rule, before, after);
            }
        }
    }
    let megabytes = bytes as f64 / 1e6;
    println!(
        "recorded sessions: {megabytes:.1} MB, {findings} findings, {:.2} a MB; {addresses} addresses; {:.1} MB a second",
        findings as f64 / megabytes,
        megabytes / start.elapsed().as_secs_f64()
    );
}
