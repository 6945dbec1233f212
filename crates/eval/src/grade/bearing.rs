//! How a text bears on what it names: whether it denies it, and whether it says that it is past.
//!
//! Only the clause is looked at, and of it no more than [`REACH`] on either side.

use std::ops::Range;

use crate::grade::fold::Break;
use crate::grade::fold::Folded;
use crate::grade::marks;
use crate::grade::removal;
use crate::ledger_text::corrections;
use crate::ledger_text::corrections::is_message_number;

/// How many bytes before and behind are looked at: some twelve words.
const REACH: usize = 120;

/// A denial may stand so many words before what it denies, if these say nothing.
const MOST_BETWEEN: usize = 4;

/// An adjective or a denial marks a past value when it stands within so many words before it.
const NEAR: usize = 5;

/// An introduction of a list has at most so many words.
const MOST_INTRODUCING: usize = 4;

/// Words between a value and the one that came instead.
const TO: &[&str] = &["to", "->", "auf", "zu", "nach", "на", "into"];

/// The words before and behind a place, as far as they matter.
struct Beside<'a> {
    /// The nearest first.
    before: Vec<&'a str>,
    behind: Vec<&'a str>,
    /// What follows, with its punctuation, across clauses of the sentence.
    tail: &'a str,
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn bare(word: &str) -> &str {
    match word {
        "->" => word,
        _ => word.trim_matches(|c: char| !c.is_alphanumeric()),
    }
}

fn beside<'a>(folded: &'a Folded, place: &Range<usize>) -> Beside<'a> {
    let text = &folded.text;
    let clause = folded.around(place, Break::Clause);
    let sentence = folded.around(place, Break::Sentence);
    let start = floor(text, clause.start.max(place.start.saturating_sub(REACH)));
    let end = floor(text, clause.end.min(place.end + REACH)).max(place.end);
    let tail_end = floor(text, sentence.end.min(place.end + REACH)).max(place.end);
    let some = |word: &&str| !word.is_empty();
    Beside {
        before: text[start..place.start].rsplit(' ').map(bare).filter(some).collect(),
        behind: text[place.end..end].split(' ').map(bare).filter(some).collect(),
        tail: &text[place.end..tail_end],
    }
}

/// Whether a text denies what it names at a place: `not X`, `no longer X`, `instead of X`, `X is not used`.
pub fn is_denied(folded: &Folded, place: &Range<usize>) -> bool {
    let beside = beside(folded, place);
    let skipped = beside
        .before
        .iter()
        .take_while(|word| marks::BETWEEN.contains(word))
        .count();
    if skipped <= MOST_BETWEEN && beside.before.get(skipped).is_some_and(|word| denies(word)) {
        return true;
    }
    const FALSE: &[&str] = &[
        "used",
        "valid",
        "current",
        "correct",
        "right",
        "true",
        "the",
        "in",
        "relevant",
        "active",
        "chosen",
        "verwendet",
        "gültig",
        "aktuell",
        "richtig",
        "der",
        "die",
        "das",
    ];
    matches!(beside.behind.as_slice(), ["is" | "was" | "are" | "were" | "ist" | "war", "not" | "nicht", word, ..] if FALSE.contains(word))
}

fn denies(word: &str) -> bool {
    marks::DENYING.contains(&word) || marks::INSTEAD.contains(&word)
}

/// Whether there is a denial among words.
pub fn has_denial(words: &str) -> bool {
    words.split(' ').any(|word| marks::DENYING.contains(&bare(word)))
}

/// Whether there is a denial directly before a place.
pub fn follows_denial(folded: &Folded, place: &Range<usize>) -> bool {
    let words = beside(folded, place).before;
    words.iter().take(2).any(|word| denies(word))
}

/// Whether a text says that what it names at a place is past.
pub fn is_past(folded: &Folded, place: &Range<usize>) -> bool {
    if folded.is_set_aside(place.start) {
        return true;
    }
    let beside = beside(folded, place);
    beside.is_past_by_before()
        || beside.is_past_by_behind()
        || beside.is_past_by_tail()
        || is_in_list_of_past(folded, place)
}

/// `Removed jobs: X, Y`: a short introduction without an article holds for the whole list behind it, which commas part into clauses.
fn is_in_list_of_past(folded: &Folded, place: &Range<usize>) -> bool {
    let sentence = folded.around(place, Break::Sentence);
    let start = floor(&folded.text, sentence.start.max(place.start.saturating_sub(REACH)));
    let Some((introduction, _)) = folded.text[start..place.start].rsplit_once(": ") else {
        return false;
    };
    let words: Vec<&str> = introduction.split(' ').collect();
    let is_short = start == sentence.start && words.len() <= MOST_INTRODUCING;
    let has_article = words
        .iter()
        .any(|word| matches!(*word, "the" | "a" | "an" | "der" | "die" | "das"));
    is_short && !has_article && marks::is_past_heading(introduction)
}

impl Beside<'_> {
    fn is_past_by_before(&self) -> bool {
        for (distance, word) in self.before.iter().enumerate() {
            // The words between the mark and the value.
            let between = &self.before[..distance];
            let next = between.last().copied().unwrap_or("");
            let leads_on = |only: &[&str]| between.iter().any(|word| only.contains(word));
            let is_mark = match *word {
                word if marks::OVER.contains(&word) => {
                    !leads_on(&["by", "with", "now", "durch", "jetzt", "теперь", "->"])
                }
                word if marks::OLD.contains(&word) => distance < NEAR && !leads_on(marks::TOWARDS),
                word if marks::REPLACING.contains(&word) => !leads_on(marks::TOWARDS),
                word if removal::REMOVED.contains(&word) => {
                    let asked = &self.before[distance + 1..];
                    let is_real = !asked.iter().take(3).any(|word| is_unreal(word));
                    distance < NEAR && is_real && !between.iter().any(|word| leads_elsewhere(word))
                }
                "instead" => next == "of",
                "rather" => next == "than",
                "used" => next == "to",
                word if marks::INSTEAD.contains(&word) => true,
                "no" if next == "longer" => true,
                word if marks::DENYING.contains(&word) => distance < NEAR && next != "only",
                word if marks::WAS.contains(&word) => between.iter().all(|word| is_plain(word)),
                word if marks::FROM.contains(&word) => {
                    let is_left = self
                        .before
                        .iter()
                        .skip(distance + 1)
                        .take(2)
                        .any(|word| marks::CHANGING.contains(word));
                    distance < 3 && !leads_on(TO) && (is_left || self.leads_to_another())
                }
                "off" => distance == 0,
                word if marks::CHANGING.contains(&word) => {
                    let is_led_on = self.behind.first().is_some_and(|word| TO.contains(word));
                    distance < 3 && !leads_on(marks::TOWARDS) && is_led_on
                }
                word if marks::FIRST.contains(&word) => {
                    let mut tail = self.tail.split(' ').map(bare);
                    distance < NEAR && tail.any(|word| marks::THEN.contains(&word))
                }
                _ => false,
            };
            if is_mark {
                return true;
            }
        }
        false
    }

    /// `from X to Y`: behind the value there is the way to another.
    fn leads_to_another(&self) -> bool {
        self.tail.split(' ').map(bare).take(8).any(|word| TO.contains(&word))
    }

    fn is_past_by_behind(&self) -> bool {
        self.is_past_by_words(&self.behind)
    }

    /// Whether words that follow a value say that it is past.
    fn is_past_by_words(&self, words: &[&str]) -> bool {
        words.iter().enumerate().any(|(at, word)| {
            let earlier = &words[at.saturating_sub(3)..at];
            let is_said_of_it = earlier.iter().any(|word| marks::BEING.contains(word));
            let next = words.get(at + 1).copied().unwrap_or("");
            match *word {
                word if marks::OVER.contains(&word) => true,
                word if removal::MISTAKEN.contains(&word) => is_said_of_it,
                word if removal::ENDED.contains(&word) => {
                    self.is_done_to_it(words, at) && (is_said_of_it || matches!(next, "by" | "durch"))
                }
                word if removal::REMOVED.contains(&word) => {
                    let is_bare = at == 0 && (next.is_empty() || is_circumstance(next));
                    let is_of_pronoun = removal::PRONOUNS.contains(&next);
                    self.is_done_to_it(words, at) && (is_said_of_it || is_bare || is_of_pronoun)
                }
                "заменен" | "заменено" | "заменена" | "заменили" => {
                    self.is_done_to_it(words, at)
                }
                "no" => next == "longer" && (is_said_of_it || at == 0),
                "больше" | "уже" => matches!(next, "не" | "нет"),
                "ya" => next == "no",
                "plus" => at > 0 && words[..at].iter().any(|word| word.starts_with("n'")),
                "nicht" => next == "mehr" || (is_said_of_it && !is_denied_end(&words[at + 1..])),
                "not" if matches!(next, "exist" | "apply" | "hold") => at < 3,
                "not" => is_said_of_it && at < 3 && next != "only" && !is_denied_end(&words[at + 1..]),
                "не" => at == 0 && !is_denied_end(&words[at + 1..]),
                "became" | "becomes" | "стал" => at == 0,
                _ => false,
            }
        })
    }

    /// Whether a verb among the words behind a value speaks of the value, and of something that happened.
    fn is_done_to_it(&self, words: &[&str], at: usize) -> bool {
        let before = &words[..at];
        let near = &before[at.saturating_sub(4)..];
        if near.iter().any(|word| is_unreal(word))
            || self.before.iter().take(2).any(|word| *word != "to" && is_open(word))
        {
            return false;
        }
        // `X runs and Y was deleted` is about Y; `X and Y were deleted` is about both.
        let joined = before.iter().position(|word| removal::JOINING.contains(word));
        let being = before.iter().rposition(|word| marks::BEING.contains(word));
        let is_another = match (joined, being) {
            (Some(joined), Some(being)) => joined < being && !removal::OF_SEVERAL.contains(&before[being]),
            _ => false,
        };
        // `X replaced Y, which was deleted` is about Y.
        let relative = before.iter().position(|word| removal::RELATIVE.contains(word));
        !is_another && relative.is_none_or(|place| place == 0)
    }

    fn is_past_by_tail(&self) -> bool {
        let tail = self.tail.trim_start_matches([' ', '.', '\'']);
        if tail.starts_with("->") {
            return true;
        }
        if let Some(bracket) = tail.strip_prefix(['(', '[']) {
            return marks::closes(bracket);
        }
        if self.is_changed_later() {
            return true;
        }
        if self.is_removed_behind_inset() {
            return true;
        }
        let Some(rest) = tail.strip_prefix([',', ';', '-', ':']) else {
            return false;
        };
        let mut words = rest.split(' ').map(bare).filter(|word| !word.is_empty());
        let first = words.next().unwrap_or("");
        let second = words.next().unwrap_or("");
        let is_turn = matches!(first, "but" | "then" | "and" | "aber" | "dann" | "но" | "а" | "потом");
        let is_ended = removal::ENDED.contains(&first);
        let is_removed = removal::REMOVED.contains(&first);
        (corrections::NOW.contains(&first) && !tail.starts_with(':'))
            || (is_turn && (corrections::NOW.contains(&second) || ends(second)))
            || (is_ended && (TO.contains(&second) || matches!(second, "by" | "durch")))
            || (is_removed && (second.is_empty() || is_circumstance(second)))
            || (marks::OVER.contains(&first) && second.is_empty())
    }

    /// `X, which ran on Sundays, was deleted`; `X: you asked me to, so I removed it`.
    fn is_removed_behind_inset(&self) -> bool {
        let words: Vec<&str> = self.tail.split(' ').map(bare).filter(|word| !word.is_empty()).collect();
        let is_of_pronoun = words.windows(2).enumerate().any(|(at, two)| {
            removal::REMOVED.contains(&two[0])
                && removal::PRONOUNS.contains(&two[1])
                && !words[at.saturating_sub(3)..at].iter().any(|word| is_unreal(word))
        });
        let inset = self.tail.strip_prefix(", ").and_then(|rest| rest.split_once(", "));
        let behind: Vec<&str> = inset.map_or_else(Vec::new, |(_, rest)| {
            rest.split(' ')
                .map(bare)
                .filter(|word| !word.is_empty())
                .take(8)
                .collect()
        });
        let opens = behind
            .first()
            .is_some_and(|word| marks::BEING.contains(word) || *word == "no");
        is_of_pronoun || (opens && self.is_past_by_words(&behind))
    }

    /// `X ... was later changed`.
    fn is_changed_later(&self) -> bool {
        let words: Vec<&str> = self
            .tail
            .split(' ')
            .map(bare)
            .filter(|word| !word.is_empty())
            .take(8)
            .collect();
        let is_later = |word: &&str| {
            marks::THEN.contains(word) && !corrections::NOW.contains(word) && !matches!(*word, "but" | "aber")
        };
        words.iter().enumerate().any(|(at, word)| {
            let is_change = ends(word) || marks::CHANGING.contains(word);
            is_change && words[at.saturating_sub(2)..at].iter().any(is_later)
        })
    }
}

/// Whether a word says that something ended.
fn ends(word: &str) -> bool {
    removal::ENDED.contains(&word) || removal::REMOVED.contains(&word) || removal::MISTAKEN.contains(&word)
}

/// Whether a word denies what the verb behind it says, or puts it off.
fn is_unreal(word: &str) -> bool {
    marks::DENYING.contains(&word) || is_open(word)
}

/// Whether a word leaves open what the verb behind it says.
fn is_open(word: &str) -> bool {
    removal::PENDING.contains(&word)
}

/// Whether what a denial denies is an end: what was not deleted is there.
fn is_denied_end(behind: &[&str]) -> bool {
    behind.iter().take(3).any(|word| ends(word))
}

/// Whether a word begins something that is not the object of the verb before it.
fn leads_elsewhere(word: &str) -> bool {
    marks::TOWARDS.contains(&word)
        || marks::FROM.contains(&word)
        || removal::JOINING.contains(&word)
        || matches!(
            word,
            "in" | "on"
                | "at"
                | "of"
                | "for"
                | "so"
                | "when"
                | "where"
                | "that"
                | "which"
                | "then"
                | "uses"
                | "is"
                | "für"
                | "bei"
                | "mit"
                | "в"
                | "во"
                | "для"
                | "у"
                | "en"
                | "para"
                | "dans"
                | "pour"
        )
}

/// Whether a word tells when, where, by whom or why: the number of a message is such a word.
fn is_circumstance(word: &str) -> bool {
    removal::CIRCUMSTANCE.contains(&word) || is_message_number(word)
}

/// Words that may stand between `was` and a past value.
fn is_plain(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "a"
            | "an"
            | "on"
            | "at"
            | "in"
            | "using"
            | "still"
            | "first"
            | "just"
            | "port"
            | "auf"
            | "der"
            | "die"
            | "das"
            | "im"
            | "noch"
            | "mit"
            | "на"
            | "в"
            | "порт"
    )
}
