//! What validation finds, and how it is collected.

use serde::Serialize;
use serde_json::Value;

use crate::fixture::NamedText;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Figures from it would mislead, or it cannot be used at all.
    Error,
    /// It can be used, and should be looked at.
    Warning,
}

/// Something to correct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// The place in it, as a path of JSON: `$.probes[2].spans`.
    pub place: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// Findings of one file, as they come.
pub(super) struct Findings<'a> {
    pub file: &'a str,
    /// Whether the exam is the project's own, which keeps to all of its rules; others are warned.
    pub is_ours: bool,
    pub found: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    pub fn add(&mut self, severity: Severity, place: impl Into<String>, what: impl Into<String>, remedy: &str) {
        self.found.push(Finding {
            file: self.file.to_owned(),
            place: place.into(),
            severity,
            what: what.into(),
            remedy: remedy.to_owned(),
        });
    }

    pub fn error(&mut self, place: impl Into<String>, what: impl Into<String>, remedy: &str) {
        self.add(Severity::Error, place, what, remedy);
    }

    pub fn warning(&mut self, place: impl Into<String>, what: impl Into<String>, remedy: &str) {
        self.add(Severity::Warning, place, what, remedy);
    }

    /// A rule of the house: an error in the project's own exam, a warning in any other.
    pub fn house(&mut self, place: impl Into<String>, what: impl Into<String>, remedy: &str) {
        let severity = if self.is_ours {
            Severity::Error
        } else {
            Severity::Warning
        };
        self.add(severity, place, what, remedy);
    }
}

/// Reads a file as a JSON object, or says why it is none.
pub(super) fn object(file: &NamedText, findings: &mut Findings<'_>) -> Option<Value> {
    match serde_json::from_str::<Value>(&file.text) {
        Ok(value) if value.is_object() => Some(value),
        Ok(_) => {
            findings.error("$", "this is JSON, but no object", "see evals/schemas for the form");
            None
        }
        Err(error) => {
            findings.error(
                "$",
                format!("this is not JSON: {error}"),
                "correct it at the line and column named",
            );
            None
        }
    }
}
