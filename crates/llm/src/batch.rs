//! Batches: requests as files that a provider takes in one go, for about half the price, and the answers read back.
//!
//! OpenAI's files hold `{"custom_id","method","url","body"}` a line, Anthropic's `{"custom_id","params"}`; a file holds
//! requests to one model. Results come in any order, some of them as errors, some not at all: whatever the files hold,
//! every request gets an answer or a failure of its own, in the order in which the requests were made.
//!
//! Neither form lets requests of a file share a text: every line is a whole request, and the same long beginning stands in each. What
//! can be done is that the provider reads it once: requests that begin alike stand one after the other, which is all that OpenAI's
//! cache asks for, and Anthropic's carry a mark behind what they share.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use mainstay_engine::json;
use mainstay_engine::json::Object;
use mainstay_wire::reading::WireForm;

use crate::answer::Answer;
use crate::complaint::Complaint;
use crate::error::Cause;
use crate::error::Failure;
use crate::error::Trouble;
use crate::forms;
use crate::forms::Delivery;
use crate::model::Model;
use crate::prompt::Prompt;

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What the result is found by: 1 to 64 letters, digits, hyphens and underscores, unique; see [`id`].
    pub id: &'a str,
    /// Whom it asks.
    pub model: &'a Model,
    /// What it asks.
    pub prompt: &'a Prompt,
}

/// A file to hand in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    /// Its form.
    pub form: WireForm,
    /// The model that all its requests ask, as the endpoint calls it.
    pub model: String,
    /// Its lines.
    pub content: String,
    /// How many requests it holds.
    pub requests: usize,
}

/// Why requests cannot be written as files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// An id that providers refuse.
    #[error("{id:?} cannot be the id of a batched request: 1 to 64 letters, digits, hyphens and underscores")]
    BadId {
        /// The id.
        id: String,
    },
    /// The same id twice.
    #[error("two batched requests have the id {id}")]
    SameId {
        /// The id.
        id: String,
    },
    /// A request that is larger than a whole file may be.
    #[error("the request {id} is larger than a batch file may be")]
    TooLarge {
        /// The id.
        id: String,
    },
}

/// The longest id that Anthropic takes.
const LONGEST_ID: usize = 64;

/// How many requests and bytes a provider takes in a file, as documented: OpenAI 50,000 and 200 MB, Anthropic 100,000 and
/// 256 MB. A megabyte is a million bytes here, which both readings of the word allow.
fn most(form: WireForm) -> (usize, usize) {
    match form {
        WireForm::Chat | WireForm::Responses => (50_000, 200_000_000),
        WireForm::Anthropic => (100_000, 256_000_000),
    }
}

/// An id for a label of any length and script: the label itself where that will do, else its fit characters and a hash.
pub fn id(label: &str) -> String {
    if is_fit(label) {
        return label.to_owned();
    }
    let hash = blake3::hash(label.as_bytes()).to_hex();
    let fit = label.chars().map(|c| if is_fit_character(c) { c } else { '-' });
    // 20 digits of the hash, a hyphen, and what is left of the label.
    let short: String = fit.take(LONGEST_ID - 21).collect();
    format!("{short}-{}", &hash[..20])
}

fn is_fit(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(is_fit_character)
}

fn is_fit_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Writes requests as files, those to one model together, as many files as the providers' limits demand.
pub fn write(requests: &[Request<'_>]) -> Result<Vec<BatchFile>, BatchError> {
    write_within(requests, most)
}

fn write_within(
    requests: &[Request<'_>],
    most: impl Fn(WireForm) -> (usize, usize),
) -> Result<Vec<BatchFile>, BatchError> {
    let mut files: Vec<BatchFile> = Vec::new();
    let mut open: BTreeMap<(&'static str, &str), usize> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    let mut requests: Vec<&Request<'_>> = requests.iter().collect();
    requests.sort_by_key(|request| (request.prompt.system.as_str(), opening(request)));
    for (place, request) in requests.iter().enumerate() {
        let id = || request.id.to_owned();
        if !is_fit(request.id) {
            return Err(BatchError::BadId { id: id() });
        }
        if !ids.insert(request.id) {
            return Err(BatchError::SameId { id: id() });
        }
        let form = request.model.endpoint.form;
        let neighbours = [place.checked_sub(1), Some(place + 1)];
        let neighbours = neighbours.into_iter().flatten().filter_map(|place| requests.get(place));
        let shared = neighbours.map(|other| shared_bytes(request, other)).max().unwrap_or(0);
        let line = line(request, shared);
        let (most_requests, most_bytes) = most(form);
        if line.len() > most_bytes {
            return Err(BatchError::TooLarge { id: id() });
        }
        let place = (form.name(), request.model.id.as_str());
        let current = open.get(&place).copied().filter(|index| {
            let file = &files[*index];
            file.requests < most_requests && file.content.len() + line.len() <= most_bytes
        });
        let index = current.unwrap_or(files.len());
        if index == files.len() {
            files.push(BatchFile {
                form,
                model: request.model.id.clone(),
                content: String::new(),
                requests: 0,
            });
            open.insert(place, index);
        }
        files[index].content.push_str(&line);
        files[index].requests += 1;
    }
    Ok(files)
}

/// The text of the first turn, by which requests that begin alike come together.
fn opening<'a>(request: &Request<'a>) -> &'a str {
    request.prompt.turns.first().map_or("", |(_, text)| text)
}

/// A shorter beginning is not worth a mark: Anthropic caches from 1,024 tokens on, some four bytes each.
const LEAST_SHARED: usize = 4_096;

/// How many bytes of its first turn a request shares with another to the same model: whole paragraphs, so that all requests which
/// share a text are cut at the same place, however their last paragraphs begin.
fn shared_bytes(request: &Request<'_>, other: &Request<'_>) -> usize {
    let is_alike = request.model.id == other.model.id && request.prompt.system == other.prompt.system;
    if !is_alike {
        return 0;
    }
    let (one, two) = (opening(request), opening(other));
    let same = one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count();
    let paragraph = one.as_bytes()[..same].windows(2).rposition(|two| two == b"\n\n");
    let end = paragraph.map_or(0, |at| at + 2);
    if end < LEAST_SHARED { 0 } else { end }
}

fn line(request: &Request<'_>, shared: usize) -> String {
    let form = request.model.endpoint.form;
    let id = json::quote(request.id);
    let body = match form {
        WireForm::Anthropic if shared > 0 => forms::body_sharing(request.model, request.prompt, shared),
        _ => forms::body_delivered(request.model, request.prompt, Delivery::Whole),
    };
    match form {
        WireForm::Chat | WireForm::Responses => {
            let url = format!("/v1{}", forms::path(form));
            format!("{{\"custom_id\":{id},\"method\":\"POST\",\"url\":\"{url}\",\"body\":{body}}}\n")
        }
        WireForm::Anthropic => format!("{{\"custom_id\":{id},\"params\":{body}}}\n"),
    }
}

/// What came back.
#[derive(Debug)]
pub struct Results {
    /// For each request, in their order, its answer or why there is none.
    pub outcomes: Vec<Result<Answer, Failure>>,
    /// Ids of results that nobody asked for.
    pub strangers: Vec<String>,
    /// How many lines are no result at all.
    pub unreadable: usize,
}

/// Reads the files that came back: results and, where the provider gives them apart, errors.
pub fn read(requests: &[Request<'_>], files: &[&str]) -> Results {
    let known: BTreeSet<&str> = requests.iter().map(|request| request.id).collect();
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut strangers = BTreeSet::new();
    let mut unreadable = 0;
    let lines = files.iter().flat_map(|file| file.lines()).map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        let id = Object::parse(line).ok().and_then(|object| object.text("custom_id"));
        match id.map(String::from) {
            None => unreadable += 1,
            Some(id) if !known.contains(id.as_str()) => {
                strangers.insert(id);
            }
            Some(id) => {
                let lines = found.entry(id).or_default();
                // The same file given twice says nothing new, and two results that differ are as bad as a thousand.
                if lines.len() < 2 && !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
    }
    let outcome = |request: &Request<'_>| {
        let lines = found.get(request.id).map_or(&[][..], Vec::as_slice);
        let result = match lines {
            [] => Err(Trouble::new(Cause::NotRun, missing(unreadable))),
            [line] => read_line(request.model.endpoint.form, line),
            _ => Err(Trouble::malformed(format!(
                "there are {} different results",
                lines.len()
            ))),
        };
        result.map_err(|trouble| Failure::new(request.model, trouble))
    };
    Results {
        outcomes: requests.iter().map(outcome).collect(),
        strangers: strangers.into_iter().collect(),
        unreadable,
    }
}

fn missing(unreadable: usize) -> String {
    match unreadable {
        0 => "there is no result for it".to_owned(),
        count => format!("there is no result for it, and {count} lines could not be read"),
    }
}

fn read_line(form: WireForm, line: &str) -> Result<Answer, Trouble> {
    let Ok(object) = Object::parse(line) else {
        return Err(Trouble::malformed("its result is no JSON object"));
    };
    match form {
        WireForm::Chat | WireForm::Responses => read_openai(form, &object),
        WireForm::Anthropic => read_anthropic(&object),
    }
}

fn read_openai(form: WireForm, object: &Object<'_>) -> Result<Answer, Trouble> {
    if let Some(error) = object.object("error") {
        let complaint = Complaint::of(&error);
        let ended = ["batch_expired", "batch_cancelled", "request_timeout"];
        if complaint.codes.iter().any(|code| ended.contains(&code.as_str())) {
            return Err(Trouble::new(Cause::NotRun, complaint.message));
        }
        return Err(complaint.trouble(None));
    }
    let Some(response) = object.object("response") else {
        return Err(Trouble::malformed("its result has neither response nor error"));
    };
    let status = response
        .count("status_code")
        .and_then(|status| u16::try_from(status).ok());
    let body = response.get("body").map_or("", |raw| raw.get());
    match status {
        Some(200..=299) => forms::read_whole(form, body),
        Some(status) => Err(Complaint::read(body).trouble(Some(status))),
        None => Err(Trouble::malformed("its response has no status")),
    }
}

fn read_anthropic(object: &Object<'_>) -> Result<Answer, Trouble> {
    let Some(result) = object.object("result") else {
        return Err(Trouble::malformed("its line has no result"));
    };
    match result.tag("type") {
        Some("succeeded") => {
            let message = result.get("message").map_or("", |raw| raw.get());
            forms::read_whole(WireForm::Anthropic, message)
        }
        Some("errored") => {
            let complaint = result.object("error").map(|error| Complaint::of(&error));
            Err(complaint.unwrap_or_default().trouble(None))
        }
        Some(ended @ ("canceled" | "expired")) => Err(Trouble::new(Cause::NotRun, ended)),
        other => Err(Trouble::malformed(format!(
            "its result is of no known type: {}",
            other.unwrap_or("none")
        ))),
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
