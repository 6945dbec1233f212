//! `mainstay compact`: one compaction, kept in the store before its result is given out.

mod keep;
mod print;
mod report;
pub mod summary;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use mainstay_engine::account::Fit;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Refusal;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Severity;
use mainstay_engine::verify::Flaw;
use mainstay_engine::verify::FlawKind;
use mainstay_engine::verify::Weight;
use mainstay_session::CountedTokens;
use mainstay_session::PromptSize;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_session::conversation_name;
use mainstay_store::Store;
use mainstay_wire::document::Document;

use crate::compact::report::Report;
use crate::config::Configuration;
use crate::config::EngineChoice;
use crate::config::Overrides;
use crate::config::Settings;
use crate::config::SummaryFlags;
use crate::config::WritingFlags;
use crate::counting::Counting;
use crate::counting::calibrate;
use crate::counting::definitions;
use crate::input::Input;
use crate::input::Loaded;
use crate::input::busy;
use crate::output::write;
use crate::screen::Screen;
use crate::screen::number;

/// Compact a session: prune what is old, keep every original in the store.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    counting: Counting,

    /// Where to write the result, in the provider's form; `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// What compacts (default: auto).
    #[arg(long, value_enum)]
    engine: Option<EngineChoice>,

    #[command(flatten)]
    summary: SummaryFlags,

    #[command(flatten)]
    writing: WritingFlags,

    /// Come down to this many tokens of conversation, as `inspect` counts them. What an agent program adds to every request (its
    /// system prompt and tools, where the session does not record them) comes on top.
    #[arg(long, value_name = "TOKENS")]
    target: Option<u64>,

    /// Keep this many tokens of the newest history verbatim.
    #[arg(long, value_name = "TOKENS")]
    tail: Option<u64>,

    /// Compact even where nothing needs doing.
    #[arg(long)]
    force: bool,

    /// Print what would be done and why, and stop.
    #[arg(long)]
    plan: bool,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Compacts.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    run_prepared(arguments, configuration, screen, |_| {})
}

/// The same with a session that is prepared before the pass, for tests.
fn run_prepared(
    arguments: &Arguments,
    configuration: &Configuration,
    screen: &mut Screen,
    prepare: impl FnOnce(&mut Session),
) -> anyhow::Result<()> {
    let started = Instant::now();
    if arguments.output.as_deref() == Some("-") {
        // Nothing but the result may stand there.
        screen.speak_on_standard_error();
    }
    let settings = configuration.settings(&overrides(arguments))?;
    let models = summary::Models::new(&settings, screen)?;
    let loaded = arguments.input.load()?;
    let document = &loaded.document;
    refuse_to_overwrite_a_log(arguments, document)?;
    warn_of_losses(document, screen);
    let mut session = session(arguments, &settings, document)?;
    session.settings_mut().writers = models.as_ref().map(|models| models.writers(document));
    prepare(&mut session);
    if arguments.plan {
        // A plan is only looked at: it needs no key and no store.
        return print::plan(document, &session.plan(), arguments.json, screen);
    }
    let written = document.write();
    let original = keep::original_chunks(&loaded, &written);
    let conversation = conversation_name(document, original.first().copied().unwrap_or_default());
    // Where nothing is to be done, no store is made for it.
    let mut store = None;
    if session.needs_pass() {
        let mut opened = Store::open(&settings.store_path()?)?;
        session.resume(&mut opened, &conversation)?;
        store = Some(opened);
    }
    let mut outcome = match &models {
        Some(models) => models.pass(&mut session, document, screen)?,
        None => session.pass(),
    };
    let missed = missed_target(&session, &mut outcome);
    let spent = models.as_ref().map(summary::Models::spent);
    let mut report = Report::new(document, &outcome, &session.settings().budget, spent);
    report.smallest_target = missed.as_ref().and_then(|missed| missed.smallest);
    match (&outcome.verdict, &mut store) {
        (Verdict::Compacted, Some(store)) => {
            let kept = keep::Kept {
                document,
                original: &original,
                conversation: &conversation,
                spent,
                duration: started.elapsed(),
            };
            let (checkpoint, result) = keep::keep(arguments, &kept, &session, &outcome, store)?;
            report.checkpoint = Some(checkpoint.to_string());
            write(arguments.output.as_deref(), result.as_bytes(), screen)?;
        }
        (Verdict::Compacted | Verdict::Unchanged(_), _) => {
            if arguments.output.is_some() {
                write_original(arguments, &loaded, screen)?;
            }
        }
    }
    if arguments.json {
        screen.json(&report)?;
    } else {
        print::outcome(&report, arguments.output.as_deref(), arguments.store.as_deref(), screen)?;
    }
    missed.map_or(Ok(()), |missed| Err(missed.into()))
}

/// The session for a document, with everything that the flags and the configuration say.
fn session(arguments: &Arguments, settings: &Settings, document: &Document) -> anyhow::Result<Session> {
    let budget = arguments.counting.budget(document, settings)?;
    let family = arguments.counting.family(document);
    let mut made = SessionSettings::with_budget(document.form(), family, settings.policy.clone(), budget);
    made.rules = document.form().rules(settings.roles.into());
    made.redaction = settings.redaction();
    made.is_forced = arguments.force;
    let busy = busy("counting", arguments.input.size());
    let mut session = Session::of(made, Arc::clone(&document.transcript));
    drop(busy);
    let beside = definitions(document, family);
    // A target that is asked for is a size of the conversation, as `inspect` counts it: what the agent program sends besides is in no
    // file that this command reads or writes. The window has to hold it.
    let fit = match settings.policy.target {
        Some(_) => Fit::IDENTITY,
        None => calibrate(document, session.tally(), beside),
    };
    session.settings_mut().prompt = PromptSize::Calibrated {
        fit,
        beside: CountedTokens(beside),
    };
    Ok(session)
}

/// Says that a source is damaged: what could not be read is in no result.
fn warn_of_losses(document: &Document, screen: &mut Screen) {
    let is_lost = |finding: &&Finding| finding.rule.severity() == Severity::Lost;
    let lost: Vec<&Finding> = document.findings.iter().filter(is_lost).collect();
    let Some(first) = lost.first() else { return };
    let place = match first.place {
        Place::Line(line) => format!("line {line}"),
        Place::Item(item) => format!("item {item}"),
        Place::Whole => "the source".to_owned(),
    };
    screen.warn(&format!(
        "{} of the source could not be read ({place}: {}); `mainstay inspect` lists what is damaged",
        match lost.len() {
            1 => "one record".to_owned(),
            count => format!("{} records", number(count as u64)),
        },
        first.rule.about().trim_end_matches('.').to_lowercase(),
    ));
}

/// A target that cannot be met; the command ends with exit code 3.
#[derive(Debug)]
pub struct TargetNotMet {
    target: u64,
    smallest: Option<u64>,
}

impl fmt::Display for TargetNotMet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the target of {} tokens cannot be met", number(self.target))?;
        match self.smallest {
            Some(smallest) => write!(formatter, "; the smallest possible target is {}", number(smallest)),
            None => write!(formatter, ", and no pass makes this conversation smaller"),
        }
    }
}

impl std::error::Error for TargetNotMet {}

/// Whether a target that was asked for was missed. What pruning alone comes to is then not given out either: a result is
/// at or under its target.
fn missed_target(session: &Session, outcome: &mut Outcome) -> Option<TargetNotMet> {
    let prompt = outcome.plan.tokens_before;
    let target = session.settings().policy.target.filter(|target| prompt.0 > *target)?;
    let is_fatal = |flaw: &Flaw| flaw.weight == Weight::Fatal;
    let is_size = |flaw: &Flaw| matches!(flaw.kind, FlawKind::OverTarget | FlawKind::NotSmaller);
    match outcome.verdict {
        Verdict::Compacted if !outcome.missed_target() => return None,
        Verdict::Compacted => {
            outcome.verdict = Verdict::Unchanged(Refusal::AboveTarget {
                size: outcome.prompt_after.0,
                target,
            });
            outcome.dropped.clear();
            outcome.earliest_changed = None;
        }
        // Refused for another reason: a smaller result would be refused as well.
        Verdict::Unchanged(_) if outcome.flaws.iter().any(|flaw| is_fatal(flaw) && !is_size(flaw)) => return None,
        Verdict::Unchanged(_) => {}
    }
    outcome.prompt_after = prompt;
    Some(TargetNotMet {
        target,
        smallest: session.smallest_target(),
    })
}

/// An agent's log must not become a request body behind its back.
fn refuse_to_overwrite_a_log(arguments: &Arguments, document: &Document) -> anyhow::Result<()> {
    let Some(output) = arguments.output.as_deref().filter(|output| *output != "-") else {
        return Ok(());
    };
    let is_list = !document.original_chunks().is_empty();
    let same = matches!(
        (std::fs::canonicalize(output), std::fs::canonicalize(&arguments.input.session)),
        (Ok(output), Ok(input)) if output == input
    );
    if same && !is_list {
        anyhow::bail!("{output} is the session itself, and the result has another form; write it elsewhere");
    }
    Ok(())
}

/// What the flags say over the configuration file.
fn overrides(arguments: &Arguments) -> Overrides {
    Overrides {
        engine: arguments.engine,
        target: arguments.target,
        tail: arguments.tail,
        store: arguments.store.clone(),
        summarisers: arguments.summary.summarisers.clone(),
        focus: arguments.writing.focus.clone(),
        way: arguments.writing.way,
        ..arguments.counting.overrides()
    }
}

/// Where nothing was compacted, the original goes out as it would be sent.
fn write_original(arguments: &Arguments, loaded: &Loaded, screen: &mut Screen) -> anyhow::Result<()> {
    let is_list = !loaded.document.original_chunks().is_empty();
    match &loaded.bytes {
        Some(bytes) if is_list => write(arguments.output.as_deref(), bytes, screen),
        Some(_) | None => write(arguments.output.as_deref(), loaded.document.write().as_bytes(), screen),
    }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
