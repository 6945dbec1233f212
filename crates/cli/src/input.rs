//! The `<session>` argument that most commands take, and how it is read.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use clap::ValueEnum;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_engine::transcript::Transcript;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::History;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

/// Sources below this size are read and counted before a bar could be seen.
const WORTH_A_BAR: usize = 20_000;

/// Sources from this size on take long enough that a person wants to see something move.
const WORTH_A_SPINNER: u64 = 20_000_000;

/// Which conversation to read, and how.
#[derive(Debug, Args)]
pub struct Input {
    /// A session file, database or directory, a request body, or `-` for standard input.
    pub session: String,

    /// The format, where detection is not wanted (`mainstay formats` lists them).
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<String>,

    /// Which conversation, where the source holds several.
    #[arg(long = "session", value_name = "ID", id = "session_id")]
    pub id: Option<String>,

    /// What the agent would send now, or everything that was recorded.
    #[arg(long, value_enum, default_value_t = WhichHistory::Live)]
    pub history: WhichHistory,
}

/// The two views of a recorded session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhichHistory {
    /// What the agent would send now: after the last compaction and rewind.
    Live,
    /// Every message on the way to it.
    Full,
}

/// A conversation and the exact bytes it was read from.
pub struct Loaded {
    /// The conversation.
    pub document: Document,
    /// The bytes; none where the source is a database or a directory.
    pub bytes: Option<Vec<u8>>,
}

/// How often a file that is being written to is read again.
const MOST_ATTEMPTS: usize = 5;

impl Input {
    /// How large the source is, as far as that can be told before it is read.
    pub fn size(&self) -> u64 {
        std::fs::metadata(&self.session).map_or(0, |metadata| metadata.len())
    }

    /// Reads the conversation and keeps the bytes it came from.
    pub fn load(&self) -> anyhow::Result<Loaded> {
        let _busy = busy("reading", self.size());
        if self.session == "-" {
            let bytes = standard_input()?;
            let document = self.read_from(&Source::memory("standard input", bytes.clone()))?;
            return Ok(Loaded {
                document,
                bytes: Some(bytes),
            });
        }
        let path = Path::new(&self.session);
        let source = Source::open(path)?;
        if source.is_directory() || source.is_database()? {
            let document = self.read_from(&source)?;
            return Ok(Loaded { document, bytes: None });
        }
        // A running agent may append while we read: bytes and conversation must be of one moment.
        for _ in 0..MOST_ATTEMPTS {
            let bytes = std::fs::read(path).with_context(|| self.session.clone())?;
            let document = self.read_from(&Source::open(path)?)?;
            if std::fs::metadata(path).with_context(|| self.session.clone())?.len() == bytes.len() as u64 {
                return Ok(Loaded {
                    document,
                    bytes: Some(bytes),
                });
            }
        }
        anyhow::bail!(
            "{}: it is being written to all the time; copy it and compact the copy",
            self.session
        )
    }

    /// Reads the conversation.
    pub fn read(&self) -> anyhow::Result<Document> {
        let _busy = busy("reading", self.size());
        self.read_from(&self.source()?)
    }

    fn read_from(&self, source: &Source) -> anyhow::Result<Document> {
        let from = self.from.as_deref().map(format::by_name).transpose()?;
        let request = Request {
            history: match self.history {
                WhichHistory::Live => History::Live,
                WhichHistory::Full => History::Full,
            },
            session: self.id.clone(),
        };
        let document = format::read(source, from, &request)?;
        if document.transcript.messages().is_empty() && document.original_chunks().is_empty() {
            let title = document.format.title;
            anyhow::bail!(
                "{}: there is no message in it that can be read as {title}",
                source.name()
            );
        }
        Ok(document)
    }

    fn source(&self) -> anyhow::Result<Source> {
        if self.session == "-" {
            return Ok(Source::memory("standard input", standard_input()?));
        }
        Ok(Source::open(Path::new(&self.session))?)
    }
}

fn standard_input() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .context("standard input")?;
    Ok(bytes)
}

/// Shows that long work is going on, on standard error and only in a terminal; gone when it is dropped.
pub struct Busy(ProgressBar);

/// Starts to show it for a source of this many bytes, if that is worth it.
pub fn busy(what: &'static str, bytes: u64) -> Busy {
    let bar = if bytes < WORTH_A_SPINNER {
        ProgressBar::hidden()
    } else {
        ProgressBar::new_spinner()
    };
    bar.set_message(what);
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    Busy(bar)
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Counts a transcript, with a bar on standard error when it takes long enough to be seen.
pub fn tally(transcript: &Transcript, family: Family) -> Tally {
    let messages = transcript.messages();
    let mut tally = Tally::new(family);
    if messages.len() < WORTH_A_BAR {
        tally.extend(messages);
        return tally;
    }
    let style = ProgressStyle::with_template("counting {wide_bar} {pos}/{len} messages, {eta} left");
    let bar = ProgressBar::new(messages.len() as u64);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    for end in (0..messages.len())
        .step_by(WORTH_A_BAR / 10)
        .skip(1)
        .chain([messages.len()])
    {
        tally.extend(&messages[..end]);
        bar.set_position(end as u64);
    }
    bar.finish_and_clear();
    tally
}

/// The bytes of a file; `-` is standard input.
pub fn read_bytes(file: &str) -> anyhow::Result<Vec<u8>> {
    if file != "-" {
        return std::fs::read(file).with_context(|| file.to_owned());
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .context("standard input")?;
    Ok(bytes)
}
