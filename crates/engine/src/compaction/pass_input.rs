//! What a pass is given.

use std::borrow::Cow;

use crate::account::Budget;
use crate::decide::Policy;
use crate::decide::Situation;
use crate::decide::Writers;
use crate::summary::prompts::Prompts;
use crate::transcript::Message;
use crate::transcript::Transcript;

/// Spoils a result before it is verified: how tests see that a host refuses a broken one.
pub type InjectedFault = for<'a> fn(&mut Vec<Cow<'a, Message>>);

/// Everything that a pass is made from. Only the crate `session` builds one outside of the engine: it knows what belongs together.
#[derive(Clone, Copy)]
pub struct PassInput<'a> {
    /// The conversation.
    pub transcript: &'a Transcript,
    /// What it has to fit.
    pub budget: &'a Budget,
    /// What the host wants.
    pub policy: &'a Policy,
    /// What the host knows.
    pub situation: Situation,
    /// The models that may write a summary, and their prompts.
    pub writers: Option<(&'a Writers, &'a Prompts)>,
    /// Only tests have one.
    pub fault: Option<InjectedFault>,
}
