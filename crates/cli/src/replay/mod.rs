//! `mainstay replay`: what policies would have cost on recorded sessions, and what they would have kept.

mod print;

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::economy::Profile;
use mainstay_eval::replay::Plan;
use mainstay_eval::replay::Recordings;
use mainstay_eval::replay::Replayed;
use mainstay_eval::replay::Session;
use mainstay_eval::replay::Settings;
use mainstay_eval::replay::Strategy;
use mainstay_eval::replay::check;
use mainstay_eval::replay::lengthened;
use mainstay_eval::replay::load;
use mainstay_eval::replay::page;
use mainstay_eval::replay::replay;
use mainstay_eval::replay::report::Report;
use mainstay_eval::replay::table;
use mainstay_eval::sessions::Selection;
use mainstay_llm::profile;

use crate::compact::write;
use crate::input::busy;
use crate::screen::Screen;

/// Profiles that are priced where nobody names any: the ways of caching that differ most.
const USUAL: [&str; 6] = [
    "claude-code-opus-5.5",
    "anthropic-sonnet-5.5",
    "anthropic-haiku-5.5",
    "openai-gpt-5.5",
    "openai-gpt-6.1-sol",
    "gemini-3.1-pro",
];

/// Replay recorded sessions under policies and price profiles: money, cadence, cache hits, what was kept.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Sessions of any supported format, files of normalised trajectories, or folders of them.
    #[arg(required_unless_present = "profiles")]
    paths: Vec<PathBuf>,

    /// List the price profiles and the rules of their caches.
    #[arg(long)]
    profiles: bool,

    /// The profiles to price by; `all` for all of them.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    profile: Vec<String>,

    /// The policies beside the baselines, which are always there; `all` or `baselines` for those alone.
    #[arg(long, value_delimiter = ',', default_value = "all", value_name = "NAMES")]
    policies: Vec<String>,

    /// The window that prompts have to fit (default: each profile's own).
    #[arg(long, value_name = "TOKENS")]
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
    #[arg(long, conflicts_with_all = ["join", "html", "csv", "optimum"])]
    check: bool,

    /// Write a page with charts to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<String>,

    /// Write every session under every policy and profile to this file, as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<String>,

    /// Leave out sessions with fewer tokens.
    #[arg(long, default_value_t = 0, value_name = "TOKENS")]
    min_tokens: usize,

    /// At most this many sessions of each source.
    #[arg(long, value_name = "SESSIONS")]
    max: Option<usize>,

    /// How many threads work (default: one a core).
    #[arg(long, value_name = "THREADS")]
    jobs: Option<usize>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if share > 0.0 && share <= 1.0 {
        Ok(share)
    } else {
        Err("a share is above 0 and at most 1".to_owned())
    }
}

fn windows(text: &str) -> Result<f64, String> {
    let windows: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match windows.is_finite() && windows >= 0.0 {
        true => Ok(windows),
        false => Err("a number of windows is not below 0".to_owned()),
    }
}

/// Replays.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    if arguments.profiles {
        return print::profiles(&profile::all(), screen);
    }
    let profiles = chosen_profiles(arguments)?;
    let strategies = chosen_strategies(arguments)?;
    let summariser = by_name(&arguments.summariser)?;
    let jobs = arguments
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let recordings = read(arguments, jobs, screen)?;
    if recordings.sessions.is_empty() {
        anyhow::bail!("there is no session to replay");
    }
    if arguments.check {
        return checked(arguments, &recordings, jobs, screen);
    }
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
        profiles: &profiles,
        summariser: &summariser,
        settings: &settings,
        optimum: arguments.optimum,
        jobs,
    };
    let replayed = match arguments.join {
        None => with_progress(&recordings.sessions, &plan),
        Some(least) => {
            let joined = lengthened(&recordings.sessions, least);
            if joined.is_empty() {
                anyhow::bail!("no agent has sessions of {least} tokens in all; --join takes what they have at most");
            }
            with_progress(&joined, &plan)
        }
    };
    let report = Report::new(&replayed, &plan, arguments.html.is_some());
    if let Some(path) = &arguments.html {
        write(Some(path), page::render(&report).as_bytes(), screen)?;
    }
    if let Some(path) = &arguments.csv {
        write(Some(path), table::by_session(&report).as_bytes(), screen)?;
    }
    if arguments.json {
        return screen.json(&report);
    }
    print::report(&report, screen)
}

fn with_progress<S: Session>(sessions: &[S], plan: &Plan<'_>) -> Vec<Replayed> {
    let style = ProgressStyle::with_template("replaying {wide_bar} {pos}/{len} sessions, {eta} left");
    let bar = ProgressBar::new(sessions.len() as u64);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let replayed = replay(sessions, plan, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    replayed
}

fn checked(arguments: &Arguments, recordings: &Recordings, jobs: usize, screen: &mut Screen) -> anyhow::Result<()> {
    let check = check::check(&recordings.sessions, jobs, check::agent_rules);
    if check.agents.is_empty() {
        anyhow::bail!("no session has reports of a provider whose cache is known");
    }
    match arguments.json {
        true => screen.json(&check),
        false => print::check(&check, screen),
    }
}

fn by_name(name: &str) -> anyhow::Result<Profile> {
    profile::named(name)
        .with_context(|| format!("no profile {name:?}; `mainstay replay --profiles` lists those that there are"))
}

fn chosen_profiles(arguments: &Arguments) -> anyhow::Result<Vec<Profile>> {
    let names: Vec<&str> = arguments.profile.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => USUAL.into_iter().map(by_name).collect(),
        ["all"] => Ok(profile::all()),
        names => names.iter().map(|name| by_name(name)).collect(),
    }
}

fn chosen_strategies(arguments: &Arguments) -> anyhow::Result<Vec<Strategy>> {
    for name in &arguments.policies {
        let is_group = matches!(name.as_str(), "all" | "baselines");
        if !is_group && !Strategy::USUAL.iter().any(|strategy| strategy.name() == name) {
            let known = Strategy::USUAL.map(|strategy| strategy.name());
            anyhow::bail!("no policy {name:?}; there are {}, baselines and all", known.join(", "));
        }
    }
    let wants = |strategy: &Strategy| {
        let mut names = arguments.policies.iter();
        strategy.is_baseline() || names.any(|name| name == "all" || name == strategy.name())
    };
    Ok(Strategy::USUAL.into_iter().filter(wants).collect())
}

fn read(arguments: &Arguments, jobs: usize, screen: &mut Screen) -> anyhow::Result<Recordings> {
    let _busy = busy("reading", u64::MAX);
    let selection = Selection {
        least_tokens: arguments.min_tokens,
        most: arguments.max.unwrap_or(usize::MAX),
        sources: Vec::new(),
        jobs,
    };
    let recordings = load(&arguments.paths, &selection)?;
    for (name, reason) in &recordings.unread {
        screen.warn(&format!("{name}: {reason}"));
    }
    Ok(recordings)
}
