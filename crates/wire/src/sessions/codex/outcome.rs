//! How a tool call ended, from what Codex writes at the head of its output.

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

use crate::json;
use crate::json::Object;

/// How Codex begins an output when the call itself failed, before anything ran.
const FAILURES: &[&str] = &[
    "apply_patch verification failed",
    "collab spawn failed",
    "exec_command failed",
    "execution error",
    "failed to parse function arguments",
    "Script failed",
    "unsupported call",
    "write_stdin failed",
];

/// How the head of a command's output begins. Only behind one of these are exit codes looked for: in
/// anything else they are the tool's own words.
const HEADS: &[&str] = &[
    "Command: ",
    "Chunk ID: ",
    "Wall time: ",
    "Exit code: ",
    "Process exited ",
];

/// The outcome an output states.
pub(super) fn of(result: &ToolResult) -> ToolOutcome {
    let Some(Content::Text(text)) = result.content.first() else {
        return ToolOutcome::Unstated;
    };
    let code = if text.starts_with('{') {
        json_code(text)
    } else {
        head_code(text)
    };
    match code {
        Some(0) => ToolOutcome::Success,
        Some(_) => ToolOutcome::Failure,
        None if FAILURES.iter().any(|opening| text.starts_with(opening)) => ToolOutcome::Failure,
        None => ToolOutcome::Unstated,
    }
}

/// The exit code of an output that is JSON around the text.
fn json_code(text: &str) -> Option<i64> {
    let object = Object::parse(text).ok()?;
    let metadata = object.object("metadata");
    let code = metadata.and_then(|metadata| metadata.get("exit_code"));
    let code = code.or_else(|| object.get("exit_code"))?;
    json::number(code).map(|code| code as i64)
}

/// The exit code in the lines before the output proper.
fn head_code(text: &str) -> Option<i64> {
    if !HEADS.iter().any(|head| text.starts_with(head)) {
        return None;
    }
    let head = text.lines().take_while(|line| *line != "Output:");
    head.filter_map(|line| {
        let code = line
            .strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "))?;
        code.trim().parse().ok()
    })
    .next()
}

#[cfg(test)]
mod tests {
    use mainstay_engine::transcript::CallId;

    use super::*;

    #[test]
    fn exit_codes_are_read_from_the_head_only() {
        for (text, outcome) in [
            (
                r#"{"output":"ok","metadata":{"exit_code":0,"duration_seconds":0.1}}"#,
                ToolOutcome::Success,
            ),
            (r#"{"output":"no","metadata":{"exit_code":127}}"#, ToolOutcome::Failure),
            (r#"{"exit_code":2,"output":"command failed"}"#, ToolOutcome::Failure),
            (r#"{"output":"ok"}"#, ToolOutcome::Unstated),
            ("{not json", ToolOutcome::Unstated),
            (
                "Exit code: 0\nWall time: 1 seconds\nOutput:\nfine",
                ToolOutcome::Success,
            ),
            ("Exit code: -1\nOutput:\n", ToolOutcome::Failure),
            (
                "Command: ls\nChunk ID: 1\nProcess exited with code 2\nOutput:\nx",
                ToolOutcome::Failure,
            ),
            (
                "Chunk ID: 1\nProcess running with session ID 7\nOutput:\nProcess exited with code 1",
                ToolOutcome::Unstated,
            ),
            ("the log says\nProcess exited with code 1", ToolOutcome::Unstated),
            ("apply_patch verification failed: no such line", ToolOutcome::Failure),
            ("Plan updated", ToolOutcome::Unstated),
            ("", ToolOutcome::Unstated),
        ] {
            let result = ToolResult {
                id: CallId::new("c"),
                name: None,
                content: vec![Content::Text(text.into())],
                outcome: ToolOutcome::Unstated,
            };
            assert_eq!(of(&result), outcome, "{text}");
        }
    }
}
