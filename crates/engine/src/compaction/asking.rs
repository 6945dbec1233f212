//! The walk with a model in it: ask, look at the answer, ask again where that helps, and always end in an outcome.
//!
//! A reply may be anything: nothing at all, a refusal, half a text, somebody else's orders. What cannot be used is
//! refused with its reason; at most one request for repair goes out; then the ledger decides.

use crate::account::TextKind;
use crate::account::TokenCounter;
use crate::compaction::Compactor;
use crate::compaction::Outcome;
use crate::compaction::PassInput;
use crate::compaction::Verdict;
use crate::compaction::WritingDone;
use crate::compaction::review::Reading;
use crate::compaction::review::Review;
use crate::decide::Mode;
use crate::decide::Plan;
use crate::decide::PlanReason;
use crate::decide::SummaryFailure;
use crate::decide::Way;
use crate::decide::Writing;
use crate::decide::step_start;
use crate::ledger::page::shortened;
use crate::summary::Reply;
use crate::summary::Request;
use crate::summary::Stop;
use crate::summary::prompts::Name;
use crate::summary::prompts::Prompts;
use crate::summary::records::Records;
use crate::summary::records::Room;
use crate::summary::records::serialise;
use crate::verify::Flaw;
use crate::verify::FlawKind;

/// How many answers may be of no use before nobody is asked any more.
const MOST_REFUSED: usize = 3;
/// How often a request that was too long is asked again, with half as much in it.
const MOST_NARROWED: u32 = 3;

/// Where a pass stands.
#[derive(Debug)]
pub enum Step {
    /// A model has to be asked.
    Ask(Box<Ask>),
    /// The pass is over.
    Done(Box<Outcome>),
}

/// What to ask, and where the pass goes on.
#[derive(Debug)]
pub struct Ask {
    /// What to ask.
    pub request: Request,
    /// Takes the reply.
    pub pending: Pending,
}

/// A pass that waits for a reply.
#[derive(Debug)]
pub struct Pending {
    plan: Plan,
    pub(super) writing: Writing,
    stage: Stage,
    /// The summary so far: of an earlier pass, or of the chunks before.
    pub(super) told: Option<String>,
    pub(super) chunks: Vec<String>,
    notes: Vec<Flaw>,
    refused: usize,
    narrowed: u32,
    answers: u64,
    records: (usize, usize),
}

#[derive(Debug)]
enum Stage {
    /// This chunk of the records was sent.
    Telling(usize),
    /// A draft with its faults was sent.
    Mending(String),
}

impl Compactor {
    /// Begins a pass: over at once where no model is needed, else with something to ask.
    pub fn start(&mut self, input: &PassInput<'_>) -> Step {
        let plan = self.plan(input);
        let (Mode::Full, Some(writing), Some((_, prompts))) = (plan.mode, plan.writing.clone(), input.writers) else {
            return Step::Done(Box::new(self.pass_alone(input, plan)));
        };
        let mut pending = Pending {
            stage: Stage::Telling(0),
            told: self.earlier_summary(input),
            chunks: Vec::new(),
            notes: Vec::new(),
            refused: 0,
            narrowed: 0,
            answers: 0,
            records: (0, 0),
            plan,
            writing,
        };
        match pending.prepare(self, input, prompts) {
            Some(request) => pending.ask(request),
            None => pending.tell_again(self, input, prompts),
        }
    }

    /// What stands for the conversation before what is new: a model's words, or the text of a block.
    fn earlier_summary(&self, input: &PassInput<'_>) -> Option<String> {
        self.scribe.as_ref()?.earlier(input.transcript.messages())
    }
}

impl Pending {
    /// Takes the reply to what was asked.
    pub fn answer(mut self, compactor: &mut Compactor, input: &PassInput<'_>, reply: Reply) -> Step {
        let Some((_, prompts)) = input.writers else {
            return self.fall_back(compactor, input, SummaryFailure::NoModelLeft);
        };
        let (text, stop) = match reply {
            Reply::Answer { text, stop } => {
                self.answers += 1;
                (text, stop)
            }
            Reply::TooLong => return self.narrow(compactor, input, prompts),
            Reply::Failed(why) => {
                let why = self.reason(compactor, &why);
                return match std::mem::replace(&mut self.stage, Stage::Telling(0)) {
                    Stage::Mending(draft) => {
                        self.note(FlawKind::NoSummary, format!("the draft could not be mended: {why}"));
                        self.settle(compactor, input, prompts, &draft)
                    }
                    Stage::Telling(_) if self.writing.way == Way::InPlace => {
                        self.note(FlawKind::NoSummary, format!("not answered in place: {why}"));
                        self.go_auxiliary(compactor, input, prompts)
                    }
                    Stage::Telling(_) => self.fall_back(compactor, input, SummaryFailure::NotAnswered(why)),
                };
            }
        };
        match std::mem::replace(&mut self.stage, Stage::Telling(0)) {
            Stage::Telling(chunk) => self.told_of(compactor, input, prompts, chunk, &text, stop),
            Stage::Mending(draft) => self.mended(compactor, input, prompts, &draft, &text, stop),
        }
    }

    /// An answer to records.
    fn told_of(
        mut self,
        compactor: &mut Compactor,
        input: &PassInput<'_>,
        prompts: &Prompts,
        chunk: usize,
        text: &str,
        stop: Stop,
    ) -> Step {
        let review = match self.review(compactor, input, text, stop) {
            Some(review) => review,
            None => return self.fall_back(compactor, input, SummaryFailure::NotReviewed),
        };
        if let Some(flaw) = review.unusable() {
            self.note(flaw.kind, format!("an answer was refused: {}", flaw.detail));
            return self.ask_another(compactor, input, prompts, chunk);
        }
        let is_last = self.writing.way == Way::InPlace || chunk + 1 >= self.chunks.len();
        if !is_last {
            self.told = Some(review.clean);
            self.stage = Stage::Telling(chunk + 1);
            let request = self.request_for(compactor, chunk + 1, prompts, input);
            return self.ask(request);
        }
        if review.wants_repair(self.writing.has_ledger) {
            let request = self.repair_request(compactor, input, prompts, &review);
            self.stage = Stage::Mending(review.clean);
            return self.ask(request);
        }
        self.adopt(compactor, input, prompts, review)
    }

    /// An answer to a draft with its faults. The better of the two goes on.
    fn mended(
        self,
        compactor: &mut Compactor,
        input: &PassInput<'_>,
        prompts: &Prompts,
        draft: &str,
        text: &str,
        stop: Stop,
    ) -> Step {
        let before = self.review(compactor, input, draft, Stop::End);
        let after = self.review(compactor, input, text, stop);
        let after = after.filter(|after| after.unusable().is_none());
        let is_worse = |after: &Review| before.as_ref().is_some_and(|before| before.missing < after.missing);
        let better = match after.is_none() || after.as_ref().is_some_and(is_worse) {
            true => before,
            false => after,
        };
        self.conclude(compactor, input, prompts, better)
    }

    /// Nobody is asked any more: the text is taken, or the ledger stands alone.
    fn settle(self, compactor: &mut Compactor, input: &PassInput<'_>, prompts: &Prompts, text: &str) -> Step {
        let review = self.review(compactor, input, text, Stop::End);
        self.conclude(compactor, input, prompts, review)
    }

    fn conclude(
        mut self,
        compactor: &mut Compactor,
        input: &PassInput<'_>,
        prompts: &Prompts,
        review: Option<Review>,
    ) -> Step {
        let Some(review) = review else {
            return self.fall_back(compactor, input, SummaryFailure::NotReviewed);
        };
        match review.fatal() {
            None => self.adopt(compactor, input, prompts, review),
            Some(flaw) => {
                self.note(flaw.kind, flaw.detail.clone());
                let failure = SummaryFailure::Refused {
                    code: flaw.kind.code(),
                    detail: flaw.detail.clone(),
                };
                self.fall_back(compactor, input, failure)
            }
        }
    }

    /// The summary goes into the block.
    fn adopt(mut self, compactor: &mut Compactor, input: &PassInput<'_>, prompts: &Prompts, review: Review) -> Step {
        let mut outcome = Outcome::untouched(self.plan.clone(), compactor.counted(), input.situation.prompt);
        let Some(replacement) = outcome.plan.replacement.clone() else {
            return self.fall_back(compactor, input, SummaryFailure::NothingToReplace);
        };
        let has_ledger = self.writing.has_ledger;
        compactor.replace_told(input, replacement.clone(), &review, prompts, has_ledger, &mut outcome);
        if let Verdict::Unchanged(why) = &outcome.verdict {
            let failure = SummaryFailure::ResultRefused(why.to_string());
            return self.fall_back(compactor, input, failure);
        }
        if let Some(scribe) = compactor.scribe.as_mut() {
            scribe.note_told(&review.clean, &replacement.span);
        }
        outcome.flaws.append(&mut self.notes);
        outcome.flaws.extend(review.warnings());
        outcome.writing = Some(WritingDone {
            was_used: true,
            tokens: count_in(compactor, &review.clean),
            ..self.done(prompts)
        });
        Step::Done(Box::new(outcome))
    }

    /// The ledger stands alone, with the reason.
    fn fall_back(mut self, compactor: &mut Compactor, input: &PassInput<'_>, failure: SummaryFailure) -> Step {
        let prompts = input.writers.map(|(_, prompts)| self.done(prompts));
        let mut plan = compactor.plan(input);
        plan.writing = None;
        let why = failure.to_string();
        let reason = PlanReason::LedgerOnly(failure);
        plan.reasons.push(reason.clone());
        let mut outcome = compactor.pass_alone(input, plan);
        // A target that was just missed is planned for again.
        outcome.plan.writing = None;
        if !outcome.plan.reasons.contains(&reason) {
            outcome.plan.reasons.push(reason);
        }
        self.note(FlawKind::NoSummary, why);
        outcome.flaws.append(&mut self.notes);
        outcome.writing = prompts;
        Step::Done(Box::new(outcome))
    }

    fn done(&self, prompts: &Prompts) -> WritingDone {
        WritingDone {
            has_ledger: self.writing.has_ledger,
            way: self.writing.way,
            answers: self.answers,
            was_used: false,
            tokens: 0,
            records: self.records,
            prompts: prompts.hashes(),
        }
    }

    fn ask(self, request: Request) -> Step {
        Step::Ask(Box::new(Ask { request, pending: self }))
    }

    /// The answer was of no use: another model is asked, and where the conversation's own was, records go out instead.
    fn ask_another(
        mut self,
        compactor: &mut Compactor,
        input: &PassInput<'_>,
        prompts: &Prompts,
        chunk: usize,
    ) -> Step {
        self.refused += 1;
        if self.refused >= MOST_REFUSED {
            let why = self.reason(compactor, "no answer was of use");
            return self.fall_back(compactor, input, SummaryFailure::NotAnswered(why));
        }
        if self.writing.way == Way::InPlace {
            return self.go_auxiliary(compactor, input, prompts);
        }
        self.stage = Stage::Telling(chunk);
        let request = Request {
            wants_another_model: true,
            ..self.request_for(compactor, chunk, prompts, input)
        };
        self.ask(request)
    }

    fn go_auxiliary(mut self, compactor: &mut Compactor, input: &PassInput<'_>, prompts: &Prompts) -> Step {
        self.writing.way = Way::Auxiliary;
        self.stage = Stage::Telling(0);
        match self.prepare(compactor, input, prompts) {
            Some(request) => self.ask(request),
            None => self.tell_again(compactor, input, prompts),
        }
    }

    /// Nothing is new since a model was asked last: what it told then still tells it all.
    fn tell_again(mut self, compactor: &mut Compactor, input: &PassInput<'_>, prompts: &Prompts) -> Step {
        let told = compactor.scribe.as_ref().and_then(|scribe| scribe.told());
        match told.map(|told| told.text.to_string()) {
            Some(told) => {
                self.told = None;
                self.settle(compactor, input, prompts, &told)
            }
            None => self.fall_back(compactor, input, SummaryFailure::NothingToTell),
        }
    }

    /// The request was longer than the model's window: the next one has half as much in it.
    fn narrow(mut self, compactor: &mut Compactor, input: &PassInput<'_>, prompts: &Prompts) -> Step {
        if let Stage::Mending(draft) = std::mem::replace(&mut self.stage, Stage::Telling(0)) {
            self.note(FlawKind::NoSummary, "the draft was too long to be mended".to_owned());
            return self.settle(compactor, input, prompts, &draft);
        }
        self.narrowed += 1;
        if self.narrowed > MOST_NARROWED {
            return self.fall_back(compactor, input, SummaryFailure::AlwaysTooLong);
        }
        if self.writing.way == Way::InPlace {
            self.note(
                FlawKind::NoSummary,
                "the conversation is too long to be asked in place".to_owned(),
            );
            return self.go_auxiliary(compactor, input, prompts);
        }
        // What was allowed may be far more than there was: half of it would be the same request again.
        let longest = self.chunks.iter().map(|chunk| count_in(compactor, chunk)).max();
        self.writing.input_each = self.writing.input_each.min(longest.unwrap_or(u64::MAX)) / 2;
        self.told = compactor.earlier_summary(input);
        self.go_auxiliary(compactor, input, prompts)
    }

    /// The first request: records in chunks that fit, or the one instruction behind the conversation itself.
    fn prepare(&mut self, compactor: &Compactor, input: &PassInput<'_>, prompts: &Prompts) -> Option<Request> {
        let messages = input.transcript.messages();
        if self.writing.way == Way::InPlace {
            let until = match input.transcript.has_open_calls() {
                true => step_start(messages, messages.len().checked_sub(1)?),
                false => messages.len(),
            };
            return Some(Request {
                way: Way::InPlace,
                user: self.fill(compactor, input, prompts, Name::InPlace, &[]),
                until,
                most_tokens: self.writing.tokens,
                ..Request::default()
            });
        }
        let scribe = compactor.scribe.as_ref()?;
        let span = &self.plan.replacement.as_ref()?.span;
        let records = compactor.records(input, span)?;
        if records.is_empty() {
            return None;
        }
        let count = |text: &str| count_in(compactor, text);
        // What was told before goes out with every chunk; a block's text may be longer than any of them.
        let most_told = (2 * self.writing.tokens).min(self.writing.input_each / 2);
        self.told = self.told.take().map(|told| shortened(&told, most_told, &count));
        let over = self
            .told
            .as_deref()
            .map_or(0, count)
            .saturating_sub(self.writing.tokens);
        let room = Room {
            total: self.writing.input,
            each: self.writing.input_each.saturating_sub(over),
        };
        let Records {
            chunks, shown, skipped, ..
        } = serialise(&records, self.told.as_deref(), room, &count);
        // Beside other records something may look like a secret that did not on its own.
        let hidden = |chunk: String| scribe.hide(&chunk).unwrap_or(chunk);
        self.chunks = chunks.into_iter().map(hidden).collect();
        self.records = (shown, skipped);
        (!self.chunks.is_empty()).then(|| self.request_for(compactor, 0, prompts, input))
    }

    /// Why there is no answer, in words that may be shown, with what was wrong with the last one.
    fn reason(&self, compactor: &Compactor, why: &str) -> String {
        let scribe = compactor.scribe.as_ref();
        // Whoever was asked may have repeated anything.
        let why = scribe
            .and_then(|scribe| scribe.hide(why))
            .unwrap_or_else(|| why.to_owned());
        match self.notes.last().filter(|_| self.refused > 0) {
            Some(last) => format!("{}; {why}", last.detail),
            None => why,
        }
    }

    fn note(&mut self, kind: FlawKind, detail: String) {
        self.notes.push(Flaw::warning(kind, None, detail));
    }

    fn review(&self, compactor: &Compactor, input: &PassInput<'_>, text: &str, stop: Stop) -> Option<Review> {
        let span = &self.plan.replacement.as_ref()?.span;
        let is_partial = self.writing.has_ledger && self.writing.way == Way::Auxiliary;
        let reading = Reading {
            previous: self.told.as_deref(),
            records: is_partial.then_some(self.chunks.as_slice()),
            is_beside_ledger: self.writing.has_ledger,
        };
        compactor.review(input, span, text, stop, reading, self.writing.tokens)
    }
}

pub(super) fn count_in(compactor: &Compactor, text: &str) -> u64 {
    compactor.tally.family().count(text, TextKind::Prose)
}
