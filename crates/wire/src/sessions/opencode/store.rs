//! opencode's session store: tables of sessions, messages and parts, each with its JSON in `data`.

use std::collections::BTreeMap;
use std::collections::HashMap;

use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use super::projection::Projection;
use super::turns::Conversation;
use super::turns::StoredPart;
use super::turns::Turn;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::json::Object;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::source::Source;
use crate::tables::Tables;
use crate::time;

/// The tables a store has; versions differ.
struct Store {
    tables: Tables,
    /// `message` and `part`.
    has_turns: bool,
    /// `session_message`.
    has_projection: bool,
}

impl Store {
    fn open(source: &Source) -> Result<Self, ReadError> {
        let tables = Tables::open(source)?;
        tables.require("session", &["id"])?;
        let has_projection = !tables.columns("session_message")?.is_empty();
        let has_turns = !tables.columns("message")?.is_empty();
        if has_projection {
            tables.require("session_message", &["session_id", "type", "data"])?;
        }
        if has_turns || !has_projection {
            tables.require("message", &["id", "session_id", "data"])?;
            tables.require("part", &["id", "message_id", "data"])?;
        }
        Ok(Self {
            tables,
            has_turns,
            has_projection,
        })
    }

    /// The columns of a table by which its rows are ordered, as far as it has them.
    fn order(&self, table: &str, wanted: &[&'static str]) -> Result<String, ReadError> {
        let columns = self.tables.columns(table)?;
        let has = |wanted: &&&str| columns.iter().any(|column| column == **wanted);
        let order: Vec<_> = wanted.iter().filter(has).copied().collect();
        Ok(if order.is_empty() {
            "rowid".to_owned()
        } else {
            order.join(", ")
        })
    }

    /// The sessions, newest first, each with whether it belongs to another.
    fn sessions(&self) -> Result<Vec<(Entry, bool)>, ReadError> {
        let mut sizes: BTreeMap<Box<str>, u64> = BTreeMap::new();
        for (table, is_there) in [("message", self.has_turns), ("session_message", self.has_projection)] {
            if !is_there {
                continue;
            }
            let query = format!("SELECT session_id, count(*) AS count FROM {table} GROUP BY session_id");
            self.tables.each(&query, &[], |row| {
                let size = sizes.entry(row.text("session_id").unwrap_or_default()).or_default();
                *size = (*size).max(row.number("count").unwrap_or(0.0) as u64);
                Ok(())
            })?;
        }
        let mut sessions = Vec::new();
        self.tables.each("SELECT * FROM session", &[], |row| {
            let id = row.text("id").unwrap_or_default();
            let entry = Entry {
                title: row.words("title").map(String::from),
                updated: row
                    .number("time_updated")
                    .or(row.number("time_created"))
                    .map(time::from_number),
                messages: Some(sizes.get(&id).copied().unwrap_or(0)),
                id: id.into(),
            };
            sessions.push((entry, row.words("parent_id").is_some()));
            Ok(())
        })?;
        sessions.sort_by(|(a, _), (b, _)| (b.updated, &b.id).cmp(&(a.updated, &a.id)));
        Ok(sessions)
    }

    /// Whether the newer table is the one to read: the older has nothing that it lacks, and it has more.
    fn prefers_projection(&self, id: &str, reading: &mut Reading) -> Result<bool, ReadError> {
        if !self.has_turns || !self.has_projection {
            return Ok(self.has_projection);
        }
        let only_in = |one: &str, other: &str, kinds: &str| {
            format!(
                "SELECT count(*) FROM {one} WHERE session_id = ?1 {kinds}
                 AND id NOT IN (SELECT id FROM {other} WHERE session_id = ?1)"
            )
        };
        let kinds = "AND type IN ('user', 'assistant')";
        let newer = self
            .tables
            .count(&only_in("session_message", "message", kinds), &[id])?;
        if newer == 0 {
            return Ok(false);
        }
        let older = self.tables.count(&only_in("message", "session_message", ""), &[id])?;
        if older > 0 {
            let detail = format!("{newer} messages stand only in the table session_message, which was not read");
            reading.note(Rule::MissingPiece, Place::Whole, detail);
        }
        Ok(older == 0)
    }
}

/// The sessions of a store, newest first.
pub fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let sessions = Store::open(source)?.sessions()?;
    Ok(sessions.into_iter().map(|(entry, _)| entry).collect())
}

/// Reads the session that is asked for, or the newest that is nobody's subagent and not empty.
pub fn read(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let store = Store::open(source)?;
    let sessions = store.sessions()?;
    let chosen = match &request.session {
        Some(wanted) => sessions.iter().find(|(entry, _)| entry.id == *wanted),
        None => {
            let is_main = |(entry, is_child): &&(Entry, bool)| !is_child && entry.messages != Some(0);
            sessions.iter().find(is_main).or(sessions.first())
        }
    };
    let Some((entry, _)) = chosen else {
        return Err(request.not_found(source, || list(source)));
    };
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = store.tables.findings.clone();
    reading.about.conversations = sessions.len() as u64;
    reading.about.id = Some(entry.id.clone());
    let mut revert = None;
    store
        .tables
        .each("SELECT * FROM session WHERE id = ?1", &[&entry.id], |row| {
            let about = &mut reading.about;
            about.title = row.words("title").map(String::from);
            about.directory = row.words("directory").map(String::from);
            about.version = row.words("version").map(String::from);
            about.parent = row.words("parent_id").map(String::from);
            about.started = row.number("time_created").map(time::from_number);
            about.ended = row.number("time_updated").map(time::from_number);
            let model = row.words("model").unwrap_or_default();
            about.model = Object::parse(&model).ok().and_then(|model| super::model_of(&model));
            revert = row.words("revert");
            Ok(())
        })?;
    let revert = revert.unwrap_or_default();
    let revert = Object::parse(&revert).ok();
    if store.prefers_projection(&entry.id, &mut reading)? {
        return read_projection(&store, &entry.id, reading, revert.as_ref(), request);
    }
    let mut conversation = Conversation::new(reading, revert.as_ref());
    read_turns(&store, &entry.id, &mut conversation)?;
    Ok(conversation.finish(request.history))
}

fn read_turns(store: &Store, id: &str, conversation: &mut Conversation) -> Result<(), ReadError> {
    let mut parts: HashMap<Box<str>, Vec<StoredPart>> = HashMap::new();
    let query = "SELECT id, message_id, data FROM part
        WHERE message_id IN (SELECT id FROM message WHERE session_id = ?1) ORDER BY message_id, id";
    store.tables.each(query, &[id], |row| {
        let message = row.text("message_id").unwrap_or_default();
        parts.entry(message).or_default().push(StoredPart {
            id: row.text("id").unwrap_or_default(),
            json: row.text("data").unwrap_or_default(),
        });
        Ok(())
    })?;
    let order = store.order("message", &["time_created", "id"])?;
    let query = format!("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY {order}");
    let mut index = 0;
    store.tables.each(&query, &[id], |row| {
        let message = row.text("id").unwrap_or_default();
        let parts = parts.remove(&message).unwrap_or_default();
        let json = row.text("data").unwrap_or_default();
        let place = Place::Item(index);
        if row.is_damaged() {
            conversation.note(Rule::InvalidUtf8, place, "");
        }
        conversation.add(Turn::new(place, Some(message), json, parts));
        index += 1;
        Ok(())
    })
}

fn read_projection(
    store: &Store,
    id: &str,
    reading: Reading,
    revert: Option<&Object<'_>>,
    request: &Request,
) -> Result<Reading, ReadError> {
    let mut projection = Projection::new(reading);
    let reverted = revert.and_then(|revert| revert.text("messageID"));
    let order = store.order("session_message", &["seq", "id"])?;
    let query = format!("SELECT * FROM session_message WHERE session_id = ?1 ORDER BY {order}");
    let mut index = 0;
    let mut is_reverted = false;
    store.tables.each(&query, &[id], |row| {
        let place = Place::Item(index);
        index += 1;
        is_reverted |= reverted.is_some() && row.text("id") == reverted;
        if is_reverted {
            projection.note(Rule::Abandoned, place, "reverted");
            return Ok(());
        }
        let kind = row.text("type").unwrap_or_default();
        let json = row.text("data").unwrap_or_default();
        if row.is_damaged() {
            projection.note(Rule::InvalidUtf8, place, "");
        }
        projection.add(&kind, &json, place);
        Ok(())
    })?;
    Ok(projection.finish(request.history))
}
