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
use mainstay_eval::scrub::Shared;
use mainstay_eval::scrub::audit::Auditor;
use mainstay_eval::scrub::audit::Finding;
use mainstay_wire::document::Document;
use serde::Serialize;
use serde_json::Value;

use crate::environment;
use crate::gate::GateNotMet;
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
    /// Session files or databases, or `-` for standard input; with --audit, fixtures or directories of them.
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

    /// Write fixtures although the audit objects to them, facts are lost or the file is there already.
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
    let jobs = if arguments.audit { Vec::new() } else { jobs(arguments)? };
    let mut shared = Shared::default();
    for job in jobs.iter().filter(|_| jobs.len() > 1) {
        shared.learn(&job.document, &job.options);
    }
    for job in &jobs {
        rows.push(scrubbed(arguments, job, &shared)?);
    }
    if arguments.audit {
        for file in fixtures(&arguments.sessions)? {
            rows.push(audited(arguments, &file)?);
        }
    }
    for row in rows.iter().filter(|_| !arguments.json) {
        show(row, screen)?;
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
    let is_bank =
        serde_json::from_str(&text).is_ok_and(|root: Value| root["probes"].is_array() && root["messages"].is_null());
    if is_bank {
        anyhow::bail!("{file} is a probe bank, not a fixture: --probes takes it, and the audit is for fixtures");
    }
    let auditor = Auditor::new(&given(arguments), &arguments.allow);
    Ok(Row {
        source: file.to_owned(),
        name: stem(file),
        written: None,
        report: None,
        findings: auditor.audit(&text).with_context(|| file.to_owned())?,
    })
}

/// A session to scrub.
struct Job {
    session: String,
    bytes: u64,
    document: Document,
    options: Options,
}

/// All sessions, read. Before anything is scrubbed it is clear that every fixture has a file of its own, and no other is lost.
fn jobs(arguments: &Arguments) -> anyhow::Result<Vec<Job>> {
    let mut jobs: Vec<Job> = Vec::new();
    for session in &arguments.sessions {
        let options = options(arguments, session)?;
        let path = path_of(arguments, &options.name);
        if let Some(other) = jobs
            .iter()
            .find(|job| job.options.name == options.name && !arguments.force)
        {
            anyhow::bail!(
                "{} and {session} would both be written to {}: scrub them one by one with --name, or say --force",
                other.session,
                path.display()
            );
        }
        if path.exists() && !arguments.force {
            anyhow::bail!(
                "{} is there already: --name names another fixture, --force overwrites it",
                path.display()
            );
        }
        let input = Input {
            session: session.clone(),
            from: arguments.from.clone(),
            id: arguments.session_id.clone(),
            history: arguments.history,
        };
        let document = input.read().map_err(|error| explained(error, session))?;
        jobs.push(Job {
            session: session.clone(),
            bytes: input.size(),
            document,
            options,
        });
    }
    Ok(jobs)
}

/// A directory that holds sessions is not a session: says which file could be meant.
fn explained(error: anyhow::Error, session: &str) -> anyhow::Error {
    if !Path::new(session).is_dir() {
        return error;
    }
    let named = files_in(session, &["jsonl", "json"])
        .ok()
        .and_then(|files| files.into_iter().next());
    let named = named.unwrap_or_else(|| format!("{}/SESSION.jsonl", session.trim_end_matches('/')));
    error.context(format!(
        "{session} is a directory, and the file of a session is expected: mainstay scrub {named} -o DIR"
    ))
}

/// The files of a directory with one of these endings, in the order of their names.
fn files_in(directory: &str, endings: &[&str]) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(directory).with_context(|| directory.to_owned())?;
    let paths = entries.flatten().map(|entry| entry.path());
    let has_ending = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| endings.iter().any(|known| ending == *known))
    };
    let mut files: Vec<String> = paths
        .filter(has_ending)
        .map(|path| path.display().to_string())
        .collect();
    files.sort();
    Ok(files)
}

/// The fixtures to audit: files as they are given, and those of directories.
fn fixtures(given: &[String]) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for name in given {
        if !Path::new(name).is_dir() {
            files.push(name.clone());
            continue;
        }
        let inside = files_in(name, &["json"])?;
        if inside.is_empty() {
            anyhow::bail!("there is no fixture in {name}: .json files are expected there");
        }
        files.extend(inside);
    }
    Ok(files)
}

/// Where a fixture goes.
fn path_of(arguments: &Arguments, name: &str) -> PathBuf {
    let directory = arguments.out.as_deref().unwrap_or(Path::new("."));
    directory.join(format!("{name}.json"))
}

fn scrubbed(arguments: &Arguments, job: &Job, shared: &Shared) -> anyhow::Result<Row> {
    let _busy = busy("scrubbing", job.bytes);
    let Scrubbed {
        fixture,
        report,
        mut names,
    } = scrub::scrub_with(&job.document, &job.options, shared);
    names.extend(given(arguments));
    let text = fixture.text();
    let findings = Auditor::new(&names, &arguments.allow)
        .audit(&text)
        .context("the fixture")?;
    let mut row = Row {
        source: job.session.clone(),
        name: job.options.name.clone(),
        written: None,
        report: Some(report),
        findings,
    };
    if is_clean(&row) || arguments.force {
        let directory = arguments.out.as_deref().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
        let path = path_of(arguments, &row.name);
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
        source: Path::new(session)
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
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
