//! Identifiers that the agent goes on to use: retention's figures on every cut of recorded trajectories.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use mainstay_engine::account::Family;
use mainstay_engine::decide::Engine;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;

use crate::board::conversations::Done;
use crate::board::figure::BoardObservation;
use crate::board::figure::FigureTable;
use crate::board::measure::BoardMeasure;
use crate::board::size::BoardSize;
use crate::forced::ForcedPasses;
use crate::retention::Arm;
use crate::retention::ArmError;
use crate::retention::Contender;
use crate::retention::Row;
use crate::retention::Settings;
use crate::retention::corpus;
use crate::retention::render;
use crate::retention::study;
use crate::sessions::Selection;
use crate::state::tokens;

/// The sizes of this set, as shares of what stands before a cut.
const SHARES: [f64; 3] = [0.05, 0.1, 0.2];
/// The tokenizer of retention.
const FAMILY: Family = Family::Cl100k;
/// The size under which faults of all cuts and sizes stand: an arm is not told which cut it works on.
const ALL_SIZES: &str = "all";

/// The ledger under retention's metric. Where the original comes back, there is no state of that size and nothing is kept;
/// retention itself would score the whole original.
#[derive(Clone, Default)]
struct LedgerArm {
    over: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Arm for LedgerArm {
    fn name(&self) -> &str {
        Engine::Ledger.name()
    }

    fn compact(&self, messages: &[Message], budget: u64) -> Result<Vec<String>, ArmError> {
        let draft = Draft {
            messages: messages.to_vec(),
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        let state = ForcedPasses::new(transcript, FAMILY, Engine::Ledger).to(budget);
        if tokens(&state.messages, FAMILY) > budget {
            let fault = if state.is_compacted() {
                &self.over
            } else {
                &self.refused
            };
            fault.fetch_add(1, Ordering::Relaxed);
            if !state.is_compacted() {
                return Ok(Vec::new());
            }
        }
        Ok(state.messages.iter().map(render).collect())
    }
}

/// The figures on all trajectories below a folder, and how many sessions there are.
pub fn measure(directory: &Path, jobs: usize, done: Done<'_>) -> Result<(FigureTable, usize), String> {
    let selection = Selection {
        jobs,
        ..Selection::default()
    };
    let corpus = corpus::load(&[directory.to_owned()], &selection).map_err(|error| error.to_string())?;
    let settings = Settings {
        budgets: SHARES.to_vec(),
        jobs,
        ..Settings::default()
    };
    let arm = LedgerArm::default();
    let contenders = [Contender::Arm(Box::new(arm.clone()))];
    let all = corpus.trajectories.len();
    let rows = study(&corpus.trajectories, &contenders, &settings, &|count| done(count, all));
    let rows = rows.map_err(|error| error.to_string())?;
    let mut table = FigureTable::default();
    for row in &rows {
        table.extend(&row.cluster, observations(row));
    }
    let fault = |measure, count: &AtomicUsize| BoardObservation {
        size: ALL_SIZES.to_owned(),
        measure,
        value: count.load(Ordering::Relaxed) as f64,
    };
    let faults = vec![
        fault(BoardMeasure::OverTarget, &arm.over),
        fault(BoardMeasure::Refused, &arm.refused),
    ];
    table.extend("all cuts", faults);
    Ok((table, all))
}

fn observations(row: &Row) -> Vec<BoardObservation> {
    let mut observations = Vec::new();
    for (share, measured) in SHARES.iter().zip(&row.measured) {
        let size = BoardSize::Share(*share).to_string();
        let seen = |measure, value| BoardObservation {
            size: size.clone(),
            measure,
            value,
        };
        observations.push(seen(BoardMeasure::Fur, measured.score.fur));
        observations.extend(measured.score.far.map(|far| seen(BoardMeasure::Far, far)));
        observations.extend(measured.score.pair.map(|pair| seen(BoardMeasure::Pair, pair)));
        observations.push(seen(BoardMeasure::Used, (measured.used / share).min(1.0)));
    }
    observations
}
