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
