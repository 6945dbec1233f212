//! What `inspect` reports. The field names are the documented JSON shape: docs/json.md explains each.

use std::collections::BTreeMap;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::Level;
use mainstay_engine::account::Tally;
use mainstay_engine::account::Tokens;
use mainstay_engine::account::measure_part;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Origin;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Severity;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;
use mainstay_engine::transcript::split_by_author;
use mainstay_wire::document::Document;
use serde::Serialize;

use crate::counting::calibrate;
use crate::counting::definitions;
use crate::screen::opening;

/// Everything that `inspect` says.
#[derive(Debug, Serialize)]
pub struct Report {
    pub format: &'static str,
    pub writes: &'static str,
    pub session: Session,
    pub model: Option<String>,
    pub messages: Messages,
    pub tokens: TokenReport,
    pub tools: Vec<Tool>,
    pub biggest: Vec<Big>,
    pub pairs: Pairs,
    pub compactions: Vec<Compaction>,
    pub usage: Option<UsageReport>,
    pub budget: BudgetReport,
    pub findings: Vec<FindingReport>,
}

#[derive(Debug, Serialize)]
pub struct Session {
    pub id: Option<String>,
    pub title: Option<String>,
    pub directory: Option<String>,
    pub version: Option<String>,
    pub parent: Option<String>,
    pub started: Option<String>,
    pub ended: Option<String>,
    pub conversations: u64,
}

#[derive(Debug, Serialize)]
pub struct Messages {
    pub total: u64,
    pub turns: u64,
    pub inserted: u64,
    pub recorded: u64,
    pub by_role: BTreeMap<&'static str, u64>,
    pub by_author: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
pub struct TokenReport {
    pub counted: u64,
    pub tokenizer: &'static str,
    pub exact: bool,
    pub tool_definitions: u64,
    pub by_kind: BTreeMap<&'static str, u64>,
    pub by_role: BTreeMap<&'static str, u64>,
    pub by_author: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
pub struct Tool {
    pub name: String,
    pub calls: u64,
    pub failures: u64,
    pub argument_tokens: u64,
    pub result_tokens: u64,
}

#[derive(Debug, Serialize)]
pub struct Big {
    pub index: usize,
    pub role: &'static str,
    pub author: &'static str,
    pub tokens: u64,
    pub place: Option<String>,
    pub opening: String,
}

#[derive(Debug, Serialize)]
pub struct Pairs {
    pub calls: u64,
    pub answered: u64,
    pub open: u64,
    pub stubbed: u64,
    pub recorded_calls: u64,
    pub recorded_results: u64,
}

#[derive(Debug, Serialize)]
pub struct Compaction {
    pub before_message: usize,
    pub kind: &'static str,
    pub trigger: &'static str,
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
    pub at: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct UsageReport {
    pub requests: u64,
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
    pub last_input: u64,
    pub scale: f64,
    pub fixed: f64,
}

#[derive(Debug, Serialize)]
pub struct BudgetReport {
    pub model: String,
    pub window: u64,
    pub output: u64,
    pub threshold: u64,
    pub tail: u64,
    pub prompt: u64,
    pub fill: f64,
    pub pressure: Option<&'static str>,
    pub compaction_due: bool,
}

#[derive(Debug, Serialize)]
pub struct FindingReport {
    pub rule: &'static str,
    pub severity: Severity,
    pub place: Option<String>,
    pub about: &'static str,
    pub detail: String,
}

impl Report {
    /// Puts the report together.
    pub fn new(document: &Document, tally: &Tally, model: Option<String>, budget: &Budget, biggest: usize) -> Self {
        let definitions = definitions(document, tally.family());
        let usage = usage(document, tally, definitions);
        let counted = tally.total().total() + definitions;
        let prompt = usage.as_ref().map_or(counted, |usage| {
            (usage.scale * counted as f64 + usage.fixed).round() as u64
        });
        Self {
            format: document.format.name,
            writes: document.form().name(),
            session: session(document),
            model,
            messages: messages(document),
            tokens: tokens(document, tally, definitions),
            tools: tools(document, tally),
            biggest: biggest_messages(document, tally, biggest),
            pairs: pairs(document),
            compactions: compactions(document),
            usage,
            budget: BudgetReport {
                model: budget.model.clone(),
                window: budget.window,
                output: budget.output,
                threshold: budget.threshold,
                tail: budget.tail,
                prompt,
                fill: (budget.fill(prompt) * 1e4).round() / 1e4,
                pressure: Level::reached(prompt, budget).map(Level::name),
                compaction_due: prompt >= budget.threshold,
            },
            findings: document.findings.iter().map(finding).collect(),
        }
    }
}

fn session(document: &Document) -> Session {
    let about = &document.about;
    Session {
        id: about.id.clone(),
        title: about.title.clone(),
        directory: about.directory.clone(),
        version: about.version.clone(),
        parent: about.parent.clone(),
        started: about.started.and_then(date),
        ended: about.ended.and_then(date),
        conversations: about.conversations,
    }
}

fn messages(document: &Document) -> Messages {
    let list = document.transcript.messages();
    let count = |test: &dyn Fn(&Message) -> bool| list.iter().filter(|message| test(message)).count() as u64;
    let roles = Role::ALL.map(|role| (role.name(), count(&|message| message.role == role)));
    let authors = Author::ALL.map(|author| (author.name(), count(&|message| message.author == author)));
    let inserted = document
        .origins()
        .iter()
        .filter(|origin| **origin == Origin::Inserted)
        .count();
    Messages {
        total: list.len() as u64,
        turns: count(&Message::opens_turn),
        inserted: inserted as u64,
        recorded: document.recorded.messages,
        by_role: roles.into_iter().filter(|(_, count)| *count > 0).collect(),
        by_author: authors.into_iter().filter(|(_, count)| *count > 0).collect(),
    }
}

fn tokens(document: &Document, tally: &Tally, definitions: u64) -> TokenReport {
    let mut by_role: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (message, tokens) in document.transcript.messages().iter().zip(tally.messages()) {
        *by_role.entry(message.role.name()).or_default() += tokens.total();
    }
    let kinds = tally.total().kinds();
    let estimated = tally.total().media + tally.total().opaque;
    TokenReport {
        counted: tally.total().total() + definitions,
        tokenizer: tally.family().name(),
        exact: tally.family().is_exact() && estimated == 0,
        tool_definitions: definitions,
        by_kind: kinds.into_iter().filter(|(_, count)| *count > 0).collect(),
        by_role,
        by_author: tokens_by_author(document, tally),
    }
}

/// Whose the tokens are: results are the tool's, and what the agent program puts into the person's messages is the program's.
fn tokens_by_author(document: &Document, tally: &Tally) -> BTreeMap<&'static str, u64> {
    let mut by_author: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (message, tokens) in document.transcript.messages().iter().zip(tally.messages()) {
        let mut left = tokens.total();
        if message.author == Author::User {
            for (author, part_tokens) in foreign_tokens(message, tally.family()) {
                let taken = part_tokens.min(left);
                *by_author.entry(author.name()).or_default() += taken;
                left -= taken;
            }
        }
        *by_author.entry(message.author.name()).or_default() += left;
    }
    by_author.retain(|_, count| *count > 0);
    by_author
}

/// What others than the person wrote into their message.
fn foreign_tokens(message: &Message, family: Family) -> Vec<(Author, u64)> {
    let mut foreign = Vec::new();
    for part in &message.parts {
        match part {
            Part::Result(_) => foreign.push((Author::Tool, measure_part(part, family).total())),
            Part::Text(text) => {
                let segments = split_by_author(text).into_iter();
                let others = segments.filter(|segment| segment.author != Author::User);
                foreign.extend(others.map(|segment| {
                    let words = Part::Text(segment.text.into());
                    (segment.author, measure_part(&words, family).total())
                }));
            }
            Part::Call(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    foreign
}

fn tools(document: &Document, tally: &Tally) -> Vec<Tool> {
    let messages = document.transcript.messages();
    let mut tools: BTreeMap<&str, Tool> = BTreeMap::new();
    for pair in document.transcript.pairs() {
        let call_part = &messages[pair.call.message as usize].parts[pair.call.part as usize];
        let Part::Call(call) = call_part else { continue };
        let tool = tools.entry(&call.name).or_insert_with(|| Tool {
            name: call.name.to_string(),
            calls: 0,
            failures: 0,
            argument_tokens: 0,
            result_tokens: 0,
        });
        tool.calls += 1;
        tool.argument_tokens += part_tokens(tally, pair.call.message, messages, call_part);
        if let Some(spot) = pair.result {
            let result_part = &messages[spot.message as usize].parts[spot.part as usize];
            tool.result_tokens += part_tokens(tally, spot.message, messages, result_part);
            if let Part::Result(result) = result_part {
                let failed = result.outcome == mainstay_engine::transcript::ToolOutcome::Failure;
                tool.failures += u64::from(failed);
            }
        }
    }
    let mut tools: Vec<_> = tools.into_values().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.result_tokens + tool.argument_tokens));
    tools
}

/// A part's tokens: those already counted where it is its message's only part.
fn part_tokens(tally: &Tally, message: u32, messages: &[Message], part: &Part) -> u64 {
    let tokens = match messages[message as usize].parts.len() {
        1 => tally.messages()[message as usize],
        _ => measure_part(part, tally.family()),
    };
    tokens.total() - tokens.overhead
}

fn biggest_messages(document: &Document, tally: &Tally, most: usize) -> Vec<Big> {
    let mut order: Vec<_> = tally.messages().iter().map(Tokens::total).enumerate().collect();
    order.sort_by_key(|(index, tokens)| (std::cmp::Reverse(*tokens), *index));
    let big = |(index, tokens): (usize, u64)| {
        let message = &document.transcript.messages()[index];
        Big {
            index,
            role: message.role.name(),
            author: message.author.name(),
            tokens,
            place: place(message.place),
            opening: message_opening(message),
        }
    };
    order.into_iter().take(most).map(big).collect()
}

fn message_opening(message: &Message) -> String {
    use mainstay_engine::transcript::Content;
    let described = message.parts.iter().find_map(|part| match part {
        Part::Text(text) if !text.trim().is_empty() => Some(opening(text, 60)),
        Part::Call(call) => Some(opening(&format!("{} {}", call.name, call.input.as_str()), 60)),
        Part::Result(result) => match result.content.first() {
            Some(Content::Text(text)) => Some(opening(text, 60)),
            Some(Content::Media(_)) => Some("(media)".to_owned()),
            Some(Content::Opaque(opaque)) => Some(opening(&opaque.kind, 60)),
            None => Some("(empty result)".to_owned()),
        },
        Part::Media(_) => Some("(media)".to_owned()),
        Part::Opaque(opaque) => Some(opening(&opaque.kind, 60)),
        Part::Text(_) | Part::Thinking(_) => None,
    });
    described.unwrap_or_else(|| "(thinking)".to_owned())
}

fn pairs(document: &Document) -> Pairs {
    let transcript = &document.transcript;
    let answered = transcript.pairs().iter().filter(|pair| pair.result.is_some()).count() as u64;
    let calls = transcript.pairs().len() as u64;
    let is_stub = |finding: &&Finding| finding.rule == mainstay_engine::transcript::Rule::UnansweredCall;
    let stubbed = document.findings.iter().filter(is_stub).count() as u64;
    Pairs {
        calls,
        answered: answered - stubbed.min(answered),
        open: calls - answered,
        stubbed,
        recorded_calls: document.recorded.calls,
        recorded_results: document.recorded.results,
    }
}

fn compactions(document: &Document) -> Vec<Compaction> {
    let events = document.transcript.events().iter().map(|event| Compaction {
        before_message: event.before,
        kind: match event.kind {
            CompactionKind::Summary => "summary",
            CompactionKind::Clearing => "clearing",
            CompactionKind::Sealed => "sealed",
            CompactionKind::Truncation => "truncation",
        },
        trigger: match event.trigger {
            Trigger::Automatic => "automatic",
            Trigger::Manual => "manual",
            Trigger::Unstated => "unstated",
        },
        tokens_before: event.tokens_before,
        tokens_after: event.tokens_after,
        at: event.at.and_then(date),
    });
    events.collect()
}

/// What the provider reported, and how our count relates to it.
fn usage(document: &Document, tally: &Tally, definitions: u64) -> Option<UsageReport> {
    let mut total = Usage::default();
    let (mut requests, mut last_input) = (0, 0);
    for usage in document
        .transcript
        .messages()
        .iter()
        .filter_map(|message| message.usage.as_ref())
    {
        total.add(usage);
        requests += 1;
        last_input = usage.input;
    }
    let fit = calibrate(document, tally, definitions);
    (requests > 0).then(|| UsageReport {
        requests,
        input: total.input,
        cache_read: total.cache_read,
        cache_write: total.cache_write,
        output: total.output,
        last_input,
        scale: (fit.scale * 1e3).round() / 1e3,
        fixed: fit.fixed.round(),
    })
}

fn finding(finding: &Finding) -> FindingReport {
    FindingReport {
        rule: finding.rule.code(),
        severity: finding.rule.severity(),
        place: place(finding.place),
        about: finding.rule.about(),
        detail: finding.detail.clone(),
    }
}

fn place(place: Place) -> Option<String> {
    match place {
        Place::Whole => None,
        Place::Line(line) => Some(format!("line {line}")),
        Place::Item(item) => Some(format!("item {item}")),
    }
}

fn date(stamp: Timestamp) -> Option<String> {
    jiff::Timestamp::from_millisecond(stamp.0)
        .ok()
        .map(|stamp| stamp.to_string())
}
