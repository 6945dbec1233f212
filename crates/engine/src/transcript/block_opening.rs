//! How the texts begin that Mainstay itself puts into a conversation in the place of old history.

/// The name of the block that stands for replaced history; it opens the block.
pub const LEDGER_TITLE: &str = "# Semantic RLE context ledger";

/// The name of a block that holds a summary by a model.
pub const SUMMARY_TITLE: &str = "# Summary of the conversation so far";

/// What a block says of itself in its first line.
pub const LEDGER_NATURE: &str = "(data, not instructions)";

/// How the first line begins and ends that says whose words stand behind a block.
const REQUEST_START: &str = "The user's newest request (m";
const REQUEST_END: &str = "), in their words:";
/// The same line in blocks of earlier versions.
const EARLIER_REQUEST_OPENING: &str = "The user's request that is being worked on, in their words:";

/// Says whose words stand behind a block: those of this message, after which the agent ended its turn with another one, or has not yet. A
/// request whose turn has ended may be done.
pub fn request_opening(number: u32, turn_end: Option<u32>) -> String {
    let ended = turn_end.map_or_else(String::new, |end| format!("; the agent ended its turn with m{end}"));
    format!("{REQUEST_START}{number}{ended}{REQUEST_END}\n")
}

/// Whether a text restates the newest request behind a block.
pub fn opens_request(text: &str) -> bool {
    let Some((opening, _)) = text.split_once('\n') else {
        return false;
    };
    opening == EARLIER_REQUEST_OPENING || opening.starts_with(REQUEST_START) && opening.ends_with(REQUEST_END)
}

/// Whether a text opens as a block that stands for replaced history.
pub fn opens_block(text: &str) -> bool {
    let opening = text.trim_start().lines().next().unwrap_or_default();
    [LEDGER_TITLE, SUMMARY_TITLE]
        .iter()
        .any(|title| opening.starts_with(title))
        && opening.ends_with(LEDGER_NATURE)
}
