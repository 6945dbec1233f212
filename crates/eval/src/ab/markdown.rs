//! The report for people.

use std::fmt::Write;

use crate::ab::outcome::Miss;
use crate::ab::outcome::Outcome;
use crate::ab::report::AbReport;
use crate::ab::report::ScorerReport;

/// The report as Markdown.
pub fn markdown(report: &AbReport) -> String {
    let mut text = format!(
        "# {} against {}\n\nRun {}: {} sessions, {} checkpoints, {} questions × {} repeats, states of {} tokens; {} were scored.\n",
        cell(&report.a),
        cell(&report.b),
        cell(&report.manifest.label),
        report.sessions,
        report.checkpoints,
        report.questions,
        report.manifest.repeats,
        report.manifest.target,
        report.scored,
    );
    contexts(report, &mut text);
    for scorer in &report.scorers {
        outcomes(report, scorer, &mut text);
        differing(report, scorer, &mut text);
    }
    for (scorers, share) in &report.agreement {
        line(
            &mut text,
            &format!(
                "\nAgreement {scorers}: {:.0} % of the samples both scored.",
                100.0 * share
            ),
        );
    }
    text
}

fn line(text: &mut String, words: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

fn contexts(report: &AbReport, text: &mut String) {
    line(text, "\n## What the model was shown\n");
    line(
        text,
        "| Arm | States | Messages | Tokens | of | Over target | Secrets | Addresses | Hot tail unchanged | Newest unchanged |",
    );
    line(text, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for context in &report.contexts {
        line(
            text,
            &format!(
                "| {} | {} | {:.1} | {:.0} | {:.0} | {} | {} | {} | {} of {} | {:.1} |",
                cell(&context.arm),
                context.states,
                context.messages,
                context.tokens,
                context.tokens_before,
                context.over_target,
                context.secrets,
                context.addresses,
                context.tail_unchanged,
                context.states,
                context.tail_messages,
            ),
        );
    }
}

fn outcomes(report: &AbReport, scorer: &ScorerReport, text: &mut String) {
    line(text, &format!("\n## Scored by the {}\n", scorer.scorer));
    line(
        text,
        &format!(
            "| | {} | {} | second − first (95 %) |",
            cell(&report.a),
            cell(&report.b)
        ),
    );
    line(text, "|---|--:|--:|--:|");
    let mut row = |name: &str, values: [String; 2], difference: Option<&str>| {
        let difference = difference
            .and_then(|name| scorer.differences.get(name))
            .map(|estimate| {
                let points = |share: f64| format!("{:+.1}", 100.0 * share);
                format!(
                    "{} ({} to {}) points",
                    points(estimate.mean),
                    points(estimate.low),
                    points(estimate.high)
                )
            });
        let [a, b] = values;
        line(
            text,
            &format!("| {name} | {a} | {b} | {} |", difference.unwrap_or_default()),
        );
    };
    let [a, b] = [&scorer.arms[0], &scorer.arms[1]];
    row("scored", [a, b].map(|arm| arm.scored.to_string()), None);
    for outcome in Outcome::ALL {
        let count = [a, b].map(|arm| arm.outcomes.get(&outcome).copied().unwrap_or(0).to_string());
        row(outcome.name(), count, Some(outcome.name()));
    }
    row("misses", [a, b].map(|arm| arm.missed.to_string()), Some("missed"));
    for miss in Miss::ALL {
        let count = [a, b].map(|arm| arm.misses.get(&miss).copied().unwrap_or(0).to_string());
        row(miss.title(), count, None);
    }
    row(
        "corrections per 100 turns",
        [a, b].map(|arm| format!("{:.1}", arm.corrections_per_100_turns)),
        None,
    );
    row(
        "stale answers per session",
        [a, b].map(|arm| format!("{:.2}", arm.stale_per_session)),
        None,
    );
    for arm in [a, b] {
        for (why, count) in &arm.unscored {
            line(
                text,
                &format!("\n{count} of {} not scored: {}", cell(&arm.arm), cell(why)),
            );
        }
    }
}

fn differing(report: &AbReport, scorer: &ScorerReport, text: &mut String) {
    if scorer.differing.is_empty() {
        return;
    }
    line(text, &format!("\n### Where they differ, by the {}\n", scorer.scorer));
    line(
        text,
        &format!(
            "| Checkpoint | Question | Repeat | {} | {} | Why |",
            cell(&report.a),
            cell(&report.b)
        ),
    );
    line(text, "|---|---|--:|---|---|---|");
    for differing in &scorer.differing {
        let why = match differing.b == Outcome::Correct {
            true => &differing.a_why,
            false => &differing.b_why,
        };
        line(
            text,
            &format!(
                "| {} | {} | {} | {} | {} | {} |",
                cell(&differing.checkpoint),
                cell(&differing.probe),
                differing.repeat,
                differing.a.name(),
                differing.b.name(),
                cell(why),
            ),
        );
    }
}

/// Words of others in a cell: no markup and no new row comes out of them.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
