//! A user's home to run the command in, with nothing of this machine's environment; and what tests ask of what it prints.
// Each test uses a part of it.
#![allow(dead_code)]

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use serde_json::Value;

pub struct Home {
    pub folder: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
        let home = self.folder.path();
        command
            .args(arguments)
            .env_clear()
            .env("HOME", home)
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub fn filter(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }
}

/// A session of those that come with the project.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.to_str().unwrap().to_owned()
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What docs/json.md says under a heading, up to the next one of its level.
pub fn documentation(heading: &str) -> &'static str {
    let all = include_str!("../../../../docs/json.md");
    let start = all
        .find(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("no {heading}"));
    let section = &all[start + 1..];
    section.split("\n## ").next().unwrap()
}

/// Every field of a value stands in its documentation.
pub fn assert_documented(value: &Value, documentation: &str) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let is_named = |name: String| documentation.contains(&name);
                let is_documented = is_named(format!("`{key}`")) || is_named(format!("`{key}[]`"));
                assert!(is_documented, "{key} is not documented");
                assert_documented(inner, documentation);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| assert_documented(value, documentation)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
