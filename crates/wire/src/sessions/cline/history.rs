//! The messages of a task, and which of them are still sent.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use super::block;
use crate::authorship;
use crate::document_builder::Reading;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::History;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;
use crate::time;

/// One message, with what decides whether it is still sent.
struct Entry {
    message: Message,
    /// Its text in the provider's form, where it has that.
    verbatim: Option<String>,
    /// The summaries and truncations that replaced it, as far as they still exist.
    condensed_by: Option<Box<str>>,
    truncated_by: Option<Box<str>>,
    compaction: Option<CompactionEvent>,
}

/// The messages of a task.
#[derive(Default)]
pub(super) struct Messages {
    entries: Vec<Entry>,
    count: u64,
    summaries: HashSet<Box<str>>,
    truncations: HashSet<Box<str>>,
    /// The list positions that Cline no longer sends.
    deleted: Option<RangeInclusive<u64>>,
}

/// A system prompt that stands in a field of its own.
pub(super) fn system(prompt: Box<str>) -> Message {
    Message::new(Role::System, vec![Part::Text(prompt)])
}

impl Messages {
    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Reads from the file beside the list which messages were cut out of the middle.
    pub fn hide_deleted(&mut self, source: &Source) {
        let Some(text) = source.relative("ui_messages.json").and_then(|file| file.text().ok()) else {
            return;
        };
        let whole = json::value(text.text.trim_start_matches(BYTE_ORDER_MARK)).ok();
        let rows = whole.and_then(json::array).unwrap_or_default();
        let range = rows.iter().rev().filter_map(|raw| Object::of(raw)).find_map(|row| {
            let range = row.array("conversationHistoryDeletedRange")?;
            let number = |at: usize| {
                range
                    .get(at)
                    .and_then(|raw| json::number(raw))
                    .filter(|number| *number >= 0.0)
            };
            Some(number(0)? as u64..=number(1)? as u64)
        });
        self.deleted = range.filter(|range| !range.is_empty());
    }

    /// Reads one element of the list.
    pub fn read(&mut self, raw: Raw<'_>, findings: &mut Vec<Finding>) {
        let place = Place::Item(self.count);
        self.count += 1;
        let Some(object) = Object::of(raw) else {
            findings.push(Finding::new(Rule::NotARecord, place, "a message that is not an object"));
            return;
        };
        let Some(content) = object.get("content") else {
            let rule = if object.has("type") {
                Rule::UnknownType
            } else {
                Rule::NotARecord
            };
            findings.push(Finding::new(rule, place, object.tag("type").unwrap_or("no content")));
            return;
        };
        let role = match object.tag("role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            other => {
                findings.push(Finding::new(Rule::UnknownRole, place, other.unwrap_or("none")));
                Role::User
            }
        };
        let parts = match json::array(content) {
            Some(blocks) => blocks
                .into_iter()
                .map(|raw| block::read(raw, place, findings))
                .collect(),
            None => json::text(content).map(Part::Text).into_iter().collect(),
        };
        let metadata = object.object("metadata").unwrap_or_default();
        let mut message = authorship::message(role, parts);
        message.place = place;
        message.at = object.get("ts").and_then(time::read);
        message.author = author_of(&object, &metadata, &message);
        credit(&object, &mut message);
        let form = block::is_provider_form(content).then(|| {
            let role = if role == Role::Assistant { "assistant" } else { "user" };
            format!("{{\"role\":\"{role}\",\"content\":{}}}", content.get())
        });
        self.keep_ids(&object);
        self.entries.push(Entry {
            compaction: compaction_of(&object, &metadata, &message),
            message,
            verbatim: form,
            condensed_by: object.text("condenseParent"),
            truncated_by: object.text("truncationParent"),
        });
    }

    fn keep_ids(&mut self, object: &Object<'_>) {
        if object.flag("isSummary") {
            self.summaries.extend(object.text("condenseId"));
        }
        if object.flag("isTruncationMarker") {
            self.truncations.extend(object.text("truncationId"));
        }
    }

    /// A message is hidden by a summary or truncation only as long as that is there too: a rewind removes
    /// it and brings the messages back.
    fn is_hidden(&self, entry: &Entry) -> bool {
        let condensed = entry
            .condensed_by
            .as_ref()
            .is_some_and(|id| self.summaries.contains(id));
        let truncated = entry
            .truncated_by
            .as_ref()
            .is_some_and(|id| self.truncations.contains(id));
        condensed || truncated || self.is_deleted(entry)
    }

    fn is_deleted(&self, entry: &Entry) -> bool {
        match (&self.deleted, entry.message.place) {
            (Some(range), Place::Item(index)) => range.contains(&index),
            (_, _) => false,
        }
    }

    /// Hands the messages of the wanted part of the history over.
    pub fn push_into(mut self, reading: &mut Reading, history: History) {
        reading.count_all();
        let mut was_deleted = false;
        let entries = std::mem::take(&mut self.entries);
        for entry in entries {
            reading.recorded.count(&entry.message);
            // The cut is recorded once, at its end.
            let is_deleted = self.is_deleted(&entry);
            if was_deleted && !is_deleted {
                reading.event(CompactionEvent {
                    kind: CompactionKind::Truncation,
                    ..compaction(reading.len())
                });
            }
            was_deleted = is_deleted;
            if history == History::Live && self.is_hidden(&entry) {
                continue;
            }
            if let Some(event) = entry.compaction {
                let before = reading.len();
                let summary = event.summary.map(|_| before);
                reading.event(CompactionEvent {
                    before,
                    summary,
                    ..event
                });
            }
            match entry.verbatim {
                Some(json) => reading.push_verbatim(entry.message, &json),
                None => reading.push(entry.message),
            }
        }
    }
}

fn compaction(before: usize) -> CompactionEvent {
    CompactionEvent {
        before,
        kind: CompactionKind::Summary,
        trigger: Trigger::Unstated,
        tokens_before: None,
        tokens_after: None,
        summary: None,
        at: None,
    }
}

/// The compaction that a message stands for; its indices are settled when it is handed over.
fn compaction_of(object: &Object<'_>, metadata: &Object<'_>, message: &Message) -> Option<CompactionEvent> {
    let event = CompactionEvent {
        at: message.at,
        ..compaction(0)
    };
    if object.flag("isTruncationMarker") {
        return Some(CompactionEvent {
            kind: CompactionKind::Truncation,
            ..event
        });
    }
    match metadata.tag("kind") {
        Some("compaction_summary") => Some(CompactionEvent {
            summary: Some(0),
            tokens_before: metadata.count("tokensBefore"),
            at: metadata.get("generatedAt").and_then(time::read).or(message.at),
            ..event
        }),
        Some("compaction") => Some(CompactionEvent {
            trigger: match metadata.tag("reason") {
                Some("manual_compaction") => Trigger::Manual,
                Some(reason) if reason.contains("auto") => Trigger::Automatic,
                Some(_) | None => Trigger::Unstated,
            },
            ..event
        }),
        Some(_) | None if object.flag("isSummary") => Some(CompactionEvent {
            summary: Some(0),
            ..event
        }),
        Some(_) | None => None,
    }
}

fn author_of(object: &Object<'_>, metadata: &Object<'_>, message: &Message) -> Author {
    if object.flag("isSummary") || metadata.is("kind", "compaction_summary") {
        return Author::Summary;
    }
    if object.flag("isTruncationMarker") {
        return Author::Host;
    }
    message.author
}

/// Which model wrote a message, and what the provider reported. Cline's input figure has cached tokens in it.
fn credit(object: &Object<'_>, message: &mut Message) {
    if let Some(model) = object.object("modelInfo") {
        message.model = model.text("id").or_else(|| model.text("modelId")).map(Arc::from);
    }
    let Some(metrics) = object.object("metrics") else {
        return;
    };
    let tokens = metrics.object("tokens").unwrap_or_default();
    let count = |key: &str, other: &str| metrics.count(key).or_else(|| tokens.count(other)).unwrap_or(0);
    let usage = Usage {
        input: count("inputTokens", "prompt"),
        cache_read: count("cacheReadTokens", "cached"),
        cache_write: count("cacheWriteTokens", "cacheWrites"),
        output: count("outputTokens", "completion"),
        reasoning: 0,
        window: None,
    };
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    if usage.input > 0 || usage.output > 0 {
        message.usage = Some(Box::new(Usage {
            input: usage.input.max(cached),
            ..usage
        }));
    }
}
