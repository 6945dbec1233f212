//! Hermes' session store, `state.db`.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::Timestamp;

use super::Boundary;
use super::note_summary;
use super::settle_author;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::quote;
use crate::openai_chat;
use crate::reading::Entry;
use crate::reading::History;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::source::Source;
use crate::tables::Fields;
use crate::tables::Tables;
use crate::time;

/// What stands before content that is JSON, not text.
const STRUCTURED: &str = "\0json:";

/// The sessions of a store, the one that was written to last first.
pub fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let store = open(source)?;
    Ok(sessions(&store)?.into_iter().map(|session| session.entry).collect())
}

fn open(source: &Source) -> Result<Tables, ReadError> {
    let store = Tables::open(source)?;
    store.require("sessions", &["id"])?;
    store.require("messages", &["id", "session_id", "role", "content"])?;
    Ok(store)
}

/// A session of the list, with what decides whether it is the one a user means.
struct Session {
    entry: Entry,
    is_subagent: bool,
}

fn sessions(store: &Tables) -> Result<Vec<Session>, ReadError> {
    let has_times = store.columns("messages")?.iter().any(|column| column == "timestamp");
    let newest = if has_times { "max(timestamp)" } else { "NULL" };
    let query = format!("SELECT session_id, count(*) AS count, {newest} AS newest FROM messages GROUP BY session_id");
    let mut sizes: BTreeMap<Box<str>, (u64, Option<Timestamp>)> = BTreeMap::new();
    store.each(&query, &[], |row| {
        let size = row.number("count").unwrap_or(0.0) as u64;
        let newest = row.number("newest").map(time::from_number);
        sizes.insert(row.text("session_id").unwrap_or_default(), (size, newest));
        Ok(())
    })?;
    let mut sessions = Vec::new();
    store.each("SELECT * FROM sessions", &[], |row| {
        let id = row.text("id").unwrap_or_default();
        let (size, newest) = sizes.get(&id).copied().unwrap_or_default();
        let written = newest.or_else(|| {
            row.number("ended_at")
                .or(row.number("started_at"))
                .map(time::from_number)
        });
        sessions.push(Session {
            is_subagent: row.text("source").is_some_and(|source| source.as_ref() == "subagent"),
            entry: Entry {
                id: id.into(),
                title: title_of(row),
                updated: written,
                messages: Some(size),
            },
        });
        Ok(())
    })?;
    sessions.sort_by(|a, b| (b.entry.updated, &b.entry.id).cmp(&(a.entry.updated, &a.entry.id)));
    Ok(sessions)
}

fn title_of(row: &Fields<'_>) -> Option<String> {
    let title = row.words("title").or_else(|| row.words("display_name"));
    title.map(String::from)
}

/// Reads the session that is asked for, or the newest that is not a subagent's and not empty.
pub fn read(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let store = open(source)?;
    let sessions = sessions(&store)?;
    let count = sessions.len() as u64;
    let chosen = match &request.session {
        Some(wanted) => sessions.iter().find(|session| session.entry.id == *wanted),
        None => {
            let is_main = |session: &&Session| !session.is_subagent && session.entry.messages != Some(0);
            sessions.iter().find(is_main).or(sessions.first())
        }
    };
    let Some(chosen) = chosen else {
        return Err(request.not_found(source, || list(source)));
    };
    let id = chosen.entry.id.clone();
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = store.findings.clone();
    reading.about.conversations = count;
    let prompt = read_about(&store, &id, &mut reading)?;
    let mut rows = Rows::new(request.history, reading);
    if let Some(prompt) = prompt {
        rows.prompt(prompt);
    }
    let twins = Twins::find(&store, &id)?;
    let query = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY id";
    let mut index = 0;
    store.each(query, &[&id], |row| {
        rows.read(row, Place::Item(index), &twins);
        index += 1;
        Ok(())
    })?;
    Ok(rows.finish())
}

/// Reads the session's own row; yields its system prompt.
fn read_about(store: &Tables, id: &str, reading: &mut Reading) -> Result<Option<Box<str>>, ReadError> {
    let mut prompt = None;
    store.each("SELECT * FROM sessions WHERE id = ?1", &[id], |row| {
        let about = &mut reading.about;
        about.id = Some(id.to_owned());
        about.title = title_of(row);
        about.directory = row
            .words("cwd")
            .or_else(|| row.words("git_repo_root"))
            .map(String::from);
        about.model = row.words("model").map(Arc::from);
        about.parent = row.words("parent_session_id").map(String::from);
        about.started = row.number("started_at").map(time::from_number);
        let settings = row.words("model_config").unwrap_or_default();
        about.window = Object::parse(&settings)
            .ok()
            .and_then(|settings| settings.count("context_length"));
        prompt = row.words("system_prompt");
        Ok(())
    })?;
    Ok(prompt)
}

/// What became of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Active,
    /// Summarised away by a compaction.
    Compacted,
    /// Taken back by the user, or superseded by a copy.
    Hidden,
}

fn standing_of(row: &Fields<'_>) -> Standing {
    if row.flag("active", true) {
        Standing::Active
    } else if row.flag("compacted", false) {
        Standing::Compacted
    } else {
        Standing::Hidden
    }
}

/// Which rows are copies of each other: a compaction writes what it keeps once more.
struct Twins {
    /// For every message that stands in several rows, whether one of them is still active, and the first
    /// row that is not hidden.
    groups: HashMap<u64, Group>,
}

#[derive(Clone, Copy, Default)]
struct Group {
    rows: u32,
    first_shown: Option<i64>,
    has_archived: bool,
}

impl Twins {
    fn find(store: &Tables, id: &str) -> Result<Self, ReadError> {
        let mut groups: HashMap<u64, Group> = HashMap::new();
        let can_archive = store.columns("messages")?.iter().any(|column| column == "active");
        let archived = "SELECT count(*) FROM messages WHERE session_id = ?1 AND active = 0";
        if !can_archive || store.count(archived, &[id])? == 0 {
            return Ok(Self { groups });
        }
        let query = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY id";
        store.each(query, &[id], |row| {
            let group = groups.entry(key_of(row)).or_default();
            let standing = standing_of(row);
            group.rows += 1;
            group.has_archived |= standing != Standing::Active;
            if standing != Standing::Hidden && group.first_shown.is_none() {
                group.first_shown = row.number("id").map(|id| id as i64);
            }
            Ok(())
        })?;
        // Two live rows that say the same at the same time are two messages.
        groups.retain(|_, group| group.rows > 1 && group.has_archived);
        Ok(Self { groups })
    }

    fn group(&self, row: &Fields<'_>) -> Option<Group> {
        if self.groups.is_empty() {
            return None;
        }
        self.groups.get(&key_of(row)).copied()
    }
}

/// What makes two rows the same message: all it says, and when.
fn key_of(row: &Fields<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for column in [
        "role",
        "content",
        "timestamp",
        "tool_call_id",
        "tool_calls",
        "tool_name",
    ] {
        row.text(column).hash(&mut hasher);
    }
    hasher.finish()
}

/// The messages of a session while its rows are read.
struct Rows {
    history: History,
    reading: Reading,
    boundary: Boundary,
}

impl Rows {
    fn new(history: History, reading: Reading) -> Self {
        Self {
            history,
            reading,
            boundary: Boundary::default(),
        }
    }

    fn prompt(&mut self, prompt: Box<str>) {
        let message = Message::new(Role::System, vec![Part::Text(prompt)]);
        self.reading.recorded.count(&message);
        self.reading.push(message);
    }

    fn read(&mut self, row: &Fields<'_>, place: Place, twins: &Twins) {
        let role = row.text("role").unwrap_or_default();
        // A record of the tools that were sent; no message.
        if role.as_ref() == "session_meta" {
            return;
        }
        let standing = standing_of(row);
        let group = twins.group(row);
        let id = row.number("id").map(|id| id as i64);
        let is_copy = group.is_some_and(|group| group.first_shown.is_some() && group.first_shown != id);
        let is_live = standing == Standing::Active;
        let is_wanted = match (standing, self.history) {
            (Standing::Hidden, _) => false,
            (Standing::Active, History::Live) => true,
            (Standing::Compacted, History::Live) => false,
            (Standing::Active | Standing::Compacted, History::Full) => !is_copy,
        };
        if is_copy && !is_wanted {
            self.reading
                .note(Rule::DuplicateRecord, place, "carried over a compaction");
            return;
        }
        if standing == Standing::Hidden {
            self.reading.note(Rule::Abandoned, place, "rewound");
            return;
        }
        let (message, json) = self.message(row, &role, place);
        if !is_copy {
            self.reading.recorded.count(&message);
        }
        self.boundary.follow(&self.reading, &message, is_live);
        if is_wanted {
            note_summary(&mut self.reading, &message);
            self.reading.push_verbatim(message, &json);
        }
    }

    /// A row as the chat message it stands for, with that message's text.
    fn message(&mut self, row: &Fields<'_>, role: &str, place: Place) -> (Message, String) {
        let content = row.text("content");
        let mut json = self.chat_json(row, role, content.as_deref(), place);
        let mut message = read_chat(&json, place, &mut self.reading);
        settle_author(&mut message, row.flag("_compressed_summary", false));
        // The words as they were sent may carry what a plugin added; they are still the same author's.
        if self.history == History::Live
            && let Some(sent) = row.words("api_content").filter(|sent| Some(sent) != content.as_ref())
        {
            let author = message.author;
            json = self.chat_json(row, role, Some(&sent), place);
            message = read_chat(&json, place, &mut self.reading);
            message.author = author;
        }
        seal(&mut message, row);
        let is_hidden = row.text("display_kind").is_some_and(|kind| kind.as_ref() == "hidden");
        if is_hidden && message.author == Author::User {
            message.author = Author::Host;
        }
        message.at = row.number("timestamp").map(time::from_number);
        if row.is_damaged() {
            self.reading.note(Rule::InvalidUtf8, place, "");
        }
        (message, json)
    }

    fn chat_json(&mut self, row: &Fields<'_>, role: &str, content: Option<&str>, place: Place) -> String {
        let mut json = format!("{{\"role\":{}", quote(role));
        let content = match content {
            None => "null".to_owned(),
            Some(text) => match text.strip_prefix(STRUCTURED) {
                Some(inner) if json::value(inner).is_ok() => inner.trim().to_owned(),
                Some(_) => {
                    self.reading
                        .note(Rule::BadRecord, place, "content is marked as JSON but is none");
                    quote(text)
                }
                None => quote(text),
            },
        };
        json.push_str(&format!(",\"content\":{content}"));
        for column in ["reasoning", "reasoning_content", "tool_call_id"] {
            if let Some(text) = row.words(column) {
                json.push_str(&format!(",\"{column}\":{}", quote(&text)));
            }
        }
        if role == "tool"
            && let Some(name) = row.words("tool_name")
        {
            json.push_str(&format!(",\"name\":{}", quote(&name)));
        }
        for column in [
            "tool_calls",
            "reasoning_details",
            "codex_reasoning_items",
            "codex_message_items",
        ] {
            let Some(text) = row.words(column) else { continue };
            match json::value(text.trim()) {
                Ok(raw) if json::kind(raw) == Kind::Null => {}
                Ok(raw) => json.push_str(&format!(",\"{column}\":{}", raw.get())),
                Err(cause) => self.reading.note(Rule::BadRecord, place, format!("{column}: {cause}")),
            }
        }
        json.push('}');
        json
    }

    fn finish(mut self) -> Reading {
        self.boundary.finish(&mut self.reading);
        self.reading
    }
}

fn read_chat(json: &str, place: Place, reading: &mut Reading) -> Message {
    let raw = json::value(json).expect("it was put together from valid JSON");
    openai_chat::read_message(raw, place, &mut reading.findings)
}

/// Binds reasoning to the provider's encrypted items, where the row has them.
fn seal(message: &mut Message, row: &Fields<'_>) {
    let Some(items) = row.words("codex_reasoning_items") else {
        return;
    };
    let is_list = json::value(&items).is_ok_and(|raw| json::array(raw).is_some_and(|list| !list.is_empty()));
    if !is_list || message.role != Role::Assistant {
        return;
    }
    let thinking = message.parts.iter_mut().find_map(|part| match part {
        Part::Thinking(thinking) => Some(thinking),
        _ => None,
    });
    match thinking {
        Some(thinking) if thinking.seal == Seal::Unsealed => thinking.seal = Seal::Signed(items),
        Some(_) => {}
        None => {
            let thinking = Thinking {
                text: "".into(),
                seal: Seal::Encrypted(items),
            };
            message.parts.insert(0, Part::Thinking(Box::new(thinking)));
        }
    }
}
