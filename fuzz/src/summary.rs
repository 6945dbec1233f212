//! Answers of a model, whatever they are: the pass ends in a result that is smaller, or in the original.

use std::sync::Arc;
use std::sync::LazyLock;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Ask;
use mainstay_engine::compaction::Step;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Writers;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Stop;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;
use mainstay_session::Redaction;
use mainstay_session::Session;
use mainstay_session::SessionSettings;
use mainstay_session::SummaryWriters;
use mainstay_wire::reading::WireForm;

const KEY: [u8; 32] = [9; 32];

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new(Key::new(KEY), Options::default()));

/// Redacts a text twice.
pub fn redact(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let once = REDACTOR.redact(&text).text;
    assert_eq!(REDACTOR.redact(&once).text, once);
}

/// A conversation that has to be replaced.
fn transcript() -> Transcript {
    let mut messages = Vec::new();
    for turn in 0..60 {
        let said = format!("Please change the port in src/server_{turn}.rs to {}, never touch deploy/.", 8000 + turn);
        let done = format!("I changed src/server_{turn}.rs: it listens on {} now. {}", 8000 + turn, "Words. ".repeat(40));
        messages.push(Message::new(Role::User, vec![Part::Text(said.into())]));
        messages.push(Message::new(Role::Assistant, vec![Part::Text(done.into())]));
    }
    let draft = Draft {
        messages,
        ..Draft::default()
    };
    draft.assemble().transcript
}

/// Makes a pass with this answer to whatever is asked.
pub fn answer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let transcript = Arc::new(transcript());
    for engine in [Engine::Summary, Engine::Hybrid] {
        let policy = Policy {
            engine,
            target: Some(3_000),
            ..Policy::default()
        };
        let limits = ModelLimits {
            name: "m".to_owned(),
            window: 32_000,
            output: 4_000,
        };
        let Ok(budget) = Budget::new(&[limits], &policy.budget) else { return };
        let settings = SessionSettings {
            redaction: Redaction::Secrets(Options::default()),
            writers: Some(SummaryWriters {
                models: Writers {
                    window: 32_000,
                    output: 4_000,
                    in_place: InPlace::Impossible("a fuzzer".to_owned()),
                },
                prompts: Prompts::default(),
            }),
            ..SessionSettings::with_budget(WireForm::Chat, Family::O200k, policy, budget).forced()
        };
        let mut session = Session::of(settings, Arc::clone(&transcript));
        let mut step = session.start();
        let outcome = loop {
            match step {
                Step::Done(outcome) => break outcome,
                Step::Ask(next) => {
                    let Ask { pending, .. } = *next;
                    let reply = Reply::Answer {
                        text: text.clone().into_owned(),
                        stop: Stop::End,
                    };
                    step = session.answer(pending, reply);
                }
            }
        };
        assert_eq!(outcome.verdict, Verdict::Compacted);
        assert!(outcome.prompt_after.0 <= 3_000);
    }
}
