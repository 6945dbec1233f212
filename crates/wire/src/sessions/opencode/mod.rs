//! opencode: its session store (`opencode*.db`), the older directory of JSON files, and exported sessions.
//!
//! A session is a list of turns, each with its parts. A compaction is a user turn with a `compaction` part
//! and the summarising answer to it; nothing before them is sent any more except a tail that they name.
//! Old tool outputs are cleared by a mark and stay stored.

mod parts;
mod projection;
mod storage;
mod store;
mod times;
mod turns;

#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use crate::body::Body;
use crate::body::document_text;
use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::json::Object;
use crate::reading::About;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::Source;
use crate::time;
use storage::Storage;
use turns::Conversation;
use turns::StoredPart;
use turns::Turn;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "opencode",
    title: "opencode",
    detect,
    read,
    list,
    haunts,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    match &sniff.shape {
        Shape::Database(_) => {
            let has_parts = sniff.has_columns("message", &["session_id", "data"])
                && sniff.has_columns("part", &["message_id", "data"]);
            let has_projection = sniff.has_columns("session_message", &["session_id", "type", "data"]);
            Likeness::certain_if(sniff.has_columns("session", &["id"]) && (has_parts || has_projection))
        }
        Shape::Directory(names) => {
            let has = |wanted: &str| names.iter().any(|name| name == wanted);
            if has("session") && has("message") {
                Likeness::Certain
            } else {
                Likeness::likely_if(names.iter().any(|name| is_store(name)) || has("storage"))
            }
        }
        Shape::Object(object) => Likeness::certain_if(is_export(object) || is_session_file(object)),
        Shape::Empty | Shape::Lines(_) | Shape::Array(_) | Shape::Text => Likeness::No,
    }
}

/// `{"info": {"id": "ses_…"}, "messages": [{"info", "parts"}]}`
fn is_export(object: &Object<'_>) -> bool {
    let Some(messages) = object.array("messages") else {
        return false;
    };
    match messages.first() {
        Some(first) => Object::of(first).is_some_and(|turn| turn.has("info") && turn.has("parts")),
        None => object.object("info").is_some_and(|info| has_session_id(&info)),
    }
}

fn is_session_file(object: &Object<'_>) -> bool {
    has_session_id(object) && (object.has("time") || object.has("directory")) && !object.has("role")
}

fn has_session_id(object: &Object<'_>) -> bool {
    object.text("id").is_some_and(|id| id.starts_with("ses"))
}

/// Whether a file is named like the store; builds of other channels have their own.
fn is_store(name: &str) -> bool {
    name.starts_with("opencode") && name.ends_with(".db")
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let reading = match place_of(source)? {
        Home::Store(store) => store::read(store.as_ref().unwrap_or(source), request)?,
        Home::Storage(storage) => storage.read(source, request)?,
        Home::Export => read_export(source, request)?,
    };
    Ok(reading.finish(format))
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    match place_of(source)? {
        Home::Store(store) => store::list(store.as_ref().unwrap_or(source)),
        Home::Storage(storage) => storage.list(),
        Home::Export => Ok(Vec::new()),
    }
}

/// What a source leads to.
enum Home {
    /// A store: the source itself, or one inside the directory it is.
    Store(Option<Source>),
    Storage(Storage),
    Export,
}

fn place_of(source: &Source) -> Result<Home, ReadError> {
    if source.is_directory() {
        let names = source.entries()?;
        if names.iter().any(|name| name == "session") && names.iter().any(|name| name == "message") {
            return Ok(Home::Storage(Storage::new(source, "")));
        }
        // The plainly named one is the released program's.
        let stores = names.iter().filter(|name| is_store(name));
        if let Some(name) = stores.min_by_key(|name| name.len()) {
            return Ok(Home::Store(source.relative(name)));
        }
        if names.iter().any(|name| name == "storage") {
            return Ok(Home::Storage(Storage::new(source, "storage/")));
        }
        return Err(ReadError::refused(
            source.name(),
            "there are no opencode sessions in it",
        ));
    }
    if source.is_database()? {
        return Ok(Home::Store(None));
    }
    let text = document_text(source)?.0;
    let object = Object::parse(text.trim_start_matches(crate::source::BYTE_ORDER_MARK)).unwrap_or_default();
    if is_session_file(&object) && !object.has("messages") {
        let id = object.text("id").unwrap_or_default();
        return Ok(Home::Storage(Storage::of_session(source, &id)));
    }
    Ok(Home::Export)
}

fn read_export(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let (text, findings) = document_text(source)?;
    let body = Body::find(source.name(), &text, "messages")?;
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = findings;
    let session = body.around.object("info").unwrap_or_default();
    read_about(&session, &mut reading.about);
    let id = reading.about.id.clone().unwrap_or_default();
    if request.session.as_ref().is_some_and(|wanted| *wanted != id) {
        return Err(request.not_found(source, || Ok(vec![Entry { id, ..Entry::default() }])));
    }
    let revert = session.object("revert");
    let mut conversation = Conversation::new(reading, revert.as_ref());
    for (index, raw) in (0..).zip(&body.elements) {
        let place = Place::Item(index);
        let object = Object::of(raw).unwrap_or_default();
        match object.get("info") {
            Some(info) => {
                let parts = object.array("parts").unwrap_or_default();
                let parts = parts.iter().map(|raw| StoredPart {
                    id: Object::of(raw).and_then(|part| part.text("id")).unwrap_or_default(),
                    json: raw.get().into(),
                });
                conversation.add(Turn::new(place, None, info.get().into(), parts.collect()));
            }
            None => conversation.note(Rule::NotARecord, place, "a message without info"),
        }
    }
    Ok(conversation.finish(request.history))
}

/// Reads what a session's own object says about it.
fn read_about(session: &Object<'_>, about: &mut About) {
    about.id = session.text("id").map(String::from);
    about.title = session.text("title").map(String::from);
    about.directory = session.text("directory").map(String::from);
    about.version = session.text("version").map(String::from);
    about.parent = session.text("parentID").map(String::from);
    let times = session.object("time").unwrap_or_default();
    about.started = times.get("created").and_then(time::read);
    about.ended = times.get("updated").and_then(time::read);
    about.model = session.object("model").and_then(|model| model_of(&model));
}

/// The name of a model in one of opencode's spellings.
fn model_of(object: &Object<'_>) -> Option<Arc<str>> {
    let name = object.text("modelID").or_else(|| object.text("id"))?;
    Some(Arc::from(name))
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    let own = homes.variables.get("OPENCODE_DATA_DIR").cloned();
    let root = own.unwrap_or_else(|| homes.data().join("opencode"));
    vec![
        Haunt {
            root: root.clone(),
            depth: 0,
            is_session: is_store,
        },
        Haunt {
            root: root.join("storage/session"),
            depth: 1,
            is_session: |below| below.ends_with(".json") && below.contains("/ses"),
        },
    ]
}
