//! goose: its session store (`sessions.db`), the older line files, and exported sessions.
//!
//! A compaction does not delete: it hides the rows it summarised from the model (`agentVisible` false) and
//! adds a summary that is hidden from the user. The live view is what the model may see.

mod content;
mod rows;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Usage;

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
use crate::tables::Fields;
use crate::tables::Tables;
use crate::time;
use rows::Row;
use rows::Rows;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "goose",
    title: "goose",
    detect,
    read,
    list,
    haunts,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    if let Shape::Database(_) = sniff.shape {
        return Likeness::certain_if(sniff.has_columns("messages", &["session_id", "role", "content_json"]));
    }
    if let Some(object) = sniff.object()
        && object.has("conversation")
    {
        return Likeness::certain_if(object.has("working_dir"));
    }
    let is_header = |record: &Object<'_>| {
        record.has("working_dir") && record.has("message_count") && !record.has("role") && !record.has("type")
    };
    if sniff.any_record(is_header) || sniff.any_record(has_own_content) {
        return Likeness::Certain;
    }
    let is_message =
        |record: &Object<'_>| record.has("role") && record.has("created") && record.array("content").is_some();
    Likeness::likely_if(sniff.any_record(is_message))
}

/// Whether a message has content of a type that only goose writes.
fn has_own_content(record: &Object<'_>) -> bool {
    let items = record.array("content").unwrap_or_default();
    record.has("role")
        && items
            .iter()
            .filter_map(|raw| Object::of(raw))
            .any(|item| item.tag("type").is_some_and(content::is_own_type))
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let reading = if source.is_database()? {
        read_store(source, request)?
    } else {
        let text = document_text(source)?.0;
        match Body::find(source.name(), &text, "conversation") {
            Ok(body) if body.around.has("conversation") => read_export(source, request, &body)?,
            Ok(_) | Err(_) => read_lines(source, request)?,
        }
    };
    Ok(reading.finish(format))
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    if !source.is_database()? {
        return Ok(Vec::new());
    }
    let store = open(source)?;
    Ok(sessions(&store)?.into_iter().map(|(entry, _)| entry).collect())
}

fn open(source: &Source) -> Result<Tables, ReadError> {
    let store = Tables::open(source)?;
    store.require("sessions", &["id"])?;
    store.require("messages", &["id", "session_id", "role", "content_json"])?;
    Ok(store)
}

/// The sessions of a store, newest first, each with whether a user opened it.
fn sessions(store: &Tables) -> Result<Vec<(Entry, bool)>, ReadError> {
    let mut sizes: BTreeMap<Box<str>, u64> = BTreeMap::new();
    let query = "SELECT session_id, count(*) AS count FROM messages GROUP BY session_id";
    store.each(query, &[], |row| {
        let size = row.number("count").unwrap_or(0.0) as u64;
        sizes.insert(row.text("session_id").unwrap_or_default(), size);
        Ok(())
    })?;
    let mut sessions = Vec::new();
    store.each("SELECT * FROM sessions", &[], |row| {
        let id = row.text("id").unwrap_or_default();
        let kind = row.text("session_type").unwrap_or_default();
        let is_user = !matches!(kind.as_ref(), "sub_agent" | "hidden");
        let entry = Entry {
            title: title_of(row),
            updated: time_of(row, "updated_at").or_else(|| time_of(row, "created_at")),
            messages: Some(sizes.get(&id).copied().unwrap_or(0)),
            id: id.into(),
        };
        sessions.push((entry, is_user));
        Ok(())
    })?;
    sessions.sort_by(|(a, _), (b, _)| (b.updated, &b.id).cmp(&(a.updated, &a.id)));
    Ok(sessions)
}

fn title_of(row: &Fields<'_>) -> Option<String> {
    let title = row.words("name").or_else(|| row.words("description"));
    title.map(String::from)
}

fn time_of(row: &Fields<'_>, column: &str) -> Option<Timestamp> {
    match row.number(column) {
        Some(number) => Some(time::from_number(number)),
        None => time::parse(&row.text(column)?),
    }
}

fn read_store(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let store = open(source)?;
    let sessions = sessions(&store)?;
    let chosen = match &request.session {
        Some(wanted) => sessions.iter().find(|(entry, _)| entry.id == *wanted),
        None => {
            let is_main = |(entry, is_user): &&(Entry, bool)| *is_user && entry.messages != Some(0);
            sessions.iter().find(is_main).or(sessions.first())
        }
    };
    let Some((entry, _)) = chosen else {
        return Err(request.not_found(source, || list(source)));
    };
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = store.findings.clone();
    reading.about.conversations = sessions.len() as u64;
    reading.about.id = Some(entry.id.clone());
    let mut usage = None;
    store.each("SELECT * FROM sessions WHERE id = ?1", &[&entry.id], |row| {
        usage = read_about(row, &mut reading.about);
        Ok(())
    })?;
    let has_times = store
        .columns("messages")?
        .iter()
        .any(|column| column == "created_timestamp");
    // A summary of one tool call is stored late but dated like the call it replaces.
    let order = if has_times { "created_timestamp, id" } else { "id" };
    let query = format!("SELECT * FROM messages WHERE session_id = ?1 ORDER BY {order}");
    let mut rows = Rows::new(reading);
    let mut index = 0;
    store.each(&query, &[&entry.id], |row| {
        rows.add(row_of(row, Place::Item(index)));
        if row.is_damaged() {
            rows.note(Rule::InvalidUtf8, Place::Item(index), "");
        }
        index += 1;
        Ok(())
    })?;
    rows.usage = usage;
    Ok(rows.finish(request.history))
}

/// Reads the session's own row; yields what the provider reported for the last request.
fn read_about(row: &Fields<'_>, about: &mut About) -> Option<Usage> {
    about.title = title_of(row);
    about.directory = row.words("working_dir").map(String::from);
    about.started = time_of(row, "created_at");
    let settings = row.words("model_config_json").unwrap_or_default();
    if let Ok(settings) = Object::parse(&settings) {
        about.model = settings.text("model_name").map(Arc::from);
        about.window = settings.count("context_limit");
    }
    let count = |column: &str| {
        row.number(column)
            .filter(|count| *count > 0.0)
            .map(|count| count as u64)
    };
    Some(Usage {
        input: count("input_tokens")?,
        output: count("output_tokens").unwrap_or(0),
        window: about.window,
        ..Usage::default()
    })
}

fn row_of(row: &Fields<'_>, place: Place) -> Row {
    let metadata = row.words("metadata_json").unwrap_or_default();
    let metadata = Object::parse(&metadata).unwrap_or_default();
    Row::new(
        place,
        row.text("role").unwrap_or_default(),
        row.words("message_id"),
        row.number("created_timestamp").map(time::from_number),
        row.text("content_json").unwrap_or_default(),
        &metadata,
    )
}

/// A message of a line file or an export.
fn row_of_message(message: &Object<'_>, place: Place) -> Row {
    Row::new(
        place,
        message.text("role").unwrap_or_default(),
        message.text("id"),
        message.get("created").and_then(time::read),
        message.get("content").map_or("[]", |raw| raw.get()).into(),
        &message.object("metadata").unwrap_or_default(),
    )
}

fn read_header(header: &Object<'_>, about: &mut About) {
    let title = header.text("name").filter(|name| !name.is_empty());
    about.title = title.or_else(|| header.text("description")).map(String::from);
    about.directory = header.text("working_dir").map(String::from);
    about.started = header.get("created_at").and_then(time::read);
    let settings = header.object("model_config").unwrap_or_default();
    about.model = settings.text("model_name").map(Arc::from);
    about.window = settings.count("context_limit");
}

fn read_export(source: &Source, request: &Request, body: &Body<'_>) -> Result<Reading, ReadError> {
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = document_text(source)?.1;
    reading.about.id = body.around.text("id").map(String::from);
    read_header(&body.around, &mut reading.about);
    let mut rows = Rows::new(reading);
    for (index, raw) in (0..).zip(&body.elements) {
        match Object::of(raw) {
            Some(message) => rows.add(row_of_message(&message, Place::Item(index))),
            None => rows.note(Rule::NotARecord, Place::Item(index), "a message that is not an object"),
        }
    }
    Ok(rows.finish(request.history))
}

fn read_lines(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let file = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    let mut reading = Reading::new(WireForm::Chat);
    reading.about.id = Some(file.strip_suffix(".jsonl").unwrap_or(file).to_owned());
    let mut header = About::default();
    let mut rows = Rows::new(reading);
    let mut lines = source.lines()?;
    while lines.advance()? {
        let place = lines.place();
        for raw in lines.records() {
            match Object::of(raw) {
                Some(message) if message.has("role") => rows.add(row_of_message(&message, place)),
                Some(record) if record.has("working_dir") => read_header(&record, &mut header),
                Some(_) | None => rows.note(Rule::NotARecord, place, "no role"),
            }
        }
    }
    if rows.is_empty() {
        return Err(ReadError::refused(source.name(), "there is no message in it"));
    }
    rows.describe(header, lines.findings);
    Ok(rows.finish(request.history))
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    let is_session = |below: &str| below == "sessions.db" || below.ends_with(".jsonl");
    let roots = match homes.variables.get("GOOSE_PATH_ROOT") {
        Some(root) => vec![root.join("data/sessions")],
        None => vec![
            homes.data().join("goose/sessions"),
            homes.home.join("Library/Application Support/goose/sessions"),
        ],
    };
    let haunt = |root| Haunt {
        root,
        depth: 0,
        is_session,
    };
    roots.into_iter().map(haunt).collect()
}
