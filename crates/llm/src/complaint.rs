//! What a provider says when it refuses: the words, type and code of an error in any provider's shape, and what they mean.
//!
//! The same object comes as the body of a refusal, as an event inside a stream, and as a line of a batch's results.

use mainstay_engine::json;
use mainstay_engine::json::Kind;
use mainstay_engine::json::Object;
use mainstay_engine::json::Raw;

use crate::error::Cause;
use crate::error::Trouble;
use crate::overflow;

/// An error as the provider put it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaint {
    /// Its words.
    pub message: String,
    /// Its types and codes, as far as they are words.
    pub codes: Vec<String>,
    /// A code that is a status; gateways put it into streams that began with 200.
    pub status: Option<u16>,
}

impl Complaint {
    /// The error in a body. A body that is no JSON, or JSON without words, speaks for itself.
    pub fn read(body: &str) -> Self {
        let Ok(value) = json::value(body.trim()) else {
            return Self {
                message: words(body),
                ..Self::default()
            };
        };
        let mut complaint = Self::default();
        complaint.take(value, 0);
        if complaint.message.is_empty() && complaint.codes.is_empty() {
            complaint.message = body.trim().to_owned();
        }
        complaint
    }

    /// The error in an object that stands inside of something else.
    pub fn of(object: &Object<'_>) -> Self {
        let mut complaint = Self::default();
        complaint.take_object(object, 0);
        complaint
    }

    /// What it means. `status` is the answer's own, where the error is not inside of a stream.
    pub fn trouble(self, status: Option<u16>) -> Trouble {
        let status = status.or(self.status);
        let codes: Vec<&str> = self.codes.iter().map(String::as_str).collect();
        let cause = cause(status, &codes, &self.message);
        let detail = match (self.message.is_empty(), codes.is_empty()) {
            (true, false) => codes.join(", "),
            _ => self.message,
        };
        Trouble::new(cause, detail)
    }

    fn take(&mut self, raw: Raw<'_>, depth: usize) {
        match json::kind(raw) {
            Kind::String => self.say(json::text(raw)),
            Kind::Object => {
                if let Some(object) = Object::of(raw) {
                    self.take_object(&object, depth);
                }
            }
            // Gemini wraps its error in a list; validators list everything that is wrong.
            Kind::Array => {
                let first = json::array(raw).and_then(|list| list.first().copied());
                if let (Some(first), true) = (first, depth < DEEPEST) {
                    self.take(first, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn take_object(&mut self, object: &Object<'_>, depth: usize) {
        for key in ["type", "code", "status"] {
            match object.get(key).map(|raw| (json::kind(raw), raw)) {
                Some((Kind::String, raw)) => {
                    let code = json::text(raw).map(String::from).unwrap_or_default();
                    if !code.is_empty() && code != "error" {
                        self.codes.push(code);
                    }
                }
                Some((Kind::Number, _)) => {
                    let status = object.count(key).and_then(|code| u16::try_from(code).ok());
                    self.status = self.status.or(status.filter(|status| (400..600).contains(status)));
                }
                _ => {}
            }
        }
        for key in ["message", "msg", "error_description"] {
            self.say(object.text(key));
        }
        if depth < DEEPEST {
            for key in ["error", "errors", "detail"] {
                if let Some(raw) = object.get(key) {
                    self.take(raw, depth + 1);
                }
            }
        }
    }

    fn say(&mut self, said: Option<Box<str>>) {
        if let (true, Some(said)) = (self.message.is_empty(), said) {
            self.message = String::from(said);
        }
    }
}

/// How deep the words stand at most: a list of objects with an error inside that has a list of details.
const DEEPEST: usize = 4;

/// Types and codes, and what they mean. Those of OpenAI, Anthropic, Gemini and the gateways in front of them.
const CODES: &[(&str, Cause)] = &[
    ("insufficient_quota", Cause::QuotaUsedUp),
    ("billing_hard_limit_reached", Cause::QuotaUsedUp),
    ("billing_error", Cause::QuotaUsedUp),
    ("invalid_api_key", Cause::Unauthorized),
    ("authentication_error", Cause::Unauthorized),
    ("API_KEY_INVALID", Cause::Unauthorized),
    ("UNAUTHENTICATED", Cause::Unauthorized),
    ("permission_error", Cause::Forbidden),
    ("PERMISSION_DENIED", Cause::Forbidden),
    ("model_not_found", Cause::NotFound),
    ("not_found_error", Cause::NotFound),
    ("NOT_FOUND", Cause::NotFound),
    ("rate_limit_error", Cause::RateLimited),
    ("rate_limit_exceeded", Cause::RateLimited),
    ("too_many_requests", Cause::RateLimited),
    ("RESOURCE_EXHAUSTED", Cause::RateLimited),
    ("overloaded_error", Cause::Overloaded),
    ("server_overloaded", Cause::Overloaded),
    ("slow_down", Cause::Overloaded),
    ("UNAVAILABLE", Cause::Overloaded),
    ("timeout_error", Cause::TimedOut),
    ("DEADLINE_EXCEEDED", Cause::TimedOut),
    ("api_error", Cause::ServerError(500)),
    ("server_error", Cause::ServerError(500)),
    ("internal_error", Cause::ServerError(500)),
    ("invalid_request_error", Cause::BadRequest(400)),
    ("invalid_prompt", Cause::BadRequest(400)),
];

/// Words for a key or a purse that some providers send with a status of 400 or 429.
const WORDS: &[(&str, Cause)] = &[
    ("credit balance is too low", Cause::QuotaUsedUp),
    ("exceeded your current quota", Cause::QuotaUsedUp),
    ("insufficient balance", Cause::QuotaUsedUp),
    ("insufficient credits", Cause::QuotaUsedUp),
    ("api key not valid", Cause::Unauthorized),
];

/// How much of a message is searched for words: they stand in the first sentence.
const LOOKED_AT: usize = 1_000;

fn cause(status: Option<u16>, codes: &[&str], message: &str) -> Cause {
    if overflow::is_overflow(status, codes, message) {
        return Cause::TooLong;
    }
    let opening: String = message.chars().take(LOOKED_AT).collect();
    let opening = opening.to_lowercase();
    let purse_or_key = WORDS.iter().find(|(words, _)| opening.contains(words));
    if let (Some((_, cause)), None | Some(400..=499)) = (purse_or_key, status) {
        return cause.clone();
    }
    let coded = || {
        let known = CODES.iter().find(|(code, _)| codes.contains(code));
        known.map(|(_, cause)| cause.clone())
    };
    match status {
        Some(401) => Cause::Unauthorized,
        Some(402) => Cause::QuotaUsedUp,
        Some(403) => Cause::Forbidden,
        Some(404) => Cause::NotFound,
        Some(408) => Cause::TimedOut,
        Some(429) if coded() == Some(Cause::QuotaUsedUp) => Cause::QuotaUsedUp,
        Some(429) => Cause::RateLimited,
        Some(503 | 529) => Cause::Overloaded,
        Some(status @ 500..) => Cause::ServerError(status),
        Some(status) => match coded() {
            Some(Cause::BadRequest(_) | Cause::ServerError(_)) | None => Cause::BadRequest(status),
            Some(cause) => cause,
        },
        // An error of an unknown kind inside of a stream: the request itself had been accepted.
        None => coded().unwrap_or(Cause::ServerError(500)),
    }
}

/// The first words of a page or any other text, without its tags.
pub fn words(text: &str) -> String {
    let looked_at: String = text.chars().take(4 * LOOKED_AT).collect();
    let mut said = String::new();
    let mut in_tag = false;
    for c in looked_at.chars() {
        match c {
            '<' => {
                in_tag = true;
                said.push(' ');
            }
            '>' if in_tag => in_tag = false,
            _ if in_tag => {}
            _ => said.push(c),
        }
    }
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> (Cause, String) {
        let trouble = Complaint::read(body).trouble(Some(status));
        (trouble.cause, trouble.detail)
    }

    #[test]
    fn every_provider_s_shape_is_read() {
        let shapes = [
            r#"{"error":{"message":"no","type":"x","code":null}}"#,
            r#"{"type":"error","error":{"type":"x","message":"no"},"request_id":"r"}"#,
            r#"[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#,
            r#"{"error":"no"}"#,
            r#"{"message":"no"}"#,
            r#"{"detail":"no"}"#,
            r#"{"detail":[{"type":"missing","msg":"no","loc":["body"]}]}"#,
            r#"{"errors":[{"message":"no"}]}"#,
            "no",
            "<html><body><p>no</p></body></html>",
        ];
        for shape in shapes {
            assert_eq!(read(422, shape), (Cause::BadRequest(422), "no".to_owned()), "{shape}");
        }
        assert_eq!(read(422, r#"{"odd":1}"#).1, r#"{"odd":1}"#);
        assert_eq!(read(500, ""), (Cause::ServerError(500), String::new()));
    }

    #[test]
    fn statuses_codes_and_words_give_the_cause() {
        let cases: &[(u16, &str, Cause)] = &[
            (401, "", Cause::Unauthorized),
            (402, "", Cause::QuotaUsedUp),
            (403, "", Cause::Forbidden),
            (404, "", Cause::NotFound),
            (408, "", Cause::TimedOut),
            (413, "", Cause::TooLong),
            (429, "", Cause::RateLimited),
            (
                429,
                r#"{"error":{"code":"insufficient_quota","message":"x"}}"#,
                Cause::QuotaUsedUp,
            ),
            (
                429,
                "You exceeded your current quota, please check your plan",
                Cause::QuotaUsedUp,
            ),
            (
                400,
                "Your credit balance is too low to access the API",
                Cause::QuotaUsedUp,
            ),
            (
                400,
                r#"{"error":{"code":"model_not_found","message":"x"}}"#,
                Cause::NotFound,
            ),
            (
                400,
                r#"{"error":{"code":"invalid_request_error","message":"x"}}"#,
                Cause::BadRequest(400),
            ),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
                Cause::TooLong,
            ),
            (500, "", Cause::ServerError(500)),
            (502, "", Cause::ServerError(502)),
            (503, "", Cause::Overloaded),
            (529, "", Cause::Overloaded),
            (301, "moved", Cause::BadRequest(301)),
        ];
        for (status, body, cause) in cases {
            assert_eq!(read(*status, body).0, *cause, "{status} {body}");
        }
    }

    #[test]
    fn an_error_inside_of_a_stream_says_it_by_its_code() {
        let inside = |body: &str| Complaint::read(body).trouble(None).cause;
        assert_eq!(
            inside(r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            Cause::Overloaded
        );
        assert_eq!(
            inside(r#"{"error":{"code":502,"message":"upstream"}}"#),
            Cause::ServerError(502)
        );
        assert_eq!(inside(r#"{"error":{"code":429,"message":"slow"}}"#), Cause::RateLimited);
        assert_eq!(inside(r#"{"error":{"message":"something"}}"#), Cause::ServerError(500));
    }
}
