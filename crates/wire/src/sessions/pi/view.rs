//! The two views of a session: everything on the way to where it stands, and what the model is sent now.

use std::collections::HashMap;
use std::sync::Arc;

use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Trigger;

use crate::document_builder::Reading;
use crate::reading::History;
use crate::reading::Recorded;
use crate::sessions::pi::entry::Body;
use crate::sessions::pi::entry::Compaction;
use crate::sessions::pi::entry::Entry;
use crate::sessions::pi::entry::Kept;
use crate::sessions::pi::message::replace_content;
use crate::sessions::pi::prompt::Prompt;

/// Hands the wanted view of a path over.
pub(super) fn pour(entries: Vec<Entry>, path: &[usize], history: History, reading: &mut Reading) {
    let mut slots: Vec<_> = entries.into_iter().map(Some).collect();
    let path: Vec<Entry> = path.iter().filter_map(|index| slots[*index].take()).collect();
    for entry in &path {
        count(entry, &mut reading.recorded);
    }
    let newest = path.iter().rposition(|entry| matches!(entry.body, Body::Compaction(_)));
    let prompt = replay(&path, newest);
    reading.about.tools = prompt.tools();
    reading.about.model = model(&path, reading.about.model.take());
    match history {
        History::Full => pour_full(path, reading),
        History::Live => pour_live(path, newest, &prompt, reading),
    }
}

/// Counts the message an entry contributes to the full view.
fn count(entry: &Entry, recorded: &mut Recorded) {
    match &entry.body {
        Body::Said(said) => recorded.count(&said.message),
        Body::Prompt(change) => change.message().iter().for_each(|message| recorded.count(message)),
        Body::Compaction(compaction) => recorded.count(&compaction.summary),
        Body::Edit { .. } | Body::Model(_) | Body::Other => {}
    }
}

/// The model that was chosen, or that the session started with; none when the messages name theirs.
fn model(path: &[Entry], first: Option<Arc<str>>) -> Option<Arc<str>> {
    let is_named = |entry: &Entry| matches!(&entry.body, Body::Said(said) if said.message.model.is_some());
    if path.iter().any(is_named) {
        return None;
    }
    let chosen = path.iter().rev().find_map(|entry| match &entry.body {
        Body::Model(model) => Some(Arc::clone(model)),
        Body::Said(_) | Body::Prompt(_) | Body::Compaction(_) | Body::Edit { .. } | Body::Other => None,
    });
    chosen.or(first)
}

fn pour_full(path: Vec<Entry>, reading: &mut Reading) {
    for entry in path {
        match entry.body {
            Body::Said(said) => reading.push(said.message),
            Body::Prompt(change) => change.message().into_iter().for_each(|message| reading.push(message)),
            Body::Compaction(compaction) => {
                let index = reading.len();
                reading.event(event(&compaction, index, index));
                reading.push(compaction.summary);
            }
            Body::Edit { .. } | Body::Model(_) | Body::Other => {}
        }
    }
}

fn pour_live(path: Vec<Entry>, newest: Option<usize>, prompt: &Prompt, reading: &mut Reading) {
    if let Some(message) = prompt.message() {
        reading.push(message);
    }
    let edits = edits(&path);
    let kept = newest.map_or(0, |newest| first_kept(&path, newest, reading));
    let mut summary = None;
    if let Some(Body::Compaction(compaction)) = newest.and_then(|newest| path.get(newest)).map(|entry| &entry.body) {
        summary = Some(event(compaction, 0, reading.len()));
        reading.push(compaction.summary.clone());
    }
    for (position, entry) in path.into_iter().enumerate().skip(kept) {
        if Some(position) == newest
            && let Some(mut event) = summary.take()
        {
            event.before = reading.len();
            reading.event(event);
        }
        let Body::Said(said) = entry.body else { continue };
        let edit = edits.get(&position);
        if !said.is_sent || matches!(edit, Some(None)) {
            continue;
        }
        let mut message = said.message;
        if let Some(Some(content)) = edit {
            replace_content(&mut message, content);
        }
        reading.push(message);
    }
}

fn event(compaction: &Compaction, before: usize, summary: usize) -> CompactionEvent {
    CompactionEvent {
        before,
        kind: CompactionKind::Summary,
        trigger: Trigger::Unstated,
        tokens_before: compaction.tokens_before,
        tokens_after: None,
        summary: Some(summary),
        at: compaction.summary.at,
    }
}

/// The position on the path from which entries are kept; that of the compaction itself when none is.
fn first_kept(path: &[Entry], newest: usize, reading: &mut Reading) -> usize {
    let Body::Compaction(compaction) = &path[newest].body else {
        return newest;
    };
    let before = &path[..newest];
    let found = match &compaction.kept {
        Kept::FromId(id) => before.iter().rposition(|entry| entry.id.as_ref() == Some(id)),
        Kept::FromNumber(number) => before.iter().position(|entry| entry.number >= *number),
        Kept::Unstated => None,
    };
    // A compaction that keeps nothing names itself.
    if let (None, Kept::FromId(id)) = (found, &compaction.kept)
        && path[newest].id.as_ref() != Some(id)
    {
        let detail = format!("the first entry that was kept, {id}");
        reading.note(Rule::MissingPiece, path[newest].place, detail);
    }
    found.unwrap_or(newest)
}

/// The prompt as it stands: from the newest compaction's checkpoint on, or from the beginning.
fn replay(path: &[Entry], newest: Option<usize>) -> Prompt {
    let mut prompt = Prompt::default();
    let mut start = 0;
    if let Some(newest) = newest
        && let Body::Compaction(compaction) = &path[newest].body
        && let Some(checkpoint) = &compaction.prompt
    {
        prompt.apply(checkpoint);
        start = newest;
    }
    for entry in &path[start..] {
        if let Body::Prompt(change) = &entry.body {
            prompt.apply(change);
        }
    }
    prompt
}

/// The newest edit of each entry that has one, by its position on the path.
fn edits(path: &[Entry]) -> HashMap<usize, Option<Box<str>>> {
    let ids = path
        .iter()
        .enumerate()
        .filter_map(|(position, entry)| Some((entry.id.as_deref()?, position)));
    let positions: HashMap<&str, usize> = ids.collect();
    let mut edits = HashMap::new();
    for entry in path {
        if let Body::Edit { target, replacement } = &entry.body
            && let Some(position) = positions.get(target.as_ref())
        {
            edits.insert(*position, replacement.clone());
        }
    }
    edits
}
