//! A session as a sequence of requests.

use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::facts;
use mainstay_engine::economy::Segment;
use mainstay_engine::economy::SegmentKind;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Transcript;

use crate::replay::recording::Recording;
use crate::replay::requests;
use crate::replay::requests::PrefaceChange;
use crate::replay::requests::Request;
use crate::replay::sizes;
use crate::replay::sizes::Counted;
use crate::replay::sizes::Preface;

/// Ids of messages begin here; those of prefaces stand below, one for each epoch.
const FIRST_MESSAGE: u64 = 1 << 40;

/// A session as a sequence of requests, its sizes counted the way one family of models counts.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Its name in reports.
    pub name: String,
    /// The format it was recorded in.
    pub source: Arc<str>,
    /// The model that was used.
    pub model: Option<Arc<str>>,
    /// How sizes are counted.
    pub family: Family,
    /// Everything that was said, recorded compactions as events.
    pub transcript: Arc<Transcript>,
    /// The tokens that each message takes in a prompt.
    pub sizes: Vec<u64>,
    /// Reasoning among them: what is left out where a provider drops the reasoning of finished turns.
    pub reasoning: Vec<u64>,
    /// Tokens in a prompt for each token that we count: what the provider's reports say about our counting.
    pub scale: f64,
    /// What stands before the messages.
    pub preface: Preface,
    /// So many messages at the beginning are instructions that other conversations share with the preface.
    pub shared_messages: usize,
    /// The requests.
    pub requests: Vec<Request>,
    /// The requests that found the preface changed, by index, and why.
    pub changes: Vec<(usize, PrefaceChange)>,
    /// When the session began.
    pub started: Option<Timestamp>,
}

impl Timeline {
    /// A recorded session, its sizes counted the way a family of models counts.
    ///
    /// Where the provider reported what it counted, answers and the preface are as reported, and counts of the rest are
    /// corrected by the session's own reports. Another family's sizes are its counts; what was only reported is converted
    /// by what the two families count for the session's text.
    pub fn new(recording: &Recording, family: Family) -> Self {
        let (mut requests, changes) = requests::find(recording);
        let messages = recording.transcript.messages();
        let spoken = recording.model.as_deref().map_or(family, |model| facts(model).family);
        let counted = Counted::of(messages, spoken);
        let mut made = sizes::recorded(recording, &mut requests, spoken, &counted);
        if spoken != family {
            made = made.converted(&mut requests, &counted, &Counted::of(messages, family));
        }
        let first = messages.iter().find_map(|message| message.at);
        Self {
            name: recording.name.clone(),
            source: Arc::clone(&recording.source),
            model: recording.model.clone(),
            family,
            transcript: Arc::clone(&recording.transcript),
            sizes: made.sizes,
            reasoning: made.reasoning,
            scale: made.scale,
            preface: made.preface,
            shared_messages: made.shared_messages,
            requests,
            changes,
            started: recording.started.or(first),
        }
    }

    /// What stands before the messages at an epoch, as segments of a prompt.
    pub fn preface_segments(&self, epoch: u32) -> impl Iterator<Item = Segment> {
        let part = |id: u64, tokens: u64, kind: SegmentKind| Segment {
            id,
            tokens,
            blocks: 1,
            kind,
        };
        let shared = part(0, self.preface.shared, SegmentKind::SharedPreface);
        // Also where it is empty: it tells the epochs apart.
        let own = part(1 + u64::from(epoch), self.preface.own, SegmentKind::Preface);
        [shared, own]
            .into_iter()
            .filter(|segment| segment.tokens > 0 || segment.kind == SegmentKind::Preface)
    }

    /// A message as a segment of a prompt.
    pub fn segment(&self, message: usize) -> Segment {
        let said = &self.transcript.messages()[message];
        Segment {
            id: FIRST_MESSAGE + message as u64,
            tokens: self.sizes[message],
            blocks: said.parts.len() as u64,
            kind: match said.role {
                _ if message < self.shared_messages => SegmentKind::SharedPreface,
                Role::Assistant => SegmentKind::Answer,
                Role::System | Role::Developer | Role::User | Role::Tool => SegmentKind::Plain,
            },
        }
    }

    /// All tokens that a prompt with everything would have.
    pub fn tokens(&self) -> u64 {
        self.preface.shared + self.preface.own + self.sizes.iter().sum::<u64>()
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
