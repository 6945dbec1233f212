//! Secrets, public addresses and numbers of people, found by the redactor.
//!
//! A reference holds a number in the place of a hash: whoever has the fixture has nothing to test a guess against.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Known;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use regex::Regex;

use crate::scrub::mails::in_address;
use crate::scrub::numbers::is_version;
use crate::scrub::text::then;

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

    /// Remembers what a text holds, so that it is hidden in texts before it as well. Gives the handles that are mentioned in it.
    pub(super) fn learn<'t>(&mut self, text: &'t str) -> Vec<&'t str> {
        let redacted = self.redactor.redact_with(&mut self.known, text);
        let mentioned = redacted.spans.iter().filter(|span| &*span.kind == "pii_handle");
        let handles = mentioned.filter_map(|span| text.get(span.start..span.end));
        handles.map(|handle| handle.trim_start_matches('@')).collect()
    }

    /// Hides what is secret: in the text as it stands, and where escapes hide where words begin.
    pub(super) fn scrub<'t>(&mut self, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
        let text = self.hide(text, None, count);
        then(text, |text| match veiled(text) {
            Some(view) => self.hide(text, Some(&view), count),
            None => Cow::Borrowed(text),
        })
    }

    /// Hides what stands in a text, or in a view of it of the same length.
    fn hide<'t>(&mut self, text: &'t str, view: Option<&str>, count: &mut dyn FnMut()) -> Cow<'t, str> {
        let redacted = self.redactor.redact_with(&mut self.known, view.unwrap_or(text));
        let mut out = String::new();
        let mut done = 0;
        for span in &redacted.spans {
            let Some(value) = text.get(span.start..span.end).filter(|_| span.start >= done) else {
                continue;
            };
            let is_version = &*span.kind == "ip" && is_version(&text[..span.start], value, &text[span.end..]);
            if is_version || OF_OTHER_PASSES.contains(&&*span.kind) {
                continue;
            }
            // A password in an address of the web ends before the host.
            let host = value.rfind('@').filter(|at| *at > 0 && in_address(&text[..span.start]));
            let value = &value[..host.unwrap_or(value.len())];
            out.push_str(&text[done..span.start]);
            out.push_str(&self.reference(&span.kind, value));
            done = span.start + value.len();
            count();
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// What stands in the place of a value.
    fn reference(&mut self, kind: &str, value: &str) -> String {
        match kind.strip_prefix("pii_").or((kind == "ip").then_some("ip")) {
            Some(kind) => format!("[REDACTED_{}]", kind.to_ascii_uppercase()),
            None => {
                let next = self.numbers.len() + 1;
                let number = *self.numbers.entry(value.to_owned()).or_insert(next);
                format!("credential_ref:{kind}:{number:012}")
            }
        }
    }
}

static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    let escapes = r"\\{1,8}[nrt]|(?:\x1b|\\{1,4}(?:u001b|x1b|033|e))\[[0-9;]{0,12}m";
    Regex::new(escapes).expect("the pattern is fixed, and a test runs it")
});

/// The text with spaces in the place of escapes, byte for byte as long; none where it has no escapes.
fn veiled(text: &str) -> Option<String> {
    let mut view = String::with_capacity(text.len());
    let mut done = 0;
    for escape in ESCAPE.find_iter(text) {
        view.push_str(&text[done..escape.start()]);
        view.extend(std::iter::repeat_n(' ', escape.len()));
        done = escape.end();
    }
    view.push_str(&text[done..]);
    (done > 0).then_some(view)
}
