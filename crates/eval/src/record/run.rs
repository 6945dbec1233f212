//! Reading a run's directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use crate::fixture::Exam;
use crate::fixture::ExamError;
use crate::record::Manifest;
use crate::record::Sample;
use crate::record::StateRecord;

/// A run, read back.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where it is.
    pub directory: PathBuf,
    /// What it was asked for.
    pub manifest: Manifest,
    /// Its samples, in the order of the manifest's fixtures and arms, then of repeats and the names of probes.
    pub samples: Vec<Sample>,
    /// Whether it ran to its end.
    pub is_complete: bool,
}

/// Why a run cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It is no run's directory.
    #[error("{} is no run: `mainstay eval run` makes directories with a manifest.json", directory.display())]
    NoRun {
        /// Which.
        directory: PathBuf,
    },
    /// A file of it cannot be read.
    #[error("{}: {cause}", path.display())]
    NoFile {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A file of it is damaged.
    #[error("{}{}: {cause}", path.display(), line.map(|line| format!(" line {line}")).unwrap_or_default())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Where.
        line: Option<usize>,
        /// What is wrong.
        cause: serde_json::Error,
    },
    /// It was made by a newer version.
    #[error("{} has version {found} of a run's form; this program knows {known}", path.display())]
    Newer {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest this program knows.
        known: u32,
    },
    /// Its fixtures cannot be read.
    #[error(transparent)]
    Exam(#[from] ExamError),
}

impl Run {
    /// The version of a run's form that this program writes.
    pub const VERSION: u32 = 1;

    /// Reads manifest and samples.
    pub fn read(directory: &Path) -> Result<Self, RunError> {
        let path = directory.join("manifest.json");
        if !path.exists() {
            let directory = directory.to_owned();
            return Err(RunError::NoRun { directory });
        }
        let manifest: Manifest = parse(&path, &text(&path)?)?;
        if manifest.version > Self::VERSION {
            let (found, known) = (manifest.version, Self::VERSION);
            return Err(RunError::Newer { path, found, known });
        }
        let samples = samples(&directory.join("samples.jsonl"), &manifest)?;
        Ok(Self {
            is_complete: directory.join("report.json").exists(),
            directory: directory.to_owned(),
            manifest,
            samples,
        })
    }

    /// The fixtures and banks that it was held with.
    pub fn exam(&self) -> Result<Exam, RunError> {
        Ok(Exam::read(&self.directory.join("exam"))?)
    }

    /// Where the state of an arm is kept.
    pub fn state_path(directory: &Path, fixture: &str, arm: &str, repeat: u32) -> PathBuf {
        directory
            .join("states")
            .join(fixture)
            .join(format!("{arm}-run-{repeat}.json"))
    }

    /// What an arm made of a fixture.
    pub fn state(&self, fixture: &str, arm: &str, repeat: u32) -> Result<StateRecord, RunError> {
        let path = Self::state_path(&self.directory, fixture, arm, repeat);
        parse(&path, &text(&path)?)
    }
}

fn text(path: &Path) -> Result<String, RunError> {
    std::fs::read_to_string(path).map_err(|cause| RunError::NoFile {
        path: path.to_owned(),
        cause,
    })
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path, text: &str) -> Result<T, RunError> {
    serde_json::from_str(text).map_err(|cause| RunError::Damaged {
        path: path.to_owned(),
        line: None,
        cause,
    })
}

/// The samples of a file, each once, in the manifest's order; a last line that was cut off does not count.
fn samples(path: &Path, manifest: &Manifest) -> Result<Vec<Sample>, RunError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = std::fs::read(path).map_err(|cause| RunError::NoFile {
        path: path.to_owned(),
        cause,
    })?;
    // A line may have been cut off anywhere, inside of a character too.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut samples: Vec<Sample> = Vec::new();
    for (index, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        match serde_json::from_slice(line) {
            Ok(sample) => samples.push(sample),
            Err(cause) => {
                return Err(RunError::Damaged {
                    path: path.to_owned(),
                    line: Some(index + 1),
                    cause,
                });
            }
        }
    }
    let fixtures = places(manifest.fixtures.iter().map(|fixture| fixture.name.as_str()));
    let arms = places(manifest.arms.iter().map(|arm| arm.name.as_str()));
    // They were written as they came, which is another order every time.
    let place = |sample: &Sample| {
        (
            fixtures.get(sample.fixture.as_str()).copied(),
            arms.get(sample.arm.as_str()).copied(),
            sample.repeat,
        )
    };
    let order = |one: &Sample, other: &Sample| (place(one), &one.probe).cmp(&(place(other), &other.probe));
    // Of a sample that was made anew the last one counts; the sort keeps the order of equals.
    samples.reverse();
    samples.sort_by(order);
    samples.dedup_by(|later, first| order(first, later).is_eq());
    Ok(samples)
}

fn places<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    names.enumerate().map(|(place, name)| (name, place)).collect()
}
