//! Keeping a compaction: the original, what was dropped, the result and the ledger's state, in one transaction.

use std::time::Instant;

use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Seat;
use mainstay_llm::price::Spent;
use mainstay_store::CheckpointId;
use mainstay_store::Metrics;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::NewLedger;
use mainstay_store::Store;
use mainstay_store::memory::states;
use mainstay_wire::document::Document;

use crate::compact::Arguments;
use crate::compact::report;
use crate::environment;
use crate::input::Loaded;

/// What is compacted, and since when.
pub struct Moment<'a> {
    /// The conversation.
    pub document: &'a Document,
    /// The exact bytes it came in, in chunks.
    pub original: &'a [&'a [u8]],
    /// Its name.
    pub conversation: &'a str,
    /// What models cost for it.
    pub spent: Option<Spent>,
    /// When the work began.
    pub started: Instant,
}

/// Keeps the compaction in the store; when this returns, it is on disk.
pub fn keep(
    arguments: &Arguments,
    moment: &Moment<'_>,
    compactor: &Compactor,
    outcome: &Outcome,
    store: &mut Store,
) -> anyhow::Result<(CheckpointId, String)> {
    let document = moment.document;
    let result_chunks = document.compacted_chunks(&outcome.changes, outcome.block.as_ref());
    let result_bytes: Vec<&[u8]> = result_chunks.iter().map(|chunk| chunk.as_bytes()).collect();
    let dropped: Vec<_> = outcome.dropped.iter().map(NewDropped::from).collect();
    let plan = serde_json::to_string(&report::PlanReport::new(document, &outcome.plan))?;
    let model = arguments.counting.model_of(document);
    let turns = document
        .transcript
        .messages()
        .iter()
        .filter(|message| message.opens_turn())
        .count();
    let messages_after = match &outcome.block {
        Some(block) => block.span.kept.len() + usize::from(block.seat == Seat::Own),
        None => document.transcript.messages().len(),
    };
    let states = compactor.scribe().map_or_else(Vec::new, |scribe| {
        let messages = document.transcript.messages();
        states(scribe, outcome.block.as_ref(), messages, moment.conversation)
    });
    let ledgers: Vec<_> = states.iter().map(|(name, state)| NewLedger { name, state }).collect();
    let prompts = outcome.writing.as_ref().map(|writing| writing.prompts.as_slice());
    let prompts: Vec<(&str, &str)> = prompts
        .unwrap_or_default()
        .iter()
        .map(|(name, hash)| (*name, hash.as_str()))
        .collect();
    let id = store.append(&NewCheckpoint {
        source: &arguments.input.session,
        format: document.format.name,
        form: document.form().name(),
        model: model.as_deref(),
        original: moment.original,
        result: &result_bytes,
        dropped: &dropped,
        metrics: Metrics {
            mode: outcome.mode().to_owned(),
            trigger: if arguments.force { "asked for" } else { "due" }.to_owned(),
            tokens_before: outcome.plan.tokens_before,
            tokens_after: outcome.prompt_after,
            messages_before: document.transcript.messages().len() as u64,
            messages_after: messages_after as u64,
            turns: turns as u64,
            earliest_changed: outcome.earliest_changed.map(|index| index as u64),
            duration_ms: u64::try_from(moment.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            summary_tokens: outcome.writing.as_ref().map_or(0, |writing| writing.tokens),
            summary_calls: moment.spent.map_or(0, |spent| spent.calls),
            auxiliary_tokens: moment.spent.map_or(0, |spent| spent.usage.total()),
            ..Metrics::default()
        },
        prompts: &prompts,
        plan: &plan,
        engine_version: env!("CARGO_PKG_VERSION"),
        ledgers: &ledgers,
        ..NewCheckpoint::new(moment.conversation, environment::now())
    })?;
    Ok((id, result_chunks.concat()))
}

/// The exact bytes that came in, cut where messages or lines begin: what the store knows already costs nothing.
pub fn original_chunks<'a>(loaded: &'a Loaded, written: &'a str) -> Vec<&'a [u8]> {
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
