//! Tables of what the grader must say (`cases/`), properties that hold for any text, and how long it may take.

use std::collections::BTreeMap;
use std::time::Duration;
use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::fixture::Kind;

fn probe(expected: &[&str], stale: &[&str]) -> Probe {
    let own = |facts: &[&str]| facts.iter().map(|fact| (*fact).to_owned()).collect();
    Probe {
        id: "p".to_owned(),
        kind: Kind::Recall,
        question: "Which is it?".to_owned(),
        expected_facts: own(expected),
        stale_facts: own(stale),
        forms: BTreeMap::new(),
        spans: BTreeMap::new(),
    }
}

/// The rows of a table: the word before the fact, the fact, the text.
fn rows(table: &str) -> Vec<(&str, &str, String)> {
    let lines = table.lines().filter(|line| !line.starts_with("# ") && !line.is_empty());
    lines
        .map(|line| {
            let (verdict, rest) = line.split_once(' ').unwrap();
            let (fact, text) = rest.split_once(" || ").unwrap();
            (verdict, fact, text.replace('¶', "\n"))
        })
        .collect()
}

#[test]
fn facts_are_found_where_they_are_and_nowhere_else() {
    let rows = rows(include_str!("cases/facts.txt"));
    assert!(rows.len() >= 120, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for (verdict, fact, text) in &rows {
        let graded = grade(text, &probe(&[fact], &[]), &[]);
        if graded.facts[0].found != (*verdict == "+") {
            wrong.push(format!("{verdict} {fact} || {text}   [{}]", Folded::new(text).text));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
fn stale_facts_are_told_from_past_ones() {
    let rows = rows(include_str!("cases/stale.txt"));
    let mut wrong = Vec::new();
    for (verdict, fact, text) in &rows {
        let graded = grade(text, &probe(&["9090"], &[fact]), &[]);
        if graded.stale.is_empty() != (*verdict == "past") {
            wrong.push(format!("{verdict} {fact} || {text}   [{}]", Folded::new(text).text));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
fn forms_count_and_a_question_may_ask_for_what_is_denied() {
    let mut asked = probe(&["all covered"], &[]);
    asked.forms.insert("all covered".to_owned(), vec!["no gaps".to_owned()]);
    assert!(grade("There are no gaps.", &asked, &[]).is_clean());
    let mut asked = probe(&["Redis"], &[]);
    assert!(!grade("not Redis", &asked, &[]).is_clean());
    asked.question = "Which store must not be used?".to_owned();
    assert!(grade("not Redis", &asked, &[]).is_clean());
}

#[test]
fn a_stale_fact_inside_of_an_expected_one_is_not_stale() {
    let asked = probe(&["release-2 candidate"], &["release-2"]);
    assert!(grade("It is the release-2 candidate.", &asked, &[]).is_clean());
    assert_eq!(grade("It is release-2.", &asked, &[]).stale, ["release-2"]);
}

#[test]
fn a_state_may_hold_old_messages_but_must_know_better() {
    let asked = probe(&["9090"], &["8080"]);
    let is_stale = |messages: &[&str]| !grade_state(messages, &asked, &[]).stale.is_empty();
    assert!(!is_stale(&["use port 8080", "change of plan: use port 9090"]));
    assert!(is_stale(&["use port 8080", "change of plan"]));
    assert!(!is_stale(&["the port was 8080"]));
    let ledger = |active: &str, superseded: &str| {
        format!(
            "# Semantic RLE context ledger\n## Active facts\n- [user m1] {active}\n## Superseded facts\n- [user m0] {superseded}\n\
             ## Evidence\n12 tool:\nlistening on 8080\n"
        )
    };
    assert!(!is_stale(&[&ledger("port: 9090", "port: 8080 → 9090")]));
    assert!(
        is_stale(&[&ledger("port: 8080", "port: 9090")]),
        "an active entry has it"
    );
    assert!(!is_stale(&[&ledger("use 9090 instead of 8080", "port: 7070")]));
    // A name does not take the place of a number.
    let asked = probe(&["9090", "alpha.corp"], &["8080"]);
    assert_eq!(
        grade_state(&["host alpha.corp, port 8080"], &asked, &[]).stale,
        ["8080"]
    );
    assert_eq!(grade_state(&["host alpha.corp", "9090"], &asked, &[]).recall(), 1.0);
    // A number takes the place of one that was given in words.
    let asked = probe(&["03:40", "after the dump"], &["Move it to 02:10", "in the night"]);
    assert!(
        grade_state(&["Move it to 02:10.", "Then 03:40."], &asked, &[])
            .stale
            .is_empty()
    );
    assert_eq!(
        grade_state(&["Move it to 02:10."], &asked, &[]).stale,
        ["Move it to 02:10"]
    );
    assert_eq!(
        grade_state(&["in the night", "Then 03:40."], &asked, &[]).stale,
        ["in the night"]
    );
}

fn secret() -> String {
    ["Xk29", "fQ/7", "+pLm", "Zr83", "wvTn"].concat()
}

#[test]
fn secrets_are_found_in_every_spelling_and_never_shown() {
    use base64::Engine;
    let secret = secret();
    let encoded = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let spellings = [
        secret.clone(),
        secret.to_uppercase(),
        secret.replace('/', "\\/"),
        secret.replace('+', "\\u002b"),
        secret.replace('/', "%2F").replace('+', "%2B"),
        format!("{}\n{}", &secret[..9], &secret[9..]),
        format!("> {}\n> {}", &secret[..9], &secret[9..]),
        format!("{}\\n{}", &secret[..9], &secret[9..]),
        format!("**{}**{}", &secret[..9], &secret[9..]),
        format!("{}\u{200b}{}", &secret[..9], &secret[9..]),
        encoded(&secret),
        encoded(&format!("a{secret}")),
        encoded(&format!("ab{secret}cd")),
        encoded(&secret).replace('+', "-").replace('/', "_"),
        secret.bytes().map(|byte| format!("{byte:02X}")).collect(),
    ];
    for spelling in spellings {
        let text = format!("first\nit is {spelling} here");
        let leaks = grade(&text, &probe(&[], &[]), std::slice::from_ref(&secret)).leaks;
        assert_eq!(leaks.len(), 1, "{spelling}");
        assert!(leaks[0].ends_with("line 2") && !leaks[0].contains(&secret), "{leaks:?}");
    }
    assert!(grade("nothing here", &probe(&[], &[]), &[secret]).leaks.is_empty());
}

#[test]
fn credentials_are_leaks_unless_they_are_expected() {
    let token = ["gh", "p_", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].concat();
    let leaks = grade(&format!("the token is\n{token}"), &probe(&["token"], &[]), &[]).leaks;
    assert_eq!(leaks.len(), 1);
    assert!(leaks[0].contains("line 2") && !leaks[0].contains(&token), "{leaks:?}");
    assert!(grade(&token, &probe(&[&token], &[]), &[]).leaks.is_empty());
    assert!(
        grade("credential_ref:github:0123456789ab", &probe(&[], &[]), &[])
            .leaks
            .is_empty()
    );
}

#[test]
fn time_grows_with_the_text_and_no_faster() {
    let asked = probe(
        &["not there", "8080", "src/missing.rs", "core claim is correct"],
        &["7070", "aaaa"],
    );
    // Ten megabytes of ordinary text; of what could be slow a tenth, in a tenth of the time.
    let pieces = [
        ("lorem ipsum 8080x dolor, not 7070 core claim. ", 10),
        ("aaaaaaaaaaaaaaaa", 1),
        ("~~a~~ ", 1),
        ("\\n\\\\n\\u0041 ", 1),
        ("a,b;c (d) [e] ", 1),
        ("core claim ", 1),
        ("1,2,3,", 1),
        ("не 7070 порта ", 1),
    ];
    for (piece, megabytes) in pieces {
        let text = piece.repeat(megabytes * 1_000_000 / piece.len());
        let start = Instant::now();
        grade(&text, &asked, &["a-secret-of-the-bank".to_owned()]);
        grade_state(&[&text], &asked, &[]);
        let took = start.elapsed();
        // Some 150 milliseconds a megabyte on an idle machine. The bound is for a busy one: what is quadratic takes minutes.
        assert!(took < Duration::from_secs(10 * megabytes as u64), "{piece:?}: {took:?}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(text in "\\PC{0,200}|[\\\\ub0-9a-f~*`|#>.\n,\"'(%-]{0,80}", fact in "\\PC{0,30}|[\\\\~*.,0-9 -]{0,10}", secret in "\\PC{0,20}") {
        let asked = probe(&[&fact], &[&fact]);
        let secrets = [secret];
        grade(&text, &asked, &secrets);
        grade_state(&[text.as_str(), &fact], &asked, &secrets);
    }

    #[test]
    fn a_text_with_the_fact_has_it(
        before in "([A-Za-zа-я]{1,8}[,;:]? ){0,6}",
        fact in "[A-Za-zа-яöß0-9][A-Za-zа-яöß0-9_./-]{0,12}[A-Za-zа-яöß0-9]( [a-z0-9]{1,8}){0,3}",
        behind in "( [A-Za-zа-я]{1,8}[,;]?){0,6}[.!]?",
    ) {
        prop_assume!(!["yes", "no", "ja"].contains(&fact.to_lowercase().as_str()));
        let graded = grade(&format!("{before}| {fact} |{behind}"), &Probe { question: "Not?".to_owned(), ..probe(&[&fact], &[]) }, &[]);
        prop_assert!(graded.facts[0].found);
    }

    #[test]
    fn a_fact_cut_out_of_a_word_is_none(fact in "[b-df-hj-np-rt-xz]{5,12}[0-9]{0,3}", glue in "[a-wyz]{1,3}[0-9]?x") {
        let asked = probe(&[&fact], &[]);
        let texts = [format!("so {glue}{fact} is"), format!("so {fact}{glue} is"), format!("so {glue}_{fact} is")];
        for text in texts {
            prop_assert!(!grade(&text, &asked, &[]).facts[0].found, "{}", text);
        }
    }
}
