//! Summaries, with functions in place of models: what is asked, what is done with every kind of answer, what is never lost.

use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::PassMode;
use mainstay_engine::compaction::Seat;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Writers;
use mainstay_engine::redact::Options;
use mainstay_engine::summary::Reply;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::Stop;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_session::Redaction;
use mainstay_session::Session;
use mainstay_session::SummaryWriters;
use mainstay_tests::conversation::Form;
use mainstay_tests::conversation::Generated;
use mainstay_tests::scripted;
use mainstay_tests::trial;
use mainstay_wire::document::Document;

fn document(form: Form, seed: u64, turns: usize) -> Document {
    let mut generated = Generated::new(form, seed);
    generated.grow(turns, 1_500);
    trial::read(form, &generated.body())
}

/// A forced session over a conversation, with secrets hidden.
fn session(form: Form, document: &Document, policy: &Policy) -> Session {
    let mut session = trial::forced_to(document, form, policy, 32_000);
    session.settings_mut().redaction = Redaction::Secrets(Options::default());
    session
}

/// One pass over a conversation with a function in place of a model, and everything that was asked.
fn pass(
    form: Form,
    document: &Document,
    engine: Engine,
    target: u64,
    model: &mut dyn FnMut(&Request) -> Reply,
) -> (Outcome, Session, Vec<Request>) {
    let policy = Policy {
        engine,
        target: Some(target),
        ..Policy::default()
    };
    let mut session = session(form, document, &policy);
    session.settings_mut().writers = Some(SummaryWriters {
        models: Writers {
            window: 128_000,
            output: 16_000,
            in_place: InPlace::Impossible("these are functions".to_owned()),
        },
        prompts: Prompts::default(),
    });
    let mut asked = Vec::new();
    let outcome = scripted::pass(&mut session, &mut |request| {
        asked.push(request.clone());
        model(request)
    });
    (outcome, session, asked)
}

fn block_text(outcome: &Outcome) -> &str {
    let block = outcome.block.as_ref().expect("the pass replaced something");
    match &block.message.parts[0] {
        Part::Text(text) => text,
        _ => panic!("a block begins with its text"),
    }
}

#[test]
fn a_faithful_summary_stands_in_the_block() {
    for form in Form::ALL {
        let document = document(form, 7, 60);
        for (engine, mode) in [(Engine::Summary, PassMode::Summary), (Engine::Hybrid, PassMode::Hybrid)] {
            let model = &mut |request: &Request| scripted::answer(scripted::summary(request, &mut |_| true));
            let (outcome, _, asked) = pass(form, &document, engine, 8_000, model);
            assert_eq!(outcome.verdict, Verdict::Compacted, "{:?}", outcome.flaws);
            assert_eq!(outcome.mode(), mode, "{:?}", outcome.flaws);
            assert!(!asked.is_empty());
            assert!(
                block_text(&outcome).contains("## Critical Context"),
                "{}",
                block_text(&outcome)
            );
            assert!(outcome.prompt_after.0 <= 8_000);
        }
    }
}

#[test]
fn whatever_is_answered_the_ledger_is_left() {
    let text = |text: &str, stop| Reply::Answer {
        text: text.to_owned(),
        stop,
    };
    let replies: Vec<(&str, Reply)> = vec![
        ("no-summary", Reply::Failed("all models are down".to_owned())),
        ("no-summary", Reply::TooLong),
        ("empty", text("", Stop::End)),
        ("empty", text(" \n\t ", Stop::End)),
        ("too-short", text("Done.", Stop::End)),
        (
            "refused",
            text("I'm sorry, but I can't help with that request.", Stop::End),
        ),
        ("refused", text("", Stop::Refusal)),
        ("cut-off", text(&"## Goal\nwords and words\n".repeat(20), Stop::Length)),
        ("tool-call", text("", Stop::ToolCall)),
        (
            "oversized",
            text(&format!("## Goal\n{}", "many words ".repeat(20_000)), Stop::End),
        ),
        (
            "unfaithful",
            text(
                &format!("## Goal\n{}", "something was done, somehow. ".repeat(20)),
                Stop::End,
            ),
        ),
    ];
    for (number, (code, reply)) in replies.iter().enumerate() {
        let form = Form::ALL[number % 3];
        let document = document(form, 11, 40);
        for engine in [Engine::Summary, Engine::Hybrid] {
            let (outcome, session, asked) = pass(form, &document, engine, 8_000, &mut |_| reply.clone());
            assert_eq!(outcome.verdict, Verdict::Compacted, "{code}: {:?}", outcome.flaws);
            assert_eq!(outcome.mode(), PassMode::Ledger, "{code}");
            assert!(asked.len() <= 5, "{code}: {} requests", asked.len());
            let codes: Vec<_> = outcome.flaws.iter().map(|flaw| flaw.kind.code()).collect();
            assert!(codes.contains(code), "{code}: {codes:?}");
            let messages = session.messages();
            assert!(messages.len() < document.transcript.messages().len());
        }
    }
}

/// A story as a model tells it, with more lines of finished work than anybody asked for.
fn told(request: &Request, lines: usize) -> String {
    let names = scripted::summary(request, &mut |_| true);
    let (_, names) = names.split_once("## Critical Context").expect("the section stands");
    let named: Vec<&str> = names.lines().filter(|line| line.contains("src/")).take(6).collect();
    let named = named.join("\n");
    let old =
        "- An old step that was finished and verified by its test long ago. Nothing of it is open.\n".repeat(lines);
    format!(
        "## Goal\nMake the build pass again.\n\n## Progress\n### Done\n{old}### In Progress\nThe last test still fails.\n\n\
         ## Relevant Files\n{named}\n\n## Next Steps\n1. Run the failing test once more.\n"
    )
}

#[test]
fn a_small_block_has_a_story_beside_the_ledger() {
    for (seed, form) in (0..).zip(Form::ALL) {
        let document = document(form, seed, 60);
        for target in [900, 1_200, 1_800] {
            let (outcome, _, asked) = pass(form, &document, Engine::Hybrid, target, &mut |request| {
                scripted::answer(told(request, 1))
            });
            let room = outcome.plan.replacement.as_ref().unwrap().block_tokens;
            assert!(room >= 500, "{form:?} {target}: {room}");
            assert_eq!(
                outcome.mode(),
                PassMode::Hybrid,
                "{form:?} {target}: {:?}",
                outcome.flaws
            );
            // What the model is asked for fits, and it knows what stands beside its text.
            let request = &asked[0];
            assert!(request.most_tokens * 2 <= room, "{} of {room}", request.most_tokens);
            let words = format!("at most {} tokens", request.most_tokens);
            assert!(request.user.contains(&words) && request.user.contains("what the user wrote last"));
            assert!(!request.user.contains("## Critical Context") && !request.user.contains("{{"));
            let text = block_text(&outcome);
            for part in [
                "Make the build pass again.",
                "Run the failing test once more.",
                "## Conversation",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert!(outcome.prompt_after.0 <= target);
        }
    }
}

#[test]
fn a_summary_that_is_too_long_is_shortened_and_not_thrown_away() {
    for (seed, form) in (0..).zip(Form::ALL) {
        let document = document(form, seed, 60);
        for (engine, target, lines) in [
            (Engine::Hybrid, 900, 80),
            (Engine::Hybrid, 4_000, 180),
            (Engine::Summary, 1_500, 150),
        ] {
            let (outcome, _, _) = pass(form, &document, engine, target, &mut |request| {
                scripted::answer(told(request, lines))
            });
            assert!(
                matches!(outcome.mode(), PassMode::Hybrid | PassMode::Summary),
                "{:?}",
                outcome.flaws
            );
            let codes: Vec<_> = outcome.flaws.iter().map(|flaw| flaw.kind.code()).collect();
            assert!(codes.contains(&"oversized"), "{codes:?}");
            let text = block_text(&outcome);
            for part in [
                "Make the build pass again.",
                "The last test still fails.",
                "1. Run the failing test once more.",
                "### Done\n[…]\n- An old step",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert!(outcome.prompt_after.0 <= target);
        }
    }
}

/// Servers that want roles in turns get a block inside of a message; the next pass takes it out again.
#[test]
fn a_block_inside_of_a_message_is_replaced_by_the_next_one() {
    let mut inside = 0;
    for seed in 0..90 {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(30, 1_500);
        let mut memory = None;
        let mut body = generated.body();
        for cycle in 0..2 {
            let document = trial::read(form, &body);
            let mut session = session(form, &document, &Policy::default());
            if let Some(saved) = memory.take() {
                assert!(session.resume_from(saved), "seed {seed}: the pass before left a block");
            }
            let target = Some(session.counted().0 / 2);
            let settings = session.settings_mut();
            settings.policy.engine = Engine::Ledger;
            settings.policy.target = target;
            settings.rules.roles = Roles::Alternating;
            let outcome = session.pass();
            assert_eq!(outcome.verdict, Verdict::Compacted, "seed {seed}: {:?}", outcome.flaws);
            let block = outcome.block.as_ref().unwrap();
            inside += usize::from(block.seat != Seat::Own);
            let written = document.compacted_chunks(&outcome.changes, Some(block)).concat();
            let read_back = trial::read(form, &written);
            let learned = session.scribe().unwrap();
            let frames = read_back
                .transcript
                .messages()
                .iter()
                .flat_map(|message| &message.parts);
            let frames = frames.filter(|part| matches!(part, Part::Text(text) if learned.mark_of(text).is_some()));
            assert_eq!(frames.count(), 1, "seed {seed}, cycle {cycle}: {:?}", block.seat);
            let parts = |messages: &[Message]| messages.iter().map(|message| message.parts.clone()).collect::<Vec<_>>();
            assert_eq!(
                parts(read_back.transcript.messages()),
                parts(&session.messages()),
                "seed {seed}, cycle {cycle}: what goes out is what the engine thinks"
            );
            memory = session.memory();
            body = written;
        }
    }
    assert!(inside > 5, "{inside}");
}
