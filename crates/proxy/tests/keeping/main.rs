//! The keeper alone: what it sends for a conversation that grows, after a restart, beside another one, and when things break.

mod agent;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_llm::chain::Chain;
use mainstay_llm::client::Client;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use mainstay_proxy::session::RequestAction;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::session::fail_open::FailOpenCaller;
use mainstay_proxy::settings::CompactionSettings;
use mainstay_proxy::settings::PassTiming;
use mainstay_proxy::settings::SummaryModels;
use mainstay_store::Store;
use mainstay_tests::server::Received;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use mainstay_wire::reading::WireForm;
use serde_json::Value;
use serde_json::json;

use crate::agent::Agent;
use crate::agent::list;
use crate::agent::prepared;
use crate::agent::send;
use crate::agent::shortened;

const FORMS: [WireForm; 3] = [WireForm::Chat, WireForm::Responses, WireForm::Anthropic];

fn keeping(store: &Path, window: u64) -> CompactionSettings {
    CompactionSettings {
        timing: PassTiming::Threshold,
        window: Some(window),
        patience: Duration::from_secs(600),
        ..CompactionSettings::at(store.to_owned())
    }
}

#[tokio::test]
async fn the_prefix_changes_only_with_a_pass_and_the_prompt_fits() {
    for form in FORMS {
        let folder = tempfile::tempdir().unwrap();
        let keeper = SessionCompactor::new(keeping(&folder.path().join("store.db"), 8_000));
        let mut agent = Agent::new(form);
        let mut last: Vec<Value> = Vec::new();
        let mut passes = 0;
        for turn in 0..100 {
            agent.step(turn);
            let outgoing = send(&keeper, &agent);
            let now = list(form, &outgoing.body);
            match outgoing.note.deed {
                RequestAction::Compacted => passes += 1,
                RequestAction::Nothing | RequestAction::KnownPrefix => {
                    assert_eq!(last[..], now[..last.len()], "{form:?} turn {turn}")
                }
                other => panic!("{form:?} turn {turn}: {other:?} {:?}", outgoing.note.reason),
            }
            let tokens = outgoing.note.tokens_after.unwrap();
            assert!(tokens <= 8_000, "{form:?} turn {turn}: {:?}", outgoing.note);
            assert_eq!(now.last(), agent.messages.last(), "the newest message is as it came");
            last = now;
        }
        assert!((3..40).contains(&passes), "{form:?}: {passes} passes");
    }
}

#[tokio::test]
async fn a_broken_result_is_refused_and_the_request_goes_out_as_it_came() {
    for form in FORMS {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let sound = SessionCompactor::new(keeping(&store.with_file_name("sound.db"), 8_000));
        let broken = SessionCompactor::new(CompactionSettings {
            fault: Some(|messages| {
                // The newest answer loses its call, or the call its place.
                let at = messages.iter().rposition(|message| message.has_results()).unwrap();
                messages.remove(at - 1);
            }),
            ..keeping(&store, 8_000)
        });
        let mut agent = Agent::new(form);
        let mut compacted = 0;
        for turn in 0..60 {
            agent.step(turn);
            let as_it_came = list(form, &agent.body());
            let outgoing = send(&broken, &agent);
            assert_ne!(outgoing.note.deed, RequestAction::Compacted, "{form:?} turn {turn}");
            assert_eq!(list(form, &outgoing.body), as_it_came, "{form:?} turn {turn}");
            compacted += usize::from(send(&sound, &agent).note.deed == RequestAction::Compacted);
        }
        assert!(compacted > 0, "{form:?}: nothing was due");
        let kept = Store::open_existing(&store).map_or(0, |store| store.checkpoints(None, 10).unwrap().len());
        assert_eq!(kept, 0, "{form:?}: something was kept");
    }
}

#[tokio::test]
async fn another_life_and_another_proxy_send_the_same_bytes() {
    for form in FORMS {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let one = SessionCompactor::new(keeping(&store, 8_000));
        let other = SessionCompactor::new(keeping(&store, 8_000));
        let mut agent = Agent::new(form);
        for turn in 0..60 {
            agent.step(turn);
            // Whoever is asked, both know what was put in place.
            let (first, second) = if turn % 2 == 0 { (&one, &other) } else { (&other, &one) };
            let sent = send(first, &agent);
            let again = send(second, &agent);
            assert_eq!(
                sent.body, again.body,
                "{form:?} turn {turn}: {:?} / {:?}",
                sent.note, again.note
            );
            let reborn = SessionCompactor::new(keeping(&store, 8_000));
            let once_more = send(&reborn, &agent);
            assert_eq!(sent.body, once_more.body, "{form:?} turn {turn}: {:?}", once_more.note);
        }
    }
}

#[tokio::test]
async fn edits_rewinds_and_branches_fall_back_to_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = SessionCompactor::new(keeping(&folder.path().join("store.db"), 8_000));
    let mut agent = Agent::new(WireForm::Anthropic);
    let mut passes = Vec::new();
    for turn in 0..60 {
        agent.step(turn);
        let outgoing = send(&keeper, &agent);
        if outgoing.note.deed == RequestAction::Compacted {
            passes.push(agent.messages.len());
        }
    }
    let whole = agent.messages.clone();
    // Rewound behind a pass, what stands for the longest beginning goes out; before the first one, everything as it came.
    for length in (1..whole.len()).step_by(2) {
        agent.messages = whole[..length].to_vec();
        let outgoing = send(&keeper, &agent);
        let sent = list(WireForm::Anthropic, &outgoing.body);
        assert_eq!(sent.last(), agent.messages.last(), "rewound to {length}");
        match outgoing.note.deed {
            RequestAction::Nothing => assert!(outgoing.body == agent.body() && length < passes[0]),
            RequestAction::KnownPrefix => assert!(outgoing.body.len() < agent.body().len()),
            other => panic!("rewound to {length}: {other:?}"),
        }
    }
    // An edit of the first message makes another conversation, which is sent as it came while it fits.
    agent.messages = whole[..9].to_vec();
    agent.messages[0] = json!({"role":"user","content":"Something else."});
    let outgoing = send(&keeper, &agent);
    assert_eq!(
        (outgoing.note.deed, &outgoing.body),
        (RequestAction::Nothing, &agent.body())
    );
}

#[tokio::test]
async fn a_store_that_cannot_be_used_lets_requests_through() {
    let folder = tempfile::tempdir().unwrap();
    // A directory is no store.
    let keeper = SessionCompactor::new(keeping(folder.path(), 8_000));
    let mut agent = Agent::new(WireForm::Chat);
    let mut failed = 0;
    for turn in 0..60 {
        agent.step(turn);
        let outgoing = send(&keeper, &agent);
        assert_eq!(outgoing.body, agent.body());
        failed += usize::from(outgoing.note.deed == RequestAction::FailedOpen);
    }
    assert!(failed > 0);
}

#[tokio::test]
async fn a_prompt_that_the_provider_refuses_is_shortened() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CompactionSettings {
        timing: PassTiming::Never,
        window: None,
        ..keeping(&folder.path().join("store.db"), 0)
    };
    let keeper = SessionCompactor::new(settings);
    let mut agent = Agent::new(WireForm::Anthropic);
    (0..80).for_each(|turn| agent.step(turn));
    let outgoing = prepared(&keeper, &agent);
    assert_eq!(outgoing.body, agent.body());
    let ticket = outgoing.ticket.expect("it was recognised");
    let words = "prompt is too long: 31000 tokens > 16000 maximum";
    let shorter = shortened(&keeper, &ticket, words);
    let shorter = shorter.expect("there is much to leave out");
    assert_eq!(shorter.note.deed, RequestAction::Compacted);
    assert!(shorter.body.len() * 2 < agent.body().len());
    // And so it stays.
    agent.step(80);
    let next = prepared(&keeper, &agent);
    assert_eq!(next.note.deed, RequestAction::KnownPrefix);
    assert_eq!(next.note.window, Some(16_000));
}

#[tokio::test]
async fn malformed_history_is_repaired_when_the_provider_complains() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = SessionCompactor::new(keeping(&folder.path().join("store.db"), 200_000));
    let mut agent = Agent::new(WireForm::Anthropic);
    (0..5).for_each(|turn| agent.step(turn));
    // A call whose result was lost.
    agent.messages.remove(4);
    let outgoing = prepared(&keeper, &agent);
    assert_eq!(outgoing.body, agent.body());
    let words = "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: call_1.";
    let repaired = keeper.after_complaint(&outgoing.ticket.expect("it was recognised"), words);
    let repaired = repaired.expect("it can be repaired");
    assert_eq!(repaired.note.deed, RequestAction::Repaired);
    let calls = |body: &[u8], kind: &str| String::from_utf8_lossy(body).matches(kind).count();
    assert_eq!(
        calls(&repaired.body, "\"tool_use\""),
        calls(&repaired.body, "\"tool_result\"")
    );
    agent.step(5);
    let next = prepared(&keeper, &agent);
    assert_eq!(next.note.deed, RequestAction::KnownPrefix);
    assert_eq!(calls(&next.body, "\"tool_use\""), calls(&next.body, "\"tool_result\""));
}

#[tokio::test]
async fn giant_results_are_shrunk_once_and_the_same_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    let settings = || CompactionSettings {
        trim: Some(2_000),
        ..keeping(&store, 200_000)
    };
    let keeper = SessionCompactor::new(settings());
    let mut agent = Agent::new(WireForm::Anthropic);
    agent.step(0);
    let log: String = (0..3_000).map(|line| format!("test case_{line} ... ok\n")).collect();
    agent.messages[2]["content"][0]["content"] = json!(format!("{log}test odd_one ... FAILED\n"));
    let first = send(&keeper, &agent);
    assert_eq!(first.note.trimmed, 1);
    let text = String::from_utf8_lossy(&first.body).into_owned();
    assert!(text.contains("odd_one ... FAILED") && text.contains("recall t") && text.len() < 20_000);
    agent.step(1);
    let second = send(&keeper, &agent);
    let reborn = send(&SessionCompactor::new(settings()), &agent);
    assert_eq!(second.body, reborn.body);
    let shared = list(WireForm::Anthropic, &first.body);
    assert_eq!(list(WireForm::Anthropic, &second.body)[..shared.len()], shared[..]);
}

#[tokio::test]
async fn the_economic_policy_fits_too() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CompactionSettings {
        timing: PassTiming::Economic(EconomicPolicy::default()),
        ..keeping(&folder.path().join("store.db"), 16_000)
    };
    let keeper = SessionCompactor::new(settings);
    let mut agent = Agent::new(WireForm::Anthropic);
    for turn in 0..150 {
        agent.step(turn);
        let outgoing = send(&keeper, &agent);
        let tokens = outgoing.note.tokens_after.unwrap();
        assert!(tokens <= 16_000, "turn {turn}: {:?}", outgoing.note);
        let sent = list(WireForm::Anthropic, &outgoing.body);
        assert_eq!(sent.last(), agent.messages.last(), "the newest message is as it came");
    }
    let overview = keeper.overview();
    assert_eq!(overview.sessions.len(), 1);
    assert!(overview.sessions[0].passes > 0);
    assert!(overview.sessions[0].prompts < overview.sessions[0].prompts_whole);
}

/// Everything that a summariser must not lose of what it was shown, told as sections.
fn summary(_: &Received) -> Script {
    Script::reply(
        "## Current task\nFind out why the checkout test fails and fix it.\n## Decisions\nNever touch /etc/hosts.\n## Progress\nModules were read.\n",
    )
}

#[tokio::test]
async fn a_summary_is_written_in_the_background_and_in_force_when_it_is_due() {
    let server = Server::with(summary);
    let folder = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::new("writer", &server.url(), WireForm::Chat);
    let model = Model::new("writer", "writer", endpoint, 1_000_000, 16_000);
    let settings = CompactionSettings {
        writing: Some(SummaryModels {
            chain: Chain::new(Arc::new(Client::new()), vec![model], 1),
            prompts: Prompts::default(),
        }),
        policy: Policy {
            engine: Engine::Hybrid,
            ..Policy::default()
        },
        ..keeping(&folder.path().join("store.db"), 32_000)
    };
    let keeper = SessionCompactor::new(settings);
    let mut agent = Agent::new(WireForm::Anthropic);
    let mut compacted = None;
    for turn in 0..200 {
        agent.step(turn);
        let outgoing = send(&keeper, &agent);
        assert_ne!(outgoing.note.deed, RequestAction::FailedOpen, "{:?}", outgoing.note);
        if outgoing.note.deed == RequestAction::Compacted {
            compacted = Some(outgoing);
            break;
        }
        // An agent takes its time; here it is told when the writer is done.
        while keeper.overview().sessions[0].is_passing {
            tokio::task::yield_now().await;
        }
    }
    let compacted = compacted.expect("it became due");
    assert!(!server.received().is_empty(), "the model was asked");
    assert!(compacted.note.tokens_after.unwrap() < 32_000);
    let body = String::from_utf8_lossy(&compacted.body).into_owned();
    assert!(body.contains("checkout test fails"), "{body}");
}

#[tokio::test]
async fn a_step_that_would_fill_the_window_goes_out_shortened_and_stays_so() {
    for form in FORMS {
        let folder = tempfile::tempdir().unwrap();
        let keeper = SessionCompactor::new(keeping(&folder.path().join("store.db"), 16_000));
        let mut agent = Agent::new(form);
        (0..7).for_each(|turn| agent.step(turn));
        agent.step_with(7, &"row of the log\n".repeat(5_000));
        let first = send(&keeper, &agent);
        assert!(first.note.tokens_after.unwrap() <= 16_000, "{form:?}: {:?}", first.note);
        let shared = list(form, &first.body);
        let newest = shared[shared.len() - 1].to_string();
        assert!(newest.contains("call_7") && newest.contains("recall m"), "{newest}");
        agent.step(8);
        let second = list(form, &send(&keeper, &agent).body);
        assert!(second.starts_with(&shared), "{form:?}");
    }
}

#[tokio::test]
async fn words_that_alone_do_not_fit_are_nobody_s_to_cut() {
    for timing in [PassTiming::Threshold, PassTiming::Economic(EconomicPolicy::default())] {
        let folder = tempfile::tempdir().unwrap();
        let settings = CompactionSettings {
            timing,
            ..keeping(&folder.path().join("store.db"), 16_000)
        };
        let keeper = SessionCompactor::new(settings);
        let mut agent = Agent::new(WireForm::Chat);
        (0..10).for_each(|turn| agent.step(turn));
        let essay = "Please read all of this with care. ".repeat(4_000);
        agent.messages.push(json!({"role":"user","content":essay}));
        let outgoing = prepared(&keeper, &agent);
        let sent = list(WireForm::Chat, &outgoing.body);
        assert_eq!(sent.last(), agent.messages.last(), "{timing:?}: {:?}", outgoing.note);
        let ticket = outgoing.ticket.expect("it was recognised");
        let words =
            "This model's maximum context length is 16000 tokens. However, your messages resulted in 32000 tokens.";
        if let Some(shorter) = shortened(&keeper, &ticket, words) {
            assert_eq!(list(WireForm::Chat, &shorter.body).last(), agent.messages.last());
        }
    }
}

#[tokio::test]
async fn an_odd_refusal_of_a_small_prompt_is_no_lesson() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = SessionCompactor::new(keeping(&folder.path().join("store.db"), 100_000));
    let mut agent = Agent::new(WireForm::Chat);
    agent.step(0);
    for words in ["", "Request Entity Too Large", "the context window is exceeded"] {
        let outgoing = prepared(&keeper, &agent);
        let ticket = outgoing.ticket.expect("it was recognised");
        assert!(shortened(&keeper, &ticket, words).is_none(), "{words}");
        let next = prepared(&keeper, &agent);
        assert_eq!(next.note.window, Some(100_000), "{words}");
    }
}

#[tokio::test]
async fn reasoning_that_is_left_out_later_shifts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CompactionSettings {
        trim: Some(500),
        ..keeping(&folder.path().join("store.db"), 200_000)
    };
    let keeper = SessionCompactor::new(settings);
    let reasoning =
        |number: usize| json!({"type":"reasoning","id":format!("r{number}"),"summary":[],"encrypted_content":"x"});
    let mut agent = Agent::new(WireForm::Responses);
    (0..4).for_each(|turn| agent.step(turn));
    let log: String = (0..900).map(|line| format!("test case_{line} ... ok\n")).collect();
    agent.messages[2]["output"] = json!(log);
    let plain = agent.messages.clone();
    // With reasoning before the first two calls, then before the last two only.
    for places in [[1, 4], [5, 8]] {
        agent.messages = plain.clone();
        for (number, place) in places.into_iter().enumerate() {
            agent.messages.insert(place, reasoning(number));
        }
        let outgoing = send(&keeper, &agent);
        let sent = list(WireForm::Responses, &outgoing.body);
        assert_eq!(sent.len(), agent.messages.len());
        for (index, (sent, came)) in sent.iter().zip(&agent.messages).enumerate() {
            match came["output"].as_str().is_some_and(|output| output.len() > 5_000) {
                true => assert!(sent["output"].as_str().unwrap().len() < 5_000 && sent["call_id"] == came["call_id"]),
                false => assert_eq!(sent, came, "{places:?} {index}"),
            }
        }
    }
}

#[tokio::test]
async fn a_mark_of_the_cache_does_not_stay_behind_in_a_shrunk_result() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CompactionSettings {
        trim: Some(500),
        ..keeping(&folder.path().join("store.db"), 200_000)
    };
    let keeper = SessionCompactor::new(settings);
    let mut agent = Agent::new(WireForm::Anthropic);
    agent.step(0);
    let log: String = (0..900).map(|line| format!("test case_{line} ... ok\n")).collect();
    agent.messages[2]["content"][0]["content"] = json!(log);
    agent.messages[2]["content"][0]["cache_control"] = json!({"type":"ephemeral"});
    send(&keeper, &agent);
    agent.messages[2]["content"][0]
        .as_object_mut()
        .unwrap()
        .remove("cache_control");
    agent.step(1);
    let outgoing = send(&keeper, &agent);
    assert_eq!(outgoing.note.trimmed, 1);
    assert!(!String::from_utf8_lossy(&outgoing.body).contains("cache_control"));
}

#[tokio::test]
async fn a_pass_that_takes_too_long_goes_on_without_its_request() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = SessionCompactor::new(CompactionSettings {
        patience: Duration::ZERO,
        ..keeping(&folder.path().join("store.db"), 8_000)
    });
    let caller = FailOpenCaller::new(Arc::new(keeper.clone()), Duration::from_secs(600));
    let mut agent = Agent::new(WireForm::Chat);
    let passes = || keeper.overview().sessions.first().map_or(0, |session| session.passes);
    let mut was_late = false;
    while passes() < 3 {
        agent.step(agent.messages.len());
        let (outgoing, failure) = caller.prepare(agent.incoming()).await;
        assert_eq!(failure, None);
        // What is known of the conversation is used, and the answer will be counted.
        assert!(outgoing.ticket.is_some() && outgoing.note.tokens_after.is_some());
        assert_eq!(list(agent.form, &outgoing.body).last(), agent.messages.last());
        if outgoing.note.deed == RequestAction::FailedOpen {
            let reason = outgoing.note.reason.unwrap_or_default();
            assert_eq!(reason, "the pass takes longer than 0 ms and goes on without us");
            was_late = true;
        }
        assert!(agent.messages.len() < 2_000, "no pass came into force");
    }
    assert!(was_late);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_come_at_once_wait_for_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = SessionCompactor::new(keeping(&folder.path().join("store.db"), 8_000));
    let caller = FailOpenCaller::new(Arc::new(keeper.clone()), Duration::from_secs(600));
    let mut agent = Agent::new(WireForm::Chat);
    (0..5).for_each(|turn| agent.step(turn));
    prepared(&keeper, &agent);
    (5..60).for_each(|turn| agent.step(turn));
    let mut bodies = Vec::new();
    let asked = [(); 8].map(|()| {
        let (caller, incoming) = (caller.clone(), agent.incoming());
        tokio::spawn(async move { caller.prepare(incoming).await })
    });
    for asked in asked {
        let (outgoing, failure) = asked.await.unwrap();
        assert_eq!(failure, None);
        bodies.push(outgoing.body);
    }
    assert!(bodies[0].len() * 2 < agent.body().len());
    assert!(bodies.iter().all(|body| *body == bodies[0]), "all send the same bytes");
    assert_eq!(keeper.overview().sessions[0].passes, 1);
}
