//! opencode's older sessions: a directory with one JSON file for every session, message and part.

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use super::read_about;
use super::turns::Conversation;
use super::turns::StoredPart;
use super::turns::Turn;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::json::Object;
use crate::reading::About;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;

/// The directory, and the session that was pointed at in it.
pub struct Storage {
    root: Option<Source>,
    session: Option<Box<str>>,
}

impl Storage {
    /// The storage at a path below a directory.
    pub fn new(source: &Source, below: &str) -> Self {
        Self {
            root: source.relative(&format!("{below}.")),
            session: None,
        }
    }

    /// The storage around one session's file.
    pub fn of_session(source: &Source, id: &str) -> Self {
        Self {
            root: source.relative("../.."),
            session: Some(id.into()),
        }
    }

    /// A file or directory in it. Ids come from outside, so only plain ones make a path.
    fn inside(&self, directory: &str, id: &str) -> Option<Source> {
        let is_plain = id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if id.is_empty() || !is_plain {
            return None;
        }
        self.root.as_ref()?.relative(&format!("{directory}/{id}"))
    }

    /// Every session's file.
    fn session_files(&self) -> Vec<Source> {
        let Some(sessions) = self.root.as_ref().and_then(|root| root.relative("session")) else {
            return Vec::new();
        };
        let projects = sessions.entries().unwrap_or_default();
        let projects = projects.iter().filter_map(|project| sessions.relative(project));
        projects
            .flat_map(|project| json_files(&project))
            .map(|(_, file)| file)
            .collect()
    }

    /// The sessions, newest first, each with its file and whether it belongs to another.
    fn sessions(&self) -> Vec<(Entry, Source, bool)> {
        let mut sessions = Vec::new();
        for file in self.session_files() {
            let mut about = About::default();
            if let Ok(text) = file.text()
                && let Ok(object) = Object::parse(text.text.trim_start_matches(BYTE_ORDER_MARK))
            {
                read_about(&object, &mut about);
            }
            let Some(id) = about.id else { continue };
            let messages = self
                .inside("message", &id)
                .map_or(0, |messages| json_files(&messages).len());
            let entry = Entry {
                id,
                title: about.title,
                updated: about.ended.or(about.started),
                messages: Some(messages as u64),
            };
            sessions.push((entry, file, about.parent.is_some()));
        }
        sessions.sort_by(|(a, ..), (b, ..)| (b.updated, &b.id).cmp(&(a.updated, &a.id)));
        sessions
    }

    /// The sessions, newest first.
    pub fn list(&self) -> Result<Vec<Entry>, ReadError> {
        if self.session.is_some() {
            return Ok(Vec::new());
        }
        Ok(self.sessions().into_iter().map(|(entry, ..)| entry).collect())
    }

    /// Reads the session that is asked for, the one that was pointed at, or the newest main one.
    pub fn read(&self, source: &Source, request: &Request) -> Result<Reading, ReadError> {
        if self.root.is_none() {
            let reason = "its messages stand in files beside it, which are not there";
            return Err(ReadError::refused(source.name(), reason));
        }
        if let Some(own) = &self.session
            && request
                .session
                .as_ref()
                .is_none_or(|wanted| wanted.as_str() == own.as_ref())
        {
            return self.read_session(source, own, 1, request);
        }
        let sessions = self.sessions();
        let chosen = match &request.session {
            Some(wanted) => sessions.iter().find(|(entry, ..)| entry.id == *wanted),
            None => {
                let is_main = |(entry, _, is_child): &&(Entry, Source, bool)| !is_child && entry.messages != Some(0);
                sessions.iter().find(is_main).or(sessions.first())
            }
        };
        match chosen {
            Some((entry, file, _)) => self.read_session(file, &entry.id, sessions.len() as u64, request),
            None => Err(request.not_found(source, || self.list())),
        }
    }

    fn read_session(&self, file: &Source, id: &str, count: u64, request: &Request) -> Result<Reading, ReadError> {
        let mut reading = Reading::new(WireForm::Chat);
        let text = file.text()?;
        reading.findings = text.findings;
        let session = Object::parse(text.text.trim_start_matches(BYTE_ORDER_MARK)).unwrap_or_default();
        read_about(&session, &mut reading.about);
        reading.about.conversations = count;
        let revert = session.object("revert");
        let mut conversation = Conversation::new(reading, revert.as_ref());
        match self.inside("message", id) {
            Some(messages) => self.read_turns(&messages, &mut conversation)?,
            None => conversation.note(Rule::MissingPiece, Place::Whole, format!("message/{id}")),
        }
        Ok(conversation.finish(request.history))
    }

    fn read_turns(&self, messages: &Source, conversation: &mut Conversation) -> Result<(), ReadError> {
        for (index, (id, file)) in (0..).zip(json_files(messages)) {
            let place = Place::Item(index);
            let json = read_file(&file, place, conversation)?;
            let mut parts = Vec::new();
            if let Some(directory) = self.inside("part", &id) {
                for (id, file) in json_files(&directory) {
                    let json = read_file(&file, place, conversation)?;
                    parts.push(StoredPart { id: id.into(), json });
                }
            }
            conversation.add(Turn::new(place, Some(id.into()), json, parts));
        }
        Ok(())
    }
}

fn read_file(file: &Source, place: Place, conversation: &mut Conversation) -> Result<Box<str>, ReadError> {
    let text = file.text()?;
    for Finding { rule, detail, .. } in text.findings {
        conversation.note(rule, place, detail);
    }
    Ok(text.text.trim_start_matches(BYTE_ORDER_MARK).into())
}

/// The JSON files of a directory by the ids they are named for, which ascend with time.
fn json_files(directory: &Source) -> Vec<(String, Source)> {
    let names = directory.entries().unwrap_or_default();
    let files = names.into_iter().filter_map(|name| {
        let id = name.strip_suffix(".json")?.to_owned();
        let file = directory.relative(&name).filter(|file| !file.is_directory())?;
        Some((id, file))
    });
    files.collect()
}
