//! Tests of prompts that were typed while the agent worked.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Part;

use super::tests::attached;
use super::tests::boundary;
use super::tests::call;
use super::tests::flagged;
use super::tests::parse;
use super::tests::result;
use super::tests::text;
use super::tests::user;
use super::*;

fn operation(name: &str, second: u32, fields: &str) -> String {
    format!(
        r#"{{"type":"queue-operation","operation":"{name}","timestamp":"2026-08-01T10:00:{second:02}.000Z","sessionId":"s1"{fields}}}"#
    )
}

fn enqueue(second: u32, text: &str) -> String {
    operation("enqueue", second, &format!(r#","content":"{text}""#))
}

/// A record at a second of the test's minute.
fn at(second: u32, record: String) -> String {
    record.replace("10:00:00.000Z", &format!("10:00:{second:02}.000Z"))
}

/// The messages in short: whose they are, and their words.
fn told(lines: &[String], history: History) -> Vec<String> {
    let document = parse(lines, history);
    let messages = document.transcript.messages().iter();
    messages
        .map(|message| {
            let words: Vec<String> = message
                .parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.to_string(),
                    Part::Call(call) => format!("call {}", call.id.as_str()),
                    Part::Result(result) => format!("result {}", result.id.as_str()),
                    _ => "?".to_owned(),
                })
                .collect();
            assert_eq!(message.opens_turn(), message.author == Author::User);
            format!("{}: {}", message.author.name(), words.join(", "))
        })
        .collect()
}

fn working() -> Vec<String> {
    vec![
        at(1, user("u1", "", "fix it")),
        at(2, call("a1", "u1", "r1", "c1")),
        at(4, result("u2", "a1", "c1", "ok")),
        at(8, text("a2", "u2", "r2", "done")),
    ]
}

/// The working session with lines put in before one of its own.
fn with(before: usize, more: &[String]) -> Vec<String> {
    let mut lines = working();
    lines.splice(before..before, more.iter().cloned());
    lines
}

#[test]
fn a_prompt_that_was_handed_over_in_a_turn_stands_behind_the_results_before_it() {
    let expected = [
        "user: fix it",
        "assistant: call c1",
        "tool: result c1",
        "user: and the linter",
        "assistant: done",
    ];
    // The operations are written before lines of an earlier time.
    for before in [1, 2, 3] {
        let lines = with(before, &[enqueue(3, "and the linter"), operation("remove", 5, "")]);
        assert_eq!(told(&lines, History::Live), expected, "before line {before}");
        assert_eq!(told(&lines, History::Full), expected);
    }
    let absorbed = operation(
        "remove",
        5,
        r#","content":"and the linter","reason":"absorbed_mid_turn""#,
    );
    assert_eq!(
        told(&with(3, &[enqueue(3, "and the linter"), absorbed]), History::Live),
        expected
    );
}

#[test]
fn what_stands_elsewhere_is_not_told_twice() {
    let attachment = r#"{"type":"queued_command","prompt":"and the linter","commandMode":"prompt"}"#;
    let mut lines = with(3, &[enqueue(3, "and the linter"), operation("remove", 5, "")]);
    lines.insert(5, at(5, attached("t1", "u2", attachment)));
    lines[6] = at(8, text("a2", "t1", "r2", "done"));
    let said = told(&lines, History::Live);
    assert_eq!(
        said.iter().filter(|line| line.contains("linter")).count(),
        1,
        "{said:?}"
    );

    let mut lines = working();
    lines.extend([enqueue(3, "and the linter"), operation("dequeue", 9, "")]);
    lines.push(at(9, user("u3", "a2", "and the linter")));
    let said = told(&lines, History::Live);
    assert_eq!(
        said.iter().filter(|line| line.contains("linter")).count(),
        1,
        "{said:?}"
    );
}

#[test]
fn what_was_taken_back_was_not_said() {
    let quiet = told(&working(), History::Live);
    for operations in [
        vec![
            enqueue(3, "and the linter"),
            operation("popAll", 5, r#","content":"and the linter""#),
        ],
        vec![enqueue(3, "a"), enqueue(3, "b"), operation("popAll", 5, "")],
        vec![enqueue(3, "a"), operation("remove", 5, r#","reason":"cancelled""#)],
        // News of a task, and a command to the program.
        vec![
            enqueue(3, "<task-notification>\\nx\\n</task-notification>"),
            operation("remove", 5, ""),
        ],
        vec![enqueue(3, "/model opus"), operation("remove", 5, "")],
        vec![operation("remove", 5, ""), operation("dequeue", 6, "")],
    ] {
        assert_eq!(told(&with(3, &operations), History::Live), quiet, "{operations:?}");
    }
}

#[test]
fn the_queue_is_first_in_first_out() {
    let operations = [
        enqueue(3, "<task-notification>\\nx\\n</task-notification>"),
        enqueue(3, "first"),
        enqueue(4, "second"),
        operation("remove", 5, ""),
        operation("remove", 6, ""),
        operation("popAll", 7, r#","content":"second""#),
    ];
    let said = told(&with(3, &operations), History::Live);
    assert_eq!(said[3..], ["user: first", "assistant: done"]);
}

#[test]
fn what_still_waits_comes_last_unless_the_person_went_on() {
    let mut lines = with(2, &[enqueue(3, "and the linter")]);
    let said = told(&lines, History::Live);
    assert_eq!(said.last().map(String::as_str), Some("user: and the linter"));
    // Nothing stands behind calls that wait for their results.
    let open = [lines[0].clone(), lines[1].clone(), lines[2].clone()];
    assert_eq!(told(&open, History::Live), ["user: fix it", "assistant: call c1"]);
    lines.push(at(9, user("u3", "a2", "something else")));
    assert!(!told(&lines, History::Live).iter().any(|line| line.contains("linter")));
}

#[test]
fn a_prompt_belongs_to_the_stretch_it_was_said_in() {
    let mut lines = with(3, &[enqueue(3, "and the linter"), operation("remove", 5, "")]);
    lines.push(at(20, boundary("b1", "a2", "")));
    lines.push(at(20, flagged(&user("u4", "b1", "summary"), "isCompactSummary")));
    assert!(!told(&lines, History::Live).iter().any(|line| line.contains("linter")));
    assert!(told(&lines, History::Full).iter().any(|line| line.contains("linter")));
}

#[test]
fn recorded_sessions_give_each_prompt_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sessions/claude-code");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    };
    let mut queued = 0;
    for file in files.flatten() {
        let source = Source::memory("s.jsonl", std::fs::read(file.path()).unwrap_or_default());
        let Ok(log) = Log::read(&source) else { continue };
        for record in &log.records {
            if let record::Kind::Queued(prompt) = &record.kind {
                queued += 1;
                let words = prompt.content.trim_matches('"');
                assert!(!words.contains("task-notification"));
                let spoken = log.records.iter().filter_map(record::Record::spoken);
                let is_elsewhere = |spoken: &record::Spoken| spoken.content.trim_matches('"') == words;
                assert!(!spoken.into_iter().any(is_elsewhere), "{words}");
            }
        }
    }
    assert!(queued > 0, "one of the recorded sessions has such a prompt");
}
