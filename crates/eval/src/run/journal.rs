//! The answers of models, kept as they come. What is in here was paid for and is never asked again.
//!
//! One line an answer. A line is handed to the system before its answer is used, so that no crash of ours loses it; a last line that was cut off is removed when the file is
//! opened again. Failures are never kept: the next run asks again.

use std::collections::BTreeMap;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::Write;
use std::path::Path;

use mainstay_llm::answer::Answer;
use serde::Deserialize;
use serde::Serialize;

use crate::run::duty::Duty;

/// A request that was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is found by: a hash over the request, the models it went to, the repeat and the attempt.
    pub key: String,
    /// What for.
    pub duty: Duty,
    /// In which repeat.
    pub repeat: u32,
    /// At which attempt to get something readable.
    pub attempt: u32,
    /// Which of the models answered, counted from zero.
    pub model: usize,
    /// The answer.
    pub answer: Answer,
    /// What it cost in US dollars, where that is known.
    pub cost: Option<f64>,
    /// Whether it came in a batch.
    #[serde(default)]
    pub batched: bool,
    /// Whether another run has paid for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub borrowed: bool,
}

/// All answers of a run so far.
#[derive(Debug)]
pub struct Journal {
    file: File,
    entries: BTreeMap<String, Entry>,
    /// Answers of other runs, which count as had, but not as paid for here.
    borrowed: BTreeMap<String, Entry>,
    /// What the answers of this run cost.
    paid: f64,
}

impl Journal {
    /// Opens a file, or makes it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let entries = match path.exists() {
            true => read(path, true)?,
            false => BTreeMap::new(),
        };
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self {
            file,
            paid: entries.values().map(paid).sum(),
            entries,
            borrowed: BTreeMap::new(),
        })
    }

    /// Takes the answers of another run as had.
    pub fn borrow(&mut self, path: &Path) -> io::Result<()> {
        self.borrowed.extend(read(path, false)?);
        Ok(())
    }

    /// The answer to a request. One that is borrowed is kept as such: the run holds every answer it was made with.
    pub fn find(&mut self, key: &str) -> io::Result<Option<&Entry>> {
        if !self.entries.contains_key(key)
            && let Some(mut entry) = self.borrowed.remove(key)
        {
            entry.borrowed = true;
            self.keep(entry)?;
        }
        Ok(self.entries.get(key))
    }

    /// Keeps an answer; the system has it when this returns.
    pub fn keep(&mut self, entry: Entry) -> io::Result<()> {
        let mut line = serde_json::to_string(&entry)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        self.paid += paid(&entry);
        self.entries.insert(entry.key.clone(), entry);
        Ok(())
    }

    /// What the answers of this run cost in US dollars, as far as that is known.
    pub fn paid(&self) -> f64 {
        self.paid
    }

    /// The answers of this run, in the order of their keys.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }
}

/// What an answer cost this run.
fn paid(entry: &Entry) -> f64 {
    match entry.borrowed {
        true => 0.0,
        false => entry.cost.unwrap_or(0.0),
    }
}

/// Reads a file; one that is ours is cut behind its last whole line.
fn read(path: &Path, is_ours: bool) -> io::Result<BTreeMap<String, Entry>> {
    let bytes = std::fs::read(path)?;
    // A line may have been cut off anywhere, inside of a character too.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() && is_ours {
        OpenOptions::new().write(true).open(path)?.set_len(whole as u64)?;
    }
    let mut entries = BTreeMap::new();
    for (index, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let entry: Entry = serde_json::from_slice(line).map_err(|cause| {
            let words = format!("line {} is damaged: {cause}", index + 1);
            io::Error::new(io::ErrorKind::InvalidData, words)
        })?;
        entries.insert(entry.key.clone(), entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use mainstay_llm::answer::Stop;

    use super::*;

    fn entry(key: &str) -> Entry {
        Entry {
            key: key.to_owned(),
            duty: Duty::Judge,
            repeat: 1,
            attempt: 1,
            model: 0,
            answer: Answer {
                text: "words\nand more".to_owned(),
                stop: Stop::End,
                usage: None,
                served_by: None,
            },
            cost: Some(0.25),
            batched: false,
            borrowed: false,
        }
    }

    #[test]
    fn what_was_kept_is_found_again_and_half_a_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        journal.keep(entry("a")).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        assert_eq!(journal.find("a").unwrap(), Some(&entry("a")));
        // Cut off inside of a character.
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend([b'{', 0xd0]);
        std::fs::write(&path, bytes).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        journal.keep(entry("b")).unwrap();
        assert_eq!(Journal::open(&path).unwrap().entries().count(), 2);
        let other = folder.path().join("other.jsonl");
        let mut borrowing = Journal::open(&other).unwrap();
        borrowing.borrow(&path).unwrap();
        assert!(borrowing.find("b").unwrap().is_some_and(|entry| entry.borrowed));
        assert!(borrowing.paid() < 1e-12 && Journal::open(&other).unwrap().entries().count() == 1);
        std::fs::write(&path, "nonsense\n").unwrap();
        assert!(
            Journal::open(&path)
                .unwrap_err()
                .to_string()
                .contains("line 1 is damaged")
        );
    }
}
