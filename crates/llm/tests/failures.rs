//! Everything that can go wrong between us and a provider, over real sockets: the cause, the words, the key nowhere.

use std::time::Duration;

use mainstay_llm::answer::Answer;
use mainstay_llm::answer::Stop;
use mainstay_llm::client::Client;
use mainstay_llm::error::Cause;
use mainstay_llm::error::Failure;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Question;
use mainstay_llm::prompt::Speaker;
use mainstay_llm::secret::Secret;
use mainstay_tests::reply::Reply;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use mainstay_wire::reading::WireForm;

const KEY: &str = "sk-test-0123456789abcdef";
const FORMS: [WireForm; 3] = [WireForm::Chat, WireForm::Responses, WireForm::Anthropic];

fn model(form: WireForm, url: &str) -> Model {
    let mut endpoint = Endpoint::new("scripted", url, form);
    endpoint.key = Some(Secret::new(KEY));
    endpoint.key_origin = Some("environment variable SCRIPTED_KEY".to_owned());
    // Long enough for a busy machine, short enough for the tests that wait for it.
    endpoint.limits.idle = Duration::from_secs(20);
    endpoint.limits.total = Duration::from_secs(20);
    Model::new("fast", "scripted-mini", endpoint, 100_000, 1_000)
}

fn question() -> Question {
    Question::Prompt(Prompt {
        system: "Be short.".to_owned(),
        turns: vec![(Speaker::User, "Hello?".to_owned())],
        ..Prompt::default()
    })
}

async fn ask(model: &Model) -> Result<Answer, Failure> {
    Client::new().ask(model, &question()).await
}

/// The failure of one request to a server with this script; its words are one line without the key.
async fn failure(form: WireForm, script: Script) -> Failure {
    let server = Server::start(vec![script]);
    let failure = ask(&model(form, &server.url()))
        .await
        .expect_err("the script is no answer");
    assert_eq!(server.received().len(), 1, "one attempt is one request");
    let shown = format!("{failure}\n{failure:?}");
    assert!(!shown.contains(KEY), "{shown}");
    assert!(!failure.to_string().contains('\n') && !failure.to_string().contains('\u{1b}'));
    assert!(
        failure
            .to_string()
            .starts_with("fast (scripted-mini at http://127.0.0.1:"),
        "{failure}"
    );
    failure
}

#[tokio::test]
async fn answers_arrive_in_every_form_whole_and_streamed() {
    let server = Server::start(vec![Script::reply("Hello, wörld 👋 once more")]);
    for form in FORMS {
        for streams in [true, false] {
            let mut model = model(form, &server.url());
            model.streams = streams;
            let answer = ask(&model).await.unwrap();
            assert_eq!(
                (answer.text.as_str(), answer.stop),
                ("Hello, wörld 👋 once more", Stop::End)
            );
            let usage = answer.usage.unwrap();
            assert_eq!((usage.input, usage.cache_read, usage.output), (20, 8, 5));
            assert_eq!(answer.served_by.as_deref(), Some("scripted-1"));
        }
    }
    let received = server.received();
    let paths: Vec<&str> = received
        .iter()
        .step_by(2)
        .map(|request| request.path.as_str())
        .collect();
    assert_eq!(paths, ["/v1/chat/completions", "/v1/responses", "/v1/messages"]);
    assert_eq!(
        received[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert_eq!(received[4].header("x-api-key"), Some(KEY));
    assert_eq!(received[4].header("authorization"), None);
    assert_eq!(received[4].header("anthropic-version"), Some("2023-06-01"));
    assert!(
        received
            .iter()
            .all(|request| request.header("accept-encoding").is_none())
    );
}

#[tokio::test]
async fn stops_of_every_kind_arrive() {
    let stops = [
        ("length", Stop::Length),
        ("tool_calls", Stop::ToolCall),
        ("content_filter", Stop::Refusal),
    ];
    for (stop, expected) in stops {
        let server = Server::start(vec![Script::answer(Reply::new("so").stopped_by(stop))]);
        for form in FORMS {
            assert_eq!(
                ask(&model(form, &server.url())).await.unwrap().stop,
                expected,
                "{form:?} {stop}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_fills_its_limit_was_cut_whatever_the_server_says() {
    let server = Server::start(vec![Script::answer(Reply::new("so").costing(9, 5))]);
    for (limit, expected) in [(5, Stop::Length), (6, Stop::End)] {
        let question = Question::Prompt(Prompt {
            turns: vec![(Speaker::User, "Hello?".to_owned())],
            most_tokens: Some(limit),
            ..Prompt::default()
        });
        let answer = Client::new()
            .ask(&model(WireForm::Responses, &server.url()), &question)
            .await;
        assert_eq!(answer.unwrap().stop, expected);
    }
}

#[tokio::test]
async fn statuses_have_their_causes_and_words() {
    let said = format!(r#"{{"error":{{"message":"Said \u001b[31m\nso, {KEY}","type":"t"}}}}"#);
    let cases = [
        (
            401,
            Cause::Unauthorized,
            "401, the key was refused: Said [31m so, [key]; check environment variable SCRIPTED_KEY",
        ),
        (402, Cause::QuotaUsedUp, "check plan and billing"),
        (403, Cause::Forbidden, "check environment variable SCRIPTED_KEY"),
        (404, Cause::NotFound, "check the address and the model's name"),
        (408, Cause::TimedOut, "408, too slow"),
        (422, Cause::BadRequest(422), "422, the request was refused: Said"),
        (413, Cause::TooLong, "longer than the model's window"),
        (429, Cause::RateLimited, "429, too many requests"),
        (500, Cause::ServerError(500), "500, the provider failed"),
        (502, Cause::ServerError(502), "502, the provider failed"),
        (503, Cause::Overloaded, "503, the provider is overloaded"),
        (529, Cause::Overloaded, "529, the provider is overloaded"),
    ];
    for form in FORMS {
        for (status, cause, words) in &cases {
            let failure = failure(form, Script::status(*status, &said)).await;
            assert_eq!((failure.cause.clone(), failure.status), (cause.clone(), Some(*status)));
            assert!(failure.to_string().contains(words), "{failure}");
        }
    }
}

#[tokio::test]
async fn waits_that_are_asked_for_are_read() {
    let limited = || Script::status(429, r#"{"error":{"message":"slow"}}"#);
    let failure_of = |script| failure(WireForm::Chat, script);
    let by_seconds = failure_of(limited().header("retry-after", "7")).await;
    assert_eq!(by_seconds.retry_after, Some(Duration::from_secs(7)));
    assert!(by_seconds.to_string().ends_with("it asks to wait 7 s"), "{by_seconds}");
    let by_milliseconds = failure_of(limited().header("retry-after-ms", "250").header("retry-after", "1")).await;
    assert_eq!(by_milliseconds.retry_after, Some(Duration::from_millis(250)));
    let dated = limited()
        .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
        .header("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT");
    assert_eq!(failure_of(dated).await.retry_after, Some(Duration::from_secs(10)));
    let hopeless = failure_of(Script::status(500, "{}").header("x-should-retry", "false")).await;
    assert!(!hopeless.may_pass());
    let hopeful = failure_of(Script::status(409, "{}").header("x-should-retry", "true")).await;
    assert!(hopeful.may_pass());
}

#[tokio::test]
async fn prompts_that_are_too_long_are_known_in_every_shape() {
    let openai = r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;
    let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#;
    let failed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";
    let cases = [
        (WireForm::Chat, Script::status(400, openai)),
        (WireForm::Responses, Script::status(400, openai)),
        (WireForm::Responses, Script::stream(&[failed])),
        (WireForm::Anthropic, Script::status(400, anthropic)),
        (WireForm::Anthropic, Script::status(413, "")),
        (WireForm::Chat, Script::status(400, "")),
        (WireForm::Chat, Script::answer(Reply::new("x").costing(100_001, 2))),
        (
            WireForm::Chat,
            Script::answer(Reply::new("").costing(99_500, 0).stopped_by("length")),
        ),
    ];
    for (form, script) in cases {
        assert_eq!(failure(form, script.clone()).await.cause, Cause::TooLong, "{script:?}");
    }
}

#[tokio::test]
async fn nobody_there_is_said_so() {
    let failure = ask(&model(WireForm::Chat, &Server::nobody())).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Unreachable);
    assert!(
        failure
            .to_string()
            .contains("check the address, and that the server runs"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_server_without_tls_is_not_spoken_to_under_https() {
    let server = Server::start(vec![Script::reply("in the clear")]);
    let mut model = model(WireForm::Chat, &server.url().replace("http://", "https://"));
    model.endpoint.limits.connect = Duration::from_millis(200);
    let failure = ask(&model).await.unwrap_err();
    assert!(
        matches!(failure.cause, Cause::TimedOut | Cause::Unreachable),
        "{failure}"
    );
    assert!(server.received().is_empty());
}

#[tokio::test]
async fn broken_connections_are_broken() {
    assert_eq!(failure(WireForm::Chat, Script::reset()).await.cause, Cause::Broken);
    assert_eq!(failure(WireForm::Chat, Script::closed()).await.cause, Cause::Broken);
    let truncated = Script::truncated(r#"{"choices":[{"message":"#);
    assert_eq!(failure(WireForm::Chat, truncated).await.cause, Cause::Broken);
    for form in FORMS {
        let whole = Reply::new("a longer answer")
            .to(mainstay_llm::forms::path(form), r#"{"stream":true}"#)
            .1;
        let half = &whole[..whole.len() / 2];
        assert_eq!(
            failure(form, Script::stream(&[half]).then_reset()).await.cause,
            Cause::Broken
        );
        let cut = failure(form, Script::stream(&[half])).await;
        assert_eq!(cut.cause, Cause::Malformed);
    }
}

#[tokio::test]
async fn what_is_whole_before_the_connection_breaks_stays_whole() {
    let stream = Reply::new("Hello").chat_stream();
    let finished = stream.rfind("data: [DONE]").unwrap();
    for script in [
        Script::stream(&[&stream[..finished]]).then_reset(),
        Script::stream(&[&stream[..finished]]),
        // The end was said: nobody waits for the connection to be closed.
        Script::stream(&[&stream]).then_hang(),
    ] {
        let server = Server::start(vec![script]);
        assert_eq!(ask(&model(WireForm::Chat, &server.url())).await.unwrap().text, "Hello");
    }
}

#[tokio::test]
async fn slow_servers_end_at_the_limits() {
    let quick = |url: &str, connect: u64, idle: u64, total: u64| {
        let mut model = model(WireForm::Chat, url);
        model.endpoint.limits.connect = Duration::from_millis(connect);
        model.endpoint.limits.idle = Duration::from_millis(idle);
        model.endpoint.limits.total = Duration::from_millis(total);
        model
    };
    let cases = [
        (Script::silent(), 50, 50, 60_000, "nothing came for 100ms"),
        (Script::dripping_head(), 50, 50, 60_000, "nothing came for 100ms"),
        // The head may take its time on a busy machine; what follows may not.
        (
            Script::stream(&[": hi\n\n"]).then_hang(),
            20_000,
            200,
            60_000,
            "nothing came for 200ms",
        ),
        (
            Script::dripping_stream(),
            20_000,
            60_000,
            300,
            "no whole answer within 300ms",
        ),
        (Script::silent(), 20_000, 60_000, 100, "no whole answer within 100ms"),
    ];
    for (script, connect, idle, total, words) in cases {
        let server = Server::start(vec![script.clone()]);
        let failure = ask(&quick(&server.url(), connect, idle, total)).await.unwrap_err();
        assert_eq!(failure.cause, Cause::TimedOut, "{script:?}");
        assert!(failure.to_string().contains(words), "{failure}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_malformed() {
    let login = "<!doctype html><html><head><title>Sign in</title></head><body>Please log in</body></html>";
    for form in FORMS {
        let page = failure(form, Script::page("text/html; charset=utf-8", login)).await;
        assert_eq!(page.cause, Cause::Malformed);
        assert!(
            page.to_string().contains("text/html") && page.detail.contains("Sign in Please log in"),
            "{page}"
        );
        for script in [
            Script::json(r#"{"choices":[{"message":{"content":"half"#),
            Script::json(""),
            Script::json("{}"),
            Script::stream(&["data: {not json}\n\n"]),
            Script::stream(&[]),
            Script::stream(&["hello\n\n"]),
            Script::json("{}").header("content-encoding", "gzip"),
        ] {
            assert_eq!(
                failure(form, script.clone()).await.cause,
                Cause::Malformed,
                "{form:?} {script:?}"
            );
        }
    }
    let typeless = Script::json(&Reply::new("Hi").chat()).without_header("content-type");
    let server = Server::start(vec![typeless]);
    assert_eq!(ask(&model(WireForm::Chat, &server.url())).await.unwrap().text, "Hi");
}

#[tokio::test]
async fn errors_in_the_middle_of_streams_are_what_they_say() {
    let cases = [
        (
            WireForm::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Cause::Overloaded,
        ),
        (
            WireForm::Chat,
            r#"{"error":{"message":"upstream","code":502}}"#,
            Cause::ServerError(502),
        ),
        (
            WireForm::Responses,
            r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#,
            Cause::RateLimited,
        ),
    ];
    for (form, error, cause) in cases {
        let whole = Reply::new("a longer answer")
            .to(mainstay_llm::forms::path(form), r#"{"stream":true}"#)
            .1;
        let half = whole[..whole.len() / 2].rfind("\n\n").unwrap() + 2;
        let event = format!("event: error\ndata: {error}\n\n");
        let failure = failure(form, Script::stream(&[&whole[..half], &event]).then_hang()).await;
        assert_eq!(failure.cause, cause);
        assert_eq!(
            failure.usage.is_some(),
            form == WireForm::Anthropic,
            "what was paid is known"
        );
    }
}

#[tokio::test]
async fn an_answer_has_an_end_even_if_the_server_knows_none() {
    let long = "x".repeat(100_000);
    for script in [
        Script::json(&Reply::new(&long).chat()),
        Script::stream(&[&Reply::new(&long).chat_stream()]),
        Script::stream(&["data: ", &long, &long]).then_hang(),
    ] {
        let server = Server::start(vec![script]);
        let mut model = model(WireForm::Chat, &server.url());
        model.endpoint.limits.bytes = 50_000;
        let failure = ask(&model).await.unwrap_err();
        assert_eq!(failure.cause, Cause::TooLarge);
        assert!(failure.to_string().contains("more than 50000 bytes"), "{failure}");
    }
    // A refusal of any length is read as far as its words.
    let endless = Script::page("text/plain", &"no ".repeat(200_000)).then_hang();
    assert!(failure(WireForm::Chat, endless).await.detail.len() < 1_000);
}

#[tokio::test]
async fn keys_go_to_their_endpoint_and_nowhere_else() {
    let other = Server::start(vec![Script::reply("stolen")]);
    let moved = Script::status(307, "").header("location", &format!("{}/chat/completions?k=1", other.url()));
    let failure = failure(WireForm::Chat, moved).await;
    assert_eq!(failure.cause, Cause::BadRequest(307));
    assert!(failure.to_string().contains("has moved to"), "{failure}");
    assert!(other.received().is_empty());

    let refused = |url: &str| {
        let model = model(WireForm::Chat, url);
        async move { ask(&model).await.unwrap_err() }
    };
    for (url, words) in [
        ("http://example.com/v1", "unencrypted"),
        ("http://127.0.0.1.example.com/v1", "unencrypted"),
        ("ftp://example.com/v1", "neither http nor https"),
        ("not an address", "its address is none"),
        ("https://me:secret@example.com/v1", "holds a user or password"),
    ] {
        let failure = refused(url).await;
        assert_eq!(failure.cause, Cause::BadEndpoint, "{url}");
        assert!(
            failure.to_string().contains(words) && !failure.to_string().contains("secret"),
            "{failure}"
        );
    }
    let mut broken = model(WireForm::Chat, "http://127.0.0.1:1/v1");
    broken.endpoint.key = Some(Secret::new("sk-two\nlines"));
    let failure = ask(&broken).await.unwrap_err();
    assert!(failure.to_string().contains("its key holds characters"), "{failure}");
}

#[tokio::test]
async fn a_body_goes_out_byte_for_byte_to_its_form_only() {
    let server = Server::start(vec![Script::reply("Hi")]);
    let body = "{ \"model\":\"x\",  \"messages\":[], \"n\": 1.0 }".to_owned();
    let question = Question::Body {
        form: WireForm::Chat,
        body: body.clone(),
    };
    let client = Client::new();
    let answer = client.ask(&model(WireForm::Chat, &server.url()), &question).await;
    assert_eq!(answer.unwrap().text, "Hi");
    assert_eq!(server.received()[0].body, body);
    let failure = client
        .ask(&model(WireForm::Anthropic, &server.url()), &question)
        .await
        .unwrap_err();
    assert_eq!(failure.cause, Cause::WrongForm);
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn addresses_may_end_in_a_slash_in_the_path_itself_or_in_a_query() {
    let server = Server::start(vec![Script::reply("Hi")]);
    for end in ["/", "/chat/completions", "?api-version=1"] {
        let model = model(WireForm::Chat, &format!("{}{end}", server.url()));
        ask(&model).await.unwrap();
    }
    let paths: Vec<String> = server.received().into_iter().map(|request| request.path).collect();
    assert_eq!(paths[..2], ["/v1/chat/completions", "/v1/chat/completions"]);
    assert_eq!(paths[2], "/v1/chat/completions?api-version=1");
}
