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
use mainstay_wire::format_definition::Format;
use mainstay_wire::openai_chat::read_message;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

use crate::parallel::each;
use crate::retention::trajectory::Trajectory;
use crate::sessions;
pub use crate::sessions::Selection;
use crate::sessions::Spot;
use crate::sessions::Unread;
use crate::sessions::named;

/// Shorter sessions are no long conversations.
const LEAST_MESSAGES: usize = 12;

/// What was read.
#[derive(Debug, Default)]
pub struct Corpus {
    /// The sessions that count, in the order of their files.
    pub trajectories: Vec<Trajectory>,
    /// Files and sessions that could not be read, with the reason.
    pub unread: Vec<Unread>,
    /// How many sessions were too short.
    pub short: usize,
}

/// Reads the sessions of files and folders. What is named itself must be readable; in a folder, what is not is noted.
pub fn load(paths: &[PathBuf], selection: &Selection) -> Result<Corpus, ReadError> {
    let mut corpus = Corpus::default();
    let spots = sessions::find(paths, &selection.sources, &mut corpus.unread)?;
    let read = each(&spots, selection.jobs, read);
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

type Outcome = Result<Trajectory, Unread>;

fn read(spot: &Spot) -> Outcome {
    match spot {
        Spot::Line { source, text, .. } => {
            let object = Object::parse(text).map_err(|cause| (source.to_string(), cause.to_string()))?;
            Ok(read_line(source, &object))
        }
        Spot::Session { path, format, id } => {
            read_session(path, format, id.clone()).map_err(|error| named(path, &error))
        }
    }
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
