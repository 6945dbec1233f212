//! One pass over a generated body, and what must be true of the messages that it kept, for tests of compaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Block;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Seat;
use mainstay_engine::decide::step_start;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transform::Change;
use mainstay_session::Redaction;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

use crate::conversation::Form;

/// Reads a body in its form.
pub fn read(form: Form, body: &str) -> Document {
    let source = Source::memory("generated", body.as_bytes().to_vec());
    let format = format::by_name(form.name()).expect("every form is a format");
    format::read(&source, Some(format), &Request::default()).expect("a generated body can be read")
}

/// The budget of a model with this window.
pub fn budget(window: u64) -> Budget {
    let limits = ModelLimits {
        name: "m".to_owned(),
        window,
        output: window / 10,
    };
    Budget::new(&[limits], &Policy::default().budget).expect("the window has room")
}

/// A session in a window of 8,000 tokens that hides nothing, so that generated text comes out as it went in.
pub fn session(form: Form, policy: &Policy) -> Session {
    session_in(form, policy, budget(8_000))
}

/// The same with another budget.
pub fn session_in(form: Form, policy: &Policy, budget: Budget) -> Session {
    Session::new(SessionSettings {
        redaction: Redaction::Off,
        ..SessionSettings::with_budget(form.wire(), Family::O200k, policy.clone(), budget)
    })
}

/// Learns what is new and makes a pass.
pub fn pass(session: &mut Session, document: &Document, is_forced: bool) -> Outcome {
    session.observe(Arc::clone(&document.transcript));
    session.settings_mut().is_forced = is_forced;
    session.pass()
}

/// The session over a document, forced to a target.
pub fn forced_to(document: &Document, form: Form, policy: &Policy, window: u64) -> Session {
    let mut session = session_in(form, policy, budget(window));
    session.observe(Arc::clone(&document.transcript));
    session.settings_mut().is_forced = true;
    session
}

/// What is wrong with the messages that a full pass kept. Each is the same byte for byte, but for results and arguments of the
/// newest step, which are shortened in the middle where they would fill the room.
pub fn kept_faults(
    before: &Document,
    after: &Document,
    block: &Block,
    changes: &BTreeMap<Spot, Change>,
) -> Vec<String> {
    let messages = before.transcript.messages();
    let newest_step = step_start(messages, messages.len().saturating_sub(1));
    let mut faults = Vec::new();
    for (position, index) in block.span.kept.iter().enumerate() {
        let now = position + usize::from(block.seat == Seat::Own && position >= block.span.block_at);
        if block.seat == Seat::Into(*index) || after.verbatim(now) == before.verbatim(*index) {
            continue;
        }
        let (was, is) = (&messages[*index].parts, &after.transcript.messages()[now].parts);
        if *index < newest_step || was.len() != is.len() {
            faults.push(format!("message {index} was kept and is not the same"));
            continue;
        }
        for ((part, was), is) in (0..).zip(was).zip(is) {
            let spot = Spot {
                message: *index as u32,
                part,
            };
            let is_planned =
                changes.contains_key(&spot) && block.span.shortened.iter().any(|shortened| shortened.spot == spot);
            if was != is && !(is_planned && is_shortened(was, is)) {
                faults.push(format!(
                    "part {part} of message {index} is not shortened but other: {is:?}"
                ));
            }
        }
    }
    faults
}

/// Whether a part is another with something left out: the same call, less of its words in the same order, and a way to the rest.
fn is_shortened(was: &Part, is: &Part) -> bool {
    match (was, is) {
        (Part::Result(was), Part::Result(is)) => {
            let (whole, left) = (text_of(was), text_of(is));
            let mut rest = whole.as_str();
            let mut is_said = |line: &str| match rest.find(line.trim()) {
                Some(at) => {
                    rest = &rest[at + line.trim().len()..];
                    true
                }
                None => false,
            };
            let marks = left.lines().filter(|line| line.contains(RECALLED)).count();
            was.id == is.id
                && was.outcome == is.outcome
                && left.len() < whole.len()
                && marks > 0
                && left.lines().all(|line| is_said(line) || line.contains(RECALLED))
        }
        (Part::Call(was), Part::Call(is)) => {
            was.id == is.id && was.name == is.name && is.input.as_str().len() < was.input.as_str().len()
        }
        _ => false,
    }
}

/// How a shortened text says where the rest of it is.
const RECALLED: &str = "mainstay recall m";

fn text_of(result: &ToolResult) -> String {
    let texts = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Media(_) | Content::Opaque(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
