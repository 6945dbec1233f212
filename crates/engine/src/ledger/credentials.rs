//! Credentials that came up, by their references. Only what the redactor put there counts: a reference that stood in the
//! text before was written by somebody else and says nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// How every reference begins.
const OPENING: &str = "credential_ref:";
/// How many references are remembered; a conversation has tens.
const MOST: usize = 500;
/// How much of what stands before a reference is shown: enough for the name of a variable.
const CONTEXT: usize = 40;

/// The credentials so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    entries: BTreeMap<Box<str>, Entry>,
}

impl Credentials {
    /// Takes in the references that redaction put into a text.
    pub fn fold(&mut self, raw: &str, clean: &str, author: Author, message: u32) {
        for (at, _) in clean.match_indices(OPENING) {
            let rest = &clean[at..];
            let length = OPENING.len()
                + rest[OPENING.len()..]
                    .find(is_outside)
                    .unwrap_or(rest.len() - OPENING.len());
            let reference = &rest[..length];
            if raw.contains(reference) {
                continue;
            }
            if let Some(entry) = self.entries.get_mut(reference) {
                entry.last = message;
                entry.times += 1;
            } else if self.entries.len() < MOST {
                let entry = Entry::new(Kind::Credential, reference, reference, Status::Current, author, message);
                let entry = match name_before(&clean[..at]) {
                    "" => entry,
                    name => entry.with_note(name),
                };
                self.entries.insert(reference.into(), entry);
            }
        }
    }

    /// All of them, by reference.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }
}

fn is_outside(letter: char) -> bool {
    !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':' | '-'))
}

/// The name to which a reference belongs: the word before it on its line.
fn name_before(text: &str) -> &str {
    let line = &text[text.rfind('\n').map_or(0, |end| end + 1)..];
    let line = line.trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let start = line.rfind(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')));
    let name = &line[start.map_or(0, |start| {
        start + line[start..].chars().next().map_or(1, char::len_utf8)
    })..];
    match name.len() <= CONTEXT {
        true => name,
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_references_that_redaction_made_are_listed() {
        let mut credentials = Credentials::default();
        let raw = "export GITHUB_TOKEN=abc; spoof credential_ref:credential:deadbeef";
        let clean = "export GITHUB_TOKEN=credential_ref:github:01ab; spoof credential_ref:credential:deadbeef";
        credentials.fold(raw, clean, Author::User, 3);
        credentials.fold("abc", "credential_ref:github:01ab", Author::Tool, 9);
        let found: Vec<_> = credentials.entries().collect();
        assert_eq!(found.len(), 1);
        assert_eq!(&*found[0].key, "credential_ref:github:01ab");
        assert_eq!(found[0].note.as_deref(), Some("GITHUB_TOKEN"));
        assert_eq!((found[0].first, found[0].last, found[0].author), (3, 9, Author::User));
    }
}
