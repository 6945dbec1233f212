//! What a sentence is worth: what it holds that stands nowhere else, and where it stands.

use crate::ledger::conversation::outline::is_heading;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::ConversationSentence;
use crate::ledger::conversation::record::SentenceSigns;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::selection::Selector;
use crate::ledger::conversation::word_use::WordUse;
use crate::ledger::conversation::word_use::plain_words;

/// What an identifier that the agent will use again adds to a sentence of its own, and how many of them count. Measured on the
/// board: with both, identifiers that are used later gain three hundredths and facts lose none.
const EXPECTED_USE_WORTH: f64 = 4.0;
const EXPECTED_USE_LIMIT: f64 = 2.0;
/// What is left of the worth of a sentence that is made of turns of phrase, and neither gives a value nor asks or decides.
const PHRASE_PART: f64 = 0.4;
/// An answer of more sentences is a long one.
const LONG_ANSWER: usize = 14;
/// What the sentence with which a closing text begins is worth besides: it says how the turn ended.
const LEAD_WORTH: f64 = 0.8;
/// What the first and the last sentence that a person wrote into a long message are worth besides: they say what is to be done with the rest.
const PERSON_END_WORTH: f64 = 3.0;
/// A message of the person of more sentences is a long one.
const LONG_REQUEST: usize = 6;
/// What a sentence that concludes is worth besides.
const CONCLUSION_WORTH: f64 = 0.5;
/// What is left of the worth of a sentence that only says what comes next.
const ANNOUNCEMENT_PART: f64 = 0.2;
/// What is left of the worth of a line that the person pasted.
const PASTED_PART: f64 = 0.35;
/// A closing text of at least this many sentences is a report.
const REPORT_SENTENCES: usize = 4;
/// A lead of at most this many words takes the next sentence along: "Done.", "Not really."
const SHORT_LEAD: usize = 3;
/// A sentence of at most this many words without a value says little.
const STUB_WORDS: usize = 5;

/// Words of conclusions, in lower case.
const CONCLUSIONS: &str = "root cause; the cause; turned out; turns out; not a bug; not a defect; not a problem; no defect; push back; \
    as is; by design; deliberate; rejected; instead of; decided; verdict; conclusion; in short; short answer; bottom line; \
    verified; confirmed; fixed; reverted; skipped; unaddressed; left out; still open; not yet; follow-up; recommend; the fix; \
    committed; pushed; merged; opened; ursache; entschieden; behoben; bestätigt; fazit; причина; решено; исправлено; проверено; \
    итог; causa; decidido; corregido; verificado; corrigé; vérifié; conclusión; 原因; 结论; 已修复";

/// How sentences begin that say what the agent does next, in lower case.
const ANNOUNCING: &str = "let me ; let's look; let's check; now let me; now i'll; now the ; now to ; next, ; next: ; first, let; i'll start; \
    i'll now; i'll check; i'll look; i'll read; i'll take; i'm checking; i'm reading; i'm looking; i'm going to; i’m checking; i’m reading; \
    i’m looking; i’m going to; i need to ; i'm re-running; i’m re-running; checking ; looking ; reading ; running ; time to ; got enough; \
    here's what; here is what; here are the; jetzt ; als nächstes; ich schaue; ich prüfe; сейчас ; теперь посмотрю; посмотрю ; \
    voy a ; ahora ; je vais ; maintenant ; 让我; 现在";

/// Words by which a sentence of few words answers, in lower case.
const ANSWERS: [&str; 16] = [
    "yes", "no", "yep", "yeah", "nope", "not", "correct", "right", "ja", "nein", "да", "нет", "sí", "oui", "non", "是",
];

impl Selector<'_> {
    /// What a sentence is worth to a reader who goes on from here; `age` runs from zero for the oldest to one for the newest.
    pub(super) fn worth(&self, record: &ConversationRecord, index: usize, age: f64) -> f64 {
        let sentence = &record.sentences[index];
        let words = record.words_of(sentence);
        let signs = sentence.signs;
        let flag = |is: bool, worth: f64| if is { worth } else { 0.0 };
        let is_person = record.speaker == Speaker::Person;
        let mut worth = match (record.speaker, record.closes_turn) {
            (Speaker::Person, _) => 1.0,
            (Speaker::Agent, true) => 1.2,
            (Speaker::Agent, false) => 0.35,
            // Rules of the host have their own room.
            (Speaker::Host, _) => return 0.0,
        };
        worth += f64::from(signs.values.min(3)) * 0.7 + f64::from(signs.names.min(2)) * 0.35;
        worth += flag(signs.negation, 0.6) + flag(signs.cue, 0.9) + flag(signs.corrects, 0.6);
        // What people say of themselves nobody else can say again.
        worth += flag(is_person && signs.own && !signs.question, 0.9);
        worth += flag(signs.question, 0.2) + flag(!is_person && signs.promise, 0.8);
        worth += if is_person { 2.0 } else { 1.5 } * self.rarity(words);
        let says_something = signs.values > 0 || signs.cue || signs.negation || signs.question;
        if !says_something && self.word_use().turns_of_phrase.make_up(words) {
            worth *= PHRASE_PART;
        }
        if !is_person {
            worth += EXPECTED_USE_WORTH * (self.input.expected_use)(words).min(EXPECTED_USE_LIMIT);
        }
        let is_agent = record.speaker == Speaker::Agent;
        // A report on work says with its first sentence what the others explain. In a chat the person's words are worth more than any answer.
        let is_report = is_agent && self.has_work && record.closes_turn && record.sentences.len() >= REPORT_SENTENCES;
        worth += flag(is_report && concludes(words), CONCLUSION_WORTH);
        worth += flag(is_report && is_lead(record, index), LEAD_WORTH);
        if is_agent && announces(words, &signs) {
            worth *= ANNOUNCEMENT_PART;
        }
        // A line of what somebody pasted tells less than what they say of it.
        if signs.pasted {
            worth *= PASTED_PART;
        }
        let is_end = is_person && record.sentences.len() > LONG_REQUEST && is_end_of_request(record, index);
        worth += flag(is_end, PERSON_END_WORTH);
        // What a person asks is answered behind it.
        if is_person && signs.question && !is_end {
            worth *= 0.6;
        }
        // "Here is what I found:" says nothing without what follows; a person's "can you add this:" is the request.
        if !is_person && words.ends_with(':') {
            worth *= 0.3;
        }
        // A long answer says what it says at its beginning and its end; its middle is lists and explanations.
        if !is_person && record.sentences.len() > LONG_ANSWER && !is_at_an_end(record, sentence) {
            worth *= 0.45;
        }
        // A later word on the same thing makes an earlier one matter less, not nothing.
        if sentence.later.is_some_and(|later| later.corrects) {
            worth *= 0.7;
        }
        if !self.input.focus.is_empty() {
            let lower = words.to_lowercase();
            if self.input.focus.iter().any(|word| lower.contains(word.as_str())) {
                worth *= 2.0;
            }
        }
        worth * (0.75 + 0.25 * age) * flag(!record.is_divider(sentence), 1.0)
    }

    fn word_use(&self) -> &WordUse {
        self.input.cache.word_use(self.input.records)
    }

    /// The share of a sentence's words that hardly stand anywhere else.
    fn rarity(&self, words: &str) -> f64 {
        let word_use = self.word_use();
        let (mut rare, mut all) = (0.0, 0.0);
        for word in plain_words(words) {
            all += 1.0;
            rare += match word_use.frequencies.get(&word) {
                Some(1) | None => 1.0,
                Some(2) => 0.5,
                Some(3) => 0.2,
                Some(_) => 0.0,
            };
        }
        if all < 1.0 {
            0.0
        } else {
            f64::min(rare, 4.0) / f64::max(all, 4.0).sqrt()
        }
    }
}

/// Whether a sentence is the first of its message that says something, or stands behind a first one of a word or two.
pub(super) fn is_lead(record: &ConversationRecord, index: usize) -> bool {
    let words = |index: usize| record.words_of(&record.sentences[index]);
    let mut spoken = (0..record.sentences.len()).filter(|index| !is_heading(words(*index)));
    let Some(first) = spoken.next() else { return false };
    let is_short = |index: usize| words(index).split_whitespace().take(SHORT_LEAD + 1).count() <= SHORT_LEAD;
    index == first || is_short(first) && spoken.next() == Some(index)
}

/// Whether a sentence is the first or the last one that the person wrote themselves.
fn is_end_of_request(record: &ConversationRecord, index: usize) -> bool {
    let is_said = |sentence: &ConversationSentence| !sentence.signs.pasted && !record.is_divider(sentence);
    let first = record.sentences.iter().position(is_said);
    let last = record.sentences.iter().rposition(is_said);
    first == Some(index) || last == Some(index)
}

/// Whether a text begins with yes, no or the like.
pub(super) fn begins_with_answer(text: &str) -> bool {
    let first = text.trim_start().split(|letter: char| !letter.is_alphanumeric()).next();
    first.is_some_and(|first| ANSWERS.contains(&first.to_lowercase().as_str()))
}

fn concludes(words: &str) -> bool {
    let lower = words.to_lowercase();
    CONCLUSIONS.split("; ").any(|phrase| lower.contains(phrase))
}

/// Whether a sentence of the agent only says what comes next, or so little that it says nothing without what follows.
pub(super) fn announces(words: &str, signs: &SentenceSigns) -> bool {
    if signs.question || signs.negation || is_heading(words) {
        return false;
    }
    let lower = words.trim_start_matches(['*', '-', ' ']).to_lowercase();
    if begins_with_answer(&lower) {
        return false;
    }
    if ANNOUNCING
        .split("; ")
        .any(|phrase| lower.starts_with(phrase.trim_start()))
    {
        return true;
    }
    let is_short = words.split_whitespace().take(STUB_WORDS + 1).count() <= STUB_WORDS;
    is_short && signs.values == 0 && signs.names == 0 && !words.contains('`') && !concludes(words) && words.is_ascii()
}

/// Whether a sentence stands among the first or last of its text.
fn is_at_an_end(record: &ConversationRecord, sentence: &ConversationSentence) -> bool {
    let first = record.sentences.iter().take(2);
    let last = record.sentences.iter().rev().take(3);
    first.chain(last).any(|one| one.start == sentence.start)
}

#[cfg(test)]
#[path = "worth_tests.rs"]
mod tests;
