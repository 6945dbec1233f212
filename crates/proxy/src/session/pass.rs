//! Making a pass: the conversation read whole, compacted by the engine, looked at once more, kept, and only then in force.
//!
//! Runs where it may take its time: on a thread for such work, never on one that serves sockets.

use std::sync::Arc;
use std::time::Instant;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::Fit;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Refusal;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Span;
use mainstay_engine::decide::Writers;
use mainstay_engine::transcript::Timestamp;
use mainstay_llm::price::Spent;
use mainstay_llm::summarise;
use mainstay_llm::summarise::Summariser;
use mainstay_session::CheckpointInput;
use mainstay_session::CountedTokens;
use mainstay_session::ModelUsage;
use mainstay_session::PromptSize;
use mainstay_session::Session;
use mainstay_session::SummaryWriters;
use mainstay_store::StoreError;
use mainstay_wire::document::Document;
use mainstay_wire::error::ReadError;
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

/// Why a pass that could be made is not.
#[derive(Debug, thiserror::Error)]
pub enum PassRefusal {
    /// The driver has nothing to do, or refused its own result.
    #[error("{0}")]
    Session(Refusal),
    /// The newest words or results would have to go into the block.
    #[error("the newest words and the newest step alone leave no room")]
    NoRoom,
    /// The client expects its instructions where they are.
    #[error("the instructions at the head would not stay there")]
    HeadWouldMove,
    /// Nothing is gained by it.
    #[error("what would be sent has {after} tokens, not less than {before}")]
    NotSmaller {
        /// Tokens of what would be sent.
        after: u64,
        /// Tokens of what is sent now.
        before: u64,
    },
}

/// Why there is no pass.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// There is nothing to do, or nothing to gain.
    #[error("{0}")]
    Refused(PassRefusal),
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
pub fn warm_up(mut task: PassTask, keeping: &CompactionSettings, desk: &StoreHandle) -> Result<Box<Worker>, PassError> {
    let body = compose(&task.taken, None, &task.trims);
    let document = read(task.taken.form, &body)?;
    at_work(&mut task, &document, keeping, desk)
}

fn at_work(
    task: &mut PassTask,
    document: &Document,
    keeping: &CompactionSettings,
    desk: &StoreHandle,
) -> Result<Box<Worker>, PassError> {
    let known = task.worker.take();
    let known = known.filter(|worker| worker.fits(document, task.taken.len(), task.family, keeping));
    let mut worker = match known {
        Some(worker) => worker,
        None => Box::new(Worker::new(
            document,
            task.taken.len(),
            &task.conversation,
            task.family,
            &task.budget,
            keeping,
            desk,
        )?),
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
    let mut worker = at_work(&mut task, &document, keeping, desk)?;
    let settings = worker.session.settings_mut();
    // What the operator has set may have changed since the worker was made.
    settings.rules = task.taken.form.rules(keeping.roles);
    settings.budget = task.budget.clone();
    settings.prompt = PromptSize::Calibrated {
        fit: task.fit,
        beside: CountedTokens(task.tools),
    };
    let (outcome, spent) = attempts(&mut worker, &task, writing).map_err(PassError::Refused)?;
    if outcome.block.as_ref().is_some_and(|block| gives_way(&block.span)) {
        return Err(PassError::Refused(PassRefusal::NoRoom));
    }
    let Some((covers, elements, tokens)) = worker.beginning(&document, &task.taken) else {
        return Err(PassError::Refused(PassRefusal::HeadWouldMove));
    };
    let left: u64 = worker
        .session
        .counted()
        .0
        .saturating_sub(tokens + worker.instructions());
    if tokens + left >= task.counted || covers == 0 || covers < task.covered {
        return Err(PassError::Refused(PassRefusal::NotSmaller {
            after: tokens + left,
            before: task.counted,
        }));
    }
    let key = task.taken.keys[covers];
    let mut epoch = PrefixReplacement {
        covers,
        text: elements.join(","),
        tokens,
        made_at: task.taken.len(),
        mode: outcome.mode().to_string(),
        checkpoint: String::new(),
    };
    let original = chunks(&task.taken);
    let composed = compose(&task.taken, Some(&epoch), &task.trims);
    let preface = task.tools + worker.instructions();
    let left = worker.session.counted().0.saturating_sub(worker.instructions());
    let record = CheckpointInput {
        conversation: &task.conversation,
        source: "proxy",
        model: Some(&task.model),
        document: &document,
        original: &original,
        result: &[&composed],
        trigger: task.order.trigger,
        usage: spent.map_or_else(ModelUsage::default, |spent| ModelUsage {
            calls: spent.calls,
            tokens: spent.usage.total(),
        }),
        duration: started.elapsed(),
        plan: "",
        now: task.now,
        sizes: Some((
            task.fit.apply(CountedTokens(task.counted + preface)),
            task.fit.apply(CountedTokens(left + preface)),
        )),
        states: &[(PrefixReplacement::name(&key), epoch.to_bytes())],
    };
    let id = desk.with(|store| worker.session.checkpoint(&outcome, &record, store))?;
    epoch.checkpoint = id.to_string();
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
    task: &PassTask,
    writing: Option<&SummaryModels>,
) -> Result<(Outcome, Option<Spent>), PassRefusal> {
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
    let mut why = PassRefusal::NoRoom;
    let last = policies.len() - 1;
    for (index, policy) in policies.into_iter().enumerate() {
        worker.session.settings_mut().policy = policy;
        let plan = worker.session.plan();
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
        let (outcome, paid) = pass(&mut worker.session, models);
        spent = spent.or(paid);
        match &outcome.verdict {
            Verdict::Compacted => return Ok((outcome, spent)),
            Verdict::Unchanged(refusal) => why = PassRefusal::Session(refusal.clone()),
        }
    }
    Err(why)
}

fn pass(session: &mut Session, writing: Option<&SummaryModels>) -> (Outcome, Option<Spent>) {
    let Some(writing) = writing else {
        return (session.pass(), None);
    };
    let models = writing.chain.models();
    session.settings_mut().writers = Some(SummaryWriters {
        models: Writers {
            window: writing.chain.smallest_window().unwrap_or(0),
            output: models.iter().map(|model| model.output).min().unwrap_or(0),
            in_place: InPlace::Impossible(
                "the conversation's key is the client's, and not ours to ask with".to_owned(),
            ),
        },
        prompts: writing.prompts.clone(),
    });
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
    let mut summariser = Summariser::new(&writers);
    let pass = session.pass_with(async |request| summariser.reply(request).await);
    let outcome = Handle::current().block_on(pass);
    // Only this attempt asks; the next one makes do with what was written.
    session.settings_mut().writers = None;
    (outcome, Some(writing.chain.client().spent().since(&before)))
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
