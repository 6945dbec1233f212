//! Recorded answers: what a provider sent, kept in a file, so that a run can be had again without network, key or money.
//!
//! An answer is found by the hash of its request (path, form, body) and by how often the same request was made before. The
//! file holds one exchange a line. Requests are not in it, and neither are headers or keys. A line is on disk before the
//! answer is used; a line that was torn by a crash is dropped when the file is opened again.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::Read;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use mainstay_wire::reading::WireForm;
use serde::Deserialize;
use serde::Serialize;

use crate::exchange::Head;

/// Where answers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From the provider; they are recorded, and take the place of earlier ones.
    Record,
    /// From the file, and nowhere else.
    Replay,
    /// From the file, and from the provider where the file has none; those are recorded.
    Auto,
}

/// Which answers are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// Those that are answers.
    #[default]
    Answers,
    /// Refusals and malformed answers, too.
    Everything,
}

/// Why a file of recorded answers cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The file cannot be read or written.
    #[error("recorded answers in {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A line that is no exchange.
    #[error("recorded answers in {path}: line {line} is damaged")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, the first being 1.
        line: usize,
    },
}

/// One exchange, as its line has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The hash of the request.
    pub key: String,
    /// How often the same request was made before.
    pub repeat: usize,
    /// The status.
    pub status: u16,
    /// The type of the body.
    pub content_type: String,
    /// How many seconds the provider asked to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<f64>,
    /// The body.
    pub body: String,
}

impl Exchange {
    /// The head of the answer.
    pub fn head(&self) -> Head {
        Head {
            status: self.status,
            content_type: self.content_type.clone(),
            retry_after: self.retry_after.and_then(|wait| Duration::try_from_secs_f64(wait).ok()),
            ..Head::default()
        }
    }
}

/// A file of recorded answers.
#[derive(Debug)]
pub struct Cassette {
    path: PathBuf,
    mode: Mode,
    /// Which answers are recorded.
    pub kept: Kept,
    tape: Mutex<Tape>,
}

#[derive(Debug)]
struct Tape {
    /// `None` where nothing is recorded.
    file: Option<File>,
    exchanges: BTreeMap<(String, usize), Exchange>,
    asked: BTreeMap<String, Asked>,
}

/// Which repeats of a request are under way or done.
#[derive(Debug, Default)]
struct Asked {
    next: usize,
    given_back: BTreeSet<usize>,
}

impl Cassette {
    /// Opens a file. It need not exist yet where answers may be recorded; only its owner may read a new one.
    pub fn open(path: &Path, mode: Mode) -> Result<Self, CassetteError> {
        let failed = |source| CassetteError::File {
            path: path.to_owned(),
            source,
        };
        let mut file = match mode {
            Mode::Replay => File::open(path),
            Mode::Record | Mode::Auto => open_to_write(path),
        }
        .map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if mode != Mode::Replay && whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        let mut exchanges = BTreeMap::new();
        for (index, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let exchange: Exchange = serde_json::from_slice(line).map_err(|_| CassetteError::Line {
                path: path.to_owned(),
                line: index + 1,
            })?;
            exchanges.insert((exchange.key.clone(), exchange.repeat), exchange);
        }
        Ok(Self {
            path: path.to_owned(),
            mode,
            kept: Kept::default(),
            tape: Mutex::new(Tape {
                file: (mode != Mode::Replay).then_some(file),
                exchanges,
                asked: BTreeMap::new(),
            }),
        })
    }

    /// Where answers come from.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// How many exchanges there are.
    pub fn len(&self) -> usize {
        self.tape().exchanges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A place for one request: the next repeat of its key that nobody has.
    pub fn place(&self, key: String) -> Place<'_> {
        let mut tape = self.tape();
        let asked = tape.asked.entry(key.clone()).or_default();
        let repeat = asked.given_back.pop_first().unwrap_or_else(|| {
            asked.next += 1;
            asked.next - 1
        });
        let recorded = match self.mode {
            Mode::Record => None,
            Mode::Replay | Mode::Auto => tape.exchanges.get(&(key.clone(), repeat)).cloned(),
        };
        drop(tape);
        Place {
            cassette: self,
            key,
            repeat,
            recorded,
            used: false,
        }
    }

    fn record(&self, exchange: Exchange) -> Result<(), CassetteError> {
        let failed = |source| CassetteError::File {
            path: self.path.clone(),
            source,
        };
        let mut line = serde_json::to_string(&exchange).map_err(|error| failed(error.into()))?;
        line.push('\n');
        let mut tape = self.tape();
        if let Some(file) = &mut tape.file {
            file.write_all(line.as_bytes()).map_err(failed)?;
            file.sync_data().map_err(failed)?;
        }
        tape.exchanges.insert((exchange.key.clone(), exchange.repeat), exchange);
        Ok(())
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request's place. Dropped without being used, it is given to whoever asks the same next, so that an attempt that
/// came to nothing leaves no gap.
#[derive(Debug)]
pub struct Place<'a> {
    cassette: &'a Cassette,
    key: String,
    repeat: usize,
    recorded: Option<Exchange>,
    used: bool,
}

impl Place<'_> {
    /// The request's hash and repeat, for people.
    pub fn name(&self) -> String {
        format!("{}, repeat {}", self.key, self.repeat)
    }

    /// Takes the recorded exchange, if there is one.
    pub fn replay(&mut self) -> Option<Exchange> {
        let recorded = self.recorded.take()?;
        self.used = true;
        Some(recorded)
    }

    /// Records what came. The body must not hold a key any more.
    pub fn record(mut self, head: &Head, body: String) -> Result<(), CassetteError> {
        self.used = true;
        self.cassette.record(Exchange {
            key: self.key.clone(),
            repeat: self.repeat,
            status: head.status,
            content_type: head.content_type.clone(),
            retry_after: head.retry_after.map(|wait| wait.as_secs_f64()),
            body,
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.used {
            let mut tape = self.cassette.tape();
            tape.asked
                .entry(self.key.clone())
                .or_default()
                .given_back
                .insert(self.repeat);
        }
    }
}

/// The hash of a request. The host is left out: the same question to the same model through another address is the same.
pub fn key(form: WireForm, path: &str, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [form.name(), path, body] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    // 128 bits: no two requests share them by chance.
    hasher.finalize().to_hex()[..32].to_owned()
}

fn open_to_write(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            status: 200,
            content_type: "application/json".to_owned(),
            ..Head::default()
        }
    }

    #[test]
    fn repeats_have_answers_of_their_own_and_attempts_leave_no_gap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let cassette = Cassette::open(&path, Mode::Auto).unwrap();
        drop(cassette.place("k".to_owned()));
        let (first, second) = (cassette.place("k".to_owned()), cassette.place("k".to_owned()));
        assert_eq!(
            (first.name().as_str(), second.name().as_str()),
            ("k, repeat 0", "k, repeat 1")
        );
        second.record(&head(), "two".to_owned()).unwrap();
        drop(first);
        cassette
            .place("k".to_owned())
            .record(&head(), "one".to_owned())
            .unwrap();
        let again = Cassette::open(&path, Mode::Replay).unwrap();
        let bodies: Vec<_> = (0..3)
            .map(|_| again.place("k".to_owned()).replay().map(|found| found.body))
            .collect();
        assert_eq!(bodies, [Some("one".to_owned()), Some("two".to_owned()), None]);
        assert!(again.place("other".to_owned()).replay().is_none());
    }

    #[test]
    fn a_torn_line_is_dropped_and_a_damaged_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        Cassette::open(&path, Mode::Auto)
            .unwrap()
            .place("a".to_owned())
            .record(&head(), "1".to_owned())
            .unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"key\":\"b\",\"rep")).unwrap();
        assert_eq!(Cassette::open(&path, Mode::Replay).unwrap().len(), 1);
        let cassette = Cassette::open(&path, Mode::Auto).unwrap();
        cassette.place("c".to_owned()).record(&head(), "3".to_owned()).unwrap();
        assert_eq!(Cassette::open(&path, Mode::Replay).unwrap().len(), 2);
        std::fs::write(&path, format!("{whole}nonsense\n{whole}")).unwrap();
        let error = Cassette::open(&path, Mode::Replay).unwrap_err();
        assert!(error.to_string().ends_with("line 2 is damaged"), "{error}");
        assert!(Cassette::open(&folder.path().join("none"), Mode::Replay).is_err());
    }

    #[test]
    fn recording_again_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        for body in ["old", "new"] {
            let cassette = Cassette::open(&path, Mode::Record).unwrap();
            let mut place = cassette.place("k".to_owned());
            assert!(place.replay().is_none());
            place.record(&head(), body.to_owned()).unwrap();
        }
        let cassette = Cassette::open(&path, Mode::Auto).unwrap();
        assert_eq!(cassette.place("k".to_owned()).replay().unwrap().body, "new");
    }

    #[test]
    fn keys_tell_requests_apart() {
        let keys = [
            key(WireForm::Chat, "/v1/a", "b"),
            key(WireForm::Chat, "/v1/", "ab"),
            key(WireForm::Responses, "/v1/a", "b"),
            key(WireForm::Chat, "/v1/a", "c"),
        ];
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 4);
        assert_eq!(keys[0], key(WireForm::Chat, "/v1/a", "b"));
        assert_eq!(keys[0].len(), 32);
    }
}
