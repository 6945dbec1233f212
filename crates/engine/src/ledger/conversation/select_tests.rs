//! What is shown of a conversation under large, small and tiny budgets.

use proptest::prelude::*;

use super::*;
use crate::ledger::conversation::ConversationLog;
use crate::ledger::conversation::render::render;
use crate::ledger::conversation::selection::LINE_TOKENS;
use crate::ledger::conversation::selection::SelectionInput;
use crate::ledger::conversation::talk_cache::TalkCache;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;

fn count(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

fn log(messages: &[(Role, String)]) -> ConversationLog {
    let mut log = ConversationLog::default();
    for (number, (role, text)) in (0..).zip(messages) {
        log.fold(number, &Message::new(*role, vec![Part::Text(text.as_str().into())]));
    }
    log
}

fn said(role: Role, text: &str) -> (Role, String) {
    (role, text.to_owned())
}

/// What the person's words get, then what everybody's do, of a log whose messages from `warm` on stay.
fn chosen(log: &ConversationLog, person: u64, all: u64, warm: u32, focus: &[String]) -> (String, u64) {
    let input = SelectionInput {
        records: log.records(),
        is_cold: &|number| number < warm,
        count: &count,
        focus,
        restated: None,
        expected_use: &|_| 0.0,
        cache: &TalkCache::default(),
    };
    let mut selector = Selector::new(&input);
    selector.choose_person(person, person / 3);
    assert!(selector.used() <= person, "{} of {person}", selector.used());
    selector.choose_rest(all, 0.0);
    (render(log, selector.selection()), selector.used())
}

fn shown(log: &ConversationLog, person: u64) -> String {
    chosen(log, person, 0, u32::MAX, &[]).0
}

/// A conversation in which the person speaks in two sentences, the second of which is chat.
fn long_conversation(turns: usize) -> Vec<(Role, String)> {
    let mut messages = Vec::new();
    for turn in 0..turns {
        messages.push((
            Role::User,
            format!(
                "Set the limit of queue{turn} to {}. It would be nice to have that soon enough for us.",
                100 + turn
            ),
        ));
        messages.push((
            Role::Assistant,
            format!("The limit of queue{turn} was set. Anything else."),
        ));
    }
    messages
}

#[test]
fn short_messages_stand_whole_where_they_fit() {
    let messages = long_conversation(12);
    let text = shown(&log(&messages), 1_000);
    for (number, (_, words)) in messages.iter().enumerate().step_by(2) {
        assert!(
            text.contains(&format!("- [user m{number}] {words}\n")),
            "{words} in\n{text}"
        );
    }
    assert!(!text.contains("[…]"), "{text}");
}

#[test]
fn under_pressure_sentences_go_before_messages() {
    let messages = long_conversation(12);
    let all = log(&messages);
    // Enough for the first sentence of every message, not for the second ones.
    let text = shown(&all, 12 * (8 + 1 + LINE_TOKENS) + 40);
    for turn in 0..12 {
        assert!(
            text.contains(&format!("Set the limit of queue{turn} to {}.", 100 + turn)),
            "turn {turn} in\n{text}"
        );
    }
    assert!(text.contains("[…]"), "{text}");
}

#[test]
fn the_task_and_the_newest_request_survive_the_smallest_budget() {
    let mut messages = long_conversation(40);
    messages[0].1 = "Port the exporter to Rust 1.90.".to_owned();
    messages.push(said(Role::User, "Now release version 2.4.1 please."));
    let text = shown(&log(&messages), 100);
    assert!(text.contains("Port the exporter to Rust 1.90."), "{text}");
    assert!(text.contains("Now release version 2.4.1 please."), "{text}");
}

#[test]
fn small_talk_goes_before_rules_and_values() {
    let mut messages = Vec::new();
    for turn in 0..20 {
        messages.push(said(Role::User, "haha nice that is really good to hear today"));
        messages.push(said(Role::Assistant, "Glad to hear it."));
        if turn == 9 {
            messages.push(said(Role::User, "Never touch the table invoices_2024 in production."));
            messages.push(said(Role::Assistant, "Understood."));
        }
    }
    let text = shown(&log(&messages), 90);
    assert!(text.contains("Never touch the table invoices_2024"), "{text}");
    assert!(text.matches("haha nice").count() < 10, "{text}");
}

#[test]
fn a_long_message_competes_by_its_sentences() {
    let mut brief: Vec<String> = (0..200)
        .map(|_| "This is a sentence of the kind that everybody writes when they have the time.".to_owned())
        .collect();
    brief[100] = "Do not use port 5433, which belongs to reporting-db.".to_owned();
    let messages = [
        said(Role::User, "Hello."),
        (Role::User, brief.join(" ")),
        said(Role::User, "Go on."),
    ];
    let text = shown(&log(&messages), 200);
    assert!(text.contains("Do not use port 5433"), "{text}");
    assert!(text.contains("[…]"), "{text}");
}

#[test]
fn a_reply_brings_what_it_answers() {
    for (asked, reply, words) in [
        (
            "I looked at it. Shall I drop the table?",
            "yes",
            "Shall I drop the table?",
        ),
        (
            "There are two ways:\n1. Patch the parser.\n2. Rewrite the lexer.",
            "the second",
            "2. Rewrite the lexer.",
        ),
        (
            "Options:\n- keep the cron\n- remove it\nWhich one?",
            "ok but leave the cron alone",
            "Which one?",
        ),
    ] {
        let messages = [
            said(Role::User, "Clean up the schema of the shop."),
            said(Role::Assistant, asked),
            said(Role::User, reply),
        ];
        let text = shown(&log(&messages), 200);
        assert!(text.contains(words), "{words} in\n{text}");
        let question = text.find("- [assistant m1]").expect("the question stands");
        let answer = text.find("- [user m2]").expect("the reply stands");
        assert!(question < answer, "{text}");
    }
}

#[test]
fn what_nobody_replied_to_is_not_brought() {
    let messages = [
        said(Role::User, "Clean up the schema of the shop."),
        said(Role::Assistant, "The schema has four tables and no index."),
        said(Role::User, "Now look at the login page of the shop, please."),
    ];
    assert!(!shown(&log(&messages), 200).contains("four tables"));
}

#[test]
fn what_stays_in_the_conversation_is_not_shown() {
    let messages = long_conversation(6);
    let (text, _) = chosen(&log(&messages), 1_000, 2_000, 6, &[]);
    assert!(text.contains("queue2") && !text.contains("queue3"), "{text}");
}

#[test]
fn a_topic_weighs_more() {
    let messages: Vec<(Role, String)> = (0..40)
        .flat_map(|turn| {
            let name = ["billing", "search", "login", "mail"][turn % 4];
            [
                said(Role::User, "go on"),
                (
                    Role::Assistant,
                    format!("The {name} module needs another look at part{turn}."),
                ),
            ]
        })
        .collect();
    let log = log(&messages);
    let share = |focus: &[String]| {
        let (text, _) = chosen(&log, 100, 300, u32::MAX, focus);
        text.matches("billing").count()
    };
    assert!(share(&["billing".to_owned()]) > share(&[]));
}

proptest! {
    /// Whatever is said, a budget is kept, all of it is shown where it fits, and the same comes out again.
    #[test]
    fn budgets_hold_and_nothing_depends_on_chance(
        texts in prop::collection::vec("([A-Za-z0-9]{1,9}[ .?,]{1,2}|- |\n|мир )*", 1..12),
        person in 0u64..200,
        more in 0u64..200,
    ) {
        let roles = [Role::User, Role::Assistant, Role::User];
        let messages: Vec<(Role, String)> = texts.into_iter().enumerate().map(|(at, text)| (roles[at % 3], text)).collect();
        let log = log(&messages);
        let (text, used) = chosen(&log, person, person + more, u32::MAX, &[]);
        prop_assert!(used <= person + more);
        let again = chosen(&log, person, person + more, u32::MAX, &[]);
        prop_assert_eq!((text, used), again);
        let (all, _) = chosen(&log, 100_000, 100_000, u32::MAX, &[]);
        prop_assert!(!all.contains("[…]"));
        for record in log.records().iter().filter(|record| record.speaker == Speaker::Person) {
            let mark = format!("- [user m{}] ", record.number);
            prop_assert!(record.sentences.is_empty() || all.contains(&mark));
        }
    }
}

#[test]
fn an_answer_behind_the_newest_request_has_room_before_older_words() {
    let mut messages = long_conversation(6);
    messages.push(said(Role::User, "Review the list."));
    messages.push(said(
        Role::Assistant,
        "Two entries are overstated. Entry 22 is open: its test is skipped. Entry 31 has no code at all.",
    ));
    let log = log(&messages);
    let answered = |warm: u32| {
        let input = SelectionInput {
            records: log.records(),
            is_cold: &|number| number < warm,
            count: &count,
            focus: &[],
            restated: None,
            expected_use: &|_| 0.0,
            cache: &TalkCache::default(),
        };
        let mut selector = Selector::new(&input);
        selector.choose_answer(40);
        assert!(selector.used() <= 40, "{}", selector.used());
        render(&log, selector.selection())
    };
    let whole = answered(u32::MAX);
    assert!(whole.contains("overstated") && whole.contains("Entry 31"), "{whole}");
    assert_eq!(answered(13), "", "what is kept is not quoted");
}

#[test]
fn the_persons_own_words_come_before_what_they_pasted() {
    let log_lines: Vec<String> = (0..30)
        .map(|line| format!("10:00:{line:02} worker {line} started as usual"))
        .collect();
    let pasted = format!(
        "{}\n10:00:31 ERROR disk full\n\nwhere is this coming from?",
        log_lines.join("\n")
    );
    let messages = [
        said(Role::User, "hello there"),
        said(Role::Assistant, "Hello."),
        said(Role::User, &pasted),
        said(Role::Assistant, "From the worker."),
        said(Role::User, "thanks then"),
    ];
    let text = shown(&log(&messages), 90);
    assert!(text.contains("where is this coming from?"), "{text}");
    assert!(text.contains("[pasted log, 31 lines]"), "{text}");
    assert!(text.contains("> 10:00:31 ERROR disk full"), "{text}");
    assert!(!text.contains("worker 7"), "{text}");
    let text = shown(&log(&messages), 3_000);
    assert!(text.contains("worker 7"), "room for all of it: {text}");
}

#[test]
fn an_item_never_stands_without_its_lead() {
    let report = "Done. PR #31 is open.\n\nStill failing on these machines:\n- build-7 with error E0412\n- build-9 with error E0733";
    let messages = [
        said(Role::User, "go on"),
        said(Role::Assistant, report),
        said(Role::User, "fine"),
    ];
    let (text, _) = chosen(&log(&messages), 60, 200, u32::MAX, &[]);
    assert!(text.contains("PR #31 is open."), "{text}");
    assert!(text.contains("Still failing on these machines:\n  - build-7"), "{text}");
}
