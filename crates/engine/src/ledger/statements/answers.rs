//! Which open questions a message answers.

use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::statements::Statements;
use crate::ledger::statements::is_identifier;
use crate::ledger::statements::is_of_another;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::sentence::Sentence;
use crate::ledger::statements::value::shape_of;
use crate::ledger::statements::words::stem as stem_of;
use crate::transcript::Author;

/// How many open questions a message is held against: those of the last few turns.
const MOST_ASKED: usize = 12;

/// A reply of so few words without a verb is an answer: "Friday.", "the second one".
const LONGEST_FRAGMENT: usize = 4;

impl Statements {
    /// Ends the questions of one side that the other side's message answers.
    pub(super) fn answer(&mut self, index: u32, spoken: &[Sentence<'_>], asked_by: Author) {
        let telling: Vec<&Sentence<'_>> = spoken
            .iter()
            .filter(|sentence| !sentence.question && !sentence.says(Says::Intent) && !sentence.says(Says::Report))
            .collect();
        if telling.is_empty() {
            return;
        }
        let asked: Vec<u32> = self
            .book
            .live(Kind::Question)
            .filter(|(_, item)| item.entry.author == asked_by && item.entry.last < index)
            .take(MOST_ASKED)
            .map(|(id, _)| id)
            .collect();
        for id in asked {
            if let Some(answer) = self.answer_to(id, &telling, asked_by) {
                self.book.settle(id, Status::Closed, index, &answer);
            }
        }
    }

    /// The sentence that answers a question.
    fn answer_to(&self, id: u32, telling: &[&Sentence<'_>], asked_by: Author) -> Option<String> {
        let item = self.book.item(id)?;
        let direct = match asked_by {
            Author::User => item.entry.last == self.person && self.pending.message <= self.person,
            _ => self.pending.questions.contains(&id),
        };
        if asked_by != Author::User
            && direct
            && let Some(reply) = self.direct_reply(id, telling)
        {
            return Some(reply);
        }
        let mut best: Option<(usize, &Sentence<'_>)> = None;
        let mut seen = vec![false; item.stems.len()];
        for sentence in telling {
            let mut here = 0;
            for (place, stem) in item.stems.iter().enumerate() {
                if mentions(sentence, stem) {
                    here += 1;
                    seen[place] = true;
                }
            }
            if here > best.map_or(0, |(most, _)| most) {
                best = Some((here, sentence));
            }
        }
        let shared = seen.iter().filter(|found| **found).count();
        if !direct && best.is_some_and(|(_, sentence)| is_of_another(&item.stems, &sentence.stems())) {
            return None;
        }
        let enough = match item.stems.len() {
            0 => {
                return (direct && asked_by == Author::User && telling[0].words.len() >= 3).then(|| telling[0].shown());
            }
            1 => shared == 1,
            known if direct => shared >= 1 && shared * 3 >= known,
            known => shared >= 2 && shared * 2 >= known && !names_left_out(&item.stems, &seen),
        };
        best.filter(|_| enough).map(|(_, sentence)| sentence.shown())
    }

    /// The person answers what they were just asked: yes or no, a value, a few words.
    fn direct_reply(&self, id: u32, telling: &[&Sentence<'_>]) -> Option<String> {
        let item = self.book.item(id)?;
        let first = telling
            .first()
            .filter(|first| !first.says(Says::Onward) || first.says(Says::Agree))?;
        let decided = first.hits(Says::Agree).any(|hit| hit.key != "weak") || first.says(Says::Refuse);
        let value = (0..first.words.len()).any(|place| shape_of(&first.words, place).is_strong());
        let fragment =
            first.words.len() <= LONGEST_FRAGMENT && first.stems().len() == 1 && self.pending.questions.len() == 1;
        let open_ended = asks_what(&item.entry.value);
        let answers =
            (decided && (!open_ended || first.words.len() > 2)) || (open_ended && (value || (fragment && !decided)));
        answers.then(|| first.shown())
    }
}

/// Words of short stems are short: "owns", "ships". In bytes of a Latin script.
const LONGEST_SHORT: usize = 6;

/// Whether a question names things and the answer none of them.
fn names_left_out(stems: &[Box<str>], seen: &[bool]) -> bool {
    let mut names = stems
        .iter()
        .zip(seen)
        .filter(|(stem, _)| is_identifier(stem))
        .peekable();
    names.peek().is_some() && !names.any(|(_, seen)| *seen)
}

/// Whether a sentence holds a word with this stem. Comparing beginnings is enough here and saves stemming every word.
fn mentions(sentence: &Sentence<'_>, stem: &str) -> bool {
    let start = stem.strip_suffix('i').filter(|start| start.len() >= 4).unwrap_or(stem);
    (0..sentence.words.len()).any(|index| {
        let word = sentence.words.at(index);
        let exact = start.len() < 4 || !start.chars().all(char::is_alphabetic);
        if exact {
            word == start || word == stem || (word.len() <= 2 * LONGEST_SHORT && stem_of(word) == stem)
        } else {
            word.starts_with(start) && !PATTERNS.is_dull(word)
        }
    })
}

/// Whether a question wants more than yes or no.
fn asks_what(question: &str) -> bool {
    const WORDS: [&str; 30] = [
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "where",
        "when",
        "how",
        "why",
        "provide",
        "share",
        "что",
        "какой",
        "какая",
        "какие",
        "какую",
        "каком",
        "кто",
        "где",
        "когда",
        "как",
        "куда",
        "сколько",
        "почему",
        "was",
        "welche",
        "wo",
        "qué",
        "cuál",
        "quel",
    ];
    let lower = question.to_lowercase();
    lower
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|word| WORDS.contains(&word))
}
