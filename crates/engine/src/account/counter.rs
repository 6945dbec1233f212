//! Counting tokens: exactly for OpenAI's vocabularies, by a documented estimate for everyone else.
//!
//! Exact counts come from an embedded tokenizer, offline and linear on any input. Special-token text such as
//! `<|endoftext|>` counts as the plain text it is: a conversation cannot contain control tokens.
//!
//! Estimates multiply the o200k count by a factor for the family and the kind of text. The factors for
//! Llama, Qwen, DeepSeek, Mistral, Kimi, GLM and MiniMax were measured with each vendor's vocabulary on 268
//! recorded agent sessions. Claude's tokenizers are not public: the factors of 4.7 and later were fitted to the
//! usage that the provider reported in 13 recorded sessions (1.50 to 1.80 by session, median 1.57), those of
//! earlier ones follow published comparisons (1.07 to 1.37 by kind of text). Gemini's and Grok's are guesses on the safe side. All of them are
//! starting points: [`Calibration`](crate::account::Calibration) corrects them with every reported usage.

/// The vocabulary or vendor by which a model counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// OpenAI's o200k; exact.
    O200k,
    /// OpenAI's cl100k; exact.
    Cl100k,
    /// Claude 4.7 and later.
    Claude,
    /// Claude up to 4.6.
    ClaudeClassic,
    /// Google Gemini.
    Gemini,
    /// DeepSeek.
    DeepSeek,
    /// Qwen.
    Qwen,
    /// Llama 3 and later.
    Llama,
    /// Mistral.
    Mistral,
    /// Moonshot's Kimi.
    Kimi,
    /// Z.ai's GLM.
    Glm,
    /// MiniMax.
    MiniMax,
    /// xAI's Grok.
    Grok,
    /// A model nobody knows.
    Unknown,
}

/// Kinds of text that tokenizers treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// What people and models write.
    Prose,
    /// Arguments of tool calls and other JSON.
    Arguments,
    /// What tools print: code, logs, listings.
    Output,
}

/// Counts the tokens of a text.
///
/// An implementor must be deterministic, linear in the text, and must not fail on any input.
pub trait TokenCounter {
    /// The number of tokens of a text of this kind.
    fn count(&self, text: &str, kind: TextKind) -> u64;
}

impl Family {
    /// All families.
    pub const ALL: [Family; 14] = [
        Family::O200k,
        Family::Cl100k,
        Family::Claude,
        Family::ClaudeClassic,
        Family::Gemini,
        Family::DeepSeek,
        Family::Qwen,
        Family::Llama,
        Family::Mistral,
        Family::Kimi,
        Family::Glm,
        Family::MiniMax,
        Family::Grok,
        Family::Unknown,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Family::O200k => "o200k",
            Family::Cl100k => "cl100k",
            Family::Claude => "claude",
            Family::ClaudeClassic => "claude-classic",
            Family::Gemini => "gemini",
            Family::DeepSeek => "deepseek",
            Family::Qwen => "qwen",
            Family::Llama => "llama",
            Family::Mistral => "mistral",
            Family::Kimi => "kimi",
            Family::Glm => "glm",
            Family::MiniMax => "minimax",
            Family::Grok => "grok",
            Family::Unknown => "unknown",
        }
    }

    /// The family of a name.
    pub fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Whether counts of plain text are exact.
    pub fn is_exact(self) -> bool {
        matches!(self, Family::O200k | Family::Cl100k)
    }

    /// How many tokens it makes of one of o200k, for what agents mostly carry: outputs of tools.
    pub fn per_plain_token(self) -> f64 {
        self.per_thousand(TextKind::Output) as f64 / 1000.0
    }

    /// What an o200k count of a text of this kind is worth in this family.
    pub(super) fn scaled(self, counted: u64, kind: TextKind) -> u64 {
        (counted * self.per_thousand(kind)).div_ceil(1000)
    }

    /// How many tokens this family makes of a thousand o200k tokens, by kind of text.
    fn per_thousand(self, kind: TextKind) -> u64 {
        let [prose, arguments, output] = match self {
            Family::O200k | Family::Cl100k => [1000, 1000, 1000],
            Family::Claude => [1550, 1600, 1600],
            Family::ClaudeClassic => [1150, 1250, 1280],
            Family::Gemini => [1050, 1100, 1150],
            Family::DeepSeek => [1031, 1069, 1070],
            Family::Qwen => [1035, 1019, 1074],
            Family::Llama => [1002, 994, 996],
            Family::Mistral => [1059, 1072, 1134],
            Family::Kimi => [991, 983, 990],
            Family::Glm => [1009, 997, 1012],
            Family::MiniMax => [993, 1005, 1004],
            Family::Grok | Family::Unknown => [1050, 1100, 1150],
        };
        match kind {
            TextKind::Prose => prose,
            TextKind::Arguments => arguments,
            TextKind::Output => output,
        }
    }
}

impl TokenCounter for Family {
    fn count(&self, text: &str, kind: TextKind) -> u64 {
        if text.is_empty() {
            return 0;
        }
        let vocabulary = match self {
            Family::Cl100k => "cl100k_base",
            _ => "o200k_base",
        };
        let encoding = tiktoken::get_encoding(vocabulary).expect("both vocabularies are compiled in");
        let counted = encoding.count(text) as u64;
        self.scaled(counted, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_scale_the_exact_count_and_never_vanish() {
        let text = "one two three four five six seven eight nine ten";
        let exact = Family::O200k.count(text, TextKind::Output);
        assert_eq!(exact, 10);
        assert_eq!(Family::Claude.count(text, TextKind::Output), 16);
        for family in Family::ALL {
            assert_eq!(family.count("", TextKind::Prose), 0);
            assert!(family.count("x", TextKind::Prose) >= 1);
            assert_eq!(Family::named(family.name()), Some(family));
        }
    }
}
