//! What measurements have in common that make our engine pass: no store, no server, a pass whether it is due or not.

use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::Fit;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Transcript;
use mainstay_session::CountedTokens;
use mainstay_session::PromptSize;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_wire::reading::WireForm;

/// The key of references; a measurement has no store.
const KEY: [u8; 32] = [0; 32];

/// Hides what a compaction hides.
pub fn redactor() -> Redactor {
    let options = Options {
        addresses: Addresses::All,
        ..Options::default()
    };
    Redactor::new(Key::new(KEY), options)
}

/// Sessions that are compacted whether it is due or not, as a request of the simplest form.
pub fn settings(family: Family, policy: Policy, budget: Budget) -> SessionSettings {
    SessionSettings::with_budget(WireForm::Chat, family, policy, budget).forced()
}

/// The budget of a model with these limits.
pub fn budget(limits: &ModelLimits) -> Budget {
    Budget::new(std::slice::from_ref(limits), &Policy::default().budget)
        .expect("the default policy has shares between zero and one")
}

/// A conversation that was read and counted once and is then compacted to any number of targets, each time from the
/// original. Reading costs more than a pass, so sizes that are compared share it.
pub struct ForcedPasses {
    observed: Session,
}

/// What one forced pass made.
pub struct ForcedState {
    /// What the pass reports.
    pub outcome: Outcome,
    /// What the model would see.
    pub messages: Vec<Message>,
}

impl ForcedState {
    /// Whether the engine gave out a compacted conversation, not the original with a reason.
    pub fn is_compacted(&self) -> bool {
        self.outcome.verdict == Verdict::Compacted
    }
}

impl ForcedPasses {
    /// Reads a conversation, as `mainstay compact --engine … --target` does.
    pub fn new(transcript: impl Into<Arc<Transcript>>, family: Family, engine: Engine) -> Self {
        let policy = Policy {
            engine,
            ..Policy::default()
        };
        let settings = settings(family, policy, budget(&ModelLimits::of("unknown")));
        let mut observed = Session::of(settings, transcript);
        observed.fold_ledger();
        Self { observed }
    }

    /// The same for a model with these limits and a prompt with so many tokens beside the messages: the definitions of tools.
    pub fn in_request(mut self, limits: ModelLimits, beside: u64) -> Self {
        let settings = self.observed.settings_mut();
        settings.budget = budget(&limits);
        settings.prompt = PromptSize::Calibrated {
            fit: Fit::IDENTITY,
            beside: CountedTokens(beside),
        };
        self
    }

    /// Compacts the original to this many tokens.
    pub fn to(&self, target: u64) -> ForcedState {
        let mut session = self.observed.clone();
        session.settings_mut().policy.target = Some(target);
        let outcome = session.pass();
        ForcedState {
            messages: session.messages(),
            outcome,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use mainstay_engine::transcript::Draft;
    use mainstay_engine::transcript::Part;
    use mainstay_engine::transcript::Role;

    use super::*;

    #[test]
    fn a_broken_result_is_measured_as_the_original() {
        let said = |turn: usize| {
            let role = if turn.is_multiple_of(2) {
                Role::User
            } else {
                Role::Assistant
            };
            let words = format!("turn {turn}: the deploy waits until the review is over. ").repeat(20);
            Message::new(role, vec![Part::Text(words.into())])
        };
        let draft = Draft {
            messages: (0..40).map(said).collect(),
            ..Draft::default()
        };
        let transcript = Arc::new(draft.assemble().transcript);
        let mut passes = ForcedPasses::new(Arc::clone(&transcript), Family::O200k, Engine::Ledger);
        assert!(passes.to(2_000).is_compacted());
        passes.observed.settings_mut().fault = Some(|messages| {
            // A call without a result, and words behind it.
            let call = mainstay_engine::transcript::ToolCall {
                id: mainstay_engine::transcript::CallId::new("lost"),
                name: "terminal".into(),
                input: mainstay_engine::transcript::Input::Json("{}".into()),
            };
            let message = Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]);
            messages.insert(1, std::borrow::Cow::Owned(message));
        });
        let state = passes.to(2_000);
        assert!(!state.is_compacted());
        assert_eq!(state.messages, transcript.messages());
    }
}
