//! Facts as lines: quoted where somebody said them, marked as a tool's where they were computed.

use super::*;
use crate::ledger::Ledger;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

fn said(text: &str) -> Message {
    Message::new(Role::User, vec![Part::Text(text.into())])
}

fn step(name: &str, input: &str, output: &str) -> [Message; 2] {
    let call = ToolCall {
        id: CallId::new("1"),
        name: name.into(),
        input: Input::Json(input.into()),
    };
    let result = ToolResult {
        id: CallId::new("1"),
        name: None,
        content: vec![Content::Text(output.into())],
        outcome: ToolOutcome::Unstated,
    };
    [
        Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]),
        Message::new(Role::Tool, vec![Part::Result(Box::new(result))]),
    ]
}

fn listed(messages: &[Message], section: Section) -> Vec<String> {
    let mut ledger = Ledger::default();
    for message in messages {
        ledger.fold(message);
    }
    let quoting = Quoting::new(&ledger);
    let count = |text: &str| text.len() as u64;
    let entries = ledger.entries();
    let mut sections = fill(entries, Vec::new(), &quoting, &Wanted::default(), 100_000, &count);
    sections.lines.remove(&section).unwrap_or_default()
}

#[test]
fn what_a_call_set_is_nobodys_words() {
    let messages = step(
        "Edit",
        r#"{"file_path":"/r/app/service.toml","old_string":"limit = 10","new_string":"limit = 1"}"#,
        "The file was changed.",
    );
    // The old value has the new one in it.
    assert_eq!(
        listed(&messages, Section::Facts),
        ["- [tool m1] app/service.toml · limit: 1"]
    );
}

#[test]
fn a_value_that_was_replaced_leads_to_the_next() {
    let show = |value: u32| {
        let output = format!("limit = {value}\n");
        step("Read", r#"{"file_path":"/r/app/service.toml"}"#, &output)
    };
    let messages: Vec<Message> = [2000, 3000, 4000].into_iter().flat_map(show).collect();
    assert_eq!(
        listed(&messages, Section::Superseded),
        [
            "- [tool m1–3] app/service.toml · limit: 2000 → 3000",
            "- [tool m3–5] app/service.toml · limit: 3000 → 4000"
        ]
    );
    assert_eq!(
        listed(&messages, Section::Facts),
        ["- [tool m5] app/service.toml · limit: 4000"]
    );
}

#[test]
fn a_fact_that_was_said_is_quoted_with_its_value() {
    let facts = listed(&[said("The staging server is heron-12.")], Section::Facts);
    assert_eq!(facts, ["- [user m0] The staging server is heron-12."]);
    let long = "as we found out together with the people from the platform team ".repeat(3);
    let facts = listed(
        &[said(&format!("{long}, the staging server is heron-12."))],
        Section::Facts,
    );
    for line in &facts {
        assert!(line.contains("heron-12") && line.chars().count() < 180, "{line}");
    }
}

#[test]
fn words_are_shown_from_where_they_give_the_value() {
    assert_eq!(words_around("the port is 8080", "8080"), "the port is 8080");
    let words = format!("{}the port is 8080, as before", "word ".repeat(40));
    let shown = words_around(&words, "8080");
    assert!(
        shown.starts_with('…') && shown.ends_with("the port is 8080, as before"),
        "{shown}"
    );
}
