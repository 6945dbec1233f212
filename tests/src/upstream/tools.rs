//! The tools of a request, and arguments for them: made from their schema, and such that running them changes nothing where
//! the scenario asks for that.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::scenario::Reach;
use crate::conversation::Form;

/// Words for names and texts.
pub const WORDS: [&str; 16] = [
    "cache", "parser", "session", "budget", "retry", "worker", "schema", "commit", "branch", "index", "buffer",
    "gateway", "summary", "ledger", "window", "prompt",
];

/// How many lines a harmless command prints, by step: mostly few, sometimes many, as agents see it.
const LINES: [usize; 9] = [4, 30, 9, 160, 14, 60, 3, 320, 24];

/// Files that a harmless read asks for; who wants it to find them puts them there.
const FILES: [&str; 4] = ["README.md", "notes.md", "src/main.rs", "Cargo.toml"];

/// A tool that a model could call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool<'a> {
    /// Its name.
    pub name: &'a str,
    /// The schema of its arguments.
    pub schema: &'a Value,
}

/// The tools of a request that take JSON arguments.
pub fn offered(body: &Value, form: Form) -> Vec<Tool<'_>> {
    let listed = body["tools"].as_array().into_iter().flatten();
    let tools = listed.filter_map(|tool| {
        let (holder, key) = match form {
            Form::Anthropic => (tool, "input_schema"),
            Form::Chat => (&tool["function"], "parameters"),
            Form::Responses if tool["type"] == "function" => (tool, "parameters"),
            Form::Responses => return None,
        };
        let schema = &holder[key];
        let name = holder["name"].as_str()?;
        (schema.is_object() || form != Form::Anthropic).then_some(Tool { name, schema })
    });
    tools.collect()
}

/// What is called at a step: names and arguments.
pub fn choose(tools: &[Tool<'_>], reach: Reach, turn: usize, count: usize) -> Vec<(String, Value)> {
    let calls = (0..count.max(1)).filter_map(|which| {
        let place = turn * 3 + which;
        match reach {
            Reach::All if tools.is_empty() => None,
            Reach::All => {
                let tool = &tools[(turn + which) % tools.len()];
                Some((tool.name.to_owned(), fill(tool.schema, "", place)))
            }
            Reach::Harmless => harmless(tools, place, (turn + which) % 4 == 3),
        }
    });
    calls.collect()
}

/// A call that prints or reads.
fn harmless(tools: &[Tool<'_>], place: usize, prefers_read: bool) -> Option<(String, Value)> {
    const SHELLS: &[&str] = &[
        "bash",
        "shell",
        "exec_command",
        "shell_command",
        "run_shell_command",
        "execute_command",
        "terminal",
        "execute_bash",
        "developer__shell",
    ];
    const READERS: &[&str] = &["read", "read_file", "view"];
    let named = |names: &[&str]| {
        let found = tools
            .iter()
            .find(|tool| names.contains(&tool.name.to_lowercase().as_str()));
        found.cloned()
    };
    let (shell, reader) = (named(SHELLS), named(READERS));
    let tool = if prefers_read {
        reader.clone().or(shell.clone())
    } else {
        shell.or(reader)
    }?;
    Some((tool.name.to_owned(), fill(tool.schema, "", place)))
}

/// A value of a schema: the required fields, or all where none is required.
pub fn fill(schema: &Value, name: &str, place: usize) -> Value {
    fill_within(schema, name, place, 6)
}

fn fill_within(schema: &Value, name: &str, place: usize, depth: usize) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|list| list.first()) {
        return first.clone();
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(first) = schema[key]
            .as_array()
            .and_then(|list| list.first())
            .filter(|_| depth > 0)
        {
            return fill_within(first, name, place, depth - 1);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") => text(name, place).into(),
        Some("integer" | "number") => schema["minimum"]
            .as_u64()
            .unwrap_or(0)
            .max(1 + place as u64 % 50)
            .into(),
        Some("boolean") => false.into(),
        Some("array") if is_command(name) => json!(["bash", "-lc", text(name, place)]),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0).min(4);
            let items = (0..least).map(|_| fill_within(&schema["items"], name, place, depth.saturating_sub(1)));
            items.collect::<Vec<_>>().into()
        }
        _ if depth == 0 => json!({}),
        _ => fields(schema, place, depth),
    }
}

fn fields(schema: &Value, place: usize, depth: usize) -> Value {
    let mut filled = Map::new();
    let Some(properties) = schema["properties"].as_object() else {
        return filled.into();
    };
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, field) in properties {
        if required.is_empty() || required.contains(&name.as_str()) {
            filled.insert(name.clone(), fill_within(field, name, place, depth - 1));
        }
    }
    filled.into()
}

fn is_command(name: &str) -> bool {
    matches!(name, "command" | "cmd" | "script")
}

/// A text for a field of this name.
fn text(name: &str, place: usize) -> String {
    let word = WORDS[place % WORDS.len()];
    let lines = LINES[place % LINES.len()];
    match name {
        _ if is_command(name) => format!("seq -f '{word} %g of step {place}' 1 {lines}"),
        "path" | "file_path" | "filePath" | "file" => FILES[place % FILES.len()].to_owned(),
        "pattern" => "*.md".to_owned(),
        "description" => format!("Print {lines} lines about {word}"),
        "city" | "location" => format!("City {place}"),
        _ => format!("{word} {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, command: Value) -> Value {
        let parameters = json!({
            "type": "object",
            "properties": {"command": command, "timeout": {"type": "number"}},
            "required": ["command"],
        });
        json!({"type": "function", "name": name, "parameters": parameters})
    }

    #[test]
    fn a_shell_gets_a_command_in_the_shape_that_it_wants() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        let body = json!({"tools": [shell("apply", json!({"type": "string"})), shell("shell", list)]});
        let tools = offered(&body, Form::Responses);
        let calls = choose(&tools, Reach::Harmless, 0, 2);
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0].0, "shell");
        assert_eq!(calls[0].1["command"][0], "bash");
        assert!(calls[0].1.get("timeout").is_none());
        assert_ne!(calls[0].1, calls[1].1);
    }

    #[test]
    fn nothing_is_called_that_might_change_something() {
        let body = json!({"tools": [shell("write_file", json!({"type": "string"}))]});
        let tools = offered(&body, Form::Responses);
        assert!(choose(&tools, Reach::Harmless, 0, 1).is_empty());
        assert_eq!(choose(&tools, Reach::All, 0, 1).len(), 1);
    }
}
