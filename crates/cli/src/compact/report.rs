//! What `compact` reports. The field names are the documented JSON shape: docs/json.md explains each.

use std::collections::BTreeMap;

use mainstay_engine::account::Budget;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Plan;
use mainstay_engine::transcript::Part;
use mainstay_wire::document::Document;
use serde::Serialize;

/// Everything that `compact` says.
#[derive(Debug, Serialize)]
pub struct Report {
    pub format: &'static str,
    pub compacted: bool,
    pub reason: String,
    pub mode: &'static str,
    pub window: u64,
    pub threshold: u64,
    pub target: u64,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub messages: u64,
    pub pruned: BTreeMap<&'static str, Pruned>,
    pub earliest_changed: Option<usize>,
    pub checkpoint: Option<String>,
    pub flaws: Vec<FlawReport>,
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

impl Report {
    /// Puts the report together; the checkpoint is filled in once there is one.
    pub fn new(document: &Document, outcome: &Outcome, budget: &Budget) -> Self {
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
                Verdict::Compacted => outcome.plan.reasons.join("; "),
                Verdict::Unchanged(reason) => reason.clone(),
            },
            mode: outcome.plan.mode.name(),
            window: budget.window,
            threshold: budget.threshold,
            target: outcome.plan.target,
            tokens_before: outcome.plan.tokens_before,
            tokens_after: outcome.prompt_after,
            messages: document.transcript.messages().len() as u64,
            pruned,
            earliest_changed: outcome.earliest_changed,
            checkpoint: None,
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
    pub reasons: Vec<String>,
    pub actions: Vec<ActionReport>,
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
            tokens_before: plan.tokens_before,
            tokens_expected: plan.tokens_expected,
            target: plan.target,
            head_end: plan.boundary.head_end,
            tail_start: plan.boundary.tail_start,
            pinned: plan.boundary.pinned,
            reasons: plan.reasons.clone(),
            actions: actions.collect(),
        }
    }
}
