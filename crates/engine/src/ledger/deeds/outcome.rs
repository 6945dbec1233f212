//! How a call ended, as each agent writes it, and what the tool itself said.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::decide::cut;
use crate::json;
use crate::json::Object;
use crate::transcript::Content;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

/// Longest reason that is kept of a failure.
const REASON: usize = 200;

/// How a call ended.
#[derive(Clone, Debug)]
pub(super) struct Outcome<'a> {
    /// What the tool said, without what the agent program wrapped around it.
    pub body: Cow<'a, str>,
    /// All that was printed, with the lines that tell a status.
    pub printed: Cow<'a, str>,
    /// The exit code, where one is named.
    pub exit: Option<i64>,
    /// Whether the call failed, as far as anybody says.
    pub has_failed: bool,
    /// Whether the source, an exit code or the answer itself says that it went well.
    pub is_success: bool,
    /// Whether a command goes on running.
    pub is_running: bool,
    /// The session in which it does, where it has a number.
    pub session: Option<u64>,
    /// The file that an editor has open, as SWE-agent writes below every output.
    pub open_file: Option<String>,
    /// The folder in which its shell stands.
    pub folder: Option<String>,
}

/// Reads a result.
pub(super) fn read(result: &ToolResult) -> Outcome<'_> {
    let mut outcome = Outcome {
        body: joined(result),
        printed: Cow::Borrowed(""),
        exit: None,
        has_failed: result.outcome == ToolOutcome::Failure,
        is_success: result.outcome == ToolOutcome::Success,
        is_running: false,
        session: None,
        open_file: None,
        folder: None,
    };
    outcome.unwrap_json();
    outcome.read_head();
    outcome.printed = outcome.body.clone();
    outcome.read_foot();
    if outcome.exit.is_some_and(|code| code != 0) {
        outcome.has_failed = true;
    }
    outcome.is_success = !outcome.has_failed && (outcome.is_success || outcome.exit == Some(0));
    outcome
}

fn joined(result: &ToolResult) -> Cow<'_, str> {
    let mut texts = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Media(_) | Content::Opaque(_) => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        (Some(first), Some(second)) => {
            let mut all = format!("{first}\n{second}");
            for text in texts {
                all.push('\n');
                all.push_str(text);
            }
            Cow::Owned(all)
        }
    }
}

impl Outcome<'static> {
    /// An ending of which only the exit code is known.
    pub(super) fn of_exit(code: i64) -> Self {
        Outcome {
            body: Cow::Borrowed(""),
            printed: Cow::Borrowed(""),
            exit: Some(code),
            has_failed: code != 0,
            is_success: code == 0,
            is_running: false,
            session: None,
            open_file: None,
            folder: None,
        }
    }
}

impl Outcome<'_> {
    /// Whether the call did what it was asked to: no exit code, mark or opening says otherwise.
    pub(super) fn says_failure(&self) -> bool {
        self.has_failed || opens_as_failure(&self.body)
    }

    /// Whether the person did not let the call happen.
    pub(super) fn is_declined(&self) -> bool {
        let body = self.body.trim_start();
        self.has_failed
            && (body.starts_with("The user doesn't want to")
                || body.starts_with("User rejected")
                || body.starts_with("[Request interrupted"))
    }

    /// Why it failed: the first line that says something.
    pub(super) fn reason(&self) -> String {
        let mut lines = self
            .body
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with("OBSERVATION"));
        let first = lines.next().unwrap_or_default();
        let first = first
            .trim_start_matches("<tool_use_error>")
            .trim_end_matches("</tool_use_error>");
        // `Error:` alone says nothing.
        if first.len() < 16 && first.ends_with(':') {
            return cut(&format!("{first} {}", lines.next().unwrap_or_default()), REASON);
        }
        cut(first, REASON)
    }

    /// `{"output": …, "exit_code": 1}`, `{"output": …, "metadata": {"exit_code": 1}}`, `{"stdout": …, "stderr": …}`.
    fn unwrap_json(&mut self) {
        let text = self.body.trim_start();
        if !text.starts_with('{')
            || ![
                "\"output\"",
                "\"stdout\"",
                "\"exit_code\"",
                "\"success\"",
                "\"error\"",
                "\"exitCode\"",
                "\"ok\"",
            ]
            .iter()
            .any(|key| text.contains(key))
        {
            return;
        }
        let Ok(object) = Object::parse(text) else { return };
        let code = |object: &Object<'_>| {
            let names = ["exit_code", "exitCode", "returncode", "return_code", "exit_status"];
            names
                .iter()
                .find_map(|name| object.number(name))
                .map(|code| code as i64)
        };
        self.exit = code(&object).or_else(|| object.object("metadata").as_ref().and_then(code));
        let error = object.text("error").filter(|error| !error.is_empty());
        let says_badly = |name: &str| object.get(name).is_some_and(|raw| raw.get() == "false");
        if says_badly("success") || says_badly("ok") || (error.is_some() && self.exit.is_none_or(|code| code != 0)) {
            self.has_failed = true;
        }
        let says_well = object
            .get("success")
            .or_else(|| object.get("ok"))
            .is_some_and(|raw| raw.get() == "true");
        self.is_success |= says_well && error.is_none();
        let outputs: Vec<Box<str>> = ["output", "stdout", "stderr"]
            .iter()
            .filter_map(|name| object.text(name))
            .collect();
        let body = match (outputs.as_slice(), error) {
            ([], Some(error)) if self.has_failed => error.to_string(),
            ([], _) => return,
            (outputs, error) => {
                let mut body = outputs.join("\n");
                if let Some(error) = error {
                    body.push('\n');
                    body.push_str(&error);
                }
                body
            }
        };
        self.body = Cow::Owned(body);
    }

    /// Lines that agent programs put above the output.
    fn read_head(&mut self) {
        // The longest head is Codex's: command, chunk, wall time, exit, count, `Output:`.
        const LINES: usize = 8;
        let mut at = 0;
        let mut found = None;
        let mut running = None;
        for (index, line) in self.body.split_inclusive('\n').take(LINES).enumerate() {
            at += line.len();
            let line = line.trim();
            if let Some(code) = exit_of(line) {
                self.exit = self.exit.or(Some(code));
                found = Some(at);
            } else if let Some(session) = line.strip_prefix("Process running with session ID ") {
                running = session.trim().parse().ok();
                found = Some(at);
            } else if line == "Output:" && (found.is_some() || index > 0) {
                found = Some(at);
                break;
            } else if index == 0 && !is_wrapper(line) {
                break;
            }
        }
        self.session = running;
        self.is_running = running.is_some() || self.body.starts_with("Command running in background");
        if let Some(at) = found {
            self.cut_front(at);
        }
    }

    fn cut_front(&mut self, at: usize) {
        self.body = match std::mem::take(&mut self.body) {
            Cow::Borrowed(text) => Cow::Borrowed(&text[at..]),
            Cow::Owned(mut text) => Cow::Owned(text.split_off(at)),
        };
    }

    /// Lines that agent programs put below the output.
    fn read_foot(&mut self) {
        // OpenHands writes four, SWE-agent three.
        const LINES: usize = 6;
        let mut end = self.body.len();
        let mut cut = None;
        for line in self.body.rsplit('\n').take(LINES) {
            let start = end - line.len();
            let plain = line.trim().trim_start_matches('[').trim_end_matches(']');
            if let Some(code) = exit_of(plain) {
                self.exit = self.exit.or(Some(code));
                cut = Some(start);
            } else if ENDED_BADLY.is_match(plain) {
                self.has_failed = true;
                cut = Some(start);
            } else if let Some(file) = plain
                .strip_prefix("(Open file: ")
                .and_then(|rest| rest.strip_suffix(')'))
            {
                self.open_file = Some(file.to_owned());
                cut = Some(start);
            } else if let Some(folder) = plain
                .strip_prefix("(Current directory: ")
                .and_then(|rest| rest.strip_suffix(')'))
            {
                self.folder = Some(folder.to_owned());
            } else if let Some(folder) = plain.strip_prefix("Current working directory: ") {
                self.folder = Some(folder.to_owned());
                cut = Some(start);
            }
            end = start.saturating_sub(1);
        }
        if let Some(cut) = cut {
            self.body = match std::mem::take(&mut self.body) {
                Cow::Borrowed(text) => Cow::Borrowed(&text[..cut]),
                Cow::Owned(mut text) => {
                    text.truncate(cut);
                    Cow::Owned(text)
                }
            };
        }
    }
}

/// The exit code that a line names, and nothing else: `[process exited with code 1]`, `exit status 1`, `EXIT=0`.
fn exit_of(plain: &str) -> Option<i64> {
    // The longest of these lines name the command's kind and little more.
    const LONGEST: usize = 80;
    if plain.len() > LONGEST || !plain.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let found = EXIT.captures(plain)?;
    found.iter().skip(1).flatten().next()?.as_str().parse().ok()
}

static EXIT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i)^\W*(?:the )?(?:(?:process|command|script|program|task|shell|job|container|build|subprocess|child) )?(?:has )?(?:was )?",
        r"(?:(?:exit(?:ed|s)?|finished|completed|failed|terminated|returned|ended|returns)(?: with)?(?: an?)?(?: non-?zero)?(?: exit)?[ _-]?(?:code|status)|exit[ _-]?(?:code|status)|return ?code|rc|exit(?:ed)?(?: with)?)",
        r"[\s:=>]+(-?\d{1,10})\W*$|^<returncode>\s*(-?\d{1,10})",
    );
    Regex::new(pattern).expect("the pattern is well formed, which a test shows")
});

/// A last line that says of the whole call that it failed: `(request failed)`.
static ENDED_BADLY: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i)^\W*(?:the )?(?:request|command|call|tool(?: call)?|action|task|job|upload|download|transfer|build|deploy(?:ment)?|run|script|process|step|operation|execution|query|migration)",
        r" (?:has |was |is )?(?:failed|aborted|timed out|rejected|errored|killed|crashed|refused|denied|terminated|interrupted)\W*$",
    );
    Regex::new(pattern).expect("the pattern is well formed, which a test shows")
});

fn is_wrapper(line: &str) -> bool {
    [
        "Command: ",
        "Chunk ID: ",
        "Wall time",
        "Exit",
        "Process ",
        "Script completed",
    ]
    .iter()
    .any(|opening| line.starts_with(opening))
}

/// Whether a result begins as failures of tools do.
fn opens_as_failure(body: &str) -> bool {
    const OPENINGS: [&str; 24] = [
        "error",
        "failed",
        "fatal",
        "<tool_use_error>",
        "file not found",
        "could not find",
        "no changes made",
        "apply_patch verification failed",
        "your proposed edit has introduced",
        "no replacement was performed",
        "string to replace not found",
        "oldstring not found",
        "old_string not found",
        "the user doesn't want",
        "permission denied",
        "cannot ",
        "can't ",
        "invalid ",
        "no such file",
        "failure",
        "enoent",
        "search string not found",
        "write_stdin failed",
        "operation not permitted",
    ];
    // The longest of the openings, with room for what wraps it.
    let opening: String = body
        .trim_start()
        .trim_start_matches("OBSERVATION:")
        .trim_start()
        .chars()
        .take(48)
        .collect();
    let opening = opening.to_ascii_lowercase();
    OPENINGS.iter().any(|words| opening.starts_with(words))
}

/// Lines in which a shell says that a file could not be used.
pub(super) fn complaints(body: &str) -> Vec<&str> {
    const WORDS: [&str; 5] = [
        "No such file or directory",
        "Is a directory",
        "Permission denied",
        "cannot ",
        "can't read",
    ];
    // Complaints stand at the ends of an output; what is in between is content.
    let head = &body[..body.floor_char_boundary(body.len().min(4096))];
    let lines = head
        .lines()
        .filter(|line| line.len() < 400 && WORDS.iter().any(|word| line.contains(word)));
    lines.filter(|line| line.contains(": ")).take(8).collect()
}

/// Whether a text is a JSON object.
pub(super) fn as_object(text: &str) -> Option<Object<'_>> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    json::value(text).ok().and_then(Object::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::CallId;

    fn result(text: &str) -> ToolResult {
        ToolResult {
            id: CallId::new("1"),
            name: None,
            content: vec![Content::Text(text.into())],
            outcome: ToolOutcome::Unstated,
        }
    }

    #[test]
    fn exit_codes_of_all_agents() {
        for (text, exit, body) in [
            (
                r#"{"output":"no\n","metadata":{"exit_code":1,"duration_seconds":0.1}}"#,
                Some(1),
                "no\n",
            ),
            (r#"{"output": "x", "exit_code": 127, "error": null}"#, Some(127), "x"),
            (r#"{"stdout":"a","stderr":"b","exitCode":2}"#, Some(2), "a\nb"),
            (
                "Command: /bin/zsh -lc 'x'\nChunk ID: 1\nWall time: 0 seconds\nProcess exited with code 3\nOriginal token count: 1\nOutput:\nhi\n",
                Some(3),
                "hi\n",
            ),
            ("Exit code: 0\nWall time: 1.2 seconds\nOutput:\nhi", Some(0), "hi"),
            ("Exit code 1\ncat: x: Is a directory", Some(1), "cat: x: Is a directory"),
            ("(no output)\n\nCommand exited with code 1", Some(1), "(no output)\n\n"),
            (
                "a\n[The command completed with exit code 2.]\n[Current working directory: /w]\n[Python interpreter: /p]",
                Some(2),
                "a\n",
            ),
            ("a\n[Command finished with exit code 0]", Some(0), "a\n"),
            (
                "Output: x\nError: (none)\nExit Code: 4\nSignal: (none)",
                Some(4),
                "Output: x\nError: (none)\n",
            ),
            ("a\n(Open file: /r/x.py)\n(Current directory: /r)\nbash-$", None, "a\n"),
            ("a\n[process exited with code 1]", Some(1), "a\n"),
            ("main.go:3: no\nexit status 1", Some(1), "main.go:3: no\n"),
            ("a\nexit=0", Some(0), "a\n"),
            ("a\nEXIT_CODE: 2\n", Some(2), "a\n"),
            ("a\n<returncode>3</returncode>", Some(3), "a\n"),
            ("a\nreturned 3 rows", None, "a\nreturned 3 rows"),
            ("Exit codes are numbers", None, "Exit codes are numbers"),
            ("plain", None, "plain"),
            ("", None, ""),
        ] {
            let result = result(text);
            let outcome = read(&result);
            assert_eq!(outcome.exit, exit, "{text}");
            assert_eq!(outcome.body, body, "{text}");
        }
    }

    #[test]
    fn what_runs_on_and_what_is_open_is_told() {
        let running = result("Chunk ID: 9\nWall time: 1.0 seconds\nProcess running with session ID 4242\nOutput:\n");
        assert_eq!(read(&running).session, Some(4242));
        assert!(read(&result("Command running in background with ID: b1")).is_running);
        let open = result("a\n(Open file: /r/x.py)\n(Current directory: /r)\nbash-$");
        assert_eq!(read(&open).open_file.as_deref(), Some("/r/x.py"));
        assert_eq!(read(&open).folder.as_deref(), Some("/r"));
    }

    #[test]
    fn failures_are_told_by_their_opening() {
        for text in [
            "<tool_use_error>File has not been read yet",
            "Error: no",
            r#"{"success": false, "error": "old_string not found"}"#,
            r#"{"ok": false}"#,
            "lines of a form\n(request failed)",
            "Could not find the exact text in a",
        ] {
            assert!(read(&result(text)).says_failure(), "{text}");
        }
        for text in [
            "The file a has been updated",
            r#"{"success": true}"#,
            "Successfully replaced text",
            "ok",
        ] {
            assert!(!read(&result(text)).says_failure(), "{text}");
        }
    }
}
