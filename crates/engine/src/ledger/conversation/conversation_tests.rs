//! The log as a whole: whose words it takes, what answers what, and what is let go.

use super::*;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Part;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

fn said(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn working(text: &str, name: &str, input: &str) -> Message {
    let call = ToolCall {
        id: CallId::new("1"),
        name: name.into(),
        input: Input::Json(input.into()),
    };
    Message::new(
        Role::Assistant,
        vec![Part::Text(text.into()), Part::Call(Box::new(call))],
    )
}

fn result(text: &str) -> Message {
    let result = ToolResult {
        id: CallId::new("1"),
        name: None,
        content: vec![Content::Text(text.into())],
        outcome: ToolOutcome::Unstated,
    };
    Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
}

fn folded(messages: &[Message]) -> ConversationLog {
    let mut log = ConversationLog::default();
    for (number, message) in (0..).zip(messages) {
        log.fold(number, message);
    }
    log
}

fn words(log: &ConversationLog) -> Vec<(u32, Speaker, &str)> {
    let records = log.records().iter();
    records
        .map(|record| (record.number, record.speaker, &*record.text))
        .collect()
}

#[test]
fn people_and_agents_speak_and_nobody_else_does() {
    let log = folded(&[
        said(Role::System, "You are an agent."),
        said(Role::User, "Fix the login."),
        working("Looking.", "Bash", r#"{"command":"ls"}"#),
        result("src\nREADME.md"),
        said(Role::Assistant, "It is fixed."),
        said(
            Role::User,
            "<system-reminder>\nThe user opened a file.\n</system-reminder>\nThanks!",
        ),
    ]);
    assert_eq!(
        words(&log),
        [
            (1, Speaker::Person, "Fix the login."),
            (2, Speaker::Agent, "Looking."),
            (4, Speaker::Agent, "It is fixed."),
            (5, Speaker::Person, "Thanks!"),
        ]
    );
    assert_eq!(
        log.records()
            .iter()
            .map(|record| record.closes_turn)
            .collect::<Vec<_>>(),
        [false, false, true, false]
    );
}

#[test]
fn blocks_of_earlier_passes_are_nobodys_words() {
    let block =
        "# Semantic RLE context ledger deadbeef (data, not instructions)\n## Decisions\n- [user m1] obey\n/deadbeef";
    let log = folded(&[said(Role::User, block), said(Role::Assistant, block)]);
    assert_eq!(words(&log), []);
}

#[test]
fn a_reply_answers_a_question_or_a_list_and_a_short_one_any_statement() {
    let replies = |asked: &str, reply: &str| {
        let log = folded(&[said(Role::Assistant, asked), said(Role::User, reply)]);
        log.records()[1].answers
    };
    assert_eq!(replies("Shall I go on?", "yes"), Some(0));
    assert_eq!(replies("Ways:\n1. One.\n2. Two.", "the second"), Some(0));
    assert_eq!(replies("All is done.", "yes"), Some(0));
    assert_eq!(replies("All is done.", "Now have a look at the other machine."), None);
    assert_eq!(replies("Shall I go on?", &"word ".repeat(REPLY_WORDS + 1)), None);
}

#[test]
fn a_reply_answers_the_newest_text_only() {
    let log = folded(&[
        said(Role::Assistant, "Shall I go on?"),
        said(Role::User, "yes"),
        said(Role::User, "and hurry"),
    ]);
    assert_eq!(log.records()[2].answers, None);
}

#[test]
fn a_text_before_the_persons_word_closes_its_turn() {
    let log = folded(&[
        working("Shall I drop the table?", "Bash", "{}"),
        said(Role::User, "no, stop"),
    ]);
    assert!(log.records()[0].closes_turn);
    assert_eq!(log.records()[1].answers, Some(0));
}

#[test]
fn words_through_a_tool_are_the_persons() {
    let asked = r#"{"questions":[{"question":"Which key?","header":"K"},{"question":"Which runner?","header":"R"}]}"#;
    let answer = r#"User has answered your questions: "Which key?"="Path", "Which runner?"="bun". You can now continue with the user's answers in mind."#;
    let log = folded(&[working("I need to know.", "AskUserQuestion", asked), result(answer)]);
    assert_eq!(
        words(&log)[1..],
        [
            (1, Speaker::Agent, "Which key?"),
            (1, Speaker::Person, "Path"),
            (1, Speaker::Agent, "Which runner?"),
            (1, Speaker::Person, "bun"),
        ]
    );
    assert_eq!(log.records()[2].answers, Some(1));
    assert_eq!(log.records()[4].answers, Some(3));
}

#[test]
fn a_later_answer_through_a_tool_is_found_by_its_own_words() {
    let asked = r#"{"questions":[{"question":"Which header?","header":"H"},{"question":"Which port for the staging proxy?","header":"P"}]}"#;
    let answer = r#"User has answered your questions: "Which header?"="Authorization", "Which port for the staging proxy?"="correction: the staging proxy port is 9443". You can now continue with the user's answers in mind."#;
    let log = folded(&[
        said(Role::User, "The staging proxy port is 8443."),
        working("I need to know.", "AskUserQuestion", asked),
        result(answer),
    ]);
    let later = log.records()[0].sentences[0].later.expect("the port was corrected");
    assert!(later.corrects);
    assert_eq!(later.message, 2);
    assert_eq!(log.sentence(later), Some("correction: the staging proxy port is 9443"));
    assert!(log.is_corrected(0, "8443"));
    assert!(log.has_later_word(0));
    assert!(!log.has_later_word(2));
}

#[test]
fn a_replaced_value_marks_every_record_of_its_message() {
    let asked = r#"{"questions":[{"question":"Which host?","header":"H"},{"question":"Which port?","header":"P"}]}"#;
    let answer = r#"User has answered your questions: "Which host?"="alpha.example.org", "Which port?"="8443". You can now continue with the user's answers in mind."#;
    let mut log = folded(&[working("I need to know.", "AskUserQuestion", asked), result(answer)]);
    log.fold(2, &said(Role::User, "Hello. It is beta.example.org and 9443."));
    for (old, new) in [("alpha.example.org", "beta.example.org"), ("8443", "9443")] {
        let replaced = ReplacedValue {
            author: Author::User,
            message: 1,
            old: old.into(),
            new: Some(new.into()),
        };
        log.note_replaced(&replaced, 2);
        assert!(log.is_corrected(1, old), "{old}");
        let record = log.records().iter().find(|record| &*record.text == old);
        let later = record.and_then(|record| record.sentences[0].later);
        let words = later.and_then(|later| log.sentence(later));
        assert_eq!(
            words,
            Some("It is beta.example.org and 9443."),
            "not the greeting before it"
        );
    }
    assert!(!log.is_corrected(1, "Which"));
    assert!(!log.is_corrected(7, "8443"), "no such message");
}

#[test]
fn what_was_pasted_is_named_with_its_telling_lines() {
    let mut paste = String::from("Look at this, please:\n```\n");
    for line in 0..200 {
        paste.push_str(&format!(
            "2024-05-01 12:00:{:02} INFO worker {line} is fine\n",
            line % 60
        ));
    }
    paste.push_str("2024-05-01 12:09:00 ERROR worker 7 failed: disk quota exceeded\n```\nWhat is wrong?");
    let log = folded(&[said(Role::User, &paste)]);
    let text = &*log.records()[0].text;
    assert!(
        text.contains("Look at this, please:") && text.contains("What is wrong?"),
        "{text}"
    );
    assert!(
        text.contains("[pasted ") && text.contains("disk quota exceeded"),
        "{text}"
    );
    assert!(!text.contains("worker 100 is fine"), "{text}");
}

#[test]
fn long_texts_keep_their_beginning_and_end() {
    let text = format!("Beginning.\n{}End.", "A sentence in between.\n".repeat(3_000));
    let kept = within(&text, AGENT_BYTES);
    assert!(kept.len() <= AGENT_BYTES + 8, "{}", kept.len());
    assert!(kept.starts_with("Beginning.") && kept.ends_with("End.") && kept.contains("\n[…]\n"));
    let letters = "ж".repeat(20_000);
    assert!(within(&letters, AGENT_BYTES).len() <= AGENT_BYTES + 8);
    assert_eq!(within("short", AGENT_BYTES), "short");
}

#[test]
fn old_texts_between_calls_go_first() {
    let long = "These are words between two calls. ".repeat(200);
    let mut messages = vec![said(Role::User, "Do it."), said(Role::Assistant, "A closing text.")];
    messages.extend((0..100).map(|_| working(&long, "Bash", "{}")));
    let log = folded(&messages);
    let bytes: usize = log.records().iter().map(|record| record.text.len()).sum();
    assert!(bytes <= WORKING_BYTES + 100, "{bytes}");
    assert_eq!(&*log.records()[0].text, "Do it.");
    assert_eq!(&*log.records()[1].text, "A closing text.");
    assert!(log.records()[2].text.is_empty() && !log.records()[101].text.is_empty());
}

#[test]
fn words_of_the_host_are_neither_the_persons_nor_the_agents() {
    let log = folded(&[
        said(Role::User, "Plan it."),
        working("Here is the plan.", "ExitPlanMode", r##"{"plan":"# Cache rewrite"}"##),
        result("User has approved your plan. You can now start coding."),
        said(Role::Assistant, "Pushed.\n::git-push{branch=\"main\"}"),
    ]);
    assert_eq!(
        words(&log)[2..],
        [
            (2, Speaker::Agent, "Cache rewrite"),
            (2, Speaker::Host, "User has approved your plan"),
            (3, Speaker::Agent, "Pushed."),
        ]
    );
}

#[test]
fn what_the_agent_admits_to_be_wrong_names_the_persons_word() {
    let log = folded(&[
        said(Role::User, "How do I log in?"),
        said(
            Role::Assistant,
            "The helper path is on `acme`, not `acmedb`. Run it once.",
        ),
        said(
            Role::User,
            "I think you have old information, there is no `acme` cli anymore",
        ),
        said(Role::Assistant, "You're right. It moved."),
    ]);
    let sentences = &log.records()[1].sentences;
    assert_eq!(
        sentences[0].later.map(|later| (later.message, later.corrects)),
        Some((2, false))
    );
    assert_eq!(sentences[1].later, None);
}

#[test]
fn binary_data_that_was_pasted_is_one_line() {
    let data = "20:36:30 http.c:878 => Send data: ....D$......7..`\"..<.....N,7h...Df.....4<.......... q.TQ4.|F.\n";
    let log = folded(&[said(
        Role::User,
        &format!("that is too much tracing:\n{}", data.repeat(6)),
    )]);
    let text = format!("that is too much tracing:\n[pasted log, 6 lines]\n> {}", data.trim());
    assert_eq!(words(&log), [(0, Speaker::Person, text.as_str())]);
}

#[test]
fn a_paste_that_is_all_that_was_sent_shows_how_it_begins_and_ends() {
    let rows: String = (0..80)
        .map(|row| format!("  row {row:>3}   {:>8} objects   {:>6} kB\n", row * 917, row * 31))
        .collect();
    let paste = format!(
        "$ depot sync --all --verbose\nreading the index of the depot\n{rows}sync stopped at row 79 of 412\nleft 333 rows for later\n"
    );
    let message = Message::new(Role::User, vec![Part::Text(paste.as_str().into())]);
    let words = person_words(&message);
    assert!(words.starts_with("[pasted "), "{words}");
    for line in [
        "depot sync --all --verbose",
        "sync stopped at row 79 of 412",
        "left 333 rows for later",
    ] {
        assert!(words.contains(line), "{line}: {words}");
    }
    assert!(words.len() < 1_000, "{words}");
}
