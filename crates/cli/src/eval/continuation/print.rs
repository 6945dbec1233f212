//! What a continuation exam says to people.

use std::collections::BTreeMap;
use std::path::Path;

use mainstay_eval::continuation::ContinuationManifest;
use mainstay_eval::continuation::ContinuationReport;
use serde::Serialize;

use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;

/// So many of the things that make no case are shown.
const MOST_LEFT_OUT: usize = 10;

/// What is printed with `--json` while requests wait.
#[derive(Serialize)]
pub struct WaitingTasks<'a> {
    /// The run's directory.
    pub run: String,
    /// How many requests wait.
    pub waiting: usize,
    /// How many files were written, by folder.
    pub tasks: &'a BTreeMap<String, usize>,
    /// Files of states that are not there yet.
    pub missing_states: &'a [String],
}

/// Says what will be asked.
pub fn begin(manifest: &ContinuationManifest, directory: Option<&Path>, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading("Cases")?;
    let rows = manifest.cases.iter().map(|case| {
        vec![
            plain(&case.id),
            case.cut.clone(),
            case.messages.to_string(),
            number(case.prefix_tokens),
            number(case.size_tokens),
            case.own_tokens.map_or("–".to_owned(), number),
        ]
    });
    let titles = ["CASE", "CUT", ">MESSAGES", ">TOKENS", ">STATE", ">RECORDED SUMMARY"];
    screen.table(&titles, rows.collect())?;
    let arms: Vec<String> = manifest.arms.iter().map(|arm| plain(&arm.name)).collect();
    screen.line(&format!(
        "{} cases, arms {}; {} answerers, {} judges",
        manifest.cases.len(),
        arms.join(", "),
        manifest.answerer_seats,
        manifest.judge_seats
    ))?;
    match directory {
        Some(directory) => screen.faint(&format!("kept in {}", directory.display())),
        None => Ok(()),
    }
}

/// Says which sessions, cuts and sizes make no case.
pub fn left_out(left_out: &[(String, String)], screen: &mut Screen) {
    for (what, why) in left_out.iter().take(MOST_LEFT_OUT) {
        screen.warn(&format!("{what} is left out: {why}"));
    }
    if left_out.len() > MOST_LEFT_OUT {
        screen.warn(&format!("and {} more are left out", left_out.len() - MOST_LEFT_OUT));
    }
}

/// Says which tasks were written.
pub fn tasks(
    counts: &BTreeMap<String, usize>,
    directory: &Path,
    again: &str,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let total: usize = counts.values().sum();
    screen.line(&format!("{total} requests wait in {}:", directory.display()))?;
    for (folder, count) in counts {
        screen.line(&format!("  {folder}: {count} files"))?;
    }
    screen.line("Each folder is for one reader. Keep table.tsv from them: it says which arm a request is about.")?;
    screen.line("Put every reply into ID.txt below a directory DIR, and go on with:")?;
    screen.line(&format!(
        "  {again} --answers-in DIR --tasks-out {}",
        directory.display()
    ))
}

/// Says what an exam came to.
pub fn report(report: &ContinuationReport, directory: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading(&format!(
        "Continuation: {} cases of {} sessions",
        report.cases.len(),
        report.sessions()
    ))?;
    table(report.arm_table(), 2, screen)?;
    screen.heading("One arm minus another, by case; * where the interval, by session, does not hold zero")?;
    table(report.difference_table(), 3, screen)?;
    screen.heading("Agreement of judges")?;
    table(report.agreement_table(), 1, screen)?;
    screen.heading("Overall, by case")?;
    table(report.case_table(), 2, screen)?;
    let unscored = report.unscored_table();
    if !unscored.1.is_empty() {
        screen.heading("Not scored")?;
        table(unscored, 3, screen)?;
    }
    screen.line("")?;
    screen.line(&format!("report: {}", directory.join("report.md").display()))
}

/// Shows a table whose first columns are words, and the others numbers.
fn table((titles, rows): (Vec<String>, Vec<Vec<String>>), words: usize, screen: &mut Screen) -> anyhow::Result<()> {
    let titles: Vec<String> = titles
        .iter()
        .enumerate()
        .map(|(index, title)| {
            let mark = if index < words { "" } else { ">" };
            format!("{mark}{}", plain(title).to_uppercase())
        })
        .collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let rows = rows.into_iter();
    let rows = rows.map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    screen.table(&titles, rows)
}
