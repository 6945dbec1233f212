//! OpenHands conversations of both generations: the SDK's events (`kind`) and the older ones (`action` and
//! `observation`); as a directory of event files, as lines, as an array, or as the history of an
//! evaluation run.

mod log;
mod sdk;
mod v0;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use crate::document::Document;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::Entry;
use crate::reading::Request;
use crate::records;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;
use crate::time;

use self::log::Log;
use self::log::spelled;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "openhands",
    title: "OpenHands conversations",
    detect,
    read,
    list,
    haunts,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    match &sniff.shape {
        Shape::Directory(names) => detect_directory(names),
        Shape::Lines(records) => Likeness::certain_if(records.iter().any(|record| is_event(record) || is_run(record))),
        Shape::Object(object) => Likeness::certain_if(is_event(object) || is_run(object) || is_state(object)),
        Shape::Array(_) => Likeness::certain_if(sniff.elements().iter().any(is_event)),
        Shape::Empty | Shape::Database(_) | Shape::Text => Likeness::No,
    }
}

fn detect_directory(names: &[String]) -> Likeness {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let is_sdk_file = |name: &String| name.starts_with("event-") && number_of(name).is_some();
    if has("base_state.json") && has("events") || names.iter().any(is_sdk_file) {
        return Likeness::Certain;
    }
    let is_v0_file =
        |name: &String| number_of(name).is_some() && name.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    Likeness::likely_if(has("events") || names.iter().any(is_v0_file))
}

/// The position that an event file's name gives: `event-00012-….json` or `12.json`.
fn number_of(name: &str) -> Option<u64> {
    let stem = name.strip_suffix(".json")?;
    let number = match stem.strip_prefix("event-") {
        Some(rest) => rest.split('-').next()?,
        None => stem,
    };
    number.parse().ok()
}

fn is_event(record: &Object<'_>) -> bool {
    sdk::is_event(record) || v0::is_event(record)
}

/// The line of an evaluation run, or an exported trajectory.
fn is_run(record: &Object<'_>) -> bool {
    let events = history_of(record).unwrap_or_default();
    events.iter().take(20).any(|raw| {
        // The oldest runs pair each action with its observation.
        let pair = json::array(raw).unwrap_or_else(|| vec![*raw]);
        pair.iter()
            .filter_map(|raw| Object::of(raw))
            .any(|event| is_event(&event))
    })
}

fn history_of<'a>(record: &Object<'a>) -> Option<Vec<Raw<'a>>> {
    record.array("history").or_else(|| record.array("trajectory"))
}

/// The state file that stands beside the events.
fn is_state(object: &Object<'_>) -> bool {
    let has_status = object.has("execution_status") || object.has("agent_status");
    object.has("id") && object.has("agent") && has_status
}

fn run_id(record: &Object<'_>, position: u64) -> String {
    let id = record.text("instance_id").or_else(|| record.text("id"));
    id.map_or_else(|| position.to_string(), Into::into)
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    if source.is_directory() {
        return Ok(Vec::new());
    }
    let mut entries = Vec::new();
    records::each(source, |raw, _, _| {
        let Some(record) = Object::of(raw).filter(is_run) else {
            return;
        };
        entries.push(Entry {
            id: run_id(&record, entries.len() as u64),
            title: record.text("instruction").map(|text| text.chars().take(80).collect()),
            updated: None,
            messages: None,
        });
    })?;
    Ok(entries)
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut log = Log::default();
    if source.is_directory() {
        read_directory(source, &mut log)?;
    } else {
        read_file(source, request, &mut log)?;
    }
    if log.is_empty() {
        let names_one = log.about.conversations > 1 && request.session.is_some();
        if names_one {
            return Err(request.not_found(source, || list(source)));
        }
        return Err(ReadError::refused(
            source.name(),
            "there is no message among its events",
        ));
    }
    Ok(log.finish(format, request.history))
}

fn read_file(source: &Source, request: &Request, log: &mut Log) -> Result<(), ReadError> {
    let mut runs = 0;
    let mut chosen = false;
    let mut state = false;
    let findings = records::each(source, |raw, place, findings| {
        let Some(record) = Object::of(raw) else {
            findings.push(Finding::new(Rule::NotARecord, place, "not an object"));
            return;
        };
        if is_event(&record) {
            read_event(&record, place, log, findings);
        } else if is_run(&record) {
            let id = run_id(&record, runs);
            runs += 1;
            if !chosen && request.session.as_deref().is_none_or(|wanted| wanted == id) {
                chosen = true;
                log.about.id = Some(id);
                read_run(&record, log, findings);
            }
        } else if is_state(&record) {
            state = true;
        } else {
            read_event(&record, place, log, findings);
        }
    })?;
    log.about.conversations = runs.max(1);
    log.findings = findings;
    if state && let Some(directory) = source.path().and_then(std::path::Path::parent) {
        return read_directory(&Source::open(directory)?, log);
    }
    Ok(())
}

/// Reads one event of either generation.
fn read_event(record: &Object<'_>, place: Place, log: &mut Log, findings: &mut Vec<Finding>) {
    let id = record.get("id").map(spelled).unwrap_or_default();
    if !log.is_new(&id) {
        findings.push(Finding::new(Rule::DuplicateRecord, place, id));
        return;
    }
    let deed = if record.has("kind") {
        sdk::read(record, place, log, findings)
    } else if record.has("action") || record.has("observation") {
        v0::read(record, &id, place, log, findings)
    } else {
        findings.push(Finding::new(Rule::NotARecord, place, "not an event"));
        None
    };
    log.add(id, place, record.get("timestamp").and_then(time::read), deed);
}

fn read_run(record: &Object<'_>, log: &mut Log, findings: &mut Vec<Finding>) {
    let metadata = record.object("metadata").unwrap_or_default();
    let config = metadata.object("llm_config").or_else(|| metadata.object("llm"));
    log.about.model = config.and_then(|config| config.text("model")).map(Into::into);
    let mut index = 0;
    for raw in history_of(record).unwrap_or_default() {
        for raw in json::array(raw).unwrap_or_else(|| vec![raw]) {
            let place = Place::Item(index);
            index += 1;
            match Object::of(raw) {
                Some(event) => read_event(&event, place, log, findings),
                None => findings.push(Finding::new(Rule::NotARecord, place, "not an object")),
            }
        }
    }
}

fn read_directory(source: &Source, log: &mut Log) -> Result<(), ReadError> {
    read_facts(source, log);
    let inner = source.relative("events").filter(Source::is_directory);
    let events = inner.as_ref().unwrap_or(source);
    // A conversation given by its events directory has its facts one level up.
    if inner.is_none()
        && let Some(parent) = source.path().and_then(std::path::Path::parent)
        && let Ok(parent) = Source::open(parent)
    {
        read_facts(&parent, log);
    }
    let mut files: Vec<_> = events
        .entries()?
        .into_iter()
        .filter_map(|name| number_of(&name).map(|number| (number, name)))
        .collect();
    files.sort();
    for (number, name) in files {
        let place = Place::Item(number);
        let text = events.relative(&name).map(|file| file.text());
        let Some(Ok(text)) = text else {
            log.note(Rule::MissingPiece, place, name);
            continue;
        };
        let mut findings = text.findings;
        match Object::parse(text.text.trim_start_matches(BYTE_ORDER_MARK)) {
            Ok(record) => read_event(&record, place, log, &mut findings),
            Err(cause) => {
                let rule = if cause.is_eof() {
                    Rule::TornRecord
                } else {
                    Rule::BadRecord
                };
                findings.push(Finding::new(rule, place, format!("{name}: {cause}")));
            }
        }
        log.findings.append(&mut findings);
    }
    Ok(())
}

/// What the files beside the events say about the conversation.
fn read_facts(source: &Source, log: &mut Log) {
    let file = |name: &str| source.relative(name)?.text().ok();
    if let Some(text) = file("base_state.json")
        && let Ok(state) = Object::parse(&text.text)
    {
        log.about.id = state.text("id").map(Into::into);
        let model = state
            .object("agent")
            .and_then(|agent| agent.object("llm")?.text("model"));
        log.about.model = model.map(Into::into);
        let workspace = state
            .object("workspace")
            .and_then(|workspace| workspace.text("working_dir"));
        log.about.directory = workspace.map(Into::into);
    }
    for name in ["meta.json", "metadata.json"] {
        if let Some(text) = file(name)
            && let Ok(facts) = Object::parse(&text.text)
        {
            let about = &mut log.about;
            let id = || facts.text("conversation_id").or_else(|| facts.text("id"));
            about.id = about.id.take().or_else(|| id().map(Into::into));
            about.title = facts.text("title").map(Into::into);
            about.model = about.model.take().or_else(|| facts.text("llm_model").map(Into::into));
            about.started = facts.get("created_at").and_then(time::read);
        }
    }
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    // Conversations are directories; what has a dot in its name is a file beside them.
    let is_conversation: fn(&str) -> bool = |below| !below.contains(['/', '.']);
    let root = homes.home.join(".openhands");
    let haunt = |below: &str| Haunt {
        root: root.join(below),
        depth: 0,
        is_session: is_conversation,
    };
    let of_users = Haunt {
        root: root.join("users"),
        depth: 2,
        is_session: |below| below.split('/').nth(1) == Some("conversations") && below.split('/').count() == 3,
    };
    vec![haunt("conversations"), haunt("sessions"), of_users]
}

#[cfg(test)]
#[path = "../openhands_tests.rs"]
mod tests;
