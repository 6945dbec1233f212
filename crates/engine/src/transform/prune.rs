//! Carrying a plan out: every planned part becomes a change, and what it held is handed over for keeping.

use std::collections::BTreeMap;

use crate::account::Family;
use crate::account::measure_part;
use crate::decide::Action;
use crate::decide::Deed;
use crate::decide::Plan;
use crate::decide::Planned;
use crate::decide::Superseded;
use crate::decide::asked;
use crate::decide::deed_of_call;
use crate::decide::marker::is_placeholder;
use crate::decide::marker::placeholder;
use crate::decide::marker::reference;
use crate::decide::marker::thousands;
use crate::json;
use crate::shrink::ToldLine;
use crate::shrink::opening_line;
use crate::shrink::tell;
use crate::transcript::Author;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Media;
use crate::transcript::MediaSource;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::Seal;
use crate::transcript::Spot;
use crate::transcript::Thinking;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;
use crate::transcript::Transcript;
use crate::transform::arguments;

/// How much of what was asked is shown.
const ASKED: usize = 80;

/// What one part becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A tool result says only this.
    Result(Box<str>),
    /// A call's input is this.
    Arguments(Input),
    /// The part becomes this text.
    Text(Box<str>),
    /// The part is left out.
    Drop,
}

/// What a change took out of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Where it stood.
    pub spot: Spot,
    /// What was done.
    pub action: Action,
    /// In which role it was sent.
    pub role: Role,
    /// Who wrote it.
    pub author: Author,
    /// The tool, where one is concerned.
    pub tool: Option<Box<str>>,
    /// The reference that recalls it.
    pub reference: Box<str>,
    /// What it said.
    pub text: Box<str>,
    /// What it cost.
    pub tokens: u64,
    /// What stands there now costs this.
    pub tokens_left: u64,
    /// Whether it is a result that tells of a failure.
    pub failed: bool,
}

/// Whether a part is a result that tells of a failure.
pub(super) fn is_failure(part: &Part) -> bool {
    matches!(part, Part::Result(result) if result.outcome == ToolOutcome::Failure)
}

/// The changes of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// What each changed part becomes.
    pub changes: BTreeMap<Spot, Change>,
    /// What was taken out, in the order of the plan.
    pub dropped: Vec<Dropped>,
}

impl Pruned {
    /// The tokens that the changes save, as counted.
    pub fn saved(&self) -> u64 {
        let saved = self.dropped.iter().map(|dropped| dropped.tokens - dropped.tokens_left);
        saved.sum()
    }
}

/// Carries a plan out. Parts that would not get smaller stay as they are.
pub fn prune(transcript: &Transcript, plan: &Plan, family: Family, hide: &dyn Fn(&str) -> Option<String>) -> Pruned {
    let mut pruned = Pruned::default();
    for planned in &plan.actions {
        let message = &transcript.messages()[planned.spot.message as usize];
        let part = &message.parts[planned.spot.part as usize];
        let call = call_of(transcript, planned);
        let Some((change, text)) = change(transcript, planned, message, part, call) else {
            continue;
        };
        let reference = reference(&text);
        let change = clean_change(change(&reference), hide);
        let left = cost_of(&change, part, family);
        // The plan knows what the part costs; counting it again would cost more than all the rest.
        let before = planned.tokens;
        if left >= before {
            continue;
        }
        let tool = match part {
            Part::Call(call) => Some(call.name.clone()),
            _ => call.map(|call| call.name.clone()),
        };
        pruned.changes.insert(planned.spot, change);
        pruned.dropped.push(Dropped {
            spot: planned.spot,
            action: planned.action,
            role: message.role,
            author: if matches!(part, Part::Result(_)) {
                Author::Tool
            } else {
                message.author
            },
            tool,
            reference: reference.into(),
            text: text.into(),
            tokens: before,
            tokens_left: left,
            failed: is_failure(part),
        });
    }
    pruned
}

/// A change that shows nothing which must be hidden.
fn clean_change(change: Change, hide: &dyn Fn(&str) -> Option<String>) -> Change {
    match change {
        Change::Result(text) => Change::Result(clean_text(text, hide)),
        Change::Text(text) => Change::Text(clean_text(text, hide)),
        Change::Arguments(Input::Text(text)) => Change::Arguments(Input::Text(clean_text(text, hide))),
        Change::Arguments(Input::Json(text)) => match hide(&text) {
            Some(clean) if json::value(&clean).is_ok() => Change::Arguments(Input::Json(clean.into())),
            Some(_) => Change::Arguments(Input::Json("{}".into())),
            None => Change::Arguments(Input::Json(text)),
        },
        Change::Drop => Change::Drop,
    }
}

fn clean_text(text: Box<str>, hide: &dyn Fn(&str) -> Option<String>) -> Box<str> {
    match hide(&text) {
        Some(clean) => clean.into(),
        None => text,
    }
}

/// The call that a planned result answers.
fn call_of<'a>(transcript: &'a Transcript, planned: &Planned) -> Option<&'a ToolCall> {
    let spot = planned.call?;
    match &transcript.messages()[spot.message as usize].parts[spot.part as usize] {
        Part::Call(call) => Some(call),
        _ => None,
    }
}

/// A change that still lacks the reference, and the text it takes out.
type Prepared<'a> = (Box<dyn Fn(&str) -> Change + 'a>, String);

fn change<'a>(
    transcript: &'a Transcript,
    planned: &'a Planned,
    message: &'a Message,
    part: &'a Part,
    call: Option<&'a ToolCall>,
) -> Option<Prepared<'a>> {
    match (planned.action, part) {
        (Action::Duplicate(_) | Action::Stale(_) | Action::OldOutput, Part::Result(result)) => {
            let shown = result_text(result, media_name);
            if is_placeholder(&shown) || shown.is_empty() {
                return None;
            }
            let words = result_words(transcript, planned, result, call, &shown);
            // What is kept has the media themselves, so that the reference gives back all of it.
            let text = result_text(result, media_text);
            let line =
                move |reference: &str| Change::Result(placeholder(&format!("{words} — recall {reference}")).into());
            Some((Box::new(line), text))
        }
        (Action::OldArguments, Part::Call(call)) => {
            arguments::shorten(&call.input, &reference(""))?;
            let shorten = |reference: &str| match arguments::shorten(&call.input, reference) {
                Some(input) => Change::Arguments(input),
                None => Change::Arguments(call.input.clone()),
            };
            Some((Box::new(shorten), call.input.as_str().to_owned()))
        }
        (Action::OldMedia, Part::Media(media)) => {
            let words = media_words(media, planned.tokens);
            let line =
                move |reference: &str| Change::Text(placeholder(&format!("{words} — recall {reference}")).into());
            Some((Box::new(line), media_text(media)))
        }
        // A replaced message has no form of its own; the block stands for it.
        (Action::Replaced, _) => None,
        (Action::OldReasoning, Part::Thinking(thinking)) => {
            // A message of nothing but reasoning cannot be sent empty.
            let has_more = message.parts.iter().any(|part| !matches!(part, Part::Thinking(_)));
            has_more.then(|| -> Prepared<'a> { (Box::new(|_: &str| Change::Drop), thinking_text(thinking)) })
        }
        _ => None,
    }
}

/// Tool, what it was asked, why it went, how it ended, how much there was, and the line that tells most.
fn result_words(
    transcript: &Transcript,
    planned: &Planned,
    result: &ToolResult,
    call: Option<&ToolCall>,
    text: &str,
) -> String {
    let name = call.map_or_else(|| result.name.as_deref().unwrap_or("tool"), |call| &call.name);
    let asked = call.map(|call| asked(call, ASKED)).unwrap_or_default();
    let mut words = format!("{name} {asked}").trim_end().to_owned();
    let why = match planned.action {
        Action::Duplicate(newer) => format!("the same output came again later{}", told_by(transcript, newer)),
        Action::Stale(Superseded::Changed(by)) => {
            format!("stale, the file was changed later{}", told_by(transcript, by))
        }
        Action::Stale(Superseded::ReadAgain(by)) => {
            format!("stale, the file was read again later{}", told_by(transcript, by))
        }
        _ => String::new(),
    };
    if !why.is_empty() {
        words.push_str(&format!(" — {why}"));
    }
    let told = told(result, call, text);
    words.push_str(&format!(
        " — {}, {} lines, {} tokens",
        ending(result, call, text, told.as_ref()),
        thousands(text.lines().count() as u64),
        thousands(planned.tokens)
    ));
    // What stands elsewhere, or holds no more, is told by its call and its reason alone.
    if let (Action::OldOutput, Some(told)) = (planned.action, told) {
        words.push_str(&format!(", says: {}", told.text));
    }
    words
}

/// The line that tells most of an output. Words of failure in a file that was read are its content.
fn told(result: &ToolResult, call: Option<&ToolCall>, text: &str) -> Option<ToldLine> {
    let is_content = matches!(call.map(deed_of_call), Some(Deed::Read | Deed::Skill));
    if !is_content || result.outcome == ToolOutcome::Failure {
        return tell(text);
    }
    let text = opening_line(text)?;
    Some(ToldLine {
        text,
        reports_failure: false,
    })
}

/// Names the call at a spot, or the call of the result there.
fn told_by(transcript: &Transcript, spot: Spot) -> String {
    match &transcript.messages()[spot.message as usize].parts[spot.part as usize] {
        Part::Call(call) => format!(" by {} ({})", call.name, call.id.as_str()),
        Part::Result(result) => format!(" ({})", result.id.as_str()),
        Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => String::new(),
    }
}

/// How a call ended: as the source says, or as its output does.
fn ending(result: &ToolResult, call: Option<&ToolCall>, text: &str, told: Option<&ToldLine>) -> String {
    if let Some(code) = exit_code(text) {
        return format!("exit code {code}");
    }
    match result.outcome {
        ToolOutcome::Failure => "failed".to_owned(),
        ToolOutcome::Success => "ok".to_owned(),
        ToolOutcome::Unstated => match call.map(deed_of_call) {
            Some(Deed::Run) if told.is_some_and(|told| told.reports_failure) => "shows failures".to_owned(),
            _ => "ended".to_owned(),
        },
    }
}

/// The exit code that an output names at its start or end.
fn exit_code(text: &str) -> Option<i64> {
    const NAMES: [&str; 5] = [
        "exit_code\":",
        "exit code:",
        "exit code ",
        "exited with code ",
        "exit status ",
    ];
    let start = text.char_indices().nth(300).map_or(text, |(end, _)| &text[..end]);
    let from_end = text.len().saturating_sub(300);
    let end = text
        .char_indices()
        .map(|(at, _)| at)
        .rfind(|at| *at <= from_end)
        .map_or("", |at| &text[at..]);
    for piece in [start, end] {
        let lower = piece.to_ascii_lowercase();
        for name in NAMES {
            if let Some(at) = lower.find(name) {
                let rest = lower[at + name.len()..].trim_start();
                let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
                if let Ok(code) = digits.parse() {
                    return Some(code);
                }
            }
        }
    }
    None
}

/// The text of a result, with media in it named or given in full.
pub(super) fn result_text(result: &ToolResult, say: fn(&Media) -> String) -> String {
    let pieces: Vec<_> = result
        .content
        .iter()
        .map(|content| match content {
            Content::Text(text) => text.to_string(),
            Content::Media(media) => format!("[{}]", say(media)),
            Content::Opaque(opaque) => opaque.json.to_string(),
        })
        .collect();
    pieces.join("\n")
}

/// All there is of a thought: what can be read, and its seal.
pub(super) fn thinking_text(thinking: &Thinking) -> String {
    match &thinking.seal {
        Seal::Unsealed => thinking.text.to_string(),
        Seal::Signed(seal) | Seal::Encrypted(seal) => format!("{}\n{seal}", thinking.text),
    }
}

fn media_name(media: &Media) -> String {
    let kind = media.kind.name();
    match &media.mime {
        Some(mime) => format!("{kind} {mime}"),
        None => kind.to_owned(),
    }
}

fn media_words(media: &Media, tokens: u64) -> String {
    format!("{}, about {} tokens", media_name(media), thousands(tokens))
}

pub(super) fn media_text(media: &Media) -> String {
    match &media.source {
        MediaSource::Inline(data) => data.to_string(),
        MediaSource::Url(url) | MediaSource::Reference(url) => url.to_string(),
    }
}

pub(super) fn cost_of(change: &Change, part: &Part, family: Family) -> u64 {
    match changed(part, change) {
        Some(part) => measure_part(&part, family).total(),
        None => 0,
    }
}

/// A part after its change; `None` when it is left out.
pub fn changed(part: &Part, change: &Change) -> Option<Part> {
    match (change, part) {
        (Change::Drop, _) => None,
        (Change::Text(text), _) => Some(Part::Text(text.clone())),
        (Change::Result(text), Part::Result(result)) => Some(Part::Result(Box::new(ToolResult {
            id: result.id.clone(),
            name: result.name.clone(),
            content: vec![Content::Text(text.clone())],
            outcome: result.outcome,
        }))),
        (Change::Arguments(input), Part::Call(call)) => Some(Part::Call(Box::new(ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            input: input.clone(),
        }))),
        (Change::Result(_) | Change::Arguments(_), other) => Some(other.clone()),
    }
}

/// A message after its changes.
pub fn changed_message(index: usize, message: &Message, changes: &BTreeMap<Spot, Change>) -> Message {
    let spot = |part: usize| Spot {
        message: u32::try_from(index).expect("a transcript has fewer than 2^32 messages"),
        part: u32::try_from(part).expect("a message has fewer than 2^32 parts"),
    };
    let parts =
        message
            .parts
            .iter()
            .enumerate()
            .filter_map(|(part_index, part)| match changes.get(&spot(part_index)) {
                Some(change) => changed(part, change),
                None => Some(part.clone()),
            });
    Message {
        parts: parts.collect(),
        ..message.clone()
    }
}
