//! The scripted provider over sockets: what it streams is what it gives whole, for the readers of `llm` and for a client that
//! knows nothing of ours; an agent keeps going with it; and its faults are the faults that they say they are.

use std::io::Read;

use flate2::read::GzDecoder;
use mainstay_llm::answer::Stop;
use mainstay_llm::events::Events;
use mainstay_llm::forms;
use mainstay_llm::forms::Reader;
use mainstay_tests::conversation::Form;
use mainstay_tests::upstream::Agent;
use mainstay_tests::upstream::Fault;
use mainstay_tests::upstream::Scenario;
use mainstay_tests::upstream::Upstream;
use mainstay_tests::upstream::client;
use mainstay_tests::upstream::client::Answer;
use mainstay_tests::upstream::hear;
use mainstay_wire::reading::WireForm;
use serde_json::Value;
use serde_json::json;

fn wire(form: Form) -> WireForm {
    match form {
        Form::Chat => WireForm::Chat,
        Form::Responses => WireForm::Responses,
        Form::Anthropic => WireForm::Anthropic,
    }
}

fn ask(upstream: &Upstream, form: Form, body: &Value) -> Answer {
    ask_with(upstream, form, body, &[])
}

fn ask_with(upstream: &Upstream, form: Form, body: &Value, more: &[(&str, &str)]) -> Answer {
    let path = match form {
        Form::Chat => "/v1/chat/completions",
        Form::Responses => "/v1/responses",
        Form::Anthropic => "/v1/messages",
    };
    let mut headers = vec![("authorization".to_owned(), "Bearer k".to_owned())];
    headers.extend(
        more.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    );
    client::post(&(upstream.url() + path), &headers, &body.to_string()).expect("an answer")
}

/// The first request of an agent, whole or streamed.
fn opening(form: Form, streams: bool, model: &str) -> Value {
    let mut agent = Agent::new(form, "http://127.0.0.1:9").streaming(streams).model(model);
    let run = agent.run(1);
    assert!(run.trouble.is_some(), "nobody listens there");
    agent.request()
}

#[test]
fn streams_say_what_whole_answers_say() {
    for form in Form::ALL {
        for turns in [0, 3] {
            let model = format!("scripted+turns={turns}+parallel=3");
            let upstream = Upstream::start(Scenario::default());
            let whole = ask(&upstream, form, &opening(form, false, &model));
            upstream.reset();
            let streamed = ask(&upstream, form, &opening(form, true, &model));
            assert_eq!((whole.status, streamed.status), (200, 200), "{}", whole.text());
            let one = hear(form, &whole.text(), false).expect("whole");
            let two = hear(form, &streamed.text(), true).expect("streamed");
            assert_eq!(one, two, "{form:?}");
            assert_eq!(one.calls.is_empty(), turns == 0);

            let whole = forms::read_whole(wire(form), &whole.text()).expect("our reader takes it");
            let mut reader = Reader::new(wire(form));
            let mut events = Events::default();
            for event in events.push(&streamed.body) {
                reader.take(&event).expect("our reader takes every event");
            }
            assert!(reader.is_closed());
            let streamed = reader.finish().expect("our reader comes to its end");
            assert_eq!(whole, streamed, "{form:?}");
            let stop = if turns == 0 { Stop::End } else { Stop::ToolCall };
            assert_eq!(whole.stop, stop);
            assert!(whole.usage.is_some_and(|usage| usage.input > 900 && usage.output > 5));
        }
    }
}

#[test]
fn an_agent_of_every_form_keeps_going() {
    for form in Form::ALL {
        for streams in [true, false] {
            let scenario = Scenario::tool_loop(7).parallel(3).window(1_000_000);
            let upstream = Upstream::start(scenario);
            let mut agent = Agent::new(form, &upstream.url()).streaming(streams);
            let run = agent.run(40);
            assert_eq!(run.trouble, None, "{form:?}");
            assert_eq!((run.turns, run.messages), (40, 5));
            assert!(run.calls > 40, "{}", run.calls);
            let report = upstream.report();
            assert_eq!((report.answered, report.rejections.len()), (40, 0));
            assert_eq!((report.breaks, report.beginnings), (0, 1));
            assert_eq!((report.prompt_tokens, report.cached_tokens), (run.input, run.cached));
            assert!(report.cache_share() > 0.9, "{form:?}: {}", report.cache_share());
            assert!(report.repeated_share() >= report.cache_share());
        }
    }
}

#[test]
fn an_agent_meets_the_end_of_its_window() {
    for form in Form::ALL {
        let upstream = Upstream::start(Scenario::tool_loop(12).window(16_000));
        let run = Agent::new(form, &upstream.url()).run(300);
        assert!(run.turns < 100, "{}", run.turns);
        let trouble = run.trouble.expect("it does not fit for ever");
        assert!(trouble.contains("400"), "{trouble}");
        let report = upstream.report();
        assert_eq!((report.overflows(), report.malformed().len()), (1, 0));
        assert!(report.longest_prompt <= 16_000);
    }
}

#[test]
fn two_runs_of_one_agent_are_the_same() {
    let histories: Vec<Vec<Value>> = (0..2)
        .map(|_| {
            let upstream = Upstream::start(Scenario::tool_loop(5));
            let mut agent = Agent::new(Form::Responses, &upstream.url());
            agent.run(14);
            agent.history().to_vec()
        })
        .collect();
    assert_eq!(histories[0], histories[1]);
}

#[test]
fn faults_are_what_they_say() {
    let upstream = Upstream::start(Scenario::default());
    for form in Form::ALL {
        for streams in [true, false] {
            let faulty = |name: &str| {
                let body = opening(form, streams, &format!("scripted+fault={name}"));
                ask(&upstream, form, &body)
            };
            for name in ["reset", "early-close"] {
                let answer = faulty(name);
                assert!(answer.status == 200 && !answer.is_whole, "{form:?} {name}");
                assert!(!answer.body.is_empty(), "{form:?} {name}");
                assert!(hear(form, &answer.text(), streams).is_err());
            }
            let answer = faulty("big-event");
            let longest = answer.text().lines().map(str::len).max();
            assert!(answer.is_whole && longest > Some(1 << 20));
            let answer = faulty("drip");
            assert!(answer.is_whole && hear(form, &answer.text(), streams).is_ok());
            let answer = faulty("truncated-gzip");
            assert_eq!(answer.header("content-encoding"), Some("gzip"));
            let mut text = String::new();
            let read = GzDecoder::new(&answer.body[..]).read_to_string(&mut text);
            assert!(answer.is_whole && read.is_err());
            assert_eq!(faulty("page").status, 502);
        }
    }
    let zipped = opening(Form::Chat, true, "scripted+gzip");
    let answer = ask_with(&upstream, Form::Chat, &zipped, &[("accept-encoding", "gzip, br")]);
    let mut text = String::new();
    let read = GzDecoder::new(&answer.body[..]).read_to_string(&mut text);
    assert!(read.is_ok() && text.ends_with("data: [DONE]\n\n"), "{text}");
    assert_eq!(
        Scenario::default().fault(Fault::Stall),
        Scenario::default().of_model("m+fault=stall")
    );
}

#[test]
fn other_paths_are_served_too() {
    let upstream = Upstream::start(Scenario::default());
    let models = client::get(&(upstream.openai_url() + "/models")).expect("models");
    assert!(models.text().contains("scripted-1"));
    let echo = client::post(&(upstream.url() + "/v1/embeddings?x=1"), &[], "{\"input\":\"a\"}").expect("echo");
    let echo: Value = serde_json::from_str(&echo.text()).expect("JSON");
    assert_eq!(echo["path"], "/v1/embeddings?x=1");
    assert_eq!(echo["body"], "{\"input\":\"a\"}");
    let counted = json!({"model": "m", "messages": [{"role": "user", "content": "hello there"}]});
    let url = upstream.url() + "/v1/messages/count_tokens";
    let key = [("x-api-key".to_owned(), "k".to_owned())];
    let counted = client::post(&url, &key, &counted.to_string()).expect("a count");
    assert_eq!(counted.text(), "{\"input_tokens\":6}");
    let refused = client::post(&url, &[], "{}").expect("a refusal");
    assert_eq!(refused.status, 401);
    let report = client::get(&(upstream.url() + "/scripted/report")).expect("a report");
    let report: Value = serde_json::from_str(&report.text()).expect("JSON");
    assert_eq!((&report["counted"], &report["requests"]), (&json!(1), &json!(4)));
    assert_eq!(report["rejections"][0]["rule"], "key");
}
