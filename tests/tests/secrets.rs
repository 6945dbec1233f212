//! The redactor on labelled texts, where they are present.

use mainstay_tests::secrets::flagged;
use mainstay_tests::secrets::judge;
use mainstay_tests::secrets::load;
use mainstay_tests::secrets::redactor;

#[test]
fn secrets_are_hidden_and_nothing_else() {
    let Some(corpus) = load("secrets-corpus.dev.jsonl.gz") else {
        eprintln!("skipped: the labelled secrets are not there");
        return;
    };
    let outcome = judge(&redactor(false), &corpus);
    assert!(
        outcome.safe().value() >= 0.98,
        "{:?} {:#?}",
        outcome.safe(),
        outcome.missed
    );
    assert!(
        outcome.touched.value() <= 0.01,
        "{:?} {:#?}",
        outcome.touched,
        outcome.alarms
    );
    assert_eq!(outcome.protocol.part, 0, "{:#?}", outcome.alarms);
}

#[test]
fn examples_of_other_rules_are_flagged() {
    let Some(examples) = load("third-party-examples.jsonl.gz") else {
        eprintln!("skipped: the examples of other rules are not there");
        return;
    };
    let shares = flagged(&redactor(false), &examples);
    for (source, least) in [
        ("gitleaks", 0.95),
        ("betterleaks", 0.95),
        ("noseyparker", 0.70),
        ("kingfisher-1.10", 0.75),
    ] {
        let share = shares[&(source.to_owned(), "tp".to_owned())];
        assert!(share.value() >= least, "{source}: {share:?}");
    }
}

#[test]
fn data_of_people_is_hidden_and_nothing_else() {
    let Some(people) = load("pii.dev.jsonl.gz") else {
        eprintln!("skipped: the labelled data of people are not there");
        return;
    };
    let outcome = judge(&redactor(true), &people);
    assert!(
        outcome.safe().value() >= 0.95,
        "{:?} {:#?}",
        outcome.safe(),
        outcome.missed
    );
    assert!(
        outcome.touched.value() <= 0.03,
        "{:?} {:#?}",
        outcome.touched,
        outcome.alarms
    );
}

#[test]
fn texts_cut_and_glued_anywhere_are_redacted_once_and_for_all() {
    let mut texts = Vec::new();
    for file in [
        "secrets-corpus.dev.jsonl.gz",
        "third-party-examples.jsonl.gz",
        "pii.dev.jsonl.gz",
    ] {
        texts.extend(load(file).into_iter().flatten().map(|case| case.text));
    }
    if texts.is_empty() {
        eprintln!("skipped: the labelled texts are not there");
        return;
    }
    let redactor = redactor(true);
    let mut state = 1u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..3 {
            let letters: Vec<char> = texts[next(texts.len())].chars().take(400).collect();
            let from = next(letters.len());
            let to = from + next(letters.len() - from + 1);
            text.extend(&letters[from..to]);
        }
        let once = redactor.redact(&text).text;
        assert_eq!(redactor.redact(&once).text, once, "{text:?}");
    }
}
