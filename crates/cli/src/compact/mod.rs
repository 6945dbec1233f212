//! `mainstay compact`: one compaction, kept in the store before its result is given out.

mod print;
mod report;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use clap::ValueEnum;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Situation;
use mainstay_engine::decide::marker::reference;
use mainstay_engine::ledger::scribe::NothingToHide;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::verify::Form;
use mainstay_engine::verify::NoSecrets;
use mainstay_engine::verify::check_structure;
use mainstay_store::CheckpointId;
use mainstay_store::Metrics;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::Store;
use mainstay_wire::document::Document;
use mainstay_wire::reading::WireForm;

use crate::compact::report::Report;
use crate::counting::Counting;
use crate::counting::calibrate;
use crate::counting::definitions;
use crate::environment;
use crate::input::Input;
use crate::input::Loaded;
use crate::input::busy;
use crate::screen::Screen;

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

    /// What compacts.
    #[arg(long, value_enum, default_value_t = WhichEngine::Auto)]
    engine: WhichEngine,

    /// Come down to this many tokens.
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

    /// Where the store is (default: MAINSTAY_STORE, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// The engines to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhichEngine {
    /// Pruning where it buys enough room; says so where it does not.
    Auto,
    /// Pruning only, whatever it buys.
    Prune,
    /// A ledger in place of the older history, without pruning first.
    Ledger,
}

/// Compacts.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let started = Instant::now();
    let to_standard_output = arguments.output.as_deref() == Some("-");
    if to_standard_output {
        // Nothing but the result may stand there.
        screen.speak_on_standard_error();
    }
    let loaded = arguments.input.load()?;
    let document = &loaded.document;
    refuse_to_overwrite_a_log(arguments, document)?;
    let policy = policy(arguments);
    let budget = arguments.counting.budget(document)?;
    let family = arguments.counting.family(document);
    let scribe = Scribe::new([0; 32], std::sync::Arc::new(NothingToHide));
    let mut compactor = Compactor::new(family, &policy).with_scribe(scribe);
    let busy = busy("counting", arguments.input.size());
    compactor.observe(&document.transcript);
    drop(busy);
    let definitions = definitions(document, family);
    let fit = calibrate(document, compactor.tally(), definitions);
    let situation = Situation {
        prompt: fit.apply(compactor.counted() + definitions),
        scale: fit.scale,
        forced: arguments.force,
        margin: 0,
        block_role: match document.form() {
            WireForm::Chat | WireForm::Responses => Role::System,
            WireForm::Anthropic => Role::User,
        },
        reasoning: match document.form() {
            WireForm::Responses => ReasoningRule::MustKeep,
            WireForm::Chat | WireForm::Anthropic => ReasoningRule::MayDrop,
        },
    };
    if arguments.plan {
        let plan = compactor.plan(&document.transcript, &budget, &policy, situation);
        return print::plan(document, &plan, arguments.json, screen);
    }
    let mut outcome = compactor.pass(&document.transcript, &budget, &policy, situation, &NoSecrets);
    refuse_broken(document, &compactor, &mut outcome);
    let mut report = Report::new(document, &outcome, &budget);
    match outcome.verdict {
        Verdict::Unchanged(_) => {
            if arguments.output.is_some() {
                write_original(arguments, &loaded, screen)?;
            }
        }
        Verdict::Compacted => {
            let (checkpoint, result) = keep(arguments, &loaded, &outcome, started)?;
            report.checkpoint = Some(checkpoint.to_string());
            write(arguments.output.as_deref(), result.as_bytes(), screen)?;
        }
    }
    if arguments.json {
        screen.json(&report)
    } else {
        print::outcome(&report, arguments.output.as_deref(), screen)
    }
}

/// A last look at the whole: what the provider would refuse, and did not before, is not given out.
fn refuse_broken(document: &Document, compactor: &Compactor, outcome: &mut Outcome) {
    if outcome.verdict != Verdict::Compacted {
        return;
    }
    let form = match document.form() {
        WireForm::Chat => Form::Chat,
        WireForm::Responses => Form::Responses,
        WireForm::Anthropic => Form::Anthropic,
    };
    let known = check_structure(document.transcript.messages(), form);
    let mut found = check_structure(&compactor.messages(&document.transcript), form);
    found.retain(|flaw| !known.contains(flaw));
    if let Some(flaw) = found.first() {
        outcome.verdict = Verdict::Unchanged(format!(
            "the result was refused ({}): {}",
            flaw.kind.code(),
            flaw.detail
        ));
        outcome.flaws.append(&mut found);
    }
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

fn policy(arguments: &Arguments) -> Policy {
    Policy {
        engine: match arguments.engine {
            WhichEngine::Auto => Engine::Auto,
            WhichEngine::Prune => Engine::Prune,
            WhichEngine::Ledger => Engine::Ledger,
        },
        budget: arguments.counting.policy(),
        target: arguments.target,
        tail: arguments.tail,
        ..Policy::default()
    }
}

/// Keeps the compaction in the store; when this returns, it is on disk.
fn keep(
    arguments: &Arguments,
    loaded: &Loaded,
    outcome: &Outcome,
    started: Instant,
) -> anyhow::Result<(CheckpointId, String)> {
    let document = &loaded.document;
    let result_chunks = document.compacted_chunks(&outcome.changes, outcome.block.as_ref());
    let result_bytes: Vec<&[u8]> = result_chunks.iter().map(|chunk| chunk.as_bytes()).collect();
    let written = document.write();
    let original = original_chunks(loaded, &written);
    let failed = |dropped: &mainstay_engine::transform::Dropped| {
        let part = &document.transcript.messages()[dropped.spot.message as usize].parts[dropped.spot.part as usize];
        matches!(part, mainstay_engine::transcript::Part::Result(result) if result.outcome == ToolOutcome::Failure)
    };
    let dropped: Vec<_> = outcome
        .dropped
        .iter()
        .map(|dropped| NewDropped {
            reference: &dropped.reference,
            text: &dropped.text,
            message: dropped.spot.message as usize,
            part: dropped.spot.part as usize,
            role: dropped.role,
            author: dropped.author,
            tool: dropped.tool.as_deref(),
            action: dropped.action.name(),
            tokens: dropped.tokens,
            failed: failed(dropped),
        })
        .collect();
    let plan = serde_json::to_string(&report::PlanReport::new(document, &outcome.plan))?;
    let conversation = conversation_key(document, original.first().copied().unwrap_or_default());
    let model = arguments.counting.model_of(document);
    let mut store = Store::open(&environment::store_path(arguments.store.as_ref())?)?;
    let turns = document
        .transcript
        .messages()
        .iter()
        .filter(|message| message.opens_turn())
        .count();
    let messages_after = match &outcome.block {
        Some(block) => block.span.kept.len() + 1,
        None => document.transcript.messages().len(),
    };
    let id = store.append(&NewCheckpoint {
        source: &arguments.input.session,
        format: document.format.name,
        form: document.form().name(),
        model: model.as_deref(),
        original: &original,
        result: &result_bytes,
        dropped: &dropped,
        metrics: Metrics {
            mode: if outcome.block.is_some() { "ledger" } else { "prune" }.to_owned(),
            trigger: if arguments.force { "asked for" } else { "due" }.to_owned(),
            tokens_before: outcome.plan.tokens_before,
            tokens_after: outcome.prompt_after,
            messages_before: document.transcript.messages().len() as u64,
            messages_after: messages_after as u64,
            turns: turns as u64,
            earliest_changed: outcome.earliest_changed.map(|index| index as u64),
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            ..Metrics::default()
        },
        plan: &plan,
        engine_version: env!("CARGO_PKG_VERSION"),
        ..NewCheckpoint::new(&conversation, environment::now())
    })?;
    Ok((id, result_chunks.concat()))
}

/// The exact bytes that came in, cut where messages or lines begin: what the store knows already costs nothing.
fn original_chunks<'a>(loaded: &'a Loaded, written: &'a str) -> Vec<&'a [u8]> {
    let by_message: Vec<&[u8]> = loaded
        .document
        .original_chunks()
        .into_iter()
        .map(str::as_bytes)
        .collect();
    match &loaded.bytes {
        Some(bytes)
            if by_message.iter().map(|chunk| chunk.len()).sum::<usize>() == bytes.len()
                && by_message.concat() == *bytes =>
        {
            by_message
        }
        Some(bytes) => bytes.split_inclusive(|byte| *byte == b'\n').collect(),
        None => vec![written.as_bytes()],
    }
}

/// The session's own id, else a name made of how the conversation begins.
fn conversation_key(document: &Document, first: &[u8]) -> String {
    match &document.about.id {
        Some(id) => id.clone(),
        None => {
            let opening = document
                .verbatim(0)
                .map_or_else(|| String::from_utf8_lossy(first).into_owned(), str::to_owned);
            let next = document.verbatim(1).unwrap_or("");
            format!("{}-{}", document.format.name, reference(&format!("{opening}{next}")))
        }
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

/// Writes a file whole or not at all; `-` is standard output.
pub fn write(output: Option<&str>, bytes: &[u8], screen: &mut Screen) -> anyhow::Result<()> {
    match output {
        None => Ok(()),
        Some("-") => screen.result(bytes),
        // A device or a pipe is written to, never replaced.
        Some(path) if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) => {
            std::fs::write(path, bytes).with_context(|| path.to_owned())
        }
        Some(path) => {
            // What a link points at is replaced, not the link.
            let target = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
            let mut temporary = target.clone().into_os_string();
            temporary.push(format!(".part-{}", std::process::id()));
            std::fs::write(&temporary, bytes).with_context(|| path.to_owned())?;
            if let Ok(existing) = std::fs::metadata(&target) {
                std::fs::set_permissions(&temporary, existing.permissions()).with_context(|| path.to_owned())?;
            }
            std::fs::rename(&temporary, &target).with_context(|| path.to_owned())
        }
    }
}
