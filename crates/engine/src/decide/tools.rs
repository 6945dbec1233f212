//! What tools do, whatever agent they belong to, and what they were asked.
//!
//! The names are a table. A name that is not in it is judged by the words it is made of, and a tool that
//! says nothing about itself is taken for something whose output may be needed: it is never taken for a read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::json::Object;
use crate::transcript::Input;
use crate::transcript::ToolCall;

const TABLE: &str = include_str!("tools.tsv");

/// The rows of the table; every call of a conversation is looked up, some of them twice.
static ROWS: LazyLock<BTreeMap<&str, Deed>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let pairs = rows.filter_map(|line| line.split_once('\t'));
    pairs
        .filter_map(|(name, deed)| Some((name, Deed::named(deed)?)))
        .collect()
});

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deed {
    /// Shows a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Changes a part of a file.
    Edit,
    /// Runs a command.
    Run,
    /// Looks for something.
    Search,
    /// Gets something from elsewhere.
    Fetch,
    /// Keeps a plan or a list of tasks.
    Plan,
    /// Asks the person.
    Ask,
    /// Remembers something beyond the conversation.
    Memory,
    /// Shows instructions for a skill.
    Skill,
    /// Lets another agent work.
    Delegate,
    /// Only thinks.
    Think,
    /// Nobody knows.
    Unknown,
}

impl Deed {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Deed::Read => "read",
            Deed::Write => "write",
            Deed::Edit => "edit",
            Deed::Run => "run",
            Deed::Search => "search",
            Deed::Fetch => "fetch",
            Deed::Plan => "plan",
            Deed::Ask => "ask",
            Deed::Memory => "memory",
            Deed::Skill => "skill",
            Deed::Delegate => "delegate",
            Deed::Think => "think",
            Deed::Unknown => "unknown",
        }
    }

    fn named(name: &str) -> Option<Deed> {
        const ALL: [Deed; 12] = [
            Deed::Read,
            Deed::Write,
            Deed::Edit,
            Deed::Run,
            Deed::Search,
            Deed::Fetch,
            Deed::Plan,
            Deed::Ask,
            Deed::Memory,
            Deed::Skill,
            Deed::Delegate,
            Deed::Think,
        ];
        ALL.into_iter().find(|deed| deed.name() == name)
    }
}

/// What a tool does, from its name.
pub fn deed_of(name: &str) -> Deed {
    let lower = name.to_ascii_lowercase();
    // `mcp__server__tool`, `functions.exec`, `container.exec`: the last piece is the tool.
    let last = lower.rsplit("__").next().unwrap_or(&lower);
    let last = last.rsplit(['.', ':', '/']).next().unwrap_or(last);
    let row = |wanted: &str| ROWS.get(wanted).copied();
    row(&lower).or_else(|| row(last)).unwrap_or_else(|| from_words(last))
}

/// What a call does. Editors that do several things say in an argument which one it is.
pub fn deed_of_call(call: &ToolCall) -> Deed {
    let deed = deed_of(&call.name);
    let Input::Json(json) = &call.input else {
        return deed;
    };
    if deed != Deed::Edit {
        return deed;
    }
    let command = Object::parse(json).ok().and_then(|object| object.text("command"));
    match command.as_deref() {
        Some("view" | "read") => Deed::Read,
        Some("create" | "write") => Deed::Write,
        Some(_) | None => Deed::Edit,
    }
}

/// Whether a tool starts another agent that goes on from this conversation, by its name.
pub fn spawns_agent(tool: &str) -> bool {
    const NAMES: [&str; 3] = ["spawn_agent", "spawn_subagent", "fork_agent"];
    NAMES.iter().any(|name| tool.eq_ignore_ascii_case(name))
}

/// The files a call changes: the one it names, or those a patch names.
pub fn changed_paths(call: &ToolCall) -> Vec<Box<str>> {
    if let Some(path) = path_of(call) {
        return vec![path];
    }
    const OPENINGS: [&str; 4] = [
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    let patch = match &call.input {
        Input::Text(text) => text.to_string(),
        Input::Json(json) => match Object::parse(json) {
            Ok(object) => ["input", "patch", "diff"]
                .iter()
                .find_map(|key| object.text(key))
                .unwrap_or_default()
                .into(),
            Err(_) => return Vec::new(),
        },
    };
    let named = patch
        .lines()
        .filter_map(|line| OPENINGS.iter().find_map(|opening| line.strip_prefix(opening)));
    named.map(|path| path.trim().into()).collect()
}

/// A guess for a name that is not in the table, from its words.
fn from_words(name: &str) -> Deed {
    let has = |words: &[&str]| name.split(['_', '-']).any(|word| words.contains(&word));
    if has(&["todo", "todos", "plan"]) {
        Deed::Plan
    } else if has(&["memory", "remember"]) {
        Deed::Memory
    } else if has(&["ask", "clarify"]) {
        Deed::Ask
    } else if has(&["edit", "patch", "replace", "insert"]) {
        Deed::Edit
    } else if has(&["write", "create", "save"]) && has(&["file", "files", "document"]) {
        Deed::Write
    } else if has(&["read", "view", "open", "cat"]) && has(&["file", "files", "document"]) {
        Deed::Read
    } else if has(&["search", "grep", "find", "glob", "list", "query"]) {
        Deed::Search
    } else if has(&["bash", "shell", "exec", "execute", "run", "command", "terminal"]) {
        Deed::Run
    } else if has(&["fetch", "browse", "browser", "download", "crawl", "scrape"]) {
        Deed::Fetch
    } else {
        Deed::Unknown
    }
}

/// Argument names that hold what a call is about, the most telling first.
const TELLING: &[&str] = &[
    "file_path",
    "filepath",
    "path",
    "paths",
    "target_file",
    "notebook_path",
    "filename",
    "file",
    "command",
    "cmd",
    "pattern",
    "query",
    "regex",
    "url",
    "urls",
    "name",
    "code",
    "script",
    "prompt",
    "description",
    "id",
];
const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "target_file",
    "notebook_path",
    "filename",
    "file",
    "absolute_path",
];

/// The file a call is about, as it spells it.
pub fn path_of(call: &ToolCall) -> Option<Box<str>> {
    let Input::Json(json) = &call.input else {
        return None;
    };
    let object = Object::parse(json).ok()?;
    PATHS
        .iter()
        .find_map(|key| object.text(key))
        .filter(|path| !path.is_empty())
}

/// Whether a call's arguments name a part of a file only.
pub fn is_partial(call: &ToolCall) -> bool {
    const PARTS: &[&str] = &[
        "offset",
        "limit",
        "line",
        "line_start",
        "line_end",
        "line_number",
        "view_range",
        "start_line",
        "end_line",
        "startLine",
        "endLine",
        "range",
        "ranges",
        "pages",
        "start_line_one_indexed",
        "end_line_one_indexed_inclusive",
        "line_range",
        "lines",
        "start",
        "end",
    ];
    match &call.input {
        Input::Json(json) => Object::parse(json).is_ok_and(|object| PARTS.iter().any(|key| object.has(key))),
        Input::Text(_) => false,
    }
}

/// What a call was asked, in few words: its most telling argument, then the others as far as there is room.
pub fn asked(call: &ToolCall, most: usize) -> String {
    let text = match &call.input {
        Input::Text(text) => text.trim().to_owned(),
        Input::Json(json) => match Object::parse(json) {
            Ok(object) => from_members(&object),
            Err(_) => json.to_string(),
        },
    };
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&one_line, most)
}

/// Settings of how a call is carried out, which say nothing of what it is for.
const UNTOLD: [&str; 13] = [
    "timeout",
    "timeout_ms",
    "yield_time_ms",
    "max_output_tokens",
    "workdir",
    "cwd",
    "login",
    "justification",
    "sandbox_permissions",
    "with_escalated_permissions",
    "run_in_background",
    "replace_all",
    "description",
];

fn from_members(object: &Object<'_>) -> String {
    let telling = TELLING.iter().find_map(|wanted| {
        let mut members = object.members();
        members.find(|(key, _)| key.eq_ignore_ascii_case(wanted))
    });
    let show = |value: crate::json::Raw<'_>| crate::json::text(value).unwrap_or_else(|| value.get().into());
    let mut said = String::new();
    if let Some((_, value)) = &telling {
        said.push_str(&show(value));
    }
    for (key, value) in object.members() {
        if telling.as_ref().is_some_and(|(told, _)| *told == key) {
            continue;
        }
        let value = show(value);
        // Bodies say nothing in a line; short settings do, but for those that every call of a tool repeats.
        if value.len() <= 40 && !UNTOLD.iter().any(|untold| key.eq_ignore_ascii_case(untold)) {
            said.push_str(&format!(" {key}={value}"));
        }
    }
    said
}

/// The first characters of a text, with an ellipsis where it goes on.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::CallId;

    fn call(name: &str, json: &str) -> ToolCall {
        ToolCall {
            id: CallId::new("1"),
            name: name.into(),
            input: Input::Json(json.into()),
        }
    }

    #[test]
    fn every_row_names_a_deed_once() {
        let mut names = Vec::new();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let (name, deed) = line.split_once('\t').unwrap();
            assert!(Deed::named(deed).is_some(), "{line}");
            assert_eq!(name, name.to_ascii_lowercase());
            names.push(name);
        }
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn tools_of_all_agents_are_known_by_what_they_do() {
        for (name, deed) in [
            ("Read", Deed::Read),
            ("read_file", Deed::Read),
            ("apply_patch", Deed::Edit),
            ("functions.exec_command", Deed::Run),
            ("mcp__shop__search_orders", Deed::Search),
            ("mcp__fs__read_file", Deed::Read),
            ("TodoWrite", Deed::Plan),
            ("update_plan", Deed::Plan),
            ("AskUserQuestion", Deed::Ask),
            ("my_bash_runner", Deed::Run),
            ("open_file", Deed::Read),
            ("get_weather", Deed::Unknown),
            ("", Deed::Unknown),
        ] {
            assert_eq!(deed_of(name), deed, "{name}");
        }
    }

    #[test]
    fn what_was_asked_starts_with_the_telling_argument() {
        let read = call("Read", r#"{"limit":20,"file_path":"/src/a.rs","offset":3}"#);
        assert_eq!(asked(&read, 80), "/src/a.rs limit=20 offset=3");
        assert_eq!(path_of(&read).as_deref(), Some("/src/a.rs"));
        assert!(is_partial(&read));
        let run = call(
            "Bash",
            "{\"command\":\"cargo test\\n  --workspace\",\"description\":\"Run all the tests of the workspace, slowly and with care\"}",
        );
        assert_eq!(asked(&run, 80), "cargo test --workspace");
        assert_eq!(asked(&call("x", "not json"), 5), "not j…");
    }
}
