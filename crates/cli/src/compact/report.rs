//! What `compact` reports. The field names are the documented JSON shape: docs/json.md explains each.

use std::collections::BTreeMap;

use mainstay_engine::account::Budget;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Refusal;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::compaction::WritingDone;
use mainstay_engine::decide::Plan;
use mainstay_engine::decide::PlanReason;
use mainstay_engine::decide::joined;
use mainstay_engine::transcript::Part;
use mainstay_llm::price::Spent;
use mainstay_wire::document::Document;
use serde::Serialize;

/// Everything that `compact` says.
#[derive(Debug, Serialize)]
pub struct Report {
    pub format: &'static str,
    pub compacted: bool,
    pub reason: String,
    pub refusal: Option<&'static str>,
    pub reasons: Vec<ReasonReport>,
    #[serde(skip)]
    pub hint: Option<Hint>,
    pub mode: &'static str,
    pub made: Option<&'static str>,
    pub window: u64,
    pub threshold: u64,
    pub target: u64,
    pub smallest_target: Option<u64>,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub messages: u64,
    pub pruned: BTreeMap<&'static str, Pruned>,
    pub earliest_changed: Option<usize>,
    pub checkpoint: Option<String>,
    pub summary: Option<SummaryReport>,
    pub flaws: Vec<FlawReport>,
}

/// What models did.
#[derive(Debug, Serialize)]
pub struct SummaryReport {
    pub used: bool,
    pub way: &'static str,
    pub tokens: u64,
    pub answers: u64,
    pub records_sent: usize,
    pub records_left_out: usize,
    pub prompts: BTreeMap<&'static str, String>,
    pub calls: u64,
    pub tokens_in: u64,
    pub tokens_cached: u64,
    pub tokens_out: u64,
    pub cost_usd: Option<f64>,
}

/// What was pruned of one kind.
#[derive(Debug, Default, Serialize)]
pub struct Pruned {
    pub parts: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

#[derive(Debug, Serialize)]
pub struct FlawReport {
    pub kind: &'static str,
    pub detail: String,
}

/// A reason of the plan: a code for programs, which stays, and a sentence for people, which may change.
#[derive(Debug, Serialize)]
pub struct ReasonReport {
    pub code: &'static str,
    pub text: String,
}

impl ReasonReport {
    fn new(reason: &PlanReason) -> Self {
        Self {
            code: reason.code(),
            text: reason.to_string(),
        }
    }
}

/// What a person can do where nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// It was forced and there is nothing left to take.
    LowerTailOrTarget,
    /// It is not due.
    Force,
    /// Everything is head or tail.
    LowerTail,
}

impl Hint {
    fn of(refusal: &Refusal) -> Option<Self> {
        let Refusal::Planned(reasons) = refusal else {
            return None;
        };
        if reasons.iter().any(PlanReason::is_forced) {
            Some(Hint::LowerTailOrTarget)
        } else if reasons.iter().any(PlanReason::is_below) {
            Some(Hint::Force)
        } else {
            reasons.contains(&PlanReason::NoMiddle).then_some(Hint::LowerTail)
        }
    }
}

impl Report {
    /// Puts the report together; the checkpoint is filled in once there is one.
    pub fn new(document: &Document, outcome: &Outcome, budget: &Budget, spent: Option<Spent>) -> Self {
        let mut pruned: BTreeMap<&'static str, Pruned> = BTreeMap::new();
        for dropped in &outcome.dropped {
            let kind = pruned.entry(dropped.action.name()).or_default();
            kind.parts += 1;
            kind.tokens_before += dropped.tokens;
            kind.tokens_after += dropped.tokens_left;
        }
        Self {
            format: document.format.name,
            compacted: outcome.verdict == Verdict::Compacted,
            reason: match &outcome.verdict {
                Verdict::Compacted => joined(&outcome.plan.reasons),
                Verdict::Unchanged(refusal) => refusal.to_string(),
            },
            refusal: match &outcome.verdict {
                Verdict::Compacted => None,
                Verdict::Unchanged(refusal) => Some(refusal.code()),
            },
            reasons: outcome.plan.reasons.iter().map(ReasonReport::new).collect(),
            hint: match &outcome.verdict {
                Verdict::Compacted => None,
                Verdict::Unchanged(refusal) => Hint::of(refusal),
            },
            mode: outcome.plan.mode.name(),
            made: (outcome.verdict == Verdict::Compacted).then(|| outcome.mode().name()),
            window: budget.window,
            threshold: budget.threshold,
            target: outcome.plan.target.0,
            smallest_target: None,
            tokens_before: outcome.plan.tokens_before.0,
            tokens_after: outcome.prompt_after.0,
            messages: document.transcript.messages().len() as u64,
            pruned,
            earliest_changed: outcome.earliest_changed,
            checkpoint: None,
            summary: outcome
                .writing
                .as_ref()
                .map(|writing| SummaryReport::new(writing, &spent.unwrap_or_default())),
            flaws: outcome
                .flaws
                .iter()
                .map(|flaw| FlawReport {
                    kind: flaw.kind.code(),
                    detail: flaw.detail.clone(),
                })
                .collect(),
        }
    }
}

impl SummaryReport {
    fn new(writing: &WritingDone, spent: &Spent) -> Self {
        Self {
            used: writing.was_used,
            way: writing.way.name(),
            tokens: writing.tokens,
            answers: writing.answers,
            records_sent: writing.records.0,
            records_left_out: writing.records.1,
            prompts: writing.prompts.iter().cloned().collect(),
            calls: spent.calls,
            tokens_in: spent.usage.input,
            tokens_cached: spent.usage.cache_read,
            tokens_out: spent.usage.output,
            cost_usd: spent.cost.filter(|_| spent.unknown == 0),
        }
    }
}

/// A plan, as `--plan --json` prints it and as checkpoints keep it.
#[derive(Debug, Serialize)]
pub struct PlanReport {
    pub mode: &'static str,
    pub tokens_before: u64,
    pub tokens_expected: u64,
    pub target: u64,
    pub head_end: usize,
    pub tail_start: usize,
    pub pinned: Option<usize>,
    pub writing: Option<WritingReport>,
    pub reasons: Vec<ReasonReport>,
    pub actions: Vec<ActionReport>,
}

/// The summary that a model would write.
#[derive(Debug, Serialize)]
pub struct WritingReport {
    pub way: &'static str,
    pub beside_ledger: bool,
    pub tokens: u64,
    pub input: u64,
}

/// One planned action.
#[derive(Debug, Serialize)]
pub struct ActionReport {
    pub message: u32,
    pub part: u32,
    pub action: &'static str,
    pub tool: Option<String>,
    pub tokens: u64,
    pub saves: u64,
}

impl PlanReport {
    /// The plan for a conversation.
    pub fn new(document: &Document, plan: &Plan) -> Self {
        let messages = document.transcript.messages();
        let tool = |spot: mainstay_engine::transcript::Spot| match &messages[spot.message as usize].parts
            [spot.part as usize]
        {
            Part::Call(call) => Some(call.name.to_string()),
            _ => None,
        };
        let actions = plan.actions.iter().map(|planned| ActionReport {
            message: planned.spot.message,
            part: planned.spot.part,
            action: planned.action.name(),
            tool: tool(planned.call.unwrap_or(planned.spot)),
            tokens: planned.tokens,
            saves: planned.saves,
        });
        Self {
            mode: plan.mode.name(),
            tokens_before: plan.tokens_before.0,
            tokens_expected: plan.tokens_expected.0,
            target: plan.target.0,
            head_end: plan.boundary.head_end,
            tail_start: plan.boundary.tail_start,
            pinned: plan.boundary.pinned,
            writing: plan.writing.as_ref().map(|writing| WritingReport {
                way: writing.way.name(),
                beside_ledger: writing.has_ledger,
                tokens: writing.tokens,
                input: writing.input,
            }),
            reasons: plan.reasons.iter().map(ReasonReport::new).collect(),
            actions: actions.collect(),
        }
    }
}
