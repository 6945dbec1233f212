//! What the program attaches to a conversation by itself: reminders, files, the state of the editor.
//!
//! The log holds an attachment's facts, not the words in which the model reads them; those change with
//! every version of the program. Here the facts are put into plain words of our own. An attachment that
//! states nothing is no message.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Media;
use mainstay_engine::transcript::MediaKind;
use mainstay_engine::transcript::MediaSource;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;

use crate::anthropic;
use crate::authorship;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;

/// How deep lists and objects inside of an attachment are read.
const DEPTH: usize = 4;

/// What an attachment carries.
pub(super) enum Carried {
    Message(Message),
    Nothing,
    /// A type this version does not know, and nothing readable under the usual key.
    Unknown(String),
}

/// A sentence about fields of the attachment, in braces, and the field whose text follows it. A sentence
/// without a following text says it all by itself; one whose text is empty is left out.
type Sentence = (&'static str, Option<&'static str>);

/// The attachments that tell the model something, and how.
const TELLING: &[(&str, &[Sentence])] = &[
    (
        "agent_listing_delta",
        &[
            ("Agents added:", Some("addedLines")),
            ("Agents removed:", Some("removedTypes")),
        ],
    ),
    ("agent_mention", &[("The user mentioned the agent {agentType}.", None)]),
    ("auto_mode", &[("Auto mode is on.", None)]),
    ("auto_mode_exit", &[("Auto mode is off.", None)]),
    (
        "compact_file_reference",
        &[("{filename} was read before the conversation was compacted.", None)],
    ),
    ("critical_system_reminder", &[("Reminder:", Some("content"))]),
    ("date_change", &[("The date is now {newDate}.", None)]),
    (
        "deferred_tools_delta",
        &[
            ("Tools added:", Some("addedNames")),
            ("Tools removed:", Some("removedNames")),
        ],
    ),
    ("diagnostics", &[("Diagnostics:", Some("files"))]),
    ("directory", &[("Contents of {path}:", Some("content"))]),
    (
        "edited_text_file",
        &[
            ("{filename} was changed outside of the conversation.", None),
            ("The changed lines:", Some("snippet")),
        ],
    ),
    ("file", &[("Contents of {filename}:", Some("content"))]),
    ("goal_status", &[("Goal:", Some("condition"))]),
    (
        "hook_additional_context",
        &[("The hook {hookName} adds:", Some("content"))],
    ),
    (
        "hook_blocking_error",
        &[("The hook {hookName} objects:", Some("blockingError"))],
    ),
    (
        "hook_stopped_continuation",
        &[("The hook {hookName} stopped the turn:", Some("message"))],
    ),
    ("hook_success", &[("The hook {hookName} says:", Some("content"))]),
    ("invoked_skills", &[("Skills in use:", Some("skills"))]),
    (
        "mcp_instructions_delta",
        &[
            ("Instructions of MCP servers:", Some("addedBlocks")),
            ("MCP servers removed:", Some("removedNames")),
        ],
    ),
    ("mcp_resource", &[("The resource {uri} of {server}:", Some("content"))]),
    ("nested_memory", &[("Contents of {path}:", Some("content"))]),
    ("new_file", &[("Contents of {filename}:", Some("content"))]),
    (
        "opened_file_in_ide",
        &[("The user opened {filename} in the editor.", None)],
    ),
    ("output_style", &[("The output style is {style}.", None)]),
    ("pdf_reference", &[("{filename} is a PDF of {pageCount} pages.", None)]),
    (
        "plan_file_reference",
        &[("The plan in {planFilePath}:", Some("planContent"))],
    ),
    (
        "plan_mode",
        &[("Plan mode is on. The plan's file is {planFilePath}.", None)],
    ),
    (
        "plan_mode_exit",
        &[("Plan mode is off. The plan's file is {planFilePath}.", None)],
    ),
    (
        "plan_mode_reentry",
        &[("Plan mode is on again. The plan's file is {planFilePath}.", None)],
    ),
    ("relevant_memories", &[("Memories:", Some("memories"))]),
    (
        "selected_lines_in_ide",
        &[(
            "The user selected lines {lineStart} to {lineEnd} of {filename}:",
            Some("content"),
        )],
    ),
    ("skill_listing", &[("Skills:", Some("content"))]),
    ("task_reminder", &[("The task list:", Some("content"))]),
    (
        "task_status",
        &[
            ("The task {taskId} is {status}: {description}", None),
            ("Its news:", Some("deltaSummary")),
        ],
    ),
    ("todo", &[("The todo list:", Some("content"))]),
    ("todo_reminder", &[("The todo list:", Some("content"))]),
];

/// The attachments that tell the model nothing, or nothing the log holds.
const SILENT: &[&str] = &[
    "already_read_file",
    "async_hook_response",
    "budget_usd",
    "command_permissions",
    "compaction_reminder",
    "context_efficiency",
    "dynamic_skill",
    "edited_image_file",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
    "max_turns_reached",
    "output_token_usage",
    "structured_output",
    "token_usage",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "verify_plan_reminder",
];

/// Reads an attachment.
pub(super) fn read(attachment: &str, place: Place) -> Carried {
    let object = Object::parse(attachment).unwrap_or_default();
    let kind = object.text("type").unwrap_or_default();
    if kind.as_ref() == "queued_command" {
        return queued(&object, place);
    }
    if SILENT.contains(&kind.as_ref()) {
        return Carried::Nothing;
    }
    let telling = TELLING.iter().find(|(name, _)| *name == kind.as_ref());
    let said = match telling {
        Some((_, sentences)) => sentences
            .iter()
            .filter_map(|sentence| say(&object, *sentence))
            .collect(),
        None => match object.get("content").map(readable).filter(|text| !text.is_empty()) {
            Some(text) => vec![format!("{kind}:\n{text}")],
            None => return Carried::Unknown(kind.into()),
        },
    };
    let picture = picture(&object);
    if said.is_empty() && picture.is_none() {
        return Carried::Nothing;
    }
    let mut parts = Vec::new();
    if !said.is_empty() {
        let text = format!("<system-reminder>\n{}\n</system-reminder>", said.join("\n"));
        parts.push(Part::Text(text.into()));
    }
    parts.extend(picture);
    let mut message = Message::new(Role::User, parts);
    message.author = Author::Host;
    Carried::Message(message)
}

/// A prompt that waited until the model could take it: the person's own words, or news of a task.
fn queued(object: &Object<'_>, place: Place) -> Carried {
    let mut parts = Vec::new();
    if let Some(prompt) = object.get("prompt") {
        anthropic::read_content(prompt, place, &mut Vec::new(), &mut parts);
    }
    if parts.is_empty() {
        return Carried::Nothing;
    }
    let mut message = authorship::message(Role::User, parts);
    if object.is("commandMode", "task-notification") {
        message.author = Author::Host;
    }
    Carried::Message(message)
}

fn say(object: &Object<'_>, (sentence, field): Sentence) -> Option<String> {
    let mut said = String::new();
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        said.push_str(before);
        said.push_str(&object.get(name).map(readable).unwrap_or_default());
        rest = after;
    }
    said.push_str(rest);
    if let Some(field) = field {
        let text = readable(object.get(field)?);
        if text.trim().is_empty() {
            return None;
        }
        said.push('\n');
        said.push_str(&text);
    }
    Some(said)
}

/// A picture among the attached files.
fn picture(object: &Object<'_>) -> Option<Part> {
    let content = object.object("content").filter(|content| content.is("type", "image"))?;
    let file = content.object("file")?;
    Some(Part::Media(Box::new(Media {
        kind: MediaKind::Image,
        mime: file.text("type"),
        source: MediaSource::Inline(file.text("base64")?),
    })))
}

/// What can be read of a value.
fn readable(raw: Raw<'_>) -> String {
    let mut lines = Vec::new();
    collect(raw, DEPTH, &mut lines);
    lines.join("\n")
}

fn collect(raw: Raw<'_>, depth: usize, lines: &mut Vec<String>) {
    match json::kind(raw) {
        Kind::String => lines.extend(json::text(raw).map(String::from)),
        Kind::Number | Kind::Bool => lines.push(raw.get().to_owned()),
        Kind::Null => {}
        Kind::Array | Kind::Object if depth == 0 => lines.push(raw.get().to_owned()),
        Kind::Array => {
            for element in json::array(raw).unwrap_or_default() {
                collect(element, depth - 1, lines);
            }
        }
        Kind::Object => collect_object(&Object::of(raw).unwrap_or_default(), depth, lines),
    }
}

/// Tasks, todos, diagnostics, files, memories and skills are objects; each has a name and a body.
fn collect_object(object: &Object<'_>, depth: usize, lines: &mut Vec<String>) {
    let text = |key: &str| object.text(key);
    if object.is("type", "image") {
        return;
    }
    if let (Some(status), Some(subject)) = (text("status"), text("subject").or_else(|| text("content"))) {
        lines.push(format!("[{status}] {subject}"));
        return;
    }
    if let (Some(severity), Some(message)) = (text("severity"), text("message")) {
        let start = object.object("range").and_then(|range| range.object("start"));
        let line = start.and_then(|start| start.count("line"));
        // Editors count lines from zero.
        let line = line.map_or(String::new(), |line| format!("line {}: ", line.saturating_add(1)));
        lines.push(format!("  {line}{severity}: {message}"));
        return;
    }
    lines.extend(
        text("uri")
            .or_else(|| text("name"))
            .or_else(|| text("path"))
            .map(String::from),
    );
    let bodies = [
        "file",
        "diagnostics",
        "content",
        "contents",
        "text",
        "blockingError",
        "cells",
    ];
    for body in bodies {
        if let Some(raw) = object.get(body) {
            collect(raw, depth - 1, lines);
        }
    }
}
