//! What a run will cost, before anybody is asked.

use mainstay_llm::answer::Usage;
use mainstay_llm::chain::Chain;
use mainstay_llm::price;
use mainstay_llm::price::Run as Priced;
use mainstay_llm::summarise;
use serde::Serialize;

use crate::fixture::Subject;
use crate::rubric;
use crate::run::Plan;
use crate::run::desk::Duty;
use crate::run::desk::Models;
use crate::run::desk::prompt_tokens;
use crate::state::Arm;
use crate::state::Progress;
use crate::state::Walk;
use crate::state::tokens;

/// What one duty will take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DutyEstimate {
    /// `summarise`, `answer` or `judge`.
    pub duty: &'static str,
    /// The model, as its endpoint calls it.
    pub model: String,
    /// How many requests; repairs, retries and fallbacks come on top.
    pub calls: u64,
    /// Tokens of their prompts.
    pub input: u64,
    /// Tokens of their answers, by what such answers usually have.
    pub output: u64,
    /// US dollars; `None` where no price is known.
    pub cost: Option<f64>,
}

/// What a run will take, by duty; duties without a model are left out.
pub fn estimate(plan: &Plan, models: &Models, batched: bool) -> Vec<DutyEstimate> {
    let run = if batched { Priced::Batched } else { Priced::Live };
    let mut calls: [(u64, u64); 3] = Default::default();
    for subject in &plan.exam.subjects {
        for arm in &plan.arms {
            add(&mut calls, plan, models, subject, arm);
        }
    }
    let repeats = u64::from(plan.repeats);
    Duty::ALL
        .into_iter()
        .zip(calls)
        .filter_map(|(duty, (calls, input))| {
            let chain: &Chain = models.of(duty)?;
            let model = chain.models().first()?;
            let usage = Usage {
                input: input * repeats,
                output: calls * repeats * duty.expected_output(),
                ..Usage::default()
            };
            Some(DutyEstimate {
                duty: duty.name(),
                model: model.id.clone(),
                calls: calls * repeats,
                input: usage.input,
                output: usage.output,
                cost: price::cost(model, &usage, run),
            })
        })
        .collect()
}

/// Adds what one arm takes for one fixture, once: requests and tokens of prompts, by duty.
fn add(calls: &mut [(u64, u64); 3], plan: &Plan, models: &Models, subject: &Subject, arm: &Arm) {
    let mut count = |duty: Duty, input: u64| {
        let total = &mut calls[duty as usize];
        *total = (total.0 + 1, total.1 + input);
    };
    // Without replies the walk comes to the ledger, which is as large as what a model would have written.
    let mut walk = Walk::new(subject, arm, &plan.setting);
    let state = loop {
        match walk.go_on(None) {
            Progress::Done(state) => break state,
            Progress::Ask(request) => {
                count(Duty::Summarise, prompt_tokens(&summarise::prompt(&request)));
            }
        }
    };
    let size = tokens(&state.messages, plan.setting.family);
    for probe in &subject.bank.probes {
        if models.answer.is_some() {
            count(Duty::Answer, size + prompt_tokens(&rubric::question("", probe)));
            if arm.has_recall {
                count(Duty::Answer, size + prompt_tokens(&rubric::search("", probe)));
            }
        }
        if models.answer.is_some() && models.judge.is_some() {
            let words = " word".repeat(Duty::Answer.expected_output() as usize);
            count(Duty::Judge, prompt_tokens(&rubric::case(probe, &words)));
        }
    }
}
