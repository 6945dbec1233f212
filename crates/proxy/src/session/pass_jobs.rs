//! Passes under way: one a conversation at a time, on threads of their own. Whoever waits for one waits only so long; it goes on
//! without them and is in force when it is done.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::conversation::LiveConversation;
use crate::session::pass;
use crate::session::pass::PassError;
use crate::session::pass::PassTask;
use crate::session::pass::PreparedPass;
use crate::session::pass_timing::PassOrder;
use crate::session::session_cache::locked;
use crate::session::session_manager::RequestContext;
use crate::session::session_manager::SessionRuntime;
use crate::session::session_manager::now;

/// How long no pass is tried after one that could not be made, in milliseconds: a store that is locked or a disk that is full
/// may be well again after a minute, and a conversation in which there was nothing to replace has grown.
const PAUSE: i64 = 60_000;

/// What becomes of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassPurpose {
    /// It is in force when it is made.
    Force,
    /// It waits until it is due.
    Preparation,
}

impl SessionRuntime {
    /// Brings about a pass that is due: one that was prepared, one with a model in the background, or one right now.
    pub async fn bring_about(self: &Arc<Self>, asked: &RequestContext, order: PassOrder, note: &mut RequestNote) {
        let is_must = order.is_must;
        let was_prepared = self.adopt_prepared(asked, &order.reason);
        if was_prepared {
            note.deed = RequestAction::Compacted;
            note.reason = Some(order.reason.clone());
            let fits = {
                let conversation = locked(&asked.shared);
                let prompt = asked.fit().apply(asked.preface.total() + conversation.counted());
                prompt <= asked.budget.window - asked.budget.output
            };
            if fits {
                return;
            }
        }
        if self.keeping.writing.is_some() && !is_must {
            // A model takes its time; until it is done, the prompt still fits.
            self.start(asked, order, PassPurpose::Preparation, true);
            return;
        }
        self.pass_now(asked, order, self.keeping.patience, note).await;
    }

    /// Makes a pass without models, after whatever is under way, and waits for it, for so long.
    pub async fn pass_now(
        self: &Arc<Self>,
        asked: &RequestContext,
        order: PassOrder,
        patience: Duration,
        note: &mut RequestNote,
    ) {
        let reason = order.reason.clone();
        let (idle, before) = {
            let conversation = locked(&asked.shared);
            (Arc::clone(&conversation.done), conversation.pulse.passes)
        };
        let made = async {
            loop {
                // Whoever is done between this look and the wait is heard all the same.
                let mut is_done = std::pin::pin!(idle.notified());
                is_done.as_mut().enable();
                match self.start(asked, order.clone(), PassPurpose::Force, false) {
                    Some(done) => return done.await,
                    None => is_done.await,
                }
                // Whoever was at work may have done it.
                if locked(&asked.shared).pulse.passes > before {
                    return Ok(Ok(()));
                }
            }
        };

        match timeout(patience, made).await {
            Ok(Ok(Ok(()))) => {
                note.deed = RequestAction::Compacted;
                note.reason = Some(reason);
            }
            Ok(Ok(Err(why))) if why.is_failure() => {
                note.deed = RequestAction::FailedOpen;
                note.reason = Some(why.to_string());
            }
            Ok(Ok(Err(why))) => note.reason = Some(why.to_string()),
            Ok(Err(_)) => {
                note.deed = RequestAction::FailedOpen;
                note.reason = Some("the pass broke off".to_owned());
            }
            Err(_) => {
                note.deed = RequestAction::FailedOpen;
                note.reason = Some(format!(
                    "the pass takes longer than {} ms and goes on without us",
                    patience.as_millis()
                ));
            }
        }
    }

    /// Prepares a pass that will be due.
    pub fn start_preparing(self: &Arc<Self>, asked: &RequestContext, order: PassOrder) {
        if locked(&asked.shared).prepared.is_none() {
            self.start(asked, order, PassPurpose::Preparation, true);
        }
    }

    /// Lets whoever will make the pass learn the conversation.
    pub fn start_learning(self: &Arc<Self>, asked: &RequestContext) {
        let Some(task) = self.task(asked, None, PassPurpose::Force) else {
            return;
        };
        if task.worker.is_some() {
            let mut conversation = locked(&asked.shared);
            conversation.worker = task.worker;
            finish(&mut conversation, PassPurpose::Force);
            return;
        }
        let (room, shared) = (Arc::clone(self), Arc::clone(&asked.shared));
        tokio::task::spawn_blocking(move || {
            let learnt = catch_unwind(AssertUnwindSafe(|| pass::warm_up(task, &room.keeping, &room.desk)));
            let mut conversation = locked(&shared);
            finish(&mut conversation, PassPurpose::Force);
            // Whatever went wrong will go wrong again where somebody waits for it and is told.
            conversation.worker = learnt.ok().and_then(Result::ok);
        });
    }

    /// Starts a pass, unless one is under way.
    fn start(
        self: &Arc<Self>,
        asked: &RequestContext,
        order: PassOrder,
        aim: PassPurpose,
        with_models: bool,
    ) -> Option<oneshot::Receiver<Result<(), PassError>>> {
        let task = self.task(asked, Some(order), aim)?;
        let (tell, done) = oneshot::channel();
        let length = asked.taken.len();
        let (room, shared) = (Arc::clone(self), Arc::clone(&asked.shared));
        let history = asked.fit().apply(locked(&shared).counted_whole());
        tokio::task::spawn_blocking(move || {
            let writing = room.keeping.writing.as_ref().filter(|_| with_models);
            let reason = task.order.reason.clone();
            let made = catch_unwind(AssertUnwindSafe(|| {
                pass::make(task, &room.keeping, &room.desk, writing)
            }));
            let made = made.unwrap_or_else(|_| Err(PassError::Broken));
            let mut conversation = locked(&shared);
            finish(&mut conversation, aim);
            let ended = match made {
                // A pass that could not wait has taken its place.
                Ok(prepared) if aim == PassPurpose::Preparation && prepared.is_behind(conversation.epoch()) => Ok(()),
                Ok(prepared) if aim == PassPurpose::Preparation => {
                    conversation.prepared = Some(Box::new(prepared));
                    Ok(())
                }
                Ok(prepared) => {
                    put_in_force(&mut conversation, prepared, &reason, history);
                    Ok(())
                }
                Err(why) => {
                    conversation.refused_at = Some(length);
                    conversation.pulse.thrash.failed(now(), PAUSE);
                    conversation.pulse.reason = why.to_string();
                    Err(why)
                }
            };
            drop(conversation);
            // Nobody may be waiting any more.
            let _ = tell.send(ended);
        });
        Some(done)
    }

    /// Everything a pass needs; `None` while one is under way.
    fn task(&self, asked: &RequestContext, order: Option<PassOrder>, aim: PassPurpose) -> Option<PassTask> {
        let mut conversation = locked(&asked.shared);
        let is_busy = match aim {
            PassPurpose::Force => &mut conversation.is_passing,
            PassPurpose::Preparation => &mut conversation.is_preparing,
        };
        if std::mem::replace(is_busy, true) {
            return None;
        }
        Some(PassTask {
            taken: asked.taken.clone(),
            trims: conversation.trims.clone(),
            conversation: conversation.name.clone(),
            model: asked.model.clone(),
            family: conversation.family,
            budget: asked.budget.clone(),
            order: order.unwrap_or_else(|| PassOrder {
                policy: self.keeping.policy.clone(),
                reason: String::new(),
                trigger: "",
                retention: None,
                is_must: false,
            }),
            fit: asked.fit(),
            tools: asked.preface.tools,
            counted: conversation.counted(),
            covered: conversation.epoch().map_or(0, |epoch| epoch.covers),
            worker: conversation.worker.take(),
            now: now(),
        })
    }

    /// Puts a prepared pass in force, where there is one.
    fn adopt_prepared(&self, asked: &RequestContext, reason: &str) -> bool {
        let mut conversation = locked(&asked.shared);
        let prepared = conversation.prepared.take();
        let Some(prepared) = prepared.filter(|prepared| !prepared.is_behind(conversation.epoch())) else {
            return false;
        };
        let history = asked.fit().apply(conversation.counted_whole());
        put_in_force(&mut conversation, *prepared, reason, history);
        true
    }
}

/// Whoever was at work is done.
fn finish(conversation: &mut LiveConversation, aim: PassPurpose) {
    match aim {
        PassPurpose::Force => conversation.is_passing = false,
        PassPurpose::Preparation => conversation.is_preparing = false,
    }
    conversation.done.notify_waiters();
}

fn put_in_force(conversation: &mut LiveConversation, prepared: PreparedPass, reason: &str, history: u64) {
    conversation.worker = Some(prepared.worker);
    conversation.refused_at = None;
    conversation.adopt(prepared.key, prepared.epoch);
    let pulse = &mut conversation.pulse;
    pulse.passes += 1;
    pulse.since_pass = 0;
    pulse.thrash.passed();
    pulse.pressure.rearm();
    reason.clone_into(&mut pulse.reason);
    if let Some(retention) = prepared.retention {
        pulse.economist.adopted(retention, history);
    }
}
