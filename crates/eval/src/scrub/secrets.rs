//! Secrets, public addresses and numbers of people, found by the redactor.
//!
//! A reference holds a number in the place of a hash: whoever has the fixture has nothing to test a guess against.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Known;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;

/// What the redactor knows of people and other passes do with names that stay the same.
const OF_OTHER_PASSES: &[&str] = &["pii_home", "pii_email", "pii_author", "pii_mention", "pii_handle"];

/// Hides secrets, and remembers them from text to text.
#[derive(Debug)]
pub(super) struct Secrets {
    redactor: Redactor,
    known: Known,
    numbers: BTreeMap<String, usize>,
}

impl Secrets {
    pub(super) fn new() -> Self {
        // The key is never used: no hash goes out.
        let options = Options {
            addresses: Addresses::Public,
            pii: true,
        };
        Self {
            redactor: Redactor::new(Key::new([0; 32]), options),
            known: Known::default(),
            numbers: BTreeMap::new(),
        }
    }

    /// Remembers what a text holds, so that it is hidden in texts before it as well.
    pub(super) fn learn(&mut self, text: &str) {
        self.redactor.redact_with(&mut self.known, text);
    }

    /// Hides what is secret.
    pub(super) fn scrub<'t>(&mut self, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
        let redacted = self.redactor.redact_with(&mut self.known, text);
        let mut out = String::new();
        let mut done = 0;
        for span in &redacted.spans {
            if OF_OTHER_PASSES.contains(&&*span.kind) || span.start < done {
                continue;
            }
            let value = &text[span.start..span.end];
            let new = match &*span.kind {
                "ip" => "[REDACTED_IP]".to_owned(),
                kind => match kind.strip_prefix("pii_") {
                    Some(kind) => format!("[REDACTED_{}]", kind.to_ascii_uppercase()),
                    None => {
                        let next = self.numbers.len() + 1;
                        let number = *self.numbers.entry(value.to_owned()).or_insert(next);
                        format!("credential_ref:{kind}:{number:012}")
                    }
                },
            };
            out.push_str(&text[done..span.start]);
            out.push_str(&new);
            done = span.end;
            count();
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }
}
