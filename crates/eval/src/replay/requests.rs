//! Where in a session a model was asked, and when.

use std::ops::Range;

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Usage;

use crate::replay::recording::Recording;

/// How long after the one before a request is sent where the log does not say: the median of 22,754 requests of 318
/// recorded Claude Code sessions.
pub(super) const USUAL_GAP: i64 = 5_000;
/// No window is a thousandth of this; larger figures are damage, and would not add up.
const MOST_TOKENS: u64 = 1 << 32;
/// The content of a result that brings further tools into the preface.
const TOOL_REFERENCE: &str = "tool_reference";

/// One request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its prompt holds the messages before this index.
    pub before: usize,
    /// The messages that came back.
    pub answer: Range<usize>,
    /// When it was sent, in milliseconds since the session began.
    pub at: i64,
    /// The tokens that came back, reasoning included.
    pub output: u64,
    /// What the provider reported about it.
    pub reported: Option<Usage>,
    /// How often the host had changed the preface by then: started anew, loaded tools.
    pub epoch: u32,
}

/// Why a request found another preface than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefaceChange {
    /// The host was started anew.
    Restart,
    /// Tools were loaded.
    Tools,
    /// Another model was asked, which has a cache of its own.
    Model,
}

/// The requests of a session, and which of them found the preface changed. Outputs are as reported; those without a
/// report have none yet.
pub(super) fn find(recording: &Recording) -> (Vec<Request>, Vec<(usize, PrefaceChange)>) {
    let messages = recording.transcript.messages();
    let mut requests = Vec::new();
    let mut changes = Vec::new();
    let mut clock = Clock::new(recording);
    let mut model = None;
    let mut restarts = recording.restarts.iter().peekable();
    let mut has_loaded = false;
    let mut answered = 0;
    for answer in answers(recording) {
        let before = answer.start;
        let reported = messages[answer.clone()].iter().find_map(report);
        if before == 0 && reported.is_none() {
            // A greeting that nobody asked for.
            continue;
        }
        let place = messages[before].place;
        let mut is_restarted = false;
        while restarts.next_if(|restart| **restart < place).is_some() {
            is_restarted = !requests.is_empty();
        }
        // The first tools that are loaded change what stands before the messages; later ones come where they are named.
        let loads = !has_loaded && messages[answered..before].iter().any(loads_tools);
        has_loaded |= loads;
        let speaks = messages[answer.clone()]
            .iter()
            .find_map(|message| message.model.as_ref());
        let change = if model.is_some() && speaks.is_some() && model != speaks {
            Some(PrefaceChange::Model)
        } else if is_restarted {
            Some(PrefaceChange::Restart)
        } else if loads {
            Some(PrefaceChange::Tools)
        } else {
            None
        };
        changes.extend(change.map(|change| (requests.len(), change)));
        requests.push(Request {
            before,
            at: clock.sent(&messages[answered..before], &messages[before]),
            output: reported.map_or(0, |usage| usage.output),
            reported,
            epoch: u32::try_from(changes.len()).unwrap_or(u32::MAX),
            answer: answer.clone(),
        });
        model = speaks.or(model);
        answered = answer.end;
    }
    (requests, changes)
}

/// What the provider reported for the request that a message answers. A report about no prompt is none, nor is one that
/// no model could have caused.
fn report(message: &Message) -> Option<Usage> {
    let usage = message.usage.as_deref().copied()?;
    let figures = [
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
        usage.reasoning,
    ];
    (usage.input > 0 && figures.iter().all(|tokens| *tokens <= MOST_TOKENS)).then_some(usage)
}

/// The stretches of messages that came back at once. What the model wrote without being interrupted is one answer, unless
/// it has several reports: then an answer ends at its report, and what follows the last one belongs to that.
fn answers(recording: &Recording) -> Vec<Range<usize>> {
    let messages = recording.transcript.messages();
    let mut events = recording
        .transcript
        .events()
        .iter()
        .map(|event| event.before)
        .peekable();
    let mut answers: Vec<Range<usize>> = Vec::new();
    // Whether what comes next can go on with the newest answer, and where that has its report.
    let mut is_open = false;
    let mut reported = None;
    for (index, message) in messages.iter().enumerate() {
        while events.next_if(|before| *before <= index).is_some() {
            is_open = false;
        }
        if message.role != Role::Assistant {
            is_open = false;
            continue;
        }
        let has_report = report(message).is_some();
        match (answers.last_mut().filter(|_| is_open), reported) {
            (Some(newest), Some(earlier)) if has_report => {
                newest.end = earlier + 1;
                answers.push(earlier + 1..index + 1);
            }
            (Some(newest), _) => newest.end = index + 1,
            (None, _) => {
                answers.push(index..index + 1);
                reported = None;
            }
        }
        is_open = true;
        reported = if has_report { Some(index) } else { reported };
    }
    answers
}

fn loads_tools(message: &Message) -> bool {
    let mut contents = message.results().flat_map(|result| &result.content);
    contents.any(|content| matches!(content, Content::Opaque(opaque) if &*opaque.kind == TOOL_REFERENCE))
}

/// Tells when requests were sent.
struct Clock {
    start: i64,
    has_times: bool,
    newest: Option<i64>,
}

impl Clock {
    fn new(recording: &Recording) -> Self {
        let first = recording.transcript.messages().iter().find_map(|message| message.at);
        let start = match (recording.started, first) {
            (Some(started), Some(first)) => started.min(first).0,
            (started, first) => started.or(first).map_or(0, |start| start.0),
        };
        Self {
            start,
            has_times: first.is_some(),
            newest: None,
        }
    }

    /// When the request was sent that these messages led to. No request is sent while the one before is: where a log says
    /// so it was rewritten, and the usual gap is assumed.
    fn sent(&mut self, since: &[Message], answer: &Message) -> i64 {
        let stated = since.iter().rev().find_map(|message| message.at).or(answer.at);
        let stated = stated.map(|at| at.0.saturating_sub(self.start).max(0));
        let at = match (stated.filter(|_| self.has_times), self.newest) {
            (Some(stated), None) => stated,
            (Some(stated), Some(newest)) if stated > newest => stated,
            (_, Some(newest)) => newest.saturating_add(USUAL_GAP),
            (None, None) => 0,
        };
        self.newest = Some(at);
        at
    }
}
