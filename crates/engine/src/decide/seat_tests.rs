//! Seats in small conversations: one letter a message.

use super::*;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

/// s system, u user, a assistant, c assistant with a call, t tool row, r results in the user's role.
fn conversation(letters: &str) -> Vec<Message> {
    let result = || {
        Part::Result(Box::new(ToolResult {
            id: CallId::new("1"),
            name: None,
            content: vec![Content::Text("o".into())],
            outcome: ToolOutcome::Unstated,
        }))
    };
    let message = |letter| match letter {
        's' => Message::new(Role::System, vec![Part::Text("s".into())]),
        'u' => Message::new(Role::User, vec![Part::Text("u".into())]),
        'a' => Message::new(Role::Assistant, vec![Part::Text("a".into())]),
        'c' => {
            let call = ToolCall {
                id: CallId::new("1"),
                name: "n".into(),
                input: Input::Json("{}".into()),
            };
            Message::new(
                Role::Assistant,
                vec![Part::Text("hm".into()), Part::Call(Box::new(call))],
            )
        }
        't' => Message::new(Role::Tool, vec![result()]),
        _ => Message::new(Role::User, vec![result()]),
    };
    letters.chars().map(message).collect()
}

fn span(letters: &str, kept: &[usize], block_at: usize) -> Span {
    Span {
        kept: kept.to_vec(),
        block_at,
        until: letters.len(),
        is_squeezed: false,
        shortened: Vec::new(),
        tail_tokens: 0,
    }
}

/// The seat of a block in a settled span, and the roles that a template then sees.
fn settled(letters: &str, kept: &[usize], block_at: usize) -> (Role, Seat, String) {
    let messages = conversation(letters);
    let span = settle(&messages, span(letters, kept, block_at), Roles::Alternating);
    let (role, seat) = seat(&messages, &span, Role::System, Roles::Alternating);
    let kept = span.kept.iter().map(|index| Cow::Borrowed(&messages[*index])).collect();
    let row = seated(kept, &span, Message::new(role, vec![Part::Text("block".into())]), seat);
    let seen = row.iter().filter_map(|message| template_role(message));
    let letter = |role| if role == Role::User { 'u' } else { 'a' };
    (role, seat, seen.map(letter).collect())
}

fn own(role: Role, seen: &str) -> (Role, Seat, String) {
    (role, Seat::Own, seen.to_owned())
}

fn into(index: usize, seen: &str) -> (Role, Seat, String) {
    (Role::User, Seat::Into(index), seen.to_owned())
}

#[test]
fn an_open_server_gets_a_message_in_the_role_it_asked_for() {
    let messages = conversation("suau");
    let kept = span("suau", &[0, 3], 1);
    assert_eq!(
        seat(&messages, &kept, Role::System, Roles::Open),
        (Role::System, Seat::Own)
    );
    let wordless = span("suau", &[0, 2], 1);
    assert_eq!(
        seat(&messages, &wordless, Role::System, Roles::Open),
        (Role::User, Seat::Own)
    );
    assert_eq!(settle(&messages, kept.clone(), Roles::Open), kept);
}

#[test]
fn a_block_takes_the_role_that_is_free() {
    // Nothing before: the user's, whatever the assistant does next.
    assert_eq!(settled("suaua", &[0, 4], 1), own(Role::User, "ua"));
    assert_eq!(settled("suctaua", &[0, 2, 3, 4, 5, 6], 1), own(Role::User, "uaua"));
    // Everything was replaced.
    assert_eq!(settled("sua", &[0], 1), own(Role::User, "u"));
    assert_eq!(settled("", &[], 0), own(Role::User, "u"));
    // Only an open step is left.
    assert_eq!(settled("suct", &[0, 2, 3], 1), own(Role::User, "u"));
}

#[test]
fn a_block_between_two_of_a_side_sits_in_the_users_message() {
    assert_eq!(settled("suauctau", &[0, 3, 4, 5, 6, 7], 1), into(3, "uau"));
    // The person's newest words, and the step after them.
    assert_eq!(settled("suauctct", &[0, 3, 6, 7], 1), into(3, "u"));
    assert_eq!(settled("uauct", &[2, 3, 4], 1), into(2, "u"));
    // Words and results in one form's messages.
    assert_eq!(settled("uaucrcr", &[2, 5, 6], 0), into(2, "u"));
}

#[test]
fn first_words_meet_the_tail_with_the_block_between_them() {
    // First words, then a tail that begins with the person: the block speaks for the assistant between them.
    assert_eq!(settled("suauauaua", &[0, 1, 7, 8], 1), own(Role::Assistant, "uaua"));
    // Then a tail that begins with the assistant: nothing meets.
    assert_eq!(settled("suauaua", &[0, 1, 6], 1), into(1, "ua"));
    // Two that meet and one block: what is kept beside the tail goes into the block.
    assert_eq!(settled("suauauaua", &[0, 1, 5, 7, 8], 1), into(7, "ua"));
}

#[test]
fn results_alone_never_carry_a_block() {
    assert_eq!(settled("ucr", &[1, 2], 0), own(Role::User, "u"));
    assert_eq!(settled("uaucr", &[3, 4], 0), own(Role::User, "u"));
    assert_eq!(settled("uaucrcra", &[5, 6, 7], 0), own(Role::User, "ua"));
}

#[test]
fn what_was_not_in_turns_comes_back_as_it_is() {
    let messages = conversation("suuaau");
    let odd = span("suuaau", &[0, 3, 4, 5], 1);
    assert_eq!(settle(&messages, odd.clone(), Roles::Alternating), odd);
}

#[test]
fn words_go_behind_results() {
    let messages = conversation("r");
    let row = seated(
        messages.into_iter().map(Cow::Owned).collect(),
        &span("r", &[0], 0),
        Message::new(Role::User, vec![Part::Text("block".into())]),
        Seat::Into(0),
    );
    assert!(matches!(row[0].parts.as_slice(), [Part::Result(_), Part::Text(_)]));
    assert_eq!(template_role(&row[0]), Some(Role::User));
}

#[test]
fn every_span_of_every_small_conversation_in_turns_stays_in_turns() {
    // Turns of one to three steps, cut at every step, with and without first and newest words.
    for shape in 0..81_usize {
        let mut letters = "s".to_owned();
        for turn in 0..4 {
            letters.push('u');
            letters.push_str(&"ct".repeat(shape / 3_usize.pow(turn) % 3));
            letters.push('a');
        }
        let messages = conversation(&letters);
        let firsts = [vec![0], vec![0, 1]];
        for (tail, first) in (2..=letters.len()).flat_map(|tail| firsts.iter().map(move |first| (tail, first))) {
            if letters[tail..].starts_with('t') {
                continue;
            }
            let newest = messages
                .iter()
                .rposition(Message::opens_turn)
                .filter(|index| *index < tail);
            let mut kept: Vec<usize> = first.clone();
            kept.extend(newest.filter(|index| *index > 1));
            kept.extend(tail..letters.len());
            let (_, _, seen) = settled(&letters, &kept, 1);
            assert!(seen.starts_with('u'), "{letters} {kept:?}: {seen}");
            assert!(
                !seen.contains("uu") && !seen.contains("aa"),
                "{letters} {kept:?}: {seen}"
            );
        }
    }
}
