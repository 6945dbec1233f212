//! Reads the sessions of files and folders.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_engine::transcript::Severity;
use mainstay_engine::transcript::Transcript;
use mainstay_wire::document::Document;
use mainstay_wire::error::ReadError;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

use crate::parallel::each;
use crate::replay::recording::Recording;
use crate::replay::requests;
use crate::sessions;
use crate::sessions::Selection;
use crate::sessions::Spot;
use crate::sessions::Unread;

/// The sessions of files and folders.
#[derive(Debug, Default)]
pub struct Recordings {
    /// Those that count, in the order of their files.
    pub sessions: Vec<Recording>,
    /// Files and sessions that could not be read, with the reason.
    pub unread: Vec<Unread>,
    /// How many were too short.
    pub short: usize,
    /// Where there are sessions with records that could not be read, and how many; the rest of them counts.
    pub damaged: Vec<(String, usize)>,
}

/// Reads the sessions of files and folders. What is named itself must be readable; in a folder, what is not is noted. A session
/// in which no model was asked anything is noted with them.
pub fn load(paths: &[PathBuf], selection: &Selection) -> Result<Recordings, ReadError> {
    load_all(paths, None, selection)
}

/// The same, and before them the sessions of bytes that came from elsewhere than the disk.
pub fn load_all(paths: &[PathBuf], given: Option<Vec<u8>>, selection: &Selection) -> Result<Recordings, ReadError> {
    let mut recordings = Recordings::default();
    let mut spots = given.map_or(Ok(Vec::new()), sessions::given)?;
    spots.extend(sessions::find(paths, &selection.sources, &mut recordings.unread)?);
    let read = each(&spots, selection.jobs, |spot| {
        let (recording, lost) = read(spot)?;
        if requests::find(&recording).0.is_empty() {
            let reason = "no model was asked anything in it: there is nothing to replay";
            return Err((place(spot), reason.to_owned()));
        }
        let is_long = is_long(&recording.transcript, selection.least_tokens);
        Ok((recording, lost, is_long))
    });
    let mut counts: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for (spot, result) in spots.iter().zip(read) {
        match result {
            Err(unread) => recordings.unread.push(unread),
            Ok((_, _, false)) => recordings.short += 1,
            Ok((recording, lost, true)) => {
                let count = counts.entry(Arc::clone(&recording.source)).or_default();
                *count += 1;
                if *count <= selection.most {
                    if lost > 0 {
                        recordings.damaged.push((place(spot), lost));
                    }
                    recordings.sessions.push(recording);
                }
            }
        }
    }
    Ok(recordings)
}

fn is_long(transcript: &Transcript, least: usize) -> bool {
    if least == 0 {
        return true;
    }
    let mut tally = Tally::new(Family::O200k);
    tally.extend(transcript.messages());
    tally.total().total() >= least as u64
}

/// A session, and how many of its records could not be read.
fn read(spot: &Spot) -> Result<(Recording, usize), Unread> {
    let mut request = Request {
        history: History::Full,
        session: None,
    };
    match spot {
        Spot::Line { source, format, text } => {
            let line = Source::memory(source, text.clone().into_bytes());
            let document = format::read(&line, Some(format), &request);
            let document = document.map_err(|error| (source.to_string(), error.to_string()))?;
            let lost = lost(&document);
            Ok((Recording::new(document, Arc::clone(source), source.to_string()), lost))
        }
        Spot::Session { path, format, id } => {
            request.session.clone_from(id);
            let document = Source::open(path).and_then(|source| format::read(&source, Some(format), &request));
            let document = document.map_err(|error| sessions::named(path, &error))?;
            let otherwise = id.clone().unwrap_or_else(|| path.display().to_string());
            let lost = lost(&document);
            Ok((Recording::new(document, format.name.into(), otherwise), lost))
        }
    }
}

/// Where a session is, for people.
fn place(spot: &Spot) -> String {
    match spot {
        Spot::Line { source, .. } => source.to_string(),
        Spot::Session { path, id: None, .. } => path.display().to_string(),
        Spot::Session { path, id: Some(id), .. } => format!("{} ({id})", path.display()),
    }
}

fn lost(document: &Document) -> usize {
    let findings = document.findings.iter();
    findings
        .filter(|finding| finding.rule.severity() == Severity::Lost)
        .count()
}
