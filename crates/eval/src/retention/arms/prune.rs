//! Pruning alone, as `mainstay compact --engine prune --target` does it. What it cannot bring down to the budget
//! stays over it.

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Situation;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::verify::NoSecrets;

use crate::retention::arms::Arm;
use crate::retention::arms::ArmError;
use crate::retention::trajectory::render;

/// The engine's pruning.
#[derive(Clone, Copy, Debug)]
pub struct Prune;

impl Arm for Prune {
    fn name(&self) -> &str {
        "prune"
    }

    fn compact(&self, messages: &[Message], budget: u64) -> Result<Vec<String>, ArmError> {
        let policy = Policy {
            engine: Engine::Prune,
            target: Some(budget),
            ..Policy::default()
        };
        let draft = Draft {
            messages: messages.to_vec(),
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        // The budget of the metric is counted in cl100k, whatever model wrote the session.
        let mut compactor = Compactor::new(Family::Cl100k, &policy);
        compactor.observe(&transcript);
        let lines = Budget::new(&[ModelLimits::of("unknown")], &policy.budget)
            .expect("the default policy has shares between zero and one");
        let situation = Situation {
            prompt: compactor.counted(),
            scale: 1.0,
            forced: true,
            reasoning: ReasoningRule::MayDrop,
            margin: 0,
        };
        compactor.pass(&transcript, &lines, &policy, situation, &NoSecrets);
        Ok(compactor.messages(&transcript).iter().map(render).collect())
    }
}
