//! Keeping a compaction: what only this command knows of it, and the result as it is written.

use std::time::Duration;

use mainstay_engine::compaction::Outcome;
use mainstay_llm::price::Spent;
use mainstay_session::CheckpointInput;
use mainstay_session::ModelUsage;
use mainstay_session::PassTrigger;
use mainstay_session::Session;
use mainstay_store::CheckpointId;
use mainstay_store::Store;
use mainstay_wire::document::Document;

use crate::compact::Arguments;
use crate::compact::report;
use crate::environment;
use crate::input::Loaded;

/// What is kept of a pass beside what the session knows.
pub struct Kept<'a> {
    /// The conversation.
    pub document: &'a Document,
    /// The exact bytes it came in, in chunks.
    pub original: &'a [&'a [u8]],
    /// Its name.
    pub conversation: &'a str,
    /// What models cost for it.
    pub spent: Option<Spent>,
    /// How long it took.
    pub duration: Duration,
}

/// Keeps the compaction in the store; when this returns, it is on disk.
pub fn keep(
    arguments: &Arguments,
    kept: &Kept<'_>,
    session: &Session,
    outcome: &Outcome,
    store: &mut Store,
) -> anyhow::Result<(CheckpointId, String)> {
    let document = kept.document;
    let result_chunks = session.compacted_chunks(document);
    let result: Vec<&[u8]> = result_chunks.iter().map(|chunk| chunk.as_bytes()).collect();
    let plan = serde_json::to_string(&report::PlanReport::new(document, &outcome.plan))?;
    let model = arguments.counting.model_of(document);
    let record = CheckpointInput {
        conversation: kept.conversation,
        source: &arguments.input.session,
        model: model.as_deref(),
        document,
        original: kept.original,
        result: &result,
        trigger: match arguments.force {
            true => PassTrigger::AskedFor,
            false => PassTrigger::Due,
        },
        usage: kept.spent.map_or_else(ModelUsage::default, |spent| ModelUsage {
            calls: spent.calls,
            tokens: spent.usage.total(),
        }),
        duration: kept.duration,
        plan: &plan,
        now: environment::now(),
        sizes: None,
        states: &[],
    };
    let id = session.checkpoint(outcome, &record, store)?;
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
