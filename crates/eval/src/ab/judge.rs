//! A judge that gives one of five outcomes, and never learns whose answer it reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_llm::prompt::Prompt;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::ab::blind::Item;
use crate::ab::outcome::Outcome;
use crate::fixture::Probe;
use crate::record::SampleName;
use crate::rubric;
use crate::run::HoldError;
use crate::run::desk::Call;
use crate::run::desk::Desk;
use crate::run::desk::Duty;
use crate::run::desk::Unanswered;

const SCORE: &str = include_str!("prompts/score.md");
/// How often a verdict that cannot be read is asked for, as with judgements.
const MOST_ATTEMPTS: u32 = 3;
/// How many requests are prepared at once; the endpoints' own gates narrow it further.
const AT_ONCE: usize = 16;

/// What a scorer says of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What it is worth.
    pub outcome: Outcome,
    /// Why; people may leave it out.
    pub reason: String,
}

/// Why a verdict cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// There is no JSON object in it.
    #[error("there is no JSON object in the verdict")]
    NoObject,
    /// It names no outcome, or another than the five.
    #[error("the verdict has none of the five outcomes")]
    NoOutcome,
    /// It gives no reason.
    #[error("the verdict gives no reason")]
    NoReason,
}

/// How scoring ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every sample has its verdict, or the reason why there is none.
    Whole(BTreeMap<SampleName, Result<Verdict, String>>),
    /// Nothing could be asked any more, for this reason; it can go on later.
    Over(String),
}

/// The names and hashes of the prompts that scoring has of its own.
pub fn hashes() -> Vec<(String, String)> {
    vec![("ab/score".to_owned(), rubric::hash(SCORE))]
}

/// Asks for the outcome of an answer. Nothing in it tells by which arm the answer was given, nor where it stands on the list.
pub fn request(probe: &Probe, answer: &str) -> Prompt {
    Prompt {
        system: SCORE.trim().to_owned(),
        ..rubric::case(probe, answer)
    }
}

/// Reads a verdict: one of the five outcomes and a reason.
pub fn read_verdict(text: &str) -> Result<Verdict, Unreadable> {
    let object = rubric::object(text).ok_or(Unreadable::NoObject)?;
    let outcome = object.get("outcome").and_then(Value::as_str).and_then(Outcome::named);
    let outcome = outcome.ok_or(Unreadable::NoOutcome)?;
    let reason = object.get("reason").and_then(Value::as_str).map_or("", str::trim);
    match reason.is_empty() {
        true => Err(Unreadable::NoReason),
        false => Ok(Verdict {
            outcome,
            reason: reason.to_owned(),
        }),
    }
}

/// Has every answer scored, in the order of the items. What was scored before is not asked again.
pub async fn judge(items: &[Item], desk: Arc<Desk>) -> Result<Ended, HoldError> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    for item in items {
        let prompt = Arc::new(request(&item.probe, &item.answer));
        for name in item.samples.iter().cloned() {
            let (desk, places, prompt) = (Arc::clone(&desk), Arc::clone(&places), Arc::clone(&prompt));
            tasks.spawn(async move {
                let _place = places.acquire_owned().await;
                let verdict = verdict(&desk, &prompt, name.2).await;
                (name, verdict)
            });
        }
    }
    let mut verdicts = BTreeMap::new();
    while let Some(ended) = tasks.join_next().await {
        let (name, verdict) = ended.map_err(|error| HoldError::BrokenOff(error.to_string()))?;
        if let Some(verdict) = verdict {
            verdicts.insert(name, verdict);
        }
    }
    Ok(match desk.over() {
        Some(why) => Ended::Over(why),
        None => Ended::Whole(verdicts),
    })
}

/// A verdict, or why there is none; nothing where nothing can be asked any more.
async fn verdict(desk: &Desk, prompt: &Prompt, repeat: u32) -> Option<Result<Verdict, String>> {
    let mut why = String::new();
    for attempt in 1..=MOST_ATTEMPTS {
        let call = Call {
            duty: Duty::Judge,
            prompt,
            repeat,
            attempt,
            from: 0,
            member: 0,
        };
        match desk.ask(&call).await {
            Ok((_, answer)) => match read_verdict(&answer.text) {
                Ok(verdict) => return Some(Ok(verdict)),
                Err(unreadable) => why = format!("{unreadable}, {attempt} times"),
            },
            Err(Unanswered::Failed(failed)) => return Some(Err(format!("no verdict: {failed}"))),
            Err(Unanswered::TooLong) => {
                return Some(Err(
                    "no verdict: the answer does not fit into the judge's window".to_owned()
                ));
            }
            Err(Unanswered::Waiting | Unanswered::Over(_)) => return None,
        }
    }
    Some(Err(format!("no verdict: {why}")))
}
