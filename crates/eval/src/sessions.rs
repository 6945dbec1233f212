//! Finding recorded sessions in files and folders: normalised trajectories, many in a file, or any session format that
//! wire reads.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use mainstay_wire::error::ReadError;
use mainstay_wire::format;
use mainstay_wire::format_definition::Format;
use mainstay_wire::source::Source;

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
    /// As retention is defined, on one thread.
    fn default() -> Self {
        Self {
            least_tokens: 6000,
            most: usize::MAX,
            sources: Vec::new(),
            jobs: 1,
        }
    }
}

/// A file or session that could not be read, and the reason.
pub type Unread = (String, String);

/// Where a session is.
pub enum Spot {
    /// A line of normalised trajectories, or the text of a session that is in no file.
    Line {
        /// What the file is called, or the format.
        source: Arc<str>,
        /// How it is read.
        format: &'static Format,
        /// The text.
        text: String,
    },
    /// A session of a file, a database or a directory.
    Session {
        /// Where.
        path: PathBuf,
        /// How it is read.
        format: &'static Format,
        /// Which one, where it holds several.
        id: Option<String>,
    },
}

/// Finds the sessions of files and folders. What is named itself must be readable; in a folder, what is not is noted.
pub fn find(paths: &[PathBuf], sources: &[String], unread: &mut Vec<Unread>) -> Result<Vec<Spot>, ReadError> {
    let mut spots = Vec::new();
    for path in paths {
        search(path, sources, &mut spots, unread, 0).map_err(without_advice)?;
    }
    Ok(spots)
}

/// The sessions of bytes that came from elsewhere than the disk: one, or a line each where they are normalised.
pub fn given(bytes: Vec<u8>) -> Result<Vec<Spot>, ReadError> {
    let source = Source::memory("standard input", bytes);
    let format = format::detect(&source).map_err(without_advice)?;
    if format.name == NORMALISED {
        let mut spots = Vec::new();
        push_lines(&source, &NORMALISED.into(), format, &mut spots)?;
        return Ok(spots);
    }
    let refused = |_| ReadError::refused(source.name(), "it is no text; name the file itself instead");
    Ok(vec![Spot::Line {
        source: format.name.into(),
        format,
        text: String::from_utf8(source.bytes()?).map_err(refused)?,
    }])
}

fn push_lines(
    source: &Source,
    name: &Arc<str>,
    format: &'static Format,
    spots: &mut Vec<Spot>,
) -> Result<(), ReadError> {
    let mut lines = source.lines()?;
    while lines.advance()? {
        spots.push(Spot::Line {
            source: Arc::clone(name),
            format,
            text: lines.text().to_owned(),
        });
    }
    Ok(())
}

/// Readers advise to name the format; here sessions are found, and nobody can.
fn without_advice(error: ReadError) -> ReadError {
    match error {
        ReadError::Refused { name, reason } => ReadError::Refused {
            name,
            reason: reason.strip_suffix(format::ADVICE).unwrap_or(&reason).to_owned(),
        },
        other => other,
    }
}

fn search(
    path: &Path,
    sources: &[String],
    spots: &mut Vec<Spot>,
    unread: &mut Vec<Unread>,
    depth: usize,
) -> Result<(), ReadError> {
    let source = Source::open(path)?;
    let format = match format::detect(&source) {
        Ok(format) => format,
        Err(_) if path.is_dir() && depth < DEEPEST => {
            for name in source.entries()? {
                let inside = path.join(&name);
                if let Err(error) = search(&inside, sources, spots, unread, depth + 1) {
                    unread.push(named(&inside, &error));
                }
            }
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = if format.name == NORMALISED { &*stem } else { format.name };
    if !sources.is_empty() && !sources.iter().any(|wanted| wanted == name) {
        return Ok(());
    }
    if format.name == NORMALISED {
        return push_lines(&source, &name.into(), format, spots);
    }
    let entries = (format.list)(&source)?;
    let ids: Vec<Option<String>> = match entries.is_empty() {
        true => vec![None],
        false => entries.into_iter().map(|entry| Some(entry.id)).collect(),
    };
    spots.extend(ids.into_iter().map(|id| Spot::Session {
        path: path.to_owned(),
        format,
        id,
    }));
    Ok(())
}

/// A path and why it could not be read; the error's own mention of the path is not repeated.
pub fn named(path: &Path, error: &ReadError) -> Unread {
    let name = path.display().to_string();
    let said = error.to_string();
    let reason = said
        .strip_prefix(&name)
        .map_or(said.as_str(), |rest| rest.trim_start_matches(": "));
    let reason = reason.strip_suffix(format::ADVICE).unwrap_or(reason);
    (name, reason.to_owned())
}
