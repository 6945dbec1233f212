//! Whether an error means that calls and results of a history, or reasoning and what it was about, do not belong together.
//!
//! As with prompts that are too long, providers have no code for it; what each of them writes is a row of a table.

/// Pieces that stand in a message in this order, and who writes them. Compared in lower case.
const PHRASES: &[(&str, &[&str])] = &[
    ("Anthropic", &["`tool_use` ids were found without `tool_result` blocks"]),
    ("Anthropic", &["tool_use", "ids", "without", "tool_result"]),
    ("Anthropic", &["unexpected `tool_use_id` found in `tool_result` blocks"]),
    ("Anthropic", &["unexpected", "tool_use_id"]),
    ("Anthropic", &["multiple `tool_result` blocks with id"]),
    ("Anthropic", &["each `tool_use` must have a single result"]),
    (
        "Anthropic",
        &["each `tool_use` block must have a corresponding `tool_result` block"],
    ),
    (
        "Anthropic",
        &["each `tool_result` block must have a corresponding `tool_use` block"],
    ),
    ("Anthropic", &["invalid `signature` in `thinking` block"]),
    ("Anthropic", &["the block is bound to a different conversation"]),
    (
        "OpenAI Chat",
        &["must be followed by tool messages responding to each 'tool_call_id'"],
    ),
    ("OpenAI Chat", &["'tool_call_id'", "did not have response messages"]),
    (
        "OpenAI Chat",
        &["messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"],
    ),
    (
        "OpenAI Chat",
        &["messages with role 'tool' must be a response to a preceding message with 'tool_calls'"],
    ),
    ("OpenAI Responses", &["no tool call found for function call output"]),
    ("OpenAI Responses", &["no tool output found for function call"]),
    (
        "OpenAI Responses",
        &["of type 'reasoning' was provided without its required following item"],
    ),
    (
        "OpenAI Responses",
        &["was provided without its required 'reasoning' item"],
    ),
    ("Bedrock", &["expected tooluse", "toolresult"]),
    (
        "Gemini",
        &[
            "number of function response parts",
            "equal to the number of function call parts",
        ],
    ),
    ("DeepSeek, vLLM", &["insufficient tool messages following tool_calls"]),
    ("Mistral", &["not the same number of function calls and responses"]),
    ("llama.cpp, vLLM", &["failed to parse tool call arguments as json"]),
];

/// Statuses under which a provider says so: the request is at fault, or a server in front of it has no better word.
const STATUSES: [u16; 3] = [400, 422, 500];

/// How much of a message is looked at: the longest known one has 300 characters, and a message may echo a prompt.
const LOOKED_AT: usize = 4_000;

/// Whether an error says that calls and results do not belong together. `status` is `None` inside of a stream.
pub fn is_malformed_history(status: Option<u16>, message: &str) -> bool {
    if status.is_some_and(|status| !STATUSES.contains(&status)) {
        return false;
    }
    let opening: String = message.chars().take(LOOKED_AT).collect();
    let opening = opening.to_lowercase();
    PHRASES.iter().any(|(_, pieces)| {
        let mut rest = opening.as_str();
        pieces.iter().all(|piece| match rest.find(piece) {
            Some(at) => {
                rest = &rest[at + piece.len()..];
                true
            }
            None => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_s_wording_is_known() {
        for message in [
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_1. Each `tool_use` block \
             must have a corresponding `tool_result` block in the next message.",
            "messages.3.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1",
            "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
             following tool_call_ids did not have response messages: call_1",
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            "No tool call found for function call output with call_id call_1.",
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            "Failed to parse tool call arguments as JSON: unexpected end",
        ] {
            assert!(is_malformed_history(Some(400), message), "{message}");
            assert!(is_malformed_history(None, &message.to_uppercase()), "{message}");
            assert!(!is_malformed_history(Some(429), message), "{message}");
        }
    }

    #[test]
    fn what_is_wrong_otherwise_is_something_else() {
        for message in [
            "",
            "prompt is too long: 208310 tokens > 200000 maximum",
            "tools.0.custom.input_schema: Field required",
            "messages: at least one message is required",
            "max_tokens is too large",
        ] {
            assert!(!is_malformed_history(Some(400), message), "{message}");
        }
        assert!(!is_malformed_history(Some(400), &"ё".repeat(100_000)));
    }
}
