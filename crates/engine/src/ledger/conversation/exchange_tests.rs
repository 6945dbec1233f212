//! What a reply is shown with.

use crate::ledger::conversation::ConversationLog;
use crate::ledger::conversation::render::render;
use crate::ledger::conversation::selection::SelectionInput;
use crate::ledger::conversation::selection::Selector;
use crate::ledger::conversation::talk_cache::TalkCache;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;

/// What stands of a conversation whose messages from `warm` on stay, where only the person's words and their exchanges have room.
fn shown(said: &[(Role, &str)], warm: u32) -> String {
    let mut log = ConversationLog::default();
    for (number, (role, text)) in (0..).zip(said) {
        log.fold(number, &Message::new(*role, vec![Part::Text((*text).into())]));
    }
    let input = SelectionInput {
        records: log.records(),
        is_cold: &|number| number < warm,
        count: &|text| text.split_whitespace().count() as u64,
        focus: &[],
        restated: None,
        expected_use: &|_| 0.0,
        cache: &TalkCache::default(),
    };
    let mut selector = Selector::new(&input);
    selector.choose_person(600, 200);
    render(&log, selector.selection())
}

const OPTIONS: &str = "The planner does this:\n1. It counts commits.\n2. It pushes one pack.\n\nTwo options for the fix:\n\n\
    1. **Smart subdivision** takes the size of the rejected pack and jumps to the right count at once, which costs about thirty lines in the \
    branch behind the rejection. Snapshot the bytes before the push.\n\n\
    2. **Cheaper alternative**: raise the estimate from 750 to 3000 bytes for each object, which makes skinny repositories plan a few batches \
    more than they need. Doesn't solve every case.\n\nWant me to do (1)? It is the right fix.";

#[test]
fn a_choice_by_number_stands_with_the_item_of_the_last_list_and_the_question() {
    let text = shown(
        &[
            (Role::User, "fix it"),
            (Role::Assistant, OPTIONS),
            (Role::User, "let's do 2"),
        ],
        9,
    );
    assert!(text.contains("Want me to do (1)?"), "{text}");
    assert!(text.contains("2. **Cheaper alternative**"), "{text}");
    assert!(!text.contains("It pushes one pack"), "{text}");
}

#[test]
fn a_yes_stands_with_the_option_that_the_question_names() {
    let text = shown(
        &[(Role::User, "fix it"), (Role::Assistant, OPTIONS), (Role::User, "yep")],
        9,
    );
    assert!(text.contains("1. **Smart subdivision**"), "{text}");
    assert!(text.contains("Want me to do (1)?"), "{text}");
}

#[test]
fn the_newest_reply_is_resolved_where_it_stays_itself() {
    let text = shown(
        &[
            (Role::User, "fix it"),
            (Role::Assistant, OPTIONS),
            (Role::User, "let's do 2"),
        ],
        2,
    );
    assert!(text.contains("2. **Cheaper alternative**"), "{text}");
    assert!(!text.contains("let's do 2"), "{text}");
}

#[test]
fn an_option_of_an_earlier_message_is_found() {
    let later = "About three hours. I would still take the first one. Want me to do (1)?";
    let said = [
        (Role::User, "fix it"),
        (Role::Assistant, OPTIONS),
        (Role::User, "how long would 2 take?"),
        (Role::Assistant, later),
        (Role::User, "let's do 2"),
    ];
    let text = shown(&said, 4);
    assert!(text.contains("2. **Cheaper alternative**"), "{text}");
    assert!(text.contains("- [assistant m3] […] Want me to do (1)?"), "{text}");
}

#[test]
fn letters_and_tables_name_options_too() {
    let asked = "Which one?\n\n| | what |\n|---|---|\n| A | rewrite the loader |\n| B | patch the loader |\n\nTell me.";
    let text = shown(
        &[(Role::User, "hi"), (Role::Assistant, asked), (Role::User, "option B")],
        9,
    );
    assert!(text.contains("| B | patch the loader |"), "{text}");
}

#[test]
fn what_was_suggested_is_quoted() {
    let asked = "Yes, doable. A few signs would work there. My pick is a thin bar, because it does not compete with the arrows. Long names push \
        the line past its end. They wrap on small screens. That breaks the redraw. It is ugly. Which separator do you want?";
    let text = shown(
        &[
            (Role::User, "hi"),
            (Role::Assistant, asked),
            (Role::User, "let's do the separator you suggested"),
        ],
        9,
    );
    assert!(text.contains("My pick is a thin bar"), "{text}");
    assert!(text.contains("Which separator do you want?"), "{text}");
}

#[test]
fn a_reaction_stands_with_the_statement_it_reacts_to() {
    let objection = "The dump starts at 02:00 and ends at 03:21, so 02:10 would read a half-written file.";
    for reply in [
        "Then 03:40, and leave it there.",
        "ok 03:40 then. And leave it there please",
        "03:40.",
        "Dann eben 03:40 und dabei bleibt es",
    ] {
        let text = shown(
            &[
                (Role::User, "The wiki job collides with the dump. Move it to 02:10."),
                (Role::Assistant, objection),
                (Role::User, reply),
            ],
            9,
        );
        assert!(text.contains(objection), "{reply}: {text}");
    }
    let text = shown(
        &[
            (Role::User, "Set up the wiki job."),
            (Role::Assistant, "The wiki job runs at night."),
            (Role::User, "Next comes ldap, daily at 00:45, with the same retention."),
        ],
        9,
    );
    assert!(
        !text.contains("runs at night"),
        "a message that stands alone needs no other: {text}"
    );
}
