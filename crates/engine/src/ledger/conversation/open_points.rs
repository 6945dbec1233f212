//! Questions that wait for an answer and promises that wait to be kept, listed only while that is certain.
//!
//! A question is open when the reply to it is no answer: it asks back, puts off, or has neither a value nor a yes or no nor a word of
//! the question in it. As soon as anybody speaks of its subject again it is no longer certain, and it leaves the list; its words
//! stay in the conversation either way. The same holds for promises.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::replies::QuestionKind;
use crate::ledger::conversation::replies::ReplyKind;
use crate::ledger::conversation::replies::content_stems;
use crate::ledger::conversation::replies::reply_kind;
use crate::ledger::conversation::worth::begins_with_answer;
use crate::ledger::statements::is_identifier;

/// How many points are held at once; the oldest go first. A list longer than this helps nobody.
const POINTS_HELD: usize = 64;

/// Words by which people ask for something, in lower case.
const POLITE: [&str; 6] = ["please", "pls", "bitte", "пожалуйста", "porfavor", "favor"];

/// A reply of at most this many words says one thing.
const ANSWER_WORDS: usize = 6;

/// Identifiers that are held of a message that asks something.
const NAMES_HELD: usize = 16;

/// An identifier with at least this many letters is the same one where more stands behind it: `db-staging-1.example.com`.
const OPENING_LETTERS: usize = 6;

/// Words that are remembered as used. Beyond that a conversation has used most words that it will.
const WORDS_HELD: usize = 20_000;

/// What waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointKind {
    /// An answer is awaited.
    Question,
    /// Somebody said they would do something.
    Promise,
}

/// Something that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPoint {
    /// What waits.
    pub kind: PointKind,
    /// The position of the record that holds it.
    pub record: u32,
    /// The sentence in it.
    pub sentence: u32,
    /// Who spoke.
    pub speaker: Speaker,
    /// What it is about.
    stems: Vec<Box<str>>,
    /// Those of its words that nobody had used before: whoever speaks of it again uses one of them.
    new_stems: Vec<Box<str>>,
    /// Of a question: identifiers in the message that asks it. A reply that names one speaks of what was asked.
    #[serde(default)]
    named: Vec<Box<str>>,
    /// Of a question: whether a reply has come that was no answer.
    has_reply: bool,
    /// Of a question: what it asks for.
    #[serde(default)]
    asks: QuestionKind,
    /// Of a question: whether it is about the sentence before it.
    #[serde(default)]
    pub is_pointing: bool,
    /// Of a question: whether the agent put it off between calls, and its turn goes on.
    #[serde(default)]
    is_at_work: bool,
}

/// What waits in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPoints {
    points: Vec<OpenPoint>,
    /// Words that were used so far.
    used: BTreeSet<Box<str>>,
}

impl OpenPoints {
    /// Takes in a record at its position.
    pub fn learn(&mut self, position: usize, record: &ConversationRecord) {
        let all = content_stems(&record.text);
        self.settle(record, &all);
        let named: Vec<Box<str>> = all
            .iter()
            .filter(|stem| is_identifier(stem))
            .take(NAMES_HELD)
            .cloned()
            .collect();
        for (index, sentence) in record.sentences.iter().enumerate() {
            let kind = match (sentence.signs.question, sentence.signs.promise) {
                (true, _) => PointKind::Question,
                (false, true) => PointKind::Promise,
                (false, false) => continue,
            };
            let words = record.words_of(sentence);
            if sentence.signs.pasted || kind == PointKind::Question && is_answered_by_itself(record, index) {
                continue;
            }
            // What an agent says it will do it mostly does at once; only what it puts off waits.
            let is_done_at_once = record.speaker == Speaker::Agent && !is_put_off(words, sentence.signs.values > 0);
            if kind == PointKind::Promise && is_done_at_once {
                continue;
            }
            let mut stems = content_stems(words);
            // "Want me to land that?" is about what stands before it.
            let is_pointing = stems.len() < 2 && kind == PointKind::Question && record.speaker == Speaker::Agent;
            if is_pointing && index > 0 {
                stems = content_stems(record.words_of(&record.sentences[index - 1]));
            }
            if stems.len() < 2 {
                continue;
            }
            let new_stems = stems
                .iter()
                .filter(|stem| !self.used.contains(&***stem))
                .cloned()
                .collect();
            self.points.push(OpenPoint {
                kind,
                record: position as u32,
                sentence: index as u32,
                speaker: record.speaker,
                stems,
                new_stems,
                named: match kind {
                    PointKind::Question => named.clone(),
                    PointKind::Promise => Vec::new(),
                },
                has_reply: false,
                asks: QuestionKind::of(words),
                is_pointing,
                is_at_work: false,
            });
        }
        if self.points.len() > POINTS_HELD {
            let over = self.points.len() - POINTS_HELD;
            self.points.drain(..over);
        }
        if self.used.len() < WORDS_HELD {
            self.used.extend(all);
        }
    }

    /// What certainly waits, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &OpenPoint> {
        self.points.iter().filter(|point| match point.kind {
            PointKind::Question => point.has_reply,
            PointKind::Promise => true,
        })
    }

    /// Takes off what a record answers, keeps or may have kept.
    fn settle(&mut self, record: &ConversationRecord, all: &[Box<str>]) {
        let used = &self.used;
        // A few words that say something new, and ask for nothing, are an answer: "tarragon, as always".
        let asks = record
            .sentences
            .iter()
            .any(|sentence| sentence.signs.cue || sentence.signs.question)
            || record
                .text
                .to_lowercase()
                .split_whitespace()
                .any(|word| POLITE.contains(&word));
        let is_short = record.text.split_whitespace().take(ANSWER_WORDS + 1).count() <= ANSWER_WORDS;
        // Between calls the agent may have said "let me check"; how it ends its turn is what it answers.
        let closes = record.speaker == Speaker::Agent && record.closes_turn && begins_with_answer(&record.text);
        let is_news = is_short && !asks && all.iter().any(|stem| !used.contains(stem));
        self.points.retain_mut(|point| {
            match point.kind {
                PointKind::Question if point.speaker != record.speaker && !point.has_reply => {
                    match reply_kind(&record.text, &point.stems, point.asks) {
                        ReplyKind::Answer => false,
                        ReplyKind::Unrelated if is_news || point.is_named_in(all) => false,
                        ReplyKind::PutOff => {
                            point.has_reply = true;
                            point.is_at_work = record.speaker == Speaker::Agent && !record.closes_turn;
                            true
                        }
                        // The agent may have done what it was asked for; the person has heard the question.
                        ReplyKind::Unrelated => {
                            point.has_reply = record.speaker == Speaker::Person;
                            true
                        }
                    }
                }
                PointKind::Question if point.has_reply => {
                    let is_answered = closes && point.speaker == Speaker::Person && point.is_at_work;
                    point.is_at_work &= record.speaker == Speaker::Agent;
                    !is_answered && !point.may_be_meant(all)
                }
                PointKind::Question => true,
                PointKind::Promise => !point.may_be_meant(all),
            }
        });
    }
}

/// Sentences behind a question with which its message may still end: "Want me to? It is a small change."
const BEHIND_QUESTION: usize = 4;

/// Whether a message goes on to answer a question of its own: more follows it than a remark.
fn is_answered_by_itself(record: &ConversationRecord, question: usize) -> bool {
    let behind = record.sentences[question + 1..].iter();
    record.speaker == Speaker::Agent && behind.filter(|sentence| !sentence.signs.question).count() > BEHIND_QUESTION
}

/// Words behind "I will" with which nobody promises to do something, in lower case.
const HAPPENING: [&str; 8] = ["get", "be", "know", "see", "hear", "need", "have", "assume"];

/// Whether a sentence tells what will happen to its speaker: "I'll get notified when it completes".
fn happens(lower: &str) -> bool {
    let words: Vec<&str> = lower.split_whitespace().collect();
    let will = |pair: &&[&str]| matches!(pair[0], "i'll" | "i’ll" | "will") && HAPPENING.contains(&pair[1]);
    words.windows(2).any(|pair| will(&pair))
}

/// Words that put something off, in lower case.
const WHEN: &str = "once after when until till before by tomorrow tonight later monday tuesday wednesday thursday friday saturday sunday week \
    month sobald nachdem wenn bis vor morgen später montag dienstag mittwoch donnerstag freitag samstag sonntag woche monat когда после \
    до завтра позже понедельник понедельника вторник вторника среды среду четверг четверга пятницу пятницы субботу воскресенье неделе \
    cuando después mañana hasta antes lunes martes miércoles jueves viernes sábado domingo quand après demain avant lundi mardi mercredi \
    jeudi vendredi samedi dimanche";

/// Whether a promise names a time or what has to come first.
fn is_put_off(words: &str, has_value: bool) -> bool {
    let lower = words.to_lowercase();
    if happens(&lower) {
        return false;
    }
    let mut said = lower.split(|letter: char| !letter.is_alphanumeric());
    lower.contains("明天")
        || lower.contains("之后")
        || lower.contains("之前")
        || said.any(|word| word.len() > 1 && WHEN.split_whitespace().any(|when| when == word))
        || has_value && lower.contains(|letter: char| letter.is_ascii_digit())
}

impl OpenPoint {
    /// Whether a reply with these words names something that the message with the question named.
    fn is_named_in(&self, all: &[Box<str>]) -> bool {
        let opens = |long: &str, short: &str| {
            let behind = long.strip_prefix(short).and_then(|behind| behind.chars().next());
            short.chars().count() >= OPENING_LETTERS && behind.is_some_and(|next| !next.is_alphanumeric())
        };
        let is_same = |one: &str, other: &str| one == other || opens(one, other) || opens(other, one);
        self.named.iter().any(|name| all.iter().any(|stem| is_same(name, stem)))
    }

    /// Whether a text with these words may speak of it.
    fn may_be_meant(&self, all: &[Box<str>]) -> bool {
        let shared = |stems: &[Box<str>]| stems.iter().filter(|stem| all.contains(stem)).count();
        // An identifier that nobody had used before is what it is about.
        let mut identifiers = self.new_stems.iter().filter(|stem| is_identifier(stem));
        if identifiers.any(|stem| all.contains(stem)) {
            return true;
        }
        match self.new_stems.len() {
            0 => {
                let known = self.stems.len();
                let shared = shared(&self.stems);
                shared >= 2 && shared * 3 >= known || shared >= 1 && known <= 2
            }
            1 | 2 => shared(&self.new_stems) > 0,
            // Whoever says that it is done names the thing, and little else of the promise.
            _ if self.kind == PointKind::Promise && shared(&self.stems) > 1 => shared(&self.new_stems) > 0,
            _ => shared(&self.new_stems) > 1,
        }
    }
}

#[cfg(test)]
#[path = "open_points_tests.rs"]
mod tests;
