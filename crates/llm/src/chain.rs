//! Models in the order in which they are to be asked, and the way from one to the next.
//!
//! A model is asked as long as that may help and patience lasts; then comes the next one. A model that has failed for good
//! is not asked again in this chain's life. A prompt that is too long for one goes only to models with larger windows.
//! Dropping the future ends everything at once.

use std::future::pending;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::Instant;
use tokio::time::timeout_at;

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Cause;
use crate::error::Failure;
use crate::error::Trouble;
use crate::model::Model;
use crate::prompt::Question;
use crate::retry::Jitter;
use crate::retry::Patience;
use crate::retry::moment_after;

/// Models, asked in order until one answers.
#[derive(Debug)]
pub struct Chain {
    client: Arc<Client>,
    models: Vec<Model>,
    /// How much patience there is with each of them.
    pub patience: Patience,
    /// How long one question may take in all, waits and fallbacks included.
    pub deadline: Option<Duration>,
    jitter: Mutex<Jitter>,
    /// The failure after which a model is not asked again.
    given_up: Mutex<Vec<Option<Failure>>>,
}

/// What happens on the way. It holds nothing of what is asked or answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A model is asked.
    Asking {
        /// Its name.
        model: &'a str,
        /// Which attempt this is, the first being 1.
        attempt: u32,
    },
    /// A model is given time.
    Waiting {
        /// Its name.
        model: &'a str,
        /// How long.
        wait: Duration,
        /// Why.
        because: &'a Failure,
    },
    /// A model is given up; if another one is left, it comes next.
    GivenUp {
        /// Its name.
        model: &'a str,
        /// Why.
        because: &'a Failure,
    },
    /// A model is passed over because it failed for good earlier, or its window is too small.
    Skipped {
        /// Its name.
        model: &'a str,
    },
    /// A model has answered.
    Answered {
        /// Its name.
        model: &'a str,
        /// At which attempt.
        attempt: u32,
    },
}

/// Who is told what happens.
pub type Watch<'a> = dyn Fn(&Event<'_>) + Sync + 'a;

impl Chain {
    /// A chain of models with the usual patience and no deadline. The seed spreads the waits: give every process its own.
    pub fn new(client: Arc<Client>, models: Vec<Model>, seed: u64) -> Self {
        let given_up = Mutex::new(vec![None; models.len()]);
        Self {
            client,
            models,
            patience: Patience::default(),
            deadline: None,
            jitter: Mutex::new(Jitter::new(seed)),
            given_up,
        }
    }

    /// The models, in order.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The client that asks them.
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// The smallest window among the models: what a prompt must fit to be sent to any of them.
    pub fn smallest_window(&self) -> Option<u64> {
        self.models.iter().map(|model| model.window).min()
    }

    /// Asks until a model answers: its place in the chain and the answer, or why each of them did not. The list is empty
    /// only where there is no model to ask.
    pub async fn ask(&self, question: &Question) -> Result<(usize, Answer), Vec<Failure>> {
        self.ask_from(0, question, &|_| {}).await
    }

    /// The same from a place in the chain onwards, with somebody who is told what happens.
    pub async fn ask_from(
        &self,
        first: usize,
        question: &Question,
        watch: &Watch<'_>,
    ) -> Result<(usize, Answer), Vec<Failure>> {
        let end = self.deadline.map(moment_after);
        let mut failures = Vec::new();
        let mut too_small = None;
        for (index, model) in self.models.iter().enumerate().skip(first) {
            let name = model.name.as_str();
            let given_up = self.given_up()[index].clone();
            if too_small >= Some(model.window) || given_up.is_some() {
                watch(&Event::Skipped { model: name });
                failures.extend(given_up);
                continue;
            }
            let failure = match self.ask_one(model, question, end, watch).await {
                Ok(answer) => return Ok((index, answer)),
                Err(failure) => failure,
            };
            watch(&Event::GivenUp {
                model: name,
                because: &failure,
            });
            if failure.cause == Cause::TooLong {
                too_small = too_small.max(Some(model.window));
            }
            if is_the_model_s(&failure, question) {
                self.given_up()[index] = Some(failure.clone());
            }
            failures.push(failure);
            if end.is_some_and(|end| end <= Instant::now()) {
                break;
            }
        }
        Err(failures)
    }

    async fn ask_one(
        &self,
        model: &Model,
        question: &Question,
        end: Option<Instant>,
        watch: &Watch<'_>,
    ) -> Result<Answer, Failure> {
        let name = model.name.as_str();
        let mut attempt = 1;
        loop {
            watch(&Event::Asking { model: name, attempt });
            let asked = self.client.ask_soon(model, question, self.patience.most_wait);
            let result = match end {
                None => asked.await,
                Some(end) => timeout_at(end, asked)
                    .await
                    .unwrap_or_else(|_| Err(self.too_late(model))),
            };
            let failure = match result {
                Ok(answer) => {
                    watch(&Event::Answered { model: name, attempt });
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            let wait = {
                let mut jitter = self.jitter.lock().unwrap_or_else(PoisonError::into_inner);
                self.patience.wait(attempt, &failure, &mut jitter)
            };
            let Some(wait) = wait else { return Err(failure) };
            let until = moment_after(wait);
            if end.is_some_and(|end| end <= until) {
                return Err(failure);
            }
            watch(&Event::Waiting {
                model: name,
                wait,
                because: &failure,
            });
            let _elapsed = timeout_at(until, pending::<()>()).await;
            attempt += 1;
        }
    }

    fn too_late(&self, model: &Model) -> Failure {
        let deadline = self.deadline.unwrap_or_default();
        let detail = format!("the {deadline:?} for all attempts together are over");
        Failure::new(model, Trouble::new(Cause::TimedOut, detail))
    }

    fn given_up(&self) -> MutexGuard<'_, Vec<Option<Failure>>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a failure is the model's for good. A body of the caller's names a model of its own, which may not exist.
fn is_the_model_s(failure: &Failure, question: &Question) -> bool {
    match question {
        Question::Prompt(_) => failure.is_for_good(),
        Question::Body { .. } => failure.is_for_good() && failure.cause != Cause::NotFound,
    }
}
