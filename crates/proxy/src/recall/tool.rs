//! The tools: what they are called, what a model is told of them, and what they take.

use std::fmt;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallTool {
    /// Finds dropped texts by words.
    Search,
    /// Gives one text by its reference.
    Fetch,
    /// Shows what is known of a conversation.
    Ledger,
    /// Lists compactions.
    Checkpoints,
    /// Lists what one compaction dropped.
    Dropped,
}

impl RecallTool {
    /// All tools, in the order in which they are listed.
    pub const ALL: [RecallTool; 5] = [
        RecallTool::Search,
        RecallTool::Fetch,
        RecallTool::Ledger,
        RecallTool::Checkpoints,
        RecallTool::Dropped,
    ];

    /// The tool of this name.
    pub fn named(name: &str) -> Option<RecallTool> {
        RecallTool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            RecallTool::Search => "search",
            RecallTool::Fetch => "fetch",
            RecallTool::Ledger => "ledger",
            RecallTool::Checkpoints => "checkpoints",
            RecallTool::Dropped => "dropped",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            RecallTool::Search => "Search what was compacted away",
            RecallTool::Fetch => "Fetch one text whole",
            RecallTool::Ledger => "What is known of a conversation",
            RecallTool::Checkpoints => "List compactions",
            RecallTool::Dropped => "What one compaction dropped",
        }
    }

    /// What a model is told of it.
    pub fn description(self) -> &'static str {
        match self {
            RecallTool::Search => {
                "Finds messages and tool outputs that were compacted out of a conversation, best match first, each with a \
                 snippet and the reference to fetch it by. Give two to four words that would stand in the text itself: a file \
                 name, an error, an identifier. Words in any form; \"a phrase in quotes\" as it stands; a reference finds \
                 itself."
            }
            RecallTool::Fetch => {
                "Gives the original text behind a reference, such as m0123456789abcdef0123 from a ⟦… recall m0123…⟧ marker or \
                 from search. A long text comes in pages; each says where the next one begins. Secrets are replaced by \
                 references."
            }
            RecallTool::Ledger => {
                "Shows what is known of a conversation up to its newest compaction: the user's constraints, decisions, \
                 obligations, open questions, current values, tasks, files, commands and errors, each with its author and \
                 message."
            }
            RecallTool::Checkpoints => {
                "Lists compactions, newest first: id, time, mode, tokens before and after, and the conversation."
            }
            RecallTool::Dropped => {
                "Lists what one compaction dropped, what is most likely needed again first, each with its most telling line and \
                 the reference to fetch it by."
            }
        }
    }

    /// The JSON schema of what it takes.
    pub fn input_schema(self) -> &'static str {
        match self {
            RecallTool::Search => {
                r#"{"type":"object","properties":{"words":{"type":"string","description":"Words to look for."},"conversation":{"type":"string","description":"Only in this conversation: its key, or how the key begins."},"most":{"type":"integer","minimum":1,"maximum":20,"default":8,"description":"How many hits."}},"required":["words"],"additionalProperties":false}"#
            }
            RecallTool::Fetch => {
                r#"{"type":"object","properties":{"reference":{"type":"string","description":"The reference of the text."},"offset":{"type":"integer","minimum":0,"default":0,"description":"Where to begin, in bytes: the `next_offset` of the page before."}},"required":["reference"],"additionalProperties":false}"#
            }
            RecallTool::Ledger => {
                r#"{"type":"object","properties":{"conversation":{"type":"string","description":"The conversation's key, or how it begins; without it, the one that was compacted last."},"focus":{"type":"string","description":"What to show most of, where not everything fits."}},"additionalProperties":false}"#
            }
            RecallTool::Checkpoints => {
                r#"{"type":"object","properties":{"conversation":{"type":"string","description":"Only of this conversation: its key, or how the key begins."},"most":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"How many."},"skip":{"type":"integer","minimum":0,"default":0,"description":"How many newer ones to leave out."}},"additionalProperties":false}"#
            }
            RecallTool::Dropped => {
                r#"{"type":"object","properties":{"checkpoint":{"type":"string","description":"The compaction's id, or how it begins; without it, the newest."},"most":{"type":"integer","minimum":1,"maximum":60,"default":20,"description":"How many."},"skip":{"type":"integer","minimum":0,"default":0,"description":"How many that matter more to leave out."}},"additionalProperties":false}"#
            }
        }
    }
}

impl fmt::Display for RecallTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
