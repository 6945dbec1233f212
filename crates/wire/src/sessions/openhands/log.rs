//! The events of one conversation, and the two ways to look at them: everything that was said, and what is
//! left after the condensations.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::MediaKind;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::format_definition::Format;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;
use crate::reading::About;
use crate::reading::History;
use crate::reading::WireForm;

/// The events read so far, and what later events need to know of earlier ones.
#[derive(Default)]
pub(super) struct Log {
    pub about: About,
    pub findings: Vec<Finding>,
    events: Vec<Event>,
    seen: HashSet<Box<str>>,
    /// Usage that was reported and belongs to the next message of the model.
    pub usage: Option<Box<Usage>>,
    /// The totals of the last report.
    pub totals: Usage,
    pub model: Option<Arc<str>>,
    /// Why a condensation was asked for, if one was.
    pub requested: Option<Trigger>,
    /// Calls that stand for actions without one, by the action's id.
    pub calls: HashMap<Box<str>, CallId>,
}

/// One event of the log.
pub(super) struct Event {
    pub id: Box<str>,
    pub place: Place,
    pub at: Option<Timestamp>,
    pub deed: Deed,
}

/// What an event does to the conversation.
pub(super) enum Deed {
    /// Something is said. Messages of one response of the model are one message.
    Say {
        message: Message,
        response: Option<Box<str>>,
    },
    /// Nothing is said, but the event has a place in the history that condensations count.
    Nothing,
    /// Earlier events are forgotten.
    Condense(Condensation),
}

/// A condensation of the history.
pub(super) struct Condensation {
    pub forgotten: Vec<Box<str>>,
    pub range: Option<(u64, u64)>,
    pub summary: Option<Box<str>>,
    pub offset: Option<u64>,
    pub trigger: Trigger,
}

impl Log {
    /// Whether there is no message in it.
    pub fn is_empty(&self) -> bool {
        !self.events.iter().any(|event| matches!(event.deed, Deed::Say { .. }))
    }

    pub fn note(&mut self, rule: Rule, place: Place, detail: impl Into<String>) {
        self.findings.push(Finding::new(rule, place, detail));
    }

    /// Whether an id was not there before; events without one are all taken.
    pub fn is_new(&mut self, id: &str) -> bool {
        id.is_empty() || self.seen.insert(id.into())
    }

    /// Adds an event, and what its time says about the session.
    pub fn add(&mut self, id: Box<str>, place: Place, at: Option<Timestamp>, deed: Option<Deed>) {
        self.about.started = self.about.started.or(at);
        self.about.ended = at.or(self.about.ended);
        let Some(deed) = deed else { return };
        self.events.push(Event { id, place, at, deed });
    }

    /// Makes the document of the part of the history that is wanted.
    pub fn finish(mut self, format: &'static Format, history: History) -> Document {
        let mut reading = Reading::new(WireForm::Chat);
        reading.about = std::mem::take(&mut self.about);
        reading.about.conversations = reading.about.conversations.max(1);
        reading.about.model = self.model.take().or(reading.about.model);
        reading.findings = std::mem::take(&mut self.findings);
        let full = self.full();
        for message in &full.messages {
            reading.recorded.count(message);
        }
        let view = match history {
            History::Full => full,
            History::Live => self.live(),
        };
        for message in view.messages {
            reading.push(message);
        }
        for event in view.compactions {
            reading.event(event);
        }
        reading.finish(format)
    }

    /// Everything that was said, with the summaries where they were written.
    fn full(&self) -> View {
        let mut view = View::default();
        for event in &self.events {
            match &event.deed {
                Deed::Say { message, response } => view.say(event, message, response.as_deref()),
                Deed::Nothing => {}
                Deed::Condense(condensation) => view.condense(event, condensation),
            }
        }
        view
    }

    /// What is left after all condensations: forgotten events are gone, and the newest summary stands at
    /// its offset among the others.
    fn live(&self) -> View {
        let forgotten = Forgotten::of(&self.events);
        let newest = self.events.iter().rev().find_map(|event| match &event.deed {
            Deed::Condense(condensation) if condensation.summary.is_some() => Some((event, condensation)),
            Deed::Condense(_) | Deed::Say { .. } | Deed::Nothing => None,
        });
        // Newer versions name the summary, so that it can be forgotten too.
        let mut newest = newest.filter(|(event, _)| !forgotten.ids.contains(format!("{}-summary", event.id).as_str()));
        let mut view = View::default();
        let mut position = 0;
        for event in &self.events {
            if matches!(event.deed, Deed::Condense(_)) || forgotten.has(event) {
                continue;
            }
            if newest.is_some_and(|(_, condensation)| position >= condensation.offset.unwrap_or(0))
                && let Some((event, condensation)) = newest.take()
            {
                view.condense(event, condensation);
            }
            position += 1;
            if let Deed::Say { message, response } = &event.deed {
                view.say(event, message, response.as_deref());
            }
        }
        if let Some((event, condensation)) = newest {
            view.condense(event, condensation);
        }
        view
    }
}

/// Messages in the making.
#[derive(Default)]
struct View {
    messages: Vec<Message>,
    compactions: Vec<CompactionEvent>,
    /// The response whose message may still grow, and where that message is.
    open: Option<(Box<str>, usize)>,
}

impl View {
    fn say(&mut self, event: &Event, message: &Message, response: Option<&str>) {
        if let (Some(response), Some((open, at))) = (response, &self.open)
            && message.role == Role::Assistant
            && open.as_ref() == response
        {
            grow(&mut self.messages[*at], message);
            return;
        }
        // The results of parallel calls may stand between the calls.
        if message.role != Role::Tool {
            self.open = response.map(|response| (response.into(), self.messages.len()));
        }
        let mut message = message.clone();
        message.place = event.place;
        message.at = event.at;
        self.messages.push(message);
    }

    fn condense(&mut self, event: &Event, condensation: &Condensation) {
        let before = self.messages.len();
        let summary = condensation.summary.clone().filter(|text| !text.is_empty());
        self.compactions.push(CompactionEvent {
            before,
            kind: match summary {
                Some(_) => CompactionKind::Summary,
                None => CompactionKind::Truncation,
            },
            trigger: condensation.trigger,
            tokens_before: None,
            tokens_after: None,
            summary: summary.is_some().then_some(before),
            at: event.at,
        });
        if let Some(summary) = summary {
            let mut message = Message::new(Role::User, vec![Part::Text(summary)]);
            message.author = Author::Summary;
            self.say(event, &message, None);
        }
    }
}

/// Adds another call of the same response; the words before the calls are repeated with each.
fn grow(message: &mut Message, more: &Message) {
    let said = message.parts.len().min(4);
    for part in &more.parts {
        if matches!(part, Part::Call(_)) || !message.parts[..said].contains(part) {
            message.parts.push(part.clone());
        }
    }
    if message.usage.is_none() {
        message.usage = more.usage.clone();
    }
}

/// The events that any condensation forgot.
struct Forgotten<'a> {
    ids: HashSet<&'a str>,
    /// Ranges of numbers, sorted and apart.
    ranges: Vec<(u64, u64)>,
}

impl<'a> Forgotten<'a> {
    fn of(events: &'a [Event]) -> Self {
        let mut ids = HashSet::new();
        let mut given = Vec::new();
        for event in events {
            if let Deed::Condense(condensation) = &event.deed {
                ids.extend(condensation.forgotten.iter().map(AsRef::as_ref));
                given.extend(condensation.range);
            }
        }
        given.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (start, end) in given {
            match ranges.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                Some(_) | None => ranges.push((start, end)),
            }
        }
        Self { ids, ranges }
    }

    fn has(&self, event: &Event) -> bool {
        if self.ids.contains(event.id.as_ref()) {
            return true;
        }
        let Ok(number) = event.id.parse::<u64>() else {
            return false;
        };
        let at = self.ranges.partition_point(|(start, _)| *start <= number);
        at > 0 && self.ranges[at - 1].1 >= number
    }
}

/// An id as text, whether it is a string or a number.
pub(super) fn spelled(raw: Raw<'_>) -> Box<str> {
    json::text(raw).unwrap_or_else(|| json::number(raw).map_or_else(Box::default, |_| raw.get().into()))
}

/// Content as both generations have it: text, or blocks of text and images.
pub(super) fn read_contents(raw: Raw<'_>) -> Vec<Content> {
    let Some(blocks) = json::array(raw) else {
        return openai_chat::read_result_content(raw);
    };
    let mut contents = Vec::new();
    for raw in blocks {
        let object = Object::of(raw).unwrap_or_default();
        let urls = object.array("image_urls").filter(|_| object.is("type", "image"));
        match (object.text("text"), urls) {
            (Some(text), _) => contents.push(Content::Text(text)),
            (None, Some(urls)) => {
                let urls = urls.iter().filter_map(|raw| json::text(raw));
                contents.extend(urls.map(|url| Content::Media(openai_chat::media(MediaKind::Image, None, &url))));
            }
            (None, None) => contents.push(openai_chat::opaque_content(
                object.tag("type").unwrap_or("content"),
                raw,
            )),
        }
    }
    contents
}
