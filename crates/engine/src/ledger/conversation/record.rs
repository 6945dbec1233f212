//! One message of the conversation as the log keeps it: its words, cut into sentences that can be chosen one by one.

use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::sentences::split;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::value::shape_of;
use crate::ledger::statements::words::Words;
use crate::transcript::PassageKind;
use crate::transcript::split_pastes;

/// Words of a sentence that are looked at; a longer one is a page without stops.
const SENTENCE_WORDS: usize = 120;
/// A line longer than this is cut into sentences; a shorter one that is an item of a list stays whole.
const LIST_ITEM_BYTES: usize = 240;

/// Words by which people speak of themselves, in their plain form.
const FIRST_PERSON: [&str; 36] = [
    "i", "i'm", "i've", "i'd", "my", "mine", "we", "we're", "we've", "our", "ich", "mein", "meine", "meinen", "meiner",
    "meinem", "wir", "unser", "unsere", "я", "мой", "моя", "моё", "мои", "мы", "наш", "наша", "у", "mi", "mis",
    "nuestro", "je", "mon", "ma", "mes", "我",
];

/// Whose words a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The person.
    Person,
    /// The model.
    Agent,
    /// The program around it: rules of a skill, who the agent is.
    Host,
}

/// What a sentence holds that a reader may need to the letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceSigns {
    /// Numbers, paths, identifiers, dates.
    pub values: u8,
    /// Words with a capital inside of the sentence.
    pub names: u8,
    /// Forbids, limits or denies.
    pub negation: bool,
    /// Asks for something, decides, rules, promises, corrects or gives a reason, by the patterns of its language.
    pub cue: bool,
    /// Corrects what was said before.
    pub corrects: bool,
    /// Asks.
    pub question: bool,
    /// Promises to do something.
    pub promise: bool,
    /// Speaks of the speaker: what they have, did, like.
    #[serde(default)]
    pub own: bool,
    /// Was pasted by the person.
    #[serde(default)]
    pub pasted: bool,
}

/// A sentence of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationSentence {
    /// Where it begins in the record's text.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// What it holds.
    pub signs: SentenceSigns,
    /// The message that corrects it, or speaks of the same thing later.
    pub later: Option<LaterWord>,
}

/// A later message that bears on a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaterWord {
    /// Its number.
    pub message: u32,
    /// The position of its record: a message may have several, where the person answers through a tool.
    pub record: u32,
    /// The sentence in it.
    pub sentence: u32,
    /// Whether it certainly corrects the sentence; otherwise it gives another value for what looks like the same thing.
    pub corrects: bool,
}

/// The words of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRecord {
    /// The message's number in the conversation.
    pub number: u32,
    /// Who said it.
    pub speaker: Speaker,
    /// What was said, as it may be shown.
    pub text: Box<str>,
    /// Its sentences, in order. They cover the text but for white space.
    pub sentences: Vec<ConversationSentence>,
    /// Of the agent's words: whether a turn ended with them.
    pub closes_turn: bool,
    /// Of the person's words: the position of the agent's record that they answer.
    pub answers: Option<u32>,
}

impl ConversationRecord {
    /// A record of a text.
    pub fn new(number: u32, speaker: Speaker, text: &str) -> Self {
        let passages = match speaker {
            Speaker::Person => split_pastes(text),
            Speaker::Agent | Speaker::Host => Vec::new(),
        };
        let is_pasted = |at: usize| {
            let mut pasted = passages.iter().filter(|passage| passage.kind != PassageKind::Said);
            pasted.any(|passage| passage.range.contains(&at))
        };
        let sentences = sentence_ranges(text)
            .into_iter()
            .map(|range| ConversationSentence {
                start: range.start as u32,
                end: range.end as u32,
                signs: SentenceSigns {
                    pasted: is_pasted(range.start),
                    ..signs_of(&text[range], speaker)
                },
                later: None,
            })
            .collect();
        Self {
            number,
            speaker,
            text: text.into(),
            sentences,
            closes_turn: false,
            answers: None,
        }
    }

    /// The words of a sentence.
    pub fn words_of(&self, sentence: &ConversationSentence) -> &str {
        &self.text[sentence.start as usize..sentence.end as usize]
    }

    /// Whether a sentence of a longer text is a rule, the number of a list item or a heading that names nothing: without the lines around
    /// it, it says nothing.
    pub fn is_divider(&self, sentence: &ConversationSentence) -> bool {
        let words = self.words_of(sentence).trim();
        let is_heading = words.starts_with('#') && sentence.signs.values == 0 && sentence.signs.names == 0;
        let marks = words.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_mark = !marks.is_empty() && marks.chars().all(|letter| letter.is_ascii_punctuation());
        self.sentences.len() > 1 && (is_heading || is_mark)
    }
}

impl SentenceSigns {
    /// What a sentence of somebody other than the person holds.
    pub fn read(sentence: &str) -> Self {
        signs_of(sentence, Speaker::Host)
    }
}

/// Where sentences stand in a text. Fenced code and short items of lists stay in one piece.
pub(super) fn sentence_ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut fence: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            match fence.take() {
                Some(start) => found.push(start..range.start + line.trim_end().len()),
                None => fence = Some(range.start),
            }
            continue;
        }
        if fence.is_some() || trimmed.is_empty() {
            continue;
        }
        let start = range.start + (line.len() - line.trim_start().len());
        let own = start..start + trimmed.len();
        if is_list_item(trimmed) && trimmed.len() <= LIST_ITEM_BYTES {
            found.push(own);
        } else {
            found.extend(
                split(&text[own.clone()])
                    .into_iter()
                    .map(|part| own.start + part.start..own.start + part.end),
            );
        }
    }
    if let Some(start) = fence {
        let end = text.trim_end().len();
        if start < end {
            found.push(start..end);
        }
    }
    found
}

/// Whether a line is an item of a list.
pub fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '·']) {
        return rest.starts_with(|next: char| next.is_whitespace()) || line.starts_with('•');
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        1..=3 => &line[digits..],
        _ => match line.strip_prefix('(') {
            Some(rest) => {
                let behind = rest.trim_start_matches(|letter: char| letter.is_alphanumeric());
                // "(iv)", not "(optional)".
                if rest.len() - behind.len() <= 4 { behind } else { "" }
            }
            None => line
                .get(1..)
                .filter(|_| line.starts_with(|letter: char| letter.is_ascii_alphabetic()))
                .unwrap_or(""),
        },
    };
    rest.starts_with(['.', ')', ':']) && rest[1..].starts_with(|next: char| next.is_whitespace())
}

/// What a sentence says by the patterns of its language.
fn signs_of(sentence: &str, speaker: Speaker) -> SentenceSigns {
    let words = Words::read(sentence, SENTENCE_WORDS);
    let mut signs = SentenceSigns {
        // A heading announces what its message goes on to answer, and a quotation is somebody else's.
        question: is_question(sentence) && !sentence.starts_with(['#', '>', '|']),
        ..SentenceSigns::default()
    };
    for index in 0..words.len() {
        match shape_of(&words, index) {
            Shape::Plain => {}
            Shape::Name if index > 0 => signs.names = signs.names.saturating_add(1),
            Shape::Name => {}
            _ => signs.values = signs.values.saturating_add(1),
        }
        signs.negation |= PATTERNS.is(List::Negation, words.at(index));
        signs.own |= FIRST_PERSON.contains(&words.at(index));
    }
    for hit in PATTERNS.find(&words, speaker == Speaker::Person) {
        match hit.says {
            Says::Correct | Says::Drop | Says::LiftLast => {
                signs.corrects = true;
                signs.cue = true;
            }
            Says::Promise => {
                signs.promise = true;
                signs.cue = true;
            }
            Says::Rule | Says::Permit | Says::Decide | Says::Propose | Says::Choose | Says::Todo | Says::Request => {
                signs.cue = true;
            }
            Says::Reason | Says::Refuse => signs.cue = true,
            _ => {}
        }
    }
    signs
}

/// Whether a sentence asks: it ends in a question mark, closing marks aside.
pub fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|mark: char| mark.is_whitespace() || "\"')]”»*`_!.:".contains(mark));
    end.ends_with(['?', '？'])
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
