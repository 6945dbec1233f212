//! Hermes sessions as lists of chat messages: `session_<id>.json` snapshots, evaluation fixtures, and
//! the older `<id>.jsonl` files with one message a line.

use std::sync::Arc;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;

use super::check_session;
use super::note_summary;
use super::settle_author;
use crate::body::Body;
use crate::body::document_text;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::source::Source;
use crate::time;

/// Reads a snapshot or an evaluation fixture.
pub fn read_snapshot(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let (text, findings) = document_text(source)?;
    let body = Body::find(source.name(), &text, "messages")?;
    let around = &body.around;
    let id = around.text("session_id").or_else(|| around.text("name"));
    check_session(source, request, id.as_deref())?;
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = findings;
    let about = &mut reading.about;
    about.id = id.map(String::from);
    about.title = around.text("title").or_else(|| around.text("name")).map(String::from);
    about.directory = around.text("cwd").map(String::from);
    about.model = around.text("model").map(Arc::from);
    about.window = around.count("context_length");
    about.tools = own_tools(around);
    about.parent = around.text("parent_session_id").map(String::from);
    about.started = around.get("session_start").and_then(time::read);
    about.ended = around.get("last_updated").and_then(time::read);
    let opens_with_system = body.elements.first().and_then(|raw| Object::of(raw));
    if !opens_with_system.is_some_and(|first| first.is("role", "system"))
        && let Some(prompt) = around.text("system_prompt").filter(|prompt| !prompt.is_empty())
    {
        reading.push(Message::new(Role::System, vec![Part::Text(prompt)]));
    }
    for (index, raw) in (0..).zip(&body.elements) {
        push(raw, Place::Item(index), &mut reading);
    }
    reading.count_all();
    Ok(reading)
}

/// Reads a file with one message a line.
pub fn read_lines(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let file = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    let id = file.strip_suffix(".jsonl").unwrap_or(file);
    check_session(source, request, Some(id))?;
    let mut reading = Reading::new(WireForm::Chat);
    reading.about.id = Some(id.to_owned());
    let mut lines = source.lines()?;
    while lines.advance()? {
        let place = lines.place();
        let mut strays = Vec::new();
        for raw in lines.records() {
            match Object::of(raw) {
                Some(object) if object.is("role", "session_meta") => {
                    let about = &mut reading.about;
                    about.model = object.text("model").map(Arc::from).or(about.model.take());
                    about.tools = own_tools(&object).or(about.tools.take());
                }
                Some(object) if object.has("role") => push(raw, place, &mut reading),
                Some(_) | None => strays.push(Finding::new(Rule::NotARecord, place, "no role")),
            }
        }
        lines.findings.append(&mut strays);
    }
    reading.findings.append(&mut lines.findings);
    if reading.is_empty() {
        return Err(ReadError::refused(source.name(), "there is no message in it"));
    }
    reading.count_all();
    Ok(reading)
}

fn own_tools(object: &Object<'_>) -> Option<Box<str>> {
    let tools = object.get("tools").map(|raw| raw.get());
    tools
        .filter(|tools| tools.starts_with('[') && *tools != "[]")
        .map(Box::from)
}

fn push(raw: Raw<'_>, place: Place, reading: &mut Reading) {
    let object = Object::of(raw).unwrap_or_default();
    let mut message = openai_chat::read_message(raw, place, &mut reading.findings);
    message.at = object.get("timestamp").and_then(time::read);
    settle_author(&mut message, object.flag("_compressed_summary"));
    note_summary(reading, &message);
    reading.push_verbatim(message, raw.get());
}
