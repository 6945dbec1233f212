//! People's own words in user messages, sentences, and one spelling of both in which a state is searched.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;

/// A sentence has at least so many characters; a shorter one stands in any text.
const LEAST_SENTENCE: usize = 16;

/// What the person wrote in a message; `None` where it is somebody else's, or empty.
pub fn own_words(message: &Message) -> Option<String> {
    if message.role != Role::User || message.author != Author::User || message.has_results() {
        return None;
    }
    let words = message.person_words().join("\n");
    let words = words.trim();
    words.chars().any(char::is_alphanumeric).then(|| words.to_owned())
}

/// The text in which a state is searched: single spaces, no marks of quotation in front of lines.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches(['>', '│', '|']);
        for word in line.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

/// The sentences of a text, each folded and without the mark of a list in front of it. Very short ones are left out: they
/// stand in any text.
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = folded(line);
        let line = line.trim_start_matches(['-', '*', '•', '#', ' ']);
        let mut start = 0;
        let mut marks = line.char_indices().peekable();
        while let Some((at, c)) = marks.next() {
            let end = at + c.len_utf8();
            let ends_here = match c {
                '.' | '!' | '?' => marks.peek().is_none_or(|(_, next)| *next == ' '),
                '。' | '！' | '？' => true,
                _ => false,
            };
            if ends_here {
                add_sentence(&line[start..end], &mut found);
                start = end;
            }
        }
        add_sentence(&line[start..], &mut found);
    }
    found
}

fn add_sentence(text: &str, found: &mut Vec<String>) {
    let text = text.trim();
    // A Chinese sentence says in a third of the characters what an English one does.
    let length: usize = text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    if length >= LEAST_SENTENCE {
        found.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use mainstay_engine::transcript::Part;
    use mainstay_wire::authorship;

    use super::*;

    fn user(text: &str) -> Message {
        authorship::message(Role::User, vec![Part::Text(text.into())])
    }

    #[test]
    fn elements_of_the_host_are_not_the_persons_words() {
        let words = |text: &str| own_words(&user(text));
        assert_eq!(words("<system-reminder>be kind</system-reminder>"), None);
        let mixed = "keep the cron alone\n<system-reminder>the date\nis new</system-reminder>";
        assert_eq!(words(mixed).as_deref(), Some("keep the cron alone"));
        assert_eq!(
            words("a <b> and an <image open").as_deref(),
            Some("a <b> and an <image open")
        );
        let asked = "# Context from my IDE setup:\nopen tabs\n## My request for Codex:\nrename it";
        assert_eq!(words(asked).as_deref(), Some("rename it"));
        assert_eq!(
            own_words(&Message::new(Role::Assistant, vec![Part::Text("yes".into())])),
            None
        );
    }

    #[test]
    fn sentences_end_at_marks_and_lines_and_short_ones_do_not_count() {
        let text = "- Use the second port, 1.5 times. Ok. Never touch the archive!\n> quoted words go on\nin here";
        assert_eq!(
            sentences(text),
            [
                "Use the second port, 1.5 times.",
                "Never touch the archive!",
                "quoted words go on"
            ]
        );
        assert_eq!(sentences("请不要删除旧的备份。好。"), ["请不要删除旧的备份。"]);
        assert_eq!(folded("> a\n  > b  c\n\nd"), "a b c d");
    }
}
