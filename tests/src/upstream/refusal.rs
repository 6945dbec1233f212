//! Why a request is refused, in the very shapes and words of the providers.

use serde_json::Value;
use serde_json::json;

use crate::conversation::Form;

/// The rule that a request broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The prompt is longer than the window.
    Overflow,
    /// A call without its result, or a result without its call, or one of them in the wrong place.
    Pairing,
    /// An id that is used twice.
    DuplicateId,
    /// A role that may not stand where it stands.
    Role,
    /// Content that is missing, empty or of the wrong kind.
    Content,
    /// Thinking that is not what was issued, or not where it was issued.
    Thinking,
    /// Reasoning without the item that followed it, or the other way round, or not what was issued.
    Reasoning,
    /// Arguments that are no JSON.
    Arguments,
    /// Too many cache marks.
    Marks,
    /// No key.
    Key,
    /// The body is no JSON, or lacks what every body has.
    Body,
    /// The scenario wants an error.
    Scripted,
}

impl Rule {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Overflow => "overflow",
            Rule::Pairing => "pairing",
            Rule::DuplicateId => "duplicate-id",
            Rule::Role => "role",
            Rule::Content => "content",
            Rule::Thinking => "thinking",
            Rule::Reasoning => "reasoning",
            Rule::Arguments => "arguments",
            Rule::Marks => "marks",
            Rule::Key => "key",
            Rule::Body => "body",
            Rule::Scripted => "scripted",
        }
    }

    /// Whether it says that the request is malformed, rather than too long or unlucky.
    pub fn is_malformed(self) -> bool {
        !matches!(self, Rule::Overflow | Rule::Key | Rule::Scripted)
    }
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// The status.
    pub status: u16,
    /// The provider's type of error.
    pub kind: &'static str,
    /// Its code; OpenAI only.
    pub code: Option<&'static str>,
    /// What it complains about; OpenAI only.
    pub param: Option<String>,
    /// Its words.
    pub message: String,
}

impl Refusal {
    /// A request that is wrong in itself.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            status: 400,
            kind: "invalid_request_error",
            code: None,
            param: None,
            message: message.into(),
        }
    }

    /// The same about a place.
    pub fn at(self, param: impl Into<String>) -> Self {
        Self {
            param: Some(param.into()),
            ..self
        }
    }

    /// The same with a code.
    pub fn coded(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    /// A prompt that does not fit: its tokens, those of its tools among them, and the window.
    pub fn too_long(form: Form, tokens: u64, tools: u64, window: u64) -> Self {
        match form {
            Form::Anthropic => Self::new(
                Rule::Overflow,
                format!("prompt is too long: {tokens} tokens > {window} maximum"),
            ),
            Form::Chat => {
                let (split, what) = if tools > 0 {
                    let messages = tokens - tools;
                    let split = format!(" ({messages} in the messages, {tools} in the functions)");
                    (split, "messages or functions")
                } else {
                    (String::new(), "messages")
                };
                let message = format!(
                    "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} \
                     tokens{split}. Please reduce the length of the {what}."
                );
                let refusal = Self::new(Rule::Overflow, message);
                refusal.at("messages").coded("context_length_exceeded")
            }
            Form::Responses => {
                let words =
                    "Your input exceeds the context window of this model. Please adjust your input and try again.";
                let refusal = Self::new(Rule::Overflow, words);
                refusal.at("input").coded("context_length_exceeded")
            }
        }
    }

    /// An error that the scenario wants.
    pub fn scripted(form: Form, status: u16) -> Self {
        let words = match form {
            Form::Anthropic => anthropic_words(status),
            Form::Chat | Form::Responses => openai_words(status),
        };
        let (kind, code, message) = words;
        Self {
            rule: Rule::Scripted,
            status,
            kind,
            code,
            param: None,
            message: message.to_owned(),
        }
    }

    /// A request without a key.
    pub fn no_key(form: Form) -> Self {
        let message = match form {
            Form::Anthropic => "x-api-key header is required",
            Form::Chat | Form::Responses => {
                "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth \
                 (i.e. Authorization: Bearer YOUR_KEY)."
            }
        };
        Self {
            rule: Rule::Key,
            message: message.to_owned(),
            ..Self::scripted(form, 401)
        }
    }

    /// The body, for the request of this number.
    pub fn body(&self, form: Form, number: usize) -> String {
        match form {
            Form::Anthropic => json!({
                "type": "error",
                "error": {"type": self.kind, "message": self.message},
                "request_id": request_id(number),
            })
            .to_string(),
            Form::Chat | Form::Responses => {
                let body = json!({"error": self.error()});
                serde_json::to_string_pretty(&body).unwrap_or_default() + "\n"
            }
        }
    }

    /// OpenAI's object.
    pub fn error(&self) -> Value {
        json!({"message": self.message, "type": self.kind, "param": self.param, "code": self.code})
    }

    /// How long the client shall wait, where it shall.
    pub fn retry_after(&self) -> Option<&'static str> {
        matches!(self.status, 429 | 503 | 529).then_some("1")
    }
}

/// The provider's id of a request.
pub fn request_id(number: usize) -> String {
    format!("req_011CScripted{number:010}")
}

type Words = (&'static str, Option<&'static str>, &'static str);

fn anthropic_words(status: u16) -> Words {
    match status {
        401 => ("authentication_error", None, "invalid x-api-key"),
        403 => (
            "permission_error",
            None,
            "Your account does not have access to this model.",
        ),
        404 => ("not_found_error", None, "model: scripted"),
        413 => ("request_too_large", None, "Request exceeds the maximum size"),
        429 => (
            "rate_limit_error",
            None,
            "This request would exceed the rate limit for your organization of 40,000 input tokens per minute.",
        ),
        500 => ("api_error", None, "Internal server error"),
        529 => ("overloaded_error", None, "Overloaded"),
        _ => ("invalid_request_error", None, "max_tokens: Field required"),
    }
}

fn openai_words(status: u16) -> Words {
    const KIND: &str = "invalid_request_error";
    match status {
        401 => (
            KIND,
            Some("invalid_api_key"),
            "Incorrect API key provided: sk-scrip****. You can find your API key at \
             https://platform.openai.com/account/api-keys.",
        ),
        404 => (
            KIND,
            Some("model_not_found"),
            "The model `scripted` does not exist or you do not have access to it.",
        ),
        429 => (
            "tokens",
            Some("rate_limit_exceeded"),
            "Rate limit reached for scripted in organization org-scripted on tokens per min (TPM): Limit 30000, Used 29000, \
             Requested 2000. Please try again in 1s.",
        ),
        500 => (
            "server_error",
            None,
            "The server had an error while processing your request. Sorry about that!",
        ),
        503 | 529 => (
            "service_unavailable_error",
            Some("server_is_overloaded"),
            "Our servers are currently overloaded. Please try again later.",
        ),
        _ => (
            KIND,
            Some("missing_required_parameter"),
            "Missing required parameter: 'messages'.",
        ),
    }
}
