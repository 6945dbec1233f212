//! Whatever the model does with the tool, the client sees the conversation that it would have had without.

use mainstay_proxy::recall::OFFERED;
use mainstay_proxy::settings::PassTiming;
use mainstay_tests::conversation::Form;
use mainstay_tests::upstream::Agent;
use mainstay_tests::upstream::Asking;
use mainstay_tests::upstream::Scenario;
use mainstay_tests::upstream::Upstream;
use mainstay_tests::upstream::client;
use serde_json::Value;
use serde_json::json;

use crate::proxy::Proxy;
use crate::proxy::Tool;
use crate::proxy::headers;
use crate::proxy::path;
use crate::proxy::request;

/// What the client holds, without what tells one run from another: ids, and thinking.
fn plain(history: &[Value]) -> Vec<Value> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for key in ["id", "tool_use_id", "tool_call_id", "call_id"] {
                    fields.shift_remove(key);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(list) => {
                let is_thought = |item: &Value| {
                    let kind = item["type"].as_str().unwrap_or("");
                    kind.ends_with("thinking") || kind == "reasoning"
                };
                list.retain(|item| !is_thought(item));
                list.iter_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut history = Value::from(history.to_vec());
    strip(&mut history);
    history.as_array().cloned().unwrap_or_default()
}

/// What was sent to the provider, parsed.
fn sent(upstream: &Upstream) -> Vec<Value> {
    let received = upstream.received();
    received
        .iter()
        .map(|request| serde_json::from_str(&request.body).expect("requests are JSON"))
        .collect()
}

fn tool_names(form: Form, body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| match form {
        Form::Chat => tool["function"]["name"].clone(),
        Form::Anthropic | Form::Responses => tool["name"].clone(),
    };
    tools
        .iter()
        .map(|tool| name(tool).as_str().unwrap_or("").to_owned())
        .collect()
}

fn scenario(bound: bool) -> Scenario {
    Scenario {
        bound,
        ..Scenario::tool_loop(7).parallel(3)
    }
}

/// Runs an agent directly and through the proxy; gives both histories, and what the provider was sent.
fn both(form: Form, streams: bool, asking: Asking, bound: bool) -> (Vec<Value>, Vec<Value>, Vec<Value>) {
    const TURNS: usize = 12;
    let agent = |url: &str| Agent::new(form, url).streaming(streams).largest_output(600);
    let direct = Upstream::start(scenario(bound));
    let mut alone = agent(&direct.url());
    assert_eq!(alone.run(TURNS).trouble, None);
    let upstream = Upstream::start(scenario(bound).recall(asking));
    let proxy = Proxy::start(&upstream.url(), PassTiming::Never, Tool::Offered);
    let mut through = agent(&proxy.url);
    let run = through.run(TURNS);
    let report = upstream.report();
    let case = format!("{form:?} streams={streams} {asking:?} bound={bound}");
    assert_eq!(run.trouble, None, "{case}: {:?}", report.rejections);
    assert!(report.rejections.is_empty(), "{case}: {:?}", report.rejections);
    (alone.history().to_vec(), through.history().to_vec(), sent(&upstream))
}

#[test]
fn the_client_sees_what_it_would_have_seen() {
    for form in Form::ALL {
        for streams in [true, false] {
            for asking in [Asking::Alone, Asking::Twice, Asking::Beside, Asking::Both] {
                let (direct, through, sent) = both(form, streams, asking, false);
                let case = format!("{form:?} streams={streams} {asking:?}");
                assert_eq!(plain(&direct), plain(&through), "{case}");
                assert!(!Value::from(through).to_string().contains(OFFERED), "{case}");
                let tools: Vec<String> = sent.iter().map(|body| body["tools"].to_string()).collect();
                assert!(tools.windows(2).all(|two| two[0] == two[1]), "{case}");
                assert_eq!(tool_names(form, &sent[0]).last().map(String::as_str), Some(OFFERED));
                let more = sent.len() - 12;
                match asking {
                    Asking::Beside => assert_eq!(more, 0, "{case}"),
                    _ => assert!(more >= 12, "{case}: {more}"),
                }
            }
        }
    }
}

#[test]
fn what_was_asked_behind_its_back_is_in_every_later_prompt() {
    for form in Form::ALL {
        for streams in [true, false] {
            for asking in [Asking::Alone, Asking::Beside, Asking::Both] {
                let (_, _, sent) = both(form, streams, asking, false);
                let list = |body: &Value| body[form.list_key()].as_array().cloned().unwrap_or_default();
                let count = |body: &Value| Value::from(list(body)).to_string().matches(OFFERED).count();
                let counts: Vec<usize> = sent.iter().map(count).collect();
                // A loop's calls stay; those of an answer without calls are gone where nothing tells it from another.
                assert!(
                    counts.iter().max() >= Some(&7),
                    "{form:?} {streams} {asking:?}: {counts:?}"
                );
                for two in sent.windows(2) {
                    let (before, after) = (list(&two[0]), list(&two[1]));
                    if form != Form::Chat || asking == Asking::Beside {
                        assert_eq!(
                            without_marks(&before),
                            without_marks(&after[..before.len().min(after.len())])
                        );
                    }
                }
            }
        }
    }
}

/// Messages without the marks of the provider's cache, which move.
fn without_marks(list: &[Value]) -> String {
    let text = Value::from(list.to_vec()).to_string();
    text.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
        .replace(r#""content":[{"type":"text","text":"#, "T")
        .replace(r#""content":"#, "T")
        .replace("\"}]}", "\"}")
}

#[test]
fn thinking_that_is_bound_to_its_prompt_stays_where_it_was_thought() {
    for streams in [true, false] {
        for asking in [
            Asking::Alone,
            Asking::AfterText,
            Asking::Twice,
            Asking::Beside,
            Asking::Both,
        ] {
            let (_, through, sent) = both(Form::Anthropic, streams, asking, true);
            assert!(Value::from(through).to_string().contains("signature"));
            assert!(!sent.is_empty());
        }
    }
}

#[test]
fn words_before_a_call_are_shown() {
    for form in Form::ALL {
        for streams in [true, false] {
            let (_, through, _) = both(form, streams, Asking::AfterText, false);
            let text = Value::from(through).to_string();
            assert!(text.matches("let me recall what was said").count() >= 12, "{form:?}");
            assert!(!text.contains(OFFERED), "{form:?}");
        }
    }
}

#[test]
fn a_model_that_only_recalls_comes_to_an_end() {
    for form in Form::ALL {
        for streams in [true, false] {
            for thinks in [true, false] {
                let upstream = Upstream::start(scenario(false).recall(Asking::Forever));
                let proxy = Proxy::start(&upstream.url(), PassTiming::Never, Tool::Offered);
                let mut agent = Agent::new(form, &proxy.url).streaming(streams).thinking(thinks);
                let run = agent.run(3);
                let report = upstream.report();
                assert_eq!(run.trouble, None, "{form:?} {streams}: {:?}", report.rejections);
                assert!(
                    report.rejections.is_empty(),
                    "{form:?} {streams}: {:?}",
                    report.rejections
                );
                assert_eq!(report.requests, 3 * 5);
                let history = Value::from(agent.history().to_vec()).to_string();
                assert!(history.contains("said nothing else") && !history.contains(OFFERED));
            }
        }
    }
}

#[test]
fn long_sessions_with_recall_go_on_where_a_window_ends() {
    for form in Form::ALL {
        for asking in [Asking::Alone, Asking::Both] {
            let scenario = Scenario::tool_loop(40).window(32_000).recall(asking);
            let upstream = Upstream::start(scenario);
            let proxy = Proxy::start(&upstream.url(), PassTiming::Threshold, Tool::Offered);
            let run = Agent::new(form, &proxy.url).run(70);
            let report = upstream.report();
            assert_eq!(run.trouble, None, "{form:?} {asking:?}: {:?}", report.rejections);
            assert!(
                report.malformed().is_empty(),
                "{form:?} {asking:?}: {:?}",
                report.rejections
            );
            let found = sent(&upstream)
                .iter()
                .filter(|body| body[form.list_key()].to_string().contains("⟦recalled "))
                .count();
            assert!(
                found > 10,
                "{form:?} {asking:?}: recall found something in {found} prompts"
            );
            let share = report.cache_share();
            assert!(share > 0.6, "{form:?} {asking:?}: {share}");
        }
    }
}

#[test]
fn what_does_not_call_the_tool_passes_byte_for_byte() {
    for form in Form::ALL {
        for streams in [true, false] {
            let ask = |url: &str, body: &Value| {
                let answer = client::post(&format!("{url}{}", path(form)), &headers(form), &body.to_string()).unwrap();
                assert_eq!(answer.status, 200, "{}", answer.text());
                answer.text()
            };
            let scenario = Scenario {
                gzip: true,
                ..Scenario::tool_loop(2)
            };
            let upstream = Upstream::start(scenario);
            let proxy = Proxy::start(&upstream.url(), PassTiming::Never, Tool::Offered);
            let body = request(form, streams);
            let through = ask(&proxy.url, &body);
            let asked = &sent(&upstream)[0];
            upstream.reset();
            let direct = {
                // The same prompt, tool included: its figures are in the answer.
                let mut headers = headers(form);
                headers.pop();
                let url = format!("{}{}", upstream.url(), path(form));
                client::post(&url, &headers, &asked.to_string()).unwrap().text()
            };
            assert_eq!(through, direct, "{form:?} {streams}");
            assert_eq!(tool_names(form, asked).last().map(String::as_str), Some(OFFERED));
        }
    }
}

#[test]
fn where_it_is_off_or_not_wanted_nothing_is_added() {
    for form in Form::ALL {
        let upstream = Upstream::start(Scenario::tool_loop(2).recall(Asking::Alone));
        let post = |proxy: &Proxy, body: &Value| {
            let url = format!("{}{}", proxy.url, path(form));
            assert_eq!(
                client::post(&url, &headers(form), &body.to_string()).unwrap().status,
                200
            );
            sent(&upstream).pop().unwrap()
        };
        let off = Proxy::start(&upstream.url(), PassTiming::Never, Tool::Off);
        let body = request(form, false);
        assert_eq!(post(&off, &body), body);
        let on = Proxy::start(&upstream.url(), PassTiming::Never, Tool::Offered);
        let mut without = body.clone();
        without["tools"] = json!([]);
        assert_eq!(post(&on, &without), without);
        let mut own = body.clone();
        let tools = post(&on, &body)["tools"].clone();
        own["tools"] = tools;
        assert_eq!(post(&on, &own), own, "the client has a tool of that name");
    }
}

#[test]
fn an_error_instead_of_another_answer_is_told() {
    for form in Form::ALL {
        for streams in [true, false] {
            let upstream = Upstream::start(Scenario::tool_loop(1).recall(Asking::AfterText).window(1_000_000));
            let proxy = Proxy::start(&upstream.url(), PassTiming::Never, Tool::Offered);
            // The prompt fits as it comes, and does not with what is added to it.
            let tokens = {
                let body = request(form, false);
                let url = format!("{}{}", proxy.url, path(form));
                let answer = client::post(&url, &headers(form), &body.to_string()).unwrap();
                let first = &upstream.report();
                assert_eq!(answer.status, 200, "{first:?}");
                let body: Value = serde_json::from_str(&answer.text()).unwrap();
                let usage = &body["usage"];
                [
                    "prompt_tokens",
                    "input_tokens",
                    "cache_read_input_tokens",
                    "cache_creation_input_tokens",
                ]
                .iter()
                .filter_map(|key| usage[*key].as_u64())
                .sum::<u64>()
            };
            let mut body = request(form, streams);
            body["model"] = format!("{}+window={}", body["model"].as_str().unwrap(), tokens - 60).into();
            upstream.reset();
            let url = format!("{}{}", proxy.url, path(form));
            let answer = client::post(&url, &headers(form), &body.to_string()).unwrap();
            let text = answer.text();
            if streams {
                assert_eq!(answer.status, 200, "{form:?}: {text}");
                assert!(text.contains("at was said."), "{form:?}: {text}");
                let marker = match form {
                    Form::Anthropic => "event: error\ndata: {\"type\":\"error\"",
                    Form::Chat => "data: {\"error\":",
                    Form::Responses => "event: response.failed\n",
                };
                assert!(text.contains(marker), "{form:?}: {text}");
            } else {
                assert_eq!(answer.status, 400, "{form:?}: {text}");
            }
        }
    }
}
