//! The one place through which a run asks models: nothing is asked twice, nothing is asked for more than may be spent.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_llm::answer::Answer;
use mainstay_llm::answer::Stop;
use mainstay_llm::answer::Usage;
use mainstay_llm::batch;
use mainstay_llm::error::Cause;
use mainstay_llm::error::Failure;
use mainstay_llm::model::Model;
use mainstay_llm::price;
use mainstay_llm::price::Run;
use mainstay_llm::price::Spent;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Question;

pub use crate::run::duty::Duty;
pub use crate::run::duty::Models;
use crate::run::journal::Entry;
use crate::run::journal::Journal;

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What for.
    pub duty: Duty,
    /// What is asked.
    pub prompt: &'a Prompt,
    /// In which repeat: the same request in another repeat is another request.
    pub repeat: u32,
    /// At which attempt to get something readable.
    pub attempt: u32,
    /// From which model of the chain on.
    pub from: usize,
    /// Which of several models with the same duty is asked; 0 where there is one. Each has a chain of its own, so that none of them
    /// stands in for another.
    pub member: usize,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// No model answered; why, in words for people.
    Failed(String),
    /// The prompt is longer than every model's window.
    TooLong,
    /// It was written down for a batch.
    Waiting,
    /// Nothing can be asked any more in this run: the money is spent, or a model is gone for good.
    Over(String),
}

/// How requests that were not answered before are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are asked.
    Live,
    /// They are written down.
    Collect,
}

/// What a request is asked for: two arms with the same state share one request, so a request may have several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestOrigin {
    /// The fixture.
    pub fixture: String,
    /// The arm.
    pub arm: String,
    /// The probe; `None` for a summary.
    pub probe: Option<String>,
}

/// A request that waits for a batch.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// What for.
    pub duty: Duty,
    /// In which repeat.
    pub repeat: u32,
    /// At which attempt.
    pub attempt: u32,
    /// Whom it is for.
    pub model: Model,
    /// Which of the chain that is.
    pub place: usize,
    /// Which of several models with the same duty has that chain.
    pub member: usize,
    /// What is asked.
    pub prompt: Prompt,
    /// For which probes of which arms; empty where the caller did not say.
    pub origins: BTreeSet<RequestOrigin>,
}

/// So often a batched request is handed in before it counts as failed; a live one has as many attempts.
const MOST_BROKEN: u32 = 3;
/// So many requests in a row without an answer, each with its own patience, and nobody is asked any more.
const MOST_FAILED: u32 = 5;

/// Where a run asks.
#[derive(Debug)]
pub struct Desk {
    models: Models,
    mode: Mode,
    /// How many US dollars this run may cost in all.
    most: Option<f64>,
    journal: Mutex<Journal>,
    waiting: Mutex<BTreeMap<String, Waiting>>,
    /// One lock for each request under way, so that the same request of two arms is asked once.
    under_way: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// What requests under way may come to cost.
    reserved: Mutex<f64>,
    /// Batched requests that came to nothing for good.
    refused: Mutex<BTreeMap<String, Unanswered>>,
    /// How often batched requests came to nothing otherwise.
    broken: Mutex<BTreeMap<String, u32>>,
    /// How many requests in a row came to nothing.
    failed: Mutex<u32>,
    over: Mutex<Option<String>>,
}

impl Desk {
    /// A desk with what was answered before.
    pub fn new(models: Models, journal: Journal, mode: Mode, most: Option<f64>) -> Self {
        Self {
            models,
            mode,
            most,
            journal: Mutex::new(journal),
            waiting: Mutex::new(BTreeMap::new()),
            under_way: Mutex::new(HashMap::new()),
            reserved: Mutex::new(0.0),
            refused: Mutex::new(BTreeMap::new()),
            broken: Mutex::new(BTreeMap::new()),
            failed: Mutex::new(0),
            over: Mutex::new(None),
        }
    }

    /// The same desk, which asks what it has written down so far: the same models, with their keys.
    pub fn live(mut self, models: Models) -> Self {
        self.mode = Mode::Live;
        self.models = models;
        self.forget_waiting();
        self
    }

    /// The models.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Asks, unless the answer is known: which of the models answered, and the answer.
    pub async fn ask(&self, call: &Call<'_>) -> Result<(usize, Answer), Unanswered> {
        self.ask_for(call, None).await
    }

    /// The same, and a request that has to wait remembers what it is asked for.
    pub async fn ask_for(
        &self,
        call: &Call<'_>,
        origin: Option<&RequestOrigin>,
    ) -> Result<(usize, Answer), Unanswered> {
        let Some(chain) = self.models.member(call.duty, call.member) else {
            return Err(Unanswered::Failed(format!("there is no model to {}", call.duty.name())));
        };
        let key = key(chain.models(), call);
        let turn = Arc::clone(lock(&self.under_way).entry(key.clone()).or_default());
        let _turn = turn.lock().await;
        match lock(&self.journal).find(&key) {
            Ok(Some(entry)) => return Ok((entry.model, entry.answer.clone())),
            Ok(None) => {}
            Err(cause) => return Err(self.not_kept(&cause)),
        }
        let Some(model) = chain.models().get(call.from) else {
            return Err(Unanswered::Failed("there is no other model to ask".to_owned()));
        };
        if let Some(refused) = lock(&self.refused).get(&key) {
            return Err(refused.clone());
        }
        if self.mode == Mode::Collect {
            let mut all = lock(&self.waiting);
            all.entry(key)
                .or_insert_with(|| waiting(call, model))
                .origins
                .extend(origin.cloned());
            return Err(Unanswered::Waiting);
        }
        if let Some(why) = lock(&self.over).clone() {
            return Err(Unanswered::Over(why));
        }
        let expected = self.most.map_or(0.0, |_| expected_cost(model, call));
        self.reserve(expected)?;
        let question = Question::Prompt(call.prompt.clone());
        let answered = chain.ask_from(call.from, &question, &|_| {}).await;
        *lock(&self.reserved) -= expected;
        let (place, answer) = answered.map_err(|failures| self.give_up(call.duty, &failures))?;
        *lock(&self.failed) = 0;
        let cost = answer
            .usage
            .and_then(|usage| price::cost(&chain.models()[place], &usage, Run::Live));
        // What nobody counted is taken at what was expected where money is limited.
        let cost = cost.or(self.most.map(|_| expected));
        self.keep(entry(key, call, place, answer.clone(), cost, false))?;
        Ok((place, answer))
    }

    /// The id of a request: what its answer is kept under, and what it is called in batch files.
    pub fn id(&self, call: &Call<'_>) -> Option<String> {
        let chain = self.models.member(call.duty, call.member)?;
        Some(key(chain.models(), call))
    }

    /// Requests that wait for a batch, by their ids, in the order of these.
    pub fn waiting(&self) -> Vec<(String, Waiting)> {
        let waiting = lock(&self.waiting);
        waiting
            .iter()
            .map(|(key, waiting)| (key.clone(), waiting.clone()))
            .collect()
    }

    /// Forgets who waits: the run begins anew with more answers.
    pub fn forget_waiting(&self) {
        lock(&self.waiting).clear();
    }

    /// Reads one file of results: how many requests it answers, and what was wrong with others.
    pub fn take_results(&self, file: &str) -> Result<(usize, Vec<Failure>), Unanswered> {
        let waiting = self.waiting();
        let requests: Vec<batch::Request<'_>> = waiting
            .iter()
            .map(|(key, waiting)| batch::Request {
                id: key,
                model: &waiting.model,
                prompt: &waiting.prompt,
            })
            .collect();
        let results = batch::read(&requests, &[file]);
        let (mut answered, mut failures) = (0, Vec::new());
        for ((key, waiting), outcome) in waiting.iter().zip(results.outcomes) {
            match outcome {
                Ok(answer) => {
                    let cost = answer
                        .usage
                        .and_then(|usage| price::cost(&waiting.model, &usage, Run::Batched));
                    self.settle(key, waiting, answer, cost)?;
                    answered += 1;
                }
                Err(failure) if failure.cause == Cause::NotRun => {}
                Err(failure) => {
                    answered += usize::from(self.is_settled(key, &failure));
                    failures.push(failure);
                }
            }
        }
        Ok((answered, failures))
    }

    /// Takes answers that somebody wrote by hand, given by the ids of their requests: how many of the waiting requests they answer.
    /// Nobody is paid for them, and an answer without words is none.
    pub fn take_texts(&self, texts: &BTreeMap<String, String>) -> Result<usize, Unanswered> {
        let mut answered = 0;
        for (key, waiting) in self.waiting() {
            let Some(text) = texts.get(&key).filter(|text| !text.trim().is_empty()) else {
                continue;
            };
            let answer = Answer {
                text: text.clone(),
                stop: Stop::End,
                usage: None,
                served_by: None,
            };
            self.settle(&key, &waiting, answer, None)?;
            answered += 1;
        }
        Ok(answered)
    }

    fn settle(&self, key: &str, waiting: &Waiting, answer: Answer, cost: Option<f64>) -> Result<(), Unanswered> {
        let call = Call {
            duty: waiting.duty,
            prompt: &waiting.prompt,
            repeat: waiting.repeat,
            attempt: waiting.attempt,
            from: waiting.place,
            member: waiting.member,
        };
        self.keep(entry(key.to_owned(), &call, waiting.place, answer, cost, true))?;
        lock(&self.waiting).remove(key);
        Ok(())
    }

    /// Whether a batched request that came to nothing is not handed in again: a live one would not be asked again either.
    fn is_settled(&self, key: &str, failure: &Failure) -> bool {
        let times = {
            let mut broken = lock(&self.broken);
            let times = broken.entry(key.to_owned()).or_default();
            *times += 1;
            *times
        };
        let unanswered = match &failure.cause {
            Cause::TooLong => Unanswered::TooLong,
            Cause::BadRequest(_) => Unanswered::Failed(failure.to_string()),
            _ if failure.is_for_good() || times >= MOST_BROKEN => Unanswered::Failed(failure.to_string()),
            _ => return false,
        };
        lock(&self.refused).insert(key.to_owned(), unanswered).is_none()
    }

    /// What every duty has cost in this run so far, answers of earlier processes included.
    pub fn spent(&self) -> BTreeMap<Duty, Spent> {
        let mut spent: BTreeMap<Duty, Spent> = BTreeMap::new();
        for entry in lock(&self.journal).entries().filter(|entry| !entry.borrowed) {
            spent
                .entry(entry.duty)
                .or_default()
                .add(entry.answer.usage.as_ref(), entry.cost);
        }
        spent
    }

    /// Why nothing is asked any more, where that is so.
    pub fn over(&self) -> Option<String> {
        lock(&self.over).clone()
    }

    fn reserve(&self, expected: f64) -> Result<(), Unanswered> {
        let Some(most) = self.most else { return Ok(()) };
        let spent = lock(&self.journal).paid();
        let mut reserved = lock(&self.reserved);
        if spent + *reserved + expected > most {
            let why = format!("the run may cost ${most:.2}, and ${spent:.4} are spent");
            lock(&self.over).get_or_insert(why.clone());
            return Err(Unanswered::Over(why));
        }
        *reserved += expected;
        Ok(())
    }

    fn give_up(&self, duty: Duty, failures: &[Failure]) -> Unanswered {
        if failures.iter().any(|failure| failure.cause == Cause::TooLong) {
            return Unanswered::TooLong;
        }
        let words: Vec<String> = failures.iter().map(ToString::to_string).collect();
        let words = words.join("; ");
        // A summary that fails has the ledger to fall back on, and that is what is measured then.
        let in_a_row = {
            let mut failed = lock(&self.failed);
            *failed += u32::from(duty != Duty::Summarise);
            *failed
        };
        let is_for_good = !failures.is_empty() && failures.iter().all(Failure::is_for_good);
        // A key that is refused is nothing to measure, whoever's it is.
        if is_for_good || in_a_row >= MOST_FAILED {
            lock(&self.over).get_or_insert(words.clone());
            return Unanswered::Over(words);
        }
        Unanswered::Failed(words)
    }

    fn keep(&self, entry: Entry) -> Result<(), Unanswered> {
        let kept: io::Result<()> = lock(&self.journal).keep(entry);
        kept.map_err(|cause| self.not_kept(&cause))
    }

    fn not_kept(&self, cause: &io::Error) -> Unanswered {
        let why = format!("an answer could not be kept: {cause}");
        lock(&self.over).get_or_insert(why.clone());
        Unanswered::Over(why)
    }
}

fn waiting(call: &Call<'_>, model: &Model) -> Waiting {
    Waiting {
        duty: call.duty,
        repeat: call.repeat,
        attempt: call.attempt,
        model: model.clone(),
        place: call.from,
        member: call.member,
        prompt: call.prompt.clone(),
        origins: BTreeSet::new(),
    }
}

fn entry(key: String, call: &Call<'_>, model: usize, answer: Answer, cost: Option<f64>, batched: bool) -> Entry {
    Entry {
        key,
        duty: call.duty,
        repeat: call.repeat,
        attempt: call.attempt,
        model,
        answer,
        cost,
        batched,
        borrowed: false,
    }
}

/// What a request is known by: 40 hexadecimal digits of a hash over everything that decides its answer.
fn key(models: &[Model], call: &Call<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut field = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    field(call.duty.name());
    for model in models.iter().skip(call.from) {
        field(&model.id);
        field(&model.endpoint.shown_url());
        // An answer that was cut off by a smaller limit is another answer.
        field(&model.output.to_string());
    }
    field(&format!("{} {} {}", call.repeat, call.attempt, call.from));
    let Prompt {
        system,
        turns,
        most_tokens,
        temperature,
        shape,
    } = call.prompt;
    field(system);
    for (speaker, words) in turns {
        field(speaker.role());
        field(words);
    }
    field(&format!("{most_tokens:?} {temperature:?} {shape:?}"));
    hasher.finalize().to_hex()[..40].to_owned()
}

/// What a request will cost, as far as that can be known; nothing where the price is not.
fn expected_cost(model: &Model, call: &Call<'_>) -> f64 {
    let usage = Usage {
        input: prompt_tokens(call.prompt),
        output: call.duty.expected_output(),
        ..Usage::default()
    };
    price::cost(model, &usage, Run::Live).unwrap_or(0.0)
}

/// The tokens of a prompt, by the one tokenizer that is exact for many models and near for the others.
pub fn prompt_tokens(prompt: &Prompt) -> u64 {
    let turns = prompt.turns.iter().map(|(_, words)| words.as_str());
    std::iter::once(prompt.system.as_str())
        .chain(turns)
        .map(|text| Family::O200k.count(text, TextKind::Prose))
        .sum()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics between two changes of what is behind these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
