//! Our own engines, as `mainstay compact --engine … --target` runs them. What an engine cannot bring down to the budget
//! stays over it.

use mainstay_engine::account::Family;
use mainstay_engine::decide::Engine;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;

use crate::forced::ForcedPasses;
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
        let draft = Draft {
            messages: messages.to_vec(),
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        // The budget of the metric is counted in cl100k, whatever model wrote the session.
        let state = ForcedPasses::new(transcript, Family::Cl100k, self.0).to(budget);
        Ok(state.messages.iter().map(render).collect())
    }
}
