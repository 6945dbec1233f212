//! Plans and todo lists, as the state they are: the newest list replaces the one before it.

use serde::Deserialize;
use serde::Serialize;

use super::shelf::Room;
use super::shelf::Shelf;
use super::shelf::Shelved;
use crate::decide::cut;
use crate::json;
use crate::json::Object;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// Most tasks; settled ones make room first.
const MOST: Room = Room { all: 150, light: 80 };

/// What a task is known by before its words were seen: its number behind this. No words begin so.
const NUMBERED: &str = "task #";

/// What is said of a task that a newer list has no more.
const REPLACED: &str = "no longer on the list";

/// Longest words of a task.
const LONGEST: usize = 240;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Progress {
    /// Not begun.
    Pending,
    /// Being worked on.
    Active,
    /// Done.
    Done,
    /// Given up.
    Dropped,
}

impl Progress {
    fn of(word: &str) -> Progress {
        match word.to_ascii_lowercase().as_str() {
            "completed" | "complete" | "done" | "finished" | "closed" => Progress::Done,
            "in_progress" | "in-progress" | "inprogress" | "active" | "doing" | "started" => Progress::Active,
            "cancelled" | "canceled" | "deleted" | "skipped" | "abandoned" => Progress::Dropped,
            _ => Progress::Pending,
        }
    }
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// Its number or name in the list.
    pub id: Option<Box<str>>,
    /// What is to be done; empty where only the state of a known one is given.
    pub words: Box<str>,
    /// How far it is; `None` where nothing is said of it.
    pub progress: Option<Progress>,
}

/// What a call says about tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Plan {
    /// The whole list.
    Whole(Vec<Item>),
    /// Some items; the others stay.
    Some(Vec<Item>),
    /// A new item, whose number stands in the result.
    New(Item),
}

/// What the arguments of a call say about tasks.
pub(super) fn read(object: &Object<'_>) -> Option<Plan> {
    for name in [
        "todos",
        "plan",
        "task_list",
        "tasks",
        "items",
        "content",
        "task_progress",
        "text",
    ] {
        let Some(raw) = object.get(name) else { continue };
        let items: Vec<Item> = match json::kind(raw) {
            json::Kind::Array => json::array(raw)?.into_iter().filter_map(item).take(MOST.all).collect(),
            json::Kind::String => checklist(&json::text(raw)?),
            _ => continue,
        };
        if !items.is_empty() {
            return Some(match object.flag("merge") {
                true => Plan::Some(items),
                false => Plan::Whole(items),
            });
        }
        // An empty list is a list that was cleared.
        if json::kind(raw) == json::Kind::Array {
            return Some(Plan::Whole(Vec::new()));
        }
    }
    let words = object.text("subject").unwrap_or_default();
    let id = ["taskId", "task_id", "id"]
        .iter()
        .find_map(|name| object.get(name))
        .map(plain);
    let progress = object.text("status").map(|word| Progress::of(&word));
    let item = Item { id, words, progress };
    match (&item.id, item.words.is_empty(), progress) {
        (Some(_), _, Some(_)) | (Some(_), false, None) => Some(Plan::Some(vec![item])),
        (None, false, _) => Some(Plan::New(item)),
        (Some(_), true, None) | (None, true, _) => None,
    }
}

fn plain(raw: json::Raw<'_>) -> Box<str> {
    json::text(raw).unwrap_or_else(|| raw.get().into())
}

fn item(raw: json::Raw<'_>) -> Option<Item> {
    if let Some(words) = json::text(raw) {
        return Some(Item {
            id: None,
            words,
            progress: Some(Progress::Pending),
        });
    }
    let object = Object::of(raw)?;
    let words = [
        "content",
        "step",
        "description",
        "title",
        "task",
        "text",
        "subject",
        "name",
    ]
    .iter()
    .find_map(|name| object.text(name))?;
    let done = object
        .get("done")
        .or_else(|| object.get("completed"))
        .map(|raw| raw.get() == "true");
    let progress = match (object.text("status").or_else(|| object.text("state")), done) {
        (Some(word), _) => Progress::of(&word),
        (None, Some(true)) => Progress::Done,
        (None, Some(false) | None) => Progress::Pending,
    };
    Some(Item {
        id: object.get("id").map(plain),
        words,
        progress: Some(progress),
    })
}

/// The items of a list with boxes: `- [ ] a`, `[x] b`.
pub(super) fn checklist(text: &str) -> Vec<Item> {
    let boxed = text.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches(['-', '*', '+', ' ']);
        let line = line
            .trim_start_matches(|character: char| character.is_ascii_digit() || character == '.')
            .trim_start();
        let rest = line.strip_prefix('[')?;
        let (mark, words) = rest.split_once(']')?;
        let progress = match mark {
            " " | "" => Progress::Pending,
            "x" | "X" | "✓" | "✔" => Progress::Done,
            "-" | "~" | ">" | "/" => Progress::Active,
            _ => return None,
        };
        let words = words.trim();
        // `[ ](link)` is no box.
        (!words.is_empty() && !words.starts_with('(')).then(|| Item {
            id: None,
            words: words.into(),
            progress: Some(progress),
        })
    });
    boxed.take(MOST.all).collect()
}

/// The items of a printed list: `#1 [completed] words`.
pub(super) fn printed(text: &str) -> Vec<Item> {
    let lines = text.lines().filter_map(|line| {
        let (id, rest) = line.trim().strip_prefix('#')?.split_once(" [")?;
        let (state, words) = rest.split_once("] ")?;
        id.parse::<u32>().ok()?;
        Some(Item {
            id: Some(id.into()),
            words: words.split(" [blocked by").next().unwrap_or(words).trim().into(),
            progress: Some(Progress::of(state)),
        })
    });
    lines.take(MOST.all).collect()
}

/// A step of a plan or todo list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    entry: Entry,
    id: Option<Box<str>>,
    /// Whether a call of the agent's set it; others were only listed.
    #[serde(default)]
    is_own: bool,
}

impl TaskRecord {
    /// What is to be done.
    pub fn words(&self) -> &str {
        &self.entry.value
    }

    /// Its number or name in the list.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Whether a call of the agent's set it; others were only listed.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Whether it is open, done, or given up.
    pub fn status(&self) -> Status {
        self.entry.status
    }

    /// Whether a newer list has it no more.
    pub fn is_replaced(&self) -> bool {
        let note = self.entry.note.as_deref().unwrap_or_default();
        self.entry.status == Status::Superseded && note.starts_with(REPLACED)
    }

    /// The message that first named it.
    pub fn first(&self) -> u32 {
        self.entry.first
    }

    /// The message that last said something of it.
    pub fn last(&self) -> u32 {
        self.entry.last
    }

    /// Whose list it is.
    pub fn author(&self) -> Author {
        self.entry.author
    }

    /// [in progress] #3 Write the docs
    pub fn line(&self) -> String {
        let state = self.entry.note.as_deref().unwrap_or(self.entry.status.name());
        let id = self.id.as_deref().filter(|id| id.len() <= 12);
        let id = id
            .map(|id| format!("#{} ", id.trim_start_matches('#')))
            .unwrap_or_default();
        format!("[{state}] {id}{}", self.words())
    }
}

impl Shelved for TaskRecord {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        self.entry.status != Status::Open
    }
}

/// All tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tasks {
    tasks: Shelf<TaskRecord>,
}

impl Tasks {
    /// The tasks, the one touched longest ago first: the newest list stands last, in its order.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.tasks.items().map(|task| &task.entry)
    }

    /// The tasks: the agent's own first, in the order of their numbers where they have some, and of the newest list otherwise.
    pub(super) fn items(&self) -> Vec<&TaskRecord> {
        let mut tasks: Vec<&TaskRecord> = self.tasks.items().collect();
        let number = |task: &TaskRecord| {
            task.id
                .as_deref()
                .and_then(|id| id.trim_start_matches('#').parse::<u32>().ok())
        };
        tasks.sort_by_key(|task| {
            (
                !task.is_own,
                task.entry.status == Status::Superseded,
                number(task).unwrap_or(u32::MAX),
            )
        });
        tasks
    }

    /// Takes in what a list shows that a tool printed.
    pub(super) fn take_listed(&mut self, message: u32, items: &[Item]) -> Vec<Box<str>> {
        items.iter().filter_map(|item| self.set(message, item, false)).collect()
    }

    /// Takes in what a call said, with what its result said; returns what was newly done.
    pub(super) fn take_in(&mut self, message: u32, plan: &Plan, result: &str) -> Vec<Box<str>> {
        let mut done = Vec::new();
        match plan {
            Plan::Whole(items) => {
                let keys: Vec<String> = items.iter().map(|item| key_of(&item.words)).collect();
                self.drop_missing(message, &keys);
                for item in items {
                    done.extend(self.set(message, item, true));
                }
            }
            Plan::Some(items) => {
                for item in items {
                    done.extend(self.set(message, item, true));
                }
            }
            Plan::New(item) => {
                let mut item = item.clone();
                item.id = created_id(result);
                item.progress = item.progress.or(Some(Progress::Pending));
                done.extend(self.set(message, &item, true));
            }
        }
        done
    }

    fn drop_missing(&mut self, message: u32, keys: &[String]) {
        self.tasks.amend_all(|task| {
            if task.entry.status == Status::Open && !keys.iter().any(|key| **key == *task.entry.key) {
                task.entry.status = Status::Superseded;
                task.entry.last = message;
                task.entry.note = Some(format!("{REPLACED} m{message}").into());
            }
        });
    }

    /// Sets one task; returns its words if it is done now and was not before.
    fn set(&mut self, message: u32, item: &Item, is_own: bool) -> Option<Box<str>> {
        let by_id = item.id.as_ref().and_then(|id| {
            let found = self.tasks.items().filter(|task| task.id.as_ref() == Some(id)).last();
            found.map(|task| task.entry.key.to_string())
        });
        let key = match (item.words.trim().is_empty(), by_id) {
            // Numbers start anew with every list: words tell which task it is, the number only where there are none.
            // A task that was known by its number alone gets its words.
            (false, Some(old)) if item.progress.is_none() || old.starts_with(NUMBERED) => {
                self.rename(&old, &item.words)
            }
            (false, _) => key_of(&item.words),
            (true, Some(old)) => old,
            (true, None) => format!("{NUMBERED}{}", item.id.as_deref()?),
        };
        let mut task = self.tasks.take(&key).unwrap_or_else(|| {
            let words = if item.words.trim().is_empty() {
                key.as_str()
            } else {
                item.words.trim()
            };
            let mut entry = Entry::new(
                Kind::Task,
                &key,
                &cut(words, LONGEST),
                Status::Open,
                Author::Assistant,
                message,
            );
            entry.times = 0;
            TaskRecord {
                entry,
                id: None,
                is_own: false,
            }
        });
        let was_done = task.entry.status == Status::Closed;
        task.is_own |= is_own;
        task.id = item.id.clone().or(task.id);
        task.entry.last = message;
        task.entry.times += 1;
        if let Some(progress) = item.progress {
            let (status, note) = match progress {
                Progress::Pending => (Status::Open, "pending"),
                Progress::Active => (Status::Open, "in progress"),
                Progress::Done => (Status::Closed, "done"),
                Progress::Dropped => (Status::Superseded, "given up"),
            };
            task.entry.status = status;
            task.entry.note = Some(note.into());
        }
        let is_news = task.entry.status == Status::Closed && !was_done;
        let words = is_news.then(|| task.entry.value.clone());
        self.tasks.put(&key, task, MOST);
        words
    }

    fn rename(&mut self, old: &str, words: &str) -> String {
        let key = key_of(words);
        if let Some(mut task) = self.tasks.take(old) {
            task.entry.key = key.as_str().into();
            task.entry.value = cut(words.trim(), LONGEST).into();
            self.tasks.put(&key, task, MOST);
        }
        key
    }
}

/// `Task #3 created successfully: …`
fn created_id(result: &str) -> Option<Box<str>> {
    let rest = result.trim_start().strip_prefix("Task #")?;
    let end = rest.find(|character: char| !character.is_ascii_digit())?;
    Some(rest[..end].into())
}

/// Words without what differs between two spellings of one task.
fn key_of(words: &str) -> String {
    let plain: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    cut(plain.join(" ").trim_end_matches('.'), LONGEST)
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
