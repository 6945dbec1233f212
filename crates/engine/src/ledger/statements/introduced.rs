//! Where a person's message goes over into somebody else's text: "from the vendor's page:", "das stand auf dem Zettel".
//!
//! What follows such an introduction is quoted in the conversation like everything else, but it makes no rules or decisions of the person's.

/// Phrases that say that a text comes from elsewhere, in lower case, as words in a row.
const SOURCES: &[&str] = &[
    "copied from",
    "copy of",
    "pasted from",
    "pasting",
    "quoted from",
    "quoting",
    "taken from",
    "forwarded",
    "forwarding",
    "fwd",
    "from the docs",
    "from the wiki",
    "from the manual",
    "from the readme",
    "from the page",
    "from the website",
    "from the vendor",
    "from the mail",
    "from the email",
    "from the ticket",
    "from the handbook",
    "from their",
    "according to",
    "the docs say",
    "the page says",
    "it says",
    "they say",
    "they write",
    "they wrote",
    "wrote me",
    "as background",
    "for background",
    "for context",
    "what the tool prints",
    "what it prints",
    "prints",
    "printed",
    "the sign says",
    "das stand",
    "da steht",
    "dort steht",
    "steht auf",
    "steht im",
    "steht in",
    "kopiert aus",
    "aus dem wiki",
    "aus der doku",
    "laut",
    "zitat",
    "geschickt bekommen",
    "hat mir geschickt",
    "mir geschickt",
    "weitergeleitet",
    "прислал",
    "прислала",
    "прислали",
    "переслал",
    "переслала",
    "переслали",
    "me mandaron",
    "me enviaron",
    "m'a envoyé",
    "reçu ça",
    "发给我",
    "скопировал",
    "скопировала",
    "из вики",
    "из документации",
    "из инструкции",
    "из письма",
    "написано",
    "пишут",
    "цитата",
    "висело",
    "copiado de",
    "según",
    "dice",
    "copié de",
    "selon",
    "d'après",
    "摘自",
    "来自",
    "转发",
];

/// The part of a text that is not introduced as somebody else's.
pub(super) fn before_introduced(text: &str) -> &str {
    let mut at = 0;
    for paragraph in text.split_inclusive('\n') {
        let end = at + paragraph.len();
        let line = paragraph.trim();
        let has_more = !text[end..].trim().is_empty();
        if has_more && introduces(line) {
            return &text[..at];
        }
        at = end;
    }
    text
}

/// Headings from which on a text is a document.
const DOCUMENT_HEADINGS: usize = 2;

/// Whether a message hands over a document: a short first line ends in a colon, and a text with headings follows.
pub(super) fn hands_over_document(text: &str) -> bool {
    const LONGEST: usize = 120;
    let mut lines = text.trim_start().lines();
    let opens = lines
        .next()
        .is_some_and(|line| line.len() <= LONGEST && line.trim_end().ends_with(':') && !line.starts_with('#'));
    let is_heading =
        |line: &&str| line.trim_start_matches('#').len() < line.len() && line.trim_start_matches('#').starts_with(' ');
    // A heading that follows at once belongs to the person's own brief.
    let is_apart = lines.next().is_none_or(|line| line.trim().is_empty());
    opens && is_apart && text.lines().filter(is_heading).count() >= DOCUMENT_HEADINGS
}

/// The part of a passage that stands before the document of its message; only the first passage has one.
pub(super) fn before_document(passage: &str, start: usize) -> &str {
    match start {
        0 => passage.trim_start().split('\n').next().unwrap_or_default(),
        _ => "",
    }
}

/// Whether a line announces a text from elsewhere: it names a source, and it is short or ends in a colon.
fn introduces(line: &str) -> bool {
    const LONGEST: usize = 160;
    if line.is_empty() || line.len() > LONGEST {
        return false;
    }
    let words: Vec<String> = line
        .to_lowercase()
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned())
        .collect();
    let plain = format!(" {} ", words.join(" "));
    SOURCES
        .iter()
        .any(|source| match source.chars().all(|letter| letter < '\u{2e80}') {
            true => plain.contains(&format!(" {source}")),
            false => plain.contains(source),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_is_handed_over_makes_no_rules() {
        let handed = "can you take a look at:\n\nHere is the issue.\n\n## Symptom\nIt fails.\n\n## Suggested fix\n- Always send a pack.";
        assert!(hands_over_document(handed));
        assert_eq!(before_document(handed, 0), "can you take a look at:");
        assert!(!hands_over_document("Rules:\n- never push\n- always test"));
        assert!(!hands_over_document(
            "Build a parser.\n\n## Rules\nNever panic.\n\n## Scope\nOnly JSON."
        ));
    }

    #[test]
    fn what_is_announced_as_another_text_is_not_the_persons() {
        let said = "Use port 8080.\n\nfrom the vendor's page, just as background\n\nNever call it twice.";
        assert_eq!(before_introduced(said).trim(), "Use port 8080.");
        let said = "das stand auf dem Zettel im Hausflur:\n\nBitte immer die Tür abschließen!";
        assert_eq!(before_introduced(said), "");
        let own = "Two rules for this:\n- never push to main\n- always run the tests";
        assert_eq!(before_introduced(own), own);
        let own = "It has to be quick, according to the plan.";
        assert_eq!(before_introduced(own), own, "nothing follows");
    }
}
