//! Batch files: what is written, how it is split, and results in whatever state they come.

use mainstay_tests::reply::Reply;
use serde_json::Value;

use super::*;
use crate::model::Endpoint;
use crate::prompt::Speaker;

fn model(form: WireForm) -> Model {
    Model::new(
        "m",
        "some-model",
        Endpoint::new("e", "https://example.com/v1", form),
        1_000,
        100,
    )
}

fn prompt(text: &str) -> Prompt {
    Prompt {
        turns: vec![(Speaker::User, text.to_owned())],
        ..Prompt::default()
    }
}

const IDS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn requests<'a>(model: &'a Model, prompt: &'a Prompt) -> Vec<Request<'a>> {
    IDS.iter().map(|id| Request { id, model, prompt }).collect()
}

#[test]
fn lines_are_what_the_providers_document() {
    let prompt = prompt("Hi\n\"you\"");
    for (form, url) in [
        (WireForm::Chat, "/v1/chat/completions"),
        (WireForm::Responses, "/v1/responses"),
    ] {
        let model = model(form);
        let files = write(&requests(&model, &prompt)).unwrap();
        assert_eq!(
            (files.len(), files[0].requests, files[0].content.lines().count()),
            (1, 8, 8)
        );
        let first: Value = serde_json::from_str(files[0].content.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&first["custom_id"], &first["method"], &first["url"]),
            (&"a".into(), &"POST".into(), &url.into())
        );
        assert_eq!(first["body"]["model"], "some-model");
        assert!(first["body"].get("stream").is_none());
    }
    let model = model(WireForm::Anthropic);
    let files = write(&requests(&model, &prompt)).unwrap();
    let first: Value = serde_json::from_str(files[0].content.lines().next().unwrap()).unwrap();
    assert_eq!(first.as_object().unwrap().len(), 2);
    assert_eq!(
        (&first["custom_id"], &first["params"]["max_tokens"]),
        (&"a".into(), &100.into())
    );
    assert!(first["params"].get("stream").is_none());
}

#[test]
fn requests_that_begin_alike_stand_together_and_anthropics_mark_what_they_share() {
    let state = "what was said, line by line\n".repeat(300);
    let other = "another history altogether\n".repeat(300);
    let ask = |state: &str, question: &str| prompt(&format!("<h>\n{state}</h>\n\nQuestion: {question}"));
    let prompts = [
        ask(&state, "Where is it?"),
        ask(&other, "Where is it?"),
        ask(&state, "Which one?"),
        ask("short", "Where?"),
        ask("short", "Which?"),
        ask(&state, "Who?"),
    ];
    for form in [WireForm::Anthropic, WireForm::Chat] {
        let model = model(form);
        let requests: Vec<Request<'_>> = IDS
            .iter()
            .zip(&prompts)
            .map(|(id, prompt)| Request {
                id,
                model: &model,
                prompt,
            })
            .collect();
        let content = write(&requests).unwrap().remove(0).content;
        let lines: Vec<Value> = content
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let order: Vec<&str> = lines.iter().filter_map(|line| line["custom_id"].as_str()).collect();
        let is_alike = |id: &&str| ["a", "c", "f"].contains(id);
        let (first, last) = (order.iter().position(is_alike), order.iter().rposition(is_alike));
        assert_eq!(last.unwrap() - first.unwrap(), 2, "{order:?}");
        for line in &lines {
            let body = if form == WireForm::Anthropic {
                &line["params"]
            } else {
                &line["body"]
            };
            let content = &body["messages"].as_array().unwrap().last().unwrap()["content"];
            let id = line["custom_id"].as_str().unwrap();
            let is_shared = ["a", "c", "f"].contains(&id) && form == WireForm::Anthropic;
            assert_eq!(content.is_array(), is_shared, "{id}");
            if let Some(blocks) = content.as_array() {
                // Cut at the same place in all of them, and nothing is lost.
                assert_eq!(blocks[0]["text"].as_str().unwrap(), format!("<h>\n{state}</h>\n\n"));
                assert_eq!(blocks[0]["cache_control"]["type"], "ephemeral");
                assert!(blocks[1].get("cache_control").is_none());
                let whole = IDS.iter().position(|other| *other == id).unwrap();
                let text = blocks
                    .iter()
                    .filter_map(|block| block["text"].as_str())
                    .collect::<String>();
                assert_eq!(text, prompts[whole].turns[0].1);
            }
        }
    }
}

#[test]
fn files_hold_one_model_and_no_more_than_they_may() {
    let prompt = prompt("Hi");
    let (chat, anthropic) = (model(WireForm::Chat), model(WireForm::Anthropic));
    let mut mixed = requests(&chat, &prompt);
    for request in mixed.iter_mut().skip(1).step_by(2) {
        request.model = &anthropic;
    }
    let files = write_within(&mixed, |_| (3, 1_000_000)).unwrap();
    let sizes: Vec<_> = files.iter().map(|file| (file.form, file.requests)).collect();
    let expected = [
        (WireForm::Chat, 3),
        (WireForm::Anthropic, 3),
        (WireForm::Chat, 1),
        (WireForm::Anthropic, 1),
    ];
    assert_eq!(sizes, expected);
    let line = files[0].content.lines().next().unwrap().len() + 1;
    let files = write_within(&requests(&chat, &prompt), |_| (99, 2 * line)).unwrap();
    assert_eq!(files.len(), 4);
    assert!(files.iter().all(|file| file.content.len() <= 2 * line));
    let error = write_within(&mixed, |_| (99, 10)).unwrap_err();
    assert_eq!(error, BatchError::TooLarge { id: "a".to_owned() });
}

#[test]
fn ids_are_what_both_providers_take() {
    let (model, prompt) = (model(WireForm::Chat), prompt("Hi"));
    let ask = |id| Request {
        id,
        model: &model,
        prompt: &prompt,
    };
    let long = "x".repeat(65);
    for bad in ["", "a b", "ü", &long] {
        assert!(matches!(write(&[ask(bad)]), Err(BatchError::BadId { .. })), "{bad}");
        assert!(is_fit(&id(bad)), "{bad}");
    }
    assert!(matches!(write(&[ask("a"), ask("a")]), Err(BatchError::SameId { .. })));
    assert_eq!(id("fixture_1-run-2"), "fixture_1-run-2");
    assert_ne!(id("a/b"), id("a b"));
}

#[test]
fn openai_results_in_any_state_give_every_request_its_own() {
    let (model, prompt) = (model(WireForm::Chat), prompt("Hi"));
    let ok = |id: &str, text: &str| {
        let body = Reply::new(text).chat();
        format!(
            r#"{{"id":"batch_req_1","custom_id":"{id}","response":{{"status_code":200,"request_id":"r","body":{body}}},"error":null}}"#
        )
    };
    let output = [
        ok("b", "two"),
        ok("a", "one"),
        "{ nonsense".to_owned(),
        r#"{"custom_id":"c","response":{"status_code":400,"body":{"error":{"code":"context_length_exceeded","message":"long"}}},"error":null}"#.to_owned(),
        ok("d", "first"),
        ok("d", "second"),
        r#"{"custom_id":"e","response":null,"error":null}"#.to_owned(),
        ok("zzz", "stranger"),
        ok("b", "two"),
    ]
    .join("\n");
    let errors = r#"{"custom_id":"f","response":null,"error":{"code":"batch_expired","message":"This request could not be executed before the completion window expired."}}
{"custom_id":"g","response":{"status_code":429,"body":{"error":{"message":"slow"}}}}"#;
    let results = read(&requests(&model, &prompt), &[&output, errors]);
    let outcomes: Vec<_> = results
        .outcomes
        .iter()
        .map(|outcome| match outcome {
            Ok(answer) => Ok(answer.text.as_str()),
            Err(failure) => Err(failure.cause.clone()),
        })
        .collect();
    let expected = [
        Ok("one"),
        Ok("two"),
        Err(Cause::TooLong),
        Err(Cause::Malformed),
        Err(Cause::Malformed),
        Err(Cause::NotRun),
        Err(Cause::RateLimited),
        Err(Cause::NotRun),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!((results.strangers, results.unreadable), (vec!["zzz".to_owned()], 1));
    let missing = results.outcomes[7].as_ref().unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("no result for it, and 1 lines could not be read"),
        "{missing}"
    );
}

#[test]
fn anthropic_results_in_any_state_give_every_request_its_own() {
    let (model, prompt) = (model(WireForm::Anthropic), prompt("Hi"));
    let message = Reply::new("one").anthropic();
    let output = format!(
        r#"{{"custom_id":"b","result":{{"type":"errored","error":{{"type":"error","error":{{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}}}}}}}
{{"custom_id":"a","result":{{"type":"succeeded","message":{message}}}}}
{{"custom_id":"c","result":{{"type":"canceled"}}}}
{{"custom_id":"d","result":{{"type":"expired"}}}}
{{"custom_id":"e","result":{{"type":"dreamt"}}}}
{{"custom_id":"f"}}
{{"custom_id":"g","result":{{"type":"errored","error":{{"type":"overloaded_error","message":"x"}}}}}}
"#
    );
    let results = read(&requests(&model, &prompt), &[&output]);
    let causes: Vec<_> = results
        .outcomes
        .iter()
        .skip(1)
        .map(|outcome| outcome.as_ref().unwrap_err().cause.clone())
        .collect();
    let expected = [
        Cause::TooLong,
        Cause::NotRun,
        Cause::NotRun,
        Cause::Malformed,
        Cause::Malformed,
        Cause::Overloaded,
        Cause::NotRun,
    ];
    assert_eq!(causes, expected);
    let answer = results.outcomes[0].as_ref().unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.unwrap().input), ("one", 20));
}
