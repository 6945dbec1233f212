//! Chooses each value among flag, variable, file and what is built in, and writes down who won.

use serde::Serialize;
use toml::Spanned;

use crate::config::file::Field;
use crate::config::origin::Flagged;
use crate::config::origin::Origin;
use crate::config::origin::Row;
use crate::config::source::Source;

/// The sections, in the order in which they are shown.
const SECTIONS: [&str; 8] = [
    "compact.",
    "redact.",
    "store.",
    "summary.",
    "eval.",
    "proxy.",
    "models.",
    "endpoints.",
];

/// Collects the effective values.
pub struct Picker<'a> {
    /// The file, for lines and complaints.
    pub source: &'a Source,
    /// What was chosen so far.
    rows: Vec<Row>,
}

impl<'a> Picker<'a> {
    /// Nothing chosen yet.
    pub fn new(source: &'a Source) -> Self {
        Self {
            source,
            rows: Vec::new(),
        }
    }

    /// Everything that was chosen, section by section.
    pub fn into_rows(mut self) -> Vec<Row> {
        let section = |row: &Row| SECTIONS.iter().position(|section| row.key.starts_with(section));
        self.rows.sort_by_key(section);
        self.rows
    }

    /// Where a value of the file stands.
    pub fn origin<T>(&self, field: &Spanned<T>) -> Origin {
        Origin::File(self.source.line(field.span().start))
    }

    /// Writes an effective value down.
    pub fn note(&mut self, key: &str, value: impl Serialize, origin: Origin) {
        self.rows.push(Row {
            key: key.to_owned(),
            // Numbers, strings and lists of them: there is nothing in it that JSON cannot say.
            value: serde_json::to_value(value).unwrap_or_default(),
            origin,
        });
    }

    /// A value that may be set nowhere.
    pub fn optional<T: Clone + Serialize>(&mut self, key: &str, flag: Flagged<T>, file: &Field<T>) -> Option<T> {
        let (value, origin) = match (flag, file) {
            (Some((value, name)), _) => (Some(value), Origin::Flag(name)),
            (None, Some(field)) => (Some(field.get_ref().clone()), self.origin(field)),
            (None, None) => (None, Origin::BuiltIn),
        };
        self.note(key, &value, origin);
        value
    }

    /// A value that is built in where nobody sets it.
    pub fn with_default<T: Clone + Serialize>(
        &mut self,
        key: &str,
        flag: Flagged<T>,
        file: &Field<T>,
        built_in: T,
    ) -> T {
        let (value, origin) = match (flag, file) {
            (Some((value, name)), _) => (value, Origin::Flag(name)),
            (None, Some(field)) => (field.get_ref().clone(), self.origin(field)),
            (None, None) => (built_in, Origin::BuiltIn),
        };
        self.note(key, &value, origin);
        value
    }
}
