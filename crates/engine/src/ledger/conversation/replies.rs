//! What a reply does with a question: answers it, puts it off, or speaks of something else.

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::sentences::split;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::value::shape_of;
use crate::ledger::statements::words::Words;

use crate::ledger::conversation::record::is_question;
use crate::ledger::conversation::subject::is_compound;

/// Words of a text that are looked at: a reply says what it says at its beginning.
const REPLY_WORDS: usize = 60;
/// Words of a text whose stems are compared.
const TEXT_WORDS: usize = 400;

/// A reply of so few words that begins with a name is one.
const FRAGMENT_WORDS: usize = 6;

/// Words that answer whatever was asked, in their plain form: with them somebody has at least decided.
const YES: [&str; 8] = ["yes", "yep", "yeah", "ja", "да", "sí", "oui", "是"];

/// Says in one sign that somebody does not know.
const SHRUG: char = '🤷';

/// What a reply does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// It may answer.
    Answer,
    /// It says that there is no answer yet, or asks back.
    PutOff,
    /// It has nothing to do with the question.
    Unrelated,
}

/// What a question asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// A yes or no may answer it.
    #[default]
    Whether,
    /// It asks who, what, when or how much, or which of several.
    Which,
}

/// Words that ask for more than yes or no, in lower case.
const ASKING: &str = "who whom whose which what when where why how wer wen wem wessen wann wo wohin warum wieso wie welche welcher \
    welches welchen кто кого кому чей что какой какая какое какие когда где куда почему зачем сколько как quién qué cuál \
    cuándo dónde cuánto qui quel quelle quand où pourquoi combien";
/// Words between two things to choose from.
const OR: [&str; 5] = ["or", "oder", "или", "o", "ou"];
/// A word that asks stands among so many at the beginning.
const ASKING_WORDS: usize = 4;
/// The same in a script without spaces.
const ASKING_SIGNS: [&str; 8] = ["谁", "哪", "什么", "几", "怎么", "多少", "为什么", "还是"];

impl QuestionKind {
    /// What a sentence asks for.
    pub fn of(sentence: &str) -> Self {
        let lower = sentence.to_lowercase();
        // "Not urgent, but which one: …": what is asked stands behind the last pause.
        let asked = lower
            .rsplit([':', ',', '—', '–'])
            .find(|part| part.contains(char::is_alphanumeric));
        let words: Vec<&str> = asked
            .unwrap_or_default()
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let is_asking_word = |word: &&&str| ASKING.split_whitespace().any(|asking| asking == **word);
        let is_choice = words.iter().skip(1).any(|word| OR.contains(word));
        let is_asking = words.iter().take(ASKING_WORDS).any(|word| is_asking_word(&word))
            || is_choice
            || ASKING_SIGNS.iter().any(|sign| lower.contains(sign));
        match is_asking {
            true => QuestionKind::Which,
            false => QuestionKind::Whether,
        }
    }
}

/// Stems of the meaningful words of a text.
pub fn content_stems(text: &str) -> Vec<Box<str>> {
    let words = Words::read(text, TEXT_WORDS);
    words.stems(0..words.len(), |word| {
        PATTERNS.is_dull(word) || PATTERNS.is(List::Filler, word) || word.chars().count() < 2
    })
}

/// What a reply does with a question about these things. In doubt it is an answer: a question that is listed although it was answered
/// misleads, one that is not listed still stands in the conversation.
pub fn reply_kind(reply: &str, asked: &[Box<str>], asks: QuestionKind) -> ReplyKind {
    let Some(first) = split(reply)
        .into_iter()
        .map(|range| &reply[range])
        .find(|sentence| !sentence.trim().is_empty())
    else {
        return ReplyKind::Unrelated;
    };
    let words = Words::read(first, REPLY_WORDS);
    let hits = PATTERNS.find(&words, true);
    let says = |what: Says| hits.iter().any(|hit| hit.says == what);
    let shares = asked.iter().any(|stem| content_stems(first).contains(stem));
    let is_short = words.len() <= FRAGMENT_WORDS;
    let has_value = (0..words.len()).any(|index| match shape_of(&words, index) {
        // A name inside of a sentence, or at the head of a few words: "Saoirse.", "Winifred and nobody else".
        Shape::Name if index == 0 => {
            is_short && !PATTERNS.is_dull(words.at(0)) && !PATTERNS.is(List::Filler, words.at(0))
        }
        Shape::Name => true,
        Shape::Plain => is_compound(words.at(index)),
        shape => shape.is_strong(),
    });
    // A value that the question itself has answers nothing: "I have to ask about the 7 or 30 days".
    let is_exact = (0..words.len()).any(|index| {
        let is_asked = asked.iter().any(|stem| **stem == *words.at(index));
        shape_of(&words, index).is_strong() && !is_asked
    });
    if first.contains(SHRUG) || puts_off(&words) && !is_exact {
        return ReplyKind::PutOff;
    }
    let decides = hits.iter().any(|hit| match hit.says {
        // "ok" says nothing about who or when.
        Says::Agree => hit.key != "weak" && (asks == QuestionKind::Whether || YES.contains(&words.at(0))),
        Says::Choose | Says::Decide => hit.key != "weak",
        _ => false,
    }) || says(Says::Refuse)
        || PATTERNS.is(List::Negation, words.at(0));
    if has_value || decides {
        return ReplyKind::Answer;
    }
    if is_question(first) {
        return ReplyKind::PutOff;
    }
    if shares {
        return ReplyKind::Answer;
    }
    let rest = content_stems(reply);
    match asked.iter().any(|stem| rest.contains(stem)) {
        true => ReplyKind::Answer,
        false => ReplyKind::Unrelated,
    }
}

/// Words by which people say that they do not know yet, by language. Each is a run of words in their plain form.
const PUT_OFF: &[&str] = &[
    "not sure",
    "no idea",
    "don't know",
    "dont know",
    "do not know",
    "i'd have to",
    "have to check",
    "have to ask",
    "need to check",
    "need to ask",
    "need to think",
    "let me check",
    "let me think",
    "let me ask",
    "will check",
    "i'll check",
    "i'll ask",
    "i'll find out",
    "will find out",
    "find out",
    "get back to you",
    "come back to",
    "know more",
    "we'll see",
    "remains to be seen",
    "hard to say",
    "can't say",
    "cannot say",
    "can't tell",
    "good question",
    "unclear",
    "undecided",
    "to be decided",
    "tbd",
    "sleep on it",
    "think about it",
    "another time",
    "not now",
    "not yet",
    "later",
    "ask me",
    "ask again",
    "depends",
    "kommt drauf an",
    "kommt darauf an",
    "зависит",
    "maybe",
    "weiß nicht",
    "weiß ich nicht",
    "weiss nicht",
    "keine ahnung",
    "mal sehen",
    "mal schauen",
    "noch nicht",
    "noch offen",
    "unklar",
    "später",
    "muss ich",
    "melde mich",
    "frag",
    "schwer zu sagen",
    "gute frage",
    "не знаю",
    "не уверен",
    "не уверена",
    "без понятия",
    "понятия не имею",
    "посмотрим",
    "уточню",
    "спрошу",
    "спроси",
    "спросите",
    "узнаю",
    "проверю",
    "подумаю",
    "надо подумать",
    "пока не",
    "позже",
    "потом",
    "сложно сказать",
    "трудно сказать",
    "хороший вопрос",
    "непонятно",
    "no lo sé",
    "no sé",
    "ni idea",
    "ya veremos",
    "luego",
    "más tarde",
    "todavía no",
    "depende",
    "je ne sais pas",
    "aucune idée",
    "on verra",
    "plus tard",
    "pas encore",
    "ça dépend",
    "不知道",
    "不确定",
    "不清楚",
    "再说",
    "看情况",
    "以后",
    "待定",
];

fn puts_off(words: &Words<'_>) -> bool {
    let plain: Vec<&str> = (0..words.len()).map(|index| words.at(index)).collect();
    let line = format!(" {} ", plain.join(" ").replace('’', "'"));
    let joined: String = line.split_whitespace().collect();
    PUT_OFF.iter().any(|phrase| {
        match phrase.is_ascii() || phrase.contains(' ') || phrase.chars().all(|letter| letter < '\u{2e80}') {
            true => line.contains(&format!(" {phrase} ")),
            false => joined.contains(phrase),
        }
    })
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
