//! The artifact trail: every file that was read, changed, created, deleted or renamed, in order, with how it went last.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use super::file_record::FileRecord;
use super::path;
use super::shelf::Room;
use super::shelf::Shelf;
use super::shelf::Shelved;
use super::touch::Act;
use super::touch::OPEN_FILE;
use super::touch::Swap;
use super::touch::Touch;
use crate::decide::cut;
use crate::ledger::entry::Entry;

/// Most files: the longest recorded sessions touch under two hundred; those only read make room first.
const MOST: Room = Room { all: 400, light: 200 };

/// Most folders that relative paths are tried against.
const MOST_ROOTS: usize = 6;

/// Most edits of one file that can be told to be undone, one by one.
const MOST_EDITS: usize = 16;

/// Longest note.
const NOTE: usize = 240;

/// All files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trail {
    files: Shelf<FileRecord>,
    /// Folders that relative paths were seen to start from, the newest last.
    roots: Vec<Box<str>>,
    open_file: Option<Box<str>>,
    folder: Option<Box<str>>,
    /// The message in which version control put changes aside.
    #[serde(default)]
    aside: Option<u32>,
}

impl Trail {
    /// The files, the one touched longest ago first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.files.items().map(|file| &file.entry)
    }

    /// The files to which something was done beside reading them, the one touched last first.
    pub(super) fn changed(&self) -> impl Iterator<Item = &FileRecord> {
        let files = self
            .files
            .items()
            .filter(|file| !file.is_light() && file.last != Some(Act::Folder));
        let mut files: Vec<&FileRecord> = files.collect();
        files.sort_by_key(|file| u32::MAX - file.changed_at.unwrap_or(file.entry.last));
        files.into_iter()
    }

    /// Whether a file stands where temporary files are put, and not in a folder in which commands start.
    pub(super) fn is_temporary(&self, file: &str) -> bool {
        let is_below = |root: &str| path::is_scratch(&format!("{root}/")) && root.matches('/').count() > 1;
        let mut roots = self.roots.iter().filter(|root| is_below(root));
        path::is_scratch(file)
            && !roots.any(|root| file.strip_prefix(&**root).is_some_and(|rest| rest.starts_with('/')))
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
        let mut file = self.files.take(&key).unwrap_or_else(|| FileRecord::new(&key, message));
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
            let mut file = FileRecord::new(to, message);
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

    /// An edit that took out lines and put in others. One that puts back what an earlier one took out undoes it; where nothing
    /// is left of the edits, the file is as it was.
    pub(super) fn swap(&mut self, message: u32, swap: &Swap) {
        let Some(key) = self.resolve(&swap.path) else { return };
        self.files.amend(&key, |file| {
            let undone = file.edits.iter().rposition(|edit| *edit == (swap.new, swap.old));
            if let Some(at) = undone {
                file.edits.remove(at);
                if file.edits.is_empty() {
                    file.reverted = Some(message);
                    file.tell(message);
                }
                return;
            }
            if file.edits.len() >= MOST_EDITS {
                // A pair that no edit undoes keeps the rest from looking like all there was.
                file.edits.remove(1);
                file.edits[0] = (0, 0);
            }
            file.edits.push((swap.old, swap.new));
            // What was taken out and put in again elsewhere was moved.
            if file.reverted == Some(message) {
                file.reverted = None;
                file.tell(message);
            }
        });
    }

    /// Every change since the last commit was thrown away, or put aside.
    fn restore_all(&mut self, message: u32) {
        self.files.amend_all(|file| {
            let has_change = file.changed_at.is_some() && !file.is_committed && file.reverted.is_none();
            // What was made new and never added stays where it is.
            if has_change && file.changes > 0 {
                file.reverted = Some(message);
                file.edits.clear();
                file.entry.last = message;
                file.tell(message);
            }
        });
    }

    /// What a command of version control did to every file that was changed.
    pub(super) fn version_control(&mut self, message: u32, command: &str) {
        let Some(rest) = command.strip_prefix("git ") else {
            return;
        };
        let words: Vec<&str> = rest.split(' ').collect();
        match words.as_slice() {
            ["commit", ..] => self.files.amend_all(|file| {
                file.is_committed = true;
                file.edits.clear();
            }),
            ["reset", rest @ ..] if rest.contains(&"--hard") => self.restore_all(message),
            ["checkout" | "restore", "."] | ["checkout" | "restore", "--", "."] | ["checkout", "-f", ..] => {
                self.restore_all(message)
            }
            ["stash", "pop" | "apply", ..] => {
                if let Some(aside) = self.aside.take() {
                    self.bring_back(message, aside);
                }
            }
            ["stash"] | ["stash", "push" | "save" | "-u" | "--include-untracked" | "-m", ..] => {
                self.aside = Some(message);
                self.restore_all(message);
            }
            _ => {}
        }
    }

    /// What was put aside is there again.
    fn bring_back(&mut self, message: u32, aside: u32) {
        self.files.amend_all(|file| {
            if file.reverted == Some(aside) {
                file.reverted = None;
                file.entry.last = message;
                file.tell(message);
            }
        });
    }

    /// Whether a file that is written whole was there before.
    pub(super) fn is_new(&self, spelled: &str) -> bool {
        self.resolve(spelled).is_none_or(|key| !self.exists(&key))
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
