//! Finding what was dropped, by words or by reference.
//!
//! All words first; if nothing has them all, any of them. Every word that is asked for reaches the index in quotes, so no
//! query is a syntax error. Texts in results come from verified bodies, never from the index.

use std::collections::HashMap;
use std::collections::HashSet;

use mainstay_engine::transcript::Author;
use rusqlite::Connection;
use serde::Serialize;

use crate::Store;
use crate::bodies::Unpacker;
use crate::checkpoint::CheckpointId;
use crate::error::StoreError;
use crate::kept::Kept;
use crate::passages;
use crate::passages::Mention;
use crate::passages::Passage;
use crate::seal::Hash;
use crate::snippet;
use crate::words;
use crate::words::Stemmers;

/// Terms of a query that count. People ask with a handful; a pasted page must not become a giant expression.
const MOST_TERMS: usize = 32;

/// Words of one term that count: a long path has about this many parts.
const MOST_WORDS: usize = 32;

/// A word as it was written counts twice as much as its stem.
const WORD_WEIGHT: f64 = 2.0;
const STEM_WEIGHT: f64 = 1.0;

/// What a person said outranks a tool's text that matches a little better, and so does a failure: both are short on
/// words and long on meaning. Half again moves them past a neighbour in rank and not past a clearly better match.
const USER_BOOST: f64 = 1.5;
const FAILURE_BOOST: f64 = 1.25;

/// How many candidates are weighed for each hit that is wanted, and at the least. The boosts cannot lift a text from
/// further down than this without it being a bad match.
const CANDIDATES_PER_HIT: usize = 4;
const LEAST_CANDIDATES: usize = 64;

/// Where to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// In the whole store.
    Everything,
    /// In what a conversation has lost.
    Conversation(&'a str),
    /// In what one compaction dropped.
    Checkpoint(&'a CheckpointId),
}

/// How a hit was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// Its reference was asked for.
    Reference,
    /// It has everything that was asked for.
    All,
    /// Nothing has everything; it has some.
    Some,
}

/// A text that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The reference by which the whole text can be fetched.
    pub reference: String,
    /// Where it stood.
    pub mention: Mention,
    /// The stretch that matches best.
    pub snippet: String,
    /// Bytes of the whole text.
    pub size: usize,
    /// How it was found.
    pub matched: Matched,
    /// How well it matches; higher is better, comparable within one result.
    pub score: f64,
}

impl Store {
    /// Finds dropped and trimmed texts, best first; the same text once. Any query is a valid one; a phrase in quotes is looked for
    /// as it stands.
    pub fn find(&self, query: &str, scope: Scope<'_>, most: usize) -> Result<Vec<Hit>, StoreError> {
        self.find_shown(query, scope, most, &|text| text.to_owned())
    }

    /// The same, with snippets out of texts as they may be shown. A snippet alone does not have what tells a secret from
    /// other words, so a text has to be cleaned whole.
    pub fn find_shown(
        &self,
        query: &str,
        scope: Scope<'_>,
        most: usize,
        shown: &dyn Fn(&str) -> String,
    ) -> Result<Vec<Hit>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let mut search = Search::new(&view, scope, query)?;
        let mut found = search.by_reference(query)?;
        let mut by_words = search.matching(" AND ", Matched::All, most)?;
        if by_words.is_empty() && search.terms.len() > 1 {
            by_words = search.matching(" OR ", Matched::Some, most)?;
        }
        found.extend(by_words);
        let mut seen: HashSet<Hash> = HashSet::new();
        found.retain(|candidate| seen.insert(candidate.passage.body));
        found.truncate(most);
        found
            .into_iter()
            .map(|candidate| search.hit(candidate, shown))
            .collect()
    }
}

/// Something that is asked for: a word, or words that must stand together.
struct Term {
    words: Vec<String>,
    stems: Vec<String>,
    literal: bool,
}

impl Term {
    fn new(text: &str, literal: bool, stemmers: &mut Stemmers) -> Option<Term> {
        let mut words = Vec::new();
        words::each_word(text, |_, word| {
            if words.len() < MOST_WORDS {
                words.push(word.to_owned());
            }
        });
        let stems = words.iter().map(|word| stemmers.stem(word).to_owned()).collect();
        (!words.is_empty()).then_some(Term { words, stems, literal })
    }

    /// The term in the index's language. Words hold only letters and digits, so the quotes cannot be left.
    fn expression(&self) -> String {
        let words = format!("words : \"{}\"", self.words.join(" "));
        match self.literal {
            true => words,
            false => format!("({words} OR stems : \"{}\")", self.stems.join(" ")),
        }
    }
}

/// Splits a query at white space; what stands in quotes stays together. A quote that is never closed is none.
fn terms(query: &str, stemmers: &mut Stemmers) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut rest = query;
    while let Some(first) = rest.trim_start().chars().next() {
        if terms.len() == MOST_TERMS {
            break;
        }
        rest = rest.trim_start();
        let closing = match first {
            '"' => Some('"'),
            '“' => Some('”'),
            '«' => Some('»'),
            _ => None,
        };
        let inside = &rest[first.len_utf8()..];
        let quoted = closing.and_then(|mark| inside.find(mark).map(|end| (end, mark.len_utf8())));
        let (text, literal, after) = match quoted {
            Some((end, mark)) => (&inside[..end], true, &inside[end + mark..]),
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (&rest[..end], false, &rest[end..])
            }
        };
        terms.extend(Term::new(text, literal, stemmers));
        rest = after;
    }
    terms
}

/// Which term a word or a stem belongs to, for snippets.
#[derive(Default)]
struct Asked {
    words: HashMap<String, usize>,
    stems: HashMap<String, usize>,
}

impl Asked {
    fn of(terms: &[Term]) -> Self {
        let mut asked = Asked::default();
        for (index, term) in terms.iter().enumerate() {
            for (word, stem) in term.words.iter().zip(&term.stems) {
                asked.words.entry(word.clone()).or_insert(index);
                if !term.literal {
                    asked.stems.entry(stem.clone()).or_insert(index);
                }
            }
        }
        asked
    }
}

struct Candidate {
    passage: Passage,
    mention: Mention,
    matched: Matched,
    score: f64,
}

struct Search<'a> {
    view: &'a Connection,
    conversation: Option<&'a str>,
    /// For a checkpoint: the passages it dropped.
    passages: Option<HashSet<i64>>,
    terms: Vec<Term>,
    asked: Asked,
    stemmers: Stemmers,
    unpacker: Unpacker,
}

impl<'a> Search<'a> {
    fn new(view: &'a Connection, scope: Scope<'a>, query: &str) -> Result<Self, StoreError> {
        let mut stemmers = Stemmers::new();
        let terms = terms(query, &mut stemmers);
        let mut search = Search {
            view,
            conversation: None,
            passages: None,
            asked: Asked::of(&terms),
            terms,
            stemmers,
            unpacker: Unpacker::new()?,
        };
        match scope {
            Scope::Everything => {}
            Scope::Conversation(key) => search.conversation = Some(key),
            Scope::Checkpoint(id) => {
                let mut dropped = HashSet::new();
                for entry in Kept::load(view, id)?.entries(&mut search.unpacker)? {
                    dropped.extend(passages::by_reference(view, &entry.reference)?.map(|passage| passage.id));
                }
                search.passages = Some(dropped);
            }
        }
        Ok(search)
    }

    /// A passage with its mention, if it is in scope.
    fn candidate(&self, passage: Passage, matched: Matched, score: f64) -> Result<Option<Candidate>, StoreError> {
        if self
            .passages
            .as_ref()
            .is_some_and(|dropped| !dropped.contains(&passage.id))
        {
            return Ok(None);
        }
        let mention = passages::mention_of(self.view, passage.id, self.conversation)?;
        Ok(mention.map(|mention| Candidate {
            passage,
            mention,
            matched,
            score,
        }))
    }

    /// What the query names by reference, as it stands or in brackets.
    fn by_reference(&self, query: &str) -> Result<Vec<Candidate>, StoreError> {
        let mut found = Vec::new();
        for word in query.split_whitespace().take(MOST_TERMS) {
            let bare = word.trim_matches(|mark: char| mark.is_ascii_punctuation());
            let known = match passages::by_reference(self.view, word)? {
                None if bare != word => passages::by_reference(self.view, bare)?,
                known => known,
            };
            if let Some(passage) = known {
                found.extend(self.candidate(passage, Matched::Reference, f64::MAX)?);
            }
        }
        Ok(found)
    }

    fn matching(&self, operator: &str, matched: Matched, most: usize) -> Result<Vec<Candidate>, StoreError> {
        if self.terms.is_empty() || most == 0 {
            return Ok(Vec::new());
        }
        let terms: Vec<String> = self.terms.iter().map(Term::expression).collect();
        let limit = most.saturating_mul(CANDIDATES_PER_HIT).max(LEAST_CANDIDATES);
        let mut found = Vec::new();
        for (id, score) in self.ranked(&terms.join(operator), limit)? {
            // The index may lag behind nothing, but a damaged one may point nowhere.
            let Some(passage) = passages::by_number(self.view, id)? else {
                return Err(StoreError::damaged("the search index points nowhere"));
            };
            found.extend(self.candidate(passage, matched, score)?);
        }
        for candidate in &mut found {
            if candidate.mention.author == Author::User {
                candidate.score *= USER_BOOST;
            }
            if candidate.mention.failed {
                candidate.score *= FAILURE_BOOST;
            }
        }
        found.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score.then(one.passage.id.cmp(&other.passage.id))
        });
        Ok(found)
    }

    fn ranked(&self, expression: &str, limit: usize) -> Result<Vec<(i64, f64)>, StoreError> {
        // Both are spelled so that SQLite asks them of each match, and does not match once for every passage in scope.
        let scope = match (self.conversation, &self.passages) {
            (Some(_), _) => {
                "AND EXISTS (SELECT 1 FROM mention WHERE conversation = ?2 AND passage = passage_text.rowid)"
            }
            (None, Some(_)) => "AND +rowid IN (SELECT value FROM json_each(?2))",
            (None, None) => "AND ?2 IS NULL",
        };
        let passages = self.passages.as_ref().map(|dropped| {
            let mut ids: Vec<i64> = dropped.iter().copied().collect();
            ids.sort_unstable();
            serde_json::to_string(&ids).expect("numbers are JSON")
        });
        let mut select = self.view.prepare_cached(&format!(
            "SELECT rowid, -bm25(passage_text, {WORD_WEIGHT:.1}, {STEM_WEIGHT:.1}) AS score FROM passage_text
             WHERE passage_text MATCH ?1 {scope} ORDER BY score DESC, rowid LIMIT ?3"
        ))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let second = self.conversation.map(str::to_owned).or(passages);
        let rows = select.query_map((expression, second, limit), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn hit(&mut self, candidate: Candidate, shown: &dyn Fn(&str) -> String) -> Result<Hit, StoreError> {
        let body = self.unpacker.read(self.view, &candidate.passage.body)?;
        let text = shown(&String::from_utf8_lossy(&body));
        let (asked, stemmers) = (&self.asked, &mut self.stemmers);
        let snippet = snippet::cut(&text, self.terms.len(), |word| {
            let exact = asked.words.get(word);
            exact.or_else(|| asked.stems.get(stemmers.stem(word))).copied()
        });
        Ok(Hit {
            reference: candidate.passage.reference,
            mention: candidate.mention,
            snippet,
            size: body.len(),
            matched: candidate.matched,
            score: candidate.score,
        })
    }
}
