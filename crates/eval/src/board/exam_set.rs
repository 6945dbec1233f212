//! Sets with probe banks: which expected facts stand in the state, which stale ones it gives as current.

use mainstay_engine::account::Family;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::SummaryPolicy;
use mainstay_engine::summary::prompts::Prompts;

use crate::board::figure::BoardObservation;
use crate::board::measure::BoardMeasure;
use crate::board::size::BoardSize;
use crate::board::state_check::CheckedState;
use crate::board::state_check::StateCheck;
use crate::fixture::Subject;
use crate::grade::Grade;
use crate::record::StateRecord;
use crate::state::Arm;
use crate::state::Makes;
use crate::state::Progress;
use crate::state::Setting;
use crate::state::State;
use crate::state::Target;
use crate::state::Walk;

/// The tokenizer of probe evaluations, as in `mainstay eval run`.
const FAMILY: Family = Family::O200k;

/// What the states of a fixture show at these sizes, and the whole fixture as the most that a state can show.
pub fn observe(subject: &Subject, sizes: &[BoardSize]) -> Vec<BoardObservation> {
    let check = StateCheck::new(&subject.messages);
    let mut observations = Vec::new();
    for size in sizes {
        let name = size.to_string();
        let (makes, target) = match size {
            BoardSize::Whole => (Makes::Uncompacted, Target::Share(1.0)),
            BoardSize::Share(share) => (Makes::Engine(Engine::Ledger), Target::Share(*share)),
            BoardSize::Tokens(tokens) => (Makes::Engine(Engine::Ledger), Target::Tokens(*tokens)),
        };
        let state = make(subject, makes, target);
        let record = state.record(subject, &name, 1, FAMILY);
        let mut secrets = 0;
        let mut is_refused = false;
        if *size != BoardSize::Whole {
            let checked = CheckedState {
                size: &name,
                messages: &state.messages,
                tokens: record.tokens_after,
                target: target.of(record.tokens_before),
                is_compacted: record.passes.last().is_some_and(|pass| pass.made != "unchanged"),
            };
            is_refused = checked.is_refused();
            observations.extend(check.observe(&checked));
        }
        for grade in grades(&record, subject) {
            let seen = |measure, value| BoardObservation {
                size: name.clone(),
                measure,
                value,
            };
            // There is no state of this size, so nothing stands in it.
            let found = |is: bool| if is && !is_refused { 1.0 } else { 0.0 };
            observations.extend(
                grade
                    .facts
                    .iter()
                    .map(|fact| seen(BoardMeasure::Facts, found(fact.found))),
            );
            if *size != BoardSize::Whole && !is_refused {
                observations.push(seen(BoardMeasure::Stale, grade.stale.len() as f64));
                secrets += grade.leaks.len();
            }
        }
        if secrets > 0 {
            observations.push(BoardObservation {
                size: name.clone(),
                measure: BoardMeasure::Leaks,
                value: secrets as f64,
            });
        }
    }
    observations
}

fn make(subject: &Subject, makes: Makes, target: Target) -> State {
    let arm = Arm::new("board", makes);
    let setting = Setting {
        family: FAMILY,
        target,
        focus: None,
        summary: SummaryPolicy::default(),
        prompts: Prompts::default(),
        writers: None,
    };
    match Walk::new(subject, &arm, &setting).go_on(None) {
        Progress::Done(state) => *state,
        Progress::Ask(_) => unreachable!("a run without writers never asks a model"),
    }
}

fn grades(record: &StateRecord, subject: &Subject) -> Vec<Grade> {
    let papers = record.papers();
    let probes = subject.bank.probes.iter();
    probes
        .map(|probe| record.graded(&papers, None, probe, &subject.bank.secrets))
        .collect()
}
