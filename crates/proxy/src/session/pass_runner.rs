//! Passes under way: one a conversation at a time.
//!
//! A pass that is due is made on the thread of the request that needs it. Where the time of that request is over first, the pass
//! goes on and is in force when it is made. Summaries that are prepared before they are due, and conversations that are learnt
//! ahead, have threads of their own in the background.

use mainstay_session::PassTrigger;
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::Instant;

use crate::blocking;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::conversation::LiveConversation;
use crate::session::environment::SessionEnvironment;
use crate::session::environment::now;
use crate::session::fallback_slot::FallbackSlot;
use crate::session::pass;
use crate::session::pass::PassError;
use crate::session::pass::PassTask;
use crate::session::pass::PreparedPass;
use crate::session::pass_end::PassEnd;
use crate::session::pass_timing::PassOrder;
use crate::session::request_context::RequestContext;
use crate::session::session_cache::SharedConversation;
use crate::session::session_cache::locked;
use mainstay_session::CountedTokens;

/// How long no pass is tried after one that could not be made, in milliseconds: a store that is locked or a disk that is full
/// may be well again after a minute, and a conversation in which there was nothing to replace has grown.
const PAUSE: i64 = 60_000;

/// What becomes of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassPurpose {
    /// It is in force when it is made.
    Force,
    /// It waits until it is due; models may write for it.
    Preparation,
}

/// Sees to a pass that is due: one that was prepared comes into force, or models begin to write for one in the background. What
/// is returned has to be made right now, because the prompt does not fit without it or because no model writes.
pub fn bring_about(
    environment: &Arc<SessionEnvironment>,
    asked: &RequestContext,
    order: PassOrder,
    note: &mut RequestNote,
) -> Option<PassOrder> {
    if adopt_prepared(asked, &order.reason) {
        note.deed = RequestAction::Compacted;
        note.reason = Some(order.reason.clone());
        let fits = {
            let conversation = locked(&asked.shared);
            let prompt = asked
                .fit()
                .apply(CountedTokens(asked.preface.total() + conversation.counted()))
                .0;
            prompt <= asked.budget.window - asked.budget.output
        };
        if fits {
            return None;
        }
    }
    if environment.settings.writing.is_some() && !order.is_must {
        // A model takes its time; until it is done, the prompt still fits.
        start(environment, asked, order);
        return None;
    }
    Some(order)
}

/// Makes a pass without models on this thread, after whatever is under way, and finishes the request. `None` where the caller's
/// time was over first: then `finish` was called for it already.
pub fn make_now<T>(
    environment: &SessionEnvironment,
    asked: &RequestContext,
    order: &PassOrder,
    patience: Duration,
    slot: &FallbackSlot<T>,
    finish: impl FnOnce(PassEnd) -> T + Send + 'static,
) -> Option<T> {
    // A patience beyond what the clock can say is endless.
    let deadline = Instant::now().checked_add(patience);
    slot.fill(deadline, finish);
    let end = make_after_others(environment, asked, order, deadline);
    slot.take().map(|fallback| fallback.finish(end))
}

fn make_after_others(
    environment: &SessionEnvironment,
    asked: &RequestContext,
    order: &PassOrder,
    deadline: Option<Instant>,
) -> PassEnd {
    let before = locked(&asked.shared).stats.passes;
    loop {
        if let Some((claim, task)) = claim(environment, asked, Some(order.clone()), PassPurpose::Force) {
            return match make(environment, claim, task) {
                Ok(()) => PassEnd::Made,
                Err(error) => PassEnd::NotMade(error),
            };
        }
        if !wait_for_others(&asked.shared, deadline) {
            return PassEnd::TooSlow;
        }
        // What was under way may have been the pass.
        if locked(&asked.shared).stats.passes > before {
            return PassEnd::Made;
        }
    }
}

/// Waits until no pass is under way; whether that was before the deadline.
fn wait_for_others(shared: &SharedConversation, deadline: Option<Instant>) -> bool {
    let mut conversation = locked(shared);
    let done = Arc::clone(&conversation.done);
    while conversation.is_passing {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        conversation = match left {
            Some(Duration::ZERO) => return false,
            Some(left) => {
                let waited = done.wait_timeout(conversation, left);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => done.wait(conversation).unwrap_or_else(PoisonError::into_inner),
        };
    }
    true
}

/// Prepares a pass that will be due, in the background.
pub fn prepare_ahead(environment: &Arc<SessionEnvironment>, asked: &RequestContext, order: PassOrder) {
    if locked(&asked.shared).prepared.is_none() {
        start(environment, asked, order);
    }
}

/// Starts to prepare a pass in the background, unless that is under way.
fn start(environment: &Arc<SessionEnvironment>, asked: &RequestContext, order: PassOrder) {
    if let Some((claim, task)) = claim(environment, asked, Some(order), PassPurpose::Preparation) {
        let environment = Arc::clone(environment);
        // Why there is none stands in the conversation.
        blocking::start(move || drop(make(&environment, claim, task)));
    }
}

/// Learns the conversation ahead of the pass that will come, in the background.
pub fn learn_ahead(environment: &Arc<SessionEnvironment>, asked: &RequestContext) {
    let Some((claim, task)) = claim(environment, asked, None, PassPurpose::Force) else {
        return;
    };
    if task.worker.is_some() {
        claim.end(|conversation| conversation.worker = task.worker);
        return;
    }
    let environment = Arc::clone(environment);
    blocking::start(move || {
        let learnt = pass::warm_up(task, &environment.settings, &environment.store);
        // Whatever went wrong will go wrong again where somebody waits for it and is told.
        claim.end(|conversation| conversation.worker = learnt.ok());
    });
}

/// A conversation for which somebody is at work. However that ends, a panic included, the conversation is free again afterwards
/// and those who wait for it hear of it.
struct PassClaim {
    shared: SharedConversation,
    purpose: PassPurpose,
    /// How many messages there are.
    length: usize,
    is_over: bool,
}

impl PassClaim {
    /// The work is done; what came of it is put into the conversation before anybody else looks.
    fn end<T>(mut self, put: impl FnOnce(&mut LiveConversation) -> T) -> T {
        self.is_over = true;
        let shared = Arc::clone(&self.shared);
        let mut conversation = locked(&shared);
        self.free(&mut conversation);
        put(&mut conversation)
    }

    fn free(&self, conversation: &mut LiveConversation) {
        match self.purpose {
            PassPurpose::Force => conversation.is_passing = false,
            PassPurpose::Preparation => conversation.is_preparing = false,
        }
        conversation.done.notify_all();
    }
}

impl Drop for PassClaim {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // The work panicked, or the runtime ended before it began.
        let mut conversation = locked(&self.shared);
        self.free(&mut conversation);
        // Learning that panicked panics again with the next request: it waits like a pass that failed.
        note_failure(&mut conversation, self.length, &PassError::Broken);
    }
}

/// Claims a conversation, and takes from it everything that a pass needs; `None` while somebody else is at work.
fn claim(
    environment: &SessionEnvironment,
    asked: &RequestContext,
    order: Option<PassOrder>,
    purpose: PassPurpose,
) -> Option<(PassClaim, PassTask)> {
    let mut conversation = locked(&asked.shared);
    let is_busy = match purpose {
        PassPurpose::Force => &mut conversation.is_passing,
        PassPurpose::Preparation => &mut conversation.is_preparing,
    };
    if std::mem::replace(is_busy, true) {
        return None;
    }
    let task = PassTask {
        taken: asked.taken.clone(),
        trims: conversation.trims.clone(),
        conversation: conversation.name.clone(),
        model: asked.model.clone(),
        family: conversation.family,
        budget: asked.budget.clone(),
        order: order.unwrap_or_else(|| PassOrder {
            policy: environment.settings.policy.clone(),
            reason: String::new(),
            trigger: PassTrigger::Due,
            retention: None,
            is_must: false,
        }),
        fit: asked.fit(),
        tools: asked.preface.tools,
        counted: conversation.counted(),
        covered: conversation.replacement().map_or(0, |replacement| replacement.covers),
        worker: conversation.worker.take(),
        now: now(),
    };
    let claim = PassClaim {
        shared: Arc::clone(&asked.shared),
        purpose,
        length: asked.taken.len(),
        is_over: false,
    };
    Some((claim, task))
}

/// Makes a pass and keeps it, for its purpose.
fn make(environment: &SessionEnvironment, claim: PassClaim, task: PassTask) -> Result<(), PassError> {
    let (purpose, length) = (claim.purpose, task.taken.len());
    let history = task.fit.apply(CountedTokens(locked(&claim.shared).counted_whole())).0;
    let reason = task.order.reason.clone();
    let writing = environment.settings.writing.as_ref();
    let writing = writing.filter(|_| purpose == PassPurpose::Preparation);
    let made = pass::make(task, &environment.settings, &environment.store, writing);
    claim.end(|conversation| match made {
        // A pass that could not wait has taken its place.
        Ok(prepared) if purpose == PassPurpose::Preparation && prepared.is_behind(conversation.replacement()) => Ok(()),
        Ok(prepared) if purpose == PassPurpose::Preparation => {
            conversation.prepared = Some(Box::new(prepared));
            Ok(())
        }
        Ok(prepared) => {
            put_in_force(conversation, prepared, &reason, history);
            Ok(())
        }
        Err(error) => {
            note_failure(conversation, length, &error);
            Err(error)
        }
    })
}

/// No pass is tried for a while: what went wrong may be well again later, and there may be more to replace.
fn note_failure(conversation: &mut LiveConversation, length: usize, error: &PassError) {
    conversation.refused_at = Some(length);
    conversation.stats.thrash.failed(now(), PAUSE);
    conversation.stats.reason = error.to_string();
}

/// Puts a prepared pass in force, where there is one.
fn adopt_prepared(asked: &RequestContext, reason: &str) -> bool {
    let mut conversation = locked(&asked.shared);
    let prepared = conversation.prepared.take();
    let Some(prepared) = prepared.filter(|prepared| !prepared.is_behind(conversation.replacement())) else {
        return false;
    };
    let history = asked.fit().apply(CountedTokens(conversation.counted_whole())).0;
    put_in_force(&mut conversation, *prepared, reason, history);
    true
}

fn put_in_force(conversation: &mut LiveConversation, prepared: PreparedPass, reason: &str, history: u64) {
    conversation.worker = Some(prepared.worker);
    conversation.refused_at = None;
    conversation.adopt(prepared.key, prepared.epoch);
    let stats = &mut conversation.stats;
    stats.passes += 1;
    stats.since_pass = 0;
    stats.thrash.passed();
    stats.pressure.rearm();
    reason.clone_into(&mut stats.reason);
    if let Some(retention) = prepared.retention {
        stats.economist.adopted(retention, history);
    }
}
