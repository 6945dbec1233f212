//! Tables are read in full, and patterns match what they say.

use super::*;

#[test]
fn every_line_of_every_table_is_read() {
    for (language, table) in TABLES {
        let mut patterns = Patterns::default();
        for (number, line) in table.lines().enumerate() {
            assert!(
                patterns.add(line).is_some(),
                "{language}.tsv, line {}: {line}",
                number + 1
            );
        }
        assert!(patterns.rows.len() > 20, "{language}");
    }
}

#[test]
fn a_line_that_cannot_be_read_is_refused() {
    let mut patterns = Patterns::default();
    for line in [
        "rule\tuser\tany",
        "rule\tnobody\tany\tnever",
        "rule\tuser\tthere\tnever",
        "shout\tuser\tany\tnever",
        "rule\tuser\tany\t*ing",
        "rule\tuser\tany\tab*",
        "rule\tuser\tany\t<w> <v> never",
        "rule\tuser\tany\t",
    ] {
        assert!(patterns.add(line).is_none(), "{line}");
    }
}

#[test]
fn choices_gaps_and_endings_match() {
    let mut patterns = Patterns::default();
    for line in [
        "correct\tany\tany\tnot <o> but <v>",
        "rule\tuser\tstart\t(you) must|shall *ing",
        "rule\tuser\tany\tdelet*",
    ] {
        patterns.add(line).unwrap();
    }
    let found = |text: &str, by_user: bool| patterns.find(&Words::read(text, 50), by_user).len();
    assert_eq!(found("not alpha but beta", false), 1);
    assert_eq!(found("not alpha or beta", false), 0);
    assert_eq!(found("you must testing", true), 1);
    assert_eq!(found("you must testing", false), 0);
    assert_eq!(found("it is deleted", true), 1);
    assert_eq!(found("it says \"not alpha but beta of all\"", true), 0);
}
