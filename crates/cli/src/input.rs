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

impl Input {
    /// Reads the conversation.
    pub fn read(&self) -> anyhow::Result<Document> {
        let source = self.source()?;
        let from = self.from.as_deref().map(format::by_name).transpose()?;
        let request = Request {
            history: match self.history {
                WhichHistory::Live => History::Live,
                WhichHistory::Full => History::Full,
            },
            session: self.id.clone(),
        };
        Ok(format::read(&source, from, &request)?)
    }

    fn source(&self) -> anyhow::Result<Source> {
        if self.session == "-" {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .read_to_end(&mut bytes)
                .context("standard input")?;
            return Ok(Source::memory("standard input", bytes));
        }
        Ok(Source::open(Path::new(&self.session))?)
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
