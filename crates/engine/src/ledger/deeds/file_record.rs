//! What is known of one file: how often it was read and changed, made, deleted, renamed or put back, and how it went last.

use serde::Deserialize;
use serde::Serialize;

use super::shelf::Shelved;
use super::touch::Act;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// A file and what was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    pub(super) entry: Entry,
    pub(super) reads: u32,
    pub(super) changes: u32,
    pub(super) created: Option<u32>,
    /// The last thing that was done to it and went well.
    pub(super) last: Option<Act>,
    /// Whether the newest attempt failed.
    pub(super) has_failed: bool,
    /// Its earlier name.
    pub(super) from: Option<Box<str>>,
    /// The message that last did something to it beside reading it.
    #[serde(default)]
    pub(super) changed_at: Option<u32>,
    /// The message that put it back as it was.
    #[serde(default)]
    pub(super) reverted: Option<u32>,
    /// The newest edits: marks of the lines they took out and put in.
    #[serde(default)]
    pub(super) edits: Vec<(u64, u64)>,
    /// Whether nothing was changed since the last commit.
    #[serde(default)]
    pub(super) is_committed: bool,
}

impl FileRecord {
    /// Its path.
    pub fn path(&self) -> &str {
        &self.entry.key
    }

    /// How often it was read.
    pub fn reads(&self) -> u32 {
        self.reads
    }

    /// How often it was changed.
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// The message that made it.
    pub fn created(&self) -> Option<u32> {
        self.created
    }

    /// The message that put it back as it was, if nothing was changed since.
    pub fn reverted(&self) -> Option<u32> {
        self.reverted
    }

    /// Whether it was deleted.
    pub fn is_deleted(&self) -> bool {
        self.last == Some(Act::Delete)
    }

    /// Its earlier name.
    pub fn renamed_from(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// Whether the newest attempt to read or change it failed.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The message that last did something to it.
    pub fn last(&self) -> u32 {
        self.entry.last
    }

    /// Whose doing it was.
    pub fn author(&self) -> Author {
        self.entry.author
    }

    /// src/a.rs: modified ×3 (created m4, read ×2), last: ok, m41
    pub fn line(&self) -> String {
        let note = match (&self.entry.note, self.has_failed) {
            (Some(note), true) => format!(" ({note})"),
            _ => String::new(),
        };
        let message = self.changed_at.unwrap_or(self.entry.last);
        let value = &self.entry.value;
        // `deleted m41` names its message already.
        let first = value.split([' ', ',']).nth(1);
        match first.and_then(|word| word.strip_prefix('m')) == Some(&*message.to_string()) {
            true => format!("{}: {value}{note}", self.path()),
            false => format!("{}: {value}, m{message}{note}", self.path()),
        }
    }
}

impl Shelved for FileRecord {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        self.changes == 0 && self.created.is_none() && self.from.is_none() && self.last != Some(Act::Delete)
    }
}

impl FileRecord {
    pub(super) fn new(key: &str, message: u32) -> Self {
        let mut entry = Entry::new(Kind::File, key, "", Status::Current, Author::Assistant, message);
        entry.times = 0;
        FileRecord {
            entry,
            reads: 0,
            changes: 0,
            created: None,
            last: None,
            has_failed: false,
            from: None,
            changed_at: None,
            reverted: None,
            edits: Vec::new(),
            is_committed: false,
        }
    }

    pub(super) fn apply(&mut self, act: Act, exists: bool, message: u32) {
        if act != Act::Read {
            self.changed_at = Some(message);
            self.is_committed = false;
            self.reverted = (act == Act::Restore).then_some(message);
        }
        self.last = Some(match act {
            Act::Write if exists => Act::Modify,
            Act::Write => Act::Create,
            // Touching a file that is there, or making a folder again, changes nothing.
            Act::Create | Act::Folder if exists => self.last.unwrap_or(act),
            other => other,
        });
        match (act, exists) {
            (Act::Read, _) => self.reads += 1,
            (Act::Write, true) | (Act::Modify | Act::Restore, _) => self.changes += 1,
            (Act::Write | Act::Create | Act::Folder, false) => {
                self.created = Some(message);
                self.changes = 0;
            }
            (Act::Create | Act::Folder | Act::Delete | Act::Rename, _) => {}
        }
    }

    /// Says what is known, the most telling first: `modified ×3 (created m4, read ×2), last: ok`.
    pub(super) fn tell(&mut self, message: u32) {
        let times = |word: &str, count: u32| match count {
            1 => word.to_owned(),
            count => format!("{word} ×{count}"),
        };
        let mut said: Vec<String> = Vec::new();
        match self.last {
            Some(Act::Delete) => said.push(format!("deleted m{}", self.entry.last)),
            Some(Act::Restore) if self.reverted.is_none() => said.push(format!("restored m{}", self.entry.last)),
            Some(Act::Folder) => said.push("folder".to_owned()),
            _ => {}
        }
        if let Some(message) = self.reverted {
            said.push(format!("reverted m{message}"));
        }
        if let Some(from) = &self.from {
            said.push(format!("renamed from {from}"));
        }
        if self.changes > 0 {
            said.push(times("modified", self.changes));
        }
        if let Some(created) = self.created {
            said.push(format!("created m{created}"));
        }
        if self.reads > 0 {
            said.push(times("read", self.reads));
        }
        let mut said = said.into_iter();
        let first = said.next().unwrap_or_else(|| "not changed".to_owned());
        let rest: Vec<String> = said.collect();
        let mut value = match rest.is_empty() {
            true => first,
            false => format!("{first} ({})", rest.join(", ")),
        };
        if self.has_failed {
            value.push_str(&format!(", last: failed m{message}"));
        } else if (self.changes > 0 || self.created.is_some()) && self.last != Some(Act::Delete) {
            value.push_str(", last: ok");
        }
        self.entry.value = value.into();
    }
}
