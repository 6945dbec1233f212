//! What holds for every host, because it holds in the driver: secrets stay hidden by default, and a broken result is refused
//! before it is adopted.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::sync::Arc;

use mainstay_engine::transcript::Message;
use mainstay_session::Ask;
use mainstay_session::Document;
use mainstay_session::Engine;
use mainstay_session::Outcome;
use mainstay_session::Policy;
use mainstay_session::Redaction;
use mainstay_session::Refusal;
use mainstay_session::Reply;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_session::Step;
use mainstay_session::Stop;
use mainstay_session::SummaryWriters;
use mainstay_session::Verdict;
use mainstay_session::read_messages;

const ENGINES: [Engine; 5] = [
    Engine::Prune,
    Engine::Auto,
    Engine::Ledger,
    Engine::Summary,
    Engine::Hybrid,
];

/// A token as one service makes them, put together here so that no scanner finds one in this file.
fn token() -> String {
    format!("gh{}_{}", "p", "Zk3vQ9".repeat(6))
}

/// A conversation with tool calls; an old output has the token in it.
fn conversation() -> Document {
    conversation_of(20)
}

fn conversation_of(steps: usize) -> Document {
    let mut messages = vec![r#"{"role":"user","content":"Find out why the deploy fails."}"#.to_owned()];
    for step in 0..steps {
        let output = match step {
            2 => format!(
                "error: push with token {} was rejected. {}",
                token(),
                "hint: try again. ".repeat(80)
            ),
            _ => format!("line {step} of the log of the build. ").repeat(60),
        };
        messages.push(format!(
            r#"{{"role":"assistant","content":"I look at part {step}.","tool_calls":[{{"id":"c{step}","type":"function","function":{{"name":"terminal","arguments":"{{\"command\":\"make part{step}\"}}"}}}}]}}"#
        ));
        messages.push(format!(
            r#"{{"role":"tool","tool_call_id":"c{step}","content":"{output}"}}"#
        ));
    }
    let body = format!(r#"{{"model":"gpt-4o","messages":[{}]}}"#, messages.join(","));
    read_messages(body.as_bytes()).unwrap()
}

fn session(document: &Document, engine: Engine) -> Session {
    let policy = Policy {
        engine,
        target: Some(4_000),
        tail: Some(500),
        tail_messages: 2,
        ..Policy::default()
    };
    let mut settings = SessionSettings::new(document.form(), "gpt-4o", policy).unwrap();
    settings.writers = Some(SummaryWriters::with_window(128_000));
    Session::of(settings, Arc::clone(&document.transcript))
}

/// A pass with a model that repeats what it was asked, the worst that it could do.
fn pass(session: &mut Session) -> Outcome {
    let mut step = session.start();
    loop {
        match step {
            Step::Done(outcome) => return *outcome,
            Step::Ask(ask) => {
                let Ask { request, pending } = *ask;
                assert!(!request.user.contains(&token()), "a model was shown the token");
                let text = format!("## Goal\nFind out why the deploy fails, with {}.\n", token());
                let reply = Reply::Answer { text, stop: Stop::End };
                step = session.answer(pending, reply);
            }
        }
    }
}

/// What stands in the result and did not come in as it is: everything but messages that were kept whole.
fn written(document: &Document, outcome: &Outcome) -> String {
    let chunks = document.compacted_chunks(&outcome.changes, outcome.block.as_ref());
    let original = document.original_chunks();
    let new = chunks.iter().filter(|chunk| !original.contains(&chunk.as_ref()));
    new.map(|chunk| chunk.as_ref()).collect()
}

#[test]
fn with_default_settings_no_pass_shows_a_token_of_an_old_output() {
    let document = conversation();
    for engine in ENGINES {
        let mut session = session(&document, engine);
        let outcome = pass(&mut session);
        assert_eq!(outcome.verdict, Verdict::Compacted, "{engine:?}: {:?}", outcome.flaws);
        let shown = written(&document, &outcome);
        assert!(!shown.is_empty() && !shown.contains(&token()), "{engine:?}: {shown}");
        let plan: Vec<String> = outcome.plan.reasons.iter().map(ToString::to_string).collect();
        assert!(!plan.join(" ").contains(&token()));
    }
}

#[test]
fn showing_everything_has_to_be_asked_for_by_name() {
    let document = conversation();
    let shows_token = |redaction: Redaction| {
        let mut session = session(&document, Engine::Ledger);
        session.settings_mut().redaction = redaction;
        let outcome = pass(&mut session);
        written(&document, &outcome).contains(&token())
    };
    assert!(!shows_token(Redaction::default()));
    assert!(shows_token(Redaction::Off));
}

#[test]
fn a_broken_result_is_refused_before_it_is_adopted() {
    let document = conversation();
    for engine in ENGINES {
        let mut session = session(&document, engine);
        session.settings_mut().fault = Some(|messages| {
            // The newest answer loses its call.
            let at = messages.iter().rposition(|message| message.has_results()).unwrap();
            messages.remove(at - 1);
        });
        let outcome = pass(&mut session);
        assert!(
            matches!(&outcome.verdict, Verdict::Unchanged(Refusal::Flawed { kind, .. }) if kind.code() == "unpaired"),
            "{engine:?}: {:?}",
            outcome.verdict
        );
        assert!(outcome.changes.is_empty() && outcome.block.is_none());
        assert_eq!(session.messages(), document.transcript.messages(), "{engine:?}");
        // The next pass is made as if nothing had been.
        session.settings_mut().fault = None;
        assert_eq!(pass(&mut session).verdict, Verdict::Compacted, "{engine:?}");
    }
}

#[test]
fn every_reason_and_refusal_has_a_code_and_a_sentence() {
    let document = conversation();
    let mut codes = Vec::new();
    for (engine, target) in [
        (Engine::Prune, 4_000),
        (Engine::Ledger, 4_000),
        (Engine::Hybrid, 4_000),
        (Engine::Auto, 1_000_000),
        (Engine::Ledger, 10),
    ] {
        let mut session = session(&document, engine);
        session.settings_mut().policy.target = Some(target);
        let outcome = pass(&mut session);
        if let Verdict::Unchanged(refusal) = &outcome.verdict {
            codes.push(refusal.code());
            assert!(!refusal.to_string().is_empty());
        }
        for reason in &outcome.plan.reasons {
            codes.push(reason.code());
            assert!(!reason.to_string().is_empty());
        }
    }
    for expected in ["above-target", "not-above-target", "replaced", "summary-by-model"] {
        assert!(codes.contains(&expected), "{codes:?}");
    }
    let is_code = |code: &str| code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    assert!(codes.iter().all(|code| is_code(code)), "{codes:?}");
}

thread_local! {
    /// How many messages the newest check looked at.
    static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn another_pass_looks_only_at_what_is_new() {
    let (first, grown) = (conversation_of(400), conversation_of(410));
    let mut session = session(&first, Engine::Prune);
    let settings = session.settings_mut();
    settings.policy.target = None;
    settings.policy.recent_outputs = Some(0);
    settings.is_forced = true;
    settings.fault = Some(|messages| LOOKED_AT.set(messages.len()));
    assert_eq!(session.pass().verdict, Verdict::Compacted);
    assert!(LOOKED_AT.get() > 700, "{}", LOOKED_AT.get());
    session.observe(Arc::clone(&grown.transcript));
    assert_eq!(session.pass().verdict, Verdict::Compacted);
    assert!(LOOKED_AT.get() < 60, "{}", LOOKED_AT.get());
    // What stays of the first pass and what the second one added make the same conversation as both at once.
    let read_back = read_messages(session.compacted_chunks(&grown).concat().as_bytes()).unwrap();
    let parts = |messages: &[Message]| messages.iter().map(|message| message.parts.clone()).collect::<Vec<_>>();
    assert_eq!(parts(read_back.transcript.messages()), parts(&session.messages()));
}
