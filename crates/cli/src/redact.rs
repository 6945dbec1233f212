//! `mainstay redact`: secrets and public addresses out of any text; works on any bytes.

use std::path::PathBuf;

use clap::Args;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Redactor;
use mainstay_engine::redact::Span;
use mainstay_store::Store;
use serde::Serialize;

use crate::config::AddressChoice;
use crate::config::Configuration;
use crate::config::Overrides;
use crate::config::Settings;
use crate::input::read_bytes;
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

    /// Which addresses of the internet to hide (default: public).
    #[arg(long, value_enum)]
    ips: Option<AddressChoice>,

    /// Where the store is whose key the references are made with (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

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
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&Overrides {
        store: arguments.store.clone(),
        addresses: arguments.ips,
        pii: arguments.pii,
        ..Overrides::default()
    })?;
    let original = read_bytes(&arguments.file)?;
    let key = key(&settings)?;
    let redactor = Redactor::new(key.clone(), settings.redact.options(Addresses::Public));
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

/// The key of the references: the store's own, so that they are the same wherever that store is used.
fn key(settings: &Settings) -> anyhow::Result<Key> {
    let mut store = Store::open(&settings.store_path()?)?;
    Ok(Key::new(store.key()?))
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
