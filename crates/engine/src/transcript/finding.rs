//! What was wrong with a source, and what was done about it.
//!
//! Malformed history is not an error: it is read as far as possible, and every departure is one finding
//! with its place. Rules have stable codes, which appear in `--json` output.

use serde::Serialize;

use crate::transcript::message::Place;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing is missing or changed.
    Note,
    /// Something was repaired; no content is missing.
    Repaired,
    /// Content could not be read and is missing.
    Lost,
}

macro_rules! rules {
    ($($name:ident, $code:literal, $severity:ident, $about:literal;)*) => {
        /// The kinds of findings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $about] $name,)*
        }

        impl Rule {
            /// Every rule, in the order of the catalogue.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// The stable name of the rule in `--json` output.
            pub fn code(self) -> &'static str {
                match self { $(Rule::$name => $code,)* }
            }

            /// How much a finding of this kind matters.
            pub fn severity(self) -> Severity {
                match self { $(Rule::$name => Severity::$severity,)* }
            }

            /// One sentence for people.
            pub fn about(self) -> &'static str {
                match self { $(Rule::$name => $about,)* }
            }
        }
    };
}

rules! {
    ByteOrderMark, "byte-order-mark", Note, "The file starts with a byte order mark.";
    CarriageReturns, "carriage-returns", Note, "Lines end in CR LF.";
    NulBytes, "nul-bytes", Repaired, "NUL bytes outside of any record were skipped.";
    InvalidUtf8, "invalid-utf8", Repaired, "Invalid UTF-8 was replaced by U+FFFD.";
    LoneSurrogate, "lone-surrogate", Note, "A string holds half a surrogate pair; it is read as U+FFFD and written back as it was.";
    GluedRecords, "glued-records", Repaired, "Several records stood on one line; each was read.";
    TornRecord, "torn-record", Lost, "The record is cut off.";
    BadRecord, "bad-record", Lost, "The record is not valid JSON.";
    NotARecord, "not-a-record", Lost, "The record is JSON, but not of the shape this format uses.";
    UnknownType, "unknown-type", Note, "A record of a type this version does not know; it is not part of the conversation it reads.";
    UnknownRole, "unknown-role", Repaired, "A role this version does not know; the message is read as the host's, in the user role.";
    DuplicateRecord, "duplicate-record", Note, "The same record stands in the source more than once; it is read once.";
    MissingParent, "missing-parent", Repaired, "The record continues one that is not there; the conversation goes on from what stands before it.";
    ParentCycle, "parent-cycle", Repaired, "The records form a cycle; it was cut.";
    Abandoned, "abandoned", Note, "Messages of an abandoned branch (a rewind or an edit) are not part of the live conversation.";
    Sidechain, "sidechain", Note, "Messages of a subagent are not part of the main conversation.";
    LocalError, "local-error", Note, "The agent program wrote this in the model's place, mostly an error; the model never saw it.";
    MissingPiece, "missing-piece", Lost, "A piece that the source refers to is not there.";
    MalformedArguments, "malformed-arguments", Note, "The arguments of a tool call are not valid JSON.";
    MisplacedPart, "misplaced-part", Repaired, "A tool call outside of an assistant message, or a result inside of one; it is kept as text.";
    MissingCallId, "missing-call-id", Repaired, "A tool call or result has no id; it was paired by order.";
    RepeatedCallId, "repeated-call-id", Note, "A call id is used again by a later step; results go to the nearest call before them.";
    DuplicateCallId, "duplicate-call-id", Repaired, "Two calls of one step share an id; the later one was renamed.";
    OrphanResult, "orphan-result", Repaired, "A tool result answers no call before it; it is kept as text.";
    DuplicateResult, "duplicate-result", Repaired, "A call was answered twice; the later answer is kept as text.";
    UnansweredCall, "unanswered-call", Repaired, "A call was never answered; a stub stands in for its result.";
    DisplacedResult, "displaced-result", Repaired, "A tool result did not follow its call; it was moved there.";
}

/// One departure from the ideal, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind it is.
    pub rule: Rule,
    /// Where in the source.
    pub place: Place,
    /// What exactly, for people; empty when the rule says it all.
    pub detail: String,
}

impl Finding {
    /// A finding of a kind at a place.
    pub fn new(rule: Rule, place: Place, detail: impl Into<String>) -> Self {
        Self {
            rule,
            place,
            detail: detail.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_plain() {
        let mut codes: Vec<_> = Rule::ALL.iter().map(|rule| rule.code()).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
        assert!(codes.iter().all(|code| {
            code.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        }));
    }
}
