//! The text of the configuration file, and what is said about a place in it.
//!
//! What is said never repeats a value: the file may hold a key that does not belong there.

use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;

use crate::config::place::Place;

/// More than this is no configuration: every model that is known, written out, takes a tenth of it.
const MOST_BYTES: u64 = 1 << 20;

/// A file that was read, or the emptiness of one that is not there.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Where it was; none where there is no file.
    pub path: Option<PathBuf>,
    /// What it says.
    pub text: String,
    /// Where its lines begin.
    starts: Vec<usize>,
}

impl Source {
    /// A text as if it had been read from a file.
    pub fn new(path: &Path, text: String) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        Self {
            path: Some(path.to_owned()),
            starts: starts.collect(),
            text,
        }
    }

    /// Reads the file. One that nobody named need not be there.
    pub fn read(place: &Place) -> anyhow::Result<Self> {
        let shown = || format!("the configuration file {}", place.path.display());
        let file = match std::fs::File::open(&place.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !place.is_named() => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error).with_context(|| format!("{} ({})", shown(), place.origin)),
        };
        refuse_what_anybody_may_write(&file, &place.path).with_context(shown)?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).with_context(shown)?;
        if bytes.len() as u64 > MOST_BYTES {
            anyhow::bail!(
                "{}: it has more than {MOST_BYTES} bytes and is no configuration",
                shown()
            );
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
            anyhow::anyhow!("{}:{line}: it is no UTF-8 text", place.path.display())
        })?;
        Ok(Self::new(&place.path, text))
    }

    /// The line (from 1) that a place in the text is on.
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).max(1)
    }

    /// What stands on its line before a place.
    pub fn before(&self, at: usize) -> &str {
        let start = self.starts.get(self.line(at) - 1).copied().unwrap_or(0);
        self.text.get(start..at).unwrap_or("")
    }

    /// Something that is wrong at a place. Should the words hold a secret after all, it is hidden.
    pub fn complain(&self, span: Range<usize>, words: impl fmt::Display) -> Complaint {
        Complaint {
            path: self.path.clone().unwrap_or_default(),
            line: self.line(span.start),
            words: without_secrets(&words.to_string()),
        }
    }
}

impl Source {
    /// Refuses a text that holds something that looks like a secret, be it under a key of ours or in a comment: what is in
    /// the file may be shown.
    pub fn refuse_secrets(&self) -> Result<(), Complaint> {
        let Some(span) = redactor().find(&self.text).into_iter().next() else {
            return Ok(());
        };
        let words = "this looks like a key or a password, which must not stand in this file, not even as a comment; name an \
                     environment variable with key_env, or a file of its own with key_file";
        Err(self.complain(span.start..span.end, words))
    }
}

/// Something that is wrong with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    path: PathBuf,
    line: usize,
    words: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path.display(), self.line, self.words)
    }
}

impl std::error::Error for Complaint {}

/// Whether a text holds something that looks like a secret.
pub fn looks_secret(text: &str) -> bool {
    !redactor().find(text).is_empty()
}

fn without_secrets(text: &str) -> String {
    redactor().redact(text).text
}

/// Looks for secrets only. Nothing it makes is kept, so it needs no key of anybody.
fn redactor() -> Redactor {
    let options = Options {
        addresses: Addresses::None,
        pii: false,
    };
    Redactor::new(Key::new([0; 32]), options)
}

/// Whoever may write the file decides where conversations go.
#[cfg(unix)]
fn refuse_what_anybody_may_write(file: &std::fs::File, path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o002 != 0 {
        anyhow::bail!(
            "anybody may write it, and so redirect your conversations; run: chmod o-w {}",
            path.display()
        );
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_what_anybody_may_write(_file: &std::fs::File, _path: &Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let source = Source::new(Path::new("c"), "a = 1\n\nb = 2".to_owned());
        let lines: Vec<_> = [0, 5, 6, 7, 12, 99].map(|at| source.line(at)).to_vec();
        assert_eq!(lines, [1, 1, 2, 3, 3, 3]);
        assert_eq!(source.before(11), "b = ");
        assert_eq!(Source::default().line(0), 1);
        assert_eq!(Source::default().before(7), "");
    }

    #[test]
    fn a_complaint_hides_secrets() {
        let source = Source::new(Path::new("c"), String::new());
        let said = source
            .complain(0..0, "what is sk-proj-Zq8vR2mN4kT7wX1yB5cD9fGhJ3LpS6aE here?")
            .to_string();
        assert!(said.starts_with("c:1: what is "), "{said}");
        assert!(!said.contains("Zq8vR2mN4kT7"), "{said}");
    }
}
