//! Making a pass: the conversation read whole, compacted by the engine, looked at once more, kept, and only then in force.
//!
//! Runs where it may take its time: on a thread for such work, never on one that serves sockets.

use std::sync::Arc;
use std::time::Instant;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::Fit;
use mainstay_engine::compaction::Moment;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Situation;
use mainstay_engine::decide::Span;
use mainstay_engine::decide::Writers;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_llm::price::Spent;
use mainstay_llm::summarise;
use mainstay_store::Metrics;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::NewLedger;
use mainstay_store::StoreError;
use mainstay_store::memory::states;
use mainstay_wire::document::Document;
use mainstay_wire::error::ReadError;
use mainstay_wire::reading::WireForm;
use tokio::runtime::Handle;

use crate::session::parsed_request::ParsedRequest;
use crate::session::parsed_request::PrefixKey;
use crate::session::pass_timing::PassOrder;
use crate::session::prefix_replacement::PrefixReplacement;
use crate::session::prefix_replacement::compose;
use crate::session::result_trimming::TrimmedResults;
use crate::session::store_handle::StoreHandle;
use crate::session::worker::Worker;
use crate::session::worker::read;
use crate::settings::CompactionSettings;
use crate::settings::SummaryModels;

/// Said where the newest words or results would have to go into the block.
const SQUEEZED: &str = "the newest words and the newest step alone leave no room";
/// What a prompt comes down to where the usual target cannot be reached, as a part of the threshold, in hundredths.
const SHORT_RUNWAY: u64 = 60;

/// What a pass is made of.
pub struct PassTask {
    /// The request it is made for.
    pub taken: ParsedRequest,
    /// Messages that go out in a smaller form.
    pub trims: TrimmedResults,
    /// The conversation's name in the store.
    pub conversation: String,
    /// The model it is for.
    pub model: String,
    /// How its messages are counted.
    pub family: Family,
    /// What it has to fit.
    pub budget: Budget,
    /// What was ordered.
    pub order: PassOrder,
    /// What a count means to the provider.
    pub fit: Fit,
    /// Tokens of tool definitions, as counted; instructions are messages.
    pub tools: u64,
    /// The counted tokens of the chain as it goes out now.
    pub counted: u64,
    /// How many messages something stands for now.
    pub covered: usize,
    /// Who has compacted it before.
    pub worker: Option<Box<Worker>>,
    /// When, by the host's clock.
    pub now: Timestamp,
}

/// A pass that was made and kept.
pub struct PreparedPass {
    /// The beginning that it stands for.
    pub key: PrefixKey,
    /// What stands there now.
    pub epoch: Arc<PrefixReplacement>,
    /// Who made it.
    pub worker: Box<Worker>,
    /// The share of what is needed next that it is expected to keep, where that was estimated.
    pub retention: Option<f64>,
}

impl PreparedPass {
    /// Whether something stands for a longer beginning already.
    pub fn is_behind(&self, epoch: Option<&Arc<PrefixReplacement>>) -> bool {
        epoch.is_some_and(|epoch| epoch.covers >= self.epoch.covers)
    }
}

/// Why there is no pass.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// The engine found nothing to do, or refused its own result.
    #[error("{0}")]
    Refused(String),
    /// The body could not be read.
    #[error("the conversation could not be read: {0}")]
    Unreadable(#[from] ReadError),
    /// The engine broke off; nothing came of it.
    #[error("the pass broke off")]
    Broken,
    /// The store could not be used.
    #[error("the store could not be used: {0}")]
    Store(#[from] StoreError),
}

impl PassError {
    /// Whether something of ours is broken, as against nothing being there to do.
    pub fn is_failure(&self) -> bool {
        !matches!(self, PassError::Refused(_))
    }
}

/// Lets a worker learn a conversation ahead of the pass that will come.
pub fn warm_up(task: PassTask, keeping: &CompactionSettings, desk: &StoreHandle) -> Result<Box<Worker>, PassError> {
    let body = compose(&task.taken, None, &task.trims);
    let document = read(task.taken.form, &body)?;
    at_work(
        task.worker,
        &document,
        &task.taken,
        &task.conversation,
        task.family,
        keeping,
        desk,
    )
}

fn at_work(
    known: Option<Box<Worker>>,
    document: &Document,
    taken: &ParsedRequest,
    conversation: &str,
    family: Family,
    keeping: &CompactionSettings,
    desk: &StoreHandle,
) -> Result<Box<Worker>, PassError> {
    let known = known.filter(|worker| worker.fits(document, taken.len(), family));
    let mut worker = match known {
        Some(worker) => worker,
        None => Box::new(Worker::new(document, taken.len(), conversation, family, keeping, desk)?),
    };
    worker.observe(document);
    Ok(worker)
}

/// Makes a pass, with models where they are given, and keeps it.
pub fn make(
    mut task: PassTask,
    keeping: &CompactionSettings,
    desk: &StoreHandle,
    writing: Option<&SummaryModels>,
) -> Result<PreparedPass, PassError> {
    let started = Instant::now();
    let body = compose(&task.taken, None, &task.trims);
    let document = read(task.taken.form, &body)?;
    let known = task.worker.take();
    let mut worker = at_work(
        known,
        &document,
        &task.taken,
        &task.conversation,
        task.family,
        keeping,
        desk,
    )?;
    let counted = worker.compactor.counted() + task.tools;
    let situation = Situation {
        prompt: task.fit.apply(counted),
        scale: task.fit.scale,
        forced: true,
        margin: 0,
        roles: keeping.roles,
        block_role: match task.taken.form {
            WireForm::Chat | WireForm::Responses => Role::System,
            WireForm::Anthropic => Role::User,
        },
        reasoning: match task.taken.form {
            WireForm::Responses => ReasoningRule::MustKeep,
            WireForm::Chat | WireForm::Anthropic => ReasoningRule::MayDrop,
        },
    };
    let (outcome, spent) = attempts(&mut worker, &document, &task, situation, writing).map_err(PassError::Refused)?;
    if let Some(flaw) = document.new_flaws(&worker.compactor, keeping.roles).first() {
        let words = format!("the result was refused ({}): {}", flaw.kind.code(), flaw.detail);
        return Err(PassError::Refused(words));
    }
    if outcome.block.as_ref().is_some_and(|block| gives_way(&block.span)) {
        return Err(PassError::Refused(SQUEEZED.to_owned()));
    }
    let Some((covers, elements, tokens)) = worker.beginning(&document, &task.taken) else {
        return Err(PassError::Refused(
            "the instructions at the head would not stay there".to_owned(),
        ));
    };
    let left: u64 = worker
        .compactor
        .counted()
        .saturating_sub(tokens + worker.instructions());
    if tokens + left >= task.counted || covers == 0 || covers < task.covered {
        return Err(PassError::Refused(format!(
            "what would be sent has {} tokens, not less than {}",
            tokens + left,
            task.counted
        )));
    }
    let key = task.taken.keys[covers];
    let mut epoch = PrefixReplacement {
        covers,
        text: elements.join(","),
        tokens,
        made_at: task.taken.len(),
        mode: outcome.mode().to_owned(),
        checkpoint: String::new(),
    };
    let kept = Kept {
        task: &task,
        document: &document,
        worker: &worker,
        outcome: &outcome,
        spent,
        started,
    };
    epoch.checkpoint = kept.keep(&key, &epoch, desk)?;
    Ok(PreparedPass {
        key,
        epoch: Arc::new(epoch),
        worker,
        retention: task.order.retention,
    })
}

/// Whether the newest words or the newest step would stand in the block only.
fn gives_way(span: &Span) -> bool {
    span.is_squeezed && span.shortened.is_empty()
}

/// Makes the pass that was ordered; where the newest step would have to give way for it, or it cannot be made, one that leaves more.
/// A step that would fill the window is shortened, in the pass that leaves most of it. What has just been said or printed never
/// goes into a block: then the provider may say that it is too long.
fn attempts(
    worker: &mut Worker,
    document: &Document,
    task: &PassTask,
    situation: Situation,
    writing: Option<&SummaryModels>,
) -> Result<(Outcome, Option<Spent>), String> {
    let ordered = &task.order.policy;
    let room = task.budget.window - task.budget.output;
    let shorter = [task.budget.threshold / 100 * SHORT_RUNWAY, task.budget.threshold, room];
    let mut policies = vec![ordered.clone()];
    policies.extend(
        shorter
            .into_iter()
            .filter(|target| Some(*target) > ordered.target)
            .map(|target| Policy {
                target: Some(target),
                fills_target: false,
                ..ordered.clone()
            }),
    );
    let mut spent = None;
    let mut why = SQUEEZED.to_owned();
    let last = policies.len() - 1;
    for (index, policy) in policies.into_iter().enumerate() {
        let moment = Moment {
            transcript: &document.transcript,
            budget: &task.budget,
            policy: &policy,
            situation,
            writers: None,
        };
        let plan = worker.compactor.plan(&moment);
        let is_refused = |span: &Span| gives_way(span) || (span.is_squeezed && index < last);
        if plan
            .replacement
            .as_ref()
            .is_some_and(|replacement| is_refused(&replacement.span))
        {
            continue;
        }
        // Models are asked once: what they wrote is there for whichever pass is made in the end.
        let models = writing.filter(|_| spent.is_none());
        let (outcome, paid) = pass(worker, document, &task.budget, &policy, situation, models);
        spent = spent.or(paid);
        match &outcome.verdict {
            Verdict::Compacted => return Ok((outcome, spent)),
            Verdict::Unchanged(reason) => reason.clone_into(&mut why),
        }
    }
    Err(why)
}

fn pass(
    worker: &mut Worker,
    document: &Document,
    budget: &Budget,
    policy: &Policy,
    situation: Situation,
    writing: Option<&SummaryModels>,
) -> (Outcome, Option<Spent>) {
    let compactor = &mut worker.compactor;
    let Some(writing) = writing else {
        let outcome = compactor.pass(&document.transcript, budget, policy, situation);
        return (outcome, None);
    };
    let models = writing.chain.models();
    let known = Writers {
        window: writing.chain.smallest_window().unwrap_or(0),
        output: models.iter().map(|model| model.output).min().unwrap_or(0),
        in_place: InPlace::Impossible("the conversation's key is the client's, and not ours to ask with".to_owned()),
    };
    let moment = Moment {
        transcript: &document.transcript,
        budget,
        policy,
        situation,
        writers: Some((&known, &writing.prompts)),
    };
    let deadline = writing
        .chain
        .deadline
        .map(|deadline| tokio::time::Instant::now() + deadline);
    let writers = summarise::Writers {
        chain: &writing.chain,
        in_place: None,
        until: deadline,
        watch: &|_| {},
    };
    let before = writing.chain.client().spent();
    let outcome = Handle::current().block_on(summarise::pass(compactor, &moment, &writers));
    (outcome, Some(writing.chain.client().spent().since(&before)))
}

/// Everything that a checkpoint is made of.
struct Kept<'a> {
    task: &'a PassTask,
    document: &'a Document,
    worker: &'a Worker,
    outcome: &'a Outcome,
    spent: Option<Spent>,
    started: Instant,
}

impl Kept<'_> {
    /// Keeps the pass; when this returns, it is on disk.
    fn keep(&self, key: &PrefixKey, epoch: &PrefixReplacement, desk: &StoreHandle) -> Result<String, StoreError> {
        let Kept {
            task,
            document,
            worker,
            outcome,
            ..
        } = *self;
        let original = chunks(&task.taken);
        let composed = compose(&task.taken, Some(epoch), &task.trims);
        let dropped: Vec<NewDropped<'_>> = outcome.dropped.iter().map(NewDropped::from).collect();
        let messages = document.transcript.messages();
        let mut states = worker.compactor.scribe().map_or_else(Vec::new, |scribe| {
            states(scribe, outcome.block.as_ref(), messages, &task.conversation)
        });
        states.push((PrefixReplacement::name(key), epoch.to_bytes()));
        let ledgers: Vec<NewLedger<'_>> = states.iter().map(|(name, state)| NewLedger { name, state }).collect();
        let prompts = outcome.writing.as_ref().map_or(&[][..], |writing| &writing.prompts);
        let prompts: Vec<(&str, &str)> = prompts.iter().map(|(name, hash)| (*name, hash.as_str())).collect();
        let new = NewCheckpoint {
            source: "proxy",
            format: document.format.name,
            form: document.form().name(),
            model: Some(&task.model),
            original: &original,
            result: &[&composed],
            dropped: &dropped,
            metrics: self.metrics(epoch),
            prompts: &prompts,
            engine_version: env!("CARGO_PKG_VERSION"),
            ledgers: &ledgers,
            ..NewCheckpoint::new(&task.conversation, task.now)
        };
        desk.with(|store| store.append(&new)).map(|id| id.to_string())
    }

    fn metrics(&self, epoch: &PrefixReplacement) -> Metrics {
        let Kept { task, outcome, .. } = *self;
        let messages = self.document.transcript.messages();
        let preface = task.tools + self.worker.instructions();
        let left: u64 = self
            .worker
            .compactor
            .counted()
            .saturating_sub(self.worker.instructions());
        Metrics {
            mode: epoch.mode.clone(),
            trigger: task.order.trigger.to_owned(),
            tokens_before: task.fit.apply(task.counted + preface),
            tokens_after: task.fit.apply(left + preface),
            messages_before: messages.len() as u64,
            messages_after: self.worker.compactor.messages(&self.document.transcript).len() as u64,
            turns: messages.iter().filter(|message| message.opens_turn()).count() as u64,
            earliest_changed: outcome.earliest_changed.map(|index| index as u64),
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            summary_tokens: outcome.writing.as_ref().map_or(0, |writing| writing.tokens),
            summary_calls: self.spent.map_or(0, |spent| spent.calls),
            auxiliary_tokens: self.spent.map_or(0, |spent| spent.usage.total()),
            ..Metrics::default()
        }
    }
}

/// The exact bytes that came in, cut where messages begin: what the store knows already costs nothing.
fn chunks(taken: &ParsedRequest) -> Vec<&[u8]> {
    let mut chunks = Vec::with_capacity(2 * taken.glance.elements.len() + 1);
    let mut at = 0;
    for range in &taken.glance.elements {
        chunks.push(&taken.body[at..range.start]);
        chunks.push(&taken.body[range.clone()]);
        at = range.end;
    }
    chunks.push(&taken.body[at..]);
    chunks
}
