//! `mainstay sessions`: the agent sessions on this machine, newest first.

use std::time::SystemTime;

use clap::Args;
use mainstay_engine::transcript::Timestamp;
use mainstay_wire::discover;
use mainstay_wire::discover::Found;
use mainstay_wire::reading::Entry;
use mainstay_wire::source::Source;
use serde::Serialize;

use crate::environment;
use crate::screen::Screen;
use crate::screen::bytes;
use crate::screen::opening;
use crate::screen::plain;

/// List the agent sessions on this machine, newest first.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only sessions of these formats.
    #[arg(long, value_name = "FORMAT")]
    format: Vec<String>,

    /// How many to list; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 30)]
    most: usize,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// One row of the list; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Row {
    format: &'static str,
    path: String,
    session: Option<String>,
    title: Option<String>,
    updated: Option<String>,
    bytes: u64,
    messages: Option<u64>,
    #[serde(skip)]
    order: i64,
}

/// Finds the sessions and lists them.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    for name in &arguments.format {
        mainstay_wire::format::by_name(name)?;
    }
    let mut found = discover::find(&environment::homes());
    if !arguments.format.is_empty() {
        found.retain(|session| arguments.format.iter().any(|name| name == session.format.name));
    }
    let most = if arguments.most == 0 {
        usize::MAX
    } else {
        arguments.most
    };
    let total = found.len();
    // A file is opened only when it can be among the newest: files are sorted, so the first ones suffice.
    let mut rows: Vec<Row> = found.iter().take(most).flat_map(rows_of).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.order));
    rows.truncate(most);
    if arguments.json {
        return screen.json(&rows);
    }
    if rows.is_empty() {
        return screen
            .line("No agent sessions found. Any session file can be given to `mainstay inspect` by its path.");
    }
    let lines = rows.iter().map(|row| {
        vec![
            row.updated
                .as_deref()
                .unwrap_or("")
                .chars()
                .take(16)
                .collect::<String>()
                .replace('T', " "),
            row.format.to_owned(),
            bytes(row.bytes),
            opening(row.title.as_deref().unwrap_or(""), 50),
            match &row.session {
                Some(id) => format!("{} --session {}", plain(&row.path), plain(id)),
                None => plain(&row.path),
            },
        ]
    });
    screen.table(&["UPDATED", "FORMAT", ">SIZE", "TITLE", "SESSION"], lines.collect())?;
    if total > rows.len() {
        screen.faint(&format!(
            "  {} of {total} files; --most 0 lists all",
            rows.len().min(total)
        ))?;
    }
    Ok(())
}

/// A file's conversations; one without a title when it cannot be read, so that it is still listed.
fn rows_of(found: &Found) -> Vec<Row> {
    let modified = found.modified.and_then(|time| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(Timestamp(since.as_millis() as i64))
    });
    let row = |entry: Option<Entry>, title: Option<String>| {
        let updated = entry.as_ref().and_then(|entry| entry.updated).or(modified);
        Row {
            format: found.format.name,
            path: found.path.display().to_string(),
            title: title.or_else(|| entry.as_ref().and_then(|entry| entry.title.clone())),
            updated: updated.and_then(|stamp| Some(jiff::Timestamp::from_millisecond(stamp.0).ok()?.to_string())),
            bytes: found.size,
            messages: entry.as_ref().and_then(|entry| entry.messages),
            session: entry.map(|entry| entry.id),
            order: updated.map_or(i64::MIN, |stamp| stamp.0),
        }
    };
    let Ok(source) = Source::open(&found.path) else {
        return vec![row(None, None)];
    };
    match (found.format.list)(&source) {
        Ok(entries) if !entries.is_empty() => entries.into_iter().map(|entry| row(Some(entry), None)).collect(),
        Ok(_) | Err(_) => {
            let title = (found.format.read)(found.format, &source, &mainstay_wire::reading::Request::default())
                .ok()
                .and_then(|document| title_of(&document));
            vec![row(None, title)]
        }
    }
}

/// The session's title, or the person's first words.
fn title_of(document: &mainstay_wire::document::Document) -> Option<String> {
    use mainstay_engine::transcript::Part;
    document.about.title.clone().or_else(|| {
        let first = document
            .transcript
            .messages()
            .iter()
            .find(|message| message.opens_turn())?;
        first.parts.iter().find_map(|part| match part {
            Part::Text(text) => Some(opening(text, 80)),
            _ => None,
        })
    })
}
