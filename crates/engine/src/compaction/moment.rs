//! What a pass is given.

use crate::account::Budget;
use crate::decide::Policy;
use crate::decide::Situation;
use crate::decide::Writers;
use crate::summary::prompts::Prompts;
use crate::transcript::Transcript;

/// Everything a pass needs to know about the moment it is made in.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
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
}
