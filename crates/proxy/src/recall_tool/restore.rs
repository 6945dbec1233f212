//! Our calls and their results, put back into the turns that they belong to. Only insertions: what the client and the session say
//! stays as it is. A turn that is not found, or no longer has a place for them, is left alone.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use bytes::BytesMut;
use mainstay_engine::json::Object;
use mainstay_wire::reading::WireForm;
use mainstay_wire::request::Glance;

use crate::recall_tool::anthropic;
use crate::recall_tool::json_edit::edited;
use crate::recall_tool::json_edit::list;
use crate::recall_tool::model_turn::AnswerPart;
use crate::recall_tool::model_turn::called;
use crate::recall_tool::recall_memory::RecallRecord;
use crate::recall_tool::responses;

/// A request with everything that is remembered in its place, and what found one, in the order of the request.
pub(super) fn restored<'r>(
    form: WireForm,
    body: &Bytes,
    records: &'r [Arc<RecallRecord>],
) -> (Bytes, Vec<&'r RecallRecord>) {
    let found = found(form, body, records).unwrap_or_default();
    let mut times: HashMap<Option<&str>, usize> = HashMap::new();
    for (record, _) in &found {
        *times.entry(record.key()).or_default() += 1;
    }
    let mut used = Vec::new();
    let mut edits = Edits::new();
    // There are servers that give the same ids again and again: nobody knows which turn is meant.
    for (record, own) in found.into_iter().filter(|(record, _)| times[&record.key()] == 1) {
        used.push(record);
        edits.extend(own);
    }
    match edits.is_empty() {
        true => (body.clone(), used),
        false => (applied(body, edits), used),
    }
}

/// Ranges of a body, and what stands there instead.
type Edits = Vec<(Range<usize>, String)>;
/// What belongs to a turn that was found, and what has to be done for it.
type Found<'r> = Vec<(&'r RecallRecord, Edits)>;
/// What is remembered, by what it is known again by.
type ByKey<'r> = HashMap<&'r str, &'r RecallRecord>;

fn found<'r>(form: WireForm, body: &Bytes, records: &'r [Arc<RecallRecord>]) -> Option<Found<'r>> {
    let by_key: ByKey<'r> = records
        .iter()
        .filter_map(|record| Some((record.key()?, &**record)))
        .collect();
    if by_key.is_empty() {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let glance = Glance::of(form, body)?;
    let elements: Vec<(Range<usize>, &str)> = glance
        .elements
        .iter()
        .map(|range| (range.clone(), &text[range.clone()]))
        .collect();
    Some(match form {
        WireForm::Anthropic => in_messages(&elements, &by_key),
        WireForm::Chat => in_chat(&elements, &by_key),
        WireForm::Responses => in_items(&elements, &by_key),
    })
}

/// The body with texts in place of ranges, which come in order and do not overlap.
fn applied(body: &Bytes, edits: Edits) -> Bytes {
    let more: usize = edits.iter().map(|(_, text)| text.len()).sum();
    let mut out = BytesMut::with_capacity(body.len() + more);
    let mut at = 0;
    for (range, text) in edits {
        out.extend_from_slice(&body[at..range.start]);
        out.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&body[at..]);
    out.freeze()
}

/// Where things are put among those that the client sees: for every round the place behind what belongs to it, and for every
/// call of the last answer its own.
struct Places {
    rounds: Vec<usize>,
    calls: Vec<usize>,
}

fn places(record: &RecallRecord, identities: &[String]) -> Places {
    let mut at = 0;
    let behind = |at: usize, identity: &String| {
        let found = identities.iter().skip(at).position(|own| own == identity);
        at + found.map_or(0, |found| found + 1)
    };
    let mut rounds = Vec::new();
    for round in &record.rounds {
        at = round.shown.iter().fold(at, behind);
        rounds.push(at);
    }
    let mut calls = Vec::new();
    for seat in &record.last {
        match seat {
            AnswerPart::Shown(identity) => at = behind(at, identity),
            AnswerPart::Ours(_) => calls.push(at),
        }
    }
    Places { rounds, calls }
}

fn ours(record: &RecallRecord) -> impl Iterator<Item = &str> {
    record.last.iter().filter_map(|seat| match seat {
        AnswerPart::Ours(asked) => Some(asked.raw.as_str()),
        AnswerPart::Shown(_) => None,
    })
}

/// What stands before each place, call after call.
fn with_calls<'a>(own: &[&'a str], from: usize, record: &'a RecallRecord, places: &Places) -> Vec<&'a str> {
    let mut out = Vec::new();
    let mut calls = ours(record).zip(&places.calls).peekable();
    for index in from..=own.len() {
        while let Some((raw, _)) = calls.next_if(|(_, place)| **place <= index) {
            out.push(raw);
        }
        out.extend(own.get(index));
    }
    out
}

fn in_messages<'r>(elements: &[(Range<usize>, &str)], by_key: &ByKey<'r>) -> Found<'r> {
    let mut found = Found::new();
    for (index, (range, text)) in elements.iter().enumerate() {
        let Some((own, blocks)) = blocks_of(text, "assistant") else {
            continue;
        };
        let identities: Vec<String> = blocks.iter().map(anthropic::identity).collect();
        let Some(record) = identities.iter().find_map(|identity| by_key.get(identity.as_str())) else {
            continue;
        };
        let next = elements.get(index + 1);
        let results = match (record.results.is_empty(), next) {
            (true, _) => None,
            (false, None) => continue,
            (false, Some((range, text))) => match answered(text, &record.results) {
                Some(text) => Some((range.clone(), text)),
                None => continue,
            },
        };
        let Some(message) = split(text, &own, &identities, record) else {
            continue;
        };
        let edits = std::iter::once((range.clone(), message)).chain(results);
        found.push((*record, edits.collect()));
    }
    found
}

/// The blocks of a message of this role.
fn blocks_of<'a>(text: &'a str, role: &str) -> Option<(Vec<&'a str>, Vec<Object<'a>>)> {
    let message = Object::parse(text).ok().filter(|message| message.is("role", role))?;
    let raw = message.array("content")?;
    let blocks: Option<Vec<Object<'_>>> = raw.iter().map(|block| Object::of(block)).collect();
    Some((raw.iter().map(|block| block.get()).collect(), blocks?))
}

/// A message of results with more of them, at its beginning.
fn answered(text: &str, results: &[String]) -> Option<String> {
    let (own, blocks) = blocks_of(text, "user")?;
    blocks.first().filter(|block| block.is("type", "tool_result"))?;
    let all: Vec<&str> = results.iter().map(String::as_str).chain(own).collect();
    edited(text, &[("content", Some(&list(&all)))])
}

/// A message of the assistant's as the messages that it was.
fn split(text: &str, own: &[&str], identities: &[String], record: &RecallRecord) -> Option<String> {
    let places = places(record, identities);
    let mut out = String::new();
    let mut at = 0;
    for (round, place) in record.rounds.iter().zip(&places.rounds) {
        let asked = round.asked.iter().map(|asked| asked.raw.as_str());
        let content: Vec<&str> = own[at..*place].iter().copied().chain(asked).collect();
        let (content, results) = (list(&content), list(&round.results));
        out.push_str(&format!(
            r#"{{"role":"assistant","content":{content}}},{{"role":"user","content":{results}}},"#
        ));
        at = *place;
    }
    // Nothing would be left for the last message to say.
    if at == own.len() {
        return None;
    }
    let content = with_calls(own, at, record, &places);
    out.push_str(&edited(text, &[("content", Some(&list(&content)))])?);
    Some(out)
}

fn in_chat<'r>(elements: &[(Range<usize>, &str)], by_key: &ByKey<'r>) -> Found<'r> {
    let mut found = Found::new();
    for (range, text) in elements {
        let Some(message) = Object::parse(text)
            .ok()
            .filter(|message| message.is("role", "assistant"))
        else {
            continue;
        };
        let calls = message.array("tool_calls").unwrap_or_default();
        let own: Vec<&str> = calls.iter().map(|call| call.get()).collect();
        let identities: Vec<String> = calls
            .iter()
            .map(|call| called(&Object::of(call).and_then(|call| call.text("id")).unwrap_or_default()))
            .collect();
        let Some(record) = identities.iter().find_map(|identity| by_key.get(identity.as_str())) else {
            continue;
        };
        let mut out = String::new();
        for round in &record.rounds {
            let asked: Vec<&str> = round.asked.iter().map(|asked| asked.raw.as_str()).collect();
            out.push_str(&format!(
                r#"{{"role":"assistant","content":null,"tool_calls":{}}},"#,
                list(&asked)
            ));
            for result in &round.results {
                out.push_str(result);
                out.push(',');
            }
        }
        let calls = list(&with_calls(&own, 0, record, &places(record, &identities)));
        let Some(message) = edited(text, &[("tool_calls", Some(&calls))]) else {
            continue;
        };
        out.push_str(&message);
        for result in &record.results {
            out.push(',');
            out.push_str(result);
        }
        found.push((*record, vec![(range.clone(), out)]));
    }
    found
}

fn in_items<'r>(elements: &[(Range<usize>, &str)], by_key: &ByKey<'r>) -> Found<'r> {
    let mut found = Found::new();
    let mut start = 0;
    while start < elements.len() {
        // What the model said in one go stands together.
        let said = elements[start..].iter().take_while(|(_, text)| is_models(text));
        let items: Vec<&(Range<usize>, &str)> = said.collect();
        let end = start + items.len();
        if !items.is_empty() {
            found.extend(in_turn(&items, by_key));
        }
        start = end + 1;
    }
    found
}

fn in_turn<'r>(items: &[&(Range<usize>, &str)], by_key: &ByKey<'r>) -> Option<(&'r RecallRecord, Edits)> {
    let identity = |text: &str| Object::parse(text).map_or_else(|_| String::new(), |item| responses::identity(&item));
    let identities: Vec<String> = items.iter().map(|(_, text)| identity(text)).collect();
    let record = identities.iter().find_map(|identity| by_key.get(identity.as_str()))?;
    let places = places(record, &identities);
    let mut before: Vec<Vec<&str>> = vec![Vec::new(); items.len() + 1];
    for (round, place) in record.rounds.iter().zip(&places.rounds) {
        before[*place].extend(round.asked.iter().map(|asked| asked.raw.as_str()));
        before[*place].extend(round.results.iter().map(String::as_str));
    }
    for (raw, place) in ours(record).zip(&places.calls) {
        before[*place].push(raw);
    }
    before[items.len()].extend(record.results.iter().map(String::as_str));
    let mut edits = Edits::new();
    for (item, more) in items.iter().zip(&before) {
        if !more.is_empty() {
            edits.push((item.0.start..item.0.start, more.join(",") + ","));
        }
    }
    if let (Some(last), Some(more)) = (items.last(), before.last().filter(|more| !more.is_empty())) {
        edits.push((last.0.end..last.0.end, format!(",{}", more.join(","))));
    }
    Some((record, edits))
}

/// Whether an item is the model's.
fn is_models(text: &str) -> bool {
    let Ok(item) = Object::parse(text) else { return false };
    match item.tag("type") {
        Some("message") | None => item.is("role", "assistant"),
        Some(kind) => kind == "reasoning" || kind.ends_with("_call"),
    }
}
