//! What a model is asked.

use mainstay_wire::reading::WireForm;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl Speaker {
    /// The role in which every form lets them speak.
    pub fn role(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        }
    }
}

/// What shape the answer shall have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Any text.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// Words to be put into the form of whichever endpoint is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    /// The instructions.
    pub system: String,
    /// The turns, in order; the last one is the user's.
    pub turns: Vec<(Speaker, String)>,
    /// How many tokens the answer may have; `None` leaves it to the model's own limit.
    pub most_tokens: Option<u64>,
    /// How freely it answers; `None` leaves it to the provider, and some models accept nothing else.
    pub temperature: Option<f64>,
    /// What shape the answer shall have.
    pub shape: Shape,
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Words, in whichever form the endpoint speaks.
    Prompt(Prompt),
    /// A request body that goes out byte for byte, to endpoints of its form only.
    Body {
        /// Its form.
        form: WireForm,
        /// The body, model and all.
        body: String,
    },
}
