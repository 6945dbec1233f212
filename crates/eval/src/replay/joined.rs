//! Sessions one after the other as one long conversation, for windows beyond what was recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::account::measure;
use mainstay_engine::transcript::Assembly;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Origin;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;

use crate::replay::requests::PrefaceChange;
use crate::replay::requests::Request;
use crate::replay::sizes::scaled;
use crate::replay::timeline::Timeline;

/// How long after the end of a session the next one begins where nobody recorded it: an hour, beyond which no provider's
/// usual cache reaches.
const PAUSE: i64 = 3_600_000;

impl Timeline {
    /// Sessions one after the other as one conversation under the preface of the first; none, of no sessions.
    ///
    /// Instructions that later sessions begin with are left out, and so are their reports, which were about shorter
    /// prompts. Ids of calls are made different, indices and times moved.
    pub fn joined(sessions: &[Timeline]) -> Option<Timeline> {
        let (first, later) = sessions.split_first()?;
        let mut joint = Joint::new(first);
        for (number, session) in (1..).zip(later) {
            joint.add(number, session);
        }
        Some(joint.finish(first, sessions.len()))
    }
}

/// What has to be known of a session to group it with others.
pub struct Extent {
    /// The format it was recorded in.
    pub source: Arc<str>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// Its tokens.
    pub tokens: u64,
}

/// Groups sessions of each source, in the order in which they began, into conversations of at least so many tokens. What is
/// left over goes to the last one of its source; sources with less than that in all are left out.
pub fn groups<T>(sessions: Vec<T>, least: u64, extent: impl Fn(&T) -> Extent) -> Vec<Vec<T>> {
    let mut sources: BTreeMap<Arc<str>, Vec<(Extent, T)>> = BTreeMap::new();
    for session in sessions {
        let extent = extent(&session);
        sources
            .entry(Arc::clone(&extent.source))
            .or_default()
            .push((extent, session));
    }
    let mut made = Vec::new();
    for mut sessions in sources.into_values() {
        sessions.sort_by_key(|(extent, _)| extent.started);
        let first = made.len();
        let mut group = Vec::new();
        let mut tokens = 0;
        for (extent, session) in sessions {
            tokens += extent.tokens;
            group.push(session);
            if tokens >= least {
                made.push(std::mem::take(&mut group));
                tokens = 0;
            }
        }
        if let Some(last) = made[first..].last_mut() {
            last.append(&mut group);
        }
    }
    made
}

/// The parts of a joined timeline, their indices those of the messages put together, before any repair.
struct Joint {
    messages: Vec<Message>,
    events: Vec<CompactionEvent>,
    sizes: Vec<u64>,
    reasoning: Vec<u64>,
    requests: Vec<Request>,
    changes: Vec<(usize, PrefaceChange)>,
    /// When the newest session began, on the clock of the first.
    began: i64,
    /// The same, as recorded.
    started: Option<i64>,
}

impl Joint {
    fn new(first: &Timeline) -> Self {
        Self {
            messages: first.transcript.messages().to_vec(),
            events: first.transcript.events().to_vec(),
            sizes: first.sizes.clone(),
            reasoning: first.reasoning.clone(),
            requests: first.requests.clone(),
            changes: first.changes.clone(),
            began: 0,
            started: first.started.map(|started| started.0),
        }
    }

    fn add(&mut self, number: usize, session: &Timeline) {
        let messages = session.transcript.messages();
        let instructions = messages
            .iter()
            .take_while(|message| message.role == Role::System)
            .count();
        let moved = |index: usize, start: usize| start + index.max(instructions) - instructions;
        let start = self.messages.len();
        self.begin(session);
        let epoch = self.requests.last().map_or(0, |request| request.epoch);
        let asked = self.requests.len();
        for request in &session.requests {
            self.requests.push(Request {
                before: moved(request.before, start),
                answer: moved(request.answer.start, start)..moved(request.answer.end, start),
                at: self.began.saturating_add(request.at),
                reported: None,
                epoch: epoch.saturating_add(request.epoch),
                output: request.output,
            });
        }
        let changes = session
            .changes
            .iter()
            .map(|(request, change)| (asked + request, *change));
        self.changes.extend(changes);
        self.events
            .extend(session.transcript.events().iter().map(|event| CompactionEvent {
                before: moved(event.before, start),
                summary: event.summary.map(|summary| moved(summary, start)),
                ..event.clone()
            }));
        let renamed = messages
            .iter()
            .skip(instructions)
            .map(|message| rename(message, number));
        self.messages.extend(renamed);
        self.sizes.extend_from_slice(&session.sizes[instructions..]);
        self.reasoning.extend_from_slice(&session.reasoning[instructions..]);
    }

    /// Sets the clock to the beginning of a session: as long after the end of the one before as recorded.
    fn begin(&mut self, session: &Timeline) {
        let end = self.requests.last().map_or(self.began, |request| request.at);
        let started = session.started.map(|started| started.0);
        let recorded = self.started.zip(started).map(|(earlier, later)| {
            let lasted = end - self.began;
            later.saturating_sub(earlier).saturating_sub(lasted)
        });
        let pause = recorded.filter(|pause| *pause > 0).unwrap_or(PAUSE);
        self.began = end.saturating_add(pause);
        self.started = started;
    }

    fn finish(mut self, first: &Timeline, count: usize) -> Timeline {
        let is_in_user_message = |message: &Message| message.role == Role::User && message.has_results();
        let results_in_user_messages = self.messages.iter().any(is_in_user_message);
        let assembly = Draft {
            messages: self.messages,
            events: self.events,
            results_in_user_messages,
            steps_span_messages: true,
        }
        .assemble();
        let Assembly {
            transcript, origins, ..
        } = assembly;
        // A session that ended in open calls has stubs for their results now, and what follows has moved.
        let mut places = vec![0; self.sizes.len()];
        let mut sizes = Vec::with_capacity(origins.len());
        let mut reasoning = Vec::with_capacity(origins.len());
        for (place, origin) in origins.iter().enumerate() {
            match origin {
                Origin::Read(index) | Origin::Repaired(index) => {
                    places[*index as usize] = place;
                    sizes.push(self.sizes[*index as usize]);
                    reasoning.push(self.reasoning[*index as usize]);
                }
                Origin::Inserted => {
                    let counted = measure(&transcript.messages()[place], first.family).total();
                    sizes.push(scaled(counted, first.scale));
                    reasoning.push(0);
                }
            }
        }
        for request in &mut self.requests {
            let last = places[request.answer.end - 1];
            request.before = places[request.before];
            request.answer = request.before..last + 1;
        }
        let others = count - 1;
        Timeline {
            name: match others {
                0 => first.name.clone(),
                _ => format!("{}+{others}", first.name),
            },
            transcript: Arc::new(transcript),
            sizes,
            reasoning,
            requests: self.requests,
            changes: self.changes,
            ..first.clone()
        }
    }
}

/// The same message, its call ids unlike those of other sessions.
fn rename(message: &Message, number: usize) -> Message {
    let mut message = message.clone();
    let renamed = |id: &CallId| CallId::new(format!("{number}-{}", id.as_str()));
    for part in &mut message.parts {
        match part {
            Part::Call(call) => call.id = renamed(&call.id),
            Part::Result(result) => result.id = renamed(&result.id),
            Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    message
}
