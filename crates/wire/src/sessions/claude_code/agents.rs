//! The logs of subagents beside a session's own: `<session>/subagents/**/agent-<id>.jsonl`, or in older
//! versions `agent-<id>.jsonl` in the same directory.

use crate::error::ReadError;
use crate::json::Object;
use crate::reading::Entry;
use crate::sessions::claude_code::record::Record;
use crate::sessions::claude_code::turns::opening_words;
use crate::source::Source;

/// How deep below the subagents' directory logs are: workflows have directories of their own.
const DEPTH: usize = 3;

/// A subagent's log.
#[derive(Debug)]
pub(super) struct Agent {
    /// The name of its file: `agent-<id>`.
    pub id: String,
    pub source: Source,
    /// Where its description is, if it has one.
    description: Option<Source>,
}

/// The subagents of the session that a file holds.
pub(super) fn find(source: &Source, session: Option<&str>) -> Vec<Agent> {
    let Some(stem) = stem(source) else {
        return Vec::new();
    };
    let mut agents = Vec::new();
    if is_agent(&stem) {
        return agents;
    }
    if let Some(directory) = source.relative(&format!("{stem}/subagents")) {
        gather(&directory, DEPTH, &mut agents);
    }
    if let (Some(directory), Some(session)) = (source.relative("."), session) {
        let mut siblings = Vec::new();
        gather(&directory, 0, &mut siblings);
        agents.extend(siblings.into_iter().filter(|agent| belongs(agent, session)));
    }
    agents
}

impl Agent {
    /// Its row in the list of a session's conversations.
    pub fn entry(&self) -> Entry {
        Entry {
            id: self.id.clone(),
            title: self.title(),
            updated: None,
            messages: None,
        }
    }

    /// What it was asked to do.
    fn title(&self) -> Option<String> {
        if let Some(text) = self.description.as_ref().and_then(|source| source.text().ok())
            && let Ok(object) = Object::parse(&text.text)
            && let Some(description) = object.text("description")
        {
            return Some(description.into());
        }
        self.opening().ok().flatten()
    }

    /// How its first prompt begins.
    fn opening(&self) -> Result<Option<String>, ReadError> {
        let mut lines = self.source.lines()?;
        while lines.advance()? {
            let place = lines.place();
            for raw in lines.records() {
                let object = Object::of(raw).filter(|object| object.is("type", "user"));
                let record = object.map(|object| Record::read(&object, "user", place, &mut Vec::new()));
                let prompt = record.filter(|record| record.is_prompt());
                if let Some(spoken) = prompt.as_ref().and_then(|record| record.spoken()) {
                    return Ok(Some(opening_words(spoken)));
                }
            }
        }
        Ok(None)
    }
}

/// The name of a log without what says that it is one.
pub(super) fn stem(source: &Source) -> Option<String> {
    let name = source.path()?.file_name()?.to_string_lossy();
    Some(name.split(".jsonl").next().unwrap_or(&name).to_owned())
}

/// Whether a log's name says that it is a subagent's.
pub(super) fn is_agent(stem: &str) -> bool {
    stem.starts_with("agent-")
}

fn gather(directory: &Source, depth: usize, agents: &mut Vec<Agent>) {
    for name in directory.entries().unwrap_or_default() {
        let is_log = name.ends_with(".jsonl") || name.ends_with(".jsonl.zst");
        let id = name.split(".jsonl").next().unwrap_or(&name).to_owned();
        let is_wanted = is_log && is_agent(&id);
        if !is_wanted && (depth == 0 || name.contains('.')) {
            continue;
        }
        let Some(source) = directory.relative(&name) else {
            continue;
        };
        if source.is_directory() {
            gather(&source, depth.saturating_sub(1), agents);
        } else if is_wanted {
            let description = directory.relative(&format!("{id}.meta.json"));
            agents.push(Agent {
                id,
                source,
                description,
            });
        }
    }
}

/// Whether the first record of a log names the session.
fn belongs(agent: &Agent, session: &str) -> bool {
    let first = || -> Result<bool, ReadError> {
        let mut lines = agent.source.lines()?;
        while lines.advance()? {
            for raw in lines.records() {
                let object = Object::of(raw).unwrap_or_default();
                if let Some(id) = object.text("sessionId") {
                    return Ok(id.as_ref() == session);
                }
            }
        }
        Ok(false)
    };
    first().unwrap_or(false)
}
