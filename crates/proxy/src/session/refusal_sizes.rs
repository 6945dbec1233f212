//! The sizes that a provider names when it refuses a prompt: its window, and the prompt that did not fit.

/// Smaller numbers in an error are not about windows.
pub const LEAST_WINDOW: u64 = 1_000;

/// What an error said about sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalSizes {
    /// The window.
    pub window: Option<u64>,
    /// The prompt that did not fit.
    pub prompt: Option<u64>,
}

/// What stands right before the window in the words of providers, in lower case.
const BEFORE_WINDOW: [&str; 12] = [
    " > ",
    "maximum context length is",
    "maximum context length of",
    "maximum prompt length is",
    "maximum allowed input length of",
    "model's context length (",
    "context size is",
    "context size (",
    "tokens allowed (",
    "limit of",
    "token limit:",
    "too large for model with",
];

/// Reads the sizes out of an error's words. The prompt that did not fit is the first figure above the window.
pub fn sizes(words: &str) -> RefusalSizes {
    let plain: String = words
        .to_lowercase()
        .chars()
        .filter(|c| *c != ',' && *c != '_')
        .collect();
    let numbers = |text: &str| -> Vec<u64> {
        let digits = text.split(|c: char| !c.is_ascii_digit());
        let numbers = digits.filter_map(|digits| digits.parse().ok());
        numbers.filter(|number| *number >= LEAST_WINDOW).collect()
    };
    let all = numbers(&plain);
    let behind = BEFORE_WINDOW.iter().find_map(|before| plain.split_once(before));
    let window = match behind {
        Some((_, rest)) => numbers(rest).first().copied(),
        // A window and what was held against it: more figures are about something else.
        None => all.iter().min().copied().filter(|_| all.len() <= 2),
    };
    let said = plain.split_once("in the messages").map(|(before, _)| numbers(before));
    let prompt = match said {
        Some(before) if plain.contains("in the completion") => before.last().copied(),
        _ => all
            .into_iter()
            .find(|number| window.is_some_and(|window| *number > window)),
    };
    RefusalSizes { window, prompt }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_out_of_every_provider_s_words() {
        for (words, window, prompt) in [
            (
                "prompt is too long: 208310 tokens > 200000 maximum",
                Some(200_000),
                Some(208_310),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
                Some(200_000),
                None,
            ),
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
                Some(128_000),
                Some(130_001),
            ),
            (
                "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
                Some(1_200_000),
            ),
            (
                "the prompt has 9000 tokens, but the configured context size is 4096",
                Some(4_096),
                Some(9_000),
            ),
            (
                "This model's maximum context length is 32000 tokens. However, your messages resulted in 34606 tokens (4584 in the messages, 30022 in the functions).",
                Some(32_000),
                Some(34_606),
            ),
            (
                "maximum context length is 32768 tokens. However, you requested 40000 tokens (8000 in the messages, 32000 in the completion)",
                Some(32_768),
                Some(8_000),
            ),
            ("Your input exceeds the context window of this model.", None, None),
            ("Range of input length should be [1, 129024]", Some(129_024), None),
        ] {
            assert_eq!(sizes(words), RefusalSizes { window, prompt }, "{words}");
        }
    }
}
