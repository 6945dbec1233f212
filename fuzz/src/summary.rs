//! Answers of a model, whatever they are: the pass ends in a result that is smaller, or in the original.

use std::sync::Arc;
use std::sync::LazyLock;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Ask;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Moment;
use mainstay_engine::compaction::Step;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Situation;
use mainstay_engine::decide::Writers;
use mainstay_engine::ledger::scribe::Scribe;
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
    let transcript = transcript();
    for engine in [Engine::Summary, Engine::Hybrid] {
        let policy = Policy {
            engine,
            target: Some(3_000),
            ..Policy::default()
        };
        let scribe = Scribe::new(KEY, Arc::new(REDACTOR.clone()));
        let mut compactor = Compactor::new(Family::O200k, &policy).with_scribe(scribe);
        compactor.observe(&transcript);
        let limits = ModelLimits {
            name: "m".to_owned(),
            window: 32_000,
            output: 4_000,
        };
        let Ok(budget) = Budget::new(&[limits], &policy.budget) else { return };
        let writers = Writers {
            window: 32_000,
            output: 4_000,
            in_place: InPlace::Impossible("a fuzzer".to_owned()),
        };
        let prompts = Prompts::default();
        let moment = Moment {
            transcript: &transcript,
            budget: &budget,
            policy: &policy,
            situation: Situation {
                prompt: compactor.counted(),
                scale: 1.0,
                forced: true,
                reasoning: ReasoningRule::MayDrop,
                margin: 0,
                block_role: Role::System,
                roles: Roles::Open,
            },
            writers: Some((&writers, &prompts)),
        };
        let mut step = compactor.start(&moment);
        let outcome = loop {
            match step {
                Step::Done(outcome) => break outcome,
                Step::Ask(next) => {
                    let Ask { pending, .. } = *next;
                    let reply = Reply::Answer {
                        text: text.clone().into_owned(),
                        stop: Stop::End,
                    };
                    step = pending.answer(&mut compactor, &moment, reply);
                }
            }
        };
        assert_eq!(outcome.verdict, Verdict::Compacted);
        assert!(outcome.prompt_after <= 3_000);
    }
}
