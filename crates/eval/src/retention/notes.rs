//! What was already worked out about the texts of one session: their identifiers, their tokens. Baselines give the same
//! texts back again and again, at every budget.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use tiktoken::CoreBpe;

use crate::retention::identifiers;
use crate::retention::identifiers::Class;

/// What a message costs beside its text, as the metric is defined.
const OVERHEAD: usize = 4;

fn vocabulary() -> &'static CoreBpe {
    tiktoken::get_encoding("cl100k_base").expect("the vocabulary is compiled in")
}

/// The tokens of a message with this text.
pub fn count(text: &str) -> usize {
    OVERHEAD + vocabulary().count(text)
}

/// An identifier's number within one session.
pub type Id = u32;

/// The identifiers of a text with their classes.
pub type Found = Rc<[(Id, Class)]>;

/// Notes on one session.
#[derive(Default)]
pub struct Notes {
    ids: HashMap<Arc<str>, Id>,
    names: Vec<Arc<str>>,
    stems: Vec<Id>,
    found: HashMap<Arc<str>, Found>,
    counts: HashMap<Arc<str>, usize>,
    tokens: HashMap<Arc<str>, Rc<[u32]>>,
}

impl Notes {
    /// The identifiers of a text.
    pub fn find(&mut self, text: &Arc<str>) -> Found {
        if let Some(found) = self.found.get(text) {
            return Rc::clone(found);
        }
        let named = identifiers::find(text);
        let found: Found = named
            .into_iter()
            .map(|(name, class)| (self.number(&name), class))
            .collect();
        self.found.insert(Arc::clone(text), Rc::clone(&found));
        found
    }

    fn number(&mut self, name: &str) -> Id {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = Id::try_from(self.names.len()).expect("a session has fewer than 2^32 identifiers");
        let shared: Arc<str> = name.into();
        self.ids.insert(Arc::clone(&shared), id);
        self.names.push(shared);
        self.stems.push(id);
        let trimmed = name.trim_end_matches('/');
        let stem = trimmed.rsplit_once('/').map_or(trimmed, |(_, stem)| stem);
        if stem != name {
            self.stems[id as usize] = self.number(stem);
        }
        id
    }

    /// The spelling of an identifier.
    pub fn name(&self, id: Id) -> &Arc<str> {
        &self.names[id as usize]
    }

    /// The last piece of a path; the identifier itself where it has no other.
    pub fn stem(&self, id: Id) -> Id {
        self.stems[id as usize]
    }

    /// What a message with this text costs.
    pub fn count(&mut self, text: &Arc<str>) -> usize {
        if let Some(count) = self.counts.get(text) {
            return *count;
        }
        let count = count(text);
        self.counts.insert(Arc::clone(text), count);
        count
    }

    fn tokens(&mut self, text: &Arc<str>) -> Rc<[u32]> {
        if let Some(tokens) = self.tokens.get(text) {
            return Rc::clone(tokens);
        }
        let tokens: Rc<[u32]> = vocabulary().encode(text).into();
        self.tokens.insert(Arc::clone(text), Rc::clone(&tokens));
        tokens
    }

    /// The last tokens of a text; the text itself where it has no more.
    pub fn last(&mut self, text: &Arc<str>, most: usize) -> Arc<str> {
        let tokens = self.tokens(text);
        if tokens.len() <= most {
            return Arc::clone(text);
        }
        decode(&tokens[tokens.len() - most..]).into()
    }

    /// The first tokens of a text; the text itself where it has no more.
    pub fn first(&mut self, text: &Arc<str>, most: usize) -> Arc<str> {
        let tokens = self.tokens(text);
        if tokens.len() <= most {
            return Arc::clone(text);
        }
        decode(&tokens[..most]).into()
    }

    /// The first and the last tokens of a text with a note between them; the text itself where that gains little.
    pub fn ends(&mut self, text: &Arc<str>, most: usize) -> Arc<str> {
        // About what the note costs, as the metric is defined.
        const NOTE: usize = 12;
        let tokens = self.tokens(text);
        if tokens.len() <= most + NOTE {
            return Arc::clone(text);
        }
        let head = most / 2;
        let elided = tokens.len() - most;
        let tail = &tokens[tokens.len() - (most - head)..];
        format!(
            "{}\n[... {elided} tokens elided ...]\n{}",
            decode(&tokens[..head]),
            decode(tail)
        )
        .into()
    }
}

/// The text of tokens; where they begin or end inside of a character, a replacement character stands.
fn decode(tokens: &[u32]) -> String {
    String::from_utf8_lossy(&vocabulary().decode(tokens)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_tokens_and_characters_in_half_are_replaced() {
        let mut notes = Notes::default();
        let text: Arc<str> = "one two three four five six seven eight nine ten".into();
        assert_eq!(notes.count(&text), 14);
        assert_eq!(&*notes.last(&text, 2), " nine ten");
        assert_eq!(&*notes.first(&text, 2), "one two");
        assert_eq!(notes.first(&text, 10), text);
        assert_eq!(&*notes.last(&text, 0), "");
        let long: Arc<str> = "a b ".repeat(20).trim_end().into();
        assert_eq!(&*notes.ends(&long, 4), "a b\n[... 36 tokens elided ...]\n a b");
        // A character of several tokens.
        let character: Arc<str> = "𒀀".into();
        assert!(notes.first(&character, 1).contains('\u{fffd}'));
        assert_eq!(count(""), 4);
    }

    #[test]
    fn an_identifier_has_one_number_and_a_path_its_last_piece() {
        let mut notes = Notes::default();
        let found = notes.find(&"src/auth/login.rs and login.rs".into());
        let names: Vec<_> = found.iter().map(|(id, _)| notes.name(*id).to_string()).collect();
        assert_eq!(names, ["src/auth/login.rs", "login.rs"]);
        assert_eq!(notes.stem(found[0].0), found[1].0);
        assert_eq!(notes.stem(found[1].0), found[1].0);
    }
}
