//! Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`, one record a line, and the web's
//! `{"loglines": […]}`.
//!
//! A log is a tree of records, not a list of messages. [`log`] reads it, [`links`] joins its records,
//! [`thread`] follows one conversation through it, and [`turns`] makes messages of its lines. The
//! program's own system prompt and tools are not recorded.

mod agents;
mod attachment;
mod links;
mod log;
mod queue;
mod queue_order;
mod record;
mod thread;
mod turns;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::HashSet;
use std::path::Path;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Timestamp;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::json::Object;
use crate::reading::Entry;
use crate::reading::History;
use crate::reading::Recorded;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sessions::claude_code::links::Links;
use crate::sessions::claude_code::log::LOG_LINES;
use crate::sessions::claude_code::log::Log;
use crate::sessions::claude_code::thread::Thread;
use crate::sessions::claude_code::turns::Audience;
use crate::sessions::claude_code::turns::Telling;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "claude-code",
    title: "Claude Code sessions",
    detect,
    read,
    list,
    haunts,
};

/// Records that no other agent writes.
const OWN_RECORDS: &[&str] = &[
    "file-history-snapshot",
    "queue-operation",
    "permission-mode",
    "last-prompt",
    "ai-title",
    "custom-title",
];

/// How deep logs are below the directory of projects: `<project>/<session>/subagents/workflows/<run>/`.
const DEPTH: usize = 5;

fn detect(sniff: &Sniff<'_>) -> Likeness {
    if let Some(lines) = sniff.object().and_then(|object| object.array(LOG_LINES)) {
        let mut lines = lines.iter().take(200).filter_map(|raw| Object::of(raw));
        return Likeness::certain_if(lines.any(|line| line.has("type")));
    }
    let has_id = |record: &Object<'_>| {
        let ids = ["sessionId", "uuid", "parentUuid", "isSidechain"];
        ids.iter().any(|key| record.has(key))
    };
    let is_message = |record: &Object<'_>| {
        let message = record.object("message").unwrap_or_default();
        // Qwen Code writes the same envelope around messages in Gemini's form, which have parts.
        matches!(record.tag("type"), Some("user" | "assistant")) && message.has("content") && !message.has("parts")
    };
    if sniff.any_record(|record| is_message(record) && has_id(record)) {
        return Likeness::Certain;
    }
    Likeness::likely_if(sniff.any_record(|record| match record.tag("type") {
        Some("summary") => record.has("summary") && record.has("leafUuid"),
        Some("attachment") => record.has("attachment") && has_id(record),
        Some(kind) => OWN_RECORDS.contains(&kind),
        None => false,
    }))
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    let roots = match homes.variables.get("CLAUDE_CONFIG_DIR") {
        Some(directory) => vec![directory.clone()],
        None => vec![homes.home.join(".claude"), homes.config().join("claude")],
    };
    let haunt = |root: &Path| Haunt {
        root: root.join("projects"),
        depth: DEPTH,
        is_session: |below| below.contains('/') && below.ends_with(".jsonl"),
    };
    roots.iter().map(|root| haunt(root)).collect()
}

/// A conversation of a log: where it ends, and the id it goes by.
struct Conversation {
    id: Option<String>,
    leaf: usize,
}

/// The conversations of a log, in the order in which they were last written to.
fn conversations(log: &Log, links: &Links) -> Vec<Conversation> {
    let mut leaves: HashMap<Option<&str>, usize> = HashMap::new();
    let mut speaking: HashSet<Option<&str>> = HashSet::new();
    for (index, record) in log.records.iter().enumerate() {
        let tree = links.trees[index].as_deref();
        // A boundary at the very end is a compaction that did not come to its summary.
        if record.can_end() && !record.is_boundary() && links.is_main(log, index) {
            leaves.insert(tree, index);
        }
        if record.spoken().is_some() && links.is_main(log, index) {
            speaking.insert(tree);
        }
    }
    leaves.retain(|tree, _| speaking.contains(tree));
    let mut leaves: Vec<_> = leaves.into_values().collect();
    leaves.sort_unstable();
    let agent = log.agent.as_ref().filter(|_| links.is_subagent);
    let conversation = |leaf: usize| {
        let session = log.records[leaf].session.as_deref().or(links.trees[leaf].as_deref());
        let id = agent.map(|agent| format!("agent-{agent}"));
        Conversation {
            id: id.or_else(|| session.map(str::to_owned)),
            leaf,
        }
    };
    leaves.into_iter().map(conversation).collect()
}

/// The conversation that is wanted: the one asked for, else the one the file is named after, else the
/// one that was written to last.
fn choose<'a>(source: &Source, all: &'a [Conversation], wanted: Option<&str>) -> Option<&'a Conversation> {
    let stem = agents::stem(source).unwrap_or_default();
    let named = |id: &str| all.iter().find(|conversation| conversation.id.as_deref() == Some(id));
    match wanted {
        Some(wanted) if wanted == stem => named(wanted).or(all.last()),
        Some(wanted) => named(wanted),
        None => {
            let is_named = |conversation: &&Conversation| {
                let id = conversation.id.as_deref().unwrap_or_default();
                !id.is_empty() && stem.ends_with(id)
            };
            all.iter().find(is_named).or(all.last())
        }
    }
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let log = Log::read(source)?;
    let links = Links::of(&log);
    let all = conversations(&log, &links);
    let main = choose(source, &all, None).map(|conversation| conversation.leaf);
    let mut entries = Vec::new();
    for conversation in &all {
        let thread = Thread::follow(&log, &links, conversation.leaf);
        let mut count = Count::default();
        turns::tell(&log, &thread, Telling::AsRecorded, &mut count);
        let title = log.title().filter(|_| Some(conversation.leaf) == main);
        let entry = Entry {
            id: conversation.id.clone().unwrap_or_default(),
            title: title.or_else(|| opening(&log, &thread)),
            updated: times(&log, &thread).max(),
            messages: Some(count.recorded.messages),
        };
        // The main conversation leads.
        let at = if Some(conversation.leaf) == main {
            0
        } else {
            entries.len()
        };
        entries.insert(at, entry);
    }
    let session = choose(source, &all, None).and_then(|conversation| conversation.id.as_deref());
    entries.extend(agents::find(source, session).iter().map(|agent| agent.entry()));
    Ok(entries)
}

/// How a conversation begins.
fn opening(log: &Log, thread: &Thread) -> Option<String> {
    let mut prompts = thread.full.iter().map(|index| &log.records[*index]);
    let first = prompts.find(|record| record.is_prompt())?;
    first
        .spoken()
        .map(turns::opening_words)
        .filter(|words| !words.is_empty())
}

fn times<'a>(log: &'a Log, thread: &'a Thread) -> impl Iterator<Item = Timestamp> + 'a {
    thread.full.iter().filter_map(|index| log.records[*index].at)
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut log = Log::read(source)?;
    let links = Links::of(&log);
    let all = conversations(&log, &links);
    let main = choose(source, &all, None).and_then(|conversation| conversation.id.as_deref());
    let agents = agents::find(source, main);
    let Some(chosen) = choose(source, &all, request.session.as_deref()) else {
        let wanted = request.session.as_deref();
        return match agents.iter().find(|agent| Some(agent.id.as_str()) == wanted) {
            Some(agent) => read(format, &agent.source, request),
            None => Err(request.not_found(source, || list(source))),
        };
    };
    let mut reading = Reading::new(WireForm::Anthropic);
    reading.findings = std::mem::take(&mut log.findings);
    reading.findings.extend(thread::note_linear(&log, &links));
    let thread = Thread::follow(&log, &links, chosen.leaf);
    describe(&log, &links, chosen, &thread, &mut reading);
    reading.about.conversations = (all.len() + agents.len()) as u64;
    if main != chosen.id.as_deref() {
        reading.about.title = None;
    }
    reading.findings.extend_from_slice(&thread.findings);
    reading.findings.extend(thread::left_out(&log, &links, &thread));
    let telling = match request.history {
        History::Live if !thread.is_sent_as_recorded(&log) => Telling::AsSent,
        History::Live | History::Full => Telling::AsRecorded,
    };
    let events = match telling {
        Telling::AsRecorded => {
            let events = turns::tell(&log, &thread, Telling::AsRecorded, &mut Transcribe(&mut reading));
            reading.count_all();
            events
        }
        Telling::AsSent => {
            let mut count = Count::default();
            turns::tell(&log, &thread, Telling::AsRecorded, &mut count);
            reading.recorded = count.recorded;
            reading.findings.append(&mut count.findings);
            turns::tell(&log, &thread, Telling::AsSent, &mut Quietly(&mut reading))
        }
    };
    events.into_iter().for_each(|event| reading.event(event));
    Ok(reading.finish(format))
}

fn describe(log: &Log, links: &Links, chosen: &Conversation, thread: &Thread, reading: &mut Reading) {
    let about = &mut reading.about;
    about.id.clone_from(&chosen.id);
    about.title = log.title();
    about.directory.clone_from(&log.directory);
    about.version.clone_from(&log.version);
    about.started = times(log, thread).min();
    about.ended = times(log, thread).max();
    let records = thread.full.iter().map(|index| &log.records[*index]);
    about.restarts = records
        .filter(|record| record.is_restart())
        .map(|record| record.place)
        .collect();
    let session = log.records[thread.leaf].session.as_deref();
    let root = links.trees[thread.leaf].as_deref();
    about.parent = if links.is_subagent && log.agent.is_some() {
        session.map(str::to_owned)
    } else {
        let resumed = root.filter(|root| Some(*root) != session).map(str::to_owned);
        log.forked_from.clone().or(resumed)
    };
}

/// Puts messages and findings into the reading.
struct Transcribe<'a>(&'a mut Reading);

impl Audience for Transcribe<'_> {
    fn message(&mut self, message: Message, json: Option<&str>) {
        match json {
            Some(json) => self.0.push_verbatim(message, json),
            None => self.0.push(message),
        }
    }

    fn finding(&mut self, finding: Finding) {
        self.0.findings.push(finding);
    }
}

/// Puts messages into the reading; the findings were made when the whole was counted.
struct Quietly<'a>(&'a mut Reading);

impl Audience for Quietly<'_> {
    fn message(&mut self, message: Message, json: Option<&str>) {
        Transcribe(self.0).message(message, json);
    }

    fn finding(&mut self, _: Finding) {}
}

/// Counts messages and keeps the findings.
#[derive(Default)]
struct Count {
    recorded: Recorded,
    findings: Vec<Finding>,
}

impl Audience for Count {
    fn message(&mut self, message: Message, _: Option<&str>) {
        self.recorded.count(&message);
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}
