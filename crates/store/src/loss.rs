//! What one compaction dropped, ranked by how much it looks like something that is needed again.

use mainstay_engine::transcript::Author;

use crate::checkpoint::Dropped;

/// A dropped text as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The reference by which the whole text can be fetched.
    pub reference: String,
    /// The message it stood in.
    pub message: usize,
    /// Who wrote it.
    pub author: Author,
    /// The tool it belongs to.
    pub tool: Option<String>,
    /// What happened to it.
    pub action: String,
    /// Its tokens.
    pub tokens: u64,
    /// How much it looks like something that is needed again; higher is more.
    pub weight: u32,
    /// The line that says so most, whole.
    pub telling: String,
}

impl Loss {
    /// All of them, what matters most first; what weighs the same stays in the order of the conversation.
    pub fn ranked(dropped: &[Dropped]) -> Vec<Loss> {
        let mut losses: Vec<Loss> = dropped.iter().map(Loss::new).collect();
        losses.sort_by_key(|loss| std::cmp::Reverse(loss.weight));
        losses
    }

    fn new(dropped: &Dropped) -> Self {
        let (weight, telling) = most_telling(dropped);
        Loss {
            reference: dropped.reference.clone(),
            message: dropped.message,
            author: dropped.author,
            tool: dropped.tool.clone(),
            action: dropped.action.clone(),
            tokens: dropped.tokens,
            weight,
            telling: telling.to_owned(),
        }
    }
}

/// Words of commitments and decisions, in the languages that come first.
const COMMITMENTS: [&str; 16] = [
    "decided",
    "decision",
    "must not",
    "must ",
    "never ",
    "always ",
    "todo",
    "remember",
    "agreed",
    "instead of",
    "решили",
    "нельзя",
    "всегда",
    "никогда",
    "надо ",
    "вместо",
];
/// Words of trouble.
const TROUBLE: [&str; 8] = [
    "error",
    "failed",
    "failure",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "assert",
];

/// How much a text looks like something that is needed again, and the line that says so most.
fn most_telling(dropped: &Dropped) -> (u32, &str) {
    let by_author = match dropped.author {
        Author::User => 100,
        Author::Assistant | Author::Summary => 20,
        Author::System | Author::Tool | Author::Host => 0,
    };
    let by_outcome = if dropped.failed { 15 } else { 0 };
    // A copy of what still stands, or of what a later read shows, is hardly a loss.
    let by_action = match dropped.action.as_str() {
        "duplicate" => 0,
        "stale read" => 2,
        _ => 10,
    };
    let lines = dropped.text.lines().map(|line| (line_weight(line), line));
    // The first of equals: later lines often follow from it.
    let (by_line, line) = lines.fold((0, ""), |best, line| {
        if line.0 > best.0 || best.1.is_empty() {
            line
        } else {
            best
        }
    });
    (by_author + by_outcome + by_action + by_line, line)
}

fn line_weight(line: &str) -> u32 {
    let lower = line.to_lowercase();
    let mut weight = 0;
    if COMMITMENTS.iter().any(|word| lower.contains(word)) {
        weight += 12;
    }
    if TROUBLE.iter().any(|word| lower.contains(word)) {
        weight += 8;
    }
    if line.bytes().any(|byte| byte.is_ascii_digit()) {
        weight += 2;
    }
    if line.contains('/') || line.contains("::") || line.contains('_') {
        weight += 1;
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_engine::transcript::Role;

    fn dropped(author: Author, action: &str, text: &str) -> Dropped {
        Dropped {
            reference: text.to_owned(),
            message: 0,
            part: 0,
            role: Role::User,
            author,
            tool: None,
            action: action.to_owned(),
            tokens: 1,
            failed: false,
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_a_person_decided_comes_before_what_a_tool_printed() {
        let all = [
            dropped(Author::Tool, "duplicate", "plain text"),
            dropped(Author::Tool, "output", "ok\nerror: no such file"),
            dropped(Author::User, "replaced", "hello\nwe decided to use port 8443"),
            dropped(Author::Tool, "output", ""),
        ];
        let ranked = Loss::ranked(&all);
        let telling: Vec<_> = ranked.iter().map(|loss| loss.telling.as_str()).collect();
        assert_eq!(
            telling,
            ["we decided to use port 8443", "error: no such file", "", "plain text"]
        );
    }
}
