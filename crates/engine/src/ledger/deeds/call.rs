//! What a call is going to do, from its arguments alone; what came of it is known when its result is there.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

use super::inline_code;
use super::patch;
use super::path;
use super::program;
use super::program::Run;
use super::readings;
use super::script;
use super::tasks;
use super::tasks::Plan;
use super::touch::Act;
use super::touch::Swap;
use super::touch::Touches;
use super::values::Change;
use super::values::SMALL_FILE;
use crate::decide::Deed;
use crate::decide::asked;
use crate::decide::cut;
use crate::decide::deed_of_call;
use crate::json;
use crate::json::Object;
use crate::transcript::CallId;
use crate::transcript::Input;
use crate::transcript::ToolCall;

/// Longest description of a call to a tool that is none of the known ones.
const ASKED: usize = 160;

/// A command inside of a program, and the folder behind it.
static NESTED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"\bcmd"?:\s*("(?:[^"\\]|\\.)*")(?:\s*,\s*"?workdir"?:\s*("(?:[^"\\]|\\.)*"))?"#;
    Regex::new(pattern).expect("the pattern is well formed, which a test shows")
});

/// What sort of thing a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Sort {
    /// Shows a file.
    Reads,
    /// Changes files.
    Changes,
    /// Runs commands.
    Runs,
    /// Keeps a plan.
    Plans,
    /// Does something in the world.
    Acts,
    /// Nothing that is remembered.
    Other,
}

/// A call that waits for its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    /// The id that the result will repeat.
    pub id: CallId,
    /// The message of the call.
    pub message: u32,
    /// What sort of thing it does.
    pub sort: Sort,
    /// The tool.
    pub tool: Box<str>,
    /// The files it touches.
    pub touches: Touches,
    /// The commands it runs.
    pub runs: Vec<Run>,
    /// The values it sets.
    pub changes: Vec<Change>,
    /// Marks of the lines that its edits take out and put in, file by file.
    #[serde(default)]
    pub swaps: Vec<Swap>,
    /// What it says about tasks.
    pub plan: Option<Plan>,
    /// The id it asks about.
    pub subject: Option<(Box<str>, Box<str>)>,
    /// The session of a running command that it talks to.
    pub session: Option<u64>,
    /// The folder in which it runs.
    pub folder: Option<Box<str>>,
}

/// Reads a call. `folder` is where the shell stands, if that is known.
pub(super) fn read(call: &ToolCall, message: u32, folder: Option<&str>) -> Pending {
    let mut pending = Pending {
        id: call.id.clone(),
        message,
        sort: Sort::Other,
        tool: cut(&call.name, ASKED).into(),
        touches: Touches::default(),
        runs: Vec::new(),
        changes: Vec::new(),
        swaps: Vec::new(),
        plan: None,
        subject: None,
        session: None,
        folder: None,
    };
    let object = match &call.input {
        Input::Json(json) => Object::parse(json).unwrap_or_default(),
        Input::Text(_) => Object::default(),
    };
    if let Some(progress) = object.text("task_progress") {
        let items = tasks::checklist(&progress);
        pending.plan = (!items.is_empty()).then_some(Plan::Whole(items));
    }
    match deed_of_call(call) {
        Deed::Read => pending.reads(&object),
        Deed::Write => pending.writes(&object),
        Deed::Edit => pending.edits(call, &object),
        Deed::Run => pending.runs(call, &object, folder),
        Deed::Plan => {
            pending.sort = Sort::Plans;
            pending.plan = tasks::read(&object);
        }
        Deed::Unknown => pending.acts(call, &object),
        Deed::Search | Deed::Fetch => pending.looks(call, &object),
        Deed::Ask | Deed::Memory | Deed::Skill | Deed::Delegate | Deed::Think => {}
    }
    pending
}

/// The files that a call reads or changes.
pub fn files_of(call: &ToolCall) -> Vec<Box<str>> {
    let touches = read(call, 0, None).touches.0;
    touches.into_iter().map(|touch| touch.path).collect()
}

const PATHS: [&str; 9] = [
    "file_path",
    "filePath",
    "path",
    "target_file",
    "notebook_path",
    "filename",
    "file",
    "absolute_path",
    "uri",
];

fn path_in(object: &Object<'_>) -> Option<Box<str>> {
    PATHS
        .iter()
        .find_map(|name| object.text(name))
        .filter(|path| !path.is_empty())
}

fn first_text(object: &Object<'_>, names: &[&str]) -> Option<Box<str>> {
    names.iter().find_map(|name| object.text(name))
}

impl Pending {
    fn reads(&mut self, object: &Object<'_>) {
        self.sort = Sort::Reads;
        if let Some(path) = path_in(object) {
            self.touches.add(Act::Read, None, &path);
        }
        for name in ["paths", "files", "include"] {
            for file in object.array(name).unwrap_or_default() {
                let file = json::text(file).or_else(|| path_in(&Object::of(file)?));
                // Some tools take patterns in the same place.
                if let Some(file) = file.filter(|file| !file.contains(['*', '?'])) {
                    self.touches.add(Act::Read, None, &file);
                }
            }
        }
    }

    fn writes(&mut self, object: &Object<'_>) {
        self.sort = Sort::Changes;
        let named = || {
            object
                .text("name")
                .filter(|name| name.contains(['.', '/']) && !name.contains(' '))
        };
        let Some(path) = path_in(object).or_else(named) else {
            return;
        };
        self.touches.add(Act::Write, None, &path);
        // Bodies are long; they are only decoded where they can hold settings.
        if !path::is_config(&path) {
            return;
        }
        let body = first_text(object, &["content", "contents", "file_text", "text", "code_edit"]);
        if let Some(body) = body.filter(|body| body.len() <= SMALL_FILE) {
            Change::between(&path::normalise(&path), "", &body, &mut self.changes);
        }
    }

    fn edits(&mut self, call: &ToolCall, object: &Object<'_>) {
        self.sort = Sort::Changes;
        let patch = match &call.input {
            Input::Text(text) => Some(text.clone()),
            Input::Json(_) => first_text(object, &["input", "patch", "diff", "patch_text", "patchText"]),
        };
        let is_patch = patch
            .as_ref()
            .is_some_and(|patch| patch.contains("*** ") || patch.contains("+++ ") || patch.contains("diff --git"));
        let path = path_in(object);
        if let (Some(patch), true) = (&patch, is_patch) {
            patch::touches(patch, None, &mut self.touches);
            patch::changes(patch, None, &mut self.changes);
            patch::swaps(patch, &mut self.swaps);
        }
        let verb = object.text("command").unwrap_or_default();
        match (path, &*verb) {
            (Some(path), "delete") => self.touches.add(Act::Delete, None, &path),
            (Some(path), "rename" | "move") => {
                let to = first_text(object, &["new_path", "new_name", "destination"]).unwrap_or_default();
                self.touches.rename(None, &path, &to);
            }
            (Some(path), "undo_edit") => self.touches.add(Act::Restore, None, &path),
            (Some(path), _) => {
                if !self
                    .touches
                    .0
                    .iter()
                    .any(|touch| *touch.path == *path::normalise(&path))
                {
                    self.touches.add(Act::Modify, None, &path);
                }
                self.replaced(object, &path);
                if let (Some(blocks), false) = (&patch, is_patch) {
                    self.search_and_replace(blocks, &path);
                }
            }
            // SWE-agent's editor changes the file that is open.
            (None, _)
                if !is_patch && (object.has("replace") || object.has("replacement_text") || object.has("text")) =>
            {
                self.touches.0.push(super::touch::Touch {
                    act: Act::Modify,
                    path: super::touch::OPEN_FILE.into(),
                    from: None,
                });
            }
            (None, _) => {}
        }
    }

    /// The old and new texts of an edit, in the spellings of the agents.
    fn replaced(&mut self, object: &Object<'_>, path: &str) {
        const OLD: [&str; 7] = [
            "old_string",
            "oldText",
            "oldString",
            "old_str",
            "old_text",
            "search",
            "old",
        ];
        const NEW: [&str; 7] = [
            "new_string",
            "newText",
            "newString",
            "new_str",
            "new_text",
            "replace",
            "new",
        ];
        let place = path::normalise(path);
        let mut compare = |object: &Object<'_>| {
            if let (Some(old), Some(new)) = (first_text(object, &OLD), first_text(object, &NEW)) {
                self.swaps.push(Swap::of(&place, &old, &new));
                let before = self.changes.len();
                Change::between(&place, &old, &new, &mut self.changes);
                if self.changes.len() == before {
                    self.changes.extend(Change::within(&place, &old, &new));
                }
            }
        };
        compare(object);
        for edit in object.array("edits").unwrap_or_default() {
            if let Some(edit) = Object::of(edit) {
                compare(&edit);
            }
        }
    }

    /// Blocks of `SEARCH`, `=======`, `REPLACE`.
    fn search_and_replace(&mut self, blocks: &str, path: &str) {
        let place = path::normalise(path);
        let (mut old, mut new) = (String::new(), String::new());
        let mut side = 0;
        for line in blocks.lines() {
            let mark = line.trim_matches(['<', '>', '-', '+', '=', ' ']);
            if mark == "SEARCH" {
                side = 1;
            } else if side == 1 && line.starts_with("=======") {
                side = 2;
            } else if mark == "REPLACE" {
                Change::between(&place, &old, &new, &mut self.changes);
                (side, old, new) = (0, String::new(), String::new());
            } else if side == 1 {
                old.push_str(line);
                old.push('\n');
            } else if side == 2 {
                new.push_str(line);
                new.push('\n');
            }
        }
    }

    fn runs(&mut self, call: &ToolCall, object: &Object<'_>, folder: Option<&str>) {
        self.sort = Sort::Runs;
        self.session = object
            .count("session_id")
            .or_else(|| object.text("session_id")?.parse().ok());
        let own = first_text(
            object,
            &[
                "workdir",
                "cwd",
                "working_directory",
                "directory",
                "dir_path",
                "workingDirectory",
            ],
        );
        let own = own
            .filter(|folder| path::is_absolute(folder) && path::is_path(folder))
            .map(|folder| path::normalise(&folder));
        let folder = own.as_deref().or(folder);
        self.folder = own.as_deref().map(Into::into);
        let (script, is_code) = script_of(call, object);
        if script.is_empty() && self.session.is_none() && !object.has("chars") {
            // It runs something that is no script: a query, a job.
            return self.acts(call, object);
        }
        if script.contains("tools.") && matches!(call.input, Input::Text(_)) {
            return self.nested(&script);
        }
        if is_code {
            inline_code::touches_of(&script, folder, &mut self.touches);
            let first = script.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let key = cut(&format!("{} {}", call.name, first.trim()), ASKED);
            self.runs.push(Run {
                family: call.name.clone(),
                is_look: false,
                is_check: true,
                is_tool: true,
                ..Run::look(&key)
            });
            return;
        }
        let deeds = script::read(&script, folder);
        self.touches = deeds.touches;
        self.runs = deeds.runs;
        self.changes = deeds.changes;
        if self.folder.is_none() {
            self.folder = deeds.folder.filter(|folder| folder.starts_with('/')).map(Into::into);
        }
    }

    /// A program that calls tools: `await tools.exec_command({cmd: "ls", workdir: "/repo"})`.
    fn nested(&mut self, code: &str) {
        let decoded = |found: Option<regex::Match<'_>>| json::text(json::value(found?.as_str()).ok()?);
        // Programs of more calls than this are loops, whose calls differ anyway.
        for found in NESTED.captures_iter(code).take(16) {
            let folder = decoded(found.get(2)).map(|folder| path::normalise(&folder));
            let deeds = script::read(&decoded(found.get(1)).unwrap_or_default(), folder.as_deref());
            for touch in deeds.touches.0 {
                self.touches.0.push(touch);
            }
            for run in deeds.runs {
                program::add(&mut self.runs, run);
            }
            self.changes.extend(deeds.changes);
            self.folder = folder.map(Into::into).or(self.folder.take());
        }
        self.touches.0.truncate(super::touch::MOST);
        if code.contains("*** Begin Patch") {
            patch::touches(code, None, &mut self.touches);
        }
    }

    /// A tool that is none of the known ones: what it was asked is what was done.
    fn acts(&mut self, call: &ToolCall, object: &Object<'_>) {
        self.sort = Sort::Acts;
        self.looks_at(object);
        let lower = call.name.to_ascii_lowercase();
        let last = lower.rsplit("__").next().unwrap_or(&lower);
        let verb = last.split(['_', '-', '.']).next().unwrap_or_default();
        let has = |word: &str| last.split(['_', '-', '.']).any(|piece| piece == word);
        if has("file") || has("directory") {
            self.file_tool(verb, object);
        }
        let asked = asked(call, ASKED);
        // What only asks is worth less than what does.
        let is_look = [
            "get",
            "fetch",
            "calculate",
            "check",
            "wait",
            "show",
            "describe",
            "lookup",
            "count",
            "is",
            "has",
            "toolsearch",
        ]
        .contains(&verb);
        let key = cut(format!("{} {asked}", call.name).trim(), ASKED + 40);
        self.runs.push(Run {
            family: call.name.clone(),
            is_look,
            is_tool: true,
            ..Run::look(&key)
        });
    }

    fn file_tool(&mut self, verb: &str, object: &Object<'_>) {
        let path = path_in(object);
        let (from, to) = (
            first_text(object, &["source", "from", "old_path"]),
            first_text(object, &["destination", "to", "new_path"]),
        );
        match (verb, path, from, to) {
            ("move" | "rename", _, Some(from), Some(to)) => self.touches.rename(None, &from, &to),
            ("copy", _, Some(_), Some(to)) => self.touches.add(Act::Write, None, &to),
            ("delete" | "remove", Some(path), ..) => self.touches.add(Act::Delete, None, &path),
            ("create" | "make", Some(path), ..) => self.touches.add(Act::Folder, None, &path),
            _ => {}
        }
    }

    fn looks(&mut self, call: &ToolCall, object: &Object<'_>) {
        self.sort = Sort::Other;
        self.looks_at(object);
        let key = format!("{} {}", call.name, asked(call, ASKED));
        self.runs.push(Run {
            family: call.name.clone(),
            is_tool: true,
            ..Run::look(key.trim())
        });
    }

    fn looks_at(&mut self, object: &Object<'_>) {
        self.subject = object
            .members()
            .find_map(|(name, value)| readings::identity(&name, value));
    }
}

/// The script that a call runs, and whether it is a program rather than commands of a shell.
pub(super) fn script_of(call: &ToolCall, object: &Object<'_>) -> (String, bool) {
    if let Input::Text(text) = &call.input {
        return (text.to_string(), false);
    }
    if let Some(scripts) = object.array("commands") {
        let scripts: Vec<Box<str>> = scripts.into_iter().filter_map(json::text).collect();
        return (scripts.join("\n"), false);
    }
    for name in ["command", "cmd", "script", "code", "input"] {
        let Some(raw) = object.get(name) else { continue };
        if let Some(text) = json::text(raw) {
            return (text.into_string(), name == "code");
        }
        let words: Vec<Box<str>> = json::array(raw)
            .unwrap_or_default()
            .into_iter()
            .filter_map(json::text)
            .collect();
        if !words.is_empty() {
            let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            return (quoted.join(" "), false);
        }
    }
    // `{"action": {"command": […]}}`
    match object.object("action") {
        Some(action) if action.has("command") || action.has("cmd") => script_of(call, &action),
        Some(_) | None => (String::new(), false),
    }
}

/// A word as the shell would have to be given it.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word
            .chars()
            .all(|character| character.is_alphanumeric() || "-_./=:,@+%".contains(character));
    match is_plain {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
