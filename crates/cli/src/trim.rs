//! `mainstay trim`: one tool output in a small form, as at insertion; the original is kept for recall.

use std::path::PathBuf;

use clap::Args;
use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::shrink::Goal;
use mainstay_engine::shrink::Shrunk;
use mainstay_engine::shrink::kind_of;
use mainstay_engine::shrink::shrink;
use mainstay_store::NewTrimmed;
use mainstay_store::Store;
use serde::Serialize;

use crate::config::Configuration;
use crate::environment;
use crate::input::read_bytes;
use crate::screen::Screen;
use crate::screen::bytes;
use crate::screen::number;

/// Shrink one tool output, keeping errors, failing tests, paths and odd ones out.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The output; `-` for standard input.
    #[arg(default_value = "-")]
    file: String,

    /// How large the result may be, in bytes; errors and failures stay even past it.
    #[arg(long, value_name = "BYTES", default_value_t = 4_000)]
    most: usize,

    /// The tool that printed it, for recall.
    #[arg(long, value_name = "NAME", default_value = "tool")]
    tool: String,

    /// Do not keep the original.
    #[arg(long)]
    forget: bool,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// What was done; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Report {
    kind: &'static str,
    trimmed: bool,
    bytes_before: usize,
    bytes_after: usize,
    tokens_before: u64,
    tokens_after: u64,
    dropped_lines: usize,
    reference: Option<String>,
    text: String,
}

/// Trims.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let original = read_bytes(&arguments.file)?;
    let text = String::from_utf8_lossy(&original);
    let count = |text: &str| Family::O200k.count(text, TextKind::Output);
    let goal = Goal {
        most_bytes: arguments.most,
    };
    let Some(shrunk) = shrink(&text, goal) else {
        return unchanged(arguments, &original, &text, screen);
    };
    let tokens_before = count(&text);
    let (small, reference) = match keep(arguments, configuration, &original, tokens_before, shrunk) {
        Ok(kept) => kept,
        // In a pipe the output must not be lost because the original could not be kept: it goes on as it came.
        Err(error) => {
            screen.warn(&format!("not trimmed, for the original could not be kept: {error:#}"));
            return unchanged(arguments, &original, &text, screen);
        }
    };
    let report = Report {
        kind: small.kind.name(),
        trimmed: true,
        bytes_before: original.len(),
        bytes_after: small.text.len(),
        tokens_before,
        tokens_after: count(&small.text),
        dropped_lines: small.dropped_lines,
        reference,
        text: small.text,
    };
    if arguments.json {
        return screen.json(&report);
    }
    screen.result(report.text.as_bytes())?;
    if !report.text.ends_with('\n') {
        screen.result(b"\n")?;
    }
    screen.speak_on_standard_error();
    let recall = report
        .reference
        .as_deref()
        .map(|reference| format!("; mainstay recall {reference}"))
        .unwrap_or_default();
    screen.faint(&format!(
        "{}: {} → {}, {} → {} tokens{recall}",
        report.kind,
        bytes(report.bytes_before as u64),
        bytes(report.bytes_after as u64),
        number(report.tokens_before),
        number(report.tokens_after),
    ))
}

/// Keeps the original before anything is given out, and names it in the result where there is still something gained.
fn keep(
    arguments: &Arguments,
    configuration: &Configuration,
    original: &[u8],
    tokens: u64,
    mut small: Shrunk,
) -> anyhow::Result<(Shrunk, Option<String>)> {
    if arguments.forget {
        return Ok((small, None));
    }
    let mut store = Store::open(&configuration.store(arguments.store.as_ref())?)?;
    let reference = store.keep_trimmed(&NewTrimmed {
        conversation: None,
        tool: &arguments.tool,
        original,
        tokens,
        failed: false,
        created: environment::now(),
    })?;
    // JSON stays JSON: there the reference is only reported.
    let line = format!("\n⟦the whole output: recall {reference}⟧");
    let is_json = matches!(small.kind.name(), "json" | "json-lines");
    if !is_json && small.text.len() + line.len() < original.len() {
        small.text.push_str(&line);
    }
    Ok((small, Some(reference)))
}

/// Nothing is gained: the output goes out as it came.
fn unchanged(arguments: &Arguments, original: &[u8], text: &str, screen: &mut Screen) -> anyhow::Result<()> {
    if !arguments.json {
        return screen.result(original);
    }
    let tokens = Family::O200k.count(text, TextKind::Output);
    screen.json(&Report {
        kind: kind_of(text).name(),
        trimmed: false,
        bytes_before: original.len(),
        bytes_after: original.len(),
        tokens_before: tokens,
        tokens_after: tokens,
        dropped_lines: 0,
        reference: None,
        text: text.to_owned(),
    })
}
