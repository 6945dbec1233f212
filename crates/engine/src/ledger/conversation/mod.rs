//! The conversation itself: what the person and the agent said, in order, word for word.
//!
//! [`ConversationLog`] is folded message by message and keeps the person's words and the agent's texts as they may be shown. Nothing
//! in it is inferred but links between sentences: which later message speaks of the same thing with another value. What a
//! block shows of it is chosen sentence by sentence in [`select`], and written in [`render`].

pub mod correction_words;
pub mod links;
pub mod open_points;
pub mod record;
pub mod render;
pub mod replies;
pub mod same_thing;
pub mod select;
pub mod subject;
mod turns_of_phrase;

use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;

use crate::decide::marker::opens_block;
use crate::ledger::conversation::links::SubjectIndex;
use crate::ledger::conversation::open_points::OpenPoints;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::ConversationSentence;
use crate::ledger::conversation::record::LaterWord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::record::is_list_item;
use crate::ledger::conversation::record::is_question;
use crate::ledger::facts::ReplacedValue;
use crate::ledger::quote::has_word;
use crate::shrink::is_telling_line;
use crate::shrink::telling_lines;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::PassageKind;
use crate::transcript::PasteKind;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::person_answers;
use crate::transcript::split_pastes;

/// Bytes of a message by the person that are kept: more is a document, whose beginning and end tell what it is.
const PERSON_BYTES: usize = 32_000;
/// Bytes of a text by the agent that are kept.
const AGENT_BYTES: usize = 8_000;
/// Bytes of the agent's texts between calls that are held in all; the oldest go first. Closing texts are not counted.
const WORKING_BYTES: usize = 400_000;
/// A message of so many words that follows a question or a list answers it.
const REPLY_WORDS: usize = 60;

/// A message up to this size is kept with what was pasted into it.
const PASTE_SHOWN_BYTES: usize = 1_200;
/// Telling lines of something that was pasted.
const PASTE_LINES: usize = 4;
/// Calls of tools that ask the person, while they wait for the answer.
const ASKING_CALLS: usize = 16;

/// What was said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationLog {
    records: Vec<ConversationRecord>,
    subjects: SubjectIndex,
    open_points: OpenPoints,
    /// Where the agent's newest text stands, while the person has said nothing since.
    agent_text: Option<u32>,
    working_bytes: usize,
    /// Calls whose results may hold words of the person.
    asking: Vec<ToolCall>,
    /// Where the next text to be dropped for room may stand.
    oldest_working: usize,
}

impl ConversationLog {
    /// Takes in a message, which must be as it may be shown.
    pub fn fold(&mut self, number: u32, message: &Message) {
        match (message.author, message.role) {
            (Author::User, Role::User) => {
                let words = person_words(message);
                if !words.is_empty() {
                    self.add_person(number, &words);
                }
            }
            (Author::Assistant, Role::Assistant) => {
                let words = texts(message).join("\n");
                if !words.trim().is_empty() {
                    self.add_agent(number, words.trim(), message.calls().next().is_none());
                }
            }
            _ => {}
        }
        self.fold_answers(number, message);
    }

    /// Takes in what the person says through a tool.
    fn fold_answers(&mut self, number: u32, message: &Message) {
        for result in message.results() {
            let Some(place) = self.asking.iter().position(|call| call.id == result.id) else {
                continue;
            };
            let call = self.asking.remove(place);
            for answer in person_answers(&call, result) {
                if let Some(question) = answer.question.filter(|question| !question.trim().is_empty()) {
                    self.add_agent(number, question.trim(), true);
                }
                if !answer.reply.trim().is_empty() {
                    self.add_person(number, answer.reply.trim());
                }
            }
        }
        for call in message.calls() {
            self.asking.push(call.clone());
            if self.asking.len() > ASKING_CALLS {
                self.asking.remove(0);
            }
        }
    }

    /// What was said, in order.
    pub fn records(&self) -> &[ConversationRecord] {
        &self.records
    }

    /// Whether the sentence of a message that gives a value was corrected since, or another message speaks of it later.
    pub fn is_corrected(&self, number: u32, value: &str) -> bool {
        self.records[self.records_of(number)].iter().any(|record| {
            let gives = |sentence: &&ConversationSentence| has_word(record.words_of(sentence), value);
            let mut giving = record.sentences.iter().filter(gives);
            giving.any(|sentence| sentence.later.is_some())
        })
    }

    /// Whether a sentence of a message was corrected since, or another message speaks of it later.
    pub fn has_later_word(&self, number: u32) -> bool {
        let mut sentences = self.records[self.records_of(number)]
            .iter()
            .flat_map(|record| &record.sentences);
        sentences.any(|sentence| sentence.later.is_some())
    }

    /// The person's sentences that were corrected since, or that another message speaks of later, the newest first.
    pub fn sentences_with_later_word(&self) -> impl Iterator<Item = String> {
        let person = self
            .records
            .iter()
            .rev()
            .filter(|record| record.speaker == Speaker::Person);
        person.flat_map(|record| {
            let linked = record.sentences.iter().filter(|sentence| sentence.later.is_some());
            linked.map(|sentence| record.words_of(sentence).to_owned())
        })
    }

    /// Where the records of a message stand: it has several where the person answers through a tool.
    fn records_of(&self, number: u32) -> Range<usize> {
        let start = self.records.partition_point(|record| record.number < number);
        let end = self.records.partition_point(|record| record.number <= number);
        start..end
    }

    /// The words of a later sentence.
    pub fn sentence(&self, later: LaterWord) -> Option<&str> {
        let record = self.records.get(later.record as usize)?;
        Some(record.words_of(record.sentences.get(later.sentence as usize)?))
    }

    /// What certainly waits.
    pub fn open_points(&self) -> &OpenPoints {
        &self.open_points
    }

    /// Notes that a later message takes back what a sentence of an earlier one says, or gives another value for it.
    pub fn note_replaced(&mut self, replaced: &ReplacedValue, by: u32) {
        let Some((record, sentence)) = self.place_of(by, replaced.new.as_deref()) else {
            return;
        };
        let later = LaterWord {
            message: by,
            record: record as u32,
            sentence: sentence as u32,
            corrects: true,
        };
        // Where several sentences name the value, nobody knows which of them was meant.
        let mut giving = self.places_with(replaced.message, &replaced.old);
        if let (Some((record, sentence)), None) = (giving.next(), giving.next()) {
            let sentence = &mut self.records[record].sentences[sentence];
            if sentence.later.is_none_or(|known| !known.corrects) {
                sentence.later = Some(later);
            }
        }
    }

    /// The sentences of a message that have a value as a word of its own.
    fn places_with(&self, number: u32, value: &str) -> std::vec::IntoIter<(usize, usize)> {
        let mut places = Vec::new();
        for position in self.records_of(number) {
            let record = &self.records[position];
            for (index, sentence) in record.sentences.iter().enumerate() {
                if has_word(record.words_of(sentence), value) {
                    places.push((position, index));
                }
            }
        }
        places.into_iter()
    }

    /// The sentence of a message that gives a value; its first one where a value is only taken back.
    fn place_of(&self, number: u32, value: Option<&str>) -> Option<(usize, usize)> {
        match value {
            Some(value) => self.places_with(number, value).next(),
            None => {
                let mut records = self.records_of(number);
                let record = records.find(|record| !self.records[*record].sentences.is_empty())?;
                Some((record, 0))
            }
        }
    }

    fn add_person(&mut self, number: u32, words: &str) {
        if let Some(closing) = self.agent_text.take() {
            let record = &mut self.records[closing as usize];
            if !record.closes_turn {
                record.closes_turn = true;
                self.working_bytes = self.working_bytes.saturating_sub(record.text.len());
            }
            let is_reply = words.split_whitespace().take(REPLY_WORDS + 1).count() <= REPLY_WORDS;
            let answers = (is_reply && puts_forward(&self.records[closing as usize])).then_some(closing);
            self.add(number, Speaker::Person, &within(words, PERSON_BYTES), answers);
            return;
        }
        self.add(number, Speaker::Person, &within(words, PERSON_BYTES), None);
    }

    fn add_agent(&mut self, number: u32, words: &str, closes_turn: bool) {
        let words = within(words, AGENT_BYTES);
        self.agent_text = Some(self.records.len() as u32);
        self.add(number, Speaker::Agent, &words, None);
        let record = self.records.last_mut().expect("a record was just added");
        record.closes_turn = closes_turn;
        if !closes_turn {
            self.working_bytes += words.len();
        }
        // The newest texts say where the work is; old ones between calls are the first that nobody needs.
        while self.working_bytes > WORKING_BYTES && self.oldest_working + 1 < self.records.len() {
            let old = &mut self.records[self.oldest_working];
            if old.speaker == Speaker::Agent && !old.closes_turn {
                self.working_bytes = self.working_bytes.saturating_sub(old.text.len());
                old.text = "".into();
                old.sentences = Vec::new();
            }
            self.oldest_working += 1;
        }
    }

    fn add(&mut self, number: u32, speaker: Speaker, words: &str, answers: Option<u32>) {
        let mut record = ConversationRecord::new(number, speaker, words);
        record.answers = answers;
        let position = self.records.len();
        self.open_points.learn(position, &record);
        for link in self.subjects.learn(position, &record) {
            let linked = match link.record == position {
                true => &mut record,
                false => &mut self.records[link.record],
            };
            if let Some(sentence) = linked.sentences.get_mut(link.sentence)
                && sentence
                    .later
                    .is_none_or(|known| !known.corrects || link.later.corrects)
            {
                sentence.later = Some(link.later);
            }
        }
        self.records.push(record);
    }
}

/// Whether the agent's words end in something to answer: a question, or a list to choose from.
fn puts_forward(record: &ConversationRecord) -> bool {
    let last = record.sentences.iter().rev().take(6);
    let mut lines = last.map(|sentence| record.words_of(sentence));
    lines.any(|words| is_question(words) || is_list_item(words)) || has_numbered_options(&record.text)
}

/// Whether a text numbers things in one line: `two ways: 1. rewrite it; 2. patch it`.
fn has_numbered_options(text: &str) -> bool {
    let numbered = |number: char| {
        text.split_whitespace().any(|word| {
            let mut letters = word.trim_start_matches('(').chars();
            letters.next() == Some(number)
                && matches!(letters.next(), Some('.' | ')' | ':'))
                && letters.next().is_none()
        })
    };
    numbered('1') && numbered('2')
}

/// The person's own words of a message; what they pasted into a long one is named, with its telling lines.
pub fn person_words(message: &Message) -> String {
    let words: Vec<String> = message
        .person_words()
        .into_iter()
        .filter(|words| !opens_block(words))
        .map(|words| match words.len() > PASTE_SHOWN_BYTES {
            true => without_pastes(words),
            false => words.to_owned(),
        })
        .collect();
    words.join("\n")
}

fn without_pastes(words: &str) -> String {
    let mut said = String::new();
    for passage in split_pastes(words) {
        match passage.kind {
            PassageKind::Said => said.push_str(passage.text),
            PassageKind::Pasted(_) if passage.text.len() <= PASTE_SHOWN_BYTES / 4 => said.push_str(passage.text),
            PassageKind::Pasted(kind) => {
                let lines = passage.text.trim().lines().count();
                said.push_str(&format!("[pasted {}, {lines} lines]\n", paste_name(kind)));
                let told = telling_lines(passage.text, PASTE_LINES);
                for line in told.iter().filter(|line| is_telling_line(line)) {
                    said.push_str(&format!("> {line}\n"));
                }
            }
        }
    }
    said.trim().to_owned()
}

/// What a paste is called.
fn paste_name(kind: PasteKind) -> &'static str {
    match kind {
        PasteKind::Code => "code",
        PasteKind::Log => "log",
        PasteKind::CommandOutput => "command output",
        PasteKind::HelpText => "help text",
        PasteKind::Mail => "mail",
        PasteKind::Quote => "quote",
        PasteKind::Data => "data",
        PasteKind::Diff => "diff",
        PasteKind::Table => "table",
        PasteKind::Document => "document",
    }
}

/// The texts of a message but for blocks of ours, which may sit in it.
fn texts(message: &Message) -> Vec<&str> {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if !opens_block(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// A text in so many bytes: two thirds of them from its beginning, the rest from its end, at line breaks where there are some.
fn within(text: &str, bytes: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= bytes {
        return text.into();
    }
    let head = text.floor_char_boundary(bytes / 3 * 2);
    let head = text[..head].rfind('\n').filter(|at| *at > head / 2).unwrap_or(head);
    let tail = text.ceil_char_boundary(text.len() - bytes / 3);
    let tail = text[tail..].find('\n').map_or(tail, |at| tail + at + 1);
    format!("{}\n[…]\n{}", &text[..head], &text[tail..]).into()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
