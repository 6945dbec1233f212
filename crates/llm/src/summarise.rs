//! Driving a pass: what the engine asks goes to the models, and what they say goes back, until there is an outcome.

use mainstay_engine::compaction::Ask;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Moment;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Step;
use mainstay_engine::decide::Way;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::Stop as EngineStop;
use mainstay_wire::reading::WireForm;
use tokio::time::Instant;
use tokio::time::timeout_at;

use crate::answer::Answer;
use crate::answer::Stop;
use crate::chain::Chain;
use crate::chain::Watch;
use crate::error::Cause;
use crate::error::Failure;
use crate::prompt::Prompt;
use crate::prompt::Question;
use crate::prompt::Speaker;

/// Makes the body of a request that is asked in place; an error says why there is none.
pub type InPlaceBody<'a> = &'a dyn Fn(&Request) -> Result<(WireForm, String), String>;

/// Who is asked, and how.
pub struct Writers<'a> {
    /// The models that get records, in order.
    pub chain: &'a Chain,
    /// The conversation's own model, where it can be asked in place, and what makes the body.
    pub in_place: Option<(&'a Chain, InPlaceBody<'a>)>,
    /// When nobody is asked any more.
    pub until: Option<Instant>,
    /// Who is told what happens.
    pub watch: &'a Watch<'a>,
}

/// Makes a pass, asking models wherever the engine wants something written. Dropping the future leaves the
/// conversation as it was.
pub async fn pass(compactor: &mut Compactor, moment: &Moment<'_>, writers: &Writers<'_>) -> Outcome {
    let mut from = 0;
    let mut step = compactor.start(moment);
    loop {
        match step {
            Step::Done(outcome) => return *outcome,
            Step::Ask(next) => {
                let Ask { request, pending } = *next;
                let asked = ask(&request, writers, &mut from);
                let reply = match writers.until {
                    Some(until) => timeout_at(until, asked)
                        .await
                        .unwrap_or_else(|_| Reply::Failed("the time for a summary is over".to_owned())),
                    None => asked.await,
                };
                step = pending.answer(compactor, moment, reply);
            }
        }
    }
}

/// Asks whoever the request is for; models that get records are asked from the one on that answered last.
async fn ask(request: &Request, writers: &Writers<'_>, from: &mut usize) -> Reply {
    let answered = match (request.way, writers.in_place) {
        (Way::InPlace, None) => return Reply::Failed("the conversation's own model cannot be asked".to_owned()),
        (Way::InPlace, Some((own, body))) => match body(request) {
            Ok((form, body)) => own.ask_from(0, &Question::Body { form, body }, writers.watch).await,
            Err(why) => return Reply::Failed(why),
        },
        (Way::Auxiliary, _) => {
            *from += usize::from(request.wants_another_model);
            if *from >= writers.chain.models().len() {
                return Reply::Failed("there is no other model to ask".to_owned());
            }
            let question = Question::Prompt(prompt(request));
            writers.chain.ask_from(*from, &question, writers.watch).await
        }
    };
    match answered {
        Ok((model, answer)) => {
            if request.way == Way::Auxiliary {
                *from = model;
            }
            reply(answer)
        }
        Err(failures) => failed(&failures),
    }
}

/// What a model is asked where it gets records.
pub fn prompt(request: &Request) -> Prompt {
    Prompt {
        system: request.system.clone(),
        turns: vec![(Speaker::User, request.user.clone())],
        // A cap would cut thinking models off in the middle; the engine refuses what is too long.
        most_tokens: None,
        ..Prompt::default()
    }
}

/// An answer as the engine takes it.
pub fn reply(answer: Answer) -> Reply {
    Reply::Answer {
        text: answer.text,
        stop: match answer.stop {
            Stop::End | Stop::Other => EngineStop::End,
            Stop::Length => EngineStop::Length,
            Stop::Refusal => EngineStop::Refusal,
            Stop::ToolCall => EngineStop::ToolCall,
        },
    }
}

/// What the engine can do about it: shorten what was too long, or do without.
fn failed(failures: &[Failure]) -> Reply {
    if failures.iter().any(|failure| failure.cause == Cause::TooLong) {
        return Reply::TooLong;
    }
    let words: Vec<String> = failures.iter().map(ToString::to_string).collect();
    Reply::Failed(match words.is_empty() {
        true => "no model is left to ask".to_owned(),
        false => words.join("; "),
    })
}
