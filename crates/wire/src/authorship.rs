//! Who really wrote a message, from its role and its words; which words are whose the engine knows.

use mainstay_engine::decide::marker::opens_block;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::author_of_parts;

/// The author of a message, from its role and its words.
pub fn author_of(role: Role, parts: &[Part]) -> Author {
    let plain = Message::new(role, Vec::new()).author;
    // A block of ours goes out in whatever role its server wants.
    let is_ours = matches!(parts, [Part::Text(text)] if opens_block(text));
    if is_ours && matches!(role, Role::System | Role::Developer | Role::Assistant) {
        return Author::Summary;
    }
    if role != Role::User {
        return plain;
    }
    let has_results = parts.iter().any(|part| matches!(part, Part::Result(_)));
    author_of_parts(parts).unwrap_or(if has_results { Author::Tool } else { plain })
}

/// A message with its author settled.
pub fn message(role: Role, mut parts: Vec<Part>) -> Message {
    // A list that was pushed to has room for four; most messages have one part, and there may be a million.
    parts.shrink_to_fit();
    let author = author_of(role, &parts);
    Message {
        author,
        ..Message::new(role, parts)
    }
}
