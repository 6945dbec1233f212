//! A conversation that grows and is compacted again and again, each time going on from what the pass before left.

use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::SummaryPolicy;
use mainstay_engine::decide::WayWanted;
use mainstay_engine::decide::Writers;
use mainstay_engine::decide::step_start;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::summary::records::Record;
use mainstay_engine::summary::references::References;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_session::Redaction;
use mainstay_session::SummaryWriters;

use crate::conversation::Form;
use crate::scripted;
use crate::trial;

const KEY: [u8; 32] = [5; 32];

/// A function in place of a model: it gets what is asked, and the conversation as it stands.
pub type Model<'a> = &'a mut dyn FnMut(&Request, &[Message]) -> Reply;

/// How a conversation is compacted.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// By what.
    pub engine: Engine,
    /// To how many tokens; to three quarters of a conversation that is not much longer.
    pub target: u64,
    /// How often, in equal parts of the conversation.
    pub count: usize,
    /// How many tokens the model that writes takes in.
    pub window: u64,
    /// In which way it is asked.
    pub way: WayWanted,
    /// What to keep most of.
    pub focus: Option<String>,
}

impl Cycles {
    /// By an engine to a number of tokens, three times, with a model whose window is large.
    pub fn new(engine: Engine, target: u64) -> Self {
        Self {
            engine,
            target,
            count: 3,
            window: 128_000,
            way: WayWanted::Auxiliary,
            focus: None,
        }
    }

    /// Compacts a conversation as it grows; says what is left, and what came of every pass.
    ///
    /// # Panics
    ///
    /// Where a pass leaves the conversation as it was, or frames inside of frames.
    pub fn walk(&self, messages: &[Message], model: Model<'_>) -> (Vec<Message>, Vec<Outcome>) {
        let (mut conversation, mut outcomes) = (Vec::new(), Vec::new());
        let mut memory: Option<Memory> = None;
        let mut from = 0;
        for cycle in 1..=self.count {
            let until = match cycle == self.count {
                true => messages.len(),
                false => step_start(messages, messages.len() * cycle / self.count),
            };
            conversation.extend_from_slice(&messages[from..until]);
            from = until;
            let (left, learned, outcome) = self.compact(conversation, memory.take(), model);
            conversation = left;
            memory = Some(learned);
            outcomes.push(outcome);
        }
        (conversation, outcomes)
    }

    fn compact(
        &self,
        conversation: Vec<Message>,
        memory: Option<Memory>,
        model: Model<'_>,
    ) -> (Vec<Message>, Memory, Outcome) {
        let draft = Draft {
            messages: conversation,
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        let counted: u64 = transcript
            .messages()
            .iter()
            .map(|message| measure(message, Family::O200k).total())
            .sum();
        let policy = Policy {
            engine: self.engine,
            target: Some(self.target.min(counted * 3 / 4)),
            focus: self.focus.clone(),
            summary: SummaryPolicy {
                way: self.way,
                ..SummaryPolicy::default()
            },
            ..Policy::default()
        };
        let transcript = Arc::new(transcript);
        let models = Writers {
            window: self.window,
            output: 16_000,
            in_place: InPlace::Warm,
        };
        let mut session = trial::session_in(Form::Chat, &policy, trial::budget(200_000));
        let settings = session.settings_mut();
        settings.redaction = Redaction::Secrets(Options::default());
        settings.key = KEY;
        settings.is_forced = true;
        settings.writers = Some(SummaryWriters {
            models,
            prompts: Prompts::default(),
        });
        session.observe(Arc::clone(&transcript));
        if let Some(memory) = memory {
            // What is remembered is remembered as bytes.
            let memory = Memory::from_bytes(&memory.to_bytes()).expect("what was written can be read");
            assert!(session.resume_from(memory), "the pass before left a block");
        }
        let outcome = scripted::pass(&mut session, &mut |request| model(request, transcript.messages()));
        assert_eq!(
            outcome.verdict,
            Verdict::Compacted,
            "{:?} {:?}",
            outcome.plan.reasons,
            outcome.flaws
        );
        let memory = session.memory().expect("a full pass leaves a block");
        let learned = session.scribe().expect("a full pass has a ledger");
        let left = session.messages();
        let frames = left.iter().filter(|message| learned.body_of(message).is_some());
        assert_eq!(frames.count(), 1, "frames are replaced, never nested");
        (left, memory, outcome)
    }
}

/// Whoever writes the ledger, with a key of its own and secrets hidden.
pub fn scribe() -> Scribe {
    Scribe::new(KEY, Arc::new(Redactor::new(Key::new(KEY), Options::default())))
}

/// What must not be lost of a whole conversation, by a ledger that saw all of it at once.
pub fn references(messages: &[Message]) -> References {
    let mut scribe = scribe();
    scribe.observe(messages);
    let shown: Vec<Record<'_>> = (0..messages.len())
        .map(|index| Record {
            number: index as u32,
            message: scribe.shown(messages, index),
        })
        .collect();
    References::of(scribe.ledger(), &shown, None)
}

/// Everything that messages say, what is called and what it answers included.
pub fn words(messages: &[Message]) -> String {
    let mut text = String::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Text(words) => text.push_str(words),
            Part::Call(call) => text.push_str(call.input.as_str()),
            Part::Result(result) => {
                for content in &result.content {
                    if let Content::Text(words) = content {
                        text.push_str(words);
                    }
                }
            }
            Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
        text.push('\n');
    }
    text
}

/// Keeps about half of all names, other ones in every call and for every seed.
pub fn forgetful(seed: u64) -> impl FnMut(&str) -> bool {
    let mut calls = 0_u64;
    move |name: &str| {
        calls += 1;
        let mut hash = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ calls.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        (hash >> 33) & 1 == 0
    }
}
