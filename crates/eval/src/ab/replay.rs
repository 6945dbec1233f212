//! A file that says which sessions are replayed, where they are stopped, and what is asked there.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::decide::step_start;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_wire::document::body_of;
use mainstay_wire::error::ReadError;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::reading::WireForm;
use mainstay_wire::source::Source;
use serde::Deserialize;
use serde_json::json;

use crate::ab::checkpoint;
use crate::fixture::Bank;
use crate::fixture::Exam;
use crate::fixture::ExamError;
use crate::fixture::Kind;
use crate::fixture::Probe;
use crate::fixture::Subject;

/// Sessions and what they are asked. The schema stands in `evals/schemas/replay.schema.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// What it is after.
    #[serde(default)]
    pub description: String,
    /// The sessions.
    pub sessions: Vec<Session>,
}

/// A session that is replayed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its file, from the place of the plan.
    pub path: PathBuf,
    /// What it is called in reports; the file's name without its ending where nothing is given.
    #[serde(default)]
    pub name: Option<String>,
    /// Which conversation, where the file holds several.
    #[serde(default)]
    pub session: Option<String>,
    /// Credentials in it that must not be shown.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Where it is stopped and asked.
    pub checkpoints: Vec<Checkpoint>,
}

/// A question at a place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Behind how many messages.
    pub at: usize,
    /// What the question is called in reports; by its place on the list where nothing is given.
    #[serde(default)]
    pub id: Option<String>,
    /// The question.
    pub query: String,
    /// What it asks for.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What a right answer says.
    pub expected_facts: Vec<String>,
    /// What was true once and is not any more.
    #[serde(default)]
    pub stale_facts: Vec<String>,
    /// Other ways to say a fact, by the fact.
    #[serde(default)]
    pub forms: BTreeMap<String, Vec<String>>,
}

/// Why a plan cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The plan cannot be read.
    #[error("{}: {cause}", path.display())]
    NoFile {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The plan is not of its form.
    #[error("{}: {cause}", path.display())]
    NotJson {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        cause: serde_json::Error,
    },
    /// A session cannot be read.
    #[error(transparent)]
    Session(#[from] ReadError),
    /// A session cannot be stopped where the plan wants it.
    #[error("{session}: {why}")]
    NoPlace {
        /// Which.
        session: String,
        /// Why.
        why: String,
    },
    /// A checkpoint makes no fixture.
    #[error(transparent)]
    Exam(#[from] ExamError),
}

impl Replay {
    /// Reads a plan and its sessions, as checkpoints.
    pub fn read(path: &Path) -> Result<Exam, ReplayError> {
        let text = std::fs::read_to_string(path).map_err(|cause| ReplayError::NoFile {
            path: path.to_owned(),
            cause,
        })?;
        let plan: Self = serde_json::from_str(&text).map_err(|cause| ReplayError::NotJson {
            path: path.to_owned(),
            cause,
        })?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let (mut subjects, mut names) = (Vec::new(), BTreeSet::new());
        for session in &plan.sessions {
            let name = session.shown()?;
            if !names.insert(name.clone()) {
                return Err(no_place(
                    &name,
                    "another session has this name; give one a name of its own",
                ));
            }
            let source = Source::open(&beside.join(&session.path))?;
            let request = Request {
                session: session.session.clone(),
                ..Request::default()
            };
            let document = format::read(&source, None, &request)?;
            let messages = document.transcript.messages();
            let mut places: BTreeMap<usize, Vec<Probe>> = BTreeMap::new();
            for (index, checkpoint) in session.checkpoints.iter().enumerate() {
                check(&name, checkpoint, messages)?;
                places
                    .entry(checkpoint.at)
                    .or_default()
                    .push(checkpoint.probe(index + 1));
            }
            for (at, probes) in places {
                let bank = Bank {
                    secrets: session.secrets.clone(),
                    probes,
                    ..Bank::default()
                };
                subjects.push(subject(&name, &messages[..at], bank)?);
            }
        }
        match subjects.is_empty() {
            true => Err(no_place(&path.display().to_string(), "there is no checkpoint in it")),
            false => Ok(checkpoint::sorted(subjects)),
        }
    }
}

impl Session {
    /// Names are parts of file names.
    fn shown(&self) -> Result<String, ReplayError> {
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = self.name.clone().or(stem).unwrap_or_default();
        let is_fit = |c: char| !c.is_control() && !matches!(c, '/' | '\\' | ':' | '@');
        match (1..=100).contains(&name.len()) && name.chars().all(is_fit) && !name.starts_with('.') {
            true => Ok(name),
            false => Err(no_place(
                &name,
                "this is no name: 1 to 100 characters that a file may be named with, without @",
            )),
        }
    }
}

impl Checkpoint {
    fn probe(&self, number: usize) -> Probe {
        Probe {
            id: self
                .id
                .clone()
                .unwrap_or_else(|| format!("{}-{number}", self.kind.name())),
            kind: self.kind,
            question: self.query.clone(),
            expected_facts: self.expected_facts.clone(),
            stale_facts: self.stale_facts.clone(),
            forms: self.forms.clone(),
            spans: BTreeMap::new(),
        }
    }
}

fn check(session: &str, checkpoint: &Checkpoint, messages: &[Message]) -> Result<(), ReplayError> {
    let at = checkpoint.at;
    if !(1..=messages.len()).contains(&at) {
        let why = format!("a checkpoint at {at}, and there are {} messages", messages.len());
        return Err(no_place(session, &why));
    }
    let start = step_start(messages, at);
    if start != at {
        let why = format!("a checkpoint at {at} cuts a step in two; it begins at {start}");
        return Err(no_place(session, &why));
    }
    if checkpoint.expected_facts.is_empty() {
        let why = format!("a checkpoint at {at} expects no facts");
        return Err(no_place(session, &why));
    }
    Ok(())
}

/// The first messages of a session in the form of a fixture, whatever form they came in.
fn subject(session: &str, messages: &[Message], bank: Bank) -> Result<Subject, ReplayError> {
    let at = messages.len();
    let draft = Draft {
        messages: messages.to_vec(),
        ..Draft::default()
    };
    let body = body_of(WireForm::Chat, &draft.assemble().transcript);
    let mut whole = checkpoint::parsed(session, &body)?;
    whole.insert(
        "description".to_owned(),
        json!(format!("{session}, its first {at} messages")),
    );
    // In chat form a step may be fewer messages than in the session, never more: nothing is cut off here.
    Ok(checkpoint::cut(whole, session, at, bank)?)
}

fn no_place(session: &str, why: &str) -> ReplayError {
    ReplayError::NoPlace {
        session: session.to_owned(),
        why: why.to_owned(),
    }
}
