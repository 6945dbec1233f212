//! The one place through which a run asks models: nothing is asked twice, nothing is asked for more than may be spent.

use std::collections::BTreeMap;
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
use mainstay_llm::answer::Usage;
use mainstay_llm::batch;
use mainstay_llm::chain::Chain;
use mainstay_llm::error::Cause;
use mainstay_llm::error::Failure;
use mainstay_llm::model::Model;
use mainstay_llm::price;
use mainstay_llm::price::Run;
use mainstay_llm::price::Spent;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Question;
use serde::Deserialize;
use serde::Serialize;

use crate::run::journal::Entry;
use crate::run::journal::Journal;

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// To write a summary.
    Summarise,
    /// To answer a probe.
    Answer,
    /// To judge an answer.
    Judge,
}

impl Duty {
    /// All of them.
    pub const ALL: [Duty; 3] = [Duty::Summarise, Duty::Answer, Duty::Judge];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Duty::Summarise => "summarise",
            Duty::Answer => "answer",
            Duty::Judge => "judge",
        }
    }

    /// How long an answer is expected to be, in tokens: published summaries have 3,000 in the median; answers and
    /// judgements are asked for in a few lines, and models that think first use more than they write.
    pub fn expected_output(self) -> u64 {
        match self {
            Duty::Summarise => 3_000,
            Duty::Answer => 250,
            Duty::Judge => 200,
        }
    }
}

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
    /// What is asked.
    pub prompt: Prompt,
}

/// The models of a run, by duty.
#[derive(Debug, Default)]
pub struct Models {
    /// Who writes summaries.
    pub summarise: Option<Chain>,
    /// Who answers.
    pub answer: Option<Chain>,
    /// Who judges.
    pub judge: Option<Chain>,
}

impl Models {
    /// Who has a duty.
    pub fn of(&self, duty: Duty) -> Option<&Chain> {
        match duty {
            Duty::Summarise => self.summarise.as_ref(),
            Duty::Answer => self.answer.as_ref(),
            Duty::Judge => self.judge.as_ref(),
        }
    }
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

    /// The same desk, which asks what it has written down so far.
    pub fn live(mut self) -> Self {
        self.mode = Mode::Live;
        self.forget_waiting();
        self
    }

    /// The models.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Asks, unless the answer is known: which of the models answered, and the answer.
    pub async fn ask(&self, call: &Call<'_>) -> Result<(usize, Answer), Unanswered> {
        let Some(chain) = self.models.of(call.duty) else {
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
            lock(&self.waiting).insert(key, waiting(call, model));
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
                    let call = Call {
                        duty: waiting.duty,
                        prompt: &waiting.prompt,
                        repeat: waiting.repeat,
                        attempt: waiting.attempt,
                        from: waiting.place,
                    };
                    self.keep(entry(key.clone(), &call, waiting.place, answer, cost, true))?;
                    lock(&self.waiting).remove(key);
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
        prompt: call.prompt.clone(),
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
