//! Our own engines, as `mainstay compact --engine … --target` runs them. What an engine cannot bring down to the budget
//! stays over it.

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::verify::NoSecrets;

use crate::forced::scribe;
use crate::forced::situation;
use crate::retention::arms::Arm;
use crate::retention::arms::ArmError;
use crate::retention::trajectory::render;

/// One of our engines.
#[derive(Clone, Copy, Debug)]
pub struct Ours(pub Engine);

impl Arm for Ours {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn compact(&self, messages: &[Message], budget: u64) -> Result<Vec<String>, ArmError> {
        let policy = Policy {
            engine: self.0,
            target: Some(budget),
            ..Policy::default()
        };
        let draft = Draft {
            messages: messages.to_vec(),
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        // The budget of the metric is counted in cl100k, whatever model wrote the session.
        let mut compactor = Compactor::new(Family::Cl100k, &policy).with_scribe(scribe());
        compactor.observe(&transcript);
        let lines = Budget::new(&[ModelLimits::of("unknown")], &policy.budget)
            .expect("the default policy has shares between zero and one");
        let situation = situation(compactor.counted(), 1.0);
        compactor.pass(&transcript, &lines, &policy, situation, &NoSecrets);
        Ok(compactor.messages(&transcript).iter().map(render).collect())
    }
}
