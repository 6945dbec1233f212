//! Prompts that the person typed while the agent worked, out of the log's queue operations.
//!
//! A prompt enters the queue and leaves it in one of three ways, first in, first out, and no record names another. `dequeue`: it
//! became a prompt, which stands in the log. `popAll`: the person took it back. `remove`: it was handed to the model in the
//! middle of a turn; newer versions keep its words as an attachment, others keep them nowhere else. What waits when the log
//! ends goes to the model next.

use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::VecDeque;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::author_of_parts;
use mainstay_engine::transcript::split_by_author;

use crate::anthropic;
use crate::json;
use crate::json::Object;
use crate::sessions::claude_code::record::Kind;
use crate::sessions::claude_code::record::QueuedPrompt;
use crate::sessions::claude_code::record::Record;
use crate::time;

/// The reason by which newer versions mark a prompt that was handed to the model.
const ABSORBED: &str = "absorbed_mid_turn";

/// How far a prompt is looked for in the queue by its words.
const NEAR: usize = 64;

/// The prompts that wait, by session.
#[derive(Debug, Default)]
pub(super) struct PromptQueue {
    waiting: HashMap<Option<Box<str>>, VecDeque<QueuedPrompt>>,
}

impl PromptQueue {
    /// Takes an operation in. Gives the prompt that was handed to the model by it.
    pub fn operate(&mut self, object: &Object<'_>, since: usize, place: Place) -> Option<QueuedPrompt> {
        let session = object.text("sessionId").or_else(|| object.text("session_id"));
        let content = object.get("content").filter(|raw| json::kind(raw) != json::Kind::Null);
        let queue = self.waiting.entry(session).or_default();
        let named = || {
            let content = content?.get();
            queue.iter().take(NEAR).position(|prompt| &*prompt.content == content)
        };
        match object.tag("operation") {
            Some("enqueue") => {
                queue.push_back(QueuedPrompt {
                    content: content.map_or("\"\"", |raw| raw.get()).into(),
                    since,
                    typed_at: object.text("timestamp"),
                    is_waiting: false,
                    place,
                    at: object.get("timestamp").and_then(time::read),
                });
                None
            }
            Some("remove") => {
                let first = named().unwrap_or(0);
                let prompt = queue.remove(first);
                let is_absorbed = object.tag("reason").is_none_or(|reason| reason == ABSORBED);
                let at = object.get("timestamp").and_then(time::read);
                prompt
                    .filter(|_| is_absorbed)
                    .map(|prompt| QueuedPrompt { at, ..prompt })
            }
            Some("popAll") if content.is_none() => {
                queue.clear();
                None
            }
            Some("dequeue" | "popAll") => {
                let first = named().unwrap_or(0);
                queue.remove(first);
                None
            }
            Some(_) | None => None,
        }
    }

    /// The prompts that still wait.
    fn into_waiting(self) -> Vec<(Option<Box<str>>, QueuedPrompt)> {
        let all = self.waiting.into_iter();
        let mut waiting: Vec<_> = all
            .flat_map(|(session, queue)| queue.into_iter().map(move |prompt| (session.clone(), prompt)))
            .collect();
        waiting.sort_by_key(|(_, prompt)| prompt.since);
        waiting
    }
}

/// A record that carries a prompt.
pub(super) fn record(prompt: QueuedPrompt, session: Option<std::sync::Arc<str>>, place: Place) -> Record {
    Record {
        place,
        parent: None,
        session,
        at: prompt.at,
        is_sidechain: false,
        is_meta: false,
        kind: Kind::Queued(Box::new(prompt)),
    }
}

/// Settles which prompts stand nowhere else: those stay, the others are no part of the conversation.
pub(super) fn settle(queue: PromptQueue, records: &mut Vec<Record>) {
    for (session, mut prompt) in queue.into_waiting() {
        prompt.is_waiting = true;
        let place = prompt.place;
        let session = session.map(std::sync::Arc::from);
        records.push(record(prompt, session, place));
    }
    let is_queued = |record: &Record| matches!(record.kind, Kind::Queued(_));
    if !records.iter().any(is_queued) {
        return;
    }
    let standing = Standing::of(records);
    let mut seen = HashSet::new();
    for record in records {
        let Kind::Queued(prompt) = &record.kind else { continue };
        let is_new = prompt.typed_at.is_none() || seen.insert((prompt.typed_at.clone(), prompt.content.clone()));
        if !is_new || !standing.is_lost(prompt) {
            record.kind = Kind::Link;
        }
    }
}

/// What people said in the log, line by line, and where each line stands last.
struct Standing {
    lines: HashMap<u64, usize>,
    newest_prompt: usize,
}

impl Standing {
    fn of(records: &[Record]) -> Self {
        let mut standing = Self {
            lines: HashMap::new(),
            newest_prompt: 0,
        };
        for (index, record) in records.iter().enumerate() {
            let parts = match &record.kind {
                Kind::User(spoken) if !spoken.is_summary => parts_of(&spoken.content),
                Kind::Attachment(raw) => queued_parts(raw),
                _ => continue,
            };
            for text in texts(&parts) {
                standing.note(text, index);
                // A command stands with its name and its arguments apart.
                if text.contains("<command-name>") {
                    let segments = split_by_author(text).into_iter();
                    let words = segments.filter(|segment| segment.author == Author::User);
                    let words: Vec<_> = words.map(|segment| segment.text.trim()).collect();
                    standing.note(&words.join(" "), index);
                }
            }
            if record.is_prompt() && author_of_parts(&parts) == Some(Author::User) {
                standing.newest_prompt = index;
            }
        }
        standing
    }

    fn note(&mut self, text: &str, index: usize) {
        for line in lines(text) {
            self.lines.insert(hash(line), index);
        }
    }

    /// Whether a prompt is the person's, was meant for the agent, and stands nowhere behind the place where it was typed.
    fn is_lost(&self, prompt: &QueuedPrompt) -> bool {
        let parts = parts_of(&prompt.content);
        if author_of_parts(&parts) != Some(Author::User) || texts(&parts).any(is_command) {
            return false;
        }
        if prompt.is_waiting && self.newest_prompt >= prompt.since.max(1) {
            return false;
        }
        let mut said = texts(&parts).flat_map(lines);
        !said.all(|line| self.lines.get(&hash(line)).is_some_and(|last| *last >= prompt.since))
    }
}

/// The parts of a message's content.
pub(super) fn parts_of(content: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Ok(raw) = json::value(content) {
        anthropic::read_content(raw, Place::Whole, &mut Vec::new(), &mut parts);
    }
    parts
}

/// The prompt of an attachment that holds one.
fn queued_parts(attachment: &str) -> Vec<Part> {
    let object = Object::parse(attachment).unwrap_or_default();
    let prompt = object.get("prompt").filter(|_| object.is("type", "queued_command"));
    prompt.map(|raw| parts_of(raw.get())).unwrap_or_default()
}

fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(&**text),
        _ => None,
    })
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

/// Whether a text is a command to the program: `/name` and perhaps arguments, but no path.
fn is_command(text: &str) -> bool {
    let name = text
        .trim()
        .strip_prefix('/')
        .and_then(|text| text.split_whitespace().next());
    name.is_some_and(|name| !name.contains('/'))
}
