//! The audit: people, machines and secrets in a finished fixture, with patterns that share nothing with the passes.
//!
//! Every string is looked at as it stands, with its escapes and percent signs read, and inside of base64. A finding shows
//! where it is and what it looks like, never what it says.

mod patterns;
mod views;

use aho_corasick::AhoCorasick;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use serde::Serialize;
use serde_json::Value;

/// Something that should not be in a fixture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// Where, from the root of the file: `messages[3].content`.
    pub path: String,
    /// The byte of the string, or of what it says where it is encoded.
    pub offset: usize,
    /// What it looks like: `mail`, `home`, `name`, `phone`, `address`, `secret` …
    pub kind: &'static str,
    /// How the string was read: `plain`, `escaped`, `percent` or `base64`.
    pub reading: &'static str,
    /// Its first two characters and its length.
    pub excerpt: String,
}

/// What an audit looks for besides its patterns, and what it lets pass.
#[derive(Debug)]
pub struct Auditor {
    names: Option<AhoCorasick>,
    allowed: Vec<String>,
    redactor: Redactor,
}

/// A name of more letters is looked for inside of words, too.
const TELLING: usize = 6;

impl Auditor {
    /// Knows these names, in any case, and lets these texts pass.
    pub fn new(names: &[String], allowed: &[String]) -> Self {
        let mut names: Vec<String> = names.iter().map(|name| name.trim().to_lowercase()).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        let built = AhoCorasick::builder()
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(&names);
        let options = Options {
            addresses: Addresses::None,
            pii: false,
        };
        Self {
            names: built.ok().filter(|_| !names.is_empty()),
            allowed: allowed.iter().map(|text| text.to_lowercase()).collect(),
            redactor: Redactor::new(Key::new([0; 32]), options),
        }
    }

    /// Everything that should not be in a fixture, given as the text of its file.
    pub fn audit(&self, fixture: &str) -> Result<Vec<Finding>, serde_json::Error> {
        let root: Value = serde_json::from_str(fixture)?;
        let mut found = Vec::new();
        self.walk(&root, String::new(), Speaker::Other, &mut found);
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn walk(&self, value: &Value, path: String, speaker: Speaker, found: &mut Vec<Finding>) {
        match value {
            Value::String(text) => self.string(text, &path, speaker, found),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, format!("{path}[{index}]"), speaker, found);
                }
            }
            Value::Object(members) => {
                let is_model = members.get("role").and_then(Value::as_str) == Some("assistant");
                for (key, member) in members {
                    let below = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path}.{key}")
                    };
                    // Ids of calls look random and are nobody's; what was done to a fixture is told in words of ours.
                    let is_id = matches!(&**key, "tool_call_id" | "id") && path.starts_with("messages[");
                    if is_id || (path.is_empty() && matches!(&**key, "scrubbing_passes" | "scrubbed_at")) {
                        if let (true, Some(id)) = (is_id, member.as_str()) {
                            self.names(id, "plain", &below, found);
                        }
                        continue;
                    }
                    let speaker = if is_model && key == "content" {
                        Speaker::Model
                    } else {
                        Speaker::Other
                    };
                    self.walk(member, below, speaker, found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn string(&self, text: &str, path: &str, speaker: Speaker, found: &mut Vec<Finding>) {
        for span in self.redactor.find(text) {
            self.note(text, span.start, span.end, "secret", "plain", path, found);
        }
        for (reading, view) in views::of(text) {
            self.names(&view, reading, path, found);
            patterns::find(&view, speaker == Speaker::Model, &mut |start, end, kind| {
                self.note(&view, start, end, kind, reading, path, found);
            });
        }
    }

    /// Known names: as words, and from some length on anywhere.
    fn names(&self, text: &str, reading: &'static str, path: &str, found: &mut Vec<Finding>) {
        let Some(names) = &self.names else { return };
        let lower = text.to_lowercase();
        for hit in names.find_iter(&lower) {
            let letter_before = lower[..hit.start()].ends_with(char::is_alphabetic);
            let letter_after = lower[hit.end()..].starts_with(char::is_alphabetic);
            // A name of several words, or beside letters of other scripts, would be a part of a longer one.
            let plain = |c: Option<char>| c.is_none_or(|c| !c.is_alphabetic() || c.is_ascii());
            let one = lower[hit.start()..hit.end()].chars().all(char::is_alphanumeric);
            let glued = plain(lower[..hit.start()].chars().next_back()) && plain(lower[hit.end()..].chars().next());
            if hit.end() - hit.start() >= TELLING && one && glued || !(letter_before || letter_after) {
                self.note(&lower, hit.start(), hit.end(), "name", reading, path, found);
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a finding has this many parts, and one caller a kind"
    )]
    fn note(
        &self,
        text: &str,
        start: usize,
        end: usize,
        kind: &'static str,
        reading: &'static str,
        path: &str,
        found: &mut Vec<Finding>,
    ) {
        let matched = text.get(start..end).unwrap_or("");
        let lower = matched.to_lowercase();
        if self.allowed.iter().any(|allowed| lower.contains(allowed.as_str())) {
            return;
        }
        let shown: String = matched.chars().take(2).collect();
        found.push(Finding {
            path: path.to_owned(),
            offset: start,
            kind,
            reading,
            excerpt: format!("{shown}… ({} characters)", matched.chars().count()),
        });
    }
}

/// Whose words a string is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Model,
    Other,
}
