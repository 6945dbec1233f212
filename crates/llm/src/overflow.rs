//! Whether an error, or an answer, means that the prompt is longer than the model's window.
//!
//! Providers have no common code for it; what each of them writes is a row of a table. The rows say who writes it, so
//! that a row can be checked when that provider changes. Rate limits also speak of tokens and are told apart first.

use crate::answer::Stop;
use crate::answer::Usage;

/// Codes and types that say it outright.
const CODES: &[&str] = &[
    "context_length_exceeded",
    "request_too_large",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "context_window_exceeded",
    "string_above_max_length",
];

/// Pieces that stand in a message in this order; `#` is a number right there. Compared in lower case.
const PHRASES: &[(&str, &[&str])] = &[
    ("Anthropic", &["prompt is too long"]),
    ("Anthropic", &["input length and `max_tokens` exceed context limit"]),
    ("Anthropic", &["request_too_large"]),
    ("Ollama, vLLM", &["prompt too long"]),
    ("z.ai", &["prompt exceeds max length"]),
    ("Bedrock", &["input is too long for requested model"]),
    ("OpenAI Responses", &["exceeds the context window"]),
    ("Fireworks", &["exceeds the model's maximum context length of", "#"]),
    ("LiteLLM", &["contextwindowexceeded"]),
    ("LiteLLM", &["context window exceeded"]),
    ("Gemini", &["input token count", "exceeds the maximum"]),
    ("xAI", &["maximum prompt length is", "#"]),
    ("Groq", &["reduce the length of the messages"]),
    (
        "OpenAI, vLLM, OpenRouter",
        &["maximum context length is", "#", "tokens"],
    ),
    ("SGLang", &["exceeds maximum allowed input length of", "#"]),
    (
        "Together",
        &["input (", "#", "tokens) is longer than the model's context length"],
    ),
    ("Copilot", &["token", "exceeds the limit of", "#"]),
    ("llama.cpp", &["exceeds the available context size"]),
    (
        "llama.cpp",
        &["prompt has", "#", "tokens, but the configured context size is"],
    ),
    ("LM Studio", &["greater than the context length"]),
    ("MiniMax", &["context window exceeds limit"]),
    ("Kimi", &["exceeded model token limit"]),
    ("Mistral", &["too large for model with", "#", "maximum context length"]),
    ("Mistral", &["tokens in request more than max tokens allowed"]),
    ("Ollama", &["exceeded max context length"]),
    ("DashScope", &["range of input length should be"]),
    ("several", &["context_length_exceeded"]),
    ("several", &["model_context_window_exceeded"]),
    ("several", &["too many tokens"]),
    ("several", &["token limit exceeded"]),
];

/// What speaks of tokens and limits, too, and passes with time.
const EXCLUDED: &[&str] = &[
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "throttling",
    "service unavailable",
    "tokens per min",
    "tokens per day",
    "per minute",
];

/// Statuses that are about the sender and never about the length.
const ELSEWHERE: &[u16] = &[401, 402, 403, 404, 408, 429];

/// How much of a message is looked at: the longest known one has 400 characters, and a message may echo a prompt.
const LOOKED_AT: usize = 4_000;

/// Whether an error says that the prompt is too long. `status` is `None` for an error inside a stream; `codes` are the
/// error's type, code and status words.
pub fn is_overflow(status: Option<u16>, codes: &[&str], message: &str) -> bool {
    if codes.iter().any(|code| CODES.contains(code)) {
        return true;
    }
    if status.is_some_and(|status| ELSEWHERE.contains(&status)) {
        return false;
    }
    if status == Some(413) {
        return true;
    }
    // Cerebras refuses long prompts without a word.
    if status == Some(400) && message.trim().is_empty() {
        return true;
    }
    let end = message
        .char_indices()
        .nth(LOOKED_AT)
        .map_or(message.len(), |(at, _)| at);
    let text = message[..end].to_lowercase();
    if EXCLUDED.iter().any(|word| text.contains(word)) {
        return false;
    }
    PHRASES.iter().any(|(_, pieces)| stands_in(&text, pieces))
}

/// Whether an answer that came without an error shows that the prompt did not fit: more input than the window (z.ai),
/// or a window so full that not one token could be written (Xiaomi).
pub fn is_silent_overflow(usage: &Usage, stop: Stop, window: u64) -> bool {
    let nearly_full = usage.input >= window - window / 100;
    window > 0 && (usage.input > window || (stop == Stop::Length && usage.output == 0 && nearly_full))
}

fn stands_in(text: &str, pieces: &[&str]) -> bool {
    let mut rest = text;
    for piece in pieces {
        if *piece == "#" {
            let number = rest.trim_start_matches([' ', '`', '\'', '"', ':']);
            if !number.starts_with(|c: char| c.is_ascii_digit()) {
                return false;
            }
            rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',' || c == '.');
            continue;
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &[&str] = &[
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "Prompt exceeds max length",
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "The prompt (14000 tokens) exceeds the model's maximum context length of 8192",
        "litellm.ContextWindowExceededError: the context window exceeded",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        "Please reduce the length of the messages or completion.",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
        "The request exceeds maximum allowed input length of 32768",
        "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
        "prompt token count of 70000 exceeds the limit of 64000",
        "the request exceeds the available context size, try increasing it",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "invalid params, context window exceeds limit (2013)",
        "Invalid request: Your request exceeded model token limit: 262144",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "the prompt has 9000 tokens, but the configured context size is 4096",
        "prompt too long; exceeded max context length by 512 tokens",
        "Range of input length should be [1, 129024]",
        "Number of tokens in request more than max tokens allowed",
    ];

    const NOT_LONG: &[&str] = &[
        "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000",
        "Throttling error: Too many tokens, please wait before trying again.",
        "Too many requests: token limit exceeded for this minute",
        "Service unavailable: context window exceeded is not the reason",
        "the image exceeds the limit of 5 MB",
        "maximum context length is unknown",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after",
    ];

    #[test]
    fn every_provider_s_wording_is_known() {
        for message in LONG {
            assert!(is_overflow(Some(400), &[], message), "{message}");
            assert!(is_overflow(None, &[], &message.to_uppercase()), "{message}");
            assert!(!is_overflow(Some(429), &[], message), "{message}");
        }
        for message in NOT_LONG {
            assert!(!is_overflow(Some(400), &[], message), "{message}");
        }
    }

    #[test]
    fn codes_and_statuses_speak_for_themselves() {
        assert!(is_overflow(None, &["context_length_exceeded"], "whatever"));
        assert!(is_overflow(Some(413), &[], "Payload Too Large"));
        assert!(is_overflow(Some(413), &[], ""));
        assert!(is_overflow(Some(400), &[], ""));
        assert!(!is_overflow(Some(500), &[], ""));
        assert!(!is_overflow(None, &["rate_limit_exceeded"], ""));
    }

    #[test]
    fn a_message_that_echoes_a_book_is_cut_between_characters() {
        let message = "ё".repeat(100_000) + "prompt is too long";
        assert!(!is_overflow(Some(400), &[], &message));
    }

    #[test]
    fn an_answer_can_show_that_the_prompt_did_not_fit() {
        let usage = |input, output| Usage {
            input,
            output,
            ..Usage::default()
        };
        assert!(is_silent_overflow(&usage(101, 5), Stop::End, 100));
        assert!(is_silent_overflow(&usage(99, 0), Stop::Length, 100));
        assert!(!is_silent_overflow(&usage(99, 1), Stop::Length, 100));
        assert!(!is_silent_overflow(&usage(100, 9), Stop::End, 100));
        assert!(!is_silent_overflow(&usage(5, 0), Stop::Length, 0));
    }
}
