//! A summary asked for in place shares every byte before it with the conversation's own request.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;

use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_tests::conversation::Form;
use mainstay_tests::conversation::Generated;
use mainstay_tests::provider::violations;
use mainstay_tests::trial;
use mainstay_tests::trial::pass;
use mainstay_tests::trial::read;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::in_place::InPlaceError;
use mainstay_wire::reading::Request;
use mainstay_wire::reading::WireForm;
use mainstay_wire::source::Source;
use proptest::prelude::*;
use serde_json::Value;

const INSTRUCTION: &str = "Write down what matters.";

fn form_of(document: &Document) -> Form {
    match document.form() {
        WireForm::Chat => Form::Chat,
        WireForm::Responses => Form::Responses,
        WireForm::Anthropic => Form::Anthropic,
    }
}

/// Asks an untouched conversation at every place where it can be asked, and holds the bodies against its own.
fn assert_shares(document: &Document, name: &str) {
    let form = form_of(document);
    let own = document.write();
    let before: Value = serde_json::from_str(&own).unwrap();
    let known = violations(&before, form);
    for until in 0..=document.transcript.messages().len() {
        let until = document.last_whole_step(until);
        let asked = document.asked_in_place(&BTreeMap::new(), None, until, INSTRUCTION);
        let asked = asked.unwrap_or_else(|error| panic!("{name}, {until}: {error}"));
        assert_eq!(asked.body[..asked.shared], own[..asked.shared], "{name}, {until}");
        if let Some(last) = until.checked_sub(1).and_then(|last| document.verbatim(last)) {
            assert!(asked.body[..asked.shared].ends_with(last), "{name}, {until}");
        }
        let after: Value = serde_json::from_str(&asked.body).unwrap();
        if known.is_empty() {
            assert_eq!(violations(&after, form), known, "{name}, {until}");
        }
        let list = after[form.list_key()].as_array().unwrap();
        let question = list.last().unwrap();
        assert_eq!(question["role"], "user", "{name}");
        assert!(question.to_string().contains(INSTRUCTION), "{name}");
        // Every field beside the list is the same, in the same order and spelling.
        let mut rest = before.clone();
        rest[form.list_key()] = after[form.list_key()].clone();
        assert_eq!(rest, after, "{name}");
        let chunks = document.original_chunks();
        let closing = chunks.last().unwrap();
        assert!(closing.starts_with(']') && asked.body.ends_with(closing), "{name}");
    }
}

#[test]
fn recorded_requests_can_be_asked_in_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/samples/wire");
    if !folder.is_dir() {
        eprintln!("skipped: no recorded requests at {}", folder.display());
        return;
    }
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let (mut asked, mut cached) = (0, 0);
    for path in paths {
        let source = Source::open(&path).unwrap();
        for index in 0.. {
            let request = Request {
                session: Some(index.to_string()),
                ..Request::default()
            };
            let Ok(document) = format::read(&source, None, &request) else {
                break;
            };
            let name = format!("{} {index}", path.display());
            // A request that the provider is known to have refused is repaired, and shares only what it can.
            if document.findings.is_empty() {
                assert_shares(&document, &name);
                asked += 1;
                cached += usize::from(document.write().contains("cache_control"));
            }
        }
    }
    println!("{asked} recorded requests, {cached} with cache marks");
    assert!(asked >= 20 && cached >= 2, "{asked} asked, {cached} with cache marks");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_requests_can_be_asked_in_place(seed in any::<u64>(), form in 0_usize..3, size in 1_usize..30) {
        let form = Form::ALL[form];
        let mut generated = Generated::new(form, seed);
        generated.grow(size, 300);
        assert_shares(&read(form, &generated.body()), &format!("seed {seed}"));
    }
}

#[test]
fn compacted_requests_can_be_asked_in_place() {
    let (mut pruned, mut replaced) = (0, 0);
    for seed in 0..600 {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(10 + (seed % 40) as usize, 1_500);
        let document = read(form, &generated.body());
        let policy = Policy {
            engine: if seed % 2 == 0 { Engine::Prune } else { Engine::Ledger },
            target: (seed % 2 == 1).then_some(1_500),
            tail: Some(300),
            recent_outputs: Some(200),
            ..Policy::default()
        };
        let mut session = trial::session(form, &policy);
        pass(&mut session, &document, true);
        pruned += usize::from(!session.changes().is_empty());
        replaced += usize::from(session.block().is_some());
        let own = document.compacted_chunks(session.changes(), session.block()).concat();
        let count = document.transcript.messages().len();
        for until in [count, count - 1, count / 2, 1] {
            let until = document.last_whole_step(until);
            let asked = document.asked_in_place(session.changes(), session.block(), until, INSTRUCTION);
            let asked = asked.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(asked.body[..asked.shared], own[..asked.shared], "seed {seed}");
            let after: Value = serde_json::from_str(&asked.body).unwrap();
            assert_eq!(violations(&after, form), Vec::<String>::new(), "seed {seed}");
        }
        let whole = document.asked_in_place(session.changes(), session.block(), count, INSTRUCTION);
        match whole {
            Ok(asked) => assert_eq!(
                asked.shared + "],\"x\":1.50}".len(),
                own.len(),
                "seed {seed}: all of it is shared"
            ),
            Err(InPlaceError::OpenCalls { .. }) => assert!(document.transcript.has_open_calls(), "seed {seed}"),
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    println!("{pruned} with changes, {replaced} with a block");
    assert!(pruned > 100 && replaced > 100, "{pruned} {replaced}");
}
