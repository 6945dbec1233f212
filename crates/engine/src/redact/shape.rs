//! The form of a token: classes with counts, and literals.
//!
//! Matching is greedy and never goes back, so it is linear; a rule whose class swallows the literal after it is refused
//! when the rules are read.

use crate::redact::chars::Class;
use crate::redact::chars::is_uuid;

/// How far an open count reaches: longer than any token of a known vendor (a cookie or a service account token fits).
const MOST: usize = 4096;

#[derive(Clone, Debug)]
enum Piece {
    Run {
        class: &'static Class,
        least: usize,
        most: usize,
    },
    Literal(Box<[u8]>),
    Uuid,
}

/// A list of pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape(Vec<Piece>);

impl Shape {
    /// Reads `w36,"_",h8`; `None` when it cannot be read.
    pub fn parse(text: &str) -> Option<Self> {
        let mut pieces = Vec::new();
        for piece in text.split(',') {
            if let Some(quoted) = piece.strip_prefix('"') {
                let literal = quoted.strip_suffix('"')?.replace("\\s", " ");
                pieces.push(Piece::Literal(literal.as_bytes().into()));
                continue;
            }
            if piece == "g" {
                pieces.push(Piece::Uuid);
                continue;
            }
            let letter = piece.chars().next()?;
            let (least, most) = counts(&piece[letter.len_utf8()..])?;
            let class = Class::of(letter)?;
            pieces.push(Piece::Run { class, least, most });
        }
        Some(Shape(pieces))
    }

    /// Where a match that starts here ends.
    pub fn end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        for piece in &self.0 {
            at = match piece {
                Piece::Run { class, least, most } => {
                    let end = class.run(bytes, at, *most);
                    if end - at < *least {
                        return None;
                    }
                    end
                }
                Piece::Literal(literal) => {
                    if !bytes[at..].starts_with(literal) {
                        return None;
                    }
                    at + literal.len()
                }
                Piece::Uuid => {
                    if !is_uuid(bytes.get(at..at + 36)?) {
                        return None;
                    }
                    at + 36
                }
            };
        }
        Some(at)
    }

    /// Where a match that ends here starts. Only the first piece counts, and it must be a run.
    pub fn start(&self, bytes: &[u8], end: usize) -> Option<usize> {
        match self.0.first()? {
            Piece::Run { class, least, most } => {
                let start = class.run_back(bytes, end, *most);
                (end - start >= *least).then_some(start)
            }
            Piece::Literal(_) | Piece::Uuid => None,
        }
    }

    /// Whether the last piece takes all it can: then what follows is no part of the token.
    pub fn is_open(&self) -> bool {
        match self.0.last() {
            Some(Piece::Run { least, most, .. }) => least != most,
            Some(Piece::Literal(_) | Piece::Uuid) | None => false,
        }
    }

    /// The fewest bytes a match has.
    pub fn least(&self) -> usize {
        let least = self.0.iter().map(|piece| match piece {
            Piece::Run { least, .. } => *least,
            Piece::Literal(literal) => literal.len(),
            Piece::Uuid => 36,
        });
        least.sum()
    }
}

fn counts(text: &str) -> Option<(usize, usize)> {
    if let Some(least) = text.strip_suffix('+') {
        return Some((least.parse().ok()?, MOST));
    }
    match text.split_once('-') {
        Some((least, most)) => Some((least.parse().ok()?, most.parse().ok()?)),
        None => {
            let exact = text.parse().ok()?;
            Some((exact, exact))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_match_greedily_and_exactly() {
        let shape = Shape::parse("w4,\"_\",h2+").unwrap();
        assert_eq!(shape.end(b"ab12_beefz", 0), Some(9));
        assert_eq!(shape.end(b"ab1_beef", 0), None);
        assert_eq!(shape.least(), 7);
        assert!(shape.is_open());
        assert!(Shape::parse("w36").is_some_and(|shape| !shape.is_open()));
        assert!(Shape::parse("?3").is_none());
        assert_eq!(Shape::parse("d2-4").unwrap().start(b"x12345", 6), Some(2));
    }
}
