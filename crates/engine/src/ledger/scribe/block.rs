//! Writing the block: a story where a model told one, the ledger's sections, evidence, and the request that goes on.

use std::collections::BTreeSet;

use crate::decide::LEAST_BLOCK;
use crate::decide::Span;
use crate::decide::marker::REQUEST_OPENING;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::evidence::Room;
use crate::ledger::evidence::Snippet;
use crate::ledger::evidence::render;
use crate::ledger::frame;
use crate::ledger::frame::Title;
use crate::ledger::memory::Asked;
use crate::ledger::memory::Carried;
use crate::ledger::page;
use crate::ledger::page::Lost;
use crate::ledger::page::Sections;
use crate::ledger::page::Wanted;
use crate::ledger::quote::Quoting;
use crate::ledger::scribe::NO_NUMBER;
use crate::ledger::scribe::Scribe;
use crate::transcript::Author;
use crate::transcript::Content;
use crate::transcript::Message;
use crate::transcript::Part;

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

/// What a model told of what is replaced.
pub struct Story<'a> {
    /// Its words, as they may be shown.
    pub text: &'a str,
    /// What the block says about itself.
    pub notice: &'a str,
    /// Whether the ledger stands beside it.
    pub has_ledger: bool,
}

/// Says what must not be lost and is not in a text, most important first.
pub type Missing<'a> = &'a dyn Fn(&str) -> Vec<Lost>;

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
            story: None,
            missing: None,
            focus: None,
        }
    }
}

/// Below this a block has no room for a full notice.
const ROOM_FOR_NOTICE: u64 = 1_500;
/// A page is written at most this often: each time smaller by what it was too long.
const MOST_ATTEMPTS: usize = 5;
/// The part of the evidence that goes to the end of the newest message where that could not be kept.
const NEWEST_SHARE: u64 = 4;
/// Heads the lines of what stands nowhere else in the block.
const LOST_HEADING: &str = "## Further exact values (from the ledger)\n";
/// The part of a block that the request that goes on may fill. An eighth cost two hundredths of what the agent goes on to
/// use in the retention metric; the request's own identifiers are evidence as well.
const REQUEST_SHARE: u64 = 20;
/// What it gets at least where models write, up to a quarter of the block: its opening and a dozen words. A ledger that
/// stands alone goes without: there it cost half a hundredth of retention in blocks of a thirtieth.
const LEAST_REQUEST: u64 = 32;
/// The part of a block that what a story left out may fill, beside the sections that hold most of it.
const LOST_SHARE: u64 = 3;

impl Scribe {
    /// The block that stands for everything a span does not keep; `None` when there are too few tokens for one.
    pub fn block(&self, sheet: &Sheet<'_>) -> Option<Written> {
        if sheet.budget < LEAST_BLOCK {
            return None;
        }
        let request = self.request(sheet);
        let taken = request.as_deref().map_or(0, |request| (sheet.count)(request) + 1);
        let budget = sheet.budget.saturating_sub(taken);
        let mut room = budget;
        for _ in 0..MOST_ATTEMPTS {
            let (body, snippets) = self.body(sheet, room, request.as_deref().unwrap_or(""));
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
            room = room.saturating_sub(tokens - budget + 1);
        }
        None
    }

    /// The person's newest words, where the span does not keep them: whatever stands only before the frame or in it is
    /// taken for history.
    fn request(&self, sheet: &Sheet<'_>) -> Option<String> {
        let words = self.kept_request(sheet.messages, sheet.span)?.text;
        let least = sheet.missing.map_or(0, |_| LEAST_REQUEST.min(sheet.budget / 4));
        let room = (sheet.budget / REQUEST_SHARE).max(least);
        let room = room.checked_sub((sheet.count)(REQUEST_OPENING))?;
        let words = page::shortened(&words, room, sheet.count);
        (!words.trim().is_empty()).then(|| format!("{REQUEST_OPENING}{words}"))
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
            text: words_of(self.shown(messages, index)).into(),
        })
    }

    fn body(&self, sheet: &Sheet<'_>, room: u64, request: &str) -> (String, Vec<Snippet>) {
        let count = sheet.count;
        let has_room = room >= ROOM_FOR_NOTICE;
        let notice = match sheet.story {
            Some(story) => story.notice,
            None if has_room => frame::NOTICE,
            None => "",
        };
        let story = sheet.story.map_or("", |story| story.text);
        if sheet.story.is_some_and(|story| !story.has_ledger) {
            let notes = self.notes(sheet.span, &Sections::default());
            let left = room.saturating_sub(count(&frame::wrap(&self.key, title(sheet), notice)) + count(&notes));
            let story = page::shortened(story, left, count);
            return (format!("{notice}\n\n{story}\n\n{notes}"), Vec::new());
        }
        let left = room.saturating_sub(count(&frame::wrap(&self.key, title(sheet), notice)));
        let story = page::shortened(story, left * 2 / 3, count);
        let left = left.saturating_sub(count(&story));
        let sections = self.sections(sheet, &story, left);
        let mut text = sections.text();
        let notes = if has_room {
            self.notes(sheet.span, &sections)
        } else {
            String::new()
        };
        if let Some(missing) = sheet.missing {
            let seen = format!("{request}\n{story}\n{text}");
            let lost = page::lost_lines(missing(&seen), left / LOST_SHARE, count);
            if !lost.is_empty() {
                text.push_str(LOST_HEADING);
                text.push_str(&lost);
            }
        }
        if has_room {
            text.push_str("## Evidence\n");
        }
        let left = left.saturating_sub(count(&text) + count(&notes));
        let newest = self.newest(sheet, left / NEWEST_SHARE);
        let ending = newest
            .as_ref()
            .map(|snippet| render(std::slice::from_ref(snippet)))
            .unwrap_or_default();
        let shown = format!("{request}\n{story}\n{text}{ending}");
        let mut snippets = self.choose(sheet, &shown, left.saturating_sub(count(&ending)));
        snippets.extend(newest);
        if snippets.is_empty() && has_room {
            text.truncate(text.len() - "## Evidence\n".len());
        }
        let story = if story.is_empty() {
            story
        } else {
            format!("{story}\n\n")
        };
        let body = format!("{notice}\n{story}{text}{}{notes}", render(&snippets));
        (body.trim().to_owned(), snippets)
    }

    /// The end of the newest message, where it is too long to be kept: what the model has just seen is what it goes on
    /// from, whatever its past says.
    fn newest(&self, sheet: &Sheet<'_>, budget: u64) -> Option<Snippet> {
        let index = sheet
            .messages
            .len()
            .checked_sub(1)
            .filter(|index| sheet.span.is_squeezed && !sheet.span.keeps(*index))?;
        let message = self.shown(sheet.messages, index);
        let (author, text) = message.parts.iter().rev().find_map(|part| match part {
            Part::Text(text) => Some((message.author, &**text)),
            Part::Result(result) => result.content.iter().rev().find_map(|content| match content {
                Content::Text(text) => Some((Author::Tool, &**text)),
                Content::Media(_) | Content::Opaque(_) => None,
            }),
            Part::Call(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
        })?;
        let quoting = Quoting::new(&self.ledger);
        let mut lines: Vec<&str> = Vec::new();
        let mut used = (sheet.count)("0 assistant:") + 1;
        for line in text.trim_end().lines().rev() {
            used += (sheet.count)(line) + 1;
            if used > budget {
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        let text = quoting.quote(&lines.join("\n")).into_owned();
        (!text.trim().is_empty()).then(|| Snippet {
            message: self.numbers[index],
            text_slot: u32::MAX,
            author,
            tool: None,
            text,
        })
    }

    /// How much was replaced, what the sections left out, and how to get it back.
    fn notes(&self, span: &Span, sections: &Sections) -> String {
        let kept = span
            .kept
            .iter()
            .filter(|index| self.numbers[**index] != NO_NUMBER)
            .count();
        let gone = (self.ledger.folded() as usize).saturating_sub(kept);
        let mut notes = format!(
            "## Retrieval notes\n- {gone} earlier messages are stored whole; mainstay recall WORDS finds them."
        );
        let left: Vec<String> = sections
            .left_out
            .iter()
            .map(|(section, left)| format!("{} {left}", section.heading().to_lowercase()))
            .collect();
        if !left.is_empty() {
            notes.push_str(&format!(" Left out above: {}.", left.join(", ")));
        }
        notes
    }

    /// Evidence from what a span does not keep.
    fn choose(&self, sheet: &Sheet<'_>, shown: &str, budget: u64) -> Vec<Snippet> {
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
            filter: &|text| quoting.quote(text),
            number: &number,
            focus: &page::focus_words(sheet.focus),
        };
        self.evidence.choose(&list, &room)
    }

    fn sections(&self, sheet: &Sheet<'_>, story: &str, room: u64) -> Sections {
        let kept: BTreeSet<u32> = sheet.span.kept.iter().map(|index| self.numbers[*index]).collect();
        let is_cold = |entry: &&Entry| !kept.contains(&entry.last) || !kept.contains(&entry.first);
        // What was done is told once; what was said stays in the words in which it was said.
        let is_told = |entry: &Entry| match entry.kind {
            Kind::File => story.contains(&*entry.key),
            Kind::Command | Kind::Error | Kind::Task => story.contains(&*entry.value),
            _ => false,
        };
        let wanted = Wanted {
            focus: sheet.focus,
            // Measured alone, where evidence tells of the rest, the newest facts do better than the rarest.
            rare_first: sheet.missing.is_some(),
        };
        page::fill(
            self.ledger
                .entries()
                .filter(is_cold)
                .filter(|entry| story.is_empty() || !is_told(entry)),
            &Quoting::new(&self.ledger),
            &wanted,
            room,
            sheet.count,
        )
    }
}

fn title(sheet: &Sheet<'_>) -> Title {
    match sheet.story {
        Some(_) => Title::Summary,
        None => Title::Ledger,
    }
}

/// The words of a message.
fn words_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(&**text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
