//! The messages of a fixture: OpenAI's chat form, calls and results paired.

use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::json;

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The id that the result repeats.
    pub(super) id: String,
    /// The tool.
    pub(super) name: String,
    /// What it is asked, as JSON.
    pub(super) arguments: String,
}

/// What a message is.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// The user's side speaks; whether a turn begins.
    User(String, bool),
    /// The model speaks and calls.
    Assistant(String, Vec<Call>),
    /// A tool answers the call of this id.
    Tool(String, String),
}

/// A message, and the message of the session it comes from.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// It.
    pub(super) entry: Entry,
    /// Where it comes from.
    pub(super) source: usize,
}

/// What readers put in the place of a result that was never recorded.
const NO_RESULT: &str = "[no result was recorded for this call]";

/// Brings messages of one step together and drops what holds nothing or answers nothing.
pub(super) fn tidy(placed: Vec<Placed>, count: &mut dyn FnMut()) -> Vec<Placed> {
    let is_stub = |placed: &Placed| matches!(&placed.entry, Entry::Tool(_, text) if text == NO_RESULT);
    let before = placed.len();
    let real: Vec<Placed> = placed.into_iter().filter(|placed| !is_stub(placed)).collect();
    (real.len()..before).for_each(|_| count());
    let mut kept = pair(joined(real), count);
    let before = kept.len();
    kept.retain(|placed| match &placed.entry {
        Entry::User(text, _) => !text.trim().is_empty(),
        Entry::Assistant(text, calls) => !text.trim().is_empty() || !calls.is_empty(),
        Entry::Tool(..) => true,
    });
    (kept.len()..before).for_each(|_| count());
    joined(kept)
}

/// Messages of the model that follow each other become one: chat wants the calls of a step in one message.
fn joined(placed: Vec<Placed>) -> Vec<Placed> {
    let mut out: Vec<Placed> = Vec::with_capacity(placed.len());
    for next in placed {
        match (out.last_mut().map(|last| &mut last.entry), next.entry) {
            (Some(Entry::Assistant(text, calls)), Entry::Assistant(more, further)) => {
                if !text.trim().is_empty() && !more.trim().is_empty() {
                    text.push_str("\n\n");
                }
                if !more.trim().is_empty() || text.is_empty() {
                    text.push_str(&more);
                }
                calls.extend(further);
            }
            (_, entry) => out.push(Placed {
                entry,
                source: next.source,
            }),
        }
    }
    out
}

/// Calls keep only what the messages right behind them answer, once; results keep only what answers such a call.
fn pair(placed: Vec<Placed>, count: &mut dyn FnMut()) -> Vec<Placed> {
    let mut out: Vec<Placed> = Vec::with_capacity(placed.len());
    let mut rest = placed.into_iter().peekable();
    while let Some(mut next) = rest.next() {
        let Entry::Assistant(_, calls) = &mut next.entry else {
            match next.entry {
                Entry::Tool(..) => count(),
                Entry::User(..) | Entry::Assistant(..) => out.push(next),
            }
            continue;
        };
        let mut asked: BTreeSet<String> = calls.iter().map(|call| call.id.clone()).collect();
        let (mut answers, mut answered) = (Vec::new(), BTreeSet::new());
        while let Some(answer) = rest.next_if(|next| matches!(next.entry, Entry::Tool(..))) {
            match &answer.entry {
                Entry::Tool(id, _) if asked.remove(id) => {
                    answered.insert(id.clone());
                    answers.push(answer);
                }
                Entry::Tool(..) | Entry::User(..) | Entry::Assistant(..) => count(),
            }
        }
        let before = calls.len();
        calls.retain(|call| answered.remove(&call.id));
        (calls.len()..before).for_each(|_| count());
        out.push(next);
        out.extend(answers);
    }
    out
}

/// A message in the form of a fixture.
pub(super) fn value(entry: &Entry) -> Value {
    match entry {
        Entry::User(text, _) => json!({"role": "user", "content": text}),
        Entry::Assistant(text, calls) if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Entry::Assistant(text, calls) => {
            let call = |call: &Call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        Entry::Tool(id, text) => json!({"role": "tool", "tool_call_id": id, "content": text}),
    }
}

/// Where a list of messages may be cut: before a turn, or, within the first turn, before the model speaks again.
pub(super) fn cut(placed: &[Placed], fits: impl Fn(usize) -> bool) -> usize {
    if fits(placed.len()) {
        return placed.len();
    }
    let is_turn = |at: &usize| matches!(placed[*at].entry, Entry::User(_, true));
    let is_step = |at: &usize| !matches!(placed[*at].entry, Entry::Tool(..));
    let turn = (1..placed.len()).rev().filter(is_turn).find(|at| fits(*at));
    let step = (1..placed.len()).rev().filter(is_step).find(|at| fits(*at));
    // A turn's boundary is worth it as long as it does not cost more than half of what would fit.
    match (turn, step) {
        (Some(turn), Some(step)) if turn * 2 >= step => turn,
        (_, Some(step)) => step,
        (turn, None) => turn.unwrap_or(0),
    }
}
