//! Who compacts one conversation: the driver of its passes, and how its messages stand to the chain.

use std::sync::Arc;

use bytes::Bytes;
use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::compaction::Seat;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_store::StoreError;
use mainstay_wire::document::Document;
use mainstay_wire::error::ReadError;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::reading::WireForm;
use mainstay_wire::sameness::without_marks;
use mainstay_wire::source::Source;

use crate::session::parsed_request::ParsedRequest;
use crate::session::store_handle::StoreHandle;
use crate::settings::CompactionSettings;

/// Reads a body as its form has it.
pub fn read(form: WireForm, body: &Bytes) -> Result<Document, ReadError> {
    let format = format::by_name(form.name())?;
    let source = Source::memory("request", body.to_vec());
    format::read(&source, Some(format), &Request::default())
}

/// Compacts one conversation, again and again as it grows.
#[derive(Clone)]
pub struct Worker {
    /// The driver of its passes.
    pub session: Session,
    /// Messages that stand before the chain: instructions.
    before: usize,
    /// How many parts each message had that was learnt: a client may leave reasoning out later, and changes name parts by number.
    parts: Vec<usize>,
}

impl Worker {
    /// A worker for a conversation, who goes on from what the store remembers of it.
    pub fn new(
        document: &Document,
        chain: usize,
        conversation: &str,
        family: Family,
        budget: &Budget,
        keeping: &CompactionSettings,
        desk: &StoreHandle,
    ) -> Result<Self, StoreError> {
        let settings = SessionSettings {
            rules: document.form().rules(keeping.roles),
            redaction: keeping.redaction,
            fault: keeping.fault,
            ..SessionSettings::with_budget(document.form(), family, keeping.policy.clone(), budget.clone()).forced()
        };
        let mut session = Session::of(settings, Arc::clone(&document.transcript));
        desk.with(|store| session.resume(store, conversation))?;
        Ok(Self {
            session,
            before: document.transcript.messages().len().saturating_sub(chain),
            parts: Vec::new(),
        })
    }

    /// Whether this worker may go on with a conversation: its messages stand where they stood and are as they were read, and
    /// what is hidden and protected is what the operator says now.
    pub fn fits(&self, document: &Document, chain: usize, family: Family, keeping: &CompactionSettings) -> bool {
        let settings = self.session.settings();
        let parts = document.transcript.messages().iter().map(|message| message.parts.len());
        document.is_as_read()
            && self.parts.iter().copied().eq(parts.take(self.parts.len()))
            && document.transcript.messages().len() == self.before + chain
            && settings.family == family
            && settings.redaction == keeping.redaction
            && settings.policy.protected_tools == keeping.policy.protected_tools
    }

    /// Learns what is new.
    pub fn observe(&mut self, document: &Document) {
        self.session.observe(Arc::clone(&document.transcript));
        let messages = &document.transcript.messages()[self.parts.len()..];
        self.parts.extend(messages.iter().map(|message| message.parts.len()));
    }

    /// Tokens of the instructions in front of the chain, as counted.
    pub fn instructions(&self) -> u64 {
        let counted = self.session.tally().messages();
        counted[..self.before.min(counted.len())]
            .iter()
            .map(|tokens| tokens.total())
            .sum()
    }

    /// What stands for the beginning of the chain now: how many of its messages, the elements in their place, and their tokens.
    /// Where something had to be repaired, everything is replaced. `None` where what we take for instructions at the head of the
    /// list would not stay there.
    pub fn beginning(&self, document: &Document, taken: &ParsedRequest) -> Option<(usize, Vec<String>, u64)> {
        let (chain, lead) = (taken.len(), taken.lead);
        let messages = document.transcript.messages().len();
        let end = match document.is_as_read() {
            true => self.reach().max(self.before),
            false => messages,
        };
        let elements = document.compacted_elements(self.session.changes(), self.session.block(), end);
        let heads = taken.glance.elements[..lead]
            .iter()
            .map(|range| &taken.body[range.clone()]);
        if !elements.iter().take(lead).map(|element| element.as_bytes()).eq(heads) {
            return None;
        }
        let elements = elements
            .iter()
            .skip(lead)
            .map(|element| without_marks(element).into_owned());
        let left: u64 = self.session.tally().messages()[end.min(messages)..]
            .iter()
            .map(|tokens| tokens.total())
            .sum();
        let tokens = self.session.counted().0.saturating_sub(left + self.instructions());
        let covers = match document.is_as_read() {
            true => end - self.before,
            false => chain,
        };
        Some((covers, elements.collect(), tokens))
    }

    /// Messages from this one on are as they came.
    fn reach(&self) -> usize {
        let changes = self.session.changes();
        let changed = changes.keys().next_back().map_or(0, |spot| spot.message as usize + 1);
        let Some(block) = self.session.block() else {
            return changed;
        };
        let replaced = (0..block.span.until).rev().find(|index| !block.span.keeps(*index));
        let seat = match block.seat {
            Seat::Into(index) => index + 1,
            Seat::Own => 0,
        };
        changed.max(replaced.map_or(0, |index| index + 1)).max(seat)
    }
}
