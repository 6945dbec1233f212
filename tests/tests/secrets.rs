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
