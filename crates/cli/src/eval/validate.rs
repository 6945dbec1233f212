//! `mainstay eval validate`: what is wrong with fixtures and their probes, where, and what to do about it.

use std::path::PathBuf;

use clap::Args;
use mainstay_eval::fixture::Files;
use mainstay_eval::fixture_validation::Finding;
use mainstay_eval::fixture_validation::Severity;
use mainstay_eval::fixture_validation::validate;
use serde::Serialize;

use crate::gate::GateNotMet;
use crate::screen::Screen;
use crate::screen::plain;

/// Check fixtures and probes: their form, and every fact against its conversation.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A directory with `fixtures/` and `probes/`; without it, the exam that comes with the program.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// The same as DIR, by the name that the other commands have for it.
    #[arg(long, value_name = "DIR", conflicts_with = "directory")]
    exam: Option<PathBuf>,

    /// Check these probes: a bank file, or a directory of them.
    #[arg(long, value_name = "PATH")]
    probes: Option<PathBuf>,

    /// Warnings are errors.
    #[arg(long)]
    strict: bool,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    fixtures: usize,
    errors: usize,
    warnings: usize,
    passed: bool,
    findings: &'a [Finding],
}

/// Validates.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let directory = arguments.directory.as_deref().or(arguments.exam.as_deref());
    let files = match (directory, &arguments.probes) {
        (directory, Some(probes)) => Files::with_probes(directory, probes)?,
        (Some(directory), None) => Files::in_directory(directory)?,
        (None, None) => Files::built_in(),
    };
    if files.is_empty() {
        anyhow::bail!("there are no fixtures: fixtures/NAME.json and probes/NAME.probes.json are expected");
    }
    let findings = validate(&files, directory.is_none() && arguments.probes.is_none());
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let passed = errors == 0 && (warnings == 0 || !arguments.strict);
    if arguments.json {
        let report = Report {
            fixtures: files.len(),
            errors,
            warnings,
            passed,
            findings: &findings,
        };
        screen.json(&report)?;
    } else {
        print(&findings, screen)?;
        screen.line(&format!(
            "{} fixtures: {errors} errors, {warnings} warnings",
            files.len()
        ))?;
    }
    if passed {
        return Ok(());
    }
    Err(GateNotMet(format!("{errors} errors, {warnings} warnings")).into())
}

fn print(findings: &[Finding], screen: &mut Screen) -> anyhow::Result<()> {
    let mut files: Vec<&str> = findings.iter().map(|finding| finding.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        screen.heading(&plain(file))?;
        for finding in findings.iter().filter(|finding| finding.file == file) {
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            screen.line(&plain(&format!("  {severity} at {}: {}", finding.place, finding.what)))?;
            screen.faint(&plain(&format!("    {}", finding.remedy)))?;
        }
    }
    if !findings.is_empty() {
        screen.line("")?;
    }
    Ok(())
}
