//! What is sent after the provider has refused a request: shorter where it was too long, repaired where it was malformed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainstay_engine::account::Fit;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_session::CountedTokens;
use mainstay_session::PassTrigger;
use mainstay_wire::sameness::without_marks;

use crate::session::OutgoingRequest;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::RequestTicket;
use crate::session::fallback_slot::FallbackSlot;
use crate::session::pass_runner;
use crate::session::pass_timing::PassOrder;
use crate::session::prefix_replacement::PrefixReplacement;
use crate::session::prefix_replacement::compose;
use crate::session::refusal_sizes::LEAST_WINDOW;
use crate::session::refusal_sizes::sizes;
use crate::session::request_context::PrefaceTokens;
use crate::session::request_context::RequestContext;
use crate::session::request_context::client_of;
use crate::session::session_cache::locked;
use crate::session::session_manager::SessionRuntime;
use crate::session::worker::read;

/// How long a pass may take when the request fails without it.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a prompt that did not fit comes down to, as a part of what fits, in hundredths: there has to be a runway.
const AIM: u64 = 60;
/// A shorter prompt that did not fit says nothing about a window.
const LEAST_BELIEVED: u64 = 8_000;

pub fn after_overflow(
    runtime: &Arc<SessionRuntime>,
    ticket: &RequestTicket,
    words: &str,
    slot: &FallbackSlot<Option<OutgoingRequest>>,
) -> Option<OutgoingRequest> {
    let told = sizes(words);
    let known = runtime.known(&ticket.model);
    let believed = known.fit().apply(CountedTokens(ticket.counted)).0;
    // Who speaks of a window without saying how large it is says that it is smaller than what was sent. A server that only
    // finds a request too large may mean its bytes.
    let speaks = words.to_lowercase().contains("context");
    let unnamed = Some(believed).filter(|believed| speaks && *believed >= LEAST_BELIEVED);
    let window = told.window.filter(|window| *window < 2 * believed.max(LEAST_WINDOW));
    if let Some(window) = window.or(unnamed) {
        runtime.models.learn_window(&ticket.model, window);
    }
    // Where the answer that is asked for is what does not fit, a shorter prompt is no help.
    if let (Some(window), Some(prompt)) = (told.window, told.prompt)
        && prompt * 2 < window
    {
        return None;
    }
    let mut asked = again(runtime, ticket)?;
    if let Some(outgoing) = shorter_by_now(runtime, &asked, ticket) {
        return Some(outgoing);
    }
    // Where the provider finds more in the prompt than we do, its word counts.
    let real = told
        .prompt
        .unwrap_or_else(|| believed.max(asked.budget.window + asked.budget.window / 10));
    let fit = Fit {
        scale: (real as f64 / ticket.counted.max(1) as f64).max(known.fit().scale),
        fixed: 0.0,
    };
    asked.fit = Some(fit);
    let room = asked.budget.window - asked.budget.output;
    let order = PassOrder {
        policy: Policy {
            engine: match runtime.environment.settings.policy.engine {
                Engine::Prune => Engine::Prune,
                _ => Engine::Ledger,
            },
            target: Some(room / 100 * AIM),
            fills_target: false,
            tail: None,
            ..runtime.environment.settings.policy.clone()
        },
        reason: "the provider found the prompt too long".to_owned(),
        trigger: PassTrigger::Overflow,
        retention: None,
        is_must: true,
    };
    let mut note = asked.note();
    let (runtime, again, ticket) = (Arc::clone(runtime), asked.clone(), ticket.clone());
    let environment = Arc::clone(&runtime.environment);
    let (reason, is_counting) = (order.reason.clone(), ticket.is_counting);
    let finished = pass_runner::make_now(&environment, &asked, &order, PATIENCE, slot, move |end| {
        end.note(&mut note, &reason, PATIENCE);
        if note.deed != RequestAction::Compacted
            && let Some(outgoing) = shorter_by_now(&runtime, &again, &ticket)
        {
            return Some(outgoing);
        }
        (note.deed == RequestAction::Compacted).then(|| runtime.send(again, note, is_counting))
    });
    finished.flatten()
}

/// The request again where a pass that was under way has made it shorter meanwhile.
fn shorter_by_now(runtime: &SessionRuntime, asked: &RequestContext, ticket: &RequestTicket) -> Option<OutgoingRequest> {
    let counted = asked.preface.total() + locked(&asked.shared).counted();
    let room = asked.budget.window - asked.budget.output;
    if counted >= ticket.counted || asked.fit().apply(CountedTokens(counted)).0 > room {
        return None;
    }
    let note = RequestNote {
        deed: RequestAction::Compacted,
        reason: Some("a pass that was under way is in force".to_owned()),
        ..asked.note()
    };
    Some(runtime.send(again(runtime, ticket)?, note, ticket.is_counting))
}

/// The request of a ticket, to be sent again.
fn again(runtime: &SessionRuntime, ticket: &RequestTicket) -> Option<RequestContext> {
    let known = runtime.known(&ticket.model);
    let budget = known
        .budget(&runtime.environment.settings.policy, ticket.taken.answer_limit())
        .ok()?;
    let preface: PrefaceTokens = runtime.preface(&ticket.taken, known.family);
    Some(RequestContext {
        client: client_of(&ticket.taken),
        taken: ticket.taken.clone(),
        shared: Arc::clone(&ticket.shared),
        model: ticket.model.clone(),
        known,
        budget,
        preface,
        fit: None,
    })
}

pub fn after_complaint(runtime: &SessionRuntime, ticket: &RequestTicket, words: &str) -> Option<OutgoingRequest> {
    let asked = again(runtime, ticket)?;
    let mut note = RequestNote {
        deed: RequestAction::Repaired,
        ..asked.note()
    };
    let lower = words.to_lowercase();
    if lower.contains("signature") || lower.contains("thinking") {
        let mut conversation = locked(&ticket.shared);
        // Without a pass of ours, reasoning stands where the client has put it.
        if conversation.drops_blocks || conversation.replacement().is_none() {
            return None;
        }
        conversation.drops_blocks = true;
        drop(conversation);
        note.reason = Some("reasoning that no longer belongs is left out by the provider".to_owned());
    } else {
        repair(ticket)?;
        note.reason = Some("calls and results did not belong together".to_owned());
    }
    Some(runtime.send(asked, note, ticket.is_counting))
}

/// Puts the conversation as it is repaired in place of itself.
fn repair(ticket: &RequestTicket) -> Option<()> {
    let taken = &ticket.taken;
    let mut conversation = locked(&ticket.shared);
    let replacement = conversation.replacement().cloned();
    let body = compose(taken, replacement.as_deref(), &conversation.trims);
    let document = read(taken.form, &body).ok()?;
    if document.is_as_read() || taken.len() == 0 {
        return None;
    }
    let messages = document.transcript.messages();
    let elements = document.compacted_elements(&BTreeMap::new(), None, messages.len());
    let text: Vec<_> = elements
        .iter()
        .skip(taken.lead)
        .map(|element| without_marks(element))
        .collect();
    let checkpoint = replacement.map_or_else(String::new, |replacement| replacement.checkpoint.clone());
    let repaired = PrefixReplacement::repair(taken.len(), text.join(","), conversation.counted(), checkpoint);
    conversation.adopt(taken.keys[taken.len()], Arc::new(repaired));
    Some(())
}
