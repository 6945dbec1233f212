//! What the scripted model says: a function of the request, its scenario and how far the tool loop has come.
//!
//! The way through a loop is read off the ids of the newest results, which name their loop and their step. So the model goes
//! on where it was whatever has become of the history before them, and two runs of one client get the same answers.

use serde_json::Value;
use serde_json::json;

use super::scenario::Asking;
use super::scenario::Scenario;
use super::tools;
use crate::conversation::Form;

/// The tool by which a model asks for what it forgot.
const RECALL: &str = "mainstay_recall";

/// What is behind an answer, as the provider gives it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thought {
    /// In words, with its signature.
    Words {
        /// The words.
        text: String,
        /// The signature; the sealed content in Responses.
        signature: String,
    },
    /// Sealed.
    Sealed(String),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, an object.
    pub arguments: Value,
}

/// Why the model stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It has said everything.
    End,
    /// The answer may not be longer.
    Length,
    /// It calls tools.
    Calls,
}

/// An answer before it has a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speech {
    /// Where in the script this is said.
    pub step: Step,
    /// What is behind it.
    pub thoughts: Vec<Thought>,
    /// What it says.
    pub text: String,
    /// What it calls.
    pub calls: Vec<Call>,
    /// Why it stops.
    pub stop: Stop,
}

/// A place in the script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Which loop: how many messages by people were answered before.
    pub loop_number: u64,
    /// Which step of the loop.
    pub turn: usize,
    /// How often something forgotten was asked for at this step.
    pub asked: usize,
}

impl Step {
    /// The id of something said here: `prefix01Scripted…`. Long enough to look like a provider's.
    pub fn id(self, prefix: &str, which: usize) -> String {
        let which = self.asked.min(7) * ROUND + which;
        format!("{prefix}01S{:07}x{:06}x{which:02}", self.loop_number, self.turn)
    }

    /// The step of an id of this script.
    fn of(id: &str) -> Option<Self> {
        let (_, rest) = id.split_once("01S")?;
        let mut parts = rest.splitn(3, 'x');
        let loop_number = parts.next()?.parse().ok()?;
        let turn = parts.next()?.parse().ok()?;
        let which: usize = parts.next()?.parse().ok()?;
        Some(Self {
            loop_number,
            turn,
            asked: which / ROUND,
        })
    }
}

/// Ids of one round have numbers below this; those of recall the upper half.
const ROUND: usize = 100;

fn is_recall(id: &str) -> bool {
    let which = id.rsplit('x').next().and_then(|which| which.parse::<usize>().ok());
    which.is_some_and(|which| which % ROUND >= ROUND / 2)
}

/// The step that a request asks for. `None` where a person speaks last: another loop begins.
pub fn step(body: &Value, form: Form) -> Option<Step> {
    let list = body[form.list_key()].as_array()?;
    let answers = list.iter().rev().take_while(|message| !is_models(message, form));
    let ids: Vec<&str> = answers.flat_map(|message| answered(message, form)).collect();
    if ids.is_empty() {
        return None;
    }
    let newest = ids.iter().filter_map(|id| Step::of(id)).max_by_key(|step| step.turn);
    if let Some(newest) = newest.filter(|_| ids.iter().all(|id| is_recall(id))) {
        return Some(Step {
            asked: newest.asked + 1,
            ..newest
        });
    }
    // Clients that give ids of their own leave only their number.
    let counted = list.iter().filter(|message| calls_tool(message)).count();
    Some(newest.map_or(
        Step {
            loop_number: u64::MAX / 2,
            turn: counted,
            asked: 0,
        },
        |step| Step {
            turn: step.turn + 1,
            asked: 0,
            ..step
        },
    ))
}

fn is_models(message: &Value, form: Form) -> bool {
    let kind = message["type"].as_str().unwrap_or("message");
    let is_item = form == Form::Responses && (kind == "reasoning" || kind.ends_with("_call"));
    message["role"] == "assistant" || is_item
}

fn calls_tool(message: &Value) -> bool {
    let has_block = |blocks: &Vec<Value>| blocks.iter().any(|block| block["type"] == "tool_use");
    message["tool_calls"].is_array()
        || message["type"] == "function_call"
        || message["content"].as_array().is_some_and(has_block)
}

/// The ids that a message answers, the newest first.
fn answered(message: &Value, form: Form) -> Vec<&str> {
    match form {
        Form::Chat => message["tool_call_id"].as_str().into_iter().collect(),
        Form::Responses => {
            let is_output = message["type"].as_str().is_some_and(|kind| kind.ends_with("_output"));
            message["call_id"].as_str().filter(|_| is_output).into_iter().collect()
        }
        Form::Anthropic => {
            let blocks = message["content"].as_array().into_iter().flatten();
            blocks.rev().filter_map(|block| block["tool_use_id"].as_str()).collect()
        }
    }
}

/// What the model says at a step. Thoughts are added by who remembers them.
pub fn speak(body: &Value, form: Form, scenario: &Scenario, step: Step) -> Speech {
    let (recall, tools): (Vec<_>, Vec<_>) = tools::offered(body, form)
        .into_iter()
        .partition(|tool| tool.name == RECALL && scenario.recall.is_some());
    let may_call = body["tool_choice"] != "none" && body["tool_choice"]["type"] != "none";
    let count = if step.turn % 3 == 2 { scenario.parallel } else { 1 };
    let chosen = if may_call && step.turn < scenario.turns {
        tools::choose(&tools, scenario.reach, step.turn, count)
    } else {
        Vec::new()
    };
    let asking = scenario.recall.filter(|_| may_call && !recall.is_empty());
    if let Some(asking) = asking.filter(|asking| step.asked < asking.rounds()) {
        return ask(form, asking, step);
    }
    if !chosen.is_empty() {
        let calls = chosen.into_iter().enumerate().map(|(which, (name, arguments))| Call {
            id: step.id(call_prefix(form), which),
            name,
            arguments,
        });
        let mut calls: Vec<Call> = calls.collect();
        if asking.is_some_and(Asking::is_beside) {
            let place = (step.turn % 2).min(calls.len());
            calls.insert(place, recall_call(form, step, ROUND / 2));
        }
        let text = if step.turn.is_multiple_of(2) {
            format!("Step {}: I look at what is there before I change anything.", step.turn)
        } else {
            String::new()
        };
        return Speech {
            step,
            thoughts: Vec::new(),
            text,
            calls,
            stop: Stop::Calls,
        };
    }
    let (text, stop) = last_words(body, scenario, step);
    Speech {
        step,
        thoughts: Vec::new(),
        text,
        calls: Vec::new(),
        stop,
    }
}

/// Asks for what was forgotten, and for nothing else.
fn ask(form: Form, asking: Asking, step: Step) -> Speech {
    let both = asking == Asking::Alone && step.turn % 2 == 1;
    let calls = (0..=usize::from(both)).map(|which| recall_call(form, step, ROUND / 2 + which));
    let text = match asking {
        Asking::AfterText => format!("Step {}: let me recall what was said.", step.turn),
        _ => String::new(),
    };
    Speech {
        step,
        thoughts: Vec::new(),
        text,
        calls: calls.collect(),
        stop: Stop::Calls,
    }
}

fn recall_call(form: Form, step: Step, which: usize) -> Call {
    Call {
        id: step.id(call_prefix(form), which),
        name: RECALL.to_owned(),
        arguments: json!({"query": format!("port {}", step.turn)}),
    }
}

fn call_prefix(form: Form) -> &'static str {
    match form {
        Form::Anthropic => "toolu_",
        Form::Chat | Form::Responses => "call_",
    }
}

/// What the model says to the person, as far as the request lets it.
fn last_words(body: &Value, scenario: &Scenario, step: Step) -> (String, Stop) {
    if let Some(schema) = asked_schema(body) {
        return (tools::fill(schema, "", step.turn).to_string(), Stop::End);
    }
    let pictures = count_pictures(body);
    let mut text = format!("Done after {} steps", step.turn);
    if pictures > 0 {
        text += &format!(", with {pictures} pictures in view");
    }
    text += ".";
    for word in 0..scenario.words {
        text.push(' ');
        text.push_str(tools::WORDS[(word * 7 + step.turn) % tools::WORDS.len()]);
    }
    let limit = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    let limit = limit.iter().find_map(|key| body[*key].as_u64());
    // Every word of ours is at most two tokens.
    let most = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if text.split(' ').count() * 2 <= most {
        return (text, Stop::End);
    }
    let cut: Vec<&str> = text.split(' ').take(most.div_ceil(2)).collect();
    (cut.join(" "), Stop::Length)
}

/// The schema that an answer has to have, where the request names one.
fn asked_schema(body: &Value) -> Option<&Value> {
    let places = [
        &body["response_format"]["json_schema"]["schema"],
        &body["text"]["format"]["schema"],
        &body["output_config"]["format"]["schema"],
        &body["output_format"]["schema"],
    ];
    places.into_iter().find(|schema| schema.is_object())
}

fn count_pictures(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str);
            match kind {
                Some("image" | "image_url" | "input_image") => 1,
                _ => fields.values().map(count_pictures).sum(),
            }
        }
        Value::Array(list) => list.iter().map(count_pictures).sum(),
        _ => 0,
    }
}
