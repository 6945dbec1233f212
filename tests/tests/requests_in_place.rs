//! A summary that is asked for in place, over a real socket: of every recorded request, what arrives at the provider is the
//! conversation's own body, byte for byte, with one message more at the end of its list.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;

use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::PassMode;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::SummaryPolicy;
use mainstay_engine::decide::WayWanted;
use mainstay_engine::decide::Writers;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::transcript::Role;
use mainstay_llm::chain::Chain;
use mainstay_llm::client::Client;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use mainstay_llm::summarise;
use mainstay_llm::summarise::Summariser;
use mainstay_session::SummaryWriters;
use mainstay_tests::conversation::Form;
use mainstay_tests::reply::Reply;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use mainstay_tests::trial;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request as Reading;
use mainstay_wire::reading::WireForm;
use mainstay_wire::source::Source;
use serde_json::Value;

/// A summary as a model writes one.
const SUMMARY: &str = "## Goal\nCarry the conversation on.\n\n## Progress\n### Done\nThe two of them talked about the weather \
    of many days, which changed nothing about the work that was asked for and that is still to be done.\n";

fn form_of(document: &Document) -> Form {
    let is_same = |form: &Form| form.wire() == document.form();
    Form::ALL.into_iter().find(is_same).unwrap()
}

/// The recorded request with a long talk before its first message that is no instruction: recorded ones are short.
fn lengthened(document: &Document) -> Option<String> {
    let body = document.write();
    let messages = document.transcript.messages();
    let first = (0..messages.len()).find(|index| !matches!(messages[*index].role, Role::System | Role::Developer))?;
    let at = body.find(document.verbatim(first)?)?;
    let talk: String = (0..60)
        .map(|day| {
            let words = "the wind came from the north and brought rain over the hills ".repeat(4);
            format!(
                "{{\"role\":\"user\",\"content\":\"How was day {day}?\"}}, {{\"role\":\"assistant\",\"content\":\"On day {day} {words}\"}}, "
            )
        })
        .collect();
    Some(format!("{}{talk}{}", &body[..at], &body[at..]))
}

fn chain(server: &Server, form: WireForm) -> Chain {
    let endpoint = Endpoint::new("own", &server.url(), form);
    let model = Model::new("own", "own", endpoint, 1_000_000, 16_000);
    Chain::new(Arc::new(Client::new()), vec![model], 1)
}

/// A pass that asks in place; what came of it, and up to which message it was asked.
async fn pass(document: &Document, own: &Chain, records: &Chain) -> (Outcome, usize) {
    let mut session = trial::forced_to(document, form_of(document), &Policy::default(), 200_000);
    let target = Some(session.counted().0 * 3 / 4);
    let settings = session.settings_mut();
    settings.policy = Policy {
        engine: Engine::Hybrid,
        target,
        summary: SummaryPolicy {
            way: WayWanted::InPlace,
            ..SummaryPolicy::default()
        },
        ..Policy::default()
    };
    settings.writers = Some(SummaryWriters {
        models: Writers {
            window: 1_000_000,
            output: 16_000,
            in_place: InPlace::Warm,
        },
        prompts: Prompts::default(),
    });
    let until = Mutex::new(0);
    let body = |request: &Request| {
        let whole = document.last_whole_step(request.until);
        *until.lock().unwrap() = whole;
        let asked = document.asked_in_place(&Default::default(), None, whole, &request.user);
        asked
            .map(|asked| (document.form(), asked.body))
            .map_err(|error| error.to_string())
    };
    let writers = summarise::Writers {
        chain: records,
        in_place: Some((own, &body)),
        until: None,
        watch: &|_| {},
    };
    let mut summariser = Summariser::new(&writers);
    let outcome = session.pass_with(async |request| summariser.reply(request).await).await;
    let until = *until.lock().unwrap();
    (outcome, until)
}

/// What arrived is the conversation's own body with one message more.
fn assert_shares(name: &str, document: &Document, body: &str, until: usize, arrived: &str) {
    let last = document.verbatim(until - 1).unwrap();
    let sent = body.rfind(last).unwrap() + last.len();
    assert_eq!(arrived.get(..sent), Some(&body[..sent]), "{name}: the prefix");
    let key = form_of(document).list_key();
    let (before, after): (Value, Value) = (
        serde_json::from_str(body).unwrap(),
        serde_json::from_str(arrived).unwrap(),
    );
    let (own, asked) = (before[key].as_array().unwrap(), after[key].as_array().unwrap());
    let shared = own.iter().zip(asked).take_while(|(one, other)| one == other).count();
    assert_eq!(asked.len(), shared + 1, "{name}: one message more");
    assert_eq!(asked[shared]["role"], "user", "{name}");
    // Behind the list everything is as it was, spaces included.
    let end = document.verbatim(document.transcript.messages().len() - 1).unwrap();
    let closing = &body[body.rfind(end).unwrap() + end.len()..];
    assert!(closing.trim_start().starts_with(']'), "{name}: {closing}");
    assert!(
        arrived.ends_with(closing.trim_start()),
        "{name}: what stands behind the list"
    );
}

#[tokio::test]
async fn recorded_requests_arrive_with_their_own_prefix() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/samples/wire");
    let Ok(listed) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no recorded requests at {}", folder.display());
        return;
    };
    let mut paths: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let (mut asked, mut cached) = (0, 0);
    for path in paths {
        let source = Source::open(&path).unwrap();
        for index in 0.. {
            let request = Reading {
                session: Some(index.to_string()),
                ..Reading::default()
            };
            let Ok(recorded) = format::read(&source, None, &request) else {
                break;
            };
            let name = format!("{} {index}", path.file_stem().unwrap().to_string_lossy());
            let Some(body) = lengthened(&recorded).filter(|_| recorded.findings.is_empty()) else {
                continue;
            };
            let document = trial::read(form_of(&recorded), &body);
            let server = Server::with(|_| Script::answer(Reply::new(SUMMARY)));
            let records = Server::start(vec![Script::status(500, "{}")]);
            let (own, aside) = (chain(&server, document.form()), chain(&records, WireForm::Chat));
            let (outcome, until) = pass(&document, &own, &aside).await;
            assert_eq!(
                outcome.mode(),
                PassMode::Hybrid,
                "{name}: {:?} {:?}",
                outcome.plan.reasons,
                outcome.flaws
            );
            assert_eq!((server.received().len(), records.received().len()), (1, 0), "{name}");
            assert_shares(&name, &document, &body, until, &server.received()[0].body);
            asked += 1;
            cached += usize::from(body.contains("cache_control"));
        }
    }
    assert!(asked >= 20 && cached >= 2, "{asked} asked, {cached} with cache marks");
}
