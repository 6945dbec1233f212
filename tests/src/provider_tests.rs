//! Every rule of the checker can be broken, and what is valid breaks none.

use serde_json::json;

use super::*;

fn found(form: Form, list: Value) -> Vec<String> {
    let mut body = json!({});
    body[form.list_key()] = list;
    violations(&body, form)
}

fn assert_refused(form: Form, list: Value, words: &str) {
    let found = found(form, list);
    assert!(found.len() == 1 && found[0].contains(words), "{words:?}: {found:?}");
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "n", "arguments": "{}"}})
}

#[test]
fn chat_rules_can_be_broken() {
    let user = json!({"role": "user", "content": "a"});
    let tool = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "o"});
    let asks = |ids: &[&str]| json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call(id)).collect::<Vec<_>>()});
    let said = json!({"role": "assistant", "content": "b"});
    assert!(found(Form::Chat, json!([user, asks(&["1", "2"]), tool("2"), tool("1"), said])).is_empty());
    assert!(
        found(Form::Chat, json!([user, asks(&["1"])])).is_empty(),
        "calls may wait"
    );
    assert!(
        found(
            Form::Chat,
            json!([user, {"role": "assistant", "content": null, "refusal": "no"}])
        )
        .is_empty()
    );
    let late = found(Form::Chat, json!([user, asks(&["1"]), said, tool("1")]));
    assert_eq!(late.len(), 2, "{late:?}");
    assert_refused(
        Form::Chat,
        json!([user, asks(&["1", "1"]), tool("1"), tool("1")]),
        "two calls",
    );
    assert_refused(
        Form::Chat,
        json!([user, {"role": "assistant", "content": null}]),
        "no content",
    );
    assert_refused(Form::Chat, json!([{"role": "user"}]), "no content");
    assert_refused(
        Form::Chat,
        json!([{"role": "user", "content": []}]),
        "empty list of content",
    );
    assert_refused(
        Form::Chat,
        json!([{"role": "user", "content": [{"type": "text"}]}]),
        "without a text",
    );
    let none = json!({"role": "assistant", "content": "b", "tool_calls": []});
    assert_refused(Form::Chat, json!([user, none]), "empty list of calls");
    assert_refused(Form::Chat, json!([{"role": "bot", "content": "b"}]), "role");
}

#[test]
fn anthropic_rules_can_be_broken() {
    let user = json!({"role": "user", "content": "a"});
    let uses = |id: &str| json!({"type": "tool_use", "id": id, "name": "n", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "o"});
    let thinks = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let asks = |blocks: Value| json!({"role": "assistant", "content": blocks});
    let answers = |blocks: Value| json!({"role": "user", "content": blocks});
    let text = |words: &str| json!({"type": "text", "text": words});
    assert!(
        found(
            Form::Anthropic,
            json!([
                user,
                asks(json!([thinks, uses("1")])),
                answers(json!([result("1"), text("x")])),
                asks(json!([text("b")]))
            ])
        )
        .is_empty()
    );
    let refused = |list: Value, words: &str| assert_refused(Form::Anthropic, list, words);
    refused(json!([asks(json!([text("b")]))]), "not the user's");
    refused(json!([{"role": "user", "content": ""}]), "without words");
    refused(
        json!([{"role": "user", "content": [{"type": "text", "text": " \n"}]}]),
        "without words",
    );
    let blank = json!({"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": ""}]});
    refused(
        json!([user, asks(json!([uses("1")])), answers(json!([blank]))]),
        "result with a text",
    );
    refused(
        json!([user, asks(json!([uses("1"), thinks])), answers(json!([result("1")]))]),
        "behind a call",
    );
    refused(json!([user, asks(json!([text("b"), thinks]))]), "what it led to");
    refused(json!([user, asks(json!([text("b ")]))]), "white space");
    let twice = found(
        Form::Anthropic,
        json!([user, asks(json!([uses("1"), uses("1")])), answers(json!([result("1")]))]),
    );
    assert_eq!(twice, ["1: two calls have one id"]);
    refused(
        json!([user, asks(json!([uses("1")])), answers(json!([text("x"), result("1")]))]),
        "not answered once",
    );
}

#[test]
fn responses_rules_can_be_broken() {
    let user = json!({"role": "user", "content": "a"});
    let asks = |id: &str| json!({"type": "function_call", "call_id": id, "name": "n", "arguments": "{}"});
    let answers = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "o"});
    let thinks = json!({"type": "reasoning", "id": "r", "summary": []});
    let said = json!({"role": "assistant", "content": [{"type": "output_text", "text": "b"}]});
    let refused = |list: Value, words: &str| assert_refused(Form::Responses, list, words);
    assert!(
        found(
            Form::Responses,
            json!([user, thinks, asks("1"), asks("2"), answers("1"), answers("2"), said])
        )
        .is_empty()
    );
    assert!(
        found(Form::Responses, json!([user, asks("1"), asks("2"), answers("1")])).is_empty(),
        "calls may wait"
    );
    refused(json!([user, thinks, user]), "reasoning without");
    refused(json!([user, thinks]), "reasoning without");
    refused(json!([user, asks("1"), thinks, answers("1")]), "reasoning without");
    refused(json!([user, answers("1")]), "no call for output");
    refused(
        json!([user, asks("1"), answers("1"), answers("1")]),
        "no call for output",
    );
    refused(json!([user, asks("1"), user]), "no output for call");
    refused(json!([{"role": "user"}]), "no content");
    let other = json!({"role": "user", "content": [{"type": "output_text", "text": "b"}]});
    refused(json!([other]), "other side");
    let custom = json!({"type": "custom_tool_call_output", "call_id": "1", "output": "o"});
    refused(json!([user, asks("1"), custom]), "no call for output");
}

#[test]
fn turns_are_told_from_what_is_not() {
    let list = |letters: &str| -> Vec<Value> {
        let message = |letter| match letter {
            's' => json!({"role": "system", "content": "x"}),
            'u' => json!({"role": "user", "content": "x"}),
            'a' => json!({"role": "assistant", "content": "x"}),
            'c' => json!({"role": "assistant", "content": null, "tool_calls": [call("1")]}),
            't' => json!({"role": "tool", "tool_call_id": "1", "content": "x"}),
            'i' => json!({"type": "function_call", "call_id": "1"}),
            _ => json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}),
        };
        letters.chars().map(message).collect()
    };
    for turns in ["", "s", "u", "sua", "uctau", "suctctaua", "uirau", "sucr"] {
        assert!(alternates(&list(turns)), "{turns}");
    }
    for other in ["a", "sa", "uu", "suaau", "uctu", "usa", "ssu", "uas"] {
        assert!(!alternates(&list(other)), "{other}");
    }
}
