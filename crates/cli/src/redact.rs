//! `mainstay redact`: secrets and public addresses out of any text; works on any bytes.

use std::io::Read;

use anyhow::Context;
use clap::Args;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::redact::Span;
use serde::Serialize;

use crate::screen::Screen;

/// Hide secrets and public addresses in any text. JSON and JSON Lines stay what they are.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The text; `-` for standard input.
    #[arg(default_value = "-")]
    file: String,

    /// Hide data of people, too: names of authors, mail addresses, phone numbers, cards, documents, home directories.
    #[arg(long)]
    pii: bool,

    /// Leave public addresses of the internet as they are.
    #[arg(long)]
    no_ips: bool,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// What was done; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Report<'a> {
    spans: &'a [Span],
    text: &'a str,
}

/// Redacts.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let original = read(&arguments.file)?;
    let options = Options {
        ips: !arguments.no_ips,
        pii: arguments.pii,
    };
    let key = key_for();
    let redactor = Redactor::new(key.clone(), options);
    let readable = readable(&original);
    let redacted = redactor.redact(&readable);
    if arguments.json {
        return screen.json(&Report {
            spans: &redacted.spans,
            text: &redacted.text,
        });
    }
    screen.result(&spliced(&original, &readable, &redacted.spans, &key))
}

/// The key of the references.
///
/// A fixed key for development, to be replaced by the store's own: references made with it can be tested against guesses by
/// anybody who has this program.
fn key_for() -> Key {
    Key::new(*b"mainstay development key, public")
}

fn read(file: &str) -> anyhow::Result<Vec<u8>> {
    if file != "-" {
        return std::fs::read(file).with_context(|| file.to_owned());
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .context("standard input")?;
    Ok(bytes)
}

/// The text of any bytes, byte for byte as long: what is no UTF-8 is shown as a control character that no secret holds.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{1a}'));
    }
    text
}

/// The bytes as they came, with references in the place of what was found.
fn spliced(original: &[u8], readable: &str, spans: &[Span], key: &Key) -> Vec<u8> {
    let mut out = Vec::with_capacity(original.len());
    let mut at = 0;
    for span in spans {
        out.extend_from_slice(&original[at..span.start]);
        let value = &readable[span.start..span.end];
        out.extend_from_slice(span.replacement(value, key).as_bytes());
        at = span.end;
    }
    out.extend_from_slice(&original[at..]);
    out
}
