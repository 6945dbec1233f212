//! `mainstay replay`: what policies would have cost on recorded sessions, and what they would have kept.

mod agreement;
mod chosen;
mod print;
mod profiles;
mod verdict;

use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_engine::decide::EconomicPolicy;
use mainstay_eval::replay::Plan;
use mainstay_eval::replay::Recordings;
use mainstay_eval::replay::Replayed;
use mainstay_eval::replay::Session;
use mainstay_eval::replay::Settings;
use mainstay_eval::replay::lengthened;
use mainstay_eval::replay::load_all;
use mainstay_eval::replay::page;
use mainstay_eval::replay::replay;
use mainstay_eval::replay::report::Report;
use mainstay_eval::replay::table;
use mainstay_eval::sessions::Selection;
use mainstay_llm::profile;
use serde::Serialize;

use crate::input::busy;
use crate::input::read_bytes;
use crate::numbers::jobs;
use crate::numbers::share;
use crate::output;
use crate::replay::chosen::Chosen;
use crate::screen::Screen;
use crate::screen::number;

/// No model has a smaller window; and a prompt of fewer tokens has no room for instructions.
const LEAST_WINDOW: u64 = 1000;
/// So many names of files stand in one warning: enough to know what is meant.
const MOST_NAMES: usize = 3;

/// Replay recorded sessions under policies and price profiles: money, cadence, cache hits, what was kept.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Sessions of any supported format, files of normalised trajectories, folders of them, or `-` for standard input.
    #[arg(required_unless_present = "profiles")]
    paths: Vec<PathBuf>,

    /// List the price profiles and the rules of their caches.
    #[arg(long)]
    profiles: bool,

    /// The profiles to price by; `all` for all of them (default: those of the recorded models, and three usual ones).
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    profile: Vec<String>,

    /// The policies beside the baselines, which are always there; `all` or `baselines` for those alone.
    #[arg(long, value_delimiter = ',', default_value = "all", value_name = "NAMES")]
    policies: Vec<String>,

    /// The window that prompts have to fit (default: each profile's own).
    #[arg(long, value_name = "TOKENS", value_parser = window)]
    window: Option<u64>,

    /// The share of the window at which the threshold policies act.
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", value_parser = share)]
    threshold: f64,

    /// Losing everything that is needed next is as bad as carrying so many full windows more in every prompt.
    #[arg(long, default_value_t = EconomicPolicy::default().forgetting, value_name = "WINDOWS", value_parser = windows)]
    forgetting: f64,

    /// What is expected to keep less than this share is only done where the window demands it.
    #[arg(long, default_value_t = EconomicPolicy::default().least_retention, value_name = "SHARE", value_parser = share)]
    retention: f64,

    /// Who writes summaries in the auxiliary way, as a profile.
    #[arg(long, default_value = "anthropic-haiku-5.5", value_name = "NAME")]
    summariser: String,

    /// Look for the offline optimum too: the same passes with the future known.
    #[arg(long)]
    optimum: bool,

    /// Join sessions of one agent, in the order in which they began, into conversations of at least so many tokens.
    #[arg(long, value_name = "TOKENS")]
    join: Option<u64>,

    /// Hold what the simulated cache predicts against what providers reported in these sessions, and nothing else.
    #[arg(long, conflicts_with_all = ["profile", "policies", "window", "threshold", "forgetting", "retention", "summariser", "optimum", "join", "html", "csv"])]
    check: bool,

    /// Write a page with charts to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    html: Option<String>,

    /// Write every session under every policy and profile to this file, as CSV; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    csv: Option<String>,

    /// Leave out sessions with fewer tokens.
    #[arg(long, default_value_t = 0, value_name = "TOKENS")]
    min_tokens: usize,

    /// At most this many sessions of each source.
    #[arg(long, value_name = "SESSIONS", value_parser = at_least_one)]
    max: Option<usize>,

    /// How many threads work (default: one a core).
    #[arg(long, value_name = "THREADS", value_parser = at_least_one)]
    jobs: Option<usize>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

fn windows(text: &str) -> Result<f64, String> {
    let windows: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match windows.is_finite() && windows >= 0.0 {
        true => Ok(windows),
        false => Err("a number of windows is not below 0".to_owned()),
    }
}

fn window(text: &str) -> Result<u64, String> {
    let tokens: u64 = text.parse().map_err(|_| "not a whole number of tokens".to_owned())?;
    match tokens >= LEAST_WINDOW {
        true => Ok(tokens),
        false => Err(format!("a window has at least {LEAST_WINDOW} tokens")),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a whole number".to_owned()),
    }
}

/// What is printed with `--json`.
#[derive(Debug, Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    report: &'a Report,
    short: usize,
    unread: usize,
    damaged: usize,
}

/// Replays.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    if arguments.profiles {
        return profiles::list(&profile::all(), arguments.json, screen);
    }
    let named = chosen::profiles(&arguments.profile)?;
    let strategies = chosen::strategies(&arguments.policies)?;
    let summariser = chosen::by_name(&arguments.summariser)?;
    check_outputs(arguments, screen)?;
    let jobs = jobs(arguments.jobs);
    let recordings = read(arguments, jobs, screen)?;
    if arguments.check {
        return agreement::check(&recordings, jobs, arguments.json, screen);
    }
    let chosen = match named {
        Some(profiles) => Chosen::named(profiles),
        None => chosen::suiting(&recordings.sessions)?,
    };
    let settings = Settings {
        window: arguments.window,
        threshold: arguments.threshold,
        economic: EconomicPolicy {
            forgetting: arguments.forgetting,
            least_retention: arguments.retention,
        },
        ..Settings::default()
    };
    let plan = Plan {
        strategies: &strategies,
        profiles: &chosen.profiles,
        summariser: &summariser,
        settings: &settings,
        optimum: arguments.optimum,
        jobs,
    };
    let report = Report::new(
        &replayed(arguments, &recordings, &plan)?,
        &plan,
        arguments.html.is_some(),
    );
    write_files(arguments, &report, screen)?;
    if arguments.json {
        return screen.json(&Output {
            report: &report,
            short: recordings.short,
            unread: recordings.unread.len(),
            damaged: recordings.damaged.len(),
        });
    }
    print::report(&report, &chosen, screen)
}

/// Long work is not begun for files that cannot be written, and one thing at most goes to standard output.
fn check_outputs(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let files = [&arguments.html, &arguments.csv];
    for path in files.into_iter().flatten() {
        output::check(path)?;
    }
    let aside = files.into_iter().flatten().filter(|path| *path == "-").count();
    if aside + usize::from(arguments.json) > 1 {
        anyhow::bail!("only one of --html, --csv and --json can go to standard output; name files for the others");
    }
    if aside > 0 {
        screen.speak_on_standard_error();
    }
    Ok(())
}

fn replayed(arguments: &Arguments, recordings: &Recordings, plan: &Plan<'_>) -> anyhow::Result<Vec<Replayed>> {
    let Some(least) = arguments.join else {
        return Ok(with_progress(&recordings.sessions, plan));
    };
    let joined = lengthened(&recordings.sessions, least);
    if joined.is_empty() {
        anyhow::bail!(
            "--join {least}: no agent has so many tokens in all of its sessions together; ask for fewer, or name more sessions"
        );
    }
    Ok(with_progress(&joined, plan))
}

fn write_files(arguments: &Arguments, report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let page = arguments.html.as_deref().map(|path| (path, page::render(report)));
    let sheet = arguments.csv.as_deref().map(|path| (path, table::by_session(report)));
    let files: Vec<(&str, &[u8])> = [&page, &sheet]
        .into_iter()
        .flatten()
        .map(|(path, text)| (*path, text.as_bytes()))
        .collect();
    output::write_all(&files, screen)
}

fn with_progress<S: Session>(sessions: &[S], plan: &Plan<'_>) -> Vec<Replayed> {
    let style = ProgressStyle::with_template("replaying {wide_bar} {pos}/{len} sessions, {eta} left");
    let bar = ProgressBar::new(sessions.len() as u64);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let replayed = replay(sessions, plan, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    replayed
}

fn read(arguments: &Arguments, jobs: usize, screen: &mut Screen) -> anyhow::Result<Recordings> {
    let _busy = busy("reading", u64::MAX);
    let selection = Selection {
        least_tokens: arguments.min_tokens,
        most: arguments.max.unwrap_or(usize::MAX),
        sources: Vec::new(),
        jobs,
    };
    let (streams, paths): (Vec<_>, Vec<_>) = arguments
        .paths
        .iter()
        .cloned()
        .partition(|path| path.as_os_str() == "-");
    let given = streams.first().map(|_| read_bytes("-")).transpose()?;
    let recordings = load_all(&paths, given, &selection)?;
    warn(&recordings, screen);
    if recordings.sessions.is_empty() {
        let names: Vec<_> = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        let reason = match (recordings.short, recordings.unread.len()) {
            (0, 0) => "nothing is in there".to_owned(),
            (0, unread) => format!(
                "{} could not be used",
                counted(unread, "file or session", "files and sessions")
            ),
            (short, _) => format!(
                "{} shorter than --min-tokens {}",
                counted(short, "session is", "sessions are"),
                arguments.min_tokens
            ),
        };
        anyhow::bail!(
            "{}: no session to replay: {reason}; `mainstay sessions` lists those on this machine",
            names.join(", ")
        );
    }
    Ok(recordings)
}

/// Says what was not read. Files that are passed over for one and the same reason share a line.
fn warn(recordings: &Recordings, screen: &mut Screen) {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in &recordings.unread {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    for (reason, names) in reasons {
        let shown = names[..names.len().min(MOST_NAMES)].join(", ");
        match names.len() - names.len().min(MOST_NAMES) {
            0 => screen.warn(&format!("{shown}: {reason}")),
            more => screen.warn(&format!("{shown} and {more} more: {reason}")),
        }
    }
    for (name, lost) in &recordings.damaged {
        screen.warn(&format!(
            "{name}: {} could not be read and {} left out; `mainstay inspect` shows where",
            counted(*lost, "record", "records"),
            if *lost == 1 { "is" } else { "are" },
        ));
    }
}

/// A count with its noun.
fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{} {}", number(count as u64), if count == 1 { one } else { more })
}
