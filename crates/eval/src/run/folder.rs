//! A run's directory while it is being written.
//!
//! It is made once and added to until its report is there; from then on nothing changes it. One process at a time writes.

use std::collections::BTreeSet;
use std::fs::File;
use std::fs::OpenOptions;
use std::fs::TryLockError;
use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use crate::fixture::Exam;
use crate::record::Manifest;
use crate::record::Run;
use crate::record::RunError;
use crate::record::Sample;
use crate::record::SampleName;
use crate::record::StateRecord;

/// Why a run cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file cannot be read or written.
    #[error("{}: {cause}", path.display())]
    NoFile {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// There is something already.
    #[error("{} exists already; a run is never overwritten: choose another --label, or go on with --resume", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// The run is over.
    #[error("{} is complete, and a complete run is never changed; `mainstay eval score` scores it anew elsewhere", path.display())]
    Complete {
        /// Where.
        path: PathBuf,
    },
    /// Another process writes to it.
    #[error("another process is at work in {}", path.display())]
    Busy {
        /// Where.
        path: PathBuf,
    },
    /// What is there was made otherwise.
    #[error("{} was begun with another {what}; begin a new run", path.display())]
    Other {
        /// Where.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// What is there cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// A run's directory while it is being written.
#[derive(Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    samples: Mutex<File>,
    done: Mutex<BTreeSet<SampleName>>,
    _lock: File,
}

impl Folder {
    /// Makes a directory for a run.
    pub fn create(path: &Path, manifest: &Manifest, exam: &Exam) -> Result<Self, FolderError> {
        if path.join("manifest.json").exists() || std::fs::read_dir(path).is_ok_and(|mut list| list.next().is_some()) {
            return Err(FolderError::Exists { path: path.to_owned() });
        }
        for folder in ["exam/fixtures", "exam/probes", "states"] {
            let folder = path.join(folder);
            std::fs::create_dir_all(&folder).map_err(at(&folder))?;
        }
        let lock = lock(path)?;
        for subject in &exam.subjects {
            let name = subject.name();
            write(&path.join(format!("exam/fixtures/{name}.json")), &subject.fixture_text)?;
            write(
                &path.join(format!("exam/probes/{name}.probes.json")),
                &subject.bank_text,
            )?;
        }
        // A directory without a manifest is no run: it comes last.
        write(&path.join("manifest.json"), &pretty(manifest))?;
        Self::open(path, lock, BTreeSet::new())
    }

    /// Goes on with a run that was broken off. What was excluded is tried again.
    pub fn resume(path: &Path, manifest: &Manifest) -> Result<Self, FolderError> {
        let lock = lock(path)?;
        let run = Run::read(path)?;
        if run.is_complete {
            return Err(FolderError::Complete { path: path.to_owned() });
        }
        if let Some(what) = difference(&run.manifest, manifest) {
            let what = what.to_owned();
            return Err(FolderError::Other {
                path: path.to_owned(),
                what,
            });
        }
        let kept = run.samples.iter().filter(|sample| sample.excluded.is_none());
        let mut lines = String::new();
        let mut done = BTreeSet::new();
        for sample in kept {
            if done.insert(sample.name()) {
                lines.push_str(&line(sample));
            }
        }
        write(&path.join("samples.jsonl"), &lines)?;
        Self::open(path, lock, done)
    }

    fn open(path: &Path, lock: File, done: BTreeSet<SampleName>) -> Result<Self, FolderError> {
        let file = path.join("samples.jsonl");
        let samples = OpenOptions::new().create(true).append(true).open(&file);
        Ok(Self {
            path: path.to_owned(),
            samples: Mutex::new(samples.map_err(at(&file))?),
            done: Mutex::new(done),
            _lock: lock,
        })
    }

    /// Whether a sample is there.
    pub fn has(&self, fixture: &str, arm: &str, repeat: u32, probe: &str) -> bool {
        let name = (fixture.to_owned(), arm.to_owned(), repeat, probe.to_owned());
        locked(&self.done).contains(&name)
    }

    /// How many samples are there.
    pub fn done(&self) -> usize {
        locked(&self.done).len()
    }

    /// Adds a sample.
    pub fn add(&self, sample: &Sample) -> Result<(), FolderError> {
        let written = locked(&self.samples).write_all(line(sample).as_bytes());
        written.map_err(at(&self.path.join("samples.jsonl")))?;
        locked(&self.done).insert(sample.name());
        Ok(())
    }

    /// Forgets the samples of a state; those that are made anew count in their place.
    pub fn forget(&self, fixture: &str, arm: &str, repeat: u32) {
        locked(&self.done)
            .retain(|(own, other, number, _)| (own.as_str(), other.as_str(), *number) != (fixture, arm, repeat));
    }

    /// Keeps a state; says whether it is the one that was there, if any was.
    pub fn keep_state(&self, state: &StateRecord) -> Result<bool, FolderError> {
        let path = Run::state_path(&self.path, &state.fixture, &state.arm, state.repeat);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(at(folder))?;
        }
        let text = serde_json::to_string(state).unwrap_or_default();
        match std::fs::read_to_string(&path) {
            Ok(known) if known == text => return Ok(true),
            Ok(_) => {
                place(&path, &text, |_| Ok(()))?;
                return Ok(false);
            }
            Err(_) => {}
        }
        // It can be made again from the answers: nobody waits for the disk.
        place(&path, &text, |_| Ok(()))?;
        Ok(true)
    }

    /// Writes a file of the report, whole or not at all.
    pub fn write(&self, name: &str, text: &str) -> Result<(), FolderError> {
        write(&self.path.join(name), text)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics between two changes of what is behind these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn line(sample: &Sample) -> String {
    let mut line = serde_json::to_string(sample).unwrap_or_default();
    line.push('\n');
    line
}

/// JSON for people to read.
pub fn pretty(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    move |cause| FolderError::NoFile { path, cause }
}

/// Writes a file beside its place, down to the disk, and moves it there.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), FolderError> {
    place(path, text, File::sync_data)
}

fn place(path: &Path, text: &str, settle: impl Fn(&File) -> io::Result<()>) -> Result<(), FolderError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        settle(&file)
    });
    written.map_err(at(&beside))?;
    std::fs::rename(&beside, path).map_err(at(path))
}

pub(crate) fn lock(path: &Path) -> Result<File, FolderError> {
    let file = path.join("lock");
    let opened = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&file)
        .map_err(at(&file))?;
    match opened.try_lock() {
        Ok(()) => Ok(opened),
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(cause)) => Err(FolderError::NoFile { path: file, cause }),
    }
}

/// What differs between two manifests that must agree for a run to go on.
fn difference(begun: &Manifest, now: &Manifest) -> Option<&'static str> {
    let pairs = [
        ("program version", begun.program != now.program),
        ("set of fixtures", begun.fixtures != now.fixtures),
        ("set of arms", begun.arms != now.arms),
        ("number of repeats", begun.repeats != now.repeats),
        ("tokenizer", begun.tokenizer != now.tokenizer),
        ("target", begun.target != now.target),
        ("focus", begun.focus != now.focus),
        ("summarising model", begun.summarisers != now.summarisers),
        ("answering model", begun.answerer != now.answerer),
        ("judging model", begun.judge != now.judge),
        ("set of prompts", begun.prompts != now.prompts),
        ("seed", begun.seed != now.seed),
    ];
    pairs.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
}
