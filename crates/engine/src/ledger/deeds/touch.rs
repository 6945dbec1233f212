//! What a call does to a file.

use serde::Deserialize;
use serde::Serialize;

use super::path;

/// Most files that one call is said to touch: a listing that is longer is a sweep, and its first files stand for it.
pub(super) const MOST: usize = 64;

/// Stands for the file that an editor has open.
pub(super) const OPEN_FILE: &str = "\u{0}open";

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Act {
    /// It was shown.
    Read,
    /// It was written whole: new, or in place of what stood there.
    Write,
    /// It was made new.
    Create,
    /// A part of it was changed.
    Modify,
    /// What was committed was put back.
    Restore,
    /// It is gone.
    Delete,
    /// It has another name; `from` is the old one.
    Rename,
    /// A folder was made.
    Folder,
}

impl Act {
    /// Its name in the trail.
    pub(super) fn name(self) -> &'static str {
        match self {
            Act::Read => "read",
            Act::Write => "written",
            Act::Create => "created",
            Act::Modify => "modified",
            Act::Restore => "restored",
            Act::Delete => "deleted",
            Act::Rename => "renamed",
            Act::Folder => "folder made",
        }
    }
}

/// One thing that was done to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Touch {
    /// What.
    pub act: Act,
    /// The file, as far as its place is known.
    pub path: Box<str>,
    /// The earlier name of a renamed file.
    pub from: Option<Box<str>>,
}

/// An edit, by marks of the lines that it took out and put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Swap {
    /// The file.
    pub path: Box<str>,
    /// The lines that it took out.
    pub old: u64,
    /// The lines that it put in.
    pub new: u64,
}

impl Swap {
    /// The marks of an edit.
    pub(super) fn of(path: &str, old: &str, new: &str) -> Swap {
        Swap {
            path: path.into(),
            old: mark_of(old),
            new: mark_of(new),
        }
    }
}

/// The edits of one call without those that move lines: what one takes out, another puts in.
pub(super) fn without_moves(swaps: &[Swap]) -> impl Iterator<Item = &Swap> {
    swaps.iter().filter(|swap| {
        let mut others = swaps.iter();
        !others.any(|other| other.path == swap.path && (other.old, other.new) == (swap.new, swap.old))
    })
}

/// A mark of some lines, whatever spaces stand around them.
fn mark_of(lines: &str) -> u64 {
    // FNV-1a: the marks are stored, and have to be the same in every build.
    lines.trim().bytes().fold(0xcbf2_9ce4_8422_2325, |mark, byte| {
        (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Touches of one call, in order, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Touches(pub Vec<Touch>);

impl Touches {
    /// Adds a touch if the word is a path. Relative ones are seen from the folder.
    pub(super) fn add(&mut self, act: Act, folder: Option<&str>, word: &str) {
        if path::is_path(word) {
            self.push(Touch {
                act,
                path: path::join(folder, word).into(),
                from: None,
            });
        }
    }

    /// Adds a new name.
    pub(super) fn rename(&mut self, folder: Option<&str>, from: &str, to: &str) {
        if path::is_path(from) && path::is_path(to) {
            self.push(Touch {
                act: Act::Rename,
                path: path::join(folder, to).into(),
                from: Some(path::join(folder, from).into()),
            });
        }
    }

    fn push(&mut self, touch: Touch) {
        if self.0.len() < MOST
            && touch.path.len() <= path::LONGEST
            && !touch.path.is_empty()
            && !self.0.contains(&touch)
        {
            self.0.push(touch);
        }
    }
}
