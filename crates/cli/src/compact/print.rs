//! The reports of `compact` as tables for people.

use std::path::Path;

use mainstay_engine::decide::Plan;
use mainstay_wire::document::Document;

use crate::compact::report::FlawReport;
use crate::compact::report::Hint;
use crate::compact::report::PlanReport;
use crate::compact::report::Report;
use crate::compact::report::SummaryReport;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::opening;
use crate::screen::percent;
use crate::screen::plain;

/// Shows what a compaction did, or why there was none.
pub fn outcome(report: &Report, output: Option<&str>, store: Option<&Path>, screen: &mut Screen) -> anyhow::Result<()> {
    if !report.compacted {
        screen.line(&format!("Nothing was changed: {}.", report.reason))?;
        if let Some(smallest) = report.smallest_target {
            screen.line(&format!("Smallest possible target: {} tokens.", number(smallest)))?;
        } else if let Some(hint) = report.hint {
            screen.faint(match hint {
                Hint::LowerTailOrTarget => {
                    "A lower --tail leaves more to compact; --target reaches into recent outputs."
                }
                Hint::Force => "--force compacts all the same; --window or --target say what it must fit.",
                Hint::LowerTail => "A lower --tail leaves more to compact.",
            })?;
        }
        return Ok(());
    }
    let saved = report.tokens_before.saturating_sub(report.tokens_after);
    screen.line(&format!(
        "{} → {} tokens, {} saved ({}), {} messages, window {}",
        number(report.tokens_before),
        number(report.tokens_after),
        number(saved),
        percent(saved, report.tokens_before),
        number(report.messages),
        number(report.window),
    ))?;
    screen.heading("Taken out")?;
    let rows = report.pruned.iter().map(|(kind, pruned)| {
        vec![
            (*kind).to_owned(),
            number(pruned.parts),
            number(pruned.tokens_before),
            number(pruned.tokens_after),
        ]
    });
    screen.table(&["KIND", ">PARTS", ">BEFORE", ">AFTER"], rows.collect())?;
    screen.heading("Why")?;
    for reason in &report.reasons {
        screen.line(&format!("  {}", plain(&reason.text)))?;
    }
    if let Some(summary) = &report.summary {
        written(summary, screen)?;
    }
    // Why there is no summary stands above already.
    let is_told = |flaw: &&FlawReport| report.reasons.iter().any(|reason| reason.text.contains(&flaw.detail));
    let flaws: Vec<&FlawReport> = report.flaws.iter().filter(|flaw| !is_told(flaw)).collect();
    if !flaws.is_empty() {
        screen.heading("To know")?;
        for flaw in flaws {
            screen.line(&format!("  {}: {}", flaw.kind, opening(&flaw.detail, WIDEST)))?;
        }
    }
    match report.earliest_changed {
        Some(0) => screen.line(
            "\nThe prompt changes from its first message on: the provider's cache of the messages begins anew.",
        )?,
        Some(index) => screen.line(&format!(
            "\nThe prompt is unchanged before message {index}: so much of the provider's cache stays warm."
        ))?,
        None => {}
    }
    if let Some(output) = output.filter(|output| *output != "-") {
        screen.line(&format!("Written to {output}."))?;
    }
    let Some(id) = &report.checkpoint else { return Ok(()) };
    // A store that was named here has to be named there, too.
    let store = store.map_or_else(String::new, |store| format!(" --store {}", store.display()));
    screen.line(&format!("Checkpoint {id}. Everything is kept:"))?;
    screen.line(&format!("  mainstay loss {id}{store}          what this dropped"))?;
    screen.line(&format!("  mainstay restore {id}{store}       the exact original"))?;
    screen.line(&format!(
        "  mainstay recall WORDS{store}                   search what was dropped"
    ))
}

/// Longer details are cut; `--json` has them whole.
const WIDEST: usize = 200;

fn written(summary: &SummaryReport, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading("Summary")?;
    let what = match summary.used {
        true => format!("{} tokens by a model, {}", number(summary.tokens), summary.way),
        false => "none: the ledger stands alone".to_owned(),
    };
    let cost = match summary.cost_usd {
        Some(cost) => format!("${cost:.4}"),
        None => "no price known".to_owned(),
    };
    screen.line(&format!(
        "  {what}; {} calls, {} tokens in, {} out, {cost}",
        summary.calls,
        number(summary.tokens_in),
        number(summary.tokens_out),
    ))
}

/// Shows a plan.
pub fn plan(document: &Document, plan: &Plan, as_json: bool, screen: &mut Screen) -> anyhow::Result<()> {
    let report = PlanReport::new(document, plan);
    if as_json {
        return screen.json(&report);
    }
    let count = document.transcript.messages().len();
    screen.line(&format!("mode        {}", report.mode))?;
    screen.line(&format!(
        "tokens      {} → about {}, to come down to {}",
        number(report.tokens_before),
        number(report.tokens_expected),
        number(report.target)
    ))?;
    let pinned = report
        .pinned
        .map(|index| format!(", message {index} pinned"))
        .unwrap_or_default();
    screen.line(&format!(
        "kept        head 0..{}, tail {}..{count}{pinned}",
        report.head_end, report.tail_start
    ))?;
    screen.heading("Why")?;
    for reason in &report.reasons {
        screen.line(&format!("  {}", reason.text))?;
    }
    if report.actions.is_empty() {
        return Ok(());
    }
    screen.heading("What")?;
    let rows = report.actions.iter().map(|action| {
        vec![
            action.message.to_string(),
            action.action.to_owned(),
            opening(action.tool.as_deref().unwrap_or(""), 30),
            number(action.tokens),
            number(action.saves),
        ]
    });
    screen.table(&[">#", "ACTION", "TOOL", ">TOKENS", ">SAVES"], rows.collect())
}
