//! What the simulated cache predicts, beside what providers reported.

use mainstay_eval::replay::Recordings;
use mainstay_eval::replay::check;
use mainstay_eval::replay::check::AgentCheck;

use crate::replay::counted;
use crate::replay::print::wrapped;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;

/// Holds one against the other.
pub fn check(recordings: &Recordings, jobs: usize, as_json: bool, screen: &mut Screen) -> anyhow::Result<()> {
    let check = check::check(&recordings.sessions, jobs, check::agent_rules);
    if check.agents.is_empty() {
        anyhow::bail!(
            "no session has reports of a provider whose cache is known: it must name its model and what each request used, as those of \
             Claude Code and Codex do"
        );
    }
    if as_json {
        return screen.json(&check);
    }
    for agent in &check.agents {
        one(agent, screen)?;
    }
    screen.line("")?;
    screen.faint(&wrapped(
        "ERROR: of all tokens, as a share of what was reported; above zero where too much was predicted. MEDIAN: that of the median \
         session. SIZE: the same, whatever its direction. --json has every session, and the requests that are furthest off.",
    ))
}

fn one(agent: &AgentCheck, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading(&format!(
        "{}: {}, {} with a report",
        plain(&agent.source),
        counted(agent.sessions, "session", "sessions"),
        counted(agent.requests, "request", "requests")
    ))?;
    let measures = [
        ("input", Some(&agent.input)),
        ("cache read", Some(&agent.cache_read)),
        ("cache write", agent.cache_write.as_ref()),
    ];
    let rows = measures.into_iter().filter_map(|(name, agreement)| {
        let agreement = agreement?;
        Some(vec![
            name.to_owned(),
            number(agreement.predicted as u64),
            number(agreement.reported as u64),
            per_cent(agreement.error),
            per_cent(agreement.median_error),
            format!("{:.1} %", agreement.median_distance * 100.0),
        ])
    });
    screen.table(
        &["TOKENS", ">PREDICTED", ">REPORTED", ">ERROR", ">MEDIAN", ">SIZE"],
        rows.collect(),
    )
}

fn per_cent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}
