//! The board: everything that is measured without a model, in one run, on the engine as `mainstay compact --engine ledger
//! --target` runs it.
//!
//! Sets of conversations are compacted to several sizes; [`BoardFigure`]s say what of them is left, with intervals by
//! conversation. A run can be kept ([`KeptBoard`]) and a later one compared with it; [`BoardFloors`] say what must be reached.
//! The same data and engine give the same figures, whatever the number of threads.

mod conversations;
mod exam_set;
mod figure;
mod floors;
mod identifier_set;
mod kept_run;
mod measure;
mod own_words;
mod person_set;
mod planted_set;
mod planted_sheet;
mod preflight_set;
mod qa_set;
mod sets;
mod size;
mod state_check;

pub use figure::BoardFigure;
pub use floors::BoardFloors;
pub use floors::FloorFailure;
pub use kept_run::FigureDifference;
pub use kept_run::KeptBoard;
pub use measure::BoardMeasure;
pub use measure::MeasureKind;
pub use sets::BoardSet;

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::board::sets::SetOutcome;

/// What is measured, and where it lies.
#[derive(Clone, Debug)]
pub struct BoardSettings {
    /// The sets, in this order.
    pub sets: Vec<BoardSet>,
    /// The directory with the data of the sets that do not come with the program.
    pub data: PathBuf,
    /// The directory with the generator and the scorer of planted conversations.
    pub planted: PathBuf,
    /// Where generated conversations are cached.
    pub cache: PathBuf,
    /// How many threads work.
    pub jobs: usize,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub enum BoardProgress<'a> {
    /// A set has begun.
    Began(BoardSet),
    /// So many conversations of so many are done.
    Done(usize, usize),
    /// A set has ended.
    Ended(&'a SetReport),
}

/// What became of a set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetReport {
    /// The set.
    pub set: &'static str,
    /// Why it was not measured; none where it was.
    pub skipped: Option<String>,
    /// How many conversations it has.
    pub conversations: usize,
    /// How long it took.
    pub seconds: f64,
}

/// Everything a run comes to.
#[derive(Clone, Debug, Serialize)]
pub struct BoardReport {
    /// The sets.
    pub sets: Vec<SetReport>,
    /// The figures, set by set.
    pub figures: Vec<BoardFigure>,
}

/// A set that is there and cannot be measured.
#[derive(Debug, thiserror::Error)]
#[error("{set}: {why}")]
pub struct BoardError {
    /// The set.
    pub set: &'static str,
    /// What is wrong.
    pub why: String,
}

/// Measures all sets that are asked for. Sets whose data is absent are skipped and say so.
pub fn run(settings: &BoardSettings, progress: &(dyn Fn(BoardProgress<'_>) + Sync)) -> Result<BoardReport, BoardError> {
    let mut report = BoardReport {
        sets: Vec::new(),
        figures: Vec::new(),
    };
    for set in &settings.sets {
        progress(BoardProgress::Began(*set));
        let started = Instant::now();
        let done = |done, all| progress(BoardProgress::Done(done, all));
        let outcome = set
            .measure(settings, &done)
            .map_err(|why| BoardError { set: set.name(), why })?;
        let (skipped, conversations) = match outcome {
            SetOutcome::Skipped(why) => (Some(why), 0),
            SetOutcome::Measured { tables, conversations } => {
                for (column, table) in tables {
                    report.figures.extend(table.figures(column));
                }
                (None, conversations)
            }
        };
        report.sets.push(SetReport {
            set: set.name(),
            skipped,
            conversations,
            seconds: started.elapsed().as_secs_f64(),
        });
        progress(BoardProgress::Ended(report.sets.last().expect("a set was just added")));
    }
    Ok(report)
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
