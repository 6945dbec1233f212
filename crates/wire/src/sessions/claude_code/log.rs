//! A Claude Code log read into memory: its records once each, and what it says about the session.

use std::collections::HashMap;
use std::sync::Arc;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use crate::body::document_text;
use crate::error::ReadError;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::sessions::claude_code::queue;
use crate::sessions::claude_code::queue::PromptQueue;
use crate::sessions::claude_code::record;
use crate::sessions::claude_code::record::BOOKKEEPING;
use crate::sessions::claude_code::record::Kind;
use crate::sessions::claude_code::record::Record;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;

/// The key of the list in the one-document form.
pub(super) const LOG_LINES: &str = "loglines";

/// A log.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Every record that has an id or carries part of the conversation, in file order.
    pub records: Vec<Record>,
    pub by_id: HashMap<Box<str>, usize>,
    pub findings: Vec<Finding>,
    pub directory: Option<String>,
    pub version: Option<String>,
    /// The subagent that wrote it.
    pub agent: Option<String>,
    /// The session from which it was forked.
    pub forked_from: Option<String>,
    /// The prompts that wait for the agent where the log was read to.
    pub queue: PromptQueue,
    titles: Titles,
    replay: Option<Replay>,
}

#[derive(Debug, Default)]
struct Titles {
    given: Option<Box<str>>,
    generated: Option<Box<str>>,
    /// Titles of older versions, each with the record it was made at.
    summaries: Vec<(Box<str>, Option<Box<str>>)>,
}

/// A run of records that were there before.
#[derive(Debug)]
struct Replay {
    place: Place,
    count: u64,
    differing: u64,
}

impl Log {
    /// Reads a source of either form.
    pub fn read(source: &Source) -> Result<Self, ReadError> {
        let mut log = Log::default();
        if is_document(source)? {
            log.read_document(source)?;
        } else {
            log.read_lines(source)?;
        }
        log.end_replay();
        queue::settle(std::mem::take(&mut log.queue), &mut log.records);
        Ok(log)
    }

    fn read_lines(&mut self, source: &Source) -> Result<(), ReadError> {
        let mut lines = source.lines()?;
        while lines.advance()? {
            let place = lines.place();
            for raw in lines.records() {
                self.take(raw, place);
            }
            lines.findings.append(&mut self.findings);
        }
        self.end_replay();
        lines.findings.append(&mut self.findings);
        self.findings = lines.findings;
        Ok(())
    }

    fn read_document(&mut self, source: &Source) -> Result<(), ReadError> {
        let (text, findings) = document_text(source)?;
        self.findings = findings;
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        let object = Object::parse(text).unwrap_or_default();
        for (index, raw) in (0..).zip(object.array(LOG_LINES).unwrap_or_default()) {
            self.take(raw, Place::Item(index));
        }
        Ok(())
    }

    fn take(&mut self, raw: Raw<'_>, place: Place) {
        let Some(object) = Object::of(raw) else {
            return self.note(Rule::NotARecord, place, "it is no object");
        };
        let Some(kind) = object.text("type") else {
            return self.note(Rule::NotARecord, place, "it has no type");
        };
        match kind.as_ref() {
            "summary" => match object.text("summary") {
                Some(title) => self.titles.summaries.push((title, object.text("leafUuid"))),
                None => self.note(Rule::NotARecord, place, "a summary that is no title"),
            },
            "ai-title" => self.titles.generated = object.text("aiTitle").or(self.titles.generated.take()),
            "custom-title" => self.titles.given = object.text("customTitle").or(self.titles.given.take()),
            "queue-operation" if !object.has("uuid") => {
                let session = self.session(&object);
                let prompt = self.queue.operate(&object, self.records.len(), place);
                self.records
                    .extend(prompt.map(|prompt| queue::record(prompt, session, place)));
            }
            known if BOOKKEEPING.contains(&known) && !object.has("uuid") => {}
            _ => self.keep(&object, &kind, place),
        }
    }

    fn keep(&mut self, object: &Object<'_>, kind: &str, place: Place) {
        let mut record = Record::read(object, kind, place, &mut self.findings);
        record.session = self.session(object);
        let is_bare_link = record.kind == Kind::Link;
        if let Some(id) = record::id(object, "uuid") {
            if let Some(&earlier) = self.by_id.get(&id) {
                return self.take_again(earlier, record);
            }
            self.by_id.insert(id, self.records.len());
        } else if is_bare_link {
            return;
        }
        self.end_replay();
        self.learn(object);
        self.records.push(record);
    }

    /// The first record of an id stays, unless it could not be read and this one can.
    fn take_again(&mut self, earlier: usize, record: Record) {
        let place = record.place;
        let first = &mut self.records[earlier];
        let differs = first.kind != record.kind;
        if first.kind == Kind::Link && differs {
            *first = record;
        }
        let replay = self.replay.get_or_insert(Replay {
            place,
            count: 0,
            differing: 0,
        });
        replay.count += 1;
        replay.differing += u64::from(differs);
    }

    fn end_replay(&mut self) {
        let Some(replay) = self.replay.take() else { return };
        let mut detail = format!("{} in a row", replay.count);
        if replay.differing > 0 {
            detail.push_str(&format!(", {} not the same as before", replay.differing));
        }
        self.note(Rule::DuplicateRecord, replay.place, &detail);
    }

    fn learn(&mut self, object: &Object<'_>) {
        if self.directory.is_none() {
            self.directory = object.text("cwd").map(Into::into);
        }
        if let Some(version) = object.tag("version")
            && self.version.as_deref() != Some(version)
        {
            self.version = Some(version.to_owned());
        }
        if self.agent.is_none() {
            self.agent = object.text("agentId").map(Into::into);
        }
        if self.forked_from.is_none() {
            let origin = object.object("forkedFrom");
            self.forked_from = origin.and_then(|origin| origin.text("sessionId")).map(Into::into);
        }
    }

    /// The session a record names, or that of the record before it; neighbours share the text.
    fn session(&self, object: &Object<'_>) -> Option<Arc<str>> {
        let id = object.text("sessionId").or_else(|| object.text("session_id"));
        let before = self.records.last().and_then(|record| record.session.as_ref());
        match (id, before) {
            (Some(id), Some(before)) if *before.as_ref() == *id => Some(Arc::clone(before)),
            (Some(id), _) => Some(Arc::from(id)),
            (None, before) => before.cloned(),
        }
    }

    /// The session's title: the person's, else a generated one. Older versions put the titles of other
    /// sessions into a file too, so one made at a record of this file goes first.
    pub fn title(&self) -> Option<String> {
        let titles = &self.titles;
        let is_own = |leaf: &Option<Box<str>>| leaf.as_ref().is_some_and(|leaf| self.by_id.contains_key(leaf));
        let own = titles.summaries.iter().rev().find(|(_, leaf)| is_own(leaf));
        let summary = own.or(titles.summaries.last()).map(|(title, _)| title);
        let title = titles.given.as_ref().or(titles.generated.as_ref()).or(summary)?;
        Some(title.to_string())
    }

    /// The record of an id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    fn note(&mut self, rule: Rule, place: Place, detail: &str) {
        self.findings.push(Finding::new(rule, place, detail));
    }
}

/// Whether it is one JSON document rather than lines. The document spreads over lines, so its first line
/// is no record; a document on a single line is told by its key.
fn is_document(source: &Source) -> Result<bool, ReadError> {
    let mut lines = source.lines()?;
    if !lines.advance()? {
        return Ok(false);
    }
    let first = lines.text().trim_start_matches(BYTE_ORDER_MARK).trim();
    match Object::parse(first) {
        Ok(object) => Ok(object.array(LOG_LINES).is_some()),
        Err(_) if first.starts_with('{') => {
            let text = source.text()?.text;
            let text = text.trim_start_matches(BYTE_ORDER_MARK);
            let whole = json::value(text).ok().and_then(Object::of);
            Ok(whole.is_some_and(|object| object.array(LOG_LINES).is_some()))
        }
        Err(_) => Ok(false),
    }
}
