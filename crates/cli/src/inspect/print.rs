//! The report of `inspect` as tables for people.

use crate::inspect::report::FindingReport;
use crate::inspect::report::Report;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::opening;
use crate::screen::percent;
use crate::screen::plain;

/// How many tools are listed before the rest is summed up.
const MOST_TOOLS: usize = 12;
/// How many places are named for one kind of finding.
const MOST_PLACES: usize = 5;

/// Prints everything.
pub fn print(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    summary(report, screen)?;
    tokens(report, screen)?;
    tools(report, screen)?;
    biggest(report, screen)?;
    compactions(report, screen)?;
    budget(report, screen)?;
    findings(report, screen)
}

fn summary(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let session = &report.session;
    let mut facts = vec![("format", report.format.to_owned())];
    let optional = [
        ("title", session.title.as_deref().map(|title| opening(title, 80))),
        ("id", session.id.as_deref().map(plain)),
        ("model", report.model.as_deref().map(plain)),
        ("directory", session.directory.as_deref().map(plain)),
        ("version", session.version.as_deref().map(plain)),
        ("parent", session.parent.as_deref().map(plain)),
        ("started", session.started.clone()),
        ("ended", session.ended.clone()),
    ];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let messages = &report.messages;
    let roles: Vec<_> = messages
        .by_role
        .iter()
        .map(|(role, count)| format!("{} {role}", number(*count)))
        .collect();
    facts.push(("messages", format!("{} ({})", number(messages.total), roles.join(", "))));
    facts.push(("turns", number(messages.turns)));
    if messages.recorded != messages.total - messages.inserted {
        facts.push((
            "recorded",
            format!(
                "{} messages in all; --history full shows them",
                number(messages.recorded)
            ),
        ));
    }
    let pairs = &report.pairs;
    let mut paired = format!("{} calls, {} answered", number(pairs.calls), number(pairs.answered));
    for (count, what) in [(pairs.open, "open"), (pairs.stubbed, "never answered")] {
        if count > 0 {
            paired.push_str(&format!(", {} {what}", number(count)));
        }
    }
    facts.push(("tool pairs", paired));
    for (name, value) in facts {
        screen.line(&format!("{name:<11} {value}"))?;
    }
    if session.conversations > 1 {
        let count = number(session.conversations);
        screen.faint(&format!(
            "{:<11} one of {count} in this source; choose with --session ID",
            ""
        ))?;
    }
    Ok(())
}

fn tokens(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let tokens = &report.tokens;
    let how = if tokens.exact { "exact" } else { "estimate" };
    screen.heading(&format!(
        "Tokens: {} ({how}, {})",
        number(tokens.counted),
        tokens.tokenizer
    ))?;
    let mut rows: Vec<_> = tokens.by_kind.iter().map(|(kind, count)| (*kind, *count)).collect();
    if tokens.tool_definitions > 0 {
        rows.push(("tool definitions", tokens.tool_definitions));
    }
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rows = rows
        .into_iter()
        .map(|(kind, count)| vec![kind.to_owned(), number(count), percent(count, tokens.counted)]);
    screen.table(&["KIND", ">TOKENS", ">SHARE"], rows.collect())
}

fn tools(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    if report.tools.is_empty() {
        return Ok(());
    }
    screen.heading("Tools")?;
    let rows = report.tools.iter().take(MOST_TOOLS).map(|tool| {
        vec![
            opening(&tool.name, 40),
            number(tool.calls),
            number(tool.failures),
            number(tool.argument_tokens),
            number(tool.result_tokens),
        ]
    });
    screen.table(&["TOOL", ">CALLS", ">FAILED", ">ARGUMENTS", ">RESULTS"], rows.collect())?;
    let more = report.tools.len().saturating_sub(MOST_TOOLS);
    if more > 0 {
        screen.faint(&format!("  … and {more} more tools"))?;
    }
    Ok(())
}

fn biggest(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    if report.biggest.is_empty() {
        return Ok(());
    }
    screen.heading("Biggest messages")?;
    let rows = report.biggest.iter().map(|big| {
        vec![
            big.index.to_string(),
            big.author.to_owned(),
            number(big.tokens),
            big.place.clone().unwrap_or_default(),
            big.opening.clone(),
        ]
    });
    screen.table(&[">#", "BY", ">TOKENS", "WHERE", "OPENING"], rows.collect())
}

fn compactions(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    if report.compactions.is_empty() {
        return Ok(());
    }
    screen.heading("Recorded compactions")?;
    let figure = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), number);
    let rows = report.compactions.iter().map(|event| {
        vec![
            event.before_message.to_string(),
            event.kind.to_owned(),
            event.trigger.to_owned(),
            figure(event.tokens_before),
            figure(event.tokens_after),
            event.at.clone().unwrap_or_default(),
        ]
    });
    screen.table(
        &[">BEFORE #", "KIND", "TRIGGER", ">BEFORE", ">AFTER", "WHEN"],
        rows.collect(),
    )
}

fn budget(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let budget = &report.budget;
    screen.heading(&format!("Budget for a window of {}", number(budget.window)))?;
    let mut rows = vec![
        vec![
            "next prompt".to_owned(),
            number(budget.prompt),
            percent(budget.prompt, budget.window),
        ],
        vec![
            "threshold".to_owned(),
            number(budget.threshold),
            percent(budget.threshold, budget.window),
        ],
        vec![
            "tail".to_owned(),
            number(budget.tail),
            percent(budget.tail, budget.window),
        ],
        vec![
            "output".to_owned(),
            number(budget.output),
            percent(budget.output, budget.window),
        ],
    ];
    if let Some(usage) = &report.usage {
        rows.push(vec![
            "last reported".to_owned(),
            number(usage.last_input),
            percent(usage.last_input, budget.window),
        ]);
    }
    screen.table(&["", ">TOKENS", ">OF WINDOW"], rows)?;
    if let Some(usage) = &report.usage {
        let text = format!(
            "  next prompt = {:.2} × counted + {}, fitted to {} reported requests",
            usage.scale,
            number(usage.fixed as u64),
            number(usage.requests)
        );
        screen.faint(&text)?;
    }
    let pressure = budget
        .pressure
        .map_or_else(|| "none".to_owned(), |level| level.to_owned());
    let due = if budget.compaction_due {
        "a compaction is due"
    } else {
        "no compaction is due"
    };
    screen.line(&format!("  pressure: {pressure}; {due}"))
}

fn findings(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    if report.findings.is_empty() {
        return screen.line("\nNo findings.");
    }
    screen.heading(&format!("Findings: {}", number(report.findings.len() as u64)))?;
    let mut groups: Vec<(&FindingReport, Vec<&FindingReport>)> = Vec::new();
    for finding in &report.findings {
        match groups.iter_mut().find(|(first, _)| first.rule == finding.rule) {
            Some((_, group)) => group.push(finding),
            None => groups.push((finding, vec![finding])),
        }
    }
    groups.sort_by_key(|(first, _)| std::cmp::Reverse(first.severity));
    for (first, group) in groups {
        let severity = match first.severity {
            mainstay_engine::transcript::Severity::Lost => "lost",
            mainstay_engine::transcript::Severity::Repaired => "repaired",
            mainstay_engine::transcript::Severity::Note => "note",
        };
        screen.line(&format!(
            "  {severity:<9} {:>6} × {}",
            number(group.len() as u64),
            first.about
        ))?;
        let places = group.iter().take(MOST_PLACES).map(|finding| {
            let place = finding.place.as_deref().unwrap_or("");
            opening(&format!("{place} {}", finding.detail), 60)
        });
        let places: Vec<_> = places.filter(|place| !place.is_empty()).collect();
        if !places.is_empty() {
            let more = if group.len() > MOST_PLACES { "; …" } else { "" };
            screen.faint(&format!("                     {}{more}", places.join("; ")))?;
        }
    }
    Ok(())
}
