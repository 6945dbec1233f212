//! Tests of playing: what policies send is valid and never larger, and each does what it says.

use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::verify;
use mainstay_engine::verify::check_structure;
use mainstay_llm::profile;
use mainstay_tests::conversation::Form as Provider;
use mainstay_tests::session::Shape;
use mainstay_tests::session::assembled;
use mainstay_tests::session::compaction;
use mainstay_tests::session::session;

use super::*;
use crate::replay::Recording;
use crate::replay::optimum;

fn named(name: &str) -> Profile {
    profile::named(name).unwrap_or_else(|| panic!("{name}"))
}

fn recording(transcript: Transcript, model: &str) -> Recording {
    Recording {
        name: "generated".to_owned(),
        source: "generated".into(),
        model: Some(model.into()),
        transcript: Arc::new(transcript),
        tools: None,
        started: None,
        restarts: Vec::new(),
    }
}

/// Settings under which sessions of some ten thousand tokens are long.
fn settings() -> Settings {
    Settings {
        window: Some(24_000),
        clear_above: 6_000,
        clear_least: 0,
        trim_above: 1_200,
        trim_to: 600,
        ..Settings::default()
    }
}

fn shape(form: Provider, seed: u64) -> Shape {
    Shape {
        form,
        seed,
        elements: 160,
        largest_output: 3_000,
        has_reports: seed.is_multiple_of(2),
    }
}

fn timeline(shape: Shape, profile: &Profile) -> Timeline {
    Timeline::new(&recording(session(shape), &profile.model), profile.family)
}

/// The messages that would be sent now.
fn emitted(walk: &Walk<'_>) -> Vec<Message> {
    let messages = walk.timeline().transcript.messages();
    let sent = walk
        .messages()
        .iter()
        .map(|piece| match (&piece.written, piece.message) {
            (Some(written), _) => Message::clone(written),
            (None, Some(index)) => messages[index].clone(),
            (None, None) => panic!("a piece is a message, or was written"),
        });
    sent.collect()
}

/// Plays a session and shows what is sent with every request.
fn watch(stage: &Stage<'_>, strategy: &Strategy, mut look: impl FnMut(usize, &Walk<'_>)) -> Track {
    let mut examiner = Examiner::new(stage.timeline.transcript.messages(), 40, 5);
    let mut player = Player::new(stage, strategy);
    let mut track = Track::default();
    for (index, request) in stage.timeline.requests.iter().enumerate() {
        player.step(index, request, &mut examiner, &[], &mut track);
        look(index, &player.walk);
    }
    track
}

fn track(stage: &Stage<'_>, strategy: &Strategy) -> Track {
    watch(stage, strategy, |_, _| {})
}

/// What is wrong with a conversation in the eyes of the engine that would take it in.
fn complaints(messages: &[Message], form: Provider) -> Vec<String> {
    let rules = match form {
        Provider::Chat => verify::Form::Chat,
        Provider::Responses => verify::Form::Responses,
        Provider::Anthropic => verify::Form::Anthropic,
    };
    let mut complaints: Vec<String> = check_structure(messages, rules)
        .iter()
        .map(|flaw| format!("{flaw:?}"))
        .collect();
    let draft = Draft {
        messages: messages.to_vec(),
        events: Vec::new(),
        results_in_user_messages: form == Provider::Anthropic,
        steps_span_messages: form == Provider::Responses,
    };
    let findings = draft.assemble().findings;
    complaints.extend(findings.iter().map(|finding| format!("{finding:?}")));
    complaints
}

#[test]
fn what_is_sent_is_valid_and_never_larger() {
    let settings = settings();
    let mut passes = [0; Strategy::USUAL.len() + 2];
    for name in ["claude-code-opus-5.5", "openai-gpt-5.4"] {
        let profile = named(name);
        for seed in 0..6 {
            let form = Provider::ALL[(seed % 3) as usize];
            let said = timeline(shape(form, seed), &profile);
            let (trimmed, count) = said.trimmed(settings.trim_above, settings.trim_to);
            assert!(count > 0);
            let stage = |timeline| Stage {
                timeline,
                settings: &settings,
                profile: &profile,
                summariser: &profile,
            };
            let never = track(&stage(&said), &Strategy::Never);
            let forgetting = settings.economic.price_of_forgetting(&profile, 24_000);
            let best = optimum(&said, &profile, forgetting, stage(&said).limit());
            let often = (5..said.requests.len()).step_by(7);
            let leave = Leave {
                tail: 1_000,
                block: 800,
            };
            let schedules = [best, often.map(|request| (request, leave)).collect()];
            let strategies = Strategy::USUAL.into_iter().chain(schedules.map(Strategy::Scheduled));
            for (place, strategy) in strategies.enumerate() {
                let stage = stage(if strategy.trims() { &trimmed } else { &said });
                let told = format!("{name} {seed} {}", strategy.name());
                let mut path: Vec<u64> = Vec::new();
                let played = watch(&stage, &strategy, |index, walk| {
                    let complaints = complaints(&emitted(walk), form);
                    assert!(complaints.is_empty(), "{told} {index}: {complaints:?}");
                    assert!(walk.prompt() <= never.steps[index].prompt, "{told} {index}");
                });
                for step in &played.steps {
                    path.truncate(step.keep);
                    path.extend(step.added.iter().map(|segment| segment.tokens));
                    assert_eq!(path.iter().sum::<u64>(), step.prompt, "{told}");
                }
                for pass in &played.passes {
                    assert!(pass.after < pass.before, "{told} {pass:?}");
                    assert!(pass.earliest <= said.requests[pass.request].before, "{told}");
                }
                assert_eq!(played.steps.len(), said.requests.len());
                passes[place] += played.passes.len();
            }
        }
    }
    // Nobody compacted these but the policies; all of them did.
    assert_eq!(passes[..2], [0, 0]);
    assert!(passes[2..].iter().all(|count| *count > 0), "{passes:?}");
}
