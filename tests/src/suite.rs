//! The suite's language: a small conversation as text, and the shape it must have once assembled.
//!
//! A case is a Markdown heading, prose, and a code block. In the block, lines before `=>` are messages as a
//! reader would find them; lines after it are the expected messages and findings. One line a message:
//!
//! ```text
//! user       fix src/auth.rs
//! assistant  call c1 read src/auth.rs
//! tool       result c1 fn login() {}
//! ```
//!
//! Several parts of one message are joined by ` + `.

use mainstay_engine::transcript::Assembly;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

/// One case of the suite.
#[derive(Debug)]
pub struct Case {
    /// Its heading.
    pub name: String,
    /// The conversation as it is found.
    pub draft: Draft,
    /// The lines it must give.
    pub expected: Vec<String>,
}

/// The cases of a Markdown file.
pub fn cases(markdown: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut name = String::new();
    let mut block: Option<Vec<&str>> = None;
    for line in markdown.lines() {
        match (&mut block, line) {
            (None, "```") => block = Some(Vec::new()),
            (Some(lines), "```") => {
                cases.push(case(&name, lines));
                block = None;
            }
            (Some(lines), line) => lines.push(line),
            (None, line) => {
                if let Some(heading) = line.strip_prefix("# ") {
                    heading.clone_into(&mut name);
                }
            }
        }
    }
    cases
}

fn case(name: &str, lines: &[&str]) -> Case {
    let arrow = lines
        .iter()
        .position(|line| line.starts_with("=>"))
        .unwrap_or(lines.len());
    let (found, expected) = lines.split_at(arrow);
    let messages: Vec<_> = found
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| message(line))
        .collect();
    Case {
        name: name.to_owned(),
        draft: Draft {
            results_in_user_messages: messages
                .iter()
                .any(|message| message.role == Role::User && message.has_results()),
            messages,
            events: Vec::new(),
            steps_span_messages: false,
        },
        expected: expected
            .iter()
            .map(|line| line[2..].trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect(),
    }
}

fn message(line: &str) -> Message {
    let (role, rest) = line.split_once(' ').unwrap_or((line, ""));
    let role = Role::ALL.into_iter().find(|candidate| candidate.name() == role);
    let role = role.unwrap_or_else(|| panic!("no role in {line:?}"));
    let rest = rest.trim();
    let parts = if rest.is_empty() {
        Vec::new()
    } else {
        rest.split(" + ").map(part).collect()
    };
    Message::new(role, parts)
}

fn part(text: &str) -> Part {
    let mut words = text.splitn(3, ' ');
    let (first, id, rest) = (words.next(), words.next().unwrap_or(""), words.next().unwrap_or(""));
    let id = if id == "-" { "" } else { id };
    match first {
        Some("call") => {
            let (name, input) = rest.split_once(' ').unwrap_or((rest, ""));
            Part::Call(Box::new(ToolCall {
                id: CallId::new(id),
                name: name.into(),
                input: Input::Text(input.into()),
            }))
        }
        Some("result") => Part::Result(Box::new(ToolResult {
            id: CallId::new(id),
            name: None,
            content: vec![Content::Text(rest.into())],
            outcome: ToolOutcome::Unstated,
        })),
        _ => Part::Text(text.into()),
    }
}

/// The shape of an assembled transcript: one line a message, then one a finding.
pub fn shape(assembly: &Assembly) -> Vec<String> {
    let messages = assembly.transcript.messages().iter();
    let mut lines: Vec<_> = messages
        .map(|message| {
            let parts: Vec<_> = message.parts.iter().map(show_part).collect();
            format!("{:<10} {}", message.role.name(), parts.join(" + "))
                .trim_end()
                .to_owned()
        })
        .collect();
    lines.extend(
        assembly
            .findings
            .iter()
            .map(|finding| format!("! {}", finding.rule.code())),
    );
    lines
}

fn show_part(part: &Part) -> String {
    match part {
        Part::Text(text) => text.to_string(),
        Part::Call(call) => format!("call {} {} {}", call.id.as_str(), call.name, call.input.as_str())
            .trim_end()
            .to_owned(),
        Part::Result(result) => {
            let texts: Vec<_> = result
                .content
                .iter()
                .map(|content| match content {
                    Content::Text(text) => text.to_string(),
                    Content::Media(_) => "(media)".to_owned(),
                    Content::Opaque(_) => "(opaque)".to_owned(),
                })
                .collect();
            format!("result {} {}", result.id.as_str(), texts.join(" "))
                .trim_end()
                .to_owned()
        }
        Part::Thinking(_) => "(thinking)".to_owned(),
        Part::Media(_) => "(media)".to_owned(),
        Part::Opaque(_) => "(opaque)".to_owned(),
    }
}
