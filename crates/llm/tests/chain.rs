//! Chains over real sockets: fallback, patience, deadlines, what is remembered, and how many requests are under way.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::join_all;
use mainstay_llm::chain::Chain;
use mainstay_llm::chain::Event;
use mainstay_llm::client::Client;
use mainstay_llm::error::Cause;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Question;
use mainstay_llm::prompt::Speaker;
use mainstay_llm::retry::Patience;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use mainstay_wire::reading::WireForm;

const OVERFLOW: &str = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;

fn model(name: &str, url: &str, window: u64) -> Model {
    let mut endpoint = Endpoint::new(name, url, WireForm::Chat);
    endpoint.limits.idle = Duration::from_secs(20);
    Model::new(name, name, endpoint, window, 1_000)
}

fn chain(models: Vec<Model>) -> Chain {
    let mut chain = Chain::new(Arc::new(Client::new()), models, 1);
    chain.patience = Patience {
        attempts: 4,
        first: Duration::from_millis(2),
        most: Duration::from_millis(4),
        most_wait: Duration::from_millis(100),
    };
    chain
}

fn question() -> Question {
    Question::Prompt(Prompt {
        turns: vec![(Speaker::User, "Hello?".to_owned())],
        ..Prompt::default()
    })
}

fn may_move_between_threads(_: &impl Send) {}

fn failing(status: u16) -> Server {
    Server::start(vec![Script::status(status, r#"{"error":{"message":"no"}}"#)])
}

#[tokio::test]
async fn the_second_answers_when_the_first_is_down() {
    let up = Server::start(vec![Script::reply("Hi")]);
    let chain = chain(vec![model("a", &Server::nobody(), 9), model("b", &up.url(), 9_000)]);
    let question = question();
    let asking = chain.ask(&question);
    may_move_between_threads(&asking);
    let (index, answer) = asking.await.unwrap();
    assert_eq!((index, answer.text.as_str()), (1, "Hi"));
    assert_eq!(chain.smallest_window(), Some(9));
}

#[tokio::test]
async fn what_may_pass_is_asked_again_and_what_may_not_is_not() {
    for (status, attempts) in [
        (401, 1),
        (402, 1),
        (403, 1),
        (404, 1),
        (422, 1),
        (408, 4),
        (429, 4),
        (500, 4),
        (503, 4),
    ] {
        let server = failing(status);
        let failures = chain(vec![model("a", &server.url(), 9_000)])
            .ask(&question())
            .await
            .unwrap_err();
        assert_eq!(failures.len(), 1);
        assert_eq!(server.received().len(), attempts, "{status}");
    }
    let flaky = Server::start(vec![
        Script::reset(),
        Script::status(529, ""),
        Script::json("{"),
        Script::reply("Hi"),
    ]);
    let (_, answer) = chain(vec![model("a", &flaky.url(), 9_000)])
        .ask(&question())
        .await
        .unwrap();
    assert_eq!((answer.text.as_str(), flaky.received().len()), ("Hi", 4));
}

#[tokio::test]
async fn when_all_are_down_all_failures_come_back_in_order() {
    let (limited, broken) = (failing(429), failing(500));
    let models = vec![
        model("a", &limited.url(), 9_000),
        model("b", &broken.url(), 9_000),
        model("c", &Server::nobody(), 9_000),
    ];
    let failures = chain(models).ask(&question()).await.unwrap_err();
    let causes: Vec<_> = failures
        .iter()
        .map(|failure| (failure.model.as_str(), failure.cause.clone()))
        .collect();
    assert_eq!(
        causes,
        [
            ("a", Cause::RateLimited),
            ("b", Cause::ServerError(500)),
            ("c", Cause::Unreachable)
        ]
    );
    assert!(chain(Vec::new()).ask(&question()).await.unwrap_err().is_empty());
}

#[tokio::test]
async fn a_model_that_failed_for_good_is_not_asked_again() {
    let (refusing, up) = (failing(401), Server::start(vec![Script::reply("Hi")]));
    let chain = chain(vec![model("a", &refusing.url(), 9_000), model("b", &up.url(), 9_000)]);
    for _ in 0..3 {
        assert_eq!(chain.ask(&question()).await.unwrap().0, 1);
    }
    assert_eq!((refusing.received().len(), up.received().len()), (1, 3));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_goes_to_larger_windows_only() {
    let small = Server::start(vec![Script::status(400, OVERFLOW)]);
    let same = Server::start(vec![Script::reply("never asked")]);
    let large = Server::start(vec![Script::reply("Hi")]);
    let models = vec![
        model("small", &small.url(), 8_000),
        model("same", &same.url(), 8_000),
        model("large", &large.url(), 16_000),
    ];
    let (index, _) = chain(models.clone()).ask(&question()).await.unwrap();
    assert_eq!((index, small.received().len(), same.received().len()), (2, 1, 0));
    let failures = chain(models[..2].to_vec()).ask(&question()).await.unwrap_err();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].cause, Cause::TooLong);
    assert!(same.received().is_empty());
}

#[tokio::test]
async fn a_caller_may_begin_further_down() {
    let (first, second) = (
        Server::start(vec![Script::reply("1")]),
        Server::start(vec![Script::reply("2")]),
    );
    let chain = chain(vec![model("a", &first.url(), 9_000), model("b", &second.url(), 9_000)]);
    assert_eq!(chain.ask_from(1, &question(), &|_| {}).await.unwrap().1.text, "2");
    assert!(chain.ask_from(2, &question(), &|_| {}).await.unwrap_err().is_empty());
    assert!(first.received().is_empty());
}

#[tokio::test]
async fn whoever_watches_is_told_and_sees_no_content() {
    let flaky = Server::start(vec![Script::status(503, r#"{"error":{"message":"busy"}}"#)]);
    let up = Server::start(vec![Script::reply("the answer")]);
    let chain = chain(vec![model("a", &flaky.url(), 9_000), model("b", &up.url(), 9_000)]);
    let told = Mutex::new(Vec::new());
    let watch = |event: &Event<'_>| {
        let line = match event {
            Event::Asking { model, attempt } => format!("asking {model} {attempt}"),
            Event::Waiting { model, .. } => format!("waiting {model}"),
            Event::GivenUp { model, because } => format!("given up {model} {:?}", because.cause),
            Event::Answered { model, attempt } => format!("answered {model} {attempt}"),
            other => format!("{other:?}"),
        };
        told.lock().unwrap().push((line, format!("{event:?}")));
    };
    chain.ask_from(0, &question(), &watch).await.unwrap();
    let told = told.into_inner().unwrap();
    let lines: Vec<&str> = told.iter().map(|(line, _)| line.as_str()).collect();
    let mut expected = vec![
        "asking a 1",
        "waiting a",
        "asking a 2",
        "waiting a",
        "asking a 3",
        "waiting a",
        "asking a 4",
    ];
    expected.extend(["given up a Overloaded", "asking b 1", "answered b 1"]);
    assert_eq!(lines, expected);
    assert!(
        told.iter()
            .all(|(_, shown)| !shown.contains("Hello?") && !shown.contains("the answer"))
    );
}

#[tokio::test]
async fn a_wait_that_is_too_long_gives_the_model_up_at_once() {
    let limited = Server::start(vec![Script::status(429, "{}").header("retry-after", "3600")]);
    let up = Server::start(vec![Script::reply("Hi")]);
    let chain = chain(vec![model("a", &limited.url(), 9_000), model("b", &up.url(), 9_000)]);
    // The second question goes past it without asking: the provider's word holds for everybody.
    for _ in 0..2 {
        assert_eq!(chain.ask(&question()).await.unwrap().0, 1);
    }
    assert_eq!(limited.received().len(), 1);
}

#[tokio::test]
async fn a_deadline_ends_requests_and_waits() {
    let silent = Server::start(vec![Script::silent()]);
    let up = Server::start(vec![Script::reply("Hi")]);
    let mut late = chain(vec![model("a", &silent.url(), 9_000), model("b", &up.url(), 9_000)]);
    late.deadline = Some(Duration::from_millis(100));
    let failures = late.ask(&question()).await.unwrap_err();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].cause, Cause::TimedOut);
    assert!(
        failures[0].to_string().contains("100ms for all attempts together"),
        "{}",
        failures[0]
    );

    let busy = failing(503);
    let mut patient = chain(vec![model("a", &busy.url(), 9_000), model("b", &up.url(), 9_000)]);
    patient.patience.first = Duration::from_secs(3_000_000);
    patient.patience.most = Duration::from_secs(3_000_000);
    patient.deadline = Some(Duration::from_secs(20));
    // The wait would outlast the deadline, the next model does not.
    assert_eq!(patient.ask(&question()).await.unwrap().0, 1);
    assert_eq!(busy.received().len(), 1);
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let silent = Arc::new(Server::start(vec![Script::silent()]));
    let chain = chain(vec![model("a", &silent.url(), 9_000)]);
    let question = question();
    {
        let mut asking = Box::pin(chain.ask(&question));
        let watched = Arc::clone(&silent);
        let arrived = async {
            while watched.under_way() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = &mut asking => panic!("a silent server does not answer"),
            () = arrived => {}
        }
    }
    // The server sees the client go long before its own patience ends.
    while silent.under_way() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(chain.client().gate(&chain.models()[0].endpoint).allowed(), 4);
}

#[tokio::test]
async fn many_requests_settle_at_what_the_provider_takes() {
    // A provider that takes two at once and refuses the rest.
    let server = Server::with(|received| match received.others {
        0 | 1 => Script::reply("Hi").after(Duration::from_millis(5)),
        _ => Script::status(429, "{}").header("retry-after-ms", "5"),
    });
    let mut chain = chain(vec![model("a", &server.url(), 9_000)]);
    chain.patience.attempts = 50;
    let question = question();
    let answers = join_all((0..40).map(|_| chain.ask(&question))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert!(server.most_at_once() <= 16);
}
