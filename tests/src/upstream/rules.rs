//! What providers refuse, rule by rule and in their words. What these rules do not know and the checker of
//! [`provider`](crate::provider) does is refused too, in its words.

use serde_json::Value;

use super::issued::Issued;
use super::prompt::Prompt;
use super::refusal::Refusal;
use super::refusal::Rule;
use super::rules_anthropic;
use super::rules_chat;
use super::rules_responses;
use super::scenario::Scenario;
use crate::conversation::Form;
use crate::provider;

/// What a request is judged by.
#[derive(Debug)]
pub struct Case<'a> {
    /// The body.
    pub body: &'a Value,
    /// Its form.
    pub form: Form,
    /// Whether it only asks how many tokens it has.
    pub only_counts: bool,
    /// Its prompt.
    pub prompt: &'a Prompt,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What was given out before.
    pub issued: &'a Issued,
}

/// Judges a request.
pub fn check(case: &Case<'_>) -> Result<(), Refusal> {
    if !case.body["model"].is_string() {
        return Err(missing(case.form, "model"));
    }
    let list = &case.body[case.form.list_key()];
    let is_alone = case.form == Form::Responses && list.is_string();
    let none = Vec::new();
    let list = match list.as_array() {
        Some(list) => list,
        None if is_alone => &none,
        None => return Err(missing(case.form, case.form.list_key())),
    };
    match case.form {
        Form::Anthropic => rules_anthropic::check(case, list)?,
        Form::Chat => rules_chat::check(list)?,
        Form::Responses => rules_responses::check(list, case.issued)?,
    }
    let others = if is_alone {
        Vec::new()
    } else {
        provider::violations(case.body, case.form)
    };
    if let Some(violation) = others.into_iter().next() {
        return Err(Refusal::new(
            Rule::Content,
            format!("{}: {violation}", case.form.list_key()),
        ));
    }
    if case.scenario.alternates && !provider::alternates(list) {
        let words = "Conversation roles must alternate user/assistant/user/assistant/...";
        return Err(Refusal::new(Rule::Role, words));
    }
    fits(case)
}

/// Whether the prompt fits the window.
fn fits(case: &Case<'_>) -> Result<(), Refusal> {
    if case.only_counts {
        return Ok(());
    }
    let (tokens, window) = (case.prompt.tokens(), case.scenario.window);
    if tokens > window {
        return Err(Refusal::too_long(case.form, tokens, case.prompt.tool_tokens(), window));
    }
    let output = case.body["max_tokens"].as_u64().unwrap_or(0);
    if case.scenario.counts_output && case.form == Form::Anthropic && tokens + output > window {
        let message = format!(
            "input length and `max_tokens` exceed context limit: {tokens} + {output} > {window}, decrease input length or \
             `max_tokens` and try again"
        );
        return Err(Refusal::new(Rule::Overflow, message));
    }
    Ok(())
}

fn missing(form: Form, field: &str) -> Refusal {
    match form {
        Form::Anthropic => Refusal::new(Rule::Body, format!("{field}: Field required")),
        Form::Chat | Form::Responses => {
            let refusal = Refusal::new(Rule::Body, format!("Missing required parameter: '{field}'."));
            refusal.at(field).coded("missing_required_parameter")
        }
    }
}
