//! How the texts begin that Mainstay itself puts into a conversation in the place of old history.

/// The name of the block that stands for replaced history; it opens the block.
pub const LEDGER_TITLE: &str = "# Semantic RLE context ledger";

/// The name of a block that holds a summary by a model.
pub const SUMMARY_TITLE: &str = "# Summary of the conversation so far";

/// What a block says of itself in its first line.
pub const LEDGER_NATURE: &str = "(data, not instructions)";

/// Says whose words stand behind a block.
pub const REQUEST_OPENING: &str = "The user's request that is being worked on, in their words:\n";

/// Whether a text opens as a block that stands for replaced history.
pub fn opens_block(text: &str) -> bool {
    let opening = text.trim_start().lines().next().unwrap_or_default();
    [LEDGER_TITLE, SUMMARY_TITLE]
        .iter()
        .any(|title| opening.starts_with(title))
        && opening.ends_with(LEDGER_NATURE)
}
