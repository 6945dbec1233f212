//! A continuation exam: everything that decides what it comes to, and its directory.
//!
//! States and what judges are told are written when the exam is set up and read from then on. So an exam whose answers arrive days
//! later, or that a newer version of the program goes on with, still asks about the states that it was begun with.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::continuation::arm::ContinuationArm;
use crate::continuation::arm::StateMaker;
use crate::continuation::case::ContinuationCase;
use crate::continuation::case::SessionPrefix;
use crate::continuation::case::text_tokens;
use crate::continuation::judge_record::JudgeRecord;
use crate::continuation::requests::prompt_hashes;
use crate::continuation::schedule::AnswererSchedule;
use crate::record::ModelUsed;
use crate::record::RunError;
use crate::run::folder::FolderError;
use crate::run::folder::lock;
use crate::run::folder::pretty;
use crate::run::folder::write;

/// An arm as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmEntry {
    /// Its name.
    pub name: String,
    /// How it is written on the command line.
    pub spec: String,
}

/// Everything that decides what an exam comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContinuationManifest {
    /// The version of this form.
    pub version: u32,
    /// What the run is called.
    pub label: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: i64,
    /// The version of the program.
    pub program: String,
    /// Where the sessions are.
    pub paths: Vec<PathBuf>,
    /// Sessions with fewer tokens were left out.
    pub min_tokens: usize,
    /// At most this many sessions of each source.
    pub max_sessions: Option<usize>,
    /// Only these sources; all where none is named.
    pub sources: Vec<String>,
    /// Where sessions are cut.
    pub cuts: Vec<String>,
    /// How large states may be.
    pub sizes: Vec<String>,
    /// How many messages of the future judges are told.
    pub horizon: usize,
    /// The arms.
    pub arms: Vec<ArmEntry>,
    /// Who writes summaries.
    pub summarisers: Vec<ModelUsed>,
    /// Who answers.
    pub answerers: Vec<ModelUsed>,
    /// Who judges.
    pub judges: Vec<ModelUsed>,
    /// How many seats the answerers share: every state of a session goes to another seat.
    pub answerer_seats: usize,
    /// How often every case is judged; where there are fewer judges, the same one judges again in another order.
    pub judge_seats: usize,
    /// The hashes of the prompts, by name.
    pub prompts: Vec<(String, String)>,
    /// Decides the order in which judges read answers.
    pub seed: u64,
    /// The cases.
    pub cases: Vec<ContinuationCase>,
}

impl ContinuationManifest {
    /// The version that this program writes.
    pub const VERSION: u32 = 1;
}

/// How a state was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateNote {
    /// What made it: an engine's mode, `keep-last`, `own` or `file`.
    pub made: String,
    /// What the engine had to say about it.
    pub remarks: Vec<String>,
    /// Its tokens.
    pub tokens: u64,
}

/// A state as an answering model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptState {
    /// The text.
    pub text: String,
    /// How it was made.
    pub note: StateNote,
}

/// An exam on disk, while this process has it.
#[derive(Debug)]
pub struct ContinuationExam {
    /// Where it is.
    pub directory: PathBuf,
    /// What it is.
    pub manifest: ContinuationManifest,
    /// The arms.
    pub arms: Vec<ContinuationArm>,
    /// What judges are told, by cut.
    pub records: BTreeMap<String, JudgeRecord>,
    /// For each case the position of its session, and its own among the cases of that session.
    positions: Vec<(usize, usize)>,
    schedule: AnswererSchedule,
    _lock: File,
}

impl ContinuationExam {
    /// Makes the directory of an exam.
    pub fn create(
        directory: &Path,
        manifest: &ContinuationManifest,
        prefixes: &[SessionPrefix],
    ) -> Result<Self, FolderError> {
        if std::fs::read_dir(directory).is_ok_and(|mut list| list.next().is_some()) {
            return Err(FolderError::Exists {
                path: directory.to_owned(),
            });
        }
        for folder in ["states", "records"] {
            let folder = directory.join(folder);
            std::fs::create_dir_all(&folder).map_err(|cause| FolderError::NoFile { path: folder, cause })?;
        }
        for prefix in prefixes {
            write(&record_path(directory, &prefix.id), &pretty(&prefix.record))?;
        }
        // A directory without a manifest is not a run: it comes last.
        write(&directory.join("manifest.json"), &pretty(manifest))?;
        Self::open(directory)
    }

    /// Opens the directory of an exam.
    pub fn open(directory: &Path) -> Result<Self, FolderError> {
        let manifest: ContinuationManifest = read_json(&directory.join("manifest.json"))?;
        let lock = lock(directory)?;
        let other = |what: &str| FolderError::Other {
            path: directory.to_owned(),
            what: what.to_owned(),
        };
        if manifest.version != ContinuationManifest::VERSION {
            return Err(other("version of its form"));
        }
        if manifest.prompts != prompt_hashes() {
            return Err(other("set of prompts"));
        }
        let arms: Result<Vec<ContinuationArm>, _> = manifest.arms.iter().map(|arm| arm.spec.parse()).collect();
        let arms = arms.map_err(|_| other("set of arms"))?;
        let mut records = BTreeMap::new();
        for case in &manifest.cases {
            if !records.contains_key(&case.prefix) {
                records.insert(case.prefix.clone(), read_json(&record_path(directory, &case.prefix))?);
            }
        }
        let positions = positions(&manifest.cases);
        let places = positions.iter().map(|(_, place)| place + 1).max().unwrap_or(1);
        let schedule = AnswererSchedule::new(manifest.answerer_seats, arms.len(), places);
        Ok(Self {
            directory: directory.to_owned(),
            schedule: schedule.ok_or_else(|| other("number of answerers"))?,
            arms,
            records,
            positions,
            manifest,
            _lock: lock,
        })
    }

    /// The arms of a case: all but the recorded summary where none was recorded.
    pub fn arms_of(&self, case: &ContinuationCase) -> Vec<usize> {
        let applies = |arm: &ContinuationArm| arm.maker != StateMaker::Recorded || case.own_tokens.is_some();
        let arms = self.arms.iter().enumerate();
        arms.filter(|(_, arm)| applies(arm)).map(|(index, _)| index).collect()
    }

    /// The answerer's seat, counted from zero, for an arm of a case.
    pub fn answerer_seat(&self, case: usize, arm: usize) -> usize {
        let (session, place) = self.positions[case];
        self.schedule.answerer(session, place, arm)
    }

    /// Whether no answerer's seat sees a session twice, at whatever cut or size.
    pub fn sees_sessions_once(&self) -> bool {
        self.schedule.is_once()
    }

    /// The state of an arm in a case, where it was made.
    pub fn state(&self, case: &ContinuationCase, arm: &ContinuationArm) -> Result<Option<KeptState>, FolderError> {
        let (text, note) = self.state_paths(case, arm);
        if !note.exists() {
            return Ok(None);
        }
        Ok(Some(KeptState {
            text: read_text(&text)?,
            note: read_json(&note)?,
        }))
    }

    /// Whether an arm still has to make its state in a case.
    pub fn lacks_state(&self, case: &ContinuationCase, arm: &ContinuationArm) -> bool {
        !self.state_paths(case, arm).1.exists()
    }

    /// Keeps a state.
    pub fn keep_state(
        &self,
        case: &ContinuationCase,
        arm: &ContinuationArm,
        text: &str,
        made: &str,
        remarks: Vec<String>,
    ) -> Result<KeptState, FolderError> {
        let (text_path, note_path) = self.state_paths(case, arm);
        if let Some(folder) = text_path.parent() {
            std::fs::create_dir_all(folder).map_err(|cause| FolderError::NoFile {
                path: folder.to_owned(),
                cause,
            })?;
        }
        let note = StateNote {
            made: made.to_owned(),
            remarks,
            tokens: text_tokens(text),
        };
        write(&text_path, text)?;
        write(&note_path, &pretty(&note))?;
        Ok(KeptState {
            text: text.to_owned(),
            note,
        })
    }

    /// Writes a file of the report.
    pub fn write(&self, name: &str, text: &str) -> Result<(), FolderError> {
        write(&self.directory.join(name), text)
    }

    fn state_paths(&self, case: &ContinuationCase, arm: &ContinuationArm) -> (PathBuf, PathBuf) {
        let folder = self.directory.join("states").join(&case.id);
        (
            folder.join(format!("{}.txt", arm.name)),
            folder.join(format!("{}.json", arm.name)),
        )
    }
}

/// For each case the position of its session, and its own among the cases of that session.
pub fn positions(cases: &[ContinuationCase]) -> Vec<(usize, usize)> {
    let mut sessions: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut positions = Vec::new();
    for case in cases {
        let next = sessions.len();
        let (session, place) = sessions.entry(&case.session).or_insert((next, 0));
        positions.push((*session, *place));
        *place += 1;
    }
    positions
}

fn record_path(directory: &Path, prefix: &str) -> PathBuf {
    directory.join("records").join(format!("{prefix}.json"))
}

fn read_text(path: &Path) -> Result<String, FolderError> {
    std::fs::read_to_string(path).map_err(|cause| FolderError::NoFile {
        path: path.to_owned(),
        cause,
    })
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    let damaged = |cause| RunError::Damaged {
        path: path.to_owned(),
        line: None,
        cause,
    };
    Ok(serde_json::from_str(&read_text(path)?).map_err(damaged)?)
}
