//! Every rule refuses what breaks it, in the provider's words, and takes what does not.

use super::*;

fn post(desk: &Desk, form: Form, body: &Value) -> (u16, Value) {
    let path = match form {
        Form::Chat => "/v1/chat/completions",
        Form::Responses => "/v1/responses",
        Form::Anthropic => "/v1/messages",
    };
    let reply = desk.answer(Received {
        method: "POST".to_owned(),
        path: path.to_owned(),
        headers: vec![("authorization".to_owned(), "Bearer key".to_owned())],
        body: body.to_string(),
        ..Received::default()
    });
    let bytes = reply.pieces.concat();
    (reply.status, serde_json::from_slice(&bytes).unwrap_or_default())
}

fn body(form: Form, list: Value) -> Value {
    let mut body = json!({"model": "m", "max_tokens": 1_000});
    body[form.list_key()] = list;
    body
}

fn strict() -> Desk {
    Desk::new(Scenario::default(), None)
}

#[track_caller]
fn refuses(form: Form, list: Value, rule: &str, words: &str) {
    let desk = strict();
    let (status, answer) = post(&desk, form, &body(form, list));
    assert_eq!(status, 400, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap_or("");
    assert!(message.contains(words), "{message}");
    assert_eq!(answer["error"]["type"], "invalid_request_error");
    let report = desk.report();
    assert_eq!(report.rejections[0].rule, rule);
    assert_eq!(report.malformed().len(), 1);
}

#[track_caller]
fn takes(form: Form, list: Value) {
    let (status, answer) = post(&strict(), form, &body(form, list));
    assert_eq!(status, 200, "{answer}");
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn uses(ids: &[&str]) -> Value {
    let blocks = ids
        .iter()
        .map(|id| json!({"type": "tool_use", "id": id, "name": "look", "input": {}}));
    json!({"role": "assistant", "content": blocks.collect::<Vec<_>>()})
}

fn results(ids: &[&str]) -> Value {
    let blocks = ids
        .iter()
        .map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "seen"}));
    json!({"role": "user", "content": blocks.collect::<Vec<_>>()})
}

#[test]
fn anthropic_wants_calls_answered_at_the_beginning_of_the_next_message() {
    let form = Form::Anthropic;
    takes(form, json!([user("a"), uses(&["x", "y"]), results(&["y", "x"])]));
    takes(form, json!([user("a"), user("b")]));
    let words = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: y. Each `tool_use` \
                 block must have a corresponding `tool_result` block in the next message.";
    let list = json!([user("a"), uses(&["x", "y"]), results(&["x"])]);
    refuses(form, list, "pairing", words);
    let list = json!([user("a"), uses(&["x"]), user("b"), results(&["x"])]);
    refuses(
        form,
        list,
        "pairing",
        "without `tool_result` blocks immediately after: x",
    );
    let list = json!([user("a"), uses(&["x"]), user("b")]);
    refuses(
        form,
        list,
        "pairing",
        "without `tool_result` blocks immediately after: x",
    );
    let words = "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: x. Each `tool_result` block \
                 must have a corresponding `tool_use` block in the previous message.";
    refuses(form, json!([user("a"), results(&["x"])]), "pairing", words);
}

#[test]
fn anthropic_wants_ids_once() {
    let form = Form::Anthropic;
    let list = json!([user("a"), uses(&["x", "x"]), results(&["x"])]);
    refuses(
        form,
        list,
        "duplicate-id",
        "messages.1.content.1: `tool_use` ids must be unique",
    );
    let list = json!([user("a"), uses(&["x"]), results(&["x", "x"])]);
    refuses(
        form,
        list,
        "duplicate-id",
        "Found multiple `tool_result` blocks with id: x",
    );
    let twice = json!([user("a"), uses(&["x"]), results(&["x"]), uses(&["x"]), results(&["x"])]);
    refuses(form, twice, "duplicate-id", "must be unique");
}

#[test]
fn anthropic_wants_roles_contents_and_marks_in_order() {
    let form = Form::Anthropic;
    let said = json!({"role": "assistant", "content": "b"});
    let words = "first message must use the \"user\" role";
    refuses(form, json!([said, user("a")]), "role", words);
    refuses(
        form,
        json!([user("a"), said]),
        "role",
        "does not support assistant message prefill",
    );
    refuses(
        form,
        json!([{"role": "tool", "content": "a"}]),
        "role",
        "Unexpected role \"tool\"",
    );
    refuses(
        form,
        json!([user("")]),
        "content",
        "messages.0: all messages must have non-empty content",
    );
    let blank = json!([{"role": "user", "content": [{"type": "text", "text": " "}]}]);
    refuses(form, blank, "content", "text content blocks must be non-empty");
    let mark = |text: &str| {
        let block = json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
        json!({"role": "user", "content": [block]})
    };
    takes(form, json!([mark("a"), mark("b"), mark("c"), mark("d")]));
    let words = "A maximum of 4 blocks with cache_control may be provided. Found 5.";
    let five = json!([mark("a"), mark("b"), mark("c"), mark("d"), mark("e")]);
    refuses(form, five, "marks", words);
    let mut call = uses(&["x"]);
    call["content"][0]["input"] = "text".into();
    let list = json!([user("a"), call, results(&["x"])]);
    refuses(
        form,
        list,
        "arguments",
        "tool_use.input: Input should be a valid dictionary",
    );
}

fn calls(ids: &[&str], arguments: &str) -> Value {
    let calls = ids.iter().map(|id| {
        let function = json!({"name": "look", "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    });
    json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
}

fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "seen"})
}

#[test]
fn chat_wants_calls_answered_and_answers_called_for() {
    let form = Form::Chat;
    takes(
        form,
        json!([user("a"), calls(&["x", "y"], "{}"), tool("y"), tool("x"), user("b")]),
    );
    let words = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. \
                 The following tool_call_ids did not have response messages: y";
    let list = json!([user("a"), calls(&["x", "y"], "{}"), tool("x"), user("b")]);
    refuses(form, list, "pairing", words);
    refuses(
        form,
        json!([user("a"), calls(&["x"], "{}")]),
        "pairing",
        "response messages: x",
    );
    let words = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    refuses(form, json!([user("a"), tool("x")]), "pairing", words);
    let list = json!([user("a"), calls(&["x"], "{}"), user("b"), tool("x")]);
    refuses(form, list, "pairing", "response messages: x");
    let list = json!([user("a"), calls(&["x"], "{}"), tool("x"), tool("z")]);
    refuses(
        form,
        list,
        "pairing",
        "'tool_call_id' of 'z' not found in 'tool_calls' of previous message.",
    );
    let list = json!([user("a"), calls(&["x"], "{}"), tool("x"), tool("x")]);
    refuses(
        form,
        list,
        "duplicate-id",
        "Duplicate value for 'tool_call_id' of 'x' in message[3]",
    );
    let list = json!([user("a"), calls(&["x", "x"], "{}"), tool("x")]);
    refuses(form, list, "duplicate-id", "Duplicate value for 'id' of 'x'");
    let list = json!([user("a"), calls(&["x"], "{"), tool("x")]);
    refuses(form, list, "arguments", "failed to parse tool call arguments as JSON");
    refuses(
        form,
        json!([user("a"), {"role": "assistant", "content": null}]),
        "content",
        "got null",
    );
    refuses(form, json!([user("a"), calls(&[], "{}")]), "content", "empty array");
    refuses(
        form,
        json!([{"role": "robot", "content": "a"}]),
        "role",
        "Invalid value: 'robot'",
    );
}

#[test]
fn roles_alternate_where_the_scenario_wants_it() {
    let list = json!([user("a"), user("b")]);
    takes(Form::Chat, list.clone());
    let desk = Desk::new(Scenario::default().with("alternates").unwrap(), None);
    let (status, answer) = post(&desk, Form::Chat, &body(Form::Chat, list));
    assert_eq!(status, 400);
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.starts_with("Conversation roles must alternate"), "{words}");
}

fn call_item(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"})
}

fn output_item(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "seen"})
}

#[test]
fn responses_wants_outputs_and_reasoning_with_their_items() {
    let form = Form::Responses;
    takes(form, json!([user("a"), call_item("x"), output_item("x")]));
    takes(form, "a text alone".into());
    let words = "No tool call found for function call output with call_id x.";
    refuses(form, json!([user("a"), output_item("x")]), "pairing", words);
    refuses(
        form,
        json!([user("a"), output_item("x"), call_item("x")]),
        "pairing",
        words,
    );
    let words = "No tool output found for function call x.";
    refuses(form, json!([user("a"), call_item("x"), user("b")]), "pairing", words);
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let words = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
    refuses(form, json!([user("a"), reasoning, user("b")]), "reasoning", words);
    let sealed = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAforged=="});
    let words = "The encrypted content gAAA...ed== could not be verified.";
    let list = json!([user("a"), sealed, call_item("x"), output_item("x")]);
    refuses(form, list, "reasoning", words);
    let mut call = call_item("x");
    call["arguments"] = "{".into();
    let list = json!([user("a"), call, output_item("x")]);
    refuses(form, list, "arguments", "failed to parse tool call arguments as JSON");
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "input_text", "text": "a"}]});
    refuses(
        form,
        json!([user("a"), said, user("b")]),
        "content",
        "Invalid value: 'input_text'",
    );
    let message = json!({"id": "msg_1", "role": "user", "content": "a"});
    refuses(
        form,
        json!([message, message]),
        "duplicate-id",
        "Duplicate item found with id msg_1",
    );
}

#[test]
fn what_does_not_fit_is_refused_in_each_providers_words() {
    let text = "word ".repeat(2_000);
    let expected = [
        (
            Form::Anthropic,
            "prompt is too long: 2005 tokens > 1000 maximum",
            Value::Null,
        ),
        (
            Form::Chat,
            "This model's maximum context length is 1000 tokens. However, your messages resulted in 2005 tokens.",
            "context_length_exceeded".into(),
        ),
        (
            Form::Responses,
            "Your input exceeds the context window of this model.",
            "context_length_exceeded".into(),
        ),
    ];
    for (form, words, code) in expected {
        let desk = Desk::new(Scenario::default().window(1_000), None);
        let (status, answer) = post(&desk, form, &body(form, json!([user(&text)])));
        assert_eq!(status, 400);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(words), "{message}");
        assert_eq!(answer["error"]["code"], code);
        let report = desk.report();
        assert_eq!((report.overflows(), report.malformed().len()), (1, 0));
    }
}

#[test]
fn errors_have_the_providers_shapes() {
    for (form, status, kind) in [
        (Form::Anthropic, 401, "authentication_error"),
        (Form::Anthropic, 429, "rate_limit_error"),
        (Form::Anthropic, 500, "api_error"),
        (Form::Anthropic, 529, "overloaded_error"),
        (Form::Chat, 401, "invalid_request_error"),
        (Form::Chat, 429, "tokens"),
        (Form::Responses, 500, "server_error"),
    ] {
        let desk = Desk::new(Scenario::default().error(status), None);
        let (got, answer) = post(&desk, form, &body(form, json!([user("a")])));
        assert_eq!(got, status);
        assert_eq!(answer["error"]["type"], kind);
        assert_eq!(answer["type"] == "error", form == Form::Anthropic);
        assert_eq!(answer["request_id"].is_string(), form == Form::Anthropic);
    }
    let once = Desk::new(Scenario::default().error(529).with("times=1").unwrap(), None);
    let (first, _) = post(&once, Form::Anthropic, &body(Form::Anthropic, json!([user("a")])));
    let (second, _) = post(&once, Form::Anthropic, &body(Form::Anthropic, json!([user("a")])));
    assert_eq!((first, second), (529, 200));
}
