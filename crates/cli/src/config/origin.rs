//! Where a value comes from. Every effective value remembers it, so that nobody has to guess which of four places won.

use std::fmt;

use serde::Serialize;

/// Who set a value. The order is the order of precedence, strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag of this command line.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// The configuration file, at this line (from 1).
    File(usize),
    /// What is known about models by their name.
    Known,
    /// Nobody: it is what the program does by itself.
    BuiltIn,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(name) => write!(formatter, "flag {name}"),
            Origin::Variable(name) => write!(formatter, "environment variable {name}"),
            Origin::File(line) => write!(formatter, "line {line}"),
            Origin::Known => formatter.write_str("the model's name"),
            Origin::BuiltIn => formatter.write_str("built in"),
        }
    }
}

/// The documented JSON shape of an origin.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct OriginReport {
    kind: &'static str,
    name: Option<&'static str>,
    line: Option<usize>,
}

impl From<&Origin> for OriginReport {
    fn from(origin: &Origin) -> Self {
        let (kind, name, line) = match origin {
            Origin::Flag(name) => ("flag", Some(*name), None),
            Origin::Variable(name) => ("variable", Some(*name), None),
            Origin::File(line) => ("file", None, Some(*line)),
            Origin::Known => ("known", None, None),
            Origin::BuiltIn => ("built-in", None, None),
        };
        Self { kind, name, line }
    }
}

/// One effective value, for `config show`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its full key, such as `compact.window`.
    pub key: String,
    /// The value; `null` where nobody set it and it is found out later.
    pub value: serde_json::Value,
    /// Who set it.
    pub origin: Origin,
}

/// A value that a flag sets, with the name of the flag.
pub type Flagged<T> = Option<(T, &'static str)>;
