//! The conversation itself: what the person and the agent said, in order, word for word.
//!
//! [`ConversationLog`] is folded message by message and keeps the person's words and the agent's texts as they may be shown. Nothing
//! in it is inferred but links between sentences: which later message speaks of the same thing with another value. What a
//! block shows of it is chosen sentence by sentence in [`select`], and written in [`render`].

mod concessions;
pub(crate) mod correction_words;
mod exchange;
mod host_rules;
mod host_words;
pub(crate) mod links;
pub(crate) mod open_points;
mod outline;
mod person_pastes;
pub mod record;
mod referents;
pub mod render;
pub(crate) mod replies;
pub(crate) mod same_thing;
mod select;
pub(crate) mod selection;
mod spoken;
pub(crate) mod subject;
pub(crate) mod talk_cache;
mod turns_of_phrase;
mod word_use;
mod worth;

use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::conversation::concessions::mark_conceded;
use crate::ledger::conversation::host_words::HostWords;
use crate::ledger::conversation::links::SubjectIndex;
use crate::ledger::conversation::open_points::OpenPoints;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::ConversationSentence;
use crate::ledger::conversation::record::LaterWord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::record::is_list_item;
use crate::ledger::conversation::record::is_question;
use crate::ledger::conversation::referents::reacts;
use crate::ledger::conversation::referents::takes_other;
use crate::ledger::conversation::spoken::agent_words;
use crate::ledger::facts::ReplacedValue;
use crate::ledger::quote::has_word;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::is_plan_decision;
use crate::transcript::person_answers;

pub use crate::ledger::conversation::spoken::person_words;

/// Bytes of a message by the person that are kept: more is a document, whose beginning and end tell what it is.
const PERSON_BYTES: usize = 32_000;
/// Bytes of a text by the agent that are kept.
const AGENT_BYTES: usize = 8_000;
/// Bytes of the agent's texts between calls that are held in all; the oldest go first. Closing texts are not counted.
const WORKING_BYTES: usize = 400_000;
/// A message of so many words that follows a question or a list answers it.
const REPLY_WORDS: usize = 60;

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
    /// The command that the person has just typed; the host may put its text behind it.
    #[serde(default)]
    command: Option<Box<str>>,
}

impl ConversationLog {
    /// Takes in a message, which must be as it may be shown.
    pub fn fold(&mut self, number: u32, message: &Message) {
        match (message.author, message.role) {
            (Author::User, Role::User) => {
                let words = person_words(message);
                if !words.is_empty() {
                    self.command = typed_command(&words);
                    self.add_person(number, &words);
                }
            }
            (Author::Assistant, Role::Assistant) => {
                let words = agent_words(message);
                self.command = None;
                if !words.trim().is_empty() {
                    mark_conceded(&mut self.records, words.trim());
                    self.add_agent(number, words.trim(), message.calls().next().is_none());
                }
            }
            _ => {}
        }
        if let Some(words) = HostWords::in_message(message, self.command.as_deref()) {
            self.command = None;
            self.add_host(number, &words);
        }
        self.fold_answers(number, message);
    }

    /// Takes in what the person says through a tool.
    fn fold_answers(&mut self, number: u32, message: &Message) {
        for result in message.results() {
            let place = self.asking.iter().position(|call| call.id == result.id);
            let call = place.map(|place| self.asking.remove(place));
            if let Some(words) = HostWords::in_result(call.as_ref(), result) {
                self.add_host(number, &words);
            }
            let Some(call) = call else { continue };
            for answer in person_answers(&call, result) {
                if let Some(question) = answer.question.filter(|question| !question.trim().is_empty()) {
                    self.add_agent(number, question.trim(), true);
                }
                // How the program words a decision about a plan is its own; the person pressed a key.
                if is_plan_decision(&answer.reply) {
                    self.add_host(number, &HostWords::Notice(answer.reply));
                } else if !answer.reply.trim().is_empty() {
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

    /// Whether the agent said something to a message and the person's next one takes something else: "Then 03:40", "Then the grey one".
    pub fn is_reconsidered(&self, number: u32) -> bool {
        let after = &self.records[self.records_of(number).end..];
        let Some(next) = after.iter().position(|record| record.speaker == Speaker::Person) else {
            return false;
        };
        let objects = after[..next].iter().any(|record| record.speaker == Speaker::Agent);
        objects && takes_other(&after[next].text)
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
            let answers =
                (is_reply && (puts_forward(&self.records[closing as usize]) || reacts(words))).then_some(closing);
            let mut record = ConversationRecord::new(number, Speaker::Person, &within(words, PERSON_BYTES));
            record.answers = answers;
            return self.add(record);
        }
        self.add(ConversationRecord::new(
            number,
            Speaker::Person,
            &within(words, PERSON_BYTES),
        ));
    }

    /// Keeps words of the host. Nobody answers them, and they give no values.
    fn add_host(&mut self, number: u32, words: &HostWords) {
        let record = ConversationRecord::new(number, Speaker::Host, &words.text());
        self.records.push(record);
    }

    fn add_agent(&mut self, number: u32, words: &str, closes_turn: bool) {
        let words = within(words, AGENT_BYTES);
        self.agent_text = Some(self.records.len() as u32);
        let mut record = ConversationRecord::new(number, Speaker::Agent, &words);
        record.closes_turn = closes_turn;
        self.add(record);
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

    fn add(&mut self, mut record: ConversationRecord) {
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

/// The command that a message is, where it is nothing else: `/ship`, `/changelog 0.4.2`.
fn typed_command(words: &str) -> Option<Box<str>> {
    let name = words.trim().strip_prefix('/')?.split_whitespace().next()?;
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':');
    name.chars().all(is_name).then(|| name.into())
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
