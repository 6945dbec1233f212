//! Closing a run: its reports are written, `report.json` last. From then on nothing changes it.

use std::collections::BTreeMap;

use mainstay_llm::price::Spent;
use serde::Serialize;

use crate::record::Run;
use crate::record::RunError;
use crate::record::Sample;
use crate::run::desk::Duty;
use crate::run::folder::Folder;
use crate::run::folder::FolderError;
use crate::run::folder::pretty;
use crate::run::report;
use crate::run::report::Report;

/// Why a run cannot be closed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FinishError {
    /// What it kept cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Its reports cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// All samples of a fixture in one repeat.
#[derive(Serialize)]
struct FixtureRun<'a> {
    label: &'a str,
    fixture: &'a str,
    run: u32,
    samples: Vec<&'a Sample>,
}

/// Writes the reports of a run.
pub fn finish(folder: &Folder, spent: &BTreeMap<Duty, Spent>) -> Result<Report, FinishError> {
    let run = Run::read(&folder.path)?;
    let report = report::report(&run, spent)?;
    for fixture in &run.manifest.fixtures {
        for repeat in 1..=run.manifest.repeats {
            let samples = run.samples.iter();
            let of_this = |sample: &&Sample| sample.fixture == fixture.name && sample.repeat == repeat;
            let whole = FixtureRun {
                label: &run.manifest.label,
                fixture: &fixture.name,
                run: repeat,
                samples: samples.filter(of_this).collect(),
            };
            folder.write(&format!("{}-run-{repeat}.json", fixture.name), &pretty(&whole))?;
        }
    }
    folder.write("report.md", &report::markdown(&report))?;
    folder.write("junit.xml", &report::junit(&report, &run))?;
    folder.write("report.json", &pretty(&report))?;
    Ok(report)
}
