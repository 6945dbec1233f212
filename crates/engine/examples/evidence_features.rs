//! Prints what the evidence weights are fitted on: for recorded sessions cut at several places, every identifier of the
//! prefix with its features, and whether the agent went on to write it before anything showed it again.
//!
//! `cargo run --release -p mainstay-engine --example evidence_features -- FOLDER`, where the folder holds `*.jsonl` with one
//! session a line: `id`, `messages` (role, content, tool_calls with name and arguments), `compactions` (with `at`).
//! One line an identifier, separated by tabs: session, whether the cut is at half or three quarters, cut, needed, weight,
//! features. Identifiers that are not needed are sampled one in [`SAMPLED`], with that weight.

use std::collections::HashSet;
use std::io::BufRead;
use std::io::Write;

use mainstay_engine::ledger::evidence::Evidence;
use mainstay_engine::ledger::evidence::FEATURE_NAMES;
use mainstay_engine::ledger::evidence::scan;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use serde_json::Value;

/// One identifier in so many that were not needed is printed: a sixth of the lines, the same fit.
const SAMPLED: u64 = 5;

/// Shares of a session's bytes at which it is cut, in per cent. Those of the retention metric are 50 and 75.
const CUTS: [usize; 9] = [15, 25, 35, 45, 50, 60, 70, 75, 85];

/// The messages after a cut in which use is looked for, as in the retention metric.
const HORIZON: usize = 40;

/// Sessions with fewer bytes or messages and cuts with fewer needed identifiers say little, as in the retention metric.
const LEAST_BYTES: usize = 24_000;
const LEAST_MESSAGES: usize = 12;
const LEAST_NEEDED: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder?")?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(
        out,
        "session\tscored\tcut\tneeded\tweight\t{}",
        FEATURE_NAMES.join("\t")
    )?;
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    for path in files {
        let source = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for line in std::io::BufReader::new(std::fs::File::open(&path)?).lines() {
            session(&source, &serde_json::from_str(&line?)?, &mut out)?;
        }
    }
    Ok(())
}

/// Prints the lines of one session.
fn session(source: &str, record: &Value, out: &mut impl Write) -> std::io::Result<()> {
    let messages: Vec<Message> = record["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(message)
        .collect();
    let end = record["compactions"][0]["at"]
        .as_u64()
        .map_or(messages.len(), |at| messages.len().min(at as usize));
    let messages = &messages[..end];
    let sizes: Vec<usize> = messages
        .iter()
        .map(|message| texts(message).iter().map(String::len).sum())
        .collect();
    let total: usize = sizes.iter().sum();
    if messages.len() < LEAST_MESSAGES || total < LEAST_BYTES {
        return Ok(());
    }
    let id = record["id"].as_str().unwrap_or_default();
    // Several trials of one tau-bench task are one cluster.
    let cluster = if source == "tau-bench" {
        id.rsplit_once('-').map_or(id, |(task, _)| task)
    } else {
        id
    };
    let mut evidence = Evidence::new();
    // What the instructions say is always in front of the model.
    let instructions = messages.iter().filter(|message| message.role == Role::System);
    let instructed: HashSet<String> = instructions.flat_map(identifiers).collect();
    let mut past = 0;
    let mut cuts = CUTS.iter().peekable();
    for (index, message) in messages.iter().enumerate() {
        let is_turn = matches!(message.role, Role::Assistant | Role::User) && index > 3;
        if is_turn && let Some(percent) = cuts.next_if(|percent| past >= **percent * total / 100) {
            let tail = &messages[index..messages.len().min(index + HORIZON)];
            print_cut(
                &format!("{source}/{cluster}"),
                *percent,
                index,
                &evidence,
                &instructed,
                tail,
                out,
            )?;
        }
        past += sizes[index];
        evidence.fold(index as u32, message);
    }
    Ok(())
}

/// Prints the identifiers at one cut.
fn print_cut(
    session: &str,
    percent: usize,
    cut: usize,
    evidence: &Evidence,
    instructed: &HashSet<String>,
    tail: &[Message],
    out: &mut impl Write,
) -> std::io::Result<()> {
    let known: HashSet<&str> = evidence
        .identifiers()
        .map(|(name, _)| name)
        .filter(|name| !instructed.contains(*name))
        .collect();
    let needed = needed(&known, tail);
    if needed.len() < LEAST_NEEDED {
        return Ok(());
    }
    for (name, features) in evidence.identifiers().filter(|(name, _)| known.contains(name)) {
        let is_needed = needed.contains(name);
        let hash = name
            .bytes()
            .fold(7u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        if !is_needed && (hash >> 3) % SAMPLED != 0 {
            continue;
        }
        let weight = if is_needed { 1 } else { SAMPLED };
        write!(
            out,
            "{session}\t{}\t{cut}\t{}\t{weight}",
            u8::from(percent == 50 || percent == 75),
            u8::from(is_needed)
        )?;
        for feature in features {
            write!(out, "\t{feature:.4}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The known identifiers that the agent writes in the tail before the tail has shown them.
fn needed(known: &HashSet<&str>, tail: &[Message]) -> HashSet<String> {
    let mut shown = HashSet::new();
    let mut needed = HashSet::new();
    for message in tail {
        let here = identifiers(message);
        if message.role == Role::Assistant {
            needed.extend(
                here.iter()
                    .filter(|name| known.contains(name.as_str()) && !shown.contains(*name))
                    .cloned(),
            );
        }
        shown.extend(here);
    }
    needed
}

/// The identifiers that a message holds.
fn identifiers(message: &Message) -> Vec<String> {
    let mut identifiers = Vec::new();
    for text in texts(message) {
        identifiers.extend(scan(&text).into_iter().map(|found| text[found.range].to_owned()));
    }
    identifiers
}

/// What a message says, tool names included.
fn texts(message: &Message) -> Vec<String> {
    let mut texts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => texts.push(text.to_string()),
            Part::Call(call) => texts.push(format!("{} {}", call.name, call.input.as_str())),
            Part::Result(result) => texts.extend(result.content.iter().filter_map(|content| match content {
                Content::Text(text) => Some(text.to_string()),
                Content::Media(_) | Content::Opaque(_) => None,
            })),
            Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    texts
}

fn message(value: &Value) -> Message {
    let content = value["content"].as_str().unwrap_or_default();
    let (role, first) = match value["role"].as_str().unwrap_or_default() {
        "assistant" => (Role::Assistant, Part::Text(content.into())),
        "user" => (Role::User, Part::Text(content.into())),
        "tool" => (Role::Tool, result(content)),
        _ => (Role::System, Part::Text(content.into())),
    };
    let mut parts = if content.is_empty() { Vec::new() } else { vec![first] };
    for call in value["tool_calls"].as_array().into_iter().flatten() {
        parts.push(Part::Call(Box::new(ToolCall {
            id: CallId::new(call["id"].as_str().unwrap_or_default()),
            name: call["name"].as_str().unwrap_or_default().into(),
            input: Input::Json(call["arguments"].as_str().unwrap_or_default().into()),
        })));
    }
    Message::new(role, parts)
}

fn result(content: &str) -> Part {
    Part::Result(Box::new(ToolResult {
        id: CallId::new(""),
        name: None,
        content: vec![Content::Text(content.into())],
        outcome: ToolOutcome::Unstated,
    }))
}
