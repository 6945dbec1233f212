//! What a full pass keeps: the newest words and step always, shortened where they would fill the room.

use super::*;
use crate::account::Family;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Draft;
use crate::transcript::Input;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

fn said(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn call(id: u32, words: usize) -> Message {
    let call = ToolCall {
        id: CallId::new(format!("c{id}")),
        name: "Write".into(),
        input: Input::Json(format!("{{\"content\":\"{}\"}}", "word ".repeat(words)).into()),
    };
    Message::new(Role::Assistant, vec![Part::Call(Box::new(call))])
}

fn result(id: u32, words: usize) -> Message {
    let result = ToolResult {
        id: CallId::new(format!("c{id}")),
        name: None,
        content: vec![Content::Text("word ".repeat(words).into())],
        outcome: ToolOutcome::Unstated,
    };
    Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
}

fn transcript(messages: Vec<Message>) -> Transcript {
    let draft = Draft {
        messages,
        ..Draft::default()
    };
    draft.assemble().transcript
}

/// Ten small steps, then one of a given size.
fn history(newest: usize) -> Transcript {
    let mut messages = vec![
        said(Role::System, "You are an agent."),
        said(Role::User, "Fix the login."),
    ];
    for id in 0..10 {
        messages.extend([call(id, 20), result(id, 100)]);
    }
    messages.push(said(Role::User, "Now run all of the tests."));
    messages.extend([call(10, 20), result(10, newest)]);
    transcript(messages)
}

fn room(tokens: u64) -> Room {
    Room {
        tokens,
        tail: tokens / 5,
        newest: 0,
        least_tail: tokens / 4,
        tail_messages: 0,
        earlier_block: None,
        first_words_hold: false,
        may_squeeze: true,
    }
}

fn chosen(transcript: &Transcript, room: Room) -> (Option<Span>, Tally) {
    let mut tally = Tally::new(Family::O200k);
    tally.extend(transcript.messages());
    (span(transcript, &tally, room), tally)
}

/// What the kept messages cost, the shortened parts at what they may.
fn kept_tokens(span: &Span, tally: &Tally) -> u64 {
    let whole: u64 = span.kept.iter().map(|index| tally.messages()[*index].total()).sum();
    let saved: u64 = span.shortened.iter().map(|part| part.tokens - part.allowed).sum();
    whole - saved
}

#[test]
fn a_small_newest_step_stays_as_it_is() {
    let transcript = history(100);
    let (span, _) = chosen(&transcript, room(1_500));
    let span = span.expect("there is room");
    let last = transcript.messages().len() - 1;
    assert!(span.keeps(0) && span.keeps(last) && span.keeps(last - 1) && span.keeps(last - 2));
    assert!(span.shortened.is_empty() && !span.is_squeezed);
}

#[test]
fn a_huge_newest_step_is_shortened_and_stays() {
    for newest in [2_000, 20_000, 100_000] {
        let transcript = history(newest);
        let (span, tally) = chosen(&transcript, room(1_500));
        let span = span.expect("there is room");
        let last = transcript.messages().len() - 1;
        assert!(span.keeps(last) && span.keeps(last - 1), "the newest step stays");
        assert!(span.keeps(last - 2), "the newest words stay");
        assert!(span.is_squeezed);
        let [part] = &span.shortened[..] else {
            panic!("{:?}", span.shortened);
        };
        assert_eq!(part.spot.message as usize, last);
        assert!(
            part.allowed >= LEAST_SHORTENED && part.allowed < part.tokens,
            "{part:?}"
        );
        assert!(kept_tokens(&span, &tally) <= 1_500 / 2, "the block needs the rest");
    }
}

#[test]
fn small_parts_of_a_step_stay_whole_beside_a_large_one() {
    let mut messages = vec![said(Role::User, "Read both.")];
    let calls = [call(1, 3), call(2, 3), call(3, 3)].map(|message| message.parts);
    messages.push(Message::new(Role::Assistant, calls.concat()));
    messages.extend([result(1, 4_000), result(2, 100), result(3, 1_000)]);
    let (span, tally) = chosen(&transcript(messages), room(2_000));
    let span = span.expect("there is room");
    let [large, middling] = &span.shortened[..] else {
        panic!("{:?}", span.shortened);
    };
    assert_eq!((large.spot.message, middling.spot.message), (2, 4));
    assert_eq!(large.allowed, middling.allowed, "what is left is shared");
    assert!(kept_tokens(&span, &tally) <= 1_000);
}

#[test]
fn the_answer_that_ends_a_conversation_stays_behind_its_question() {
    let answer = |words: usize| {
        let mut messages = history(100).messages().to_vec();
        messages.push(said(Role::Assistant, &"word ".repeat(words)));
        transcript(messages)
    };
    let short = answer(200);
    let (span, _) = chosen(&short, room(1_500));
    assert!(span.expect("there is room").keeps(short.messages().len() - 1));
    let long = answer(2_000);
    let (span, _) = chosen(&long, room(1_500));
    assert!(
        !span.expect("there is room").keeps(long.messages().len() - 1),
        "the block quotes the best of it"
    );
}

#[test]
fn calls_that_wait_are_not_shortened() {
    let mut messages = vec![said(Role::User, "Write it.")];
    messages.extend([call(1, 20), result(1, 20), call(2, 600)]);
    let transcript = transcript(messages);
    assert!(transcript.has_open_calls());
    let (span, _) = chosen(&transcript, room(1_000));
    let span = span.expect("there is room");
    assert!(span.shortened.is_empty(), "{:?}", span.shortened);
    assert!(span.keeps(3), "its result will come");
}

#[test]
fn a_step_of_words_that_fills_the_room_goes_to_the_block() {
    let long = "word ".repeat(5_000);
    let transcript = transcript(vec![
        said(Role::User, "Fix the login."),
        said(Role::Assistant, "Done."),
        said(Role::User, &long),
    ]);
    let (span, _) = chosen(&transcript, room(1_000));
    let span = span.expect("a target was asked for");
    assert!(!span.keeps(2) && span.is_squeezed && span.shortened.is_empty());
}

#[test]
fn results_have_their_calls_whatever_the_room() {
    for newest in [10, 500, 5_000] {
        let transcript = history(newest);
        for tokens in [50, 200, 500, 1_000, 2_000, 5_000] {
            let (Some(span), _) = chosen(&transcript, room(tokens)) else {
                continue;
            };
            for pair in transcript.pairs() {
                let result = pair.result.expect("every call was answered");
                assert_eq!(
                    span.keeps(pair.call.message as usize),
                    span.keeps(result.message as usize),
                    "{newest} in {tokens}"
                );
            }
            for part in &span.shortened {
                assert!(span.keeps(part.spot.message as usize));
            }
        }
    }
}

#[test]
fn without_a_target_nothing_is_given_to_the_block() {
    let transcript = history(100);
    let asked = Room {
        may_squeeze: false,
        ..room(100)
    };
    let (span, _) = chosen(&transcript, asked);
    assert!(span.is_none_or(|span| span.keeps(transcript.messages().len() - 1)));
}
