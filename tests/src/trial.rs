//! One pass over a generated body, for tests of compaction.

use mainstay_engine::account::Budget;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Situation;
use mainstay_engine::transcript::Role;
use mainstay_engine::verify::NoSecrets;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

use crate::conversation::Form;

/// Reads a body in its form.
pub fn read(form: Form, body: &str) -> Document {
    let source = Source::memory("generated", body.as_bytes().to_vec());
    let format = format::by_name(form.name()).expect("every form is a format");
    format::read(&source, Some(format), &Request::default()).expect("a generated body can be read")
}

/// The budget of a model with this window.
pub fn budget(window: u64) -> Budget {
    let limits = ModelLimits {
        name: "m".to_owned(),
        window,
        output: window / 10,
    };
    Budget::new(&[limits], &Policy::default().budget).expect("the window has room")
}

/// A moment at which the prompt has this size.
pub fn situation(form: Form, prompt: u64, forced: bool) -> Situation {
    Situation {
        prompt,
        scale: 1.0,
        forced,
        margin: 0,
        roles: Roles::Open,
        block_role: match form {
            Form::Chat | Form::Responses => Role::System,
            Form::Anthropic => Role::User,
        },
        reasoning: match form {
            Form::Responses => ReasoningRule::MustKeep,
            Form::Chat | Form::Anthropic => ReasoningRule::MayDrop,
        },
    }
}

/// Learns what is new and makes a pass in a window of 8,000 tokens.
pub fn pass(compactor: &mut Compactor, document: &Document, form: Form, policy: &Policy, forced: bool) -> Outcome {
    compactor.observe(&document.transcript);
    let prompt = compactor.counted();
    compactor.pass(
        &document.transcript,
        &budget(8_000),
        policy,
        situation(form, prompt, forced),
        &NoSecrets,
    )
}
