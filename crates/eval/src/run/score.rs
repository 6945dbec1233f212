//! Scoring a run anew: the answers that were paid for, with another bank or a newer grader. Nobody is asked.

use std::collections::BTreeMap;
use std::path::Path;

use crate::fixture::Exam;
use crate::fixture::Probe;
use crate::grade::grade;
use crate::record::Papers;
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

/// Grades all samples of a run anew into a directory of its own, with these banks or with the run's: the report, and how many
/// samples of new probes there would be had a model been asked. Judgements stay as they are: a judge would have to be asked.
pub fn score(
    run: &Run,
    exam: Option<Exam>,
    program: &str,
    created: i64,
    to: &Path,
) -> Result<(Report, usize), ScoreError> {
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
    let mut samples: BTreeMap<Name<'_>, &Sample> = BTreeMap::new();
    for sample in &run.samples {
        samples.insert((&sample.fixture, &sample.arm, sample.repeat, &sample.probe), sample);
    }
    let mut unanswered = 0;
    for subject in &exam.subjects {
        for arm in &run.manifest.arms {
            for repeat in 1..=run.manifest.repeats {
                if !Run::state_path(&run.directory, subject.name(), &arm.name, repeat).exists() {
                    continue;
                }
                let state = run.state(subject.name(), &arm.name, repeat)?;
                folder.keep_state(&state)?;
                let papers = state.papers();
                for probe in &subject.bank.probes {
                    let known = samples.get(&(subject.name(), &arm.name, repeat, &probe.id));
                    // A probe that is new can be asked of a state, but not of a model or an archive.
                    let is_askable = run.manifest.answerer.is_none() && !arm.has_recall;
                    match known {
                        Some(sample) => folder.add(&graded(sample, probe, &subject.bank.secrets, &state, &papers))?,
                        None if is_askable => {
                            let sample = Sample::new(&state.fixture, &state.arm, state.repeat, probe);
                            folder.add(&graded(&sample, probe, &subject.bank.secrets, &state, &papers))?;
                        }
                        None => unanswered += 1,
                    }
                }
            }
        }
    }
    let journal = Journal::open(&calls).map_err(no_copy)?;
    let desk = Desk::new(Models::default(), journal, Mode::Collect, None);
    Ok((finish(&folder, &desk.spent())?, unanswered))
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

/// What a sample is known by: fixture, arm, repeat and probe.
type Name<'a> = (&'a str, &'a str, u32, &'a str);

/// A sample with new grades.
fn graded(sample: &Sample, probe: &Probe, secrets: &[String], state: &StateRecord, papers: &Papers) -> Sample {
    Sample {
        kind: probe.kind,
        state: state.graded(papers, sample.found.as_deref(), probe, secrets),
        graded: sample.answer.as_ref().map(|answer| grade(answer, probe, secrets)),
        ..sample.clone()
    }
}
