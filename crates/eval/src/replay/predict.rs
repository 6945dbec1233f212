//! What a provider should have reported for the requests of a session, told by its first report and by what was sent.
//!
//! Nothing is looked up that is not known when a request is sent: sizes of messages are counted and corrected by the ratio
//! that earlier reports showed, and stay as they were first estimated, so that errors add up as they would in a replay.
//! After a recorded compaction nobody can tell what the prompt held; there the next report is the new beginning.

use mainstay_engine::account::Family;
use mainstay_engine::account::facts;
use mainstay_engine::economy::CacheRules;
use mainstay_engine::economy::PromptCache;
use mainstay_engine::economy::Segment;
use mainstay_engine::economy::SegmentKind;
use mainstay_engine::economy::Served;
use mainstay_engine::economy::ThinkingRule;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Usage;

use crate::replay::recording::Recording;
use crate::replay::requests;
use crate::replay::requests::PrefaceChange;
use crate::replay::requests::Request;
use crate::replay::sizes::Counted;
use crate::replay::sizes::Ratios;
use crate::replay::sizes::scaled;

/// One request: what was to be expected, and what was reported.
#[derive(Clone, Debug)]
pub(super) struct Prediction {
    /// Its index.
    pub request: usize,
    /// How long after the one before, in milliseconds.
    pub gap: i64,
    pub served: Served,
    pub reported: Usage,
    pub change: Option<PrefaceChange>,
    /// Whether reasoning was left out of the prompt that had been in the one before.
    pub is_thinned: bool,
}

/// Predicts every request with a report but those that a stretch begins with.
pub(super) fn predict(recording: &Recording, rules: &CacheRules) -> Vec<Prediction> {
    let (requests, changes) = requests::find(recording);
    let family = recording
        .model
        .as_deref()
        .map_or(Family::Unknown, |model| facts(model).family);
    let counted = Counted::of(recording.transcript.messages(), family);
    let mut events = recording
        .transcript
        .events()
        .iter()
        .map(|event| event.before)
        .peekable();
    let mut changes = changes.iter().peekable();
    let mut walk = Walk::new(recording.transcript.messages(), rules, &counted);
    let mut predictions = Vec::new();
    let mut last = None;
    for (index, request) in requests.iter().enumerate() {
        while events.next_if(|before| *before <= request.before).is_some() {
            walk.forget();
        }
        let change = changes
            .next_if(|(changed, _)| *changed == index)
            .map(|(_, change)| *change);
        let gap = last.map_or(0, |last: i64| request.at - last);
        last = Some(request.at);
        if !walk.is_begun() {
            walk.begin(request);
            continue;
        }
        let served = walk.step(request);
        if let Some(reported) = request.reported {
            predictions.push(Prediction {
                request: index,
                gap,
                served,
                reported,
                change,
                is_thinned: walk.dropped > 0,
            });
        }
        walk.learn(request, change);
    }
    predictions
}

/// Ids of what stands before the messages have this bit; those of messages do not.
const BEFORE_MESSAGES: u64 = 1 << 63;

/// A conversation on its way through the cache.
struct Walk<'a> {
    messages: &'a [Message],
    rules: &'a CacheRules,
    counted: &'a Counted,
    cache: PromptCache,
    /// The prompt: what stands before the messages, then those of this stretch.
    path: Vec<Segment>,
    /// The message of each segment of the path; what stands before messages has none.
    sent: Vec<Option<usize>>,
    /// So many segments of the path were in the prompt that the cache saw last.
    kept: usize,
    /// In segments before this there is no reasoning that could be dropped.
    settled: usize,
    /// What the cache had of the first prompt, and is therefore taken to be everybody's.
    shared: Option<u64>,
    /// How often the history began anew.
    stretch: u64,
    /// Messages before this are in the path.
    known: usize,
    epoch: u32,
    /// The size of each message, and the reasoning in it.
    sizes: Vec<(u64, u64)>,
    ratios: Ratios,
    /// What the newest report said of its prompt, with the answer to it, and where that answer ends.
    newest: Option<(u64, usize)>,
    /// The reasoning that the newest prompt lacks of the one before.
    dropped: u64,
}

impl<'a> Walk<'a> {
    fn new(messages: &'a [Message], rules: &'a CacheRules, counted: &'a Counted) -> Self {
        Self {
            messages,
            rules,
            counted,
            cache: PromptCache::new(rules.clone()),
            path: Vec::new(),
            sent: Vec::new(),
            kept: 0,
            settled: 0,
            shared: None,
            stretch: 0,
            known: 0,
            epoch: 0,
            sizes: vec![(0, 0); messages.len()],
            ratios: Ratios::default(),
            newest: None,
            dropped: 0,
        }
    }

    fn is_begun(&self) -> bool {
        !self.path.is_empty()
    }

    /// A compaction: what the next prompt holds is not known.
    fn forget(&mut self) {
        self.path.clear();
        self.newest = None;
        self.stretch += 1;
    }

    /// Starts from a report: what it was about stands before the messages that are sent from now on.
    fn begin(&mut self, request: &Request) {
        let Some(usage) = request.reported else { return };
        let shared = (*self.shared.get_or_insert(usage.cache_read)).min(usage.input);
        // Where a provider says how much it wrote, the rest of the prompt is not in the cache yet.
        let cached = match usage.cache_write {
            0 => usage.input,
            written => usage.cache_read.saturating_add(written).clamp(shared, usage.input),
        };
        self.epoch = request.epoch;
        let (own, rest) = (self.preface_id(1), self.preface_id(2));
        self.path = vec![
            preface(BEFORE_MESSAGES, shared, SegmentKind::SharedPreface),
            preface(own, cached - shared, SegmentKind::Preface),
            preface(rest, usage.input - cached, SegmentKind::Plain),
        ];
        self.sent = vec![None; self.path.len()];
        self.settled = self.path.len();
        self.kept = 2;
        self.cache.serve(0, &self.path[..self.kept], request.at);
        self.known = request.before;
        let output = self.answer(request);
        self.newest = Some((usage.input + output, request.answer.end));
    }

    /// The id of a part of what stands before the messages, in this stretch and epoch.
    fn preface_id(&self, part: u64) -> u64 {
        BEFORE_MESSAGES | (self.stretch << 34) | (u64::from(self.epoch) << 2) | part
    }

    /// Predicts a request.
    fn step(&mut self, request: &Request) -> Served {
        let scale = self.ratios.median();
        self.dropped = 0;
        for index in self.known..request.before {
            let message = &self.messages[index];
            if message.role != Role::Assistant {
                self.sizes[index] = (scaled(self.counted.tokens[index], scale), 0);
            }
            if message.opens_turn() && self.rules.thinking == ThinkingRule::DroppedByNextTurn {
                self.thin();
            }
            self.push(index, 0);
        }
        self.known = self.known.max(request.before);
        if self.epoch != request.epoch {
            self.epoch = request.epoch;
            self.path[1].id = self.preface_id(1);
            self.kept = self.kept.min(1);
        }
        let served = self.cache.serve(self.kept, &self.path[self.kept..], request.at);
        self.kept = self.path.len();
        served
    }

    /// Leaves the reasoning of finished turns out of what is sent from now on.
    fn thin(&mut self) {
        let from = self.settled;
        let sent = self.sent.split_off(from);
        self.path.truncate(from);
        let mut first = None;
        for index in sent.into_iter().flatten() {
            let (size, reasoning) = &mut self.sizes[index];
            let dropped = std::mem::take(reasoning);
            *size -= dropped;
            self.dropped += dropped;
            if dropped > 0 {
                first = first.or(Some(self.path.len()));
            }
            self.push(index, u64::from(dropped > 0));
        }
        self.kept = self.kept.min(first.unwrap_or(self.kept));
        self.settled = self.path.len();
    }

    /// Adds a message to the prompt; one without its reasoning is another variant of it.
    fn push(&mut self, index: usize, variant: u64) {
        let message = &self.messages[index];
        let (tokens, _) = self.sizes[index];
        if tokens == 0 {
            return;
        }
        self.sent.push(Some(index));
        self.path.push(Segment {
            id: ((index as u64) << 1) | variant,
            tokens,
            blocks: message.parts.len() as u64,
            kind: match message.role {
                Role::Assistant => SegmentKind::Answer,
                Role::System | Role::Developer | Role::User | Role::Tool => SegmentKind::Plain,
            },
        });
    }

    /// An answer's size is as reported, once it is there.
    fn answer(&mut self, request: &Request) -> u64 {
        let scale = self.ratios.median();
        let range = request.answer.clone();
        let counted: u64 = self.counted.tokens[range.clone()].iter().sum();
        let thought: u64 = self.counted.reasoning[range.clone()].iter().sum();
        let output = match &request.reported {
            Some(usage) => self.counted.output(request, usage, scale),
            None => scaled(counted, scale),
        };
        let reasoning = match request.reported {
            Some(usage) if usage.reasoning > 0 => usage.reasoning.min(output),
            Some(_) | None => scaled(output, thought as f64 / counted.max(1) as f64),
        };
        // Which message of an answer holds which part of it changes nothing, but that reasoning comes first.
        self.sizes[range.start] = (reasoning, reasoning);
        self.sizes[range.end - 1].0 += output - reasoning;
        output
    }

    /// Learns from a report what our counting is worth, unless something else changed the prompt.
    fn learn(&mut self, request: &Request, change: Option<PrefaceChange>) {
        let reported = request.reported;
        if let (Some((before, end)), Some(usage)) = (self.newest, reported)
            && change.is_none()
        {
            let fresh = self.counted.tokens[end..request.before].iter().sum();
            let grown = (usage.input + self.dropped) as f64 - before as f64;
            self.ratios.observe(grown, fresh);
        }
        let output = self.answer(request);
        self.newest = reported.map(|usage| (usage.input + output, request.answer.end));
    }
}

fn preface(id: u64, tokens: u64, kind: SegmentKind) -> Segment {
    Segment {
        id,
        tokens,
        blocks: 1,
        kind,
    }
}
