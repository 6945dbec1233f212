//! Blocks inside of messages: every byte that was there stays, and the person stays the author.

#![allow(clippy::unwrap_used)]

use mainstay_engine::decide::Span;
use mainstay_engine::decide::marker::LEDGER_NATURE;
use mainstay_engine::decide::marker::LEDGER_TITLE;
use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Message;

use super::*;
use crate::format;
use crate::reading::Request;
use crate::source::Source;

fn read(name: &str, body: &str) -> Document {
    let source = Source::memory("test", body.as_bytes().to_vec());
    format::read(&source, Some(format::by_name(name).unwrap()), &Request::default()).unwrap()
}

fn words() -> String {
    format!("{LEDGER_TITLE} 01234567 {LEDGER_NATURE}\n## Goals\n- \"x\"\n/01234567")
}

/// A block that stands for the messages that are not kept.
fn block(kept: Vec<usize>, until: usize, seat: Seat) -> Block {
    Block {
        message: Message {
            author: Author::Summary,
            ..Message::new(Role::User, vec![Part::Text(words().into())])
        },
        span: Span {
            kept,
            block_at: 0,
            until,
            is_squeezed: false,
            shortened: Vec::new(),
            tail_tokens: 0,
        },
        seat,
        carried: Vec::new(),
    }
}

fn seat_in(form: WireForm, element: &str) -> String {
    with_words(form, element, &["W"]).unwrap()
}

#[test]
fn only_the_words_are_new() {
    for (form, before, after) in [
        (
            WireForm::Chat,
            r#"{ "role":"user", "content" : "a\u0062\ud800" ,"x":1.0}"#,
            r#"{ "role":"user", "content" : [{"type":"text","text":"W"},{"type":"text","text":"a\u0062\ud800"}] ,"x":1.0}"#,
        ),
        (
            WireForm::Chat,
            r#"{"content":[ {"type":"image_url","image_url":{"url":"u"}} ],"role":"user"}"#,
            r#"{"content":[ {"type":"text","text":"W"},{"type":"image_url","image_url":{"url":"u"}} ],"role":"user"}"#,
        ),
        (
            WireForm::Chat,
            r#"{"role":"user","content":""}"#,
            r#"{"role":"user","content":[{"type":"text","text":"W"}]}"#,
        ),
        (
            WireForm::Anthropic,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"o"} , {"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"o"} , {"type":"text","text":"W"},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
        ),
        (
            WireForm::Anthropic,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"o"} ]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"o"},{"type":"text","text":"W"} ]}"#,
        ),
        (
            WireForm::Anthropic,
            r#"{"role":"user","content":[]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"W"}]}"#,
        ),
        (
            WireForm::Responses,
            r#"{"role":"user","content":"a"}"#,
            r#"{"role":"user","content":[{"type":"input_text","text":"W"},{"type":"input_text","text":"a"}]}"#,
        ),
        (
            WireForm::Responses,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}],"id":"i"}"#,
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"W"},{"type":"input_text","text":"a"}],"id":"i"}"#,
        ),
    ] {
        assert_eq!(seat_in(form, before), after);
    }
    for shapeless in [r#"{"role":"user"}"#, r#"{"role":"user","content":null}"#, "{},{}", ""] {
        assert_eq!(with_words(WireForm::Chat, shapeless, &["W"]), None, "{shapeless}");
    }
}

const BODIES: [(&str, &str); 3] = [
    (
        "openai-chat",
        r#"{"model":"m","messages":[{"role":"user","content":"old"},{"role":"assistant","content":"done"}, {"role":"user","content":"go on","y":2.50},{"role":"assistant","content":"yes"}]}"#,
    ),
    (
        "openai-responses",
        r#"{"model":"m","input":[{"role":"user","content":"old"},{"role":"assistant","content":"done"}, {"role":"user","content":"go on","y":2.50},{"role":"assistant","content":"yes"}]}"#,
    ),
    (
        "anthropic",
        r#"{"model":"m","messages":[{"role":"user","content":"old"},{"role":"assistant","content":"done"}, {"role":"user","content":"go on","y":2.50},{"role":"assistant","content":"yes"}]}"#,
    ),
];

#[test]
fn the_person_stays_the_author_of_the_message_a_block_sits_in() {
    for (name, body) in BODIES {
        let document = read(name, body);
        let block = block(vec![2, 3], 4, Seat::Into(2));
        let written = document.compacted_chunks(&BTreeMap::new(), Some(&block)).concat();
        assert!(written.contains("\"text\":\"go on\"") && written.contains(",\"y\":2.50"));
        let again = read(name, &written);
        let messages = again.transcript.messages();
        assert_eq!(messages.len(), 2, "{name}");
        assert_eq!(
            messages[0].author,
            Author::User,
            "{name}: one part by the person makes it theirs"
        );
        assert!(messages[0].opens_turn());
        let said: Vec<_> = messages[0].parts.clone();
        assert_eq!(said, [Part::Text(words().into()), Part::Text("go on".into())]);
        assert_eq!(again.verbatim(1), document.verbatim(3));
    }
}

#[test]
fn where_it_cannot_sit_it_is_a_message_of_its_own() {
    for (name, body) in BODIES {
        let document = read(name, body);
        let own = block(vec![2, 3], 4, Seat::Own);
        let expected = document.compacted_chunks(&BTreeMap::new(), Some(&own)).concat();
        // Not the user's, not kept, not there.
        for seat in [3, 0, 17] {
            let block = block(vec![2, 3], 4, Seat::Into(seat));
            let written = document.compacted_chunks(&BTreeMap::new(), Some(&block)).concat();
            assert_eq!(written, expected, "{name}, {seat}");
        }
    }
    // A system prompt in a field of its own is no element of the list; a tool's row takes no words.
    let body = r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"o"}]}"#;
    let document = read("openai-chat", body);
    let row = block(vec![1, 2], 3, Seat::Into(2));
    let written = document.compacted_chunks(&BTreeMap::new(), Some(&row)).concat();
    assert_eq!(read("openai-chat", &written).transcript.messages().len(), 3);
}

#[test]
fn changes_of_the_message_are_kept_beside_the_block() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"old"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"long","is_error":false},{"type":"text","text":"now"}]}]}"#;
    let document = read("anthropic", body);
    let spot = Spot { message: 2, part: 0 };
    let changes = BTreeMap::from([(spot, Change::Result("short".into()))]);
    let block = block(vec![1, 2], 3, Seat::Into(2));
    let written = document.compacted_chunks(&changes, Some(&block)).concat();
    assert!(written.contains(r#""content":"short","is_error":false},{"type":"text","text":"#));
    assert!(written.ends_with(r#",{"type":"text","text":"now"}]}]}"#), "{written}");
}
