//! A recorded session as the metric sees it: who spoke, and the text of it.

use std::sync::Arc;

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;

use crate::retention::notes;

/// Who a message is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Instructions; never part of what is compacted.
    System,
    /// The user's side.
    User,
    /// The agent.
    Assistant,
    /// A tool's answer.
    Tool,
}

/// A message as text.
#[derive(Clone, Debug)]
pub struct Line {
    /// Who said it.
    pub speaker: Speaker,
    /// Its words, its calls, its results.
    pub text: Arc<str>,
}

/// A session up to its first recorded compaction.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// Where it is from: the name under which reports group it.
    pub source: Arc<str>,
    /// Its own id.
    pub id: String,
    /// Its messages.
    pub messages: Vec<Message>,
    /// The same as text, one for one.
    pub lines: Vec<Line>,
    /// What each costs.
    pub tokens: Vec<usize>,
}

impl Trajectory {
    /// A session of these messages, counted.
    pub fn new(source: Arc<str>, id: String, messages: Vec<Message>) -> Self {
        let lines: Vec<Line> = messages.iter().map(line).collect();
        let tokens = lines.iter().map(|line| notes::count(&line.text)).collect();
        Self {
            source,
            id,
            messages,
            lines,
            tokens,
        }
    }

    /// What belongs together when intervals are drawn: the trials of one task are no independent observations.
    pub fn cluster(&self) -> String {
        let id = match &*self.source {
            "tau-bench" => self.id.rsplit_once('-').map_or(&*self.id, |(task, _)| task),
            "sweagent-acr" => self.id.rsplit_once('/').map_or(&*self.id, |(_, instance)| instance),
            _ => &self.id,
        };
        format!("{}/{id}", self.source)
    }
}

/// A message as the metric sees it.
pub fn line(message: &Message) -> Line {
    let speaker = match message.role {
        Role::System | Role::Developer => Speaker::System,
        Role::Assistant => Speaker::Assistant,
        Role::Tool => Speaker::Tool,
        Role::User if message.has_results() => Speaker::Tool,
        Role::User => Speaker::User,
    };
    Line {
        speaker,
        text: render(message).into(),
    }
}

/// A message as the text by which it is scored: its words and results, then its calls one a line. Reasoning and
/// media are left out.
pub fn render(message: &Message) -> String {
    let mut pieces: Vec<&str> = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => pieces.push(text),
            Part::Result(result) => pieces.extend(result.content.iter().filter_map(|content| match content {
                Content::Text(text) => Some(&**text),
                Content::Media(_) | Content::Opaque(_) => None,
            })),
            Part::Call(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    let mut text = pieces.join("\n");
    for call in message.calls() {
        push_call(&mut text, &call.name, call.input.as_str());
    }
    text
}

/// Adds a call to the text of its message.
pub(super) fn push_call(text: &mut String, name: &str, input: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("[call {name}] {input}"));
}
