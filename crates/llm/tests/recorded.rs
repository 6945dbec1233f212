//! Recorded answers and the tally, through the client and over real sockets.

use std::sync::Arc;

use mainstay_llm::cassette::Cassette;
use mainstay_llm::cassette::Kept;
use mainstay_llm::cassette::Mode;
use mainstay_llm::chain::Chain;
use mainstay_llm::client::Client;
use mainstay_llm::error::Cause;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use mainstay_llm::model::Rates;
use mainstay_llm::prompt::Prompt;
use mainstay_llm::prompt::Question;
use mainstay_llm::prompt::Speaker;
use mainstay_llm::retry::Patience;
use mainstay_llm::secret::Secret;
use mainstay_tests::reply::Reply;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use mainstay_wire::reading::WireForm;

const KEY: &str = "sk-test-0123456789abcdef";

fn model(form: WireForm, url: &str) -> Model {
    let mut endpoint = Endpoint::new("scripted", url, form);
    endpoint.key = Some(Secret::new(KEY));
    Model::new("fast", "scripted-mini", endpoint, 100_000, 1_000)
}

fn question(words: &str) -> Question {
    Question::Prompt(Prompt {
        turns: vec![(Speaker::User, words.to_owned())],
        ..Prompt::default()
    })
}

#[tokio::test]
async fn what_was_recorded_is_had_again_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let forms = [WireForm::Chat, WireForm::Responses, WireForm::Anthropic];
    let server = Server::with(|received| Script::reply(&format!("answer {}", received.number)));
    let client = Client::with_cassette(Arc::new(Cassette::open(&path, Mode::Auto).unwrap()));
    let mut live = Vec::new();
    for form in forms {
        for words in ["one", "two", "one"] {
            live.push(client.ask(&model(form, &server.url()), &question(words)).await.unwrap());
        }
    }
    assert_eq!((server.received().len(), client.spent().calls), (9, 9));
    drop(server);

    let file = std::fs::read_to_string(&path).unwrap();
    assert_eq!(file.lines().count(), 9);
    assert!(!file.contains(KEY) && !file.contains("authorization") && !file.contains("\"one\""));
    let client = Client::with_cassette(Arc::new(Cassette::open(&path, Mode::Replay).unwrap()));
    let mut replayed = Vec::new();
    for form in forms {
        for words in ["one", "two", "one"] {
            replayed.push(
                client
                    .ask(&model(form, &Server::nobody()), &question(words))
                    .await
                    .unwrap(),
            );
        }
    }
    for (live, replayed) in live.iter().zip(&replayed) {
        assert_eq!(live, replayed);
    }
    assert_eq!(client.spent().calls, 0, "recorded answers cost nothing");

    let missing = client
        .ask(&model(WireForm::Chat, &Server::nobody()), &question("private words"))
        .await
        .unwrap_err();
    assert_eq!(missing.cause, Cause::NotRecorded);
    assert!(
        missing.to_string().contains("repeat 0 to /v1/chat/completions"),
        "{missing}"
    );
    assert!(!missing.to_string().contains("private words"));
}

#[tokio::test]
async fn an_answer_that_echoes_the_key_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let server = Server::start(vec![Script::reply(&format!("it is {KEY}, isn't it"))]);
    let client = Client::with_cassette(Arc::new(Cassette::open(&path, Mode::Auto).unwrap()));
    let answer = client
        .ask(&model(WireForm::Chat, &server.url()), &question("x"))
        .await
        .unwrap();
    assert_eq!(answer.text, "it is [key], isn't it");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
    // What people configure for servers that want just any key is no secret.
    let mut local = model(WireForm::Chat, &server.url());
    local.endpoint.key = Some(Secret::new("isn't"));
    let answer = client.ask(&local, &question("x")).await.unwrap();
    assert!(answer.text.ends_with("isn't it"), "{}", answer.text);
}

#[tokio::test]
async fn a_run_that_was_broken_off_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let server = Server::with(|received| Script::reply(&received.number.to_string()));
    for (words, asked) in [(&["a", "b"][..], 2), (&["a", "b", "c", "a"][..], 4)] {
        let client = Client::with_cassette(Arc::new(Cassette::open(&path, Mode::Auto).unwrap()));
        for words in words {
            client
                .ask(&model(WireForm::Chat, &server.url()), &question(words))
                .await
                .unwrap();
        }
        assert_eq!(server.received().len(), asked);
    }
}

#[tokio::test]
async fn refusals_are_recorded_only_if_asked_for() {
    for (kept, lines) in [(Kept::Answers, 1), (Kept::Everything, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let busy =
            || Script::status(503, &format!(r#"{{"error":{{"message":"busy {KEY}"}}}}"#)).header("retry-after", "0");
        let server = Server::start(vec![busy(), busy(), Script::reply("Hi")]);
        let mut cassette = Cassette::open(&path, Mode::Record).unwrap();
        cassette.kept = kept;
        let mut attempts = Vec::new();
        for cassette in [cassette, Cassette::open(&path, Mode::Replay).unwrap()] {
            let mode = cassette.mode();
            // The file is complete only now.
            let cassette = if mode == Mode::Replay {
                Cassette::open(&path, mode).unwrap()
            } else {
                cassette
            };
            let client = Arc::new(Client::with_cassette(Arc::new(cassette)));
            let mut chain = Chain::new(client, vec![model(WireForm::Chat, &server.url())], 1);
            chain.patience = Patience {
                first: std::time::Duration::from_millis(1),
                ..Patience::default()
            };
            let count = std::sync::atomic::AtomicUsize::new(0);
            let watch = |event: &mainstay_llm::chain::Event<'_>| {
                if matches!(event, mainstay_llm::chain::Event::Asking { .. }) {
                    count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                }
            };
            chain.ask_from(0, &question("x"), &watch).await.unwrap();
            attempts.push(count.into_inner());
        }
        assert_eq!(attempts, [3, lines], "a replay has the attempts that were recorded");
        let file = std::fs::read_to_string(&path).unwrap();
        assert_eq!(file.lines().count(), lines);
        assert!(!file.contains(KEY));
        assert_eq!(server.received().len(), 3);
    }
}

#[tokio::test]
async fn every_call_that_was_paid_is_counted() {
    let half = Reply::new("a longer answer").anthropic_stream();
    let cut = half.find("event: message_delta").unwrap();
    let server = Server::start(vec![
        Script::status(500, "{}"),
        Script::stream(&[&half[..cut]]),
        Script::reply("Hi"),
    ]);
    let mut model = model(WireForm::Anthropic, &server.url());
    model.rates = Some(Rates {
        input: 1_000_000.0,
        output: 0.0,
        ..Rates::default()
    });
    let client = Client::new();
    for calls in [0, 1, 2] {
        let _outcome = client.ask(&model, &question("x")).await;
        assert_eq!(client.spent().calls, calls);
    }
    let spent = client.spent();
    assert_eq!((spent.usage.input, spent.cost, spent.unknown), (40, Some(40.0), 0));
}
