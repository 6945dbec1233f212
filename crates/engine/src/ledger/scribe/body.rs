//! What a block says, layer by layer: the conversation, views on it, the work, evidence, and the last steps.
//!
//! Layers are filled in the order of what is worth most; what one does not need goes to the next. They stand in the order in which they
//! are read: what was said first, the exact point reached last, next to the messages that stay.

use std::collections::BTreeSet;

use crate::ledger::conversation::render;
use crate::ledger::conversation::selection::SelectionInput;
use crate::ledger::conversation::selection::Selector;
use crate::ledger::conversation::talk_cache::TalkCache;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::evidence::Snippet;
use crate::ledger::evidence::render as render_evidence;
use crate::ledger::frame;
use crate::ledger::page;
use crate::ledger::page::Sections;
use crate::ledger::page::Wanted;
use crate::ledger::quote::Quoting;
use crate::ledger::scribe::NO_NUMBER;
use crate::ledger::scribe::Scribe;
use crate::ledger::scribe::block::EvidenceRoom;
use crate::ledger::scribe::block::Sheet;
use crate::ledger::scribe::block::title;
use crate::ledger::scribe::views;
use crate::ledger::steps::last_steps;
use crate::transcript::Author;
use crate::transcript::Content;
use crate::transcript::Message;
use crate::transcript::Part;

/// Below this a block has a short notice only.
pub const ROOM_FOR_NOTICE: u64 = 1_500;
/// How the room is shared where the ledger stands alone, in a small and in a large block, in percent. In work with tools the person's words
/// need a few of theirs; in chats they are what there is.
const ALONE: [RoomShares; 2] = [
    RoomShares {
        sections: 7,
        person: 100,
        long_messages: 30,
        steps: 5,
        lost: 33,
    },
    RoomShares {
        sections: 22,
        person: 100,
        long_messages: 30,
        steps: 24,
        lost: 33,
    },
];
/// The same beside a story, of what the story leaves. The story tells the task and its history, so a small ledger shows what a story is worst
/// at: the newest words and the exact point reached.
const BESIDE_STORY: [RoomShares; 2] = [
    RoomShares {
        sections: 10,
        person: 40,
        long_messages: 12,
        steps: 40,
        lost: 15,
    },
    RoomShares {
        sections: 22,
        person: 100,
        long_messages: 30,
        steps: 30,
        lost: 33,
    },
];
/// Percent of the room for what the agent said last behind the person's newest words, where it does not stay: an answered request must
/// not read as an open one. In work with tools, and in talk, where answers are long and what people said is what is needed.
const ANSWER_SHARE: u64 = 25;
const ANSWER_SHARE_IN_TALK: u64 = 6;
/// Percent that the conversation may fill with narration, too, before evidence gets some, in a small and in a large block, where there is much
/// more work than talk: there an exact line is worth more than what the agent says between calls.
const CONVERSATION_SHARE: (u64, u64) = (20, 56);
/// Percent that the conversation may fill with how turns ended, in a small and in a large block. Closing texts are short and say what was
/// found, decided and promised; on the board they are worth more than lines of evidence, most of all where there is little room.
const CLOSING_SHARE: (u64, u64) = (90, 60);
/// What a sentence of a closing text must be worth.
const LEAST_CLOSING_WORTH: f64 = 1.2;
/// How many times its part of the whole history talk may fill of the block.
const TALK_FACTOR: u64 = 3;
/// From this percentage of the history on, talk is a large part of it.
const MUCH_TALK: u64 = 15;
/// Percent of what the person's words leave that the agent's may fill, where talk is a large part of the history.
const AGENT_PART_OF_REST: u64 = 60;
/// What a sentence of narration must be worth to come before evidence, where there is much more work than talk: it gives a value, a reason
/// or a promise.
const LEAST_WORTH: f64 = 2.0;
/// What a small and a large block are, in tokens.
const BLOCK_SIZES: (u64, u64) = (600, 5_000);
/// Heads the lines of what stands nowhere else in the block.
const LOST_HEADING: &str = "## Further exact values (from the ledger)\n";
/// Percent of a block that a story may fill beside the ledger, where it is longer than it was asked to be.
const STORY_SHARE: u64 = 60;
/// Evidence in less room than this is single names, which a reader of the story cannot place.
const LEAST_EVIDENCE: u64 = 100;
/// Percent of a small and of a large block that evidence may fill while there is more of what was said, or a step more for the tail: readers
/// took most lines beyond that for noise. In a small block neither a step nor an answer fits, and a line does.
const EVIDENCE_SHARE: (u64, u64) = (60, 30);
/// Percent of what the conversation leaves unused that the sections may have besides their share, and the last steps as much again.
const SPARE_FOR_WORK: u64 = 30;
/// How often a block is filled: a second time where evidence did not need its room.
const ROUNDS: usize = 2;
/// What is left over without another look.
const SLACK_TOKENS: u64 = 24;

const CONVERSATION_HEADING: &str = "## Conversation\n";
const EVIDENCE_HEADING: &str = "## Evidence\n";
const STEPS_HEADING: &str = "## Last steps\n";

impl Scribe {
    pub(super) fn body(
        &self,
        sheet: &Sheet<'_>,
        room: u64,
        request: &str,
        cache: &TalkCache,
    ) -> (String, Vec<Snippet>) {
        let count = sheet.count;
        let notice = match sheet.story {
            Some(story) => story.notice,
            None if room >= ROOM_FOR_NOTICE => frame::NOTICE,
            None => frame::SHORT_NOTICE,
        };
        let story = |room: u64| {
            sheet
                .story
                .map_or_else(String::new, |story| (story.shorten)(story.text, room, count))
        };
        let notes = self.notes(sheet);
        let left = room.saturating_sub(count(&frame::wrap(&self.key, title(sheet), notice)) + count(&notes));
        if sheet.story.is_some_and(|story| !story.has_ledger) {
            return (format!("{notice}\n\n{}\n\n{notes}", story(left)), Vec::new());
        }
        let story = story(left * STORY_SHARE / 100);
        let left = left.saturating_sub(count(&story));
        let share = self.conversation_share(sheet, left);
        let written = |share| self.layers(sheet, &story, request, left, share, cache);
        let evidence_room = |layers: &Layers, evidence| self.evidence_room(sheet, &story, left, evidence, layers);
        // Beside a story evidence has what is left: the story tells what else was said.
        let first = match story.is_empty() {
            true => EvidenceRoom::Capped,
            false => sheet.evidence,
        };
        let mut layers = written(share);
        let spare = |layers: &Layers| left.saturating_sub(count(&layers.text()));
        // Choosing evidence costs more than all else, so that it is chosen last: until then it is taken to fill what it may have.
        let mut unused = spare(&layers).saturating_sub(evidence_room(&layers, first));
        let most_unused = SLACK_TOKENS.max(left / 50);
        for _ in 0..ROUNDS {
            // What evidence does not need, or may not have, goes to more of what was said.
            if unused > most_unused {
                let share = ConversationShare {
                    percent: (count(&layers.conversation) + unused) * 100 / left.max(1),
                    least_worth: 0.0,
                    // Where the person's words are cut, everything that is free is theirs.
                    overestimate: match layers.is_person_whole {
                        true => layers.overestimate,
                        false => unused,
                    },
                    ..share
                };
                let fuller = written(share);
                if count(&fuller.text()) <= left {
                    layers = fuller;
                }
            }
            layers.snippets.clear();
            let room = evidence_room(&layers, sheet.evidence);
            layers.snippets = match room {
                0 => Vec::new(),
                _ => self.choose(sheet, &format!("{request}\n{story}\n{}", layers.text()), room),
            };
            unused = spare(&layers);
            // In talk there is little to choose from.
            let is_scarce = count(&render_evidence(&layers.snippets)) * 2 < room;
            if unused <= most_unused || !is_scarce {
                break;
            }
        }
        let story = if story.is_empty() {
            story
        } else {
            format!("{story}\n\n")
        };
        let body = format!("{notice}\n{story}{}{notes}", layers.text());
        (body.trim().to_owned(), layers.snippets)
    }

    /// Percent of the room that the conversation may fill before evidence gets some: more in a small block, and more where there is
    /// little but talk, which evidence has nothing to add to.
    fn conversation_share(&self, sheet: &Sheet<'_>, left: u64) -> ConversationShare {
        let share = by_size(CONVERSATION_SHARE, left);
        let (mut talk, mut work) = (0u64, 0u64);
        for index in (0..sheet.messages.len()).filter(|index| !sheet.span.keeps(*index)) {
            let message = &sheet.messages[index];
            // What an agent says between calls is part of the work.
            let is_talk = message.calls().next().is_none();
            for part in &message.parts {
                match part {
                    Part::Text(text) if is_talk => talk += text.len() as u64,
                    Part::Text(text) => work += text.len() as u64,
                    Part::Call(call) => work += call.input.as_str().len() as u64,
                    Part::Result(result) => work += result.content.iter().map(content_length).sum::<u64>(),
                    Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
                }
            }
        }
        let by_talk = talk * 100 * TALK_FACTOR / (talk + work).max(1);
        let is_talk = by_talk >= MUCH_TALK * TALK_FACTOR;
        ConversationShare {
            percent: share.max(by_talk).min(100),
            percent_of_rest: if is_talk { AGENT_PART_OF_REST } else { 0 },
            least_worth: if is_talk { 0.0 } else { LEAST_WORTH },
            overestimate: 0,
        }
    }

    fn layers(
        &self,
        sheet: &Sheet<'_>,
        story: &str,
        request: &str,
        left: u64,
        share: ConversationShare,
        cache: &TalkCache,
    ) -> Layers {
        let count = sheet.count;
        let kept: BTreeSet<u32> = sheet.span.kept.iter().map(|index| self.numbers[*index]).collect();
        let focus = page::focus_words(sheet.focus);
        let left = left.saturating_sub(headings(count));
        let cold: Vec<(u32, &Message)> = (0..sheet.messages.len())
            .filter(|index| !sheet.span.keeps(*index) && self.numbers[*index] != NO_NUMBER)
            .map(|index| (self.numbers[index], self.shown(sheet.messages, index)))
            .collect();
        let records = self.ledger.conversation().records();
        let input = SelectionInput {
            records,
            is_cold: &|number| !kept.contains(&number),
            count,
            focus: &focus,
            restated: self
                .kept_request(sheet.messages, sheet.span)
                .map(|asked| (asked.number, request)),
            expected_use: &|text| self.evidence.expected_use_of(text),
            cache,
        };
        let mut selector = Selector::new(&input);
        let shares = RoomShares::of(if story.is_empty() { &ALONE } else { &BESIDE_STORY }, left);
        let part = |percent: u64| left * percent / 100;
        // What waits, what failed and what is odd are few lines that stand nowhere else: they have their room before long talk.
        let mut sections = self.sections(sheet, story, part(shares.sections));
        let answer_share = match share.percent_of_rest {
            0 => ANSWER_SHARE,
            _ => ANSWER_SHARE_IN_TALK,
        };
        selector.choose_answer(part(answer_share));
        let long = part(shares.long_messages).saturating_sub(count(request));
        let person = part(shares.person).min(left.saturating_sub(sections.tokens));
        selector.choose_person(person + share.overestimate, long);
        // Beside a story the last steps are what the ledger is for.
        let is_person_whole = selector.is_person_whole() || !story.is_empty();
        let spare = left.saturating_sub(selector.used() + sections.tokens);
        let most = match story.is_empty() {
            true => spare * 2 / 3,
            false => spare.saturating_sub(part(shares.lost)).max(spare * 2 / 3),
        };
        // No line of a tool stands where a message of the person had no room; the newest step stays beside the block.
        let mut steps = match is_person_whole {
            true => last_steps(&cold, part(shares.steps).min(most), count),
            false => String::new(),
        };
        let taken = count(&steps) + sections.tokens;
        // However much the person said, what the agent found and promised has a part of what is left.
        let lost = sheet.missing.map_or(0, |_| part(shares.lost));
        let room = left.saturating_sub(taken + lost);
        let rest = room.saturating_sub(selector.used()) * share.percent_of_rest / 100;
        let budget = (left * share.percent / 100).max(selector.used() + rest);
        // How turns ended comes before the agent's narration, and before evidence.
        let closing = left * by_size(CLOSING_SHARE, left) / 100;
        let least_closing = LEAST_CLOSING_WORTH.min(share.least_worth);
        selector.choose_closing(closing.max(budget).min(room + share.overestimate), least_closing);
        selector.choose_rest(budget.min(room + share.overestimate), share.least_worth);
        // What talk does not need goes to the work before it goes to lines of evidence: what was run and how it ended, and the last steps.
        let spare = left.saturating_sub(selector.used() + taken);
        if story.is_empty() && is_person_whole && spare > SLACK_TOKENS {
            let more = spare * SPARE_FOR_WORK / 100;
            sections = self.sections(sheet, story, part(shares.sections) + more);
            steps = last_steps(&cold, count(&steps) + more, count);
        }
        let conversation = render::render(self.ledger.conversation(), selector.selection());
        let mut layers = Layers {
            overestimate: selector.used().saturating_sub(count(&conversation)),
            conversation,
            sections: sections.text(),
            steps,
            snippets: Vec::new(),
            is_person_whole,
        };
        if let Some(missing) = sheet.missing {
            let seen = format!("{request}\n{story}\n{}", layers.text());
            let lost = page::lost_lines(missing(&seen), part(shares.lost), count);
            if !lost.is_empty() {
                layers.sections.push_str(LOST_HEADING);
                layers.sections.push_str(&lost);
            }
        }
        layers
    }

    /// The room that exact lines may fill: what the other layers leave, or their share of it.
    fn evidence_room(&self, sheet: &Sheet<'_>, story: &str, left: u64, evidence: EvidenceRoom, layers: &Layers) -> u64 {
        if !layers.is_person_whole {
            return 0;
        }
        let left = left.saturating_sub(headings(sheet.count));
        let rest = left.saturating_sub((sheet.count)(&layers.text()));
        let room = match evidence {
            EvidenceRoom::Capped => rest.min(left * by_size(EVIDENCE_SHARE, left) / 100),
            EvidenceRoom::Rest => rest,
        };
        // Beside a story a handful of names tells nothing; more of what was said does.
        match story.is_empty() || room >= LEAST_EVIDENCE {
            true => room,
            false => 0,
        }
    }

    fn sections(&self, sheet: &Sheet<'_>, story: &str, room: u64) -> Sections {
        let kept: BTreeSet<u32> = sheet.span.kept.iter().map(|index| self.numbers[*index]).collect();
        let is_cold = |entry: &&Entry| !kept.contains(&entry.last) || !kept.contains(&entry.first);
        // What was done comes as views, from records with their last state.
        let is_said = |entry: &&Entry| !views::tell(entry);
        let conversation = self.ledger.conversation();
        let is_reconsidered = |entry: &Entry| entry.kind == Kind::Decision && conversation.is_reconsidered(entry.last);
        let is_current = |entry: &&Entry| !self.is_corrected(entry) && !is_reconsidered(entry);
        // "Rules:" only introduces what follows it.
        let is_heading = |entry: &&Entry| {
            matches!(entry.kind, Kind::Constraint | Kind::Decision) && entry.value.trim_end().ends_with(':')
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
                .filter(is_said)
                .filter(is_current)
                .filter(|entry| !is_heading(entry)),
            views::views(&self.ledger, &kept, story),
            &Quoting::new(&self.ledger),
            &wanted,
            room,
            sheet.count,
        )
    }

    /// Whether a later word corrects the sentence that a fact is from.
    fn is_corrected(&self, entry: &Entry) -> bool {
        let spoken = matches!(entry.author, Author::User | Author::Assistant);
        spoken && entry.kind == Kind::Fact && self.ledger.conversation().is_corrected(entry.first, &entry.value)
    }
}

/// Percent of the room that layers may fill.
#[derive(Clone, Copy, Debug)]
struct RoomShares {
    /// The views and the work, sections with a line an entry.
    sections: u64,
    /// The person's words, before anything else gets some.
    person: u64,
    /// Long messages of theirs, by sentences.
    long_messages: u64,
    /// The last steps.
    steps: u64,
    /// What must not be lost and stands nowhere else.
    lost: u64,
}

impl RoomShares {
    /// The shares between those of a small and a large block.
    fn of([small, large]: &[RoomShares; 2], left: u64) -> Self {
        let between = |share: fn(&RoomShares) -> u64| by_size((share(small), share(large)), left);
        Self {
            sections: between(|shares| shares.sections),
            person: between(|shares| shares.person),
            long_messages: between(|shares| shares.long_messages),
            steps: between(|shares| shares.steps),
            lost: between(|shares| shares.lost),
        }
    }
}

/// How much of a block the conversation may fill before evidence gets some.
#[derive(Clone, Copy, Debug)]
struct ConversationShare {
    percent: u64,
    /// Percent of what is left behind the person's words.
    percent_of_rest: u64,
    /// What a sentence must be worth.
    least_worth: f64,
    /// Tokens by which lines are known to cost less than they are estimated at before they stand together.
    overestimate: u64,
}

/// The layers of a block, each as text.
struct Layers {
    conversation: String,
    sections: String,
    steps: String,
    snippets: Vec<Snippet>,
    is_person_whole: bool,
    /// By how much the lines of the conversation were estimated at more than they cost.
    overestimate: u64,
}

impl Layers {
    fn text(&self) -> String {
        let mut text = String::new();
        let mut layer = |heading: &str, lines: &str| {
            if !lines.trim().is_empty() {
                text.push_str(heading);
                text.push_str(lines);
            }
        };
        layer(CONVERSATION_HEADING, &self.conversation);
        layer("", &self.sections);
        layer(EVIDENCE_HEADING, &render_evidence(&self.snippets));
        layer(STEPS_HEADING, &self.steps);
        text
    }
}

/// What the headings cost that every block may have.
fn headings(count: &dyn Fn(&str) -> u64) -> u64 {
    let headings = [CONVERSATION_HEADING, EVIDENCE_HEADING, STEPS_HEADING];
    headings.iter().map(|heading| count(heading)).sum()
}

/// A share between those of a small and a large block.
fn by_size((small, large): (u64, u64), left: u64) -> u64 {
    let (from, until) = BLOCK_SIZES;
    let grown = left.clamp(from, until) - from;
    let rest = until - from - grown;
    (small * rest + large * grown) / (until - from)
}

fn content_length(content: &Content) -> u64 {
    match content {
        Content::Text(text) => text.len() as u64,
        Content::Media(_) | Content::Opaque(_) => 0,
    }
}
