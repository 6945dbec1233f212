//! Closing an A/B, and adding what people said to one that is closed.

use std::collections::BTreeMap;
use std::path::Path;

use mainstay_llm::price::Spent;
use serde::Deserialize;
use serde::Serialize;

use crate::ab::build::Scoring;
use crate::ab::build::report;
use crate::ab::judge::Verdict;
use crate::ab::markdown::markdown;
use crate::ab::report::AbReport;
use crate::ab::sheet::Key;
use crate::ab::sheet::Score;
use crate::ab::sheet::SheetError;
use crate::fixture::Exam;
use crate::record::Run;
use crate::record::RunError;
use crate::record::SampleName;
use crate::run;
use crate::run::FinishError;
use crate::run::desk::Duty;
use crate::run::folder::Folder;
use crate::run::folder::pretty;

/// Where the judge's verdicts are kept.
const VERDICTS: &str = "verdicts.jsonl";

/// What the judge said of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The sample: checkpoint, arm, repeat and probe.
    pub sample: SampleName,
    /// What was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<String>,
}

/// Why what people said cannot be added.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeopleError {
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The sheet does not fit its key.
    #[error(transparent)]
    Sheet(#[from] SheetError),
}

/// Writes everything that an A/B leaves, `report.json` last.
pub fn finish(
    folder: &Folder,
    exam: &Exam,
    judged: Option<BTreeMap<SampleName, Result<Verdict, String>>>,
    spent: &BTreeMap<Duty, Spent>,
) -> Result<AbReport, FinishError> {
    let run = Run::read(&folder.path)?;
    if let Some(verdicts) = &judged {
        folder.write(VERDICTS, &lines(verdicts))?;
    }
    let scorings: Vec<Scoring> = judged.into_iter().map(by_judge).collect();
    let report = report(&run, exam, &scorings)?;
    folder.write("ab.md", &markdown(&report))?;
    folder.write("ab.json", &pretty(&report))?;
    run::finish(folder, spent)?;
    Ok(report)
}

/// The report of a run that is closed, with what people said; the run stays as it is.
pub fn with_people(run: &Run, key: &Key, scores: &[Score]) -> Result<AbReport, PeopleError> {
    let path = run.directory.join(VERDICTS);
    let mut scorings: Vec<Scoring> = match path.exists() {
        true => vec![by_judge(read(&path)?)],
        false => Vec::new(),
    };
    scorings.push(Scoring {
        scorer: "people",
        verdicts: key.unblind(scores)?,
    });
    Ok(report(run, &run.exam()?, &scorings)?)
}

fn by_judge(verdicts: BTreeMap<SampleName, Result<Verdict, String>>) -> Scoring {
    Scoring {
        scorer: "judge",
        verdicts,
    }
}

fn lines(verdicts: &BTreeMap<SampleName, Result<Verdict, String>>) -> String {
    let line = |(name, said): (&SampleName, &Result<Verdict, String>)| {
        let judged = Judged {
            sample: name.clone(),
            verdict: said.as_ref().ok().cloned(),
            unscored: said.as_ref().err().cloned(),
        };
        serde_json::to_string(&judged).unwrap_or_default() + "\n"
    };
    verdicts.iter().map(line).collect()
}

fn read(path: &Path) -> Result<BTreeMap<SampleName, Result<Verdict, String>>, RunError> {
    let text = std::fs::read_to_string(path).map_err(|cause| RunError::NoFile {
        path: path.to_owned(),
        cause,
    })?;
    let mut verdicts = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let judged: Judged = serde_json::from_str(line).map_err(|cause| RunError::Damaged {
            path: path.to_owned(),
            line: Some(index + 1),
            cause,
        })?;
        let said = judged.verdict.ok_or_else(|| judged.unscored.unwrap_or_default());
        verdicts.insert(judged.sample, said);
    }
    Ok(verdicts)
}
