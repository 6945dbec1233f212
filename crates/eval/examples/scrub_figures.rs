//! Figures about scrubbing on recorded sessions: how many come out clean, and how much goes that is nobody's.
//!
//! `cargo run --release -p mainstay-eval --example scrub_figures -- [--show] FILE...`. For the second figure nothing is cut: of the
//! identifiers of a session (paths, addresses, ids, symbols, numbers) that hold no name that was found, it is the share that the fixture lacks.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_eval::retention::identifiers;
use mainstay_eval::scrub;
use mainstay_eval::scrub::Options;
use mainstay_eval::scrub::Scrubbed;
use mainstay_eval::scrub::audit::Auditor;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let shows = arguments.iter().any(|argument| argument == "--show");
    let (mut sessions, mut clean, mut all, mut gone, mut bytes) = (0, 0, 0, 0, 0);
    let begun = Instant::now();
    let mut whole_clean = 0;
    for file in arguments.iter().filter(|argument| *argument != "--show") {
        for document in documents(file) {
            let scrubbed = scrub::scrub(&document, &Options::new("figures"));
            sessions += 1;
            clean += usize::from(is_clean(file, "fixture", &scrubbed));
            let whole = Options {
                most_output: usize::MAX,
                limit: usize::MAX,
                ..Options::new("figures")
            };
            let whole = scrub::scrub(&document, &whole);
            bytes += whole.report.bytes;
            whole_clean += usize::from(is_clean(file, "uncut", &whole));
            let (lost, of) = lost(document.transcript.messages(), &whole.fixture.messages, &whole.names);
            if shows && (!lost.is_empty() || !whole.names.is_empty()) {
                println!("{file}\n  names: {:?}\n  lost: {lost:?}", whole.names);
            }
            all += of;
            gone += lost.len();
        }
    }
    let share = 100.0 * gone as f64 / all.max(1) as f64;
    println!(
        "{sessions} conversations, {:.1} MB uncut, {:.1} s",
        bytes as f64 / 1e6,
        begun.elapsed().as_secs_f64()
    );
    println!("audit of fixtures: {clean} clean, {} not", sessions - clean);
    println!(
        "audit of everything, uncut: {whole_clean} clean, {} not",
        sessions - whole_clean
    );
    println!("identifiers without a person in them: {all}, gone {gone} ({share:.3} %)");
}

/// Every conversation of a file.
fn documents(file: &str) -> Vec<Document> {
    let Ok(source) = Source::open(Path::new(file)) else {
        return Vec::new();
    };
    let Ok(format) = format::detect(&source).inspect_err(|cause| eprintln!("skipped: {cause}")) else {
        return Vec::new();
    };
    let mut requests = vec![Request::default()];
    if let Some(entries) = (format.list)(&source).ok().filter(|entries| !entries.is_empty()) {
        let request = |id: String| Request {
            session: Some(id),
            ..Request::default()
        };
        requests = entries.into_iter().map(|entry| request(entry.id)).collect();
    }
    let read = requests.iter().filter_map(|request| {
        let read = format::read(&source, Some(format), request);
        read.inspect_err(|cause| eprintln!("skipped: {cause}")).ok()
    });
    read.filter(|document| !document.transcript.messages().is_empty())
        .collect()
}

/// Whether the audit finds nothing; what it finds is shown.
fn is_clean(file: &str, what: &str, scrubbed: &Scrubbed) -> bool {
    let auditor = Auditor::new(&scrubbed.names, &[]);
    let found = auditor.audit(&scrubbed.fixture.text()).expect("a fixture is JSON");
    for finding in found.iter().take(3) {
        println!(
            "{file}, {what}: {} at {} {}: {}",
            finding.kind, finding.path, finding.offset, finding.excerpt
        );
    }
    found.is_empty()
}

/// Identifiers that nobody's name is in and that the fixture lacks, and how many there were.
fn lost(messages: &[Message], fixture: &[serde_json::Value], names: &[String]) -> (Vec<String>, usize) {
    let mut left = String::new();
    strings(&serde_json::json!(fixture), &mut left);
    let left: BTreeSet<Box<str>> = identifiers::find(&left).into_iter().map(|(name, _)| name).collect();
    let kept = messages
        .iter()
        .filter(|message| !matches!(message.role, Role::System | Role::Developer));
    let mut before = String::new();
    for part in kept.flat_map(|message| &message.parts) {
        match part {
            Part::Text(text) => before.push_str(text),
            Part::Call(call) => strings(
                &serde_json::from_str(call.input.as_str()).unwrap_or_default(),
                &mut before,
            ),
            Part::Result(result) => {
                for content in &result.content {
                    if let Content::Text(text) = content {
                        strings(
                            &serde_json::from_str(text).unwrap_or_else(|_| serde_json::json!(&**text)),
                            &mut before,
                        );
                    }
                }
            }
            Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
        before.push('\n');
    }
    let all = identifiers::find(&before);
    let is_personal = |name: &str| {
        let lower = name.to_lowercase();
        names.iter().any(|known| lower.contains(known))
            || lower.contains('@')
            || lower.starts_with("/home/")
            || lower.starts_with("/users/")
    };
    let all: Vec<Box<str>> = all
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !is_personal(name))
        .collect();
    let lost = all
        .iter()
        .filter(|name| !left.contains(*name))
        .map(|name| name.to_string())
        .collect();
    (lost, all.len())
}

fn strings(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::String(text) => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(inside @ (serde_json::Value::Object(_) | serde_json::Value::Array(_))) => strings(&inside, out),
            _ => {
                out.push_str(text);
                out.push('\n');
            }
        },
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(members) => members.iter().for_each(|(key, member)| {
            out.push_str(key);
            out.push('\n');
            strings(member, out);
        }),
        other => {
            out.push_str(&other.to_string());
            out.push('\n');
        }
    }
}
