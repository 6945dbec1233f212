//! A compactor that is a command: it reads `{"messages": [...]}` in OpenAI's chat form on standard input and writes
//! the compacted `{"messages": [...]}`, or the list alone, to standard output. `{budget}` in the command is the budget.

use std::io::Write;
use std::process::Command;
use std::process::Stdio;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use serde_json::Value;
use serde_json::json;

use crate::retention::arms::Arm;
use crate::retention::arms::ArmError;
use crate::retention::trajectory::push_call;
use crate::retention::trajectory::render;

/// So much of the end of what a failing command said is shown.
const SAID: usize = 2000;

/// A command under test.
#[derive(Clone, Debug)]
pub struct External {
    command: String,
}

impl External {
    /// The command with this line. It is split into words as a shell does, but no shell runs it.
    pub fn new(command: &str) -> Result<Self, ArmError> {
        let external = Self {
            command: command.to_owned(),
        };
        external.words(0)?;
        Ok(external)
    }

    fn words(&self, budget: u64) -> Result<Vec<String>, ArmError> {
        let line = self.command.replace("{budget}", &budget.to_string());
        let problem = |cause| ArmError::NotACommand {
            command: self.command.clone(),
            cause,
        };
        let words = split(&line).map_err(problem)?;
        if words.is_empty() {
            Err(problem("it is empty"))
        } else {
            Ok(words)
        }
    }

    fn run(&self, budget: u64, input: &[u8]) -> Result<Vec<u8>, ArmError> {
        let words = self.words(budget)?;
        let problem = |cause| ArmError::NotRun {
            command: words[0].clone(),
            cause,
        };
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(problem)?;
        let mut stdin = child.stdin.take().expect("standard input was asked for as a pipe");
        // Writing beside the reading: a command may answer before it has read everything.
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A command that does not want all of its input is judged by what it writes.
                let _ = stdin.write_all(input);
            });
            child.wait_with_output()
        });
        let output = output.map_err(problem)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let start = said.char_indices().rev().nth(SAID).map_or(0, |(start, _)| start);
            return Err(ArmError::Failed {
                command: words[0].clone(),
                status: output.status,
                said: said[start..].trim().to_owned(),
            });
        }
        Ok(output.stdout)
    }
}

impl Arm for External {
    fn name(&self) -> &str {
        "external"
    }

    fn compact(&self, messages: &[Message], budget: u64) -> Result<Vec<String>, ArmError> {
        let list: Vec<Value> = messages.iter().flat_map(chat).collect();
        let output = self.run(budget, json!({ "messages": list }).to_string().as_bytes())?;
        let problem = |cause: String| ArmError::NotMessages {
            command: self.command.clone(),
            cause,
        };
        let written: Value = serde_json::from_slice(&output).map_err(|cause| problem(cause.to_string()))?;
        let list = written.get("messages").unwrap_or(&written).as_array();
        let list = list.ok_or_else(|| problem("there is no list of messages in it".to_owned()))?;
        Ok(list.iter().map(unchat).collect())
    }
}

/// A message in OpenAI's chat form; one a result, where it carries several.
fn chat(message: &Message) -> Vec<Value> {
    if message.has_results() {
        let answer = |result: &mainstay_engine::transcript::ToolResult| {
            let alone = Message::new(
                Role::Tool,
                vec![mainstay_engine::transcript::Part::Result(Box::new(result.clone()))],
            );
            json!({ "role": "tool", "content": render(&alone), "tool_call_id": result.id.as_str() })
        };
        return message.results().map(answer).collect();
    }
    let calls: Vec<Value> = message
        .calls()
        .map(|call| {
            let function = json!({ "name": &*call.name, "arguments": call.input.as_str() });
            json!({ "id": call.id.as_str(), "type": "function", "function": function })
        })
        .collect();
    let mut words = message.clone();
    words
        .parts
        .retain(|part| matches!(part, mainstay_engine::transcript::Part::Text(_)));
    let text = render(&words);
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    let mut object = json!({ "role": message.role.name(), "content": content });
    if !calls.is_empty() {
        object["tool_calls"] = calls.into();
    }
    vec![object]
}

/// The text of a message in OpenAI's chat form.
fn unchat(message: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut content = match &message["content"] {
        Value::Array(parts) => parts
            .iter()
            .map(|part| text(&part["text"]))
            .collect::<Vec<_>>()
            .join("\n"),
        other => text(other),
    };
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        push_call(&mut content, &text(&function["name"]), &text(&function["arguments"]));
    }
    content
}

/// A command line in words: blanks part them, quotes of both kinds and backslashes keep them together.
fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                let escaped = characters.next().ok_or("it ends in a backslash")?;
                word.get_or_insert_default().push(escaped);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_engine::transcript::Part;

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        let words = split(r#"a  'b c' "d \" e"f \g '' "#).unwrap();
        assert_eq!(words, ["a", "b c", "d \" ef", "g", ""]);
        assert!(split("a 'b").is_err());
        assert!(split("a \\").is_err());
        assert!(External::new("  ").is_err());
    }

    #[test]
    fn a_command_that_copies_gives_everything_back() {
        let copy = External::new("cat").unwrap();
        let messages = [Message::new(
            Role::User,
            vec![Part::Text("hi".into()), Part::Text("there".into())],
        )];
        assert_eq!(copy.compact(&messages, 10).unwrap(), ["hi\nthere"]);
        let failing = External::new("sh -c 'echo no >&2; exit 3'").unwrap();
        let error = failing.compact(&messages, 10).unwrap_err().to_string();
        assert!(error.contains("no") && error.contains('3'), "{error}");
        assert!(External::new("echo {budget}").unwrap().compact(&messages, 10).is_err());
    }
}
