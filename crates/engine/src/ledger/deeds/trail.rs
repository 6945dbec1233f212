//! The artifact trail: every file that was read, changed, created, deleted or renamed, in order, with how it went last.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use super::path;
use super::shelf::Room;
use super::shelf::Shelf;
use super::shelf::Shelved;
use super::touch::Act;
use super::touch::Touch;
use crate::decide::cut;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// Most files: the longest recorded sessions touch under two hundred; those only read make room first.
const MOST: Room = Room { all: 400, light: 200 };

/// Most folders that relative paths are tried against.
const MOST_ROOTS: usize = 6;

/// Longest note.
const NOTE: usize = 240;

/// Stands for the file that an editor has open.
pub(super) const OPEN_FILE: &str = "\u{0}open";

/// A file and what was done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct File {
    entry: Entry,
    reads: u32,
    changes: u32,
    created: Option<u32>,
    /// The last thing that was done to it and went well.
    last: Option<Act>,
    /// Whether the newest attempt failed.
    has_failed: bool,
    /// Its earlier name.
    from: Option<Box<str>>,
}

impl Shelved for File {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        self.changes == 0 && self.created.is_none() && self.from.is_none() && self.last != Some(Act::Delete)
    }
}

/// All files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trail {
    files: Shelf<File>,
    /// Folders that relative paths were seen to start from, the newest last.
    roots: Vec<Box<str>>,
    open_file: Option<Box<str>>,
    folder: Option<Box<str>>,
}

impl Trail {
    /// The files, the one touched longest ago first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.files.items().map(|file| &file.entry)
    }

    /// A folder in which commands start.
    pub(super) fn learn_root(&mut self, folder: &str) {
        if !folder.starts_with('/') || folder.len() > path::LONGEST {
            return;
        }
        self.roots.retain(|known| **known != *folder);
        self.roots.push(folder.into());
        if self.roots.len() > MOST_ROOTS {
            self.roots.remove(0);
        }
    }

    /// What the editor's shell says of itself below its output.
    pub(super) fn learn_editor(&mut self, open_file: Option<&str>, folder: Option<&str>) {
        if let Some(folder) = folder.filter(|folder| folder.starts_with('/')) {
            self.folder = Some(folder.into());
        }
        if let Some(file) = open_file {
            let file = path::join(self.folder.as_deref(), file);
            self.open_file = (file != "n/a" && !file.ends_with("/n/a") && path::is_path(&file)).then(|| file.into());
        }
    }

    /// The folder in which the editor's shell stands.
    pub(super) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Whether a file is known and exists, as far as was seen.
    fn exists(&self, key: &str) -> bool {
        self.files
            .find(key)
            .is_some_and(|file| file.last.is_some_and(|last| last != Act::Delete))
    }

    /// The path under which a file stands here, whatever way it was spelled.
    pub(super) fn resolve(&self, spelled: &str) -> Option<Box<str>> {
        if spelled == OPEN_FILE {
            return self.open_file.clone();
        }
        if self.files.has(spelled) || path::is_absolute(spelled) {
            return Some(spelled.into());
        }
        let mut rooted = self.roots.iter().rev().map(|root| path::join(Some(root), spelled));
        if let Some(known) = rooted.find(|file| self.files.has(file)) {
            return Some(known.into());
        }
        // One piece alone, such as a README, is in too many folders.
        if spelled.contains('/') && !spelled.starts_with("..") {
            let mut ending = self.entries().filter(|entry| path::ends_with(&entry.key, spelled));
            if let (Some(only), None) = (ending.next(), ending.next()) {
                return Some(only.key.clone());
            }
        }
        Some(spelled.into())
    }

    /// An absolute path takes over what is known of the file under a shorter spelling.
    fn adopt_shorter(&mut self, key: &str) {
        if !key.starts_with('/') || self.files.has(key) {
            return;
        }
        let shorter = key.match_indices('/').map(|(at, _)| (&key[..at], &key[at + 1..]));
        let found = shorter
            .filter(|(root, end)| end.contains('/') || self.roots.iter().any(|known| &**known == *root))
            .find(|(_, end)| self.files.has(end));
        if let Some((root, end)) = found {
            let (root, end) = (root.to_owned(), end.to_owned());
            if let Some(mut file) = self.files.take(&end) {
                file.entry.key = key.into();
                self.files.put(key, file, MOST);
            }
            self.learn_root(&root);
        }
    }

    /// Takes a touch in; says under which path. A reason means that it failed.
    pub(super) fn touch(&mut self, message: u32, touch: &Touch, failed: Option<&str>) -> Option<Box<str>> {
        let key = self.place(touch)?;
        self.adopt_shorter(&key);
        if failed.is_none() {
            match (touch.act, &touch.from) {
                (Act::Rename, Some(from)) => self.rename(message, from, &key),
                (Act::Delete, _) => self.delete_below(message, &key),
                _ => {}
            }
        } else if touch.act == Act::Read && !self.files.has(&key) {
            // What could not be read may not be there at all.
            return None;
        }
        let mut file = self.files.take(&key).unwrap_or_else(|| File::new(&key, message));
        let exists = file.last.is_some_and(|last| last != Act::Delete);
        file.entry.last = message;
        file.entry.times += 1;
        file.has_failed = failed.is_some();
        file.entry.note = failed.map(|reason| cut(&format!("{} failed: {reason}", verb(touch.act)), NOTE).into());
        if failed.is_none() {
            file.apply(touch.act, exists, message);
        }
        file.tell(message);
        self.files.put(&key, file, MOST);
        Some(key)
    }

    /// The path under which a touched file stands. Where a spelling meets a known file, the folder it starts from is learned.
    fn place(&mut self, touch: &Touch) -> Option<Box<str>> {
        let root_of = |whole: &str, spelled: &str| {
            let root = whole.strip_suffix(spelled)?.strip_suffix('/')?;
            (!root.is_empty() && !path::is_absolute(spelled)).then(|| root.to_owned())
        };
        let key = self.resolve(&touch.path)?;
        let from = touch.from.as_deref().and_then(|from| Some((self.resolve(from)?, from)));
        if let Some(root) = from.and_then(|(whole, spelled)| root_of(&whole, spelled)) {
            self.learn_root(&root);
            return Some(path::join(Some(&root), &key).into());
        }
        if let Some(root) = root_of(&key, &touch.path) {
            self.learn_root(&root);
        }
        Some(key)
    }

    fn rename(&mut self, message: u32, from: &str, to: &str) {
        let Some(from) = self.resolve(from) else { return };
        if *from == *to {
            return;
        }
        let below: Vec<String> = self.files.keys_below(&format!("{from}/")).map(str::to_owned).collect();
        for key in below {
            let name = format!("{to}{}", &key[from.len()..]);
            self.rename_one(message, &key, &name);
        }
        if self.files.has(&from) {
            self.rename_one(message, &from, to);
        } else {
            let mut file = File::new(to, message);
            file.from = Some(from);
            self.files.put(to, file, MOST);
        }
    }

    fn rename_one(&mut self, message: u32, from: &str, to: &str) {
        if to.len() > path::LONGEST {
            return;
        }
        if let Some(mut file) = self.files.take(from) {
            file.from = Some(from.into());
            file.entry.key = to.into();
            file.entry.last = message;
            file.last = Some(Act::Rename);
            file.tell(message);
            self.files.put(to, file, MOST);
        }
    }

    /// A folder that is deleted takes its files along.
    fn delete_below(&mut self, message: u32, key: &str) {
        let below: BTreeSet<String> = self.files.keys_below(&format!("{key}/")).map(str::to_owned).collect();
        for key in below {
            self.files.amend(&key, |file| {
                if file.last != Some(Act::Delete) {
                    file.entry.last = message;
                    file.apply(Act::Delete, true, message);
                    file.tell(message);
                }
            });
        }
    }

    /// Whether a file that is written whole was there before.
    pub(super) fn is_new(&self, spelled: &str) -> bool {
        self.resolve(spelled).is_none_or(|key| !self.exists(&key))
    }
}

impl File {
    fn new(key: &str, message: u32) -> Self {
        let mut entry = Entry::new(Kind::File, key, "", Status::Current, Author::Assistant, message);
        entry.times = 0;
        File {
            entry,
            reads: 0,
            changes: 0,
            created: None,
            last: None,
            has_failed: false,
            from: None,
        }
    }

    fn apply(&mut self, act: Act, exists: bool, message: u32) {
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
    fn tell(&mut self, message: u32) {
        let times = |word: &str, count: u32| match count {
            1 => word.to_owned(),
            count => format!("{word} ×{count}"),
        };
        let mut said: Vec<String> = Vec::new();
        match self.last {
            Some(Act::Delete) => said.push(format!("deleted m{}", self.entry.last)),
            Some(Act::Restore) => said.push(format!("restored m{}", self.entry.last)),
            Some(Act::Folder) => said.push("folder".to_owned()),
            _ => {}
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
        } else if self.changes > 0 || self.created.is_some() {
            value.push_str(", last: ok");
        }
        self.entry.value = value.into();
    }
}

/// What an attempt is called.
fn verb(act: Act) -> &'static str {
    match act {
        Act::Read => "read",
        Act::Write | Act::Create | Act::Folder => "write",
        Act::Modify | Act::Restore => "edit",
        Act::Delete => "delete",
        Act::Rename => "rename",
    }
}
