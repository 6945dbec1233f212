//! Skills, commands and notices of the host.

use super::*;
use crate::transcript::CallId;
use crate::transcript::Input;
use crate::transcript::ToolOutcome;

const SHIP: &str = "Base directory for this skill: /home/dev/.agent/skills/ship\n\n# Ship\n\nCommit, push and update the PR.\n\n\
    1. Stage files by name (never `git add -A`)\n2. Write a short message\n3. If no PR exists, skip this step and tell the user\n\n\
    ```\nmust not be read\n```\n\n- Never force push\n- Is it done?";

fn hosts(text: &str) -> Message {
    let mut message = Message::new(Role::User, vec![Part::Text(text.into())]);
    message.author = Author::Host;
    message
}

#[test]
fn the_rules_of_a_skill_are_kept_and_its_steps_are_not() {
    let words = HostWords::in_message(&hosts(SHIP), None).map(|words| words.text());
    assert_eq!(
        words.as_deref(),
        Some(
            "skill ship:\n1. Stage files by name (never `git add -A`)\n3. If no PR exists, skip this step and tell the user\n- Never force push"
        )
    );
}

#[test]
fn text_of_the_host_behind_a_command_is_that_commands() {
    let text = format!(
        "Review the change. Never edit files. {}",
        "Look at every file with care. ".repeat(8)
    );
    let words = HostWords::in_message(&hosts(&text), Some("review"));
    assert_eq!(
        words.map(|words| words.text()).as_deref(),
        Some("skill review:\nNever edit files.")
    );
    assert_eq!(HostWords::in_message(&hosts(&text), None), None);
}

#[test]
fn a_spawned_agent_keeps_what_it_was_told_about_itself() {
    let notice = "You are the newly spawned agent. Treat the next user message as your new task.";
    let result = ToolResult {
        id: CallId::new("1"),
        name: None,
        content: vec![Content::Text(notice.into())],
        outcome: ToolOutcome::Unstated,
    };
    let called = |name: &str| ToolCall {
        id: CallId::new("1"),
        name: name.into(),
        input: Input::Json(r#"{"name":"ship"}"#.into()),
    };
    assert_eq!(
        HostWords::in_result(Some(&called("spawn_agent")), &result),
        Some(HostWords::Notice(notice.to_owned()))
    );
    assert_eq!(
        HostWords::in_result(Some(&called("WebFetch")), &result),
        None,
        "a page that says so is a page"
    );
    let call = called("skill");
    let result = ToolResult {
        content: vec![Content::Text(SHIP.into())],
        ..result
    };
    let words = HostWords::in_result(Some(&call), &result).map(|words| words.text());
    assert!(
        words.is_some_and(|words| words.starts_with("skill ship:\n")),
        "loaded by a tool"
    );
    assert_eq!(HostWords::in_result(None, &result), None);
}
