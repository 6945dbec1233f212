//! Would the provider accept these messages?

use std::borrow::Borrow;
use std::collections::HashSet;

use crate::decide::ProviderForm;
use crate::json;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Checks a conversation against the rules of a form. Calls at the end may wait for their results.
pub fn check_structure<M: Borrow<Message>>(messages: &[M], form: ProviderForm) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let mut open: HashSet<&str> = HashSet::new();
    for (index, message) in messages.iter().map(M::borrow).enumerate() {
        check_message(index, message, form, &mut flaws);
        let answers = message.has_results();
        if !open.is_empty() && !answers && message.role != Role::Assistant {
            flaws.push(Flaw::fatal(
                FlawKind::Unpaired,
                Some(index),
                "calls before it are not answered",
            ));
            open.clear();
        }
        // In chat every call is answered before the model speaks again; a Responses step may be several items.
        if !open.is_empty() && message.role == Role::Assistant && form != ProviderForm::Responses {
            let before = index.checked_sub(1).map(|before| messages[before].borrow().role);
            if before != Some(Role::Assistant) {
                flaws.push(Flaw::fatal(
                    FlawKind::Unpaired,
                    Some(index),
                    "calls before it are not answered",
                ));
                open.clear();
            }
        }
        for part in &message.parts {
            match part {
                Part::Call(call) => {
                    if !open.insert(call.id.as_str()) {
                        flaws.push(Flaw::fatal(FlawKind::Unpaired, Some(index), "two calls share an id"));
                    }
                }
                Part::Result(result) => {
                    if !open.remove(result.id.as_str()) {
                        flaws.push(Flaw::fatal(
                            FlawKind::Unpaired,
                            Some(index),
                            "a result answers no call before it",
                        ));
                    }
                }
                Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
            }
        }
    }
    flaws
}

fn check_message(index: usize, message: &Message, form: ProviderForm, flaws: &mut Vec<Flaw>) {
    for part in &message.parts {
        match part {
            Part::Call(call) => {
                if let Input::Json(text) = &call.input
                    && json::value(text).is_err()
                {
                    flaws.push(Flaw::fatal(FlawKind::Arguments, Some(index), "arguments are not JSON"));
                }
                if message.role != Role::Assistant {
                    flaws.push(Flaw::fatal(
                        FlawKind::Role,
                        Some(index),
                        "a call outside of an assistant message",
                    ));
                }
            }
            Part::Result(_) if !matches!(message.role, Role::User | Role::Tool) => {
                flaws.push(Flaw::fatal(FlawKind::Role, Some(index), "a result in the wrong role"));
            }
            Part::Text(_) | Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    let first_other = message.parts.iter().position(|part| !matches!(part, Part::Result(_)));
    let last_result = message.parts.iter().rposition(|part| matches!(part, Part::Result(_)));
    if form == ProviderForm::Anthropic
        && matches!((first_other, last_result), (Some(other), Some(result)) if other < result)
    {
        flaws.push(Flaw::fatal(
            FlawKind::Misplaced,
            Some(index),
            "a result stands behind other content",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::CallId;
    use crate::transcript::Content;
    use crate::transcript::ToolCall;
    use crate::transcript::ToolOutcome;
    use crate::transcript::ToolResult;

    fn call(id: &str, json: &str) -> Message {
        let call = ToolCall {
            id: CallId::new(id),
            name: "n".into(),
            input: Input::Json(json.into()),
        };
        Message::new(Role::Assistant, vec![Part::Call(Box::new(call))])
    }

    fn result(id: &str) -> Part {
        Part::Result(Box::new(ToolResult {
            id: CallId::new(id),
            name: None,
            content: vec![Content::Text("x".into())],
            outcome: ToolOutcome::Unstated,
        }))
    }

    fn kinds(messages: &[Message], form: ProviderForm) -> Vec<FlawKind> {
        check_structure(messages, form)
            .into_iter()
            .map(|flaw| flaw.kind)
            .collect()
    }

    #[test]
    fn sound_conversations_have_no_flaws() {
        let tool = |id| Message::new(Role::Tool, vec![result(id)]);
        let user = Message::new(Role::User, vec![Part::Text("go".into())]);
        for form in [ProviderForm::Chat, ProviderForm::Responses, ProviderForm::Anthropic] {
            assert!(kinds(&[user.clone(), call("1", "{}"), tool("1"), call("2", "{}")], form).is_empty());
        }
    }

    #[test]
    fn every_rule_can_be_broken() {
        let user = Message::new(Role::User, vec![Part::Text("go".into())]);
        let tool = |id| Message::new(Role::Tool, vec![result(id)]);
        assert_eq!(
            kinds(&[call("1", "{}"), user.clone()], ProviderForm::Chat),
            [FlawKind::Unpaired]
        );
        assert_eq!(kinds(&[tool("1")], ProviderForm::Chat), [FlawKind::Unpaired]);
        assert_eq!(
            kinds(&[call("1", "{"), tool("1")], ProviderForm::Chat),
            [FlawKind::Arguments]
        );
        let late = Message::new(Role::User, vec![Part::Text("hm".into()), result("1")]);
        assert_eq!(
            kinds(&[call("1", "{}"), late], ProviderForm::Anthropic),
            [FlawKind::Misplaced]
        );
        let assistant = Message::new(Role::Assistant, vec![result("1")]);
        assert!(kinds(&[call("1", "{}"), assistant], ProviderForm::Chat).contains(&FlawKind::Role));
    }
}
