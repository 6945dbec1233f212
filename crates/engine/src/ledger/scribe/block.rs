//! Writing the block: a story where a model told one, the ledger's sections, evidence, and the request that goes on.

use std::borrow::Cow;

use crate::decide::LEAST_BLOCK;
use crate::decide::Span;
use crate::decide::marker::request_opening;
use crate::ledger::conversation::person_words;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::talk_cache::TalkCache;
use crate::ledger::evidence::Room;
use crate::ledger::evidence::Snippet;
use crate::ledger::frame;
use crate::ledger::frame::Title;
use crate::ledger::memory::Asked;
use crate::ledger::memory::Carried;
use crate::ledger::page;
use crate::ledger::page::Lost;
use crate::ledger::quote::GUARD;
use crate::ledger::quote::Quoting;
use crate::ledger::scribe::NO_NUMBER;
use crate::ledger::scribe::Scribe;
use crate::transcript::Message;
use crate::transcript::Role;

/// A block as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its text, frame included.
    pub text: String,
    /// The request that goes on, where the person's newest words are not kept: it stands behind the frame.
    pub request: Option<String>,
    /// The evidence it shows.
    pub carried: Vec<Carried>,
}

/// As much of a text as fits a budget, by a count of its tokens.
pub type Shorten = fn(&str, u64, &dyn Fn(&str) -> u64) -> String;

/// What a model told of what is replaced.
pub struct Story<'a> {
    /// Its words, as they may be shown.
    pub text: &'a str,
    /// As much of them as fits a budget, what matters most first.
    pub shorten: Shorten,
    /// What the block says about itself.
    pub notice: &'a str,
    /// Whether the ledger stands beside it.
    pub has_ledger: bool,
}

/// Says what must not be lost and is not in a text, most important first.
pub type Missing<'a> = &'a dyn Fn(&str) -> Vec<Lost>;

/// How much of a block lines of evidence may fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceRoom {
    /// Their share and no more: what nothing else needs stays unused.
    Capped,
    /// Whatever the other layers leave.
    Rest,
}

/// What a block is written from and into.
pub struct Sheet<'a> {
    /// The conversation.
    pub messages: &'a [Message],
    /// What of it stays.
    pub span: &'a Span,
    /// How many tokens the block may have.
    pub budget: u64,
    /// Counts tokens.
    pub count: &'a dyn Fn(&str) -> u64,
    /// How much of it evidence may fill.
    pub evidence: EvidenceRoom,
    /// What a model told.
    pub story: Option<&'a Story<'a>>,
    /// What must not be lost and is not in a text, most important first.
    pub missing: Option<Missing<'a>>,
    /// What to keep most of.
    pub focus: Option<&'a str>,
}

impl<'a> Sheet<'a> {
    /// A sheet for the ledger alone.
    pub fn new(messages: &'a [Message], span: &'a Span, budget: u64, count: &'a dyn Fn(&str) -> u64) -> Self {
        Self {
            messages,
            span,
            budget,
            count,
            evidence: EvidenceRoom::Rest,
            story: None,
            missing: None,
            focus: None,
        }
    }
}

/// A page is written at most this often: each time smaller by what it was too long.
const MOST_ATTEMPTS: u64 = 8;
/// The first of these make it smaller in proportion to what it was too long, the others by all of that.
const SCALED_ATTEMPTS: u64 = 2;
/// Every attempt gives up one more of so many parts of the room.
const GIVING_WAY: u64 = 100;
/// The part of a block that the request that goes on may fill: the person's newest words come before everything else.
const REQUEST_SHARE: u64 = 6;
/// What it gets at least beside its opening, while both fill no more than a third of the block: a sentence.
const LEAST_REQUEST: u64 = 24;
/// A request that is cut shorter than this is none.
const LEAST_LETTERS: usize = 20;

impl Scribe {
    /// The block that stands for everything a span does not keep; `None` when there are too few tokens for one, or for the person's newest
    /// words where the span keeps nothing of the conversation.
    pub fn block(&self, sheet: &Sheet<'_>) -> Option<Written> {
        if sheet.budget < LEAST_BLOCK {
            return None;
        }
        let request = self.request(sheet);
        // Without the newest request and without any step, the agent would go on without knowing what is wanted or where it is.
        let is_kept = |index: &usize| !matches!(sheet.messages[*index].role, Role::System | Role::Developer);
        let asked = || self.kept_request(sheet.messages, sheet.span);
        if request.is_none()
            && !sheet.span.kept.iter().any(is_kept)
            && asked().is_some_and(|asked| !asked.text.trim().is_empty())
        {
            return None;
        }
        let taken = request.as_deref().map_or(0, |request| (sheet.count)(request) + 1);
        let budget = sheet.budget.saturating_sub(taken);
        let mut room = budget;
        let cache = TalkCache::default();
        for attempt in 0..MOST_ATTEMPTS {
            let (body, snippets) = self.body(sheet, room, request.as_deref().unwrap_or(""), &cache);
            // Beside other lines something may look like a secret that did not on its own.
            let body = self.hide(&body).unwrap_or(body);
            let text = frame::wrap(&self.key, title(sheet), &body);
            let tokens = (sheet.count)(&text);
            if tokens <= budget {
                let carried = snippets.into_iter().map(|snippet| Carried {
                    number: snippet.message,
                    author: snippet.author,
                    tool: snippet.tool,
                    text: snippet.text.into(),
                });
                return Some(Written {
                    text,
                    request,
                    carried: carried.collect(),
                });
            }
            // In proportion at first: what is twice too long would otherwise leave no room at all.
            let scaled = (room * budget / tokens.max(1)).min(room.saturating_sub(1));
            let less = room.saturating_sub(tokens - budget + 1);
            room = if attempt < SCALED_ATTEMPTS { scaled } else { less };
            // Whole sentences and lines do not shrink token by token: a block that is still too long gets ever less, because one that
            // is somewhat smaller is worth more than none.
            room = room.saturating_sub(budget * attempt / GIVING_WAY);
        }
        None
    }

    /// The person's newest words, where the span does not keep them: whatever stands only before the frame or in it is
    /// taken for history.
    fn request(&self, sheet: &Sheet<'_>) -> Option<String> {
        let asked = self.kept_request(sheet.messages, sheet.span)?;
        let words = asked.text;
        let opening_line = request_opening(asked.number, self.turn_end_after(asked.number));
        let opening = (sheet.count)(&opening_line);
        let least = (opening + LEAST_REQUEST).min(sheet.budget / 3);
        let room = (sheet.budget / REQUEST_SHARE).max(least).checked_sub(opening)?;
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).count();
        // The first letter of a request tells nothing of it, nor does its last line alone.
        let tells = |shown: &String| letters(shown) >= LEAST_LETTERS.min(letters(&words)) && !shown.trim().is_empty();
        let shown = Some(page::shortened(&words, room, sheet.count)).filter(tells);
        let shown = shown.or_else(|| Some(page::beginning(&words, room, sheet.count)).filter(tells))?;
        Some(format!("{opening_line}{shown}"))
    }

    /// The closing words of the agent's turn, where they are the last message of the conversation and answer what this one asked.
    fn turn_end_after(&self, request: u32) -> Option<u32> {
        let newest = self.ledger.conversation().records().last()?;
        let is_end = newest.speaker == Speaker::Agent && newest.closes_turn && newest.number > request;
        (is_end && self.numbers.last() == Some(&newest.number)).then_some(newest.number)
    }

    /// The words of the request that a block restated, for whoever goes on from it.
    pub(super) fn kept_request(&self, messages: &[Message], span: &Span) -> Option<Asked> {
        let newest = messages.iter().rposition(Message::opens_turn);
        let newest = newest.filter(|index| self.resumed_block() != Some(*index));
        // What an earlier block restated is newer than older words that stand behind it.
        let is_older = |asked: &&Asked| newest.is_none_or(|index| self.numbers[index] < asked.number);
        if let Some(asked) = self.request.as_ref().filter(is_older) {
            return Some(asked.clone());
        }
        let index = newest.filter(|index| !span.keeps(*index))?;
        Some(Asked {
            number: self.numbers[index],
            text: person_words(self.shown(messages, index)).into(),
        })
    }

    /// How much was replaced, how to get it back, and where kept messages belong that stand behind the block but were not said last.
    pub(super) fn notes(&self, sheet: &Sheet<'_>) -> String {
        let kept = sheet
            .span
            .kept
            .iter()
            .filter(|index| self.numbers[**index] != NO_NUMBER);
        let gone = (self.ledger.folded() as usize).saturating_sub(kept.count());
        let order = self.order_of_kept(sheet).unwrap_or_default();
        format!(
            "## Retrieval notes\n{order}- {gone} earlier messages are stored whole; mainstay recall WORDS finds them."
        )
    }

    /// The numbers of the person's first and newest messages, where they are kept and the block tells of what came after them:
    /// behind it they would read as said last.
    fn order_of_kept(&self, sheet: &Sheet<'_>) -> Option<String> {
        let span = sheet.span;
        let is_numbered = |index: &usize| self.numbers[*index] != NO_NUMBER;
        let replaced = |index: &usize| !span.keeps(*index) && is_numbered(index);
        let last_replaced = (0..sheet.messages.len()).rev().find(replaced)?;
        let mut early = span
            .kept
            .iter()
            .copied()
            .filter(|index| *index < last_replaced && is_numbered(index) && sheet.messages[*index].opens_turn());
        let first = early.next()?;
        let newest = early.next_back().unwrap_or(first);
        let number = |index: usize| self.numbers[index];
        let is_newest_of_all = sheet.messages.iter().rposition(Message::opens_turn) == Some(newest);
        let after = || {
            let next = (newest + 1..=last_replaced).find(replaced).unwrap_or(last_replaced);
            match next == last_replaced {
                true => format!("m{}", number(next)),
                false => format!("m{}–{}", number(next), number(last_replaced)),
            }
        };
        Some(match (first == newest, is_newest_of_all) {
            (true, false) => format!("- Kept whole below: m{}, the user's first message.\n", number(first)),
            (true, true) => format!("- Kept whole below: m{}; {} came after it.\n", number(first), after()),
            (false, _) => format!(
                "- Kept whole below: m{}, the user's first message, and m{}; {} came after it.\n",
                number(first),
                number(newest),
                after()
            ),
        })
    }

    /// Evidence from what a span does not keep.
    pub(super) fn choose(&self, sheet: &Sheet<'_>, shown: &str, budget: u64) -> Vec<Snippet> {
        let first = self.carried.len();
        let list: Vec<&Message> = self
            .carried
            .iter()
            .map(|(_, message)| message)
            .chain((0..sheet.messages.len()).map(|index| self.shown(sheet.messages, index)))
            .collect();
        let index_of = |place: u32| (place as usize).checked_sub(first);
        let number = |place: u32| match index_of(place) {
            Some(index) => self.numbers[index],
            None => self.carried[place as usize].0,
        };
        let quoting = Quoting::new(&self.ledger);
        let room = Room {
            is_cold: &|place| index_of(place).is_none_or(|index| !sheet.span.keeps(index)),
            shown: &[shown],
            budget,
            count: sheet.count,
            filter: &|text| as_evidence(text, &quoting),
            number: &number,
            focus: &page::focus_words(sheet.focus),
        };
        self.evidence.choose(&list, &room)
    }
}

/// Lines in which a wrapper tells of the program that it ran: they open with one of these, and say the same of every program.
const WRAPPER_LINES: [&str; 7] = [
    "Process running with session ID",
    "Process exited with code 0",
    "Wall time:",
    "Chunk ID:",
    "Original token count:",
    "Total output lines:",
    "exit_code: 0",
];

/// Sentences with which an agent program says that the person refused a call: the same of every call, and of none what it says of edits.
const REFUSAL_SENTENCES: [&str; 3] = [
    "The user doesn't want to",
    "the new_string was NOT written to the file",
    "STOP what you are doing and wait for the user to tell you how to proceed",
];

/// A piece of evidence as it may stand in a block; nothing where it says nothing. Evidence stands at the margin, where any line that opens
/// like a heading would read as one.
pub(super) fn as_evidence<'t>(text: &'t str, quoting: &Quoting) -> Cow<'t, str> {
    let line = text.trim();
    let is_wrapper = WRAPPER_LINES.iter().any(|opening| line.starts_with(opening))
        || REFUSAL_SENTENCES.iter().any(|sentence| line.contains(sentence));
    if is_tag(line) || is_wrapper {
        return Cow::Borrowed("");
    }
    let quoted = quoting.quote(text);
    if !quoted.lines().any(opens_heading) {
        return quoted;
    }
    let guarded = quoted.split_inclusive('\n').map(|line| match opens_heading(line) {
        true => format!("{GUARD}{line}"),
        false => line.to_owned(),
    });
    Cow::Owned(guarded.collect())
}

/// Whether a line would read as a heading.
fn opens_heading(line: &str) -> bool {
    let line = line.trim_start();
    let behind = line.trim_start_matches('#');
    behind.len() < line.len() && behind.starts_with(' ')
}

/// Whether a line is a tag and nothing else: hosts open and close what they add with such lines.
fn is_tag(line: &str) -> bool {
    let name = line.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    name.is_some_and(|name| {
        name.trim_start_matches('/')
            .chars()
            .all(|letter| letter.is_alphanumeric() || "-_:".contains(letter))
    })
}

pub(super) fn title(sheet: &Sheet<'_>) -> Title {
    match sheet.story {
        Some(_) => Title::Summary,
        None => Title::Ledger,
    }
}
