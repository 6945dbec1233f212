//! Sessions to measure on: normalised trajectories, many in a file, or any session format that wire reads.
//!
//! Normalised trajectories are read line by line here, and by the same function of wire that reads chat messages: each
//! message as it was recorded, not repaired, so that text and order are what the metric's definition sees. Only what
//! stands before the first recorded compaction counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use mainstay_engine::json;
use mainstay_engine::json::Object;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Place;
use mainstay_wire::error::ReadError;
use mainstay_wire::format;
use mainstay_wire::format::Format;
use mainstay_wire::openai_chat::read_message;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

use crate::parallel::each;
use crate::retention::trajectory::Trajectory;

/// Shorter sessions are no long conversations.
const LEAST_MESSAGES: usize = 12;
/// The format whose files hold many sessions, one a line.
const NORMALISED: &str = "trajectories";
/// So deep is looked for sessions below a folder.
const DEEPEST: usize = 6;

/// Which sessions count.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Sessions with fewer tokens are left out.
    pub least_tokens: usize,
    /// So many sessions of each source, the first ones.
    pub most: usize,
    /// Only these sources; all where none is named.
    pub sources: Vec<String>,
    /// How many threads read.
    pub jobs: usize,
}

impl Default for Selection {
    /// As the metric is defined, on one thread.
    fn default() -> Self {
        Self {
            least_tokens: 6000,
            most: usize::MAX,
            sources: Vec::new(),
            jobs: 1,
        }
    }
}

/// What was read.
#[derive(Debug, Default)]
pub struct Corpus {
    /// The sessions that count, in the order of their files.
    pub trajectories: Vec<Trajectory>,
    /// Files and sessions that could not be read, with the reason.
    pub unread: Vec<(String, String)>,
    /// How many sessions were too short.
    pub short: usize,
}

/// Where a session is.
enum Spot {
    /// A line of normalised trajectories.
    Line { source: Arc<str>, text: String },
    /// A session of a file, a database or a directory.
    Session {
        path: PathBuf,
        format: &'static Format,
        id: Option<String>,
    },
}

/// Reads the sessions of files and folders. What is named itself must be readable; in a folder, what is not is noted.
pub fn load(paths: &[PathBuf], selection: &Selection) -> Result<Corpus, ReadError> {
    let mut corpus = Corpus::default();
    let mut places = Vec::new();
    for path in paths {
        find(path, selection, &mut places, &mut corpus.unread, 0)?;
    }
    let read = each(&places, selection.jobs, read);
    let mut counts: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for result in read {
        match result {
            Err((name, reason)) => corpus.unread.push((name, reason)),
            Ok(trajectory) if is_long(&trajectory, selection) => {
                let count = counts.entry(Arc::clone(&trajectory.source)).or_default();
                *count += 1;
                if *count <= selection.most {
                    corpus.trajectories.push(trajectory);
                }
            }
            Ok(_) => corpus.short += 1,
        }
    }
    Ok(corpus)
}

fn is_long(trajectory: &Trajectory, selection: &Selection) -> bool {
    trajectory.messages.len() >= LEAST_MESSAGES && trajectory.tokens.iter().sum::<usize>() >= selection.least_tokens
}

fn find(
    path: &Path,
    selection: &Selection,
    places: &mut Vec<Spot>,
    unread: &mut Vec<(String, String)>,
    depth: usize,
) -> Result<(), ReadError> {
    let source = Source::open(path)?;
    let format = match format::detect(&source) {
        Ok(format) => format,
        Err(_) if path.is_dir() && depth < DEEPEST => {
            for name in source.entries()? {
                let inside = path.join(&name);
                if let Err(error) = find(&inside, selection, places, unread, depth + 1) {
                    unread.push(named(&inside, &error));
                }
            }
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = if format.name == NORMALISED { &*stem } else { format.name };
    if !selection.sources.is_empty() && !selection.sources.iter().any(|wanted| wanted == name) {
        return Ok(());
    }
    if format.name == NORMALISED {
        let shared: Arc<str> = name.into();
        let mut lines = source.lines()?;
        while lines.advance()? {
            places.push(Spot::Line {
                source: Arc::clone(&shared),
                text: lines.text().to_owned(),
            });
        }
        return Ok(());
    }
    let entries = (format.list)(&source)?;
    let ids: Vec<Option<String>> = match entries.is_empty() {
        true => vec![None],
        false => entries.into_iter().map(|entry| Some(entry.id)).collect(),
    };
    places.extend(ids.into_iter().map(|id| Spot::Session {
        path: path.to_owned(),
        format,
        id,
    }));
    Ok(())
}

type Outcome = Result<Trajectory, (String, String)>;

fn read(place: &Spot) -> Outcome {
    match place {
        Spot::Line { source, text } => {
            let object = Object::parse(text).map_err(|cause| (source.to_string(), cause.to_string()))?;
            Ok(read_line(source, &object))
        }
        Spot::Session { path, format, id } => {
            read_session(path, format, id.clone()).map_err(|error| named(path, &error))
        }
    }
}

/// A path and why it could not be read; the error's own mention of the path is not repeated.
fn named(path: &Path, error: &ReadError) -> (String, String) {
    let name = path.display().to_string();
    let said = error.to_string();
    let reason = said
        .strip_prefix(&name)
        .map_or(said.as_str(), |rest| rest.trim_start_matches(": "));
    (name, reason.to_owned())
}

/// One normalised trajectory.
fn read_line(source: &Arc<str>, object: &Object<'_>) -> Trajectory {
    let mut findings = Vec::new();
    let raws = object.array("messages").unwrap_or_default();
    // A compaction is recorded as the index of the first message after it, alone or in an object.
    let first = object.array("compactions").unwrap_or_default().first().copied();
    let at = first.and_then(|event| match Object::of(event) {
        Some(event) => event.count("at").or_else(|| event.count("index")),
        None => json::number(event).map(|index| index as u64),
    });
    let end = at.map_or(raws.len(), |at| at as usize);
    let messages: Vec<Message> = (0_u64..)
        .zip(raws.iter().take(end))
        .map(|(index, raw)| read_message(raw, Place::Item(index), &mut findings))
        .collect();
    Trajectory::new(
        Arc::clone(source),
        object.text("id").unwrap_or_default().into(),
        messages,
    )
}

fn read_session(path: &Path, format: &'static Format, id: Option<String>) -> Result<Trajectory, ReadError> {
    let request = Request {
        history: History::Full,
        session: id.clone(),
    };
    let document = format::read(&Source::open(path)?, Some(format), &request)?;
    let first = document.transcript.events().first().map(|event| event.before);
    let messages = document.transcript.messages();
    let end = first.unwrap_or(messages.len()).min(messages.len());
    let id = document.about.id.clone().or(id);
    let id = id.unwrap_or_else(|| path.display().to_string());
    Ok(Trajectory::new(format.name.into(), id, messages[..end].to_vec()))
}
