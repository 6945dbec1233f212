//! A conversation on its way through a replay: the prompt as it would be sent, and what passes make of it.

use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::measure;
use mainstay_engine::compaction::Block;
use mainstay_engine::compaction::Seat;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Policy;
use mainstay_engine::economy::Segment;
use mainstay_engine::economy::SegmentKind;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_session::PromptSize;
use mainstay_session::ProviderTokens;
use mainstay_session::Session;

use crate::forced::settings;
use crate::replay::timeline::Timeline;
use crate::replay::track::Step;
use crate::retention::render;

/// One message of the prompt.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its size and identity.
    pub segment: Segment,
    /// The message of the session that it is, changed or not; none where it stands for several.
    pub message: Option<usize>,
    /// What is sent, where it is not the message itself.
    pub written: Option<Arc<Message>>,
}

/// What a pass came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// The prompt's tokens before.
    pub before: u64,
    /// And after.
    pub after: u64,
    /// The first message of the prompt that is another one than before.
    pub earliest: usize,
    /// Tokens of the messages that the pass took out or changed.
    pub replaced: u64,
}

/// A conversation on its way.
pub struct Walk<'a> {
    timeline: &'a Timeline,
    /// The prompt, its preface included.
    pieces: Vec<Piece>,
    prompt: u64,
    /// Messages before this index are in it, or were.
    taken: usize,
    /// How many pieces were the same ever since the last step.
    stable: usize,
    /// How many pieces the last step had.
    sent: usize,
    epoch: u32,
    session: Option<Session>,
    /// What the messages hold that were taken in.
    prints: Vec<u64>,
    /// Texts that were asked for, by what they are of.
    texts: HashMap<u64, Arc<str>>,
    /// Whether the reasoning of finished turns is left out.
    drops_reasoning: bool,
    /// The turn that is going on begins at this message.
    turn: usize,
    /// Tokens of everything that was said.
    said: u64,
    /// Instructions among them.
    instructions: u64,
    /// Whether the prompt is still everything that was said.
    pub is_whole: bool,
}

/// How many pieces stand before the first message.
const PREFACE: usize = 2;

impl<'a> Walk<'a> {
    /// At the beginning of a session.
    pub fn new(timeline: &'a Timeline, drops_reasoning: bool) -> Self {
        let mut walk = Self {
            timeline,
            texts: HashMap::new(),
            drops_reasoning,
            turn: 0,
            said: 0,
            instructions: 0,
            pieces: Vec::new(),
            prompt: 0,
            taken: 0,
            stable: 0,
            sent: 0,
            epoch: 0,
            session: None,
            prints: Vec::new(),
            is_whole: true,
        };
        walk.push(preface(SegmentKind::SharedPreface, timeline.preface.shared, 0));
        walk.push(preface(SegmentKind::Preface, timeline.preface.own, 0));
        walk
    }

    /// The session.
    pub fn timeline(&self) -> &'a Timeline {
        self.timeline
    }

    /// The prompt's tokens.
    pub fn prompt(&self) -> u64 {
        self.prompt
    }

    /// Tokens of everything that was said so far.
    pub fn said(&self) -> u64 {
        self.said
    }

    /// Tokens of instructions that stand among the messages; no pass takes them out.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Tokens that stand before the first message.
    pub fn preface(&self) -> u64 {
        self.pieces[..PREFACE].iter().map(|piece| piece.segment.tokens).sum()
    }

    /// The messages of the prompt.
    pub fn messages(&self) -> &[Piece] {
        &self.pieces[PREFACE..]
    }

    fn push(&mut self, piece: Piece) {
        self.prompt += piece.segment.tokens;
        self.pieces.push(piece);
    }

    /// Takes in what was said before the message at this index.
    pub fn hear(&mut self, before: usize, epoch: u32) {
        if epoch != self.epoch {
            self.epoch = epoch;
            let own = preface(SegmentKind::Preface, self.timeline.preface.own, epoch);
            self.pieces[PREFACE - 1] = own;
            self.stable = self.stable.min(PREFACE - 1);
        }
        for index in self.taken..before {
            if self.timeline.transcript.messages()[index].opens_turn() {
                self.finish_turn(index);
            }
            self.prints
                .push(fingerprint(&self.timeline.transcript.messages()[index]));
            let piece = self.original(index);
            self.said += piece.segment.tokens;
            if is_instruction(&self.timeline.transcript.messages()[index]) {
                self.instructions += piece.segment.tokens;
            }
            self.push(piece);
        }
        self.taken = self.taken.max(before);
    }

    /// The person speaks again: what was thought in the turn before is left out where the provider does that.
    fn finish_turn(&mut self, start: usize) {
        let finished = self.turn..start;
        self.turn = start;
        if !self.drops_reasoning {
            return;
        }
        for place in (PREFACE..self.pieces.len()).rev() {
            let piece = &self.pieces[place];
            let Some(index) = piece.message.filter(|_| piece.written.is_none()) else {
                continue;
            };
            if index < finished.start {
                break;
            }
            if self.timeline.reasoning[index] > 0 {
                let bare = self.original(index);
                self.prompt = self.prompt - self.pieces[place].segment.tokens + bare.segment.tokens;
                self.pieces[place] = bare;
                self.stable = self.stable.min(place);
            }
        }
    }

    fn original(&self, index: usize) -> Piece {
        let segment = self.timeline.segment(index);
        let dropped = match self.drops_reasoning && index < self.turn {
            true => self.timeline.reasoning[index].min(segment.tokens),
            false => 0,
        };
        Piece {
            segment: Segment {
                // Without its reasoning it is another message.
                id: self.prints[index].wrapping_add(u64::from(dropped > 0)),
                tokens: segment.tokens - dropped,
                ..segment
            },
            message: Some(index),
            written: None,
        }
    }

    /// Puts another form of a message into the prompt, with its tokens as counted.
    pub fn rewrite(&mut self, place: usize, message: Message) {
        let index = PREFACE + place;
        let tokens = self.tokens(&message);
        let piece = &mut self.pieces[index];
        self.prompt = self.prompt - piece.segment.tokens + tokens;
        piece.segment.tokens = tokens;
        piece.segment.id = fingerprint(&message);
        piece.written = Some(Arc::new(message));
        self.stable = self.stable.min(index);
        self.is_whole = false;
    }

    /// What a message that nobody reported on takes in a prompt.
    pub fn tokens(&self, message: &Message) -> u64 {
        let counted = measure(message, self.timeline.family).total();
        (counted as f64 * self.timeline.scale).ceil() as u64
    }

    /// Lets our engine make a pass, whether it is due or not.
    pub fn compact(&mut self, policy: &Policy, budget: &Budget) -> Option<Made> {
        let transcript = self.timeline.transcript.until(self.taken);
        let preface = self.preface();
        let fresh = || Session::new(settings(self.timeline.family, policy.clone(), budget.clone()));
        let mut session = self.session.take().unwrap_or_else(fresh);
        session.observe(transcript);
        session.fold_ledger();
        // As the engine counts: reasoning that only the provider has counted is not there for it to take out.
        let counted = (session.counted().0 as f64 * self.timeline.scale) as u64;
        let settings = session.settings_mut();
        settings.policy = policy.clone();
        settings.budget = budget.clone();
        settings.prompt = PromptSize::Known {
            tokens: ProviderTokens(preface + counted),
            scale: self.timeline.scale,
        };
        // What the prompt does not take over must not have happened.
        let untouched = session.clone();
        let made = match session.pass().verdict {
            Verdict::Compacted => {
                let origins = origins(session.block(), self.taken);
                self.adopt(origins.into_iter().zip(session.messages()))
            }
            Verdict::Unchanged(_) => None,
        };
        self.session = Some(if made.is_some() { session } else { untouched });
        made
    }

    /// Sends these messages from now on, each with the message of the session that it is, where they are smaller.
    fn adopt(&mut self, messages: impl Iterator<Item = (Option<usize>, Message)>) -> Option<Made> {
        let before = self.prompt;
        let mut pieces: Vec<Piece> = self.pieces[..PREFACE].to_vec();
        for (origin, message) in messages {
            let id = fingerprint(&message);
            let piece = match origin.filter(|index| self.prints[*index] == id) {
                Some(index) => self.original(index),
                None => Piece {
                    segment: Segment {
                        id,
                        tokens: self.tokens(&message),
                        blocks: message.parts.len() as u64,
                        kind: SegmentKind::Plain,
                    },
                    message: origin,
                    written: Some(Arc::new(message)),
                },
            };
            pieces.push(piece);
        }
        let after: u64 = pieces.iter().map(|piece| piece.segment.tokens).sum();
        if after >= before {
            return None;
        }
        let is_same = |(old, new): &(&Piece, &Piece)| old.segment.id == new.segment.id;
        let same = self.pieces.iter().zip(&pieces).take_while(is_same).count();
        // What stands up to the last thing that passes wrote stays until the next one: worth a mark of its own.
        if let Some(block) = pieces[PREFACE..].iter_mut().rfind(|piece| piece.written.is_some()) {
            block.segment.kind = SegmentKind::Anchor;
        }
        let kept: u64 = pieces
            .iter()
            .filter(|piece| piece.message.is_some() && piece.written.is_none())
            .map(|piece| piece.segment.tokens)
            .sum();
        self.pieces = pieces;
        self.prompt = after;
        self.stable = self.stable.min(same);
        self.is_whole = false;
        Some(Made {
            before,
            after,
            earliest: same.saturating_sub(PREFACE),
            replaced: before.saturating_sub(kept + self.preface()),
        })
    }

    /// Tokens at the beginning that are those of the last prompt, and whether that is all of it.
    pub fn unchanged(&self) -> (u64, bool) {
        let unchanged = &self.pieces[..self.stable.min(self.pieces.len())];
        let tokens = unchanged.iter().map(|piece| piece.segment.tokens).sum();
        (tokens, self.stable == self.sent)
    }

    /// Tokens at the beginning that other conversations share.
    pub fn shared(&self) -> u64 {
        let is_shared = |piece: &&Piece| piece.segment.kind == SegmentKind::SharedPreface;
        self.pieces
            .iter()
            .take_while(is_shared)
            .map(|piece| piece.segment.tokens)
            .sum()
    }

    /// Adds what a prompt of this size must hold beside what is known of it.
    pub fn recollect(&mut self, prompt: u64) -> u64 {
        let missing = prompt.saturating_sub(self.prompt);
        if missing > 0 {
            let mut unknown = preface(SegmentKind::Plain, missing, self.taken as u32);
            unknown.segment.id ^= 1;
            self.pieces.insert(PREFACE, unknown);
            self.prompt += missing;
            self.stable = self.stable.min(PREFACE);
        }
        missing
    }

    /// Sends the prompt.
    pub fn send(&mut self, at: i64, output: u64) -> Step {
        let keep = self.stable.min(self.pieces.len());
        let added = self.pieces[keep..].iter().map(|piece| piece.segment).collect();
        self.stable = self.pieces.len();
        self.sent = self.stable;
        Step {
            keep,
            added,
            prompt: self.prompt,
            at,
            output,
        }
    }

    /// Leaves out what stood in the prompt before this message of the session, instructions apart: somebody else's
    /// compaction.
    pub fn forget_before(&mut self, first: usize) -> Option<Made> {
        let before = self.prompt;
        let messages = self.timeline.transcript.messages();
        let is_kept = |piece: &Piece| {
            piece
                .message
                .is_none_or(|index| index >= first || is_instruction(&messages[index]))
        };
        let earliest = self.pieces.iter().position(|piece| !is_kept(piece))?;
        self.pieces.retain(is_kept);
        self.prompt = self.pieces.iter().map(|piece| piece.segment.tokens).sum();
        self.stable = self.stable.min(earliest);
        self.is_whole = false;
        Some(Made {
            before,
            after: self.prompt,
            earliest: earliest.saturating_sub(PREFACE),
            replaced: before - self.prompt,
        })
    }

    /// The texts of the prompt, without instructions.
    pub fn texts(&mut self) -> Vec<Arc<str>> {
        let messages = self.timeline.transcript.messages();
        let mut texts = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces[PREFACE..] {
            let message = match (&piece.written, piece.message) {
                (Some(written), _) => written,
                (None, Some(index)) if !is_instruction(&messages[index]) => &messages[index],
                (None, _) => continue,
            };
            let known = self.texts.entry(piece.segment.id);
            texts.push(Arc::clone(known.or_insert_with(|| render(message).into())));
        }
        texts
    }
}

fn is_instruction(message: &Message) -> bool {
    matches!(message.role, Role::System | Role::Developer)
}

fn preface(kind: SegmentKind, tokens: u64, epoch: u32) -> Piece {
    let mut hasher = DefaultHasher::new();
    (matches!(kind, SegmentKind::SharedPreface), epoch).hash(&mut hasher);
    Piece {
        segment: Segment {
            id: hasher.finish(),
            tokens,
            blocks: 1,
            kind,
        },
        message: None,
        written: None,
    }
}

/// The message of the session that each message of a compacted prompt is, of the first `taken`; none for a block.
fn origins(block: Option<&Block>, taken: usize) -> Vec<Option<usize>> {
    let is_kept = |index: &usize| block.is_none_or(|block| block.span.keeps(*index));
    let mut origins: Vec<Option<usize>> = (0..taken).filter(is_kept).map(Some).collect();
    if let Some(block) = block.filter(|block| block.seat == Seat::Own) {
        origins.insert(block.span.block_at.min(origins.len()), None);
    }
    origins
}

/// Equal for messages that a provider would see as equal.
fn fingerprint(message: &Message) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.role.hash(&mut hasher);
    for part in &message.parts {
        std::mem::discriminant(part).hash(&mut hasher);
        match part {
            Part::Text(text) => text.hash(&mut hasher),
            Part::Call(call) => (&call.id, &call.name, call.input.as_str()).hash(&mut hasher),
            Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {
                format!("{part:?}").hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
