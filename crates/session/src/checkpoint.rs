//! A pass as the store keeps it: the original, what was dropped, the result, what the ledger knows, and the metrics.

use std::fmt;
use std::time::Duration;

use mainstay_engine::account::ProviderTokens;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Seat;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::CheckpointId;
use mainstay_store::Metrics;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::NewLedger;
use mainstay_store::Store;
use mainstay_store::StoreError;
use mainstay_store::memory::states;
use mainstay_wire::document::Document;

use crate::session::Session;

/// Why a pass was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassTrigger {
    /// The policy or the host's timing said so.
    Due,
    /// Somebody asked for it.
    AskedFor,
    /// The provider refused the prompt as too long.
    Overflow,
}

impl PassTrigger {
    /// Its name in reports and checkpoints.
    pub fn name(self) -> &'static str {
        match self {
            PassTrigger::Due => "due",
            PassTrigger::AskedFor => "asked for",
            PassTrigger::Overflow => "overflow",
        }
    }
}

impl fmt::Display for PassTrigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What models cost for a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// How many requests were sent.
    pub calls: u64,
    /// Their tokens, in and out.
    pub tokens: u64,
}

/// What only the host knows of a pass that is kept.
#[derive(Clone, Debug)]
pub struct CheckpointInput<'a> {
    /// The conversation's name in the store.
    pub conversation: &'a str,
    /// Where the conversation came from.
    pub source: &'a str,
    /// The model it is for.
    pub model: Option<&'a str>,
    /// The conversation with the text it came in.
    pub document: &'a Document,
    /// The exact bytes that came in, in chunks.
    pub original: &'a [&'a [u8]],
    /// The bytes that go out, in the same way.
    pub result: &'a [&'a [u8]],
    /// Why the pass was made.
    pub trigger: PassTrigger,
    /// What models cost for it.
    pub usage: ModelUsage,
    /// How long it took.
    pub duration: Duration,
    /// The plan, as JSON text; empty where the host keeps none.
    pub plan: &'a str,
    /// When, by the host's clock.
    pub now: Timestamp,
    /// The sizes of the prompt before and after, where the host knows them better than the pass.
    pub sizes: Option<(ProviderTokens, ProviderTokens)>,
    /// States that the host keeps with it, by name.
    pub states: &'a [(String, Vec<u8>)],
}

impl<'a> CheckpointInput<'a> {
    /// A record of a pass over a document, to be filled in.
    pub fn new(conversation: &'a str, document: &'a Document, now: Timestamp) -> Self {
        Self {
            conversation,
            source: "",
            model: document.about.model.as_deref(),
            document,
            original: &[],
            result: &[],
            trigger: PassTrigger::Due,
            usage: ModelUsage::default(),
            duration: Duration::ZERO,
            plan: "",
            now,
            sizes: None,
            states: &[],
        }
    }
}

impl Session {
    /// Keeps a pass; when this returns, it is on disk.
    pub fn checkpoint(
        &self,
        outcome: &Outcome,
        record: &CheckpointInput<'_>,
        store: &mut Store,
    ) -> Result<CheckpointId, StoreError> {
        let dropped: Vec<NewDropped<'_>> = outcome.dropped.iter().map(NewDropped::from).collect();
        let messages = self.transcript().messages();
        let states = self.scribe().map_or_else(Vec::new, |scribe| {
            states(scribe, outcome.block.as_ref(), messages, record.conversation)
        });
        let ledgers = states.iter().chain(record.states);
        let ledgers: Vec<NewLedger<'_>> = ledgers.map(|(name, state)| NewLedger { name, state }).collect();
        let prompts = outcome.writing.as_ref().map_or(&[][..], |writing| &writing.prompts);
        let prompts: Vec<(&str, &str)> = prompts.iter().map(|(name, hash)| (*name, hash.as_str())).collect();
        store.append(&NewCheckpoint {
            source: record.source,
            format: record.document.format.name,
            form: record.document.form().name(),
            model: record.model,
            original: record.original,
            result: record.result,
            dropped: &dropped,
            metrics: self.metrics(outcome, record),
            plan: match record.plan {
                "" => "{}",
                plan => plan,
            },
            prompts: &prompts,
            engine_version: env!("CARGO_PKG_VERSION"),
            ledgers: &ledgers,
            ..NewCheckpoint::new(record.conversation, record.now)
        })
    }

    fn metrics(&self, outcome: &Outcome, record: &CheckpointInput<'_>) -> Metrics {
        let messages = self.transcript().messages();
        // A pass that only prunes leaves the block of an earlier one where it is.
        let messages_after = match self.block() {
            Some(block) => {
                let behind = messages.len() - block.span.until;
                block.span.kept.len() + behind + usize::from(block.seat == Seat::Own)
            }
            None => messages.len(),
        };
        let (tokens_before, tokens_after) = record
            .sizes
            .unwrap_or((outcome.plan.tokens_before, outcome.prompt_after));
        Metrics {
            mode: outcome.mode().to_string(),
            trigger: record.trigger.to_string(),
            tokens_before: tokens_before.0,
            tokens_after: tokens_after.0,
            messages_before: messages.len() as u64,
            messages_after: messages_after as u64,
            turns: messages.iter().filter(|message| message.opens_turn()).count() as u64,
            earliest_changed: outcome.earliest_changed.map(|index| index as u64),
            duration_ms: u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
            summary_tokens: outcome.writing.as_ref().map_or(0, |writing| writing.tokens),
            summary_calls: record.usage.calls,
            auxiliary_tokens: record.usage.tokens,
            ..Metrics::default()
        }
    }
}

/// The conversation's name in a store: the session's own id, else one made of how it begins. `first` is how its source begins,
/// for a document without a text of its own.
pub fn conversation_name(document: &Document, first: &[u8]) -> String {
    match &document.about.id {
        Some(id) => id.clone(),
        None => {
            let opening = document
                .verbatim(0)
                .map_or_else(|| String::from_utf8_lossy(first).into_owned(), str::to_owned);
            let next = document.verbatim(1).unwrap_or("");
            format!(
                "{}-{}",
                document.format.name,
                mainstay_engine::decide::marker::reference(&format!("{opening}{next}"))
            )
        }
    }
}
