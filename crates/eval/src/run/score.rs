//! Scoring a run anew: the answers that were paid for, with another bank or a newer grader. Nobody is asked.

use std::collections::BTreeMap;
use std::path::Path;

use crate::fixture::Exam;
use crate::grade::grade;
use crate::record::Run;
use crate::record::RunError;
use crate::record::Sample;
use crate::record::StateRecord;
use crate::rubric;
use crate::run::FinishError;
use crate::run::desk::Desk;
use crate::run::desk::Mode;
use crate::run::desk::Models;
use crate::run::finish;
use crate::run::folder::Folder;
use crate::run::folder::FolderError;
use crate::run::journal::Journal;
use crate::run::report::Report;

/// Why a run cannot be scored anew.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// It cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The result cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The fixtures are others than the run's.
    #[error("the fixture {0} is not the one of the run; only its probes may have changed")]
    OtherFixture(String),
    /// Its reports cannot be written.
    #[error(transparent)]
    Finish(#[from] FinishError),
    /// The answers that were kept cannot be copied.
    #[error("{path}: {cause}")]
    NoCopy {
        /// Which file.
        path: String,
        /// Why.
        cause: std::io::Error,
    },
}

/// Grades all samples of a run anew into a directory of its own, with these banks or with the run's. Judgements stay as they
/// are: a judge would have to be asked.
pub fn score(run: &Run, exam: Option<Exam>, program: &str, created: i64, to: &Path) -> Result<Report, ScoreError> {
    let own = run.exam()?;
    let exam = match exam {
        Some(exam) => with_own_fixtures(run, exam)?,
        None => own,
    };
    let mut manifest = run.manifest.clone();
    manifest.scored_from = Some(manifest.label.clone());
    manifest.label = format!("{}, scored anew", manifest.label);
    (manifest.program, manifest.created) = (program.to_owned(), created);
    for used in &mut manifest.fixtures {
        if let Some(subject) = exam.subjects.iter().find(|subject| subject.name() == used.name) {
            used.probes_digest = rubric::hash(&subject.bank_text);
            used.probes = subject.bank.probes.len();
        }
    }
    let folder = Folder::create(to, &manifest, &exam)?;
    let calls = to.join("calls.jsonl");
    let copied = std::fs::copy(run.directory.join("calls.jsonl"), &calls);
    let no_copy = |cause| {
        let path = run.directory.join("calls.jsonl").display().to_string();
        ScoreError::NoCopy { path, cause }
    };
    match copied {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(no_copy(cause)),
        Ok(_) | Err(_) => {}
    }
    let mut states: BTreeMap<(&str, &str, u32), StateRecord> = BTreeMap::new();
    for sample in &run.samples {
        let place = (sample.fixture.as_str(), sample.arm.as_str(), sample.repeat);
        if let std::collections::btree_map::Entry::Vacant(empty) = states.entry(place) {
            let state = run.state(&sample.fixture, &sample.arm, sample.repeat)?;
            folder.keep_state(&state)?;
            empty.insert(state);
        }
        if let Some(sample) = graded(sample, &exam, &states[&place]) {
            folder.add(&sample)?;
        }
    }
    let journal = Journal::open(&calls).map_err(no_copy)?;
    let desk = Desk::new(Models::default(), journal, Mode::Collect, None);
    Ok(finish(&folder, &desk.spent())?)
}

fn with_own_fixtures(run: &Run, exam: Exam) -> Result<Exam, ScoreError> {
    let names: Vec<String> = run.manifest.fixtures.iter().map(|used| used.name.clone()).collect();
    let exam = exam.only(&names).map_err(RunError::from)?;
    for (subject, used) in exam.subjects.iter().zip(&run.manifest.fixtures) {
        if rubric::hash(&subject.fixture_text) != used.digest {
            return Err(ScoreError::OtherFixture(used.name.clone()));
        }
    }
    Ok(exam)
}

/// A sample with new grades; `None` where its probe is no longer asked.
fn graded(sample: &Sample, exam: &Exam, state: &StateRecord) -> Option<Sample> {
    let subject = exam.subjects.iter().find(|subject| subject.name() == sample.fixture)?;
    let probe = subject.bank.probes.iter().find(|probe| probe.id == sample.probe)?;
    let secrets = &subject.bank.secrets;
    Some(Sample {
        kind: probe.kind,
        state: state.graded(sample.found.as_deref(), probe, secrets),
        graded: sample.answer.as_ref().map(|answer| grade(answer, probe, secrets)),
        ..sample.clone()
    })
}
