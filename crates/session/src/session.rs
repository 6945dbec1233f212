//! The driver: one conversation that is observed as it grows, planned, compacted and verified.
//!
//! A session owns everything a pass is made from, so that no host can leave a check out or give two parts of a pass different
//! settings. All of verify runs before a result is adopted; a result that is refused leaves the conversation as it was.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::account::CountedTokens;
use mainstay_engine::account::ProviderTokens;
use mainstay_engine::account::Tally;
use mainstay_engine::compaction::Ask;
use mainstay_engine::compaction::Block;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::PassInput;
use mainstay_engine::compaction::Pending;
use mainstay_engine::compaction::Step;
use mainstay_engine::decide::Mode;
use mainstay_engine::decide::Plan;
use mainstay_engine::decide::Situation;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::transform::Change;
use mainstay_store::Store;
use mainstay_store::StoreError;
use mainstay_wire::document::Document;
use mainstay_wire::error::ReadError;
use mainstay_wire::format;
use mainstay_wire::reading::Request as ReadRequest;
use mainstay_wire::source::Source;

use crate::redaction::Redaction;
use crate::settings::PromptSize;
use crate::settings::SessionSettings;

/// One conversation, from reading to keeping.
#[derive(Clone, Debug)]
pub struct Session {
    settings: SessionSettings,
    transcript: Arc<Transcript>,
    compactor: Compactor,
}

impl Session {
    /// A session of which nothing is known yet.
    pub fn new(settings: SessionSettings) -> Self {
        Self {
            compactor: Compactor::new(settings.family, &settings.policy),
            transcript: Arc::new(Draft::default().assemble().transcript),
            settings,
        }
    }

    /// A session over a transcript.
    pub fn of(settings: SessionSettings, transcript: impl Into<Arc<Transcript>>) -> Self {
        let mut session = Self::new(settings);
        session.observe(transcript);
        session
    }

    /// Learns what is new in the conversation. Earlier messages must be the same as before.
    pub fn observe(&mut self, transcript: impl Into<Arc<Transcript>>) {
        self.transcript = transcript.into();
        self.compactor.observe(&self.transcript);
    }

    /// Lets the ledger use the store's key and go on from what the store remembers of the conversation.
    pub fn resume(&mut self, store: &mut Store, conversation: &str) -> Result<(), StoreError> {
        let messages = self.transcript.messages();
        let scribe = resumed_ledger(store, self.settings.redaction, messages, conversation)?;
        self.adopt_scribe(scribe);
        Ok(())
    }

    /// Lets the ledger go on from a state that the host has kept itself, behind the block that the conversation comes with. Says
    /// whether such a block was found.
    pub fn resume_from(&mut self, memory: Memory) -> bool {
        let mut scribe = self.ledger_without_store();
        let frame = scribe.find_frame(self.transcript.messages());
        if let Some((block, _)) = frame {
            scribe.resume_behind(block, memory);
        }
        let is_found = scribe.resumed_block().is_some();
        self.adopt_scribe(scribe);
        is_found
    }

    fn ledger_without_store(&self) -> Scribe {
        let key = self.settings.key;
        Scribe::new(key, self.settings.redaction.cleaner(key))
    }

    fn adopt_scribe(&mut self, scribe: Scribe) {
        let idle = Compactor::new(self.settings.family, &self.settings.policy);
        self.compactor = std::mem::replace(&mut self.compactor, idle).with_scribe(scribe);
        self.compactor.observe(&self.transcript);
    }

    /// Reads the conversation into the ledger ahead of the pass that needs it, without a store where none has been given.
    pub fn fold_ledger(&mut self) {
        if self.compactor.scribe().is_none() {
            self.adopt_scribe(self.ledger_without_store());
        }
    }

    /// What the session is made of.
    pub fn settings(&self) -> &SessionSettings {
        &self.settings
    }

    /// The same, to be changed before the next pass.
    pub fn settings_mut(&mut self) -> &mut SessionSettings {
        &mut self.settings
    }

    /// The conversation as it was observed last.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The size of the next prompt, in the provider's tokens.
    pub fn prompt(&self) -> ProviderTokens {
        self.settings.prompt_of(self.compactor.counted())
    }

    /// Whether a pass has anything to do. Costs no ledger.
    pub fn needs_pass(&self) -> bool {
        self.planned().mode != Mode::Nothing
    }

    /// Plans a pass without making it.
    pub fn plan(&mut self) -> Plan {
        self.fold_ledger();
        self.planned()
    }

    fn planned(&self) -> Plan {
        let counted = self.compactor.counted();
        self.compactor
            .plan(&pass_input(&self.settings, &self.transcript, counted))
    }

    /// Makes a pass without asking a model.
    pub fn pass(&mut self) -> Outcome {
        self.with_compactor(|compactor, input| compactor.pass(input))
    }

    /// Begins a pass: over at once where no model is needed, else with something to ask.
    pub fn start(&mut self) -> Step {
        self.with_compactor(|compactor, input| compactor.start(input))
    }

    /// Goes on with the reply to what was asked.
    pub fn answer(&mut self, pending: Pending, reply: Reply) -> Step {
        self.with_compactor(|compactor, input| pending.answer(compactor, input, reply))
    }

    /// Makes a pass with a model behind a function. The function gets what is to be asked and returns what came of it; any
    /// client will do. Dropping the future leaves the conversation as it was.
    pub async fn pass_with(&mut self, mut model: impl AsyncFnMut(&Request) -> Reply) -> Outcome {
        let mut step = self.start();
        loop {
            match step {
                Step::Done(outcome) => return *outcome,
                Step::Ask(ask) => {
                    let Ask { request, pending } = *ask;
                    let reply = model(&request).await;
                    step = self.answer(pending, reply);
                }
            }
        }
    }

    fn with_compactor<T>(&mut self, work: impl FnOnce(&mut Compactor, &PassInput<'_>) -> T) -> T {
        // Where nothing needs doing, no ledger is made for it.
        if self.compactor.scribe().is_none() && self.needs_pass() {
            self.fold_ledger();
        }
        let Session {
            settings,
            transcript,
            compactor,
        } = self;
        let input = pass_input(settings, transcript, compactor.counted());
        work(compactor, &input)
    }

    /// The smallest target that a pass without any model meets, from the conversation as it came; `None` where no pass makes it
    /// smaller.
    pub fn smallest_target(&self) -> Option<u64> {
        let scribe = self.compactor.scribe().cloned();
        let scribe = scribe.unwrap_or_else(|| self.ledger_without_store());
        let mut fresh = Compactor::new(self.settings.family, &self.settings.policy).with_scribe(scribe);
        fresh.observe(&self.transcript);
        let counted = fresh.counted();
        fresh.smallest_target(&pass_input(&self.settings, &self.transcript, counted))
    }

    /// The conversation with all changes so far.
    pub fn messages(&self) -> Vec<Message> {
        self.compactor.messages(&self.transcript)
    }

    /// The document as it is to be sent now, in chunks: with the changes of every pass so far, all else as it came.
    pub fn compacted_chunks<'a>(&self, document: &'a Document) -> Vec<Cow<'a, str>> {
        document.compacted_chunks(self.changes(), self.block())
    }

    /// All changes so far.
    pub fn changes(&self) -> &BTreeMap<Spot, Change> {
        self.compactor.changes()
    }

    /// The block of the newest full pass.
    pub fn block(&self) -> Option<&Block> {
        self.compactor.block()
    }

    /// The counts of the original messages.
    pub fn tally(&self) -> &Tally {
        self.compactor.tally()
    }

    /// The counted size with all changes so far.
    pub fn counted(&self) -> CountedTokens {
        self.compactor.counted()
    }

    /// What the ledger is written by; `None` before anything needed one.
    pub fn scribe(&self) -> Option<&Scribe> {
        self.compactor.scribe()
    }

    /// What a later session has to remember behind this session's block.
    pub fn memory(&self) -> Option<Memory> {
        let block = self.block()?;
        let messages = self.transcript.messages();
        Some(self.scribe()?.memory_behind(messages, &block.span, &block.carried))
    }
}

/// Reads a request body or a list of messages in any supported form.
pub fn read_messages(body: &[u8]) -> Result<Document, ReadError> {
    format::read(
        &Source::memory("messages", body.to_vec()),
        None,
        &ReadRequest::default(),
    )
}

/// The ledger of a conversation with the store's key, which goes on from what the store remembers. It has not read the messages.
pub fn resumed_ledger(
    store: &mut Store,
    redaction: Redaction,
    messages: &[Message],
    conversation: &str,
) -> Result<Scribe, StoreError> {
    let key = store.key()?;
    let mut scribe = Scribe::new(key, redaction.cleaner(key));
    store.resume(&mut scribe, messages, conversation)?;
    Ok(scribe)
}

/// Everything that a pass is made from. Nothing outside of this crate builds one.
fn pass_input<'a>(settings: &'a SessionSettings, transcript: &'a Transcript, counted: CountedTokens) -> PassInput<'a> {
    let scale = match settings.prompt {
        PromptSize::Calibrated { fit, .. } => fit.scale,
        PromptSize::Known { scale, .. } => scale,
    };
    let writers = settings.writers.as_ref();
    PassInput {
        transcript,
        budget: &settings.budget,
        policy: &settings.policy,
        situation: Situation {
            prompt: settings.prompt_of(counted),
            scale,
            forced: settings.is_forced,
            margin: 0,
            rules: settings.rules,
        },
        writers: writers.map(|writers| (&writers.models, &writers.prompts)),
        fault: settings.fault,
    }
}
