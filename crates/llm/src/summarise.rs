//! Answering what a pass asks for: each request goes to the models, and what they say goes back as the reply.

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

/// Answers what a pass asks for, one request after the other.
pub struct Summariser<'a> {
    writers: &'a Writers<'a>,
    /// Models that get records are asked from this one on: the one that answered last.
    from: usize,
}

impl<'a> Summariser<'a> {
    /// A summariser for one pass.
    pub fn new(writers: &'a Writers<'a>) -> Self {
        Self { writers, from: 0 }
    }

    /// The reply to a request, within the time that is left.
    pub async fn reply(&mut self, request: &Request) -> Reply {
        let until = self.writers.until;
        let asked = self.ask(request);
        match until {
            Some(until) => timeout_at(until, asked)
                .await
                .unwrap_or_else(|_| Reply::Failed("the time for a summary is over".to_owned())),
            None => asked.await,
        }
    }

    async fn ask(&mut self, request: &Request) -> Reply {
        let writers = self.writers;
        let answered = match (request.way, writers.in_place) {
            (Way::InPlace, None) => return Reply::Failed("the conversation's own model cannot be asked".to_owned()),
            (Way::InPlace, Some((own, body))) => match body(request) {
                Ok((form, body)) => own.ask_from(0, &Question::Body { form, body }, writers.watch).await,
                Err(why) => return Reply::Failed(why),
            },
            (Way::Auxiliary, _) => {
                self.from += usize::from(request.wants_another_model);
                if self.from >= writers.chain.models().len() {
                    return Reply::Failed("there is no other model to ask".to_owned());
                }
                let question = Question::Prompt(prompt(request));
                writers.chain.ask_from(self.from, &question, writers.watch).await
            }
        };
        match answered {
            Ok((model, answer)) => {
                if request.way == Way::Auxiliary {
                    self.from = model;
                }
                reply(answer)
            }
            Err(failures) => failed(&failures),
        }
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
