//! Compaction after compaction, with a summariser that is honest and forgets half of what it reads: beside the ledger
//! nothing that matters is lost, alone it visibly is.

use std::path::Path;
use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Moment;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Writers;
use mainstay_engine::decide::step_start;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::summary::records::Record;
use mainstay_engine::summary::references::References;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::verify::NoSecrets;
use mainstay_tests::conversation::Form;
use mainstay_tests::scripted;
use mainstay_tests::trial;
use mainstay_wire::format;
use mainstay_wire::reading::Request as Reading;
use mainstay_wire::source::Source;
use serde_json::Value;

const KEY: [u8; 32] = [5; 32];
const CYCLES: usize = 3;

fn scribe() -> Scribe {
    Scribe::new(KEY, Arc::new(Redactor::new(Key::new(KEY), Options::default())))
}

/// Compacts a conversation as it grows, each time going on from what the pass before left, and says what is left.
fn chain(messages: &[Message], engine: Engine, target: u64, keeps: &mut dyn FnMut(&str) -> bool) -> Vec<Message> {
    let mut conversation: Vec<Message> = Vec::new();
    let mut memory: Option<Memory> = None;
    let mut from = 0;
    for cycle in 1..=CYCLES {
        let until = match cycle {
            CYCLES => messages.len(),
            _ => step_start(messages, messages.len() * cycle / CYCLES),
        };
        conversation.extend_from_slice(&messages[from..until]);
        from = until;
        let draft = Draft {
            messages: conversation.clone(),
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        let mut scribe = scribe();
        if let Some(memory) = memory.take() {
            let (block, _) = scribe
                .find_frame(transcript.messages())
                .expect("the pass before left a block");
            scribe.resume_behind(block, memory);
        }
        let policy = Policy {
            engine,
            target: Some(target),
            ..Policy::default()
        };
        let mut compactor = Compactor::new(Family::O200k, &policy).with_scribe(scribe);
        compactor.observe(&transcript);
        let writers = Writers {
            window: 128_000,
            output: 16_000,
            in_place: InPlace::Impossible("a function".to_owned()),
        };
        let moment = Moment {
            transcript: &transcript,
            budget: &trial::budget(200_000),
            policy: &policy,
            situation: trial::situation(Form::Chat, compactor.counted(), true),
            leaks: &NoSecrets,
            writers: Some((&writers, &Prompts::default())),
        };
        let model = &mut |request: &Request| scripted::answer(scripted::summary(request, keeps));
        let outcome = scripted::pass(&mut compactor, &moment, model);
        assert_eq!(outcome.verdict, Verdict::Compacted, "cycle {cycle}");
        eprintln!("   {} {}", engine.name(), outcome.mode());
        let block = outcome.block.as_ref().expect("a full pass leaves a block");
        let learned = compactor.scribe().expect("it was given one");
        memory = Some(learned.memory_behind(transcript.messages(), &block.span, &block.carried));
        conversation = compactor.messages(&transcript);
        let frames = conversation.iter().filter(|message| learned.body_of(message).is_some());
        assert_eq!(frames.count(), 1, "frames are replaced, never nested");
    }
    conversation
}

fn words(messages: &[Message]) -> String {
    let mut text = String::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Text(words) => text.push_str(words),
            Part::Call(call) => text.push_str(call.input.as_str()),
            Part::Result(result) => {
                for content in &result.content {
                    if let Content::Text(words) = content {
                        text.push_str(words);
                    }
                }
            }
            Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
        text.push('\n');
    }
    text
}

/// Keeps about half of all names, always the same half, another one for every seed.
fn forgetful(seed: u64) -> impl FnMut(&str) -> bool {
    let mut calls = 0_u64;
    move |name: &str| {
        calls += 1;
        let mut hash = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ calls.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        (hash >> 33) & 1 == 0
    }
}

/// What must not be lost of a whole conversation, by a ledger that saw all of it at once.
fn references(messages: &[Message]) -> References {
    let mut scribe = scribe();
    scribe.observe(messages);
    let shown: Vec<Record<'_>> = (0..messages.len())
        .map(|index| Record {
            number: index as u32,
            message: scribe.shown(messages, index),
        })
        .collect();
    References::of(scribe.ledger(), &shown, None)
}

fn read(path: &Path) -> Option<Vec<Message>> {
    let source = Source::open(path).ok()?;
    let document = format::read(&source, None, &Reading::default()).ok()?;
    Some(document.transcript.messages().to_vec())
}

fn data(place: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data")
        .join(place)
}

#[test]
fn beside_the_ledger_nothing_critical_is_lost_and_alone_it_is() {
    let fixtures = data("hermes-eval/fixtures");
    let Ok(listed) = std::fs::read_dir(&fixtures) else {
        eprintln!("skipped: {} is not there", fixtures.display());
        return;
    };
    let mut paths: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let (mut lost_beside, mut lost_alone, mut all) = (0, 0, 0);
    for path in paths {
        let messages = read(&path).expect("a fixture can be read");
        let critical = references(&messages);
        for seed in 0..3 {
            let beside = words(&chain(&messages, Engine::Hybrid, 10_000, &mut forgetful(seed)));
            let alone = words(&chain(&messages, Engine::Summary, 10_000, &mut forgetful(seed)));
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let missing = critical.missing(&beside);
            all += critical.list().len();
            lost_beside += missing.len();
            lost_alone += critical.missing(&alone).len();
            eprintln!(
                "{name} seed {seed}: {} references, hybrid lacks {}, summary lacks {}; probes {:?} {:?}",
                critical.list().len(),
                missing.len(),
                critical.missing(&alone).len(),
                probes(&name, &beside),
                probes(&name, &alone),
            );
            for reference in missing.iter().take(10) {
                eprintln!("   {:?}", reference);
            }
        }
    }
    eprintln!("{all} {lost_beside} {lost_alone}");
}

/// How many of the expected facts of a fixture's probes a text has, and of how many that the conversation itself has.
fn probes(name: &str, text: &str) -> (usize, usize) {
    let path = data(&format!("hermes-eval/probes/{name}.probes.json"));
    let bank: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let whole = words(&read(&data(&format!("hermes-eval/fixtures/{name}.json"))).unwrap()).to_lowercase();
    let text = text.to_lowercase();
    let facts = bank["probes"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|probe| probe["expected_facts"].as_array().unwrap());
    let facts: Vec<String> = facts
        .filter_map(|fact| Some(fact.as_str()?.to_lowercase()))
        .filter(|fact| whole.contains(fact.as_str()))
        .collect();
    for fact in facts.iter().filter(|fact| !text.contains(fact.as_str())) {
        eprintln!("      lacks {fact}");
    }
    (
        facts.iter().filter(|fact| text.contains(fact.as_str())).count(),
        facts.len(),
    )
}
