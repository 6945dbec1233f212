//! ShareGPT: `{"conversations": [{"from", "value"}]}`, one object, an array of them, or one a line. Values may
//! hold Hermes tags: `<think>`, `<tool_call>` and `<tool_response>`.
//!
//! The form has no call ids, so calls are numbered here and results answer them in order.

use std::collections::HashSet;
use std::collections::VecDeque;
use std::sync::Arc;

use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

use crate::authorship;
use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::records;
use crate::sniff::Sniff;
use crate::source::Source;
use crate::time;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "sharegpt",
    title: "ShareGPT conversations",
    detect,
    read,
    list,
    haunts: nowhere,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    Likeness::certain_if(sniff.any_record(is_own) || sniff.elements().iter().any(is_own))
}

fn is_own(record: &Object<'_>) -> bool {
    let turns = turns_of(record).unwrap_or_default();
    let first = turns.first().and_then(|raw| Object::of(raw));
    first.is_some_and(|turn| turn.has("from") && turn.has("value"))
}

fn turns_of<'a>(record: &Object<'a>) -> Option<Vec<Raw<'a>>> {
    record.array("conversations").or_else(|| record.array("conversation"))
}

/// The id a record gives, or its position.
fn id_of(record: &Object<'_>, position: u64) -> String {
    let raw = record.get("id").or_else(|| record.get("conversation_id"));
    let spelled = raw.and_then(|raw| json::text(raw).or_else(|| json::number(raw).map(|_| raw.get().into())));
    spelled.map_or_else(|| position.to_string(), Into::into)
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let mut entries = Vec::new();
    records::each(source, |raw, _, _| {
        let record = Object::of(raw).unwrap_or_default();
        let Some(turns) = turns_of(&record) else { return };
        let opening = turns
            .iter()
            .filter_map(|raw| Object::of(raw))
            .find(|turn| matches!(turn.tag("from"), Some("human" | "user")))
            .and_then(|turn| turn.text("value"));
        entries.push(Entry {
            id: id_of(&record, entries.len() as u64),
            title: opening.map(|text| text.chars().take(80).collect()),
            updated: record.get("timestamp").and_then(time::read),
            messages: Some(turns.len() as u64),
        });
    })?;
    Ok(entries)
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut chosen = None;
    let mut count = 0;
    let findings = records::each(source, |raw, place, findings| {
        let record = Object::of(raw).unwrap_or_default();
        let Some(turns) = turns_of(&record) else {
            findings.push(Finding::new(Rule::NotARecord, place, "no conversation in it"));
            return;
        };
        let id = id_of(&record, count);
        count += 1;
        let wanted = request.session.as_deref().is_none_or(|wanted| wanted == id);
        if chosen.is_some() || !wanted {
            return;
        }
        let mut reader = Reader::new(findings);
        reader.reading.about.id = Some(id);
        reader.fields(&record);
        for (index, raw) in (0..).zip(turns) {
            reader.turn(raw, Place::Item(index));
        }
        chosen = Some(reader.reading);
    })?;
    let Some(mut reading) = chosen else {
        return Err(request.not_found(source, || list(source)));
    };
    reading.findings = findings;
    reading.about.conversations = count;
    reading.count_all();
    Ok(reading.finish(format))
}

/// Reads the turns of one conversation.
struct Reader<'f> {
    reading: Reading,
    findings: &'f mut Vec<Finding>,
    /// Calls in order; those that are no longer open are passed over.
    waiting: VecDeque<CallId>,
    /// Calls that no result has answered yet.
    open: HashSet<CallId>,
    calls: u64,
}

impl<'f> Reader<'f> {
    fn new(findings: &'f mut Vec<Finding>) -> Self {
        Self {
            reading: Reading::new(WireForm::Chat),
            findings,
            waiting: VecDeque::new(),
            open: HashSet::new(),
            calls: 0,
        }
    }

    fn fields(&mut self, record: &Object<'_>) {
        self.reading.about.model = record.text("model").map(Arc::from);
        self.reading.about.started = record.get("timestamp").and_then(time::read);
        // Tools are a list, or a list in a string.
        let tools = record
            .get("tools")
            .map(|raw| json::text(raw).unwrap_or_else(|| raw.get().into()));
        self.reading.about.tools = tools.filter(|tools| !tools.is_empty() && json::value(tools).is_ok());
        if let Some(system) = record.text("system").filter(|text| !text.is_empty()) {
            self.reading.push(Message::new(Role::System, vec![Part::Text(system)]));
        }
    }

    fn turn(&mut self, raw: Raw<'_>, place: Place) {
        let object = Object::of(raw).unwrap_or_default();
        let Some(value) = object.text("value").or_else(|| object.text("content")) else {
            self.findings
                .push(Finding::new(Rule::NotARecord, place, "a turn without a value"));
            return;
        };
        let from = object.text("from").or_else(|| object.text("role")).unwrap_or_default();
        match from.as_ref() {
            "system" => self.say(Role::System, vec![Part::Text(value)], place),
            "human" | "user" => self.say(Role::User, vec![Part::Text(value)], place),
            "gpt" | "assistant" | "chatgpt" | "model" | "bing" | "bard" => {
                let parts = self.tagged(&value, place);
                self.say(Role::Assistant, parts, place);
            }
            "function_call" | "tool_call" => {
                let part = self.call(&value, place).unwrap_or(Part::Text(value));
                self.say(Role::Assistant, vec![part], place);
            }
            "tool" | "observation" | "function_response" | "function" | "ipython" => self.answers(&value, place),
            other => {
                self.findings.push(Finding::new(Rule::UnknownRole, place, other));
                self.say(Role::User, vec![Part::Text(value)], place);
            }
        }
    }

    fn say(&mut self, role: Role, parts: Vec<Part>, place: Place) {
        let mut message = authorship::message(role, parts);
        message.place = place;
        self.reading.push(message);
    }

    /// Takes a model's words apart at the tags. What is not well formed stays text.
    fn tagged(&mut self, value: &str, place: Place) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut tags = Tags::new(value);
        while let Some((before, tag, inside)) = tags.next() {
            push_text(&mut parts, before);
            if tag.is_thought {
                parts.push(Part::Thinking(Box::new(Thinking {
                    text: inside.trim().into(),
                    seal: Seal::Unsealed,
                })));
            } else {
                match self.call(inside, place) {
                    Some(call) => parts.push(call),
                    None => push_text(&mut parts, inside),
                }
            }
        }
        push_text(&mut parts, tags.rest);
        parts
    }

    /// A call from its JSON; `None`, with a finding, when it is not JSON or names no tool.
    fn call(&mut self, text: &str, place: Place) -> Option<Part> {
        let object = Object::parse(text.trim()).ok();
        let Some((object, name)) = object.and_then(|object| object.text("name").map(|name| (object, name))) else {
            self.findings
                .push(Finding::new(Rule::MalformedArguments, place, "a call is kept as text"));
            return None;
        };
        let id = match object.text("id").filter(|id| !id.is_empty()) {
            Some(id) => CallId::new(id),
            None => CallId::new(format!("call_{}", self.calls)),
        };
        self.calls += 1;
        self.waiting.push_back(id.clone());
        self.open.insert(id.clone());
        let input = object.get("arguments").or_else(|| object.get("parameters"));
        Some(Part::Call(Box::new(ToolCall {
            id,
            name,
            input: openai_chat::read_input(input, place, self.findings),
        })))
    }

    /// The answers in a tool's turn: one for every `<tool_response>`, or the whole value.
    fn answers(&mut self, value: &str, place: Place) {
        let mut rest = value;
        let mut found = false;
        while let Some((_, inside, after)) = between(rest, "<tool_response>", "</tool_response>") {
            self.answer(inside.trim(), place);
            rest = after;
            found = true;
        }
        if !found {
            self.answer(value, place);
        }
    }

    fn first_open(&mut self) -> Option<CallId> {
        while let Some(id) = self.waiting.pop_front() {
            if self.open.remove(&id) {
                return Some(id);
            }
        }
        None
    }

    fn answer(&mut self, text: &str, place: Place) {
        let object = Object::parse(text).ok().filter(|object| object.has("content"));
        let given = object.as_ref().and_then(|object| object.text("tool_call_id"));
        let given = given.map(CallId::new).filter(|id| self.open.remove(id));
        let id = given.or_else(|| self.first_open()).unwrap_or_else(|| CallId::new(""));
        let content = object.as_ref().and_then(|object| object.get("content"));
        let content = content.map_or_else(|| vec![Content::Text(text.into())], openai_chat::read_result_content);
        let result = ToolResult {
            id,
            name: object.and_then(|object| object.text("name")),
            content,
            outcome: ToolOutcome::Unstated,
        };
        self.say(Role::Tool, vec![Part::Result(Box::new(result))], place);
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.trim().is_empty() {
        parts.push(Part::Text(text.trim().into()));
    }
}

/// A tag that a model's words may hold.
#[derive(Clone, Copy)]
struct Tag {
    open: &'static str,
    close: &'static str,
    is_thought: bool,
}

const TAGS: [Tag; 2] = [
    Tag {
        open: "<think>",
        close: "</think>",
        is_thought: true,
    },
    Tag {
        open: "<tool_call>",
        close: "</tool_call>",
        is_thought: false,
    },
];

/// Walks over the whole tags of a text, once.
struct Tags<'a> {
    rest: &'a str,
    /// A tag that is never closed again is text; it is looked for once.
    unclosed: [bool; TAGS.len()],
}

impl<'a> Tags<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            unclosed: [false; TAGS.len()],
        }
    }

    /// The next tag: what stands before it, which it is, and its inside.
    fn next(&mut self) -> Option<(&'a str, Tag, &'a str)> {
        let text = self.rest;
        for (at, _) in text.match_indices('<') {
            for (index, tag) in TAGS.into_iter().enumerate() {
                let Some(inside) = text[at..].strip_prefix(tag.open).filter(|_| !self.unclosed[index]) else {
                    continue;
                };
                if let Some((inside, after)) = inside.split_once(tag.close) {
                    self.rest = after;
                    return Some((&text[..at], tag, inside));
                }
                self.unclosed[index] = true;
            }
        }
        None
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let (before, rest) = text.split_once(open)?;
    let (inside, after) = rest.split_once(close)?;
    Some((before, inside, after))
}

#[cfg(test)]
#[path = "sharegpt_tests.rs"]
mod tests;
