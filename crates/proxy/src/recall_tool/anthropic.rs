//! Answers of Anthropic Messages.

use std::collections::BTreeMap;

use bytes::Bytes;
use mainstay_engine::json;
use mainstay_engine::json::Object;
use mainstay_llm::events::Event;

use crate::recall_tool::event_frames;
use crate::recall_tool::json_edit::changed;
use crate::recall_tool::json_edit::list;
use crate::recall_tool::json_edit::raised;
use crate::recall_tool::model_turn::AnswerPart;
use crate::recall_tool::model_turn::ModelTurn;
use crate::recall_tool::model_turn::RecallCall;
use crate::recall_tool::model_turn::called;
use crate::recall_tool::model_turn::is_ours;
use crate::recall_tool::model_turn::said;
use crate::recall_tool::model_turn::sealed;
use crate::recall_tool::stream_merge::AnswerEnd;
use crate::recall_tool::stream_merge::ContinuationError;
use crate::recall_tool::stream_merge::NOTHING_SAID;
use crate::recall_tool::stream_merge::ReadAnswer;
use crate::recall_tool::stream_merge::StreamMerger;

/// What a block is known again by, when a client sends it back.
pub(super) fn identity(block: &Object<'_>) -> String {
    let text = |key: &str| block.text(key).unwrap_or_default();
    match block.tag("type") {
        Some("tool_use") => called(&text("id")),
        Some("thinking") => sealed(&text("signature")),
        Some("redacted_thinking") => sealed(&text("data")),
        Some("text") => said(&text("text")),
        Some(_) | None => said(&text("id")),
    }
}

/// Whether a text has no words: no provider takes such a block back.
fn is_blank(block: &Object<'_>) -> bool {
    block.is("type", "text") && block.text("text").is_none_or(|text| text.trim().is_empty())
}

fn is_thinking(block: &Object<'_>) -> bool {
    matches!(block.tag("type"), Some("thinking" | "redacted_thinking"))
}

/// An answer out of its blocks.
fn turn_of(blocks: &[String], stop: Option<&str>) -> ModelTurn {
    let mut turn = ModelTurn {
        waits: stop == Some("tool_use"),
        ..ModelTurn::default()
    };
    for block in blocks {
        let Ok(object) = Object::parse(block) else { continue };
        if is_blank(&object) {
            continue;
        }
        let is_call = object.is("type", "tool_use");
        if !is_call || !is_ours(&object) {
            turn.calls_theirs |= is_call;
            turn.seats.push(AnswerPart::Shown(identity(&object)));
            turn.elements.push(block.clone());
            continue;
        }
        let input = object
            .get("input")
            .filter(|input| json::kind(input) == json::Kind::Object);
        let input = input.map_or("{}", |input| input.get());
        let raw = changed(block, &[("input", Some(input))]);
        turn.elements.push(raw.clone());
        turn.seats.push(AnswerPart::Ours(RecallCall {
            id: object.text("id").unwrap_or_default().into(),
            input: input.to_owned(),
            raw,
        }));
    }
    turn
}

/// Reads a whole answer.
pub(super) fn read(text: &str) -> Option<ReadAnswer> {
    let message = Object::parse(text).ok()?;
    let blocks: Vec<String> = message
        .array("content")?
        .iter()
        .map(|raw| raw.get().to_owned())
        .collect();
    let turn = turn_of(&blocks, message.tag("stop_reason"));
    let is_shown = |block: &String| {
        let ours = Object::parse(block).is_ok_and(|object| object.is("type", "tool_use") && is_ours(&object));
        !ours
    };
    let shown = blocks.into_iter().filter(is_shown).collect();
    Some(ReadAnswer { turn, shown })
}

/// The whole answer that the client sees.
pub(super) fn together(first: &str, last: &str, shown: &[String], closing: AnswerEnd, earlier: u64) -> Option<String> {
    let id = Object::parse(first).ok()?.get("id").map(|id| id.get().to_owned());
    let message = Object::parse(last).ok()?;
    let usage = message
        .get("usage")
        .map(|usage| raised(usage.get(), &["output_tokens"], earlier));
    let mut blocks = shown.to_vec();
    let is_said = |block: &String| Object::parse(block).is_ok_and(|object| !is_thinking(&object));
    if closing == AnswerEnd::WithoutCalls && !blocks.iter().any(is_said) {
        blocks.push(format!(r#"{{"type":"text","text":{}}}"#, json::quote(NOTHING_SAID)));
    }
    let content = list(&blocks);
    let mut changes = vec![("content", Some(content.as_str()))];
    if let Some(id) = &id {
        changes.push(("id", Some(id)));
    }
    if let Some(usage) = &usage {
        changes.push(("usage", Some(usage)));
    }
    if closing == AnswerEnd::WithoutCalls {
        changes.push(("stop_reason", Some("\"end_turn\"")));
    }
    Some(changed(last, &changes))
}

/// A block that comes in pieces.
#[derive(Debug, Default)]
struct Building {
    /// As it began.
    start: String,
    /// Where the client sees it, if it does.
    shown: Option<u64>,
    /// What was added to its texts, by key.
    texts: BTreeMap<&'static str, String>,
    input: String,
    citations: Vec<String>,
}

impl Building {
    fn add(&mut self, delta: &Object<'_>) {
        let mut text = |key: &'static str| {
            let piece = delta.text(key).unwrap_or_default();
            self.texts.entry(key).or_default().push_str(&piece);
        };
        match delta.tag("type") {
            Some("text_delta") => text("text"),
            Some("thinking_delta") => text("thinking"),
            Some("signature_delta") => text("signature"),
            Some("input_json_delta") => self.input.push_str(&delta.text("partial_json").unwrap_or_default()),
            Some("citations_delta") => {
                let citation = delta.get("citation").map(|citation| citation.get().to_owned());
                self.citations.extend(citation);
            }
            Some(_) | None => {}
        }
    }

    /// The block as it goes back to the provider.
    fn whole(&self) -> String {
        let began = Object::parse(&self.start).unwrap_or_default();
        let quoted: Vec<(&str, String)> = self
            .texts
            .iter()
            .map(|(key, text)| {
                let before = began.text(key).unwrap_or_default();
                (*key, json::quote(&format!("{before}{text}")))
            })
            .collect();
        let mut changes: Vec<(&str, Option<&str>)> =
            quoted.iter().map(|(key, text)| (*key, Some(text.as_str()))).collect();
        if json::value(&self.input).is_ok() {
            changes.push(("input", Some(&self.input)));
        }
        let citations = list(&self.citations);
        if !self.citations.is_empty() {
            changes.push(("citations", Some(&citations)));
        }
        changed(&self.start, &changes)
    }
}

/// Weaves streams.
#[derive(Debug, Default)]
pub(super) struct AnthropicMerger {
    /// Answers before this one.
    round: usize,
    /// Blocks that the client has seen.
    shown: u64,
    /// Whether any of them says something.
    speaks: bool,
    /// The blocks of this answer.
    blocks: BTreeMap<u64, Building>,
    asks: bool,
    stop: Option<String>,
    is_over: bool,
    held: Vec<Event>,
}

impl AnthropicMerger {
    fn begin_block(&mut self, index: u64, object: &Object<'_>) {
        let start = object.get("content_block").map_or("{}", |block| block.get());
        let block = Object::parse(start).unwrap_or_default();
        let ours = block.is("type", "tool_use") && is_ours(&block);
        let mut building = Building {
            start: start.to_owned(),
            ..Building::default()
        };
        if ours {
            self.asks = true;
        } else {
            self.speaks |= !is_thinking(&block);
            building.shown = Some(self.shown);
            self.shown += 1;
        }
        self.blocks.insert(index, building);
    }

    /// Passes an event on that stands at a block.
    fn pass_at(&self, index: u64, frame: Bytes, event: &Event, out: &mut Vec<Bytes>) {
        match self.blocks.get(&index).map(|block| block.shown) {
            Some(None) => {}
            Some(Some(shown)) if shown != index => {
                let data = changed(&event.data, &[("index", Some(&shown.to_string()))]);
                out.push(event_frames::written(event.name.as_deref(), &data));
            }
            Some(Some(_)) | None => out.push(frame),
        }
    }

    fn say(&mut self, text: &str, out: &mut Vec<Bytes>) {
        let index = self.shown;
        self.shown += 1;
        let text = json::quote(text);
        for (kind, rest) in [
            (
                "content_block_start",
                r#","content_block":{"type":"text","text":""}}"#.to_owned(),
            ),
            (
                "content_block_delta",
                format!(r#","delta":{{"type":"text_delta","text":{text}}}}}"#),
            ),
            ("content_block_stop", "}".to_owned()),
        ] {
            let data = format!(r#"{{"type":"{kind}","index":{index}{rest}"#);
            out.push(event_frames::written(Some(kind), &data));
        }
    }
}

impl StreamMerger for AnthropicMerger {
    fn take(&mut self, frame: Bytes, out: &mut Vec<Bytes>) {
        let Some(event) = event_frames::event(&frame) else {
            return out.push(frame);
        };
        let Ok(object) = Object::parse(&event.data) else {
            return out.push(frame);
        };
        let index = object.count("index");
        match (object.tag("type").or(event.name.as_deref()), index) {
            (Some("message_start"), _) if self.round > 0 => return,
            (Some("content_block_start"), Some(index)) => self.begin_block(index, &object),
            (Some("content_block_delta"), Some(index)) => {
                if let (Some(block), Some(delta)) = (self.blocks.get_mut(&index), object.object("delta")) {
                    block.add(&delta);
                }
            }
            (Some("message_delta"), _) => {
                let stop = object.object("delta").and_then(|delta| delta.text("stop_reason"));
                self.stop = stop.map(String::from).or(self.stop.take());
                if self.is_woven() {
                    return self.held.push(event);
                }
            }
            (Some("message_stop"), _) => {
                self.is_over = true;
                if self.is_woven() {
                    return self.held.push(event);
                }
            }
            _ => {}
        }
        match index {
            Some(index) => self.pass_at(index, frame, &event, out),
            None => out.push(frame),
        }
    }

    fn run_out(&mut self) {
        self.is_over |= self.stop.is_some();
    }

    fn is_due(&self) -> bool {
        self.is_over && self.is_woven()
    }

    fn turn(&self) -> ModelTurn {
        let blocks: Vec<String> = self.blocks.values().map(Building::whole).collect();
        turn_of(&blocks, self.stop.as_deref())
    }

    fn is_woven(&self) -> bool {
        self.asks || self.round > 0
    }

    fn go_on(&mut self) {
        *self = Self {
            round: self.round + 1,
            shown: self.shown,
            speaks: self.speaks,
            ..Self::default()
        };
    }

    fn close(&mut self, closing: AnswerEnd, earlier: u64, out: &mut Vec<Bytes>) {
        if closing == AnswerEnd::WithoutCalls && !self.speaks {
            self.say(NOTHING_SAID, out);
        }
        for event in std::mem::take(&mut self.held) {
            let object = Object::parse(&event.data).unwrap_or_default();
            let usage = object
                .get("usage")
                .map(|usage| raised(usage.get(), &["output_tokens"], earlier));
            let delta = object.get("delta").filter(|_| closing == AnswerEnd::WithoutCalls);
            let delta = delta.map(|delta| changed(delta.get(), &[("stop_reason", Some("\"end_turn\""))]));
            let changes = [("usage", usage.as_deref()), ("delta", delta.as_deref())];
            let changes: Vec<_> = changes.into_iter().filter(|(_, value)| value.is_some()).collect();
            out.push(event_frames::written(
                event.name.as_deref(),
                &changed(&event.data, &changes),
            ));
        }
    }

    fn fail(&mut self, failure: &ContinuationError, out: &mut Vec<Bytes>) {
        let is_theirs = Object::parse(&failure.body).is_ok_and(|object| object.is("type", "error"));
        let data = if is_theirs {
            failure.body.clone()
        } else {
            let message = json::quote(&failure.message);
            format!(r#"{{"type":"error","error":{{"type":"api_error","message":{message}}}}}"#)
        };
        out.push(event_frames::written(Some("error"), &data));
    }
}
