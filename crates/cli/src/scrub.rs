//! `mainstay scrub`: fixtures fit to publish, from any session, and the audit of what is published already.
//!
//! Nothing is written that the audit objects to, that is too large, or that lost a fact somebody asked for.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use mainstay_eval::fixture::Bank;
use mainstay_eval::scrub;
use mainstay_eval::scrub::Options;
use mainstay_eval::scrub::Report;
use mainstay_eval::scrub::Scrubbed;
use mainstay_eval::scrub::audit::Auditor;
use mainstay_eval::scrub::audit::Finding;
use serde::Serialize;

use crate::environment;
use crate::eval::GateNotMet;
use crate::input::Input;
use crate::input::WhichHistory;
use crate::input::busy;
use crate::screen::Screen;
use crate::screen::bytes;
use crate::screen::number;
use crate::screen::plain;

/// Make fixtures fit to publish from sessions: no secrets, no people, no machines in them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Session files, databases or directories, or `-` for standard input; with --audit, fixtures.
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,

    /// The directory that the fixtures go to.
    #[arg(short, long, value_name = "DIR", required_unless_present = "audit")]
    out: Option<PathBuf>,

    /// The fixture's name; without it, the name of the session's file.
    #[arg(long)]
    name: Option<String>,

    /// What happens in the session.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// A person: handles, names and addresses, separated by commas. The first person is the session's own user.
    #[arg(long, value_name = "NAMES")]
    handle: Vec<String>,

    /// What the first message of the user says instead; `@FILE` reads it from a file.
    #[arg(long, value_name = "TEXT")]
    first_turn: Option<String>,

    /// A probe bank whose expected facts must survive.
    #[arg(long, value_name = "FILE")]
    probes: Option<PathBuf>,

    /// A fact that must survive.
    #[arg(long, value_name = "FACT")]
    keep: Vec<String>,

    /// A text that the audit lets pass.
    #[arg(long, value_name = "TEXT")]
    allow: Vec<String>,

    /// How many characters of a tool's output are kept.
    #[arg(long, value_name = "COUNT", default_value_t = scrub::MOST_OUTPUT)]
    most_output: usize,

    /// How many messages are kept.
    #[arg(long, value_name = "COUNT")]
    most_messages: Option<usize>,

    /// How many bytes a fixture may have.
    #[arg(long, value_name = "BYTES", default_value_t = scrub::FIXTURE_LIMIT)]
    limit: usize,

    /// Only audit fixtures that are there.
    #[arg(long, conflicts_with_all = ["out", "name", "description", "first_turn", "probes", "keep", "force"])]
    audit: bool,

    /// Write fixtures although the audit objects to them or facts are lost.
    #[arg(long)]
    force: bool,

    /// The format, where detection is not wanted (`mainstay formats` lists them).
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,

    /// Which conversation, where a source holds several.
    #[arg(long = "session", value_name = "ID")]
    session_id: Option<String>,

    /// What the agent would send now, or everything that was recorded.
    #[arg(long, value_enum, default_value_t = WhichHistory::Live)]
    history: WhichHistory,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// What became of one session or fixture; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Row {
    source: String,
    name: String,
    written: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
    findings: Vec<Finding>,
}

/// Everything; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Outcome {
    passed: bool,
    fixtures: Vec<Row>,
    directory_bytes: Option<u64>,
}

/// Scrubs, or audits.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    if arguments.name.is_some() && arguments.sessions.len() > 1 {
        anyhow::bail!(
            "--name names one fixture, and there are {} sessions",
            arguments.sessions.len()
        );
    }
    for session in &arguments.sessions {
        let row = if arguments.audit {
            audited(arguments, session)?
        } else {
            scrubbed(arguments, session)?
        };
        if !arguments.json {
            show(&row, screen)?;
        }
        rows.push(row);
    }
    let directory_bytes = arguments.out.as_deref().map(size_of_fixtures);
    if let Some(total) = directory_bytes.filter(|total| *total > scrub::DIRECTORY_LIMIT as u64) {
        let most = bytes(scrub::DIRECTORY_LIMIT as u64);
        screen.warn(&format!(
            "the fixtures of the directory have {} in all; at most {most} are meant to be there",
            bytes(total)
        ));
    }
    let bad = rows.iter().filter(|row| !is_clean(row)).count();
    let outcome = Outcome {
        passed: bad == 0,
        fixtures: rows,
        directory_bytes,
    };
    if arguments.json {
        screen.json(&outcome)?;
    }
    if bad > 0 && !arguments.force {
        let of = outcome.fixtures.len();
        return Err(GateNotMet(format!("{bad} of {of} fixtures are not fit to publish")).into());
    }
    Ok(())
}

fn is_clean(row: &Row) -> bool {
    row.findings.is_empty() && row.report.as_ref().is_none_or(|report| report.lost_facts.is_empty())
}

fn audited(arguments: &Arguments, file: &str) -> anyhow::Result<Row> {
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let auditor = Auditor::new(&given(arguments), &arguments.allow);
    Ok(Row {
        source: file.to_owned(),
        name: stem(file),
        written: None,
        report: None,
        findings: auditor.audit(&text).with_context(|| file.to_owned())?,
    })
}

fn scrubbed(arguments: &Arguments, session: &str) -> anyhow::Result<Row> {
    let input = Input {
        session: session.to_owned(),
        from: arguments.from.clone(),
        id: arguments.session_id.clone(),
        history: arguments.history,
    };
    let document = input.read()?;
    let _busy = busy("scrubbing", input.size());
    let options = options(arguments, session)?;
    let Scrubbed {
        fixture,
        report,
        mut names,
    } = scrub::scrub(&document, &options);
    names.extend(given(arguments));
    let text = fixture.text();
    let findings = Auditor::new(&names, &arguments.allow)
        .audit(&text)
        .context("the fixture")?;
    let mut row = Row {
        source: session.to_owned(),
        name: options.name,
        written: None,
        report: Some(report),
        findings,
    };
    if is_clean(&row) || arguments.force {
        let directory = arguments.out.as_deref().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
        let path = directory.join(format!("{}.json", row.name));
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        row.written = Some(path.display().to_string());
    }
    Ok(row)
}

/// All spellings of all persons that are given.
fn given(arguments: &Arguments) -> Vec<String> {
    let spellings = arguments.handle.iter().flat_map(|names| names.split(','));
    spellings.map(str::to_owned).collect()
}

fn options(arguments: &Arguments, session: &str) -> anyhow::Result<Options> {
    let read = |path: &Path| std::fs::read_to_string(path).with_context(|| path.display().to_string());
    let bank: Option<Bank> = match &arguments.probes {
        Some(path) => Some(serde_json::from_str(&read(path)?).with_context(|| path.display().to_string())?),
        None => None,
    };
    let first_turn = match arguments.first_turn.as_deref() {
        Some(text) => Some(match text.strip_prefix('@') {
            Some(file) => read(Path::new(file))?.trim_end().to_owned(),
            None => text.to_owned(),
        }),
        None => None,
    };
    let name = arguments.name.clone().unwrap_or_else(|| stem(session));
    let now = jiff::Timestamp::from_millisecond(environment::now().0)?;
    Ok(Options {
        description: arguments.description.clone(),
        source: session.to_owned(),
        scrubbed_at: now.to_string().chars().take(19).chain(['Z']).collect(),
        handles: arguments
            .handle
            .iter()
            .map(|names| names.split(',').map(str::to_owned).collect())
            .collect(),
        first_turn,
        keep: arguments.keep.clone(),
        bank,
        most_output: arguments.most_output,
        most_messages: arguments.most_messages.unwrap_or(usize::MAX),
        limit: arguments.limit,
        ..Options::new(&name)
    })
}

/// The name of a file without its ending, as a name of a fixture.
fn stem(path: &str) -> String {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
    let name: String = stem
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        "session".to_owned()
    } else {
        name.to_owned()
    }
}

/// How many bytes the fixtures of a directory have.
fn size_of_fixtures(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let fixtures = entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json"));
    fixtures
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}

/// How many findings are listed; the rest is counted.
const MOST_SHOWN: usize = 40;

fn show(row: &Row, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading(&plain(&row.source))?;
    if let Some(report) = &row.report {
        let lines = report.passes.iter().filter(|pass| pass.count > 0);
        let lines = lines.map(|pass| {
            vec![
                pass.pass.name().to_owned(),
                number(pass.count),
                pass.pass.about().to_owned(),
            ]
        });
        screen.table(&["PASS", ">PLACES", "WHAT IT DOES"], lines.collect())?;
        let (messages, before) = (number(report.messages as u64), number(report.messages_before as u64));
        screen.line(&format!(
            "  {messages} messages of {before}, {}, {} persons told apart",
            bytes(report.bytes as u64),
            report.persons
        ))?;
        for lost in &report.lost_facts {
            let probe = lost
                .probe
                .as_deref()
                .map_or(String::new(), |probe| format!(" (probe {})", plain(probe)));
            screen.line(&format!(
                "  lost: {}{probe}, taken away by {}",
                plain(&lost.fact),
                lost.pass.name()
            ))?;
        }
    }
    if !row.findings.is_empty() {
        let lines = row.findings.iter().take(MOST_SHOWN).map(|finding| {
            vec![
                finding.kind.to_owned(),
                plain(&finding.path),
                number(finding.offset as u64),
                finding.reading.to_owned(),
                plain(&finding.excerpt),
            ]
        });
        screen.table(&["FOUND", "WHERE", ">AT", "READ AS", "LOOKS LIKE"], lines.collect())?;
        if row.findings.len() > MOST_SHOWN {
            screen.faint(&format!(
                "  and {} more; --json lists all",
                row.findings.len() - MOST_SHOWN
            ))?;
        }
    }
    match &row.written {
        Some(path) => screen.line(&format!("  written to {}", plain(path))),
        None if is_clean(row) => screen.line("  nothing found"),
        None if row.report.is_none() => screen.line("  Look at each place; what is fine is let pass with --allow TEXT."),
        None => screen.line(
            "  Not written. Name people with --handle, let pass what is fine with --allow TEXT, raise --most-output or --limit for facts that are lost; --force writes it anyway.",
        ),
    }
}
