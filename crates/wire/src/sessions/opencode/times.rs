//! When old outputs were cleared, as places between the messages of a view.

use std::collections::BTreeMap;

use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;

/// The times of messages and clearings.
#[derive(Default)]
pub struct Times {
    /// The newest time up to each message, which only ever grows.
    newest: Vec<Timestamp>,
    /// When outputs were cleared.
    pub cleared: Vec<Timestamp>,
}

impl Times {
    /// Adds a message.
    pub fn push(&mut self, at: Option<Timestamp>) {
        let newest = self.newest.last().copied().unwrap_or(Timestamp(i64::MIN));
        self.newest.push(at.map_or(newest, |at| at.max(newest)));
    }

    /// One event for all outputs that were cleared between two messages. `offset` is how many messages
    /// stand before the first that was added.
    pub fn clearings(&self, offset: usize) -> Vec<CompactionEvent> {
        let mut places: BTreeMap<usize, Timestamp> = BTreeMap::new();
        for at in &self.cleared {
            let before = offset + self.newest.partition_point(|newest| newest <= at);
            places.entry(before).or_insert(*at);
        }
        let events = places.into_iter().map(|(before, at)| CompactionEvent {
            before,
            kind: CompactionKind::Clearing,
            trigger: Trigger::Automatic,
            tokens_before: None,
            tokens_after: None,
            summary: None,
            at: Some(at),
        });
        events.collect()
    }
}
