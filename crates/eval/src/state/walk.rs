//! Taking a fixture through its compactions. Wherever a model has to be asked, the walk stops and waits for a reply.

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Pending;
use mainstay_engine::compaction::Step;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Seat;
use mainstay_engine::decide::SummaryPolicy;
use mainstay_engine::decide::WayWanted;
use mainstay_engine::decide::Writers;
use mainstay_engine::decide::step_start;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::verify::Flaw;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_session::SummaryWriters;

use crate::fixture::Subject;
use crate::forced::settings;
use crate::record::PassRecord;
use crate::state::Arm;
use crate::state::Makes;
use crate::state::State;
use crate::state::Target;
use crate::state::faults::faults;
use crate::state::tokens;

/// A pass leaves at most this part of what there is, so that every one of a chain has something to do.
const MOST_LEFT: (u64, u64) = (3, 4);

/// What holds for all arms of a run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The tokenizer that counts.
    pub family: Family,
    /// How many tokens a state may have.
    pub target: Target,
    /// What a summary shall keep most of.
    pub focus: Option<String>,
    /// How summaries are asked for.
    pub summary: SummaryPolicy,
    /// The prompts that summaries are asked with.
    pub prompts: Prompts,
    /// What is known of the models that write; `None` where there are none.
    pub writers: Option<Writers>,
}

/// Where a walk stands.
#[derive(Debug)]
pub enum Progress {
    /// A model has to be asked; the walk goes on with its reply.
    Ask(Box<Request>),
    /// The state is there.
    Done(Box<State>),
}

/// A fixture on its way through the compactions of an arm.
pub struct Walk<'a> {
    subject: &'a Subject,
    arm: &'a Arm,
    setting: &'a Setting,
    /// After how many messages of the fixture a pass is made.
    points: Vec<usize>,
    /// How many of them are behind us.
    made: usize,
    state: State,
    memory: Option<Memory>,
    current: Option<Pass>,
}

/// A pass that is under way.
struct Pass {
    session: Session,
    pending: Option<Pending>,
}

impl Pass {
    fn step(&mut self, reply: Option<Reply>) -> Step {
        match self.pending.take() {
            None => self.session.start(),
            Some(pending) => {
                let reply = reply.unwrap_or_else(|| Reply::Failed("nobody answered".to_owned()));
                self.session.answer(pending, reply)
            }
        }
    }
}

impl<'a> Walk<'a> {
    /// A fixture at the beginning of its way.
    pub fn new(subject: &'a Subject, arm: &'a Arm, setting: &'a Setting) -> Self {
        let length = subject.messages.len();
        let cuts = subject.head.chain.iter().map(|cut| step_start(&subject.messages, *cut));
        let mut points: Vec<usize> = cuts.filter(|cut| (1..length).contains(cut)).collect();
        points.push(length);
        points.sort_unstable();
        points.dedup();
        Self {
            subject,
            arm,
            setting,
            points,
            made: 0,
            state: State::default(),
            memory: None,
            current: None,
        }
    }

    /// Goes on, with the reply to what was asked last, until a model has to be asked or the state is there.
    pub fn go_on(&mut self, mut reply: Option<Reply>) -> Progress {
        let engine = match self.arm.makes {
            Makes::Uncompacted => return Progress::Done(Box::new(self.finish(self.whole()))),
            Makes::KeepLast => return Progress::Done(Box::new(self.finish(self.newest()))),
            Makes::Engine(engine) => engine,
        };
        loop {
            let mut pass = match self.current.take() {
                Some(pass) => pass,
                None if self.made == self.points.len() => {
                    let state = std::mem::take(&mut self.state);
                    return Progress::Done(Box::new(self.finish(state)));
                }
                None => self.begin(engine),
            };
            match pass.step(reply.take()) {
                Step::Ask(ask) => {
                    pass.pending = Some(ask.pending);
                    self.current = Some(pass);
                    return Progress::Ask(Box::new(ask.request));
                }
                Step::Done(outcome) => self.close(pass, *outcome),
            }
        }
    }

    fn target(&self) -> u64 {
        let whole = tokens(&self.subject.messages, self.setting.family);
        self.arm.target.unwrap_or(self.setting.target).of(whole)
    }

    /// Brings in the messages up to the next point and prepares the pass there.
    fn begin(&mut self, engine: Engine) -> Pass {
        let from = match self.made {
            0 => 0,
            made => self.points[made - 1],
        };
        let until = self.points[self.made];
        self.state
            .messages
            .extend_from_slice(&self.subject.messages[from..until]);
        self.state.origins.extend((from..until).map(Some));
        let draft = Draft {
            messages: std::mem::take(&mut self.state.messages),
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        let counted = tokens(transcript.messages(), self.setting.family);
        let target = self.target().min(counted * MOST_LEFT.0 / MOST_LEFT.1);
        let policy = Policy {
            engine,
            target: Some(target),
            tail: self.arm.tail,
            // The windows that fixtures were recorded with protect more outputs than a fixture has.
            recent_outputs: Some(target / 2),
            focus: self.arm.focus.clone().or_else(|| self.setting.focus.clone()),
            summary: SummaryPolicy {
                way: WayWanted::Auxiliary,
                ..self.setting.summary.clone()
            },
            ..Policy::default()
        };
        let mut limits = ModelLimits::of(self.subject.head.model.as_deref().unwrap_or("unknown"));
        if let Some(window) = self.subject.head.context_length.filter(|window| *window > 0) {
            limits = limits.with_window(window);
        }
        let budget = Budget::new(&[limits], &policy.budget)
            .or_else(|_| Budget::new(&[ModelLimits::of("unknown")], &policy.budget))
            .expect("the default policy has shares between zero and one");
        let writers = self.setting.writers.clone().map(|models| SummaryWriters {
            models,
            prompts: self.setting.prompts.clone(),
        });
        let settings = SessionSettings {
            writers,
            ..settings(self.setting.family, policy, budget)
        };
        let mut session = Session::of(settings, transcript);
        // A pass that leaves everything as it is leaves the memory, too.
        if let Some(memory) = self.memory.clone() {
            session.resume_from(memory);
        }
        Pass { session, pending: None }
    }

    /// Takes over what a pass left.
    fn close(&mut self, pass: Pass, outcome: Outcome) {
        let session = pass.session;
        let after = session.messages();
        let family = self.setting.family;
        let is_compacted = outcome.verdict == Verdict::Compacted;
        let mut remarks: Vec<String> = outcome.flaws.iter().map(words).collect();
        if let Verdict::Unchanged(why) = &outcome.verdict {
            remarks.push(why.to_string());
        }
        self.state.passes.push(PassRecord {
            messages: self.points[self.made],
            tokens_before: tokens(session.transcript().messages(), family),
            tokens_after: tokens(&after, family),
            made: if is_compacted {
                outcome.mode().name()
            } else {
                "unchanged"
            }
            .to_owned(),
            remarks,
        });
        if let (true, Some(block)) = (is_compacted, &outcome.block) {
            let kept = self.state.origins.iter().enumerate();
            let kept = kept.filter(|(index, _)| block.span.keeps(*index));
            let mut origins: Vec<Option<usize>> = kept.map(|(_, origin)| *origin).collect();
            if block.seat == Seat::Own {
                origins.insert(block.span.block_at.min(origins.len()), None);
            }
            self.state.origins = origins;
            self.memory = session.memory();
        }
        self.state.messages = after;
        // A repair that put a message in or out would shift the origins; then none is known.
        if self.state.origins.len() != self.state.messages.len() {
            self.state.origins = vec![None; self.state.messages.len()];
        }
        self.state.dropped.extend(outcome.dropped);
        self.made += 1;
    }

    fn whole(&self) -> State {
        self.control("uncompacted", (0..self.subject.messages.len()).collect())
    }

    /// Instructions and the newest whole steps that fit.
    fn newest(&self) -> State {
        let messages = &self.subject.messages;
        let family = self.setting.family;
        let is_instruction = |message: &Message| matches!(message.role, Role::System | Role::Developer);
        let head = messages.iter().take_while(|message| is_instruction(message)).count();
        let mut left = self.target().saturating_sub(tokens(&messages[..head], family));
        let mut first = messages.len();
        while first > head {
            let start = step_start(messages, first - 1).max(head);
            let cost = tokens(&messages[start..first], family);
            if cost > left {
                break;
            }
            left -= cost;
            first = start;
        }
        self.control("keep-last", (0..head).chain(first..messages.len()).collect())
    }

    fn control(&self, name: &str, kept: Vec<usize>) -> State {
        let messages: Vec<Message> = kept.iter().map(|index| self.subject.messages[*index].clone()).collect();
        let family = self.setting.family;
        State {
            passes: vec![PassRecord {
                messages: self.subject.messages.len(),
                tokens_before: tokens(&self.subject.messages, family),
                tokens_after: tokens(&messages, family),
                made: name.to_owned(),
                remarks: Vec::new(),
            }],
            origins: kept.into_iter().map(Some).collect(),
            messages,
            ..State::default()
        }
    }

    /// The state as it is shown, and what is wrong with it.
    fn finish(&self, state: State) -> State {
        let mut state = match &self.arm.change {
            Some(change) => change(state),
            None => state,
        };
        let target = (!self.arm.is_control()).then(|| self.target());
        state.flaws = faults(&self.subject.messages, &state, target, self.setting.family);
        state
    }
}

fn words(flaw: &Flaw) -> String {
    format!("{}: {}", flaw.kind.code(), flaw.detail)
}
