//! From the records of a conversation to its messages.
//!
//! The lines of one response become one message, and the results of its calls follow it at once, whatever
//! was written between them. Tool results that were cleared in place are shown as the agent shows them.

use std::collections::HashMap;
use std::collections::HashSet;

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

use crate::anthropic;
use crate::authorship;
use crate::json;
use crate::json::Kind as JsonKind;
use crate::json::Object;
use crate::json::Raw;
use crate::json::quote;
use crate::openai_chat::note_surrogates;
use crate::sessions::claude_code::attachment;
use crate::sessions::claude_code::attachment::Carried;
use crate::sessions::claude_code::log::Log;
use crate::sessions::claude_code::queue;
use crate::sessions::claude_code::record::Clearing;
use crate::sessions::claude_code::record::Kind;
use crate::sessions::claude_code::record::Record;
use crate::sessions::claude_code::record::Spoken;
use crate::sessions::claude_code::thread::Thread;

/// What the agent shows in place of a result that it cleared.
pub(super) const CLEARED: &str = "[Old tool result content cleared]";

/// What becomes of a conversation's records.
pub(super) trait Audience {
    /// A message, with its exact text where the log has it.
    fn message(&mut self, message: Message, json: Option<&str>);
    /// Something that was wrong with a record.
    fn finding(&mut self, finding: Finding);
}

/// One message-to-be.
enum Turn {
    /// The lines of a response, then the lines that answer its calls.
    Response {
        lines: Vec<usize>,
        answers: Vec<usize>,
    },
    Other(usize),
}

/// Tells the conversation's messages in order, and says which compactions it recorded.
pub(super) fn tell(log: &Log, thread: &Thread, history: Telling, audience: &mut dyn Audience) -> Vec<CompactionEvent> {
    let order = match history {
        Telling::AsRecorded => &thread.full,
        Telling::AsSent => &thread.live,
    };
    let cleared = match history {
        Telling::AsRecorded => Cleared::default(),
        Telling::AsSent => Cleared::of(log, order),
    };
    let mut teller = Teller {
        log,
        thread,
        cleared,
        audience,
        told: 0,
        events: Vec::new(),
        json: String::new(),
    };
    for turn in turns(log, order) {
        match turn {
            Turn::Response { lines, answers } => {
                teller.response(&lines);
                for index in answers {
                    teller.user(index);
                }
            }
            Turn::Other(index) => teller.other(index),
        }
    }
    teller.events
}

/// Which side of a conversation is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// All of it, nothing cleared.
    AsRecorded,
    /// What the agent would send now.
    AsSent,
}

/// Groups lines into messages. A prompt ends what came before it: a response that seems to go on behind it
/// is another one of the same id.
fn turns(log: &Log, order: &[usize]) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut by_response: HashMap<&str, usize> = HashMap::new();
    let mut by_call: HashMap<&str, usize> = HashMap::new();
    for index in order {
        let record = &log.records[*index];
        if record.is_prompt() || record.is_boundary() {
            by_response.clear();
            by_call.clear();
        }
        match &record.kind {
            Kind::Assistant(spoken) if !spoken.is_local => {
                let known = spoken.response.as_deref().and_then(|id| by_response.get(id)).copied();
                let turn = known.unwrap_or(turns.len());
                match turns.get_mut(turn) {
                    Some(Turn::Response { lines, .. }) => lines.push(*index),
                    Some(Turn::Other(_)) | None => turns.push(Turn::Response {
                        lines: vec![*index],
                        answers: Vec::new(),
                    }),
                }
                by_call.extend(spoken.calls.iter().map(|id| (id.as_ref(), turn)));
                by_response.extend(spoken.response.iter().map(|id| (id.as_ref(), turn)));
            }
            Kind::User(spoken) => {
                let asked = spoken.answers.iter().find_map(|id| by_call.get(id.as_ref()));
                match asked.and_then(|turn| turns.get_mut(*turn)) {
                    Some(Turn::Response { answers, .. }) => answers.push(*index),
                    Some(Turn::Other(_)) | None => turns.push(Turn::Other(*index)),
                }
            }
            Kind::Link => {}
            Kind::Assistant(_)
            | Kind::Attachment(_)
            | Kind::LocalCommand(_)
            | Kind::Boundary(_)
            | Kind::Clearing(_)
            | Kind::Queued(_) => turns.push(Turn::Other(*index)),
        }
    }
    turns
}

/// What was cleared in place.
#[derive(Default)]
struct Cleared<'a> {
    calls: HashSet<&'a str>,
    attachments: HashSet<usize>,
}

impl<'a> Cleared<'a> {
    fn of(log: &'a Log, order: &[usize]) -> Self {
        let mut cleared = Self::default();
        for index in order {
            if let Kind::Clearing(clearing) = &log.records[*index].kind {
                cleared.calls.extend(clearing.calls.iter().map(AsRef::as_ref));
                let attachments = clearing.attachments.iter().filter_map(|id| log.find(id));
                cleared.attachments.extend(attachments);
            }
        }
        cleared
    }
}

struct Teller<'a> {
    log: &'a Log,
    thread: &'a Thread,
    cleared: Cleared<'a>,
    audience: &'a mut dyn Audience,
    told: usize,
    events: Vec<CompactionEvent>,
    json: String,
}

impl Teller<'_> {
    fn response(&mut self, lines: &[usize]) {
        let mut parts = Vec::new();
        self.json.clear();
        self.json.push_str("{\"role\":\"assistant\",\"content\":[");
        let mut newest = None;
        let mut usage = None;
        for index in lines {
            let record = &self.log.records[*index];
            if let Some(spoken) = record.spoken() {
                self.blocks(spoken, record.place, &mut parts);
                newest = spoken.model.clone().or(newest);
                usage = spoken.usage.or(usage);
            }
        }
        self.json.push_str("]}");
        let Some(first) = lines.first().map(|index| &self.log.records[*index]) else {
            return;
        };
        let mut message = authorship::message(Role::Assistant, parts);
        message.model = newest;
        message.usage = usage.map(Box::new);
        self.say(message, first, Spelling::AsKept);
    }

    fn user(&mut self, index: usize) {
        let record = &self.log.records[index];
        let Some(spoken) = record.spoken() else { return };
        let mut parts = Vec::new();
        self.json.clear();
        self.json.push_str("{\"role\":\"user\",\"content\":");
        match json::value(&spoken.content) {
            Ok(raw) if json::kind(raw) == JsonKind::String => {
                anthropic::read_content(raw, record.place, &mut Vec::new(), &mut parts);
                self.surrogates(raw, record.place);
                self.json.push_str(raw.get());
            }
            Ok(_) | Err(_) => {
                self.json.push('[');
                self.blocks(spoken, record.place, &mut parts);
                self.json.push(']');
            }
        }
        self.json.push('}');
        let mut message = authorship::message(Role::User, parts);
        if spoken.is_summary {
            message.author = Author::Summary;
        } else if record.is_meta && message.author == Author::User {
            message.author = Author::Host;
        }
        if spoken.is_summary {
            if self.thread.unannounced.contains(&index) {
                self.compaction(record, Trigger::Unstated, None, None);
            }
            if let Some(event) = self
                .events
                .iter_mut()
                .rfind(|event| event.kind == CompactionKind::Summary)
            {
                event.summary = event.summary.or(Some(self.told));
            }
        }
        self.say(message, record, Spelling::AsKept);
    }

    fn other(&mut self, index: usize) {
        let record = &self.log.records[index];
        match &record.kind {
            Kind::User(_) => self.user(index),
            Kind::Assistant(spoken) => {
                let words = opening_words(spoken);
                self.note(Rule::LocalError, record.place, words);
            }
            Kind::Attachment(_) if self.cleared.attachments.contains(&index) => {}
            Kind::Attachment(raw) => match attachment::read(raw, record.place) {
                Carried::Message(message) => self.say(message, record, Spelling::Rendered),
                Carried::Nothing => {}
                Carried::Unknown(kind) => self.note(Rule::UnknownType, record.place, format!("attachment {kind}")),
            },
            Kind::LocalCommand(text) => {
                let mut message = authorship::message(Role::User, vec![Part::Text(text.clone())]);
                message.author = Author::Host;
                self.say(message, record, Spelling::Rendered);
            }
            Kind::Queued(prompt) => {
                let message = authorship::message(Role::User, queue::parts_of(&prompt.content));
                self.say(message, record, Spelling::Rendered);
            }
            Kind::Boundary(boundary) => {
                self.compaction(record, boundary.trigger, boundary.tokens_before, boundary.tokens_after);
            }
            Kind::Clearing(clearing) => self.clearing(record, clearing),
            Kind::Link => {}
        }
    }

    fn compaction(&mut self, record: &Record, trigger: Trigger, before: Option<u64>, after: Option<u64>) {
        self.events.push(CompactionEvent {
            before: self.told,
            kind: CompactionKind::Summary,
            trigger,
            tokens_before: before,
            tokens_after: after,
            summary: None,
            at: record.at,
        });
    }

    fn clearing(&mut self, record: &Record, clearing: &Clearing) {
        let saved = clearing.tokens_saved;
        let after = clearing.tokens_before.zip(saved);
        self.events.push(CompactionEvent {
            before: self.told,
            kind: CompactionKind::Clearing,
            trigger: clearing.trigger,
            tokens_before: clearing.tokens_before,
            tokens_after: after.map(|(before, saved)| before.saturating_sub(saved)),
            summary: None,
            at: record.at,
        });
    }

    /// Adds the blocks of a line to the message's parts and to its text.
    fn blocks(&mut self, spoken: &Spoken, place: Place, parts: &mut Vec<Part>) {
        let Ok(content) = json::value(&spoken.content) else {
            return;
        };
        self.surrogates(content, place);
        let mut findings = Vec::new();
        match json::array(content) {
            Some(blocks) => {
                for block in blocks {
                    self.block(block, place, parts, &mut findings);
                }
            }
            None => {
                let before = parts.len();
                anthropic::read_content(content, place, &mut findings, parts);
                for part in &parts[before..] {
                    let rendered = match part {
                        Part::Text(text) => text_block(text),
                        _ => content.get().to_owned(),
                    };
                    self.append(&rendered);
                }
            }
        }
        for finding in findings {
            self.audience.finding(finding);
        }
    }

    fn block(&mut self, raw: Raw<'_>, place: Place, parts: &mut Vec<Part>, findings: &mut Vec<Finding>) {
        if let Some(text) = json::text(raw) {
            self.append(&text_block(&text));
            parts.push(Part::Text(text));
            return;
        }
        if let Some(stand_in) = self.stand_in(raw)
            && let Ok(raw) = json::value(&stand_in)
        {
            self.append(&stand_in);
            parts.push(anthropic::read_block(raw, place, findings));
            return;
        }
        self.append(raw.get());
        parts.push(anthropic::read_block(raw, place, findings));
    }

    /// What goes out in place of a result that was cleared.
    fn stand_in(&self, raw: Raw<'_>) -> Option<String> {
        if self.cleared.calls.is_empty() {
            return None;
        }
        let block = Object::of(raw).filter(|block| block.is("type", "tool_result"))?;
        let call = block.text("tool_use_id")?;
        let is_cleared = self.cleared.calls.contains(call.as_ref());
        is_cleared.then(|| {
            let (call, text) = (quote(&call), quote(CLEARED));
            format!("{{\"type\":\"tool_result\",\"tool_use_id\":{call},\"content\":{text}}}")
        })
    }

    fn append(&mut self, block: &str) {
        if !self.json.ends_with('[') {
            self.json.push(',');
        }
        self.json.push_str(block);
    }

    fn say(&mut self, mut message: Message, record: &Record, spelling: Spelling) {
        if message.parts.is_empty() {
            return self.note(Rule::NotARecord, record.place, "an empty message");
        }
        message.place = record.place;
        message.at = record.at;
        self.told += 1;
        let json = match spelling {
            Spelling::AsKept => Some(self.json.as_str()),
            Spelling::Rendered => None,
        };
        self.audience.message(message, json);
    }

    fn surrogates(&mut self, raw: Raw<'_>, place: Place) {
        let mut findings = Vec::new();
        note_surrogates(raw, place, &mut findings);
        for finding in findings {
            self.audience.finding(finding);
        }
    }

    fn note(&mut self, rule: Rule, place: Place, detail: impl Into<String>) {
        self.audience.finding(Finding::new(rule, place, detail));
    }
}

/// Where a message's text comes from.
enum Spelling {
    /// The text that was just put together from the log's own.
    AsKept,
    /// It has none; it is rendered when it is written.
    Rendered,
}

fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quote(text))
}

/// How a message begins, for findings and titles.
pub(super) fn opening_words(spoken: &Spoken) -> String {
    let mut parts = Vec::new();
    if let Ok(raw) = json::value(&spoken.content) {
        anthropic::read_content(raw, Place::Whole, &mut Vec::new(), &mut parts);
    }
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.trim()),
        _ => None,
    });
    let words = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    words.chars().take(80).collect::<String>().replace('\n', " ")
}
