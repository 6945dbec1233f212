//! Chooses pieces under a budget: always the one that is worth most per token, given what is kept already.
//!
//! A piece is considered alone and together with those that follow it, because some pieces are only worth
//! their tokens beside each other. Worth falls as others show the same identifiers and rises as neighbours are kept; a
//! queue that re-values what reaches its top keeps this close to linear. What the block costs is counted on the
//! block as it will stand, never only added up.

use std::borrow::Borrow;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::HashSet;
use std::fmt::Write;

use crate::ledger::evidence::Evidence;
use crate::ledger::evidence::EvidencePiece;
use crate::ledger::evidence::Spoken;
use crate::ledger::evidence::TextRef;
use crate::ledger::evidence::code_names::BEHIND_PATH;
use crate::ledger::evidence::code_names::BETWEEN_NAMES;
use crate::ledger::evidence::gains::Gains;
use crate::ledger::evidence::gains::estimate;
use crate::ledger::evidence::spoken;
use crate::transcript::Author;
use crate::transcript::Message;

/// How many neighbouring pieces are considered together. On recorded sessions five kept no more and took half as long again.
const TOGETHER: u32 = 4;

/// Neighbours further apart than this do not belong together: the reach of a pair, on both sides.
const WIDE: u32 = 300;

/// About what the line above the pieces of a text costs; the exact figure is settled on the finished block.
const HEADING: u32 = 4;

/// How much more a piece is worth that speaks of the topic a host named: enough to come before all but what is needed next.
const FOCUS_GAIN: f64 = 4.0;

/// What is left unused without another look: less than a piece costs.
const SLACK: u64 = 8;

/// So many of the best pieces may be too dear for what is left before no more are looked at: on a long history most pieces are never worth
/// a look, and walking through all of them for the last few tokens took nine tenths of the time.
const MOST_TOO_DEAR: usize = 48;

/// How often a block is measured and filled up again. The second round wins what estimates left over.
const ROUNDS: usize = 4;

/// A verbatim piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The number of its message.
    pub message: u32,
    /// Which of the message's texts it is from: text, tool calls and text in tool results are counted in order.
    pub text_slot: u32,
    /// Who wrote it.
    pub author: Author,
    /// The called tool, when it is from the arguments of a call.
    pub tool: Option<Box<str>>,
    /// What it says, without white space at its end; of code the names that were chosen, in one row behind their file.
    pub text: String,
}

/// What a choice has to work with.
pub struct Room<'a> {
    /// Which messages evidence is taken from. The others stay in the conversation: what they show is not shown again.
    pub is_cold: &'a dyn Fn(u32) -> bool,
    /// Texts that stand elsewhere in the result.
    pub shown: &'a [&'a str],
    /// What the rendered snippets may cost.
    pub budget: u64,
    /// Counts tokens.
    pub count: &'a dyn Fn(&str) -> u64,
    /// What every piece passes through before it is counted or shown; a piece of which nothing is left is not taken.
    pub filter: &'a dyn for<'t> Fn(&'t str) -> Cow<'t, str>,
    /// The number under which a message is shown.
    pub number: &'a dyn Fn(u32) -> u32,
    /// Words, in lower case, whose pieces are worth more.
    pub focus: &'a [String],
}

/// The block that snippets make: one heading for what stands together in a text, one line for each snippet.
pub fn render(snippets: &[Snippet]) -> String {
    let mut block = String::new();
    let mut above = None;
    for snippet in snippets {
        let place = (snippet.message, snippet.text_slot);
        if above != Some(place) {
            match &snippet.tool {
                Some(tool) => writeln!(block, "{} call {tool}:", snippet.message),
                None => writeln!(block, "{} {}:", snippet.message, snippet.author.name()),
            }
            .expect("writing to a string does not fail");
            above = Some(place);
        }
        block.push_str(&snippet.text);
        block.push('\n');
    }
    block
}

impl Evidence {
    /// The snippets that are worth most within the budget, in the order of the conversation.
    ///
    /// `messages` are those that were folded, in the same places.
    pub fn choose<M: Borrow<Message>>(&self, messages: &[M], room: &Room<'_>) -> Vec<Snippet> {
        let messages: Vec<&Message> = messages.iter().map(Borrow::borrow).collect();
        let mut choice = Choice::new(self, &messages, room);
        let mut left = room.budget;
        for _ in 0..ROUNDS {
            let filled = choice.fill(left);
            let cost = choice.settle();
            left = room.budget - cost.min(room.budget);
            if !filled || left <= SLACK {
                break;
            }
        }
        choice.snippets()
    }
}

/// A piece in the queue, with what it was worth when it was put there.
struct Offer {
    rate: f64,
    piece: u32,
    last: u32,
    version: u32,
    /// Whether the rate is only the most that it can be.
    is_bound: bool,
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        // Newer pieces first among equals: what was said last is what holds.
        self.rate
            .total_cmp(&other.rate)
            .then(self.piece.cmp(&other.piece))
            .then(self.version.cmp(&other.version))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

/// A text that evidence may be taken from. Most are never looked at, so it is made readable when it is.
struct SourceText<'a> {
    spoken: Spoken<'a>,
    readable: OnceCell<Cow<'a, str>>,
}

impl SourceText<'_> {
    fn text(&self) -> &str {
        self.readable.get_or_init(|| self.spoken.text())
    }
}

/// A choice on its way.
struct Choice<'a> {
    evidence: &'a Evidence,
    room: &'a Room<'a>,
    gains: Gains<'a>,
    /// What each text says and who said it; nothing where it is not to be taken from.
    texts: Vec<Option<SourceText<'a>>>,
    is_open: Vec<bool>,
    /// Tokens of each piece, and whether they are counted or estimated.
    costs: Vec<(u32, bool)>,
    versions: Vec<u32>,
    /// Whether a piece is no candidate: nowhere to take it from, the same words again further on, or no words at all.
    is_out: Vec<bool>,
    /// Pieces that speak of the topic.
    is_in_focus: Vec<bool>,
    queue: BinaryHeap<Offer>,
    chosen: Vec<u32>,
}

impl<'a> Choice<'a> {
    fn new(evidence: &'a Evidence, messages: &'a [&'a Message], room: &'a Room<'a>) -> Self {
        let kept = &evidence.kept;
        let texts = texts(evidence, messages, room);
        let gains = Gains::new(
            evidence,
            &|text| !(room.is_cold)(kept.texts[text as usize].message),
            room.shown,
        );
        let mut choice = Self {
            evidence,
            room,
            gains,
            is_open: vec![false; texts.len()],
            texts,
            costs: vec![(0, false); kept.pieces.len()],
            versions: vec![0; kept.pieces.len()],
            is_out: vec![false; kept.pieces.len()],
            is_in_focus: vec![false; kept.pieces.len()],
            queue: BinaryHeap::new(),
            chosen: Vec::new(),
        };
        choice.look();
        for piece in 0..kept.pieces.len() as u32 {
            choice.announce(piece);
        }
        choice
    }

    /// Puts a piece in the queue with the most that it can be worth: most pieces never come up, and their exact worth is never asked for.
    fn announce(&mut self, piece: u32) {
        if !self.is_candidate(piece) {
            return;
        }
        self.versions[piece as usize] += 1;
        // Several pieces together are worth no more for their tokens than the best of them alone.
        let end = (piece + TOGETHER).min(self.costs.len() as u32);
        let most_of = |one: u32| self.gains.most(one) / f64::from(self.costs[one as usize].0.max(1));
        let most = (piece..end).map(most_of).fold(0.0, f64::max);
        if most > 0.0 {
            self.queue.push(Offer {
                rate: most * self.focus_gain(piece),
                piece,
                last: piece,
                version: self.versions[piece as usize],
                is_bound: true,
            });
        }
    }

    /// By what factor the topic that a host named makes a piece worth more.
    fn focus_gain(&self, piece: u32) -> f64 {
        match self.is_in_focus[piece as usize] {
            true => FOCUS_GAIN,
            false => 1.0,
        }
    }

    /// Looks at every piece once, the newest first: which are candidates, and about what they cost.
    fn look(&mut self) {
        let pieces = &self.evidence.kept.pieces;
        let mut seen = HashSet::new();
        for piece in (0..pieces.len()).rev() {
            let EvidencePiece { text, cost, hash, .. } = pieces[piece];
            self.costs[piece].0 = cost;
            // A number without a word beside it is no evidence of anything.
            self.is_out[piece] = cost == 0 || self.texts[text as usize].is_none() || !seen.insert(hash);
            if !self.room.focus.is_empty() && !self.is_out[piece] {
                let lower = self.body(piece as u32, piece as u32).to_lowercase();
                let speaks = self.room.focus.iter().any(|word| lower.contains(word.as_str()));
                self.is_in_focus[piece] = speaks;
            }
        }
    }

    /// Whether a piece may be chosen for itself.
    fn is_candidate(&self, piece: u32) -> bool {
        !self.gains.is_kept[piece as usize] && !self.is_out[piece as usize]
    }

    /// Puts a piece in the queue with what it is worth now.
    fn offer(&mut self, piece: u32) {
        if !self.is_candidate(piece) {
            return;
        }
        self.versions[piece as usize] += 1;
        if let Some((rate, last)) = self.value(piece) {
            let version = self.versions[piece as usize];
            self.queue.push(Offer {
                rate,
                piece,
                last,
                version,
                is_bound: false,
            });
        }
    }

    /// The best worth per token that a piece has, alone or with those that follow, and where they end.
    fn value(&mut self, piece: u32) -> Option<(f64, u32)> {
        let pieces = &self.evidence.kept.pieces;
        let head = pieces[piece as usize];
        let mut best: Option<(f64, u32)> = None;
        for last in piece..piece + TOGETHER {
            let Some(next) = pieces.get(last as usize) else { break };
            if next.text != head.text || next.end - head.start > WIDE && last > piece {
                break;
            }
            // What says nothing on its own says nothing beside a line either.
            let is_taken = self.gains.is_kept[last as usize] || self.is_out[last as usize];
            if last > piece && (pieces[last as usize - 1].end != next.start || is_taken) {
                break;
            }
            let gain = self.gains.of(piece, last) * self.focus_gain(piece);
            let rate = gain / f64::from(self.cost(piece, last).max(1));
            if gain > 0.0 && best.is_none_or(|(known, _)| rate > known) {
                best = Some((rate, last));
            }
        }
        best
    }

    /// What neighbouring pieces cost together, the line above them included where there is none yet.
    fn cost(&self, piece: u32, last: u32) -> u32 {
        let tokens: u32 = (piece..=last).map(|one| self.costs[one as usize].0).sum();
        let text = self.evidence.kept.pieces[piece as usize].text as usize;
        if self.is_open[text] {
            return tokens;
        }
        let source = self.evidence.kept.texts[text].source;
        let path = source.map_or(0, |id| estimate(&self.evidence.kept.names[id as usize].text) + 1);
        tokens + HEADING + path
    }

    /// Counts pieces whose cost was only estimated; says whether there were any.
    fn count(&mut self, piece: u32, last: u32) -> bool {
        let mut is_new = false;
        for one in piece..=last {
            if self.costs[one as usize].1 {
                continue;
            }
            is_new = true;
            let shown = (self.room.filter)(self.body(one, one));
            let (is_empty, tokens) = (shown.is_empty(), (self.room.count)(&shown));
            self.is_out[one as usize] |= is_empty;
            self.costs[one as usize] = (u32::try_from(tokens).unwrap_or(u32::MAX / 4).saturating_add(1), true);
        }
        is_new
    }

    /// The text of neighbouring pieces, without the white space at its end.
    fn body(&self, piece: u32, last: u32) -> &str {
        let pieces = &self.evidence.kept.pieces;
        let (head, tail) = (pieces[piece as usize], pieces[last as usize]);
        let text = self.texts[head.text as usize].as_ref().map_or("", SourceText::text);
        text.get(head.start as usize..tail.end as usize)
            .unwrap_or("")
            .trim_ascii_end()
    }

    /// Takes offers until the tokens are used up; says whether anything was taken.
    fn fill(&mut self, mut left: u64) -> bool {
        let before = self.chosen.len();
        let mut too_dear = Vec::new();
        while left > 0 && too_dear.len() < MOST_TOO_DEAR {
            let Some(offer) = self.queue.pop() else { break };
            let piece = offer.piece;
            if offer.version != self.versions[piece as usize] || !self.is_candidate(piece) {
                continue;
            }
            if offer.is_bound {
                self.offer(piece);
                continue;
            }
            self.count(piece, offer.last);
            if !self.is_candidate(piece) {
                continue;
            }
            let Some((rate, last)) = self.value(piece) else {
                continue;
            };
            if self.count(piece, last) || self.queue.peek().is_some_and(|next| next.rate > rate) {
                self.offer(piece);
                continue;
            }
            let cost = u64::from(self.cost(piece, last));
            if cost > left {
                if !too_dear.contains(&piece) {
                    too_dear.push(piece);
                }
                continue;
            }
            left -= cost;
            self.take(piece, last);
        }
        for piece in too_dear {
            self.offer(piece);
        }
        self.chosen.len() > before
    }

    fn take(&mut self, piece: u32, last: u32) {
        self.is_open[self.evidence.kept.pieces[piece as usize].text as usize] = true;
        let mut touched = Vec::new();
        for one in piece..=last {
            if !self.gains.is_kept[one as usize] {
                self.gains.keep(one, |other| touched.push(other));
                self.chosen.push(one);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for other in touched {
            self.offer(other);
        }
    }

    /// Gives up what was chosen last until the block fits; returns what it costs.
    fn settle(&mut self) -> u64 {
        loop {
            let snippets = self.snippets();
            if snippets.is_empty() {
                return 0;
            }
            let cost = (self.room.count)(&render(&snippets));
            let mut over = cost.saturating_sub(self.room.budget);
            if over == 0 {
                return cost;
            }
            while over > 0 {
                let Some(piece) = self.chosen.pop() else { break };
                over = over.saturating_sub(u64::from(self.costs[piece as usize].0));
            }
        }
    }

    /// What is chosen, in order, pieces that follow one another as one.
    fn snippets(&self) -> Vec<Snippet> {
        let pieces = &self.evidence.kept.pieces;
        let mut chosen = self.chosen.clone();
        chosen.sort_unstable();
        let mut snippets = Vec::new();
        let texts = &self.evidence.kept.texts;
        let follows = |a: &u32, b: &u32| {
            let (a, b) = (pieces[*a as usize], pieces[*b as usize]);
            a.text == b.text && (a.end == b.start || texts[a.text as usize].is_code)
        };
        for run in chosen.chunk_by(follows) {
            let (first, last) = (run[0], run[run.len() - 1]);
            let text = pieces[first as usize].text as usize;
            let Some(SourceText { spoken, .. }) = &self.texts[text] else {
                continue;
            };
            snippets.push(Snippet {
                message: (self.room.number)(texts[text].message),
                text_slot: texts[text].slot,
                author: spoken.author,
                tool: spoken.call.map(|call| call.name.clone()),
                text: match texts[text].is_code {
                    true => self.row(&texts[text], run),
                    false => (self.room.filter)(self.body(first, last)).into_owned(),
                },
            });
        }
        snippets
    }
}

impl Choice<'_> {
    /// Names of code in one line, behind the path of their file.
    fn row(&self, text: &TextRef, names: &[u32]) -> String {
        let filter = self.room.filter;
        let source = text.source.map(|id| &*self.evidence.kept.names[id as usize].text);
        let names = names.iter().map(|name| self.body(*name, *name));
        let names: Vec<Cow<'_, str>> = names.filter(|name| Some(*name) != source).map(filter).collect();
        match source.map(filter).filter(|path| !path.is_empty()) {
            Some(path) if names.is_empty() => path.into_owned(),
            Some(path) => format!("{path}{BEHIND_PATH}{}", names.join(BETWEEN_NAMES)),
            None => names.join(BETWEEN_NAMES),
        }
    }
}

/// The texts that evidence may be taken from, in the order in which they were folded.
fn texts<'a>(evidence: &'a Evidence, messages: &'a [&'a Message], room: &Room<'_>) -> Vec<Option<SourceText<'a>>> {
    let mut texts = Vec::with_capacity(evidence.kept.texts.len());
    for known in evidence.kept.texts.chunk_by(|a, b| a.message == b.message) {
        let message = messages.get(known[0].message as usize);
        let message = message.filter(|message| message.author != Author::System && (room.is_cold)(known[0].message));
        let mut said = message.into_iter().flat_map(|message| spoken(message)).zip(0u32..);
        // Slots rise within a message, so one walk over it finds them all.
        texts.extend(known.iter().map(|text| {
            let (spoken, _) = said.find(|(_, slot)| *slot == text.slot)?;
            // What the agent program adds to a conversation it adds again: lists of tools, reminders, its surroundings.
            if spoken.author == Author::Host {
                return None;
            }
            Some(SourceText {
                spoken,
                readable: OnceCell::new(),
            })
        }));
    }
    texts
}
