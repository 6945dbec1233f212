//! Tests of playing: what policies send is valid and never larger, and each does what it says.

use std::sync::Arc;

use mainstay_engine::decide::ProviderForm;
use mainstay_engine::economy::Profile;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::transcript::Usage;
use mainstay_engine::verify::check_structure;
use mainstay_llm::profile;
use mainstay_tests::conversation::Form as Provider;
use mainstay_tests::session::Shape;
use mainstay_tests::session::assembled;
use mainstay_tests::session::compaction;
use mainstay_tests::session::session;

use super::*;
use crate::replay::Recording;
use crate::replay::Settings;
use crate::replay::optimum;
use crate::replay::walk::Piece;

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
        Provider::Chat => ProviderForm::Chat,
        Provider::Responses => ProviderForm::Responses,
        Provider::Anthropic => ProviderForm::Anthropic,
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
        for seed in 0..3 {
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

fn say(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn reported(text: &str, input: u64, output: u64) -> Message {
    let usage = Usage {
        input,
        output,
        reasoning: output,
        ..Usage::default()
    };
    Message {
        usage: Some(Box::new(usage)),
        ..say(Role::Assistant, text)
    }
}

#[test]
fn equal_messages_keep_their_own_sizes() {
    let profile = named("claude-code-opus-5.5");
    let settings = settings();
    let mut messages = Vec::new();
    let mut prompt = 100;
    for turn in 0..40 {
        let words = format!("request {turn} about src/part_{turn}.rs ").repeat(60);
        messages.push(say(Role::User, &words));
        prompt += 400;
        // The same words every time, with more and more that nobody sees behind them.
        messages.push(reported("Done.", prompt, 10 * turn + 5));
    }
    let recording = recording(assembled(messages, Vec::new()), &profile.model);
    let timeline = Timeline::new(&recording, profile.family);
    let stage = Stage {
        timeline: &timeline,
        settings: &settings,
        profile: &profile,
        summariser: &profile,
    };
    let leave = Leave {
        tail: 2_000,
        block: 500,
    };
    let schedule = Strategy::Scheduled(vec![(20, leave), (35, leave)]);
    let played = watch(&stage, &schedule, |_, walk| {
        for piece in walk.messages().iter().filter(|piece| piece.written.is_none()) {
            assert_eq!(piece.segment.tokens, timeline.sizes[piece.message.unwrap()]);
        }
        let own: Vec<_> = walk.messages().iter().filter_map(|piece| piece.message).collect();
        assert!(own.is_sorted_by(|one, next| one < next), "{own:?}");
    });
    assert_eq!(played.passes.len(), 2);
}

/// Results with the places at which they stand, and whether they are still as they were.
fn results(messages: &[Message]) -> Vec<bool> {
    let results = messages.iter().flat_map(Message::results);
    results
        .map(|result| {
            let texts = result.content.iter();
            texts.map(|content| format!("{content:?}")).collect::<String>() != r#"Text("[cleared]")"#
        })
        .collect()
}

#[test]
fn the_provider_clears_all_but_the_newest_results() {
    let profile = named("claude-code-opus-5.5");
    for (form, keeps, least) in [
        (Provider::Chat, 3, 0),
        (Provider::Anthropic, 5, 2_000),
        (Provider::Chat, 0, 500),
    ] {
        let timeline = timeline(shape(form, 8), &profile);
        let settings = Settings {
            clear_keeps: keeps,
            clear_least: least,
            ..settings()
        };
        let stage = Stage {
            timeline: &timeline,
            settings: &settings,
            profile: &profile,
            summariser: &profile,
        };
        let mut passed = 0;
        let mut player = Player::new(&stage, &Strategy::Clearing);
        let mut examiner = Examiner::new(timeline.transcript.messages(), 40, 5);
        let mut track = Track::default();
        for (index, request) in timeline.requests.iter().enumerate() {
            player.step(index, request, &mut examiner, &[], &mut track);
            let whole = player.walk.said() + player.walk.preface();
            let kept = results(&emitted(&player.walk));
            let newest = kept.iter().rev().take_while(|is_kept| **is_kept).count();
            assert!(newest >= keeps.min(kept.len()), "{index} {kept:?}");
            if track.passes.len() == passed {
                continue;
            }
            passed = track.passes.len();
            let pass = &track.passes[passed - 1];
            assert!(whole > settings.clear_above && pass.before - pass.after >= least.max(1));
            assert_eq!(pass.kind, PassKind::Clearing);
            // Older ones are gone, but for those that are no longer than what stands for them; messages stay together.
            let longer = |piece: &&Piece| piece.written.is_none() && piece.segment.tokens > 60;
            let left = player.walk.messages().iter().filter(longer);
            let messages = timeline.transcript.messages();
            let left = left
                .filter_map(|piece| piece.message)
                .filter(|index| messages[*index].has_results());
            let counts: Vec<usize> = left.map(|index| messages[index].results().count()).collect();
            assert!(counts.iter().skip(1).sum::<usize>() < keeps.max(1), "{counts:?}");
        }
        assert!(passed > 1, "{form:?}");
    }
}

#[test]
fn little_is_not_cleared() {
    let profile = named("claude-code-opus-5.5");
    let timeline = timeline(shape(Provider::Chat, 8), &profile);
    for (above, least) in [(u64::MAX, 0), (0, 1_000_000)] {
        let settings = Settings {
            clear_above: above,
            clear_least: least,
            ..settings()
        };
        let stage = Stage {
            timeline: &timeline,
            settings: &settings,
            profile: &profile,
            summariser: &profile,
        };
        assert_eq!(track(&stage, &Strategy::Clearing).passes, []);
    }
}

#[test]
fn naive_pruning_is_content_with_less() {
    let profile = named("claude-code-opus-5.5");
    let settings = settings();
    let mut contents = 0;
    for seed in [1, 4, 7, 8] {
        let timeline = timeline(shape(Provider::Chat, seed), &profile);
        let stage = Stage {
            timeline: &timeline,
            settings: &settings,
            profile: &profile,
            summariser: &profile,
        };
        let budget = stage.budget();
        let low = low_water(budget.threshold, budget.window);
        let naive = track(&stage, &Strategy::NaivePrune).passes;
        let runway = track(&stage, &Strategy::PruneFirst).passes;
        for pass in naive.iter().chain(&runway) {
            assert!(pass.before >= budget.threshold, "{pass:?}");
            assert_eq!(pass.summary.is_some(), pass.kind == PassKind::Summary);
        }
        let prunes = |passes: &[Pass]| -> Vec<u64> {
            let prunes = passes.iter().filter(|pass| pass.kind == PassKind::Prune);
            prunes.map(|pass| pass.after).collect()
        };
        assert!(prunes(&naive).iter().all(|after| *after < budget.threshold));
        assert!(prunes(&runway).iter().all(|after| *after <= low), "{low} {runway:?}");
        contents += prunes(&naive).iter().filter(|after| **after > low).count();
        // Their first passes are at the same request: only then do they part.
        assert_eq!(
            naive.first().map(|pass| pass.request),
            runway.first().map(|pass| pass.request)
        );
    }
    assert!(contents > 0, "naive pruning never stopped between the two lines");
}

#[test]
fn recorded_compactions_are_followed() {
    let profile = named("claude-code-opus-5.5");
    let settings = settings();
    let original = session(shape(Provider::Chat, 5));
    let mut messages = original.messages().to_vec();
    // In front of two turns, with and without its summary; and one behind everything, which nobody saw.
    let turns: Vec<usize> = (0..messages.len())
        .filter(|index| messages[*index].opens_turn())
        .collect();
    let (first, second) = (turns[turns.len() / 3], turns[2 * turns.len() / 3] + 1);
    let mut summary = say(Role::User, "What happened so far: work on src/cache.rs.");
    summary.author = Author::Summary;
    messages.insert(first, summary);
    let end = messages.len();
    let events = vec![
        compaction(first, Some(first)),
        compaction(second, None),
        compaction(end, None),
    ];
    let transcript = assembled(messages, events);
    assert_eq!(transcript.messages().len(), end);
    let timeline = Timeline::new(&recording(transcript, &profile.model), profile.family);
    let stage = Stage {
        timeline: &timeline,
        settings: &settings,
        profile: &profile,
        summariser: &profile,
    };
    let played = watch(&stage, &Strategy::Recorded, |index, walk| {
        let before = timeline.requests[index].before;
        let from = [second, first, 0].into_iter().find(|from| *from < before).unwrap_or(0);
        let sent: Vec<usize> = walk.messages().iter().filter_map(|piece| piece.message).collect();
        let instructions = (0..from).filter(|index| *index == 0);
        let wanted: Vec<usize> = instructions.chain(from..before).collect();
        assert_eq!(sent, wanted, "{index}");
        assert!(complaints(&emitted(walk), Provider::Chat).is_empty(), "{index}");
    });
    let at = |event: usize| timeline.requests.iter().position(|request| request.before > event);
    let passes: Vec<_> = played
        .passes
        .iter()
        .map(|pass| (pass.kind, Some(pass.request)))
        .collect();
    assert_eq!(
        passes,
        [(PassKind::Recorded, at(first)), (PassKind::Recorded, at(second))]
    );
    // Everybody else plays the session without that summary.
    let said = without_summaries(&timeline);
    assert_eq!(said.transcript.messages().len(), end - 1);
    assert_eq!(said.requests.len(), timeline.requests.len());
    assert_eq!(without_summaries(&said).sizes, said.sizes);
}

#[test]
fn small_outputs_are_not_trimmed() {
    let profile = named("claude-code-opus-5.5");
    let said = timeline(shape(Provider::Chat, 2), &profile);
    let (trimmed, count) = said.trimmed(1_200, 600);
    let bytes = |message: &Message| {
        let contents = message.results().flat_map(|result| &result.content);
        let lengths = contents.map(|content| match content {
            Content::Text(text) => text.len(),
            Content::Media(_) | Content::Opaque(_) => 0,
        });
        lengths.max().unwrap_or(0)
    };
    let mut changed = 0;
    for (index, (old, new)) in std::iter::zip(said.transcript.messages(), trimmed.transcript.messages()).enumerate() {
        if bytes(old) <= 1_200 {
            assert_eq!(old, new);
            assert_eq!(said.sizes[index], trimmed.sizes[index]);
        } else if old != new {
            changed += 1;
            assert!(bytes(new) < bytes(old) && trimmed.sizes[index] < said.sizes[index]);
        }
    }
    assert!(count >= changed && changed > 0);
    let (untouched, none) = said.trimmed(usize::MAX, 600);
    assert_eq!((none, &untouched.sizes), (0, &said.sizes));
}
