//! Reading and exactly counting a long conversation: 2,000 messages, about a million tokens.
//!
//! Prints MB/s for reading, counting and writing, and the ratio to Python's `json.loads` plus `tiktoken` in the
//! same run, where a Python with that package is at hand (`PYTHON` names it, `TIKTOKEN_CACHE_DIR` its vocabularies).
//! Times are the best of several runs on one thread: the machine's noise only ever adds.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use std::time::Instant;

use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

#[path = "synthetic.rs"]
mod synthetic;

/// What the baseline does: parse everything, encode every text.
const PYTHON: &str = r#"
import json, sys, time
import tiktoken
encoding = tiktoken.get_encoding("cl100k_base")
encoding.encode("warm up")
text = open(sys.argv[1], encoding="utf-8").read()
best_read = best_count = 1e9
for _ in range(int(sys.argv[2])):
    t = time.perf_counter(); body = json.loads(text); best_read = min(best_read, time.perf_counter() - t)
    t = time.perf_counter(); n = 0
    for m in body["messages"]:
        c = m.get("content")
        for s in ([c] if isinstance(c, str) else [p.get("text", "") for p in c or []]):
            n += len(encoding.encode(s, disallowed_special=()))
        for call in m.get("tool_calls", []):
            n += len(encoding.encode(call["function"]["arguments"], disallowed_special=()))
    best_count = min(best_count, time.perf_counter() - t)
print(best_read, best_count, n)
"#;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let runs = if quick { 1 } else { 5 };
    let (path, origin) = transcript(quick);
    let bytes = std::fs::read(&path).expect("the transcript was just written");
    let megabytes = bytes.len() as f64 / 1e6;
    println!("transcript: {megabytes:.2} MB, {origin}");

    let load = || Source::memory("bench", bytes.clone());
    let read_one = |source: &Source| format::read(source, None, &Request::default()).expect("it is a chat body");
    let document = read_one(&load());
    let messages = document.transcript.messages();
    println!("messages:   {}", messages.len());

    let read = best(runs, || {
        let source = load();
        let start = Instant::now();
        black_box(read_one(&source));
        start.elapsed()
    });
    report("read (detect, parse, pair)", megabytes, read);
    let mut counts = Vec::new();
    for family in [Family::O200k, Family::Cl100k] {
        Tally::new(family).extend(&messages[..1]);
        let mut tokens = 0;
        let count = best(runs, || {
            let start = Instant::now();
            let mut tally = Tally::new(family);
            tally.extend(messages);
            tokens = tally.total().total();
            start.elapsed()
        });
        report(&format!("count {} ({tokens} tokens)", family.name()), megabytes, count);
        counts.push(count);
    }
    let write = best(runs, || {
        let start = Instant::now();
        black_box(document.write());
        start.elapsed()
    });
    report("write", megabytes, write);
    let total = read + counts[0];
    println!("read and count exactly (o200k): {:.0} ms", total.as_secs_f64() * 1e3);

    match python(&path, runs) {
        Some((python_read, python_count, tokens)) => {
            println!(
                "python json.loads {:.1} ms, tiktoken cl100k {:.0} ms ({tokens} tokens)",
                python_read * 1e3,
                python_count * 1e3
            );
            let ours = (read + counts[1]).as_secs_f64();
            println!(
                "ratio to python, read and count cl100k: {:.1}× faster",
                (python_read + python_count) / ours
            );
        }
        None => println!("python with tiktoken: not at hand, no ratio"),
    }
}

fn best(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap_or_default()
}

fn report(what: &str, megabytes: f64, time: Duration) {
    let seconds = time.as_secs_f64();
    println!("{what:<44} {:>8.1} ms {:>8.0} MB/s", seconds * 1e3, megabytes / seconds);
}

/// The transcript of the load generator beside the project where it is present, else one of our own making.
fn transcript(quick: bool) -> (PathBuf, &'static str) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let messages = if quick { 200 } else { 2_000 };
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tools/gen_transcript.py");
    let path = target.join(format!("generated-{messages}.json"));
    let made = Command::new("python3")
        .arg(&generator)
        .arg(&path)
        .args([
            "--messages",
            &messages.to_string(),
            "--tokens",
            &(messages * 500).to_string(),
        ])
        .output();
    if generator.exists() && made.is_ok_and(|made| made.status.success()) {
        return (path, "made by the load generator");
    }
    let path = target.join(format!("synthetic-{messages}.json"));
    std::fs::write(&path, synthetic::body(messages, 2_000)).expect("the target directory is writable");
    (path, "made by the benchmark itself")
}

fn python(path: &Path, runs: usize) -> Option<(f64, f64, u64)> {
    let interpreter = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(interpreter)
        .args(["-c", PYTHON])
        .arg(path)
        .arg(runs.to_string())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut figures = text.split_whitespace();
    Some((
        figures.next()?.parse().ok()?,
        figures.next()?.parse().ok()?,
        figures.next()?.parse().ok()?,
    ))
}
