//! The system prompt and the tools, which pi records as changes to be replayed.

use std::collections::HashMap;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;

use crate::json;
use crate::json::Object;
use crate::sessions::pi::message;

/// One recorded change.
pub(super) struct Change {
    words: Vec<Part>,
    /// Named sections; one without text is removed.
    sections: Vec<(Box<str>, Option<Box<str>>)>,
    /// Tools by name, with their definition; one without is removed.
    tools: Vec<(Box<str>, Option<Box<str>>)>,
    place: Place,
    at: Option<Timestamp>,
}

impl Change {
    /// Reads a system message.
    pub fn read(object: &Object<'_>, place: Place, at: Option<Timestamp>, findings: &mut Vec<Finding>) -> Self {
        let words = object.get("content").map(|raw| message::parts(raw, place, findings));
        let mut words = words.unwrap_or_default();
        words.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        let sections = object.object("sections").unwrap_or_default();
        let named = |key: &str| {
            let tools = object.array(key).unwrap_or_default().into_iter();
            tools.filter_map(|raw| Some((Object::of(raw)?.text("name")?, raw)))
        };
        let added = named("toolsAdded").map(|(name, raw)| (name, Some(raw.get().into())));
        let removed = named("toolsRemoved").map(|(name, _)| (name, None));
        Self {
            words,
            sections: sections.members().map(|(name, raw)| (name, json::text(raw))).collect(),
            tools: removed.chain(added).collect(),
            place,
            at,
        }
    }

    /// The change as a message; none when it is about tools alone.
    pub fn message(&self) -> Option<Message> {
        let sections = self.sections.iter().filter_map(|(_, text)| text.clone());
        let parts: Vec<_> = self.words.iter().cloned().chain(sections.map(Part::Text)).collect();
        (!parts.is_empty()).then(|| Message {
            place: self.place,
            at: self.at,
            ..Message::new(Role::System, parts)
        })
    }
}

/// Texts by name, in the order in which the names first came.
#[derive(Default)]
struct Named {
    texts: Vec<Option<Box<str>>>,
    index: HashMap<Box<str>, usize>,
}

impl Named {
    fn set(&mut self, name: &str, text: Option<Box<str>>) {
        match self.index.get(name) {
            Some(index) => self.texts[*index] = text,
            None => {
                self.index.insert(name.into(), self.texts.len());
                self.texts.push(text);
            }
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().flatten().map(AsRef::as_ref)
    }
}

/// What all changes so far come to.
#[derive(Default)]
pub(super) struct Prompt {
    words: Vec<Part>,
    sections: Named,
    tools: Named,
    first: Option<(Place, Option<Timestamp>)>,
}

impl Prompt {
    /// Replays a change.
    pub fn apply(&mut self, change: &Change) {
        self.first = self.first.or(Some((change.place, change.at)));
        self.words.extend(change.words.iter().cloned());
        for (name, text) in &change.sections {
            self.sections.set(name, text.clone());
        }
        for (name, definition) in &change.tools {
            self.tools.set(name, definition.clone());
        }
    }

    /// The system message, if there is one.
    pub fn message(&self) -> Option<Message> {
        let sections = self.sections.texts().map(|text| Part::Text(text.into()));
        let parts: Vec<_> = self.words.iter().cloned().chain(sections).collect();
        let (place, at) = self.first?;
        (!parts.is_empty()).then(|| Message {
            place,
            at,
            ..Message::new(Role::System, parts)
        })
    }

    /// The tool definitions in the form of Chat Completions, if there are any.
    pub fn tools(&self) -> Option<Box<str>> {
        let wrap = |tool: &str| format!("{{\"type\":\"function\",\"function\":{tool}}}");
        let tools: Vec<_> = self.tools.texts().map(wrap).collect();
        (!tools.is_empty()).then(|| format!("[{}]", tools.join(",")).into())
    }
}
