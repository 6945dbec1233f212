//! What servers send, as each kind of endpoint would put it.

use mainstay_tests::conversation::Form;
use mainstay_tests::reply::Reply;
use mainstay_tests::server::Script;
use serde_json::json;

use crate::answers;
use crate::running::Place;
use crate::running::Variant;

/// One model that does this with every request.
pub fn always(script: Script) -> Vec<Place> {
    vec![Place::Served(vec![script])]
}

/// One model that does this once and answers well from then on.
pub fn once(script: Script) -> Vec<Place> {
    vec![Place::Served(vec![script, good()])]
}

/// A good summary.
pub fn good() -> Script {
    Script::reply(&answers::good())
}

/// One model that always says this.
pub fn saying(text: &str) -> Vec<Place> {
    always(Script::reply(text))
}

/// One model that always says this and stops for this reason.
pub fn stopping(text: &str, stop: &str) -> Vec<Place> {
    always(Script::answer(Reply::new(text).stopped_by(stop)))
}

/// A refusal with a status, an error type or code, and words.
pub fn refused(variant: Variant, status: u16, code: &str, message: &str) -> Script {
    Script::status(status, &complaint(variant.form, code, message))
}

/// An error in a provider's shape.
pub fn complaint(form: Form, code: &str, message: &str) -> String {
    match form {
        Form::Chat | Form::Responses => json!({"error": {"message": message, "type": code, "code": code}}),
        Form::Anthropic => json!({"type": "error", "error": {"type": code, "message": message}}),
    }
    .to_string()
}

/// A prompt that does not fit, in the provider's own words.
pub fn overflow(variant: Variant) -> Script {
    match variant.form {
        Form::Chat => refused(
            variant,
            400,
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        ),
        Form::Responses => refused(
            variant,
            400,
            "invalid_request_error",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        Form::Anthropic => refused(
            variant,
            400,
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
        ),
    }
}

/// A good answer as the body that this endpoint would send.
pub fn body(variant: Variant) -> String {
    let reply = Reply::new(&answers::good());
    match (variant.form, variant.streams) {
        (Form::Chat, true) => reply.chat_stream(),
        (Form::Chat, false) => reply.chat(),
        (Form::Responses, true) => reply.responses_stream(),
        (Form::Responses, false) => reply.responses(),
        (Form::Anthropic, true) => reply.anthropic_stream(),
        (Form::Anthropic, false) => reply.anthropic(),
    }
}

/// The first half of a good answer.
pub fn half(variant: Variant) -> String {
    let body = body(variant);
    body[..body.len() / 2].to_owned()
}

/// The events of the first half of a good stream, each of them whole.
pub fn begun(variant: Variant) -> String {
    let half = half(variant);
    let end = half.rfind("\n\n").unwrap_or(0);
    half[..end].to_owned() + "\n\n"
}

/// A stream that begins well and then has an error in it, as the provider sends it.
pub fn error_inside(variant: Variant) -> Script {
    let error = match variant.form {
        Form::Chat => format!(
            "data: {}\n\n",
            complaint(variant.form, "server_error", "The server had an error")
        ),
        Form::Responses => {
            let event = json!({"type": "error", "code": "server_error", "message": "The server had an error"});
            format!("event: error\ndata: {event}\n\n")
        }
        Form::Anthropic => {
            format!(
                "event: error\ndata: {}\n\n",
                complaint(variant.form, "overloaded_error", "Overloaded")
            )
        }
    };
    Script::stream(&[&begun(variant), &error])
}

/// A right answer in a form that is not this endpoint's.
pub fn foreign(variant: Variant) -> Script {
    let form = match variant.form {
        Form::Chat => Form::Anthropic,
        Form::Anthropic => Form::Responses,
        Form::Responses => Form::Chat,
    };
    let body = body(Variant { form, ..variant });
    match variant.streams {
        true => Script::stream(&[&body]),
        false => Script::json(&body),
    }
}
