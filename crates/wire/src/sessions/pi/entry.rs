//! One line of a session: an entry, or the header.

use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;

use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::About;
use crate::sessions::pi::message;
use crate::sessions::pi::message::Said;
use crate::sessions::pi::prompt::Change;
use crate::time;

/// What pi puts around the summary of a compaction when it sends it.
const COMPACTION_FRAME: (&str, &str) = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
);
/// What pi puts around the summary of a branch when it sends it.
const BRANCH_FRAME: (&str, &str) = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
);

/// What the header, and the entries that speak of the session as a whole, say.
#[derive(Default)]
pub(super) struct Header {
    /// Whether there was one.
    pub is_there: bool,
    about: About,
    name: Option<String>,
    label: Option<String>,
}

impl Header {
    /// Says what is known about the session.
    pub fn describe(self, about: &mut About) {
        *about = About {
            conversations: 1,
            title: self.name.or(self.label),
            ..self.about
        };
    }

    fn enter(&mut self, object: &Object<'_>, place: Place, findings: &mut Vec<Finding>) {
        if std::mem::replace(&mut self.is_there, true) {
            findings.push(Finding::new(Rule::DuplicateRecord, place, "a second header"));
            return;
        }
        let text = |key: &str| object.text(key).map(String::from);
        self.about.id = text("id");
        self.about.directory = text("cwd");
        self.about.parent = text("parentSession").or_else(|| text("branchedFrom"));
        self.about.started = object.get("timestamp").and_then(time::read);
        self.about.model = object.text("modelId").map(Arc::from);
    }
}

/// An entry.
pub(super) struct Entry {
    pub id: Option<Box<str>>,
    pub parent: Parent,
    /// Its index among all records of the file, by which the first version refers to it.
    pub number: u64,
    pub place: Place,
    pub body: Body,
}

/// What an entry continues.
pub(super) enum Parent {
    /// Nothing: it is a root.
    Nothing,
    /// The entry before it in the file.
    Previous,
    /// The entry of this id.
    Named(Box<str>),
}

/// What an entry is to the conversation.
pub(super) enum Body {
    /// A message.
    Said(Said),
    /// A change of the system prompt or the tools.
    Prompt(Box<Change>),
    /// A compaction.
    Compaction(Box<Compaction>),
    /// A message is to be left out from now on, or to have this content, as JSON.
    Edit {
        target: Box<str>,
        replacement: Option<Box<str>>,
    },
    /// Another model was chosen.
    Model(Arc<str>),
    /// Nothing, but others may continue it.
    Other,
}

/// A recorded compaction.
pub(super) struct Compaction {
    pub summary: Message,
    pub kept: Kept,
    pub tokens_before: Option<u64>,
    /// The whole prompt at that point.
    pub prompt: Option<Change>,
}

/// Where the messages begin that a compaction kept.
pub(super) enum Kept {
    /// At the entry of this id.
    FromId(Box<str>),
    /// At the record of this index.
    FromNumber(u64),
    /// The source does not say.
    Unstated,
}

/// Reads one record; none when it is the header or no entry at all.
pub(super) fn read(
    raw: Raw<'_>,
    number: u64,
    place: Place,
    header: &mut Header,
    findings: &mut Vec<Finding>,
) -> Option<Entry> {
    let Some(object) = Object::of(raw) else {
        findings.push(Finding::new(Rule::NotARecord, place, "not an object"));
        return None;
    };
    let Some(kind) = object.text("type") else {
        findings.push(Finding::new(Rule::NotARecord, place, "no type"));
        return None;
    };
    let at = object.get("timestamp").and_then(time::read);
    if kind.as_ref() == "session" {
        header.enter(&object, place, findings);
        return None;
    }
    header.about.ended = at.max(header.about.ended);
    Some(Entry {
        id: object.text("id"),
        parent: parent(&object, &kind),
        number,
        place,
        body: body(&kind, &object, place, at, header, findings),
    })
}

fn parent(object: &Object<'_>, kind: &str) -> Parent {
    // A leaf entry moves to its target: what comes next continues that.
    let key = if kind == "leaf" { "targetId" } else { "parentId" };
    match object.get(key) {
        Some(raw) => json::text(raw).map_or(Parent::Nothing, Parent::Named),
        None => Parent::Previous,
    }
}

fn body(
    kind: &str,
    object: &Object<'_>,
    place: Place,
    at: Option<Timestamp>,
    header: &mut Header,
    findings: &mut Vec<Finding>,
) -> Body {
    match kind {
        "message" => return said(object, place, at, findings),
        "custom_message" => {
            let parts = object.get("content").map(|raw| message::parts(raw, place, findings));
            return sent(host(parts.unwrap_or_default(), place, at));
        }
        "branch_summary" => {
            return sent(summary(object, BRANCH_FRAME, place, at));
        }
        "compaction" => {
            return Body::Compaction(Box::new(Compaction {
                summary: summary(object, COMPACTION_FRAME, place, at),
                kept: kept(object),
                tokens_before: object.count("tokensBefore"),
                prompt: object
                    .object("systemMessage")
                    .map(|prompt| Change::read(&prompt, place, at, findings)),
            }));
        }
        "context_edit" => {
            let replacement = object.get("replacement").filter(|raw| json::kind(raw) != Kind::Null);
            return Body::Edit {
                target: object.text("targetId").unwrap_or_default(),
                replacement: replacement.map(|raw| raw.get().into()),
            };
        }
        "model_change" => {
            if let Some(model) = object.text("modelId") {
                return Body::Model(model.into());
            }
        }
        "session_info" => header.name = object.text("name").map(String::from).or(header.name.take()),
        "label" => header.label = object.text("label").map(String::from).or(header.label.take()),
        "custom" | "leaf" | "thinking_level_change" | "usage" => {}
        other => findings.push(Finding::new(Rule::UnknownType, place, other)),
    }
    Body::Other
}

fn said(object: &Object<'_>, place: Place, at: Option<Timestamp>, findings: &mut Vec<Finding>) -> Body {
    let Some((raw, message)) = object.get("message").and_then(|raw| Some((raw, Object::of(raw)?))) else {
        findings.push(Finding::new(
            Rule::NotARecord,
            place,
            "a message entry without a message",
        ));
        return Body::Other;
    };
    let at = message.get("timestamp").and_then(time::read).or(at);
    match message.tag("role") {
        Some("system") => Body::Prompt(Box::new(Change::read(&message, place, at, findings))),
        Some("compactionSummary") => sent(summary(&message, COMPACTION_FRAME, place, at)),
        Some("branchSummary") => sent(summary(&message, BRANCH_FRAME, place, at)),
        Some("custom" | "hookMessage") => {
            let parts = message.get("content").map(|raw| message::parts(raw, place, findings));
            sent(host(parts.unwrap_or_default(), place, at))
        }
        _ => Body::Said(message::read(raw, &message, place, at, findings)),
    }
}

fn sent(message: Message) -> Body {
    Body::Said(Said { message, is_sent: true })
}

fn host(parts: Vec<Part>, place: Place, at: Option<Timestamp>) -> Message {
    Message {
        author: Author::Host,
        place,
        at,
        ..Message::new(Role::User, parts)
    }
}

fn summary(object: &Object<'_>, frame: (&str, &str), place: Place, at: Option<Timestamp>) -> Message {
    let text = object.text("summary").unwrap_or_default();
    Message {
        author: Author::Summary,
        usage: object.object("usage").and_then(|usage| message::usage(&usage)),
        ..host(
            vec![Part::Text(format!("{}{text}{}", frame.0, frame.1).into())],
            place,
            at,
        )
    }
}

fn kept(object: &Object<'_>) -> Kept {
    let by_number = || object.count("firstKeptEntryIndex").map(Kept::FromNumber);
    let by_id = object.text("firstKeptEntryId").map(Kept::FromId);
    by_id.or_else(by_number).unwrap_or(Kept::Unstated)
}
