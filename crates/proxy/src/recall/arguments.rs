//! What a model asks for, out of the arguments of its call.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Map;
use serde_json::Value;

use crate::recall::RecallError;
use crate::recall::RecallTool;

/// A question, by tool.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    Search(Search),
    Fetch(Fetch),
    Ledger(Ledger),
    Checkpoints(Checkpoints),
    Dropped(Dropped),
}

/// What to look for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) words: String,
    pub(super) conversation: Option<String>,
    pub(super) most: Option<u64>,
}

/// Which text, and from where on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fetch {
    pub(super) reference: String,
    pub(super) offset: Option<u64>,
}

/// Whose ledger, and what of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    pub(super) conversation: Option<String>,
    pub(super) focus: Option<String>,
}

/// Which compactions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkpoints {
    pub(super) conversation: Option<String>,
    pub(super) most: Option<u64>,
    pub(super) skip: Option<u64>,
}

/// Which of the dropped texts of which compaction.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dropped {
    pub(super) checkpoint: Option<String>,
    pub(super) most: Option<u64>,
    pub(super) skip: Option<u64>,
}

/// Reads the arguments of a call.
pub(super) fn read(tool: RecallTool, arguments: &Map<String, Value>) -> Result<Asked, RecallError> {
    match tool {
        RecallTool::Search => {
            let asked: Search = parsed(tool, arguments)?;
            match asked.words.trim() {
                "" => Err(wrong(
                    tool,
                    "`words` is empty; give two to four words of what you look for",
                )),
                _ => Ok(Asked::Search(asked)),
            }
        }
        RecallTool::Fetch => Ok(Asked::Fetch(parsed(tool, arguments)?)),
        RecallTool::Ledger => Ok(Asked::Ledger(parsed(tool, arguments)?)),
        RecallTool::Checkpoints => Ok(Asked::Checkpoints(parsed(tool, arguments)?)),
        RecallTool::Dropped => Ok(Asked::Dropped(parsed(tool, arguments)?)),
    }
}

fn parsed<T: DeserializeOwned>(tool: RecallTool, arguments: &Map<String, Value>) -> Result<T, RecallError> {
    // What is null is left out: some clients fill in every property.
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    let given = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    serde_json::from_value(Value::Object(given)).map_err(|error| wrong(tool, &error.to_string()))
}

fn wrong(tool: RecallTool, why: &str) -> RecallError {
    RecallError::Arguments {
        tool: tool.name(),
        why: why.to_owned(),
    }
}

/// How many are wanted: as many as asked for within what the tool gives.
pub(super) fn how_many(asked: Option<u64>, usual: usize, most: usize) -> usize {
    let asked = asked.map_or(usual, |asked| usize::try_from(asked).unwrap_or(usize::MAX));
    asked.clamp(1, most)
}

/// How many come before those that are wanted.
pub(super) fn how_far(asked: Option<u64>) -> usize {
    asked.map_or(0, |asked| usize::try_from(asked).unwrap_or(usize::MAX))
}
