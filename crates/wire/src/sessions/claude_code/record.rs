//! One record of a Claude Code log, reduced to what rebuilding the conversation needs.
//!
//! A record that is no message still links its children to its parent, so every record with an id is kept;
//! only the bodies of messages and attachments are.

use std::sync::Arc;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use crate::anthropic;
use crate::json;
use crate::json::Object;
use crate::time;

/// The model's name on what the program itself wrote in the model's place.
const SYNTHETIC: &str = "<synthetic>";

/// What the program writes in the model's place when it opens a session again whose last words are the user's.
const RESUMED: &str = "No response requested.";
/// The hook that runs when a session is opened again, by its name in attachments.
const RESUME_HOOK: &str = "SessionStart:resume";

/// Records that are not part of the conversation.
pub(super) const BOOKKEEPING: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    "attribution-snapshot",
    "bridge-session",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "speculation-accept",
    "tag",
    "task-summary",
    "worktree-state",
];

/// Subtypes of system records that only the person sees.
const SHOWN_ONLY: &[&str] = &[
    "agents_killed",
    "api_error",
    "api_metrics",
    "away_summary",
    "bridge_status",
    "file_snapshot",
    "informational",
    "memory_saved",
    "permission_retry",
    "scheduled_task_fire",
    "stop_hook_summary",
    "turn_duration",
];

/// A record, in file order.
#[derive(Debug)]
pub(super) struct Record {
    pub place: Place,
    pub parent: Option<Box<str>>,
    pub session: Option<Arc<str>>,
    pub at: Option<Timestamp>,
    /// It belongs to a subagent.
    pub is_sidechain: bool,
    /// The program wrote it in the user's role.
    pub is_meta: bool,
    pub kind: Kind,
}

/// What a record is.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    User(Box<Spoken>),
    Assistant(Box<Spoken>),
    /// The attachment's JSON.
    Attachment(Box<str>),
    /// What a command that the person ran printed.
    LocalCommand(Box<str>),
    Boundary(Box<Boundary>),
    Clearing(Box<Clearing>),
    /// A prompt that the person typed while the agent worked, and that stands nowhere else.
    Queued(Box<QueuedPrompt>),
    /// Nothing of the conversation, but a link between others.
    Link,
}

/// A prompt out of the queue.
#[derive(Debug, PartialEq)]
pub(super) struct QueuedPrompt {
    /// Its content's JSON.
    pub content: Box<str>,
    /// How many records stood in the log when it was typed.
    pub since: usize,
    /// When it was typed, as spelled.
    pub typed_at: Option<Box<str>>,
    /// Whether it still waits where the log ends.
    pub is_waiting: bool,
    /// Where the record stands by which it entered the queue.
    pub place: Place,
    /// When it was handed to the model, or typed where it still waits.
    pub at: Option<Timestamp>,
}

/// A line that carries a message, or one block of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Spoken {
    /// The content's JSON.
    pub content: Box<str>,
    /// The id of the model's response, which its lines share.
    pub response: Option<Box<str>>,
    pub model: Option<Arc<str>>,
    pub usage: Option<Usage>,
    pub is_summary: bool,
    /// Shown to the person in place of an answer.
    pub is_local: bool,
    /// The ids of the calls it makes.
    pub calls: Vec<Box<str>>,
    /// The ids of the calls it answers.
    pub answers: Vec<Box<str>>,
}

/// Where the conversation was compacted.
#[derive(Debug, PartialEq)]
pub(super) struct Boundary {
    pub trigger: Trigger,
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
    /// The record it continues.
    pub continues: Option<Box<str>>,
    /// The record behind which the kept messages go.
    pub anchor: Option<Box<str>>,
    pub kept: KeptIds,
}

/// Which messages a compaction kept, as the boundary names them.
#[derive(Debug, PartialEq)]
pub(super) enum KeptIds {
    Nothing,
    Listed(Vec<Box<str>>),
    Between { head: Box<str>, tail: Box<str> },
}

/// Where old tool results were cleared.
#[derive(Debug, PartialEq)]
pub(super) struct Clearing {
    pub trigger: Trigger,
    pub tokens_before: Option<u64>,
    pub tokens_saved: Option<u64>,
    pub calls: Vec<Box<str>>,
    pub attachments: Vec<Box<str>>,
}

impl Record {
    /// Reads a record of a type that may be part of the conversation.
    pub fn read(object: &Object<'_>, kind: &str, place: Place, findings: &mut Vec<Finding>) -> Self {
        let kind = match kind {
            "user" | "assistant" => read_spoken(object, kind, place, findings),
            "attachment" => match object.get("attachment") {
                Some(raw) => Kind::Attachment(raw.get().into()),
                None => unreadable(place, findings, "an attachment without content"),
            },
            "system" => read_system(object, place, findings),
            known if BOOKKEEPING.contains(&known) => Kind::Link,
            unknown => {
                findings.push(Finding::new(Rule::UnknownType, place, unknown));
                Kind::Link
            }
        };
        Self {
            place,
            parent: id(object, "parentUuid"),
            session: None,
            at: object.get("timestamp").and_then(time::read),
            is_sidechain: object.flag("isSidechain"),
            is_meta: object.flag("isMeta"),
            kind,
        }
    }

    /// The message it carries, or a piece of it.
    pub fn spoken(&self) -> Option<&Spoken> {
        match &self.kind {
            Kind::User(spoken) | Kind::Assistant(spoken) => Some(spoken),
            Kind::Attachment(_)
            | Kind::LocalCommand(_)
            | Kind::Boundary(_)
            | Kind::Clearing(_)
            | Kind::Queued(_)
            | Kind::Link => None,
        }
    }

    /// The calls it answers.
    pub fn answers(&self) -> &[Box<str>] {
        self.spoken().map_or(&[], |spoken| &spoken.answers)
    }

    /// The response it is a piece of.
    pub fn response(&self) -> Option<&str> {
        match &self.kind {
            Kind::Assistant(spoken) => spoken.response.as_deref(),
            _ => None,
        }
    }

    /// Whether the conversation was compacted here.
    pub fn is_boundary(&self) -> bool {
        matches!(self.kind, Kind::Boundary(_))
    }

    /// Whether it is the summary that a compaction wrote.
    pub fn is_summary(&self) -> bool {
        self.spoken().is_some_and(|spoken| spoken.is_summary)
    }

    /// Whether the person speaks, as far as the record says.
    pub fn is_prompt(&self) -> bool {
        match &self.kind {
            Kind::User(spoken) => !self.is_meta && !spoken.is_summary && spoken.answers.is_empty(),
            _ => false,
        }
    }

    /// Whether it shows that the program was started anew and the session opened again.
    pub fn is_restart(&self) -> bool {
        match &self.kind {
            Kind::Assistant(spoken) => spoken.is_local && spoken.content.contains(RESUMED),
            Kind::Attachment(attachment) => {
                let object = Object::parse(attachment).unwrap_or_default();
                object.is("hookName", RESUME_HOOK)
            }
            Kind::User(_)
            | Kind::LocalCommand(_)
            | Kind::Boundary(_)
            | Kind::Clearing(_)
            | Kind::Queued(_)
            | Kind::Link => false,
        }
    }

    /// Whether a conversation can end in it.
    pub fn can_end(&self) -> bool {
        !matches!(self.kind, Kind::Link | Kind::Clearing(_) | Kind::Queued(_))
    }
}

fn unreadable(place: Place, findings: &mut Vec<Finding>, detail: &str) -> Kind {
    findings.push(Finding::new(Rule::NotARecord, place, detail));
    Kind::Link
}

fn read_spoken(object: &Object<'_>, kind: &str, place: Place, findings: &mut Vec<Finding>) -> Kind {
    let Some(message) = object.object("message") else {
        return unreadable(place, findings, "a message that is no object");
    };
    let Some(content) = message.get("content") else {
        return unreadable(place, findings, "a message without content");
    };
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    for block in json::array(content).unwrap_or_default() {
        let Some(block) = Object::of(block) else { continue };
        match block.tag("type") {
            Some("tool_use") => calls.extend(block.text("id")),
            Some("tool_result") => answers.extend(block.text("tool_use_id")),
            Some(_) | None => {}
        }
    }
    let model = message.text("model");
    let spoken = Box::new(Spoken {
        content: content.get().into(),
        response: id(&message, "id").or_else(|| id(object, "requestId")),
        is_local: object.flag("isApiErrorMessage") || model.as_deref() == Some(SYNTHETIC),
        model: model.map(Arc::from),
        usage: message.object("usage").map(|usage| anthropic::read_usage(&usage)),
        is_summary: object.flag("isCompactSummary"),
        calls,
        answers,
    });
    if kind == "assistant" {
        Kind::Assistant(spoken)
    } else {
        Kind::User(spoken)
    }
}

fn read_system(object: &Object<'_>, place: Place, findings: &mut Vec<Finding>) -> Kind {
    let subtype = object.text("subtype").unwrap_or_default();
    match subtype.as_ref() {
        "compact_boundary" => Kind::Boundary(Box::new(read_boundary(object))),
        "microcompact_boundary" => Kind::Clearing(Box::new(read_clearing(object))),
        "local_command" => match object.text("content") {
            Some(text) if !text.trim().is_empty() => Kind::LocalCommand(text),
            Some(_) | None => Kind::Link,
        },
        shown if SHOWN_ONLY.contains(&shown) => Kind::Link,
        unknown => {
            findings.push(Finding::new(Rule::UnknownType, place, format!("system {unknown}")));
            Kind::Link
        }
    }
}

fn read_boundary(object: &Object<'_>) -> Boundary {
    let metadata = object.object("compactMetadata").unwrap_or_default();
    let segment = metadata.object("preservedSegment").unwrap_or_default();
    let listed = metadata.object("preservedMessages").unwrap_or_default();
    let ids = ids(&listed, "uuids");
    let kept = match (segment.text("headUuid"), segment.text("tailUuid")) {
        _ if !ids.is_empty() => KeptIds::Listed(ids),
        (Some(head), Some(tail)) => KeptIds::Between { head, tail },
        _ => KeptIds::Nothing,
    };
    Boundary {
        trigger: trigger(&metadata),
        tokens_before: metadata.count("preTokens"),
        tokens_after: metadata.count("postTokens"),
        continues: id(object, "logicalParentUuid"),
        anchor: listed.text("anchorUuid").or_else(|| segment.text("anchorUuid")),
        kept,
    }
}

fn read_clearing(object: &Object<'_>) -> Clearing {
    let metadata = object.object("microcompactMetadata").unwrap_or_default();
    Clearing {
        trigger: trigger(&metadata),
        tokens_before: metadata.count("preTokens"),
        tokens_saved: metadata.count("tokensSaved"),
        calls: ids(&metadata, "compactedToolIds"),
        attachments: ids(&metadata, "clearedAttachmentUUIDs"),
    }
}

fn trigger(metadata: &Object<'_>) -> Trigger {
    match metadata.tag("trigger") {
        Some("auto") => Trigger::Automatic,
        Some("manual") => Trigger::Manual,
        Some(_) | None => Trigger::Unstated,
    }
}

fn ids(object: &Object<'_>, key: &str) -> Vec<Box<str>> {
    let list = object.array(key).unwrap_or_default();
    list.into_iter().filter_map(json::text).collect()
}

/// An id that names something.
pub(super) fn id(object: &Object<'_>, key: &str) -> Option<Box<str>> {
    object.text(key).filter(|id| !id.is_empty())
}
