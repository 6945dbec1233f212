//! The texts of a page, each once, up to a size.

use std::collections::HashMap;

/// More of one text than this is not shown: a page is for reading.
const MOST_OF_ONE: usize = 2 << 20;

/// Texts with their places.
pub struct Texts {
    list: Vec<String>,
    /// Where a text stands, by its hash: the texts themselves would be here twice.
    places: HashMap<[u8; 32], usize>,
    room: usize,
    /// How many did not fit.
    pub refused: usize,
}

impl Texts {
    /// None yet, and room for so many bytes.
    pub fn new(room: usize) -> Self {
        Self {
            list: Vec::new(),
            places: HashMap::new(),
            room,
            refused: 0,
        }
    }

    /// The place of a text; `None` where there is no room for it.
    pub fn put(&mut self, text: &str) -> Option<usize> {
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        if let Some(place) = self.places.get(&hash) {
            return Some(*place);
        }
        let shown = clipped(text);
        if shown.len() > self.room {
            self.refused += 1;
            return None;
        }
        self.room -= shown.len();
        self.list.push(shown);
        self.places.insert(hash, self.list.len() - 1);
        Some(self.list.len() - 1)
    }

    /// The texts in the order of their places.
    pub fn into_list(self) -> Vec<String> {
        self.list
    }
}

fn clipped(text: &str) -> String {
    if text.len() <= MOST_OF_ONE {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MOST_OF_ONE);
    format!("{}\n[{} more bytes stand in the run]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_once_and_what_does_not_fit_is_counted() {
        let mut texts = Texts::new(10);
        assert_eq!(texts.put("12345"), Some(0));
        assert_eq!(texts.put("12345"), Some(0));
        assert_eq!(texts.put("123456"), None);
        assert_eq!(texts.put("abc"), Some(1));
        assert_eq!(texts.refused, 1);
        assert_eq!(texts.into_list(), ["12345", "abc"]);
    }

    #[test]
    fn an_endless_text_is_cut_between_characters() {
        let shown = clipped(&"é".repeat(MOST_OF_ONE));
        assert!(shown.len() < MOST_OF_ONE + 100 && shown.ends_with("more bytes stand in the run]"));
    }
}
