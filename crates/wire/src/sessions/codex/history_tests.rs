//! Tests of compactions and rollbacks: what is sent now, and what was recorded.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use crate::sessions::codex::tests::META;
use crate::sessions::codex::tests::assistant;
use crate::sessions::codex::tests::event;
use crate::sessions::codex::tests::full;
use crate::sessions::codex::tests::line;
use crate::sessions::codex::tests::live;
use crate::sessions::codex::tests::rules;
use crate::sessions::codex::tests::said;
use crate::sessions::codex::tests::shape;
use crate::sessions::codex::tests::user;
use crate::sessions::codex::tests::words;

#[test]
fn a_compaction_replaces_the_history_but_not_the_record() {
    let replacement = format!(
        r#"{{"message":"","replacement_history":[{},{{"type":"compaction","encrypted_content":"xyz"}}]}}"#,
        said("user", "one")
    );
    let usage = |size: u64| {
        event(&format!(
            r#"{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":5}},"last_token_usage":{{"total_tokens":{size}}}}}}}"#
        ))
    };
    let lines = [
        META.to_owned(),
        user("one"),
        assistant("two"),
        usage(900),
        line("compacted", &replacement),
        usage(40),
        event(r#"{"type":"context_compacted"}"#),
        user("three"),
        assistant("four"),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let now = live(&lines);
    assert_eq!(shape(&now), ["one", "opaque compaction", "three", "four"]);
    let event = &now.transcript.events()[0];
    assert_eq!(
        (event.before, event.summary, event.kind),
        (2, Some(1), CompactionKind::Sealed)
    );
    assert_eq!((event.tokens_before, event.tokens_after), (Some(900), Some(40)));
    let all = full(&lines);
    assert_eq!(shape(&all), ["one", "two", "three", "four"]);
    assert_eq!(all.transcript.events()[0].before, 2);
    assert_eq!(all.transcript.events()[0].summary, None);
    assert_eq!(now.recorded, all.recorded);
    assert_eq!(now.recorded.messages, 4);
}

#[test]
fn the_newest_compaction_wins_and_each_is_an_event() {
    let compacted = |text: &str| {
        let prefixed = said("user", text);
        line(
            "compacted",
            &format!(r#"{{"message":"{text}","replacement_history":[{prefixed}]}}"#),
        )
    };
    let lines = [
        META.to_owned(),
        user("a"),
        compacted("s1"),
        user("b"),
        compacted("s2"),
        user("c"),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let now = live(&lines);
    assert_eq!(shape(&now), ["s2", "c"]);
    assert_eq!(now.transcript.messages()[0].author, Author::Summary);
    assert_eq!(now.transcript.messages()[0].place, Place::Line(5));
    assert_eq!(now.transcript.events().len(), 1);
    let all = full(&lines);
    let before: Vec<_> = all.transcript.events().iter().map(|event| event.before).collect();
    assert_eq!(
        (shape(&all), before),
        (vec!["a".into(), "b".into(), "c".into()], vec![1, 2])
    );
}

#[test]
fn a_compaction_without_replacement_keeps_the_newest_user_words_and_the_summary() {
    let long = "x".repeat(100_000);
    let lines = [
        META.to_owned(),
        user("<environment_context>e</environment_context>"),
        user("forgotten"),
        user(&long),
        assistant("a"),
        user("short"),
        line("compacted", r#"{"message":"what happened"}"#),
        user("next"),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let now = live(&lines);
    let messages = now.transcript.messages();
    assert_eq!(messages.len(), 4);
    let kept = words(&messages[0]);
    assert!(kept.starts_with("xxx") && kept.ends_with("xxx") && kept.contains("tokens truncated"));
    assert!((79_990..80_100).contains(&kept.len()), "{}", kept.len());
    assert_eq!(words(&messages[1]), "short");
    assert_eq!(
        (words(&messages[2]).as_str(), messages[2].author),
        ("what happened", Author::Summary)
    );
    assert_eq!(now.transcript.events()[0].summary, Some(2));
    assert_eq!(full(&lines).transcript.messages().len(), 6);
}

#[test]
fn a_rollback_takes_back_turns_and_says_so() {
    let back = |turns: &str| event(&format!(r#"{{"type":"thread_rolled_back","num_turns":{turns}}}"#));
    let lines = |last: &str| {
        let context = user("<environment_context>e</environment_context>");
        [
            META.to_owned(),
            context,
            user("a"),
            assistant("b"),
            user("c"),
            assistant("d"),
            last.to_owned(),
            user("e"),
        ]
    };
    let context = "<environment_context>e</environment_context>".to_owned();
    for (turns, left) in [
        ("0", vec!["a", "b", "c", "d", "e"]),
        ("1", vec!["a", "b", "e"]),
        ("2", vec!["e"]),
        ("99999999999999999999", vec!["e"]),
        ("\"two\"", vec!["a", "b", "c", "d", "e"]),
    ] {
        let lines = lines(&back(turns));
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let mut expected = vec![context.clone()];
        expected.extend(left.iter().map(ToString::to_string));
        for document in [live(&lines), full(&lines)] {
            assert_eq!(shape(&document), expected, "{turns}");
            assert_eq!(rules(&document), [(Rule::Abandoned, Place::Line(7))]);
        }
    }
}

#[test]
fn a_rollback_undoes_a_compaction_of_the_turn_it_takes_back() {
    let compacted = line(
        "compacted",
        &format!(r#"{{"message":"","replacement_history":[{}]}}"#, said("user", "s")),
    );
    let back = event(r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let lines = [
        META,
        &user("a"),
        &assistant("b"),
        &user("c"),
        &compacted,
        &assistant("d"),
        &back,
    ];
    for document in [live(&lines), full(&lines)] {
        assert_eq!(shape(&document), ["a", "b"]);
        assert!(document.transcript.events().is_empty());
    }
    // Beyond the file's own turns there is only what the compaction left of them.
    let compacted = line(
        "compacted",
        &format!(
            r#"{{"message":"","replacement_history":[{},{},{}]}}"#,
            said("user", "o"),
            said("user", "p"),
            said("assistant", "q")
        ),
    );
    let back = event(r#"{"type":"thread_rolled_back","num_turns":2}"#);
    let document = live(&[META, &compacted, &user("a"), &assistant("b"), &back]);
    assert_eq!(shape(&document), ["o"]);
    assert_eq!(document.transcript.events()[0].before, 1);
}

#[test]
fn compactions_without_replacement_build_on_each_other() {
    let summed = |text: &str| line("compacted", &format!(r#"{{"message":"{text}"}}"#));
    let replaced = format!(
        r#"{{"message":"","replacement_history":[{},{}]}}"#,
        said("user", "b"),
        said("assistant", "c")
    );
    let lines = [
        META.to_owned(),
        user("a"),
        line("compacted", &replaced),
        user("d"),
        summed("s1"),
        user("e"),
        summed("s2"),
        user("f"),
    ];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    assert_eq!(shape(&live(&lines)), ["b", "d", "e", "s2", "f"]);
    assert_eq!(full(&lines).transcript.events().len(), 3);
}
