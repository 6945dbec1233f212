//! The report as Markdown, to be pasted into a change's description.

use std::fmt::Write;

use crate::record::Dimension;
use crate::record::ModelUsed;
use crate::run::report::ArmReport;
use crate::run::report::IdenticalArms;
use crate::run::report::Miss;
use crate::run::report::Report;

/// How many misses are listed an arm; the rest is counted.
const MOST_MISSES: usize = 20;

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    let manifest = &report.manifest;
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(format!("## Compaction eval: {}", plain(&manifest.label)));
    line(String::new());
    line(models(report));
    line(format!(
        "{} per fixture, medians reported. Target {}, tokens by {}.{}",
        counted(manifest.repeats as usize, "run"),
        manifest.target,
        manifest.tokenizer,
        manifest
            .focus
            .as_ref()
            .map_or(String::new(), |focus| format!(" Focus: {}.", plain(focus)))
    ));
    line(String::new());
    overview(&mut text, report);
    for arm in report.arms.iter().filter(|arm| !arm.is_control) {
        by_fixture(&mut text, arm);
    }
    for arm in report.arms.iter().filter(|arm| !arm.is_control) {
        let misses: Vec<&Miss> = report.misses.iter().filter(|miss| miss.arm == arm.arm).collect();
        list_misses(&mut text, &arm.arm, &misses);
    }
    identical(&mut text, report);
    agreed(&mut text, report);
    excluded(&mut text, report);
    spent(&mut text, report);
    text
}

fn models(report: &Report) -> String {
    let named = |model: &Option<ModelUsed>| model.as_ref().map_or("none".to_owned(), |model| code(&model.id));
    let writers: Vec<String> = report
        .manifest
        .summarisers
        .iter()
        .map(|model| code(&model.id))
        .collect();
    let writers = if writers.is_empty() {
        "none".to_owned()
    } else {
        writers.join(", ")
    };
    format!(
        "Summaries by: {writers}   Answers by: {}   Judge: {}",
        named(&report.manifest.answerer),
        named(&report.manifest.judge)
    )
}

/// All arms in one table, controls included.
fn overview(text: &mut String, report: &Report) {
    let is_judged = report.arms.iter().any(|arm| !arm.scores.is_empty());
    let is_answered = report.arms.iter().any(|arm| arm.answer_recall.is_some());
    let mut head = vec!["Arm", "Tokens"];
    if is_judged {
        head.push("Overall (95 %)");
    }
    if is_answered {
        head.push("Facts in answers");
    }
    head.extend(["Facts in state (95 %)", "Stale", "Leaks", "Faults"]);
    table_head(text, &head);
    for arm in &report.arms {
        let mut cells = vec![
            code(&arm.arm),
            format!(
                "{:.0} ({:.0} %)",
                arm.tokens_after,
                100.0 * arm.tokens_after / arm.tokens_before.max(1.0)
            ),
        ];
        if is_judged {
            cells.push(arm.scores.get("overall").map_or("–".to_owned(), |figure| {
                let estimate = figure.estimate;
                match estimate.is_trusted() {
                    true => format!("{:.2} ({:.2} to {:.2})", figure.median, estimate.low, estimate.high),
                    false => format!("{:.2}", figure.median),
                }
            }));
        }
        if is_answered {
            let recall = arm
                .answer_recall
                .map(|figure| format!("{:.0} %", 100.0 * figure.median));
            cells.push(recall.unwrap_or_else(|| "–".to_owned()));
        }
        cells.push(arm.state_recall.map_or("–".to_owned(), |figure| {
            let (median, estimate) = (100.0 * figure.median, figure.estimate);
            match estimate.is_trusted() {
                true => format!(
                    "{median:.0} % ({:.0} to {:.0})",
                    100.0 * estimate.low,
                    100.0 * estimate.high
                ),
                false => format!("{median:.0} %"),
            }
        }));
        cells.extend([arm.stale, arm.leaks, arm.flaws].map(|count| count.to_string()));
        row(text, &cells);
    }
    text.push('\n');
    for arm in report.arms.iter().filter(|arm| !arm.is_control) {
        if let Some(words) = made_otherwise(arm) {
            let _ = writeln!(text, "{words}\n");
        }
    }
}

/// How compactions of an arm were made, where that was in more than one way or not in its own: summaries that were refused, or that no
/// model was there to write.
pub fn made_otherwise(arm: &ArmReport) -> Option<String> {
    if let Some(why) = &arm.without_model {
        return Some(format!("{}: {why}.", code(&arm.arm)));
    }
    let ways: Vec<String> = arm.made.iter().map(|(way, count)| format!("{count} {way}")).collect();
    (ways.len() > 1 || arm.made.contains_key("unchanged")).then(|| {
        format!(
            "Compactions of {} were made in these ways: {}.",
            code(&arm.arm),
            ways.join(", ")
        )
    })
}

/// The table of one arm, a row a fixture.
fn by_fixture(text: &mut String, arm: &ArmReport) {
    if arm.scores.is_empty() {
        let _ = writeln!(text, "### {}, by fixture\n", code(&arm.arm));
        table_head(text, &["Fixture", "Tokens", "Expected facts"]);
        for fixture in &arm.fixtures {
            let recall = fixture.answer_recall.unwrap_or(fixture.state_recall);
            row(
                text,
                &[
                    code(&fixture.fixture),
                    format!("{} → {:.0}", fixture.tokens_before, fixture.tokens_after),
                    format!("{:.0} %", 100.0 * recall),
                ],
            );
        }
        text.push('\n');
        return;
    }
    let _ = writeln!(text, "### {}\n", code(&arm.arm));
    let mut head = vec!["Fixture"];
    head.extend(Dimension::ALL.map(Dimension::title));
    head.push("Overall");
    table_head(text, &head);
    for fixture in &arm.fixtures {
        let score = |name: &str, digits: usize| {
            let score = fixture.scores.get(name);
            score.map_or("–".to_owned(), |score| format!("{score:.digits$}"))
        };
        let mut cells = vec![code(&fixture.fixture)];
        cells.extend(Dimension::ALL.map(|dimension| score(dimension.name(), 1)));
        cells.push(score("overall", 2));
        row(text, &cells);
    }
    text.push('\n');
}

fn list_misses(text: &mut String, arm: &str, misses: &[&Miss]) {
    if misses.is_empty() {
        return;
    }
    let what = match misses.iter().any(|miss| miss.score.is_some()) {
        true => "score < 3.0",
        false => "facts missing or stale",
    };
    let _ = writeln!(text, "Per-probe misses of {} ({what}):\n", code(arm));
    for miss in misses.iter().take(MOST_MISSES) {
        let worth = match miss.score {
            Some(score) => format!("{score:.1}"),
            None => format!("{:.0} %", 100.0 * miss.recall),
        };
        let mut why: Vec<String> = Vec::new();
        why.extend(miss.reason.as_ref().map(|reason| plain(reason)));
        if miss.reason.is_none() && !miss.missing.is_empty() {
            why.push(format!(
                "missing: {}",
                miss.missing
                    .iter()
                    .map(|fact| plain(fact))
                    .collect::<Vec<_>>()
                    .join("; ")
            ));
        }
        if !miss.stale.is_empty() {
            why.push(format!(
                "stale as current: {}",
                miss.stale.iter().map(|fact| plain(fact)).collect::<Vec<_>>().join("; ")
            ));
        }
        let _ = writeln!(
            text,
            "- {} / {}: {worth}: {}",
            plain(&miss.fixture),
            plain(&miss.probe),
            why.join("; ")
        );
    }
    if misses.len() > MOST_MISSES {
        let _ = writeln!(text, "- and {} more, in report.json", misses.len() - MOST_MISSES);
    }
    text.push('\n');
}

/// Arms whose answers or states are the same: their figures cannot differ there.
fn identical(text: &mut String, report: &Report) {
    for pair in &report.identical {
        let _ = writeln!(text, "{}\n", identical_words(pair));
    }
}

/// What two arms have in common, in one sentence.
pub fn identical_words(pair: &IdenticalArms) -> String {
    let mut parts = Vec::new();
    for (same, all, what) in [
        (pair.same_answers, pair.answers, "answers"),
        (pair.same_states, pair.states, "states"),
    ] {
        if same > 0 {
            parts.push(format!("{same} of {all} {what}"));
        }
    }
    let [one, other] = &pair.arms;
    format!(
        "{} and {} are identical in {}.",
        code(one),
        code(other),
        parts.join(" and ")
    )
}

/// Whether the deterministic grader would have said the same as the judge.
fn agreed(text: &mut String, report: &Report) {
    let Some(agreement) = &report.agreement else { return };
    let shown = |figure: Option<f64>| figure.map_or("–".to_owned(), |figure| format!("{figure:.2}"));
    let _ = writeln!(
        text,
        "Grader and judge on {} answers: same verdict {} %, kappa {}, rank correlation {}; only the judge passes {}, only the \
         grader {}.\n",
        agreement.pairs,
        agreement
            .same_verdict
            .map_or("–".to_owned(), |share| format!("{:.0}", 100.0 * share)),
        shown(agreement.kappa),
        shown(agreement.correlation),
        agreement.only_judge,
        agreement.only_grader
    );
}

fn excluded(text: &mut String, report: &Report) {
    if report.excluded.is_empty() {
        return;
    }
    let all: usize = report.excluded.values().sum();
    let _ = writeln!(text, "Excluded from the scores: {}.\n", counted(all, "sample"));
    for (why, count) in &report.excluded {
        let _ = writeln!(text, "- {count}: {}", plain(why));
    }
    text.push('\n');
}

fn spent(text: &mut String, report: &Report) {
    if report.spent.is_empty() {
        text.push_str("Cost: nothing; no model was asked.\n");
        return;
    }
    let cost: f64 = report
        .spent
        .iter()
        .filter_map(|spent| spent.cost)
        .fold(0.0, |sum, cost| sum + cost);
    let unpriced: u64 = report.spent.iter().map(|spent| spent.unpriced).sum();
    let parts: Vec<String> = report
        .spent
        .iter()
        .map(|spent| {
            format!(
                "{} {} calls, {} + {} tokens",
                spent.duty, spent.calls, spent.input, spent.output
            )
        })
        .collect();
    let unknown = match unpriced {
        0 => String::new(),
        count => format!(" ({count} calls without a known price)"),
    };
    let _ = writeln!(text, "Cost: ${cost:.4}{unknown}: {}.", parts.join("; "));
}

fn table_head(text: &mut String, names: &[&str]) {
    row(text, names);
    let _ = writeln!(text, "|{}", "---|".repeat(names.len()));
}

fn row(text: &mut String, cells: &[impl AsRef<str>]) {
    text.push('|');
    for cell in cells {
        let _ = write!(text, " {} |", cell.as_ref());
    }
    text.push('\n');
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Words of models and conversations on one line, with nothing that Markdown or a page would take for its own.
fn plain(words: &str) -> String {
    let mut plain = String::new();
    for word in words
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !plain.is_empty() {
            plain.push(' ');
        }
        for c in word.chars() {
            if matches!(
                c,
                '<' | '>' | '|' | '[' | ']' | '`' | '*' | '_' | '#' | '\\' | '@' | '!'
            ) {
                plain.push('\\');
            }
            plain.push(c);
        }
    }
    plain
}

fn code(name: &str) -> String {
    format!("`{}`", name.replace(['`', '|', '\n', '\r'], " "))
}
