//! The three provider forms: where a request goes, how it is written, and how answers are read, whole or event by event.
//!
//! An answer's text is what the model says to whoever asked: thinking is left out, pieces are joined, and a tool call shows
//! only in [`Stop`]. Fields and events that nobody knows are passed over; an error is trouble wherever it stands.

mod anthropic;
mod chat;
mod responses;

use mainstay_engine::json::Object;
use mainstay_wire::reading::WireForm;

use crate::answer::Answer;
use crate::answer::Stop;
use crate::answer::Usage;
use crate::complaint::Complaint;
use crate::error::Trouble;
use crate::events::Event;
use crate::model::Model;
use crate::prompt::Prompt;

/// Whether an answer shall come in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// As one JSON document.
    Whole,
    /// As a stream of events.
    Streamed,
}

/// The path of a form's requests, below the endpoint's address.
pub fn path(form: WireForm) -> &'static str {
    match form {
        WireForm::Chat => "/chat/completions",
        WireForm::Responses => "/responses",
        WireForm::Anthropic => "/messages",
    }
}

/// A prompt as a request body of the model's endpoint.
pub fn body(model: &Model, prompt: &Prompt) -> String {
    let delivery = if model.streams {
        Delivery::Streamed
    } else {
        Delivery::Whole
    };
    body_delivered(model, prompt, delivery)
}

/// The same with a delivery of the caller's choice.
pub fn body_delivered(model: &Model, prompt: &Prompt, delivery: Delivery) -> String {
    let value = match model.endpoint.form {
        WireForm::Chat => chat::body(model, prompt, delivery),
        WireForm::Responses => responses::body(model, prompt, delivery),
        WireForm::Anthropic => anthropic::body(model, prompt, delivery),
    };
    value.to_string()
}

/// A request body of Anthropic's form whose first turn is marked for the provider's cache up to a byte.
pub fn body_sharing(model: &Model, prompt: &Prompt, shared: usize) -> String {
    anthropic::body_sharing(model, prompt, shared).to_string()
}

/// Reads an answer that came as one JSON document.
pub fn read_whole(form: WireForm, text: &str) -> Result<Answer, Trouble> {
    let Ok(object) = Object::parse(text.trim()) else {
        return Err(Trouble::malformed(if text.trim().is_empty() {
            "the answer is empty".to_owned()
        } else {
            "the answer is no whole JSON object".to_owned()
        }));
    };
    complaint_in(&object)?;
    let mut draft = Draft::default();
    match form {
        WireForm::Chat => chat::read(&object, &mut draft)?,
        WireForm::Responses => responses::read(&object, &mut draft)?,
        WireForm::Anthropic => anthropic::read(&object, &mut draft)?,
    }
    Ok(draft.answer())
}

/// Reads an answer that comes as events.
#[derive(Debug)]
pub struct Reader {
    form: WireForm,
    draft: Draft,
}

impl Reader {
    /// A reader at the beginning of an answer.
    pub fn new(form: WireForm) -> Self {
        Self {
            form,
            draft: Draft::default(),
        }
    }

    /// Takes the next event.
    pub fn take(&mut self, event: &Event) -> Result<(), Trouble> {
        if event.data.trim() == "[DONE]" {
            self.draft.progress = match self.draft.progress {
                // A stream that never began says nothing by ending.
                Progress::Nothing => Progress::Nothing,
                _ => Progress::Closed,
            };
            return Ok(());
        }
        if event.data.trim().is_empty() {
            return Ok(());
        }
        let Ok(object) = Object::parse(&event.data) else {
            let trouble = Trouble::malformed("an event of the stream is no JSON object");
            return Err(trouble.costing(self.draft.usage));
        };
        let draft = &mut self.draft;
        let taken = complaint_in(&object).and_then(|()| match self.form {
            WireForm::Chat => chat::take(&object, draft),
            WireForm::Responses => responses::take(event.name.as_deref(), &object, draft),
            WireForm::Anthropic => anthropic::take(event.name.as_deref(), &object, draft),
        });
        taken.map_err(|trouble| {
            let paid = trouble.usage.or(self.draft.usage);
            trouble.costing(paid)
        })
    }

    /// Whether nothing of the answer can follow.
    pub fn is_closed(&self) -> bool {
        self.draft.progress == Progress::Closed
    }

    /// Whether the answer is whole, though figures may follow.
    pub fn is_whole(&self) -> bool {
        matches!(self.draft.progress, Progress::Whole | Progress::Closed)
    }

    /// What was paid so far.
    pub fn usage(&self) -> Option<Usage> {
        self.draft.usage
    }

    /// The answer, if the stream came to its end.
    pub fn finish(self) -> Result<Answer, Trouble> {
        match self.draft.progress {
            Progress::Nothing => Err(Trouble::malformed("the stream holds no answer")),
            Progress::Begun => Err(Trouble::malformed("the answer was cut off").costing(self.draft.usage)),
            Progress::Whole | Progress::Closed => Ok(self.draft.answer()),
        }
    }
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Nothing,
    Begun,
    Whole,
    Closed,
}

/// An answer while it is read.
#[derive(Debug, Default)]
struct Draft {
    text: String,
    refusal: String,
    calls_tool: bool,
    stop: Option<Stop>,
    usage: Option<Usage>,
    served_by: Option<String>,
    progress: Progress,
}

impl Draft {
    fn begin(&mut self) {
        if self.progress == Progress::Nothing {
            self.progress = Progress::Begun;
        }
    }

    fn say(&mut self, piece: Option<Box<str>>) {
        self.text.push_str(piece.as_deref().unwrap_or(""));
    }

    fn refuse(&mut self, piece: Option<Box<str>>) {
        self.refusal.push_str(piece.as_deref().unwrap_or(""));
    }

    fn serve(&mut self, object: &Object<'_>) {
        if let Some(name) = object.text("model").filter(|name| !name.is_empty()) {
            self.served_by = Some(String::from(name));
        }
    }

    fn answer(self) -> Answer {
        let refused = !self.refusal.is_empty() || self.stop == Some(Stop::Refusal);
        let stop = match self.stop {
            _ if refused => Stop::Refusal,
            _ if self.calls_tool => Stop::ToolCall,
            Some(stop) => stop,
            None => Stop::Other,
        };
        let text = without_thoughts(&self.text).to_owned();
        Answer {
            text: if text.is_empty() { self.refusal } else { text },
            stop,
            usage: self.usage,
            served_by: self.served_by,
        }
    }
}

/// A text without the thinking that servers of open models leave at its beginning.
fn without_thoughts(text: &str) -> &str {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else {
        return text;
    };
    thoughts
        .split_once("</think>")
        .map_or("", |(_, said)| said.trim_start())
}

/// An error that stands where an answer should: gateways send it with a status of 200.
fn complaint_in(object: &Object<'_>) -> Result<(), Trouble> {
    let is_error = object.is("type", "error");
    match object.get("error") {
        Some(raw) if raw.get() != "null" && !object.is("object", "response") => {
            Err(Complaint::of(object).trouble(None))
        }
        _ if is_error => Err(Complaint::of(object).trouble(None)),
        _ => Ok(()),
    }
}

/// A usage object whose fields have these names. `None` when it names no tokens at all.
fn usage(object: &Object<'_>, input: &str, output: &str, details: &str) -> Option<Usage> {
    if !object.has(input) && !object.has(output) {
        return None;
    }
    let details = object.object(details);
    let detail = |key: &str| details.as_ref().and_then(|details| details.count(key));
    Some(Usage {
        input: object.count(input).unwrap_or(0),
        cache_read: detail("cached_tokens")
            .or_else(|| object.count("prompt_cache_hit_tokens"))
            .unwrap_or(0),
        cache_write: detail("cache_write_tokens").unwrap_or(0),
        output: object.count(output).unwrap_or(0),
    })
}

#[cfg(test)]
#[path = "forms_tests.rs"]
mod tests;
