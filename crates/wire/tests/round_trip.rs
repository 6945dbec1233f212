//! What is read and written comes back byte for byte, and what is rendered means the same.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;

use mainstay_wire::document::Document;
use mainstay_wire::document::render;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::reading::WireForm;
use mainstay_wire::source::Source;
use proptest::prelude::*;

fn read_as(name: &str, body: &str) -> Document {
    let source = Source::memory("test", body.as_bytes().to_vec());
    let format = format::by_name(name).unwrap();
    format::read(&source, Some(format), &Request::default()).unwrap_or_else(|error| panic!("{error}: {body}"))
}

fn assert_comes_back(name: &str, body: &str) {
    assert_eq!(read_as(name, body).write(), body, "as {name}");
}

const CHAT: &str = include_str!("data/chat.json");
const ANTHROPIC: &str = include_str!("data/anthropic.json");
const RESPONSES: &str = include_str!("data/responses.json");

#[test]
fn golden_bodies_are_detected_and_come_back() {
    for (name, body) in [
        ("openai-chat", CHAT),
        ("anthropic", ANTHROPIC),
        ("openai-responses", RESPONSES),
    ] {
        let source = Source::memory("golden", body.as_bytes().to_vec());
        assert_eq!(format::detect(&source).unwrap().name, name);
        assert_comes_back(name, body);
        assert_comes_back(name, &format!("\u{feff}{body}"));
        assert_comes_back(name, &body.replace('\n', "\r\n"));
    }
}

#[test]
fn golden_bodies_are_understood() {
    let chat = read_as("openai-chat", CHAT);
    let anthropic = read_as("anthropic", ANTHROPIC);
    let responses = read_as("openai-responses", RESPONSES);
    for (document, messages, pairs) in [(&chat, 8, 2), (&anthropic, 7, 2), (&responses, 10, 2)] {
        assert!(document.findings.is_empty(), "{:?}", document.findings);
        assert_eq!(
            document.transcript.messages().len(),
            messages,
            "{}",
            document.format.name
        );
        assert_eq!(document.transcript.pairs().len(), pairs, "{}", document.format.name);
        assert!(document.transcript.pairs().iter().all(|pair| pair.result.is_some()));
        assert!(document.about.tools.is_some() && document.about.model.is_some());
    }
}

/// Rendering from the transcript alone gives a body with the same meaning.
#[test]
fn rendered_messages_read_back_the_same() {
    for (name, form, key, body) in [
        ("openai-chat", WireForm::Chat, "messages", CHAT),
        ("anthropic", WireForm::Anthropic, "messages", ANTHROPIC),
        ("openai-responses", WireForm::Responses, "input", RESPONSES),
    ] {
        let document = read_as(name, body);
        let in_list = document
            .transcript
            .messages()
            .iter()
            .filter(|message| message.place != mainstay_engine::transcript::Place::Whole);
        let originals: Vec<_> = in_list.cloned().collect();
        let rendered: Vec<_> = originals
            .iter()
            .map(|message| render(form, message))
            .filter(|text| !text.is_empty())
            .collect();
        let again = read_as(name, &format!("{{\"{key}\":[{}]}}", rendered.join(",")));
        let mut expected = originals;
        let mut found = again.transcript.messages().to_vec();
        for message in expected.iter_mut().chain(&mut found) {
            message.place = mainstay_engine::transcript::Place::Whole;
            // Neither a readable reasoning summary nor a tool's name is part of what is sent.
            for part in &mut message.parts {
                if let mainstay_engine::transcript::Part::Result(result) = part {
                    result.name = None;
                    result.outcome = mainstay_engine::transcript::ToolOutcome::Unstated;
                }
            }
        }
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn every_message_of_every_recorded_trajectory_comes_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/trajectories");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no trajectories at {}", folder.display());
        return;
    };
    let (mut conversations, mut messages) = (0, 0);
    for file in files.flatten() {
        for line in std::fs::read_to_string(file.path()).unwrap().lines() {
            let document = read_as("openai-chat", line);
            assert_eq!(document.write(), line);
            conversations += 1;
            for index in 0..document.transcript.messages().len() {
                let Some(verbatim) = document.verbatim(index) else {
                    continue;
                };
                let alone = format!("[{verbatim}]");
                assert_comes_back("openai-chat", &alone);
                messages += 1;
            }
        }
    }
    assert!(
        conversations > 200 && messages > 15_000,
        "{conversations} conversations, {messages} messages"
    );
}

/// White space as no serializer would put it.
fn space() -> BoxedStrategy<String> {
    "[ \\t\\n\\r]{0,2}".boxed()
}

/// A JSON string in many spellings: escapes of every sort, halves of surrogate pairs, raw text.
fn string() -> BoxedStrategy<String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 .,<>|/-]{0,8}".prop_map(|text| text),
        1 => "[а-яё日本😀é]{0,4}".prop_map(|text| text),
        1 => prop::sample::select(vec![r"\n", r"\t", r"\/", r"\\", r#"\""#, r"\u0000", r"\u00e9", r"\ud83d\ude00", r"\ud800", r"\uDC00", r"\b\f\r"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6)
        .prop_map(|pieces| format!("\"{}\"", pieces.concat()))
        .boxed()
}

/// Any JSON value, with numbers that a parser would respell.
fn value() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        string(),
        prop::sample::select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1.10",
            "1e400",
            "-1E+2",
            "123456789012345678901234567890",
            "0.1000"
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" ,"))),
            prop::collection::vec((string(), inner), 0..4).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(key, value)| format!("{key} :{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
    .boxed()
}

fn object(fields: Vec<(String, String)>, gap: &str) -> String {
    let members: Vec<_> = fields
        .iter()
        .map(|(key, value)| format!("{gap}\"{key}\"{gap}:{gap}{value}{gap}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A message with known fields in any order, among unknown and repeated ones.
fn message() -> impl Strategy<Value = String> {
    let role = prop::sample::select(vec!["user", "assistant", "system", "tool", "developer", "narrator"]);
    let kind = prop::sample::select(vec![
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "image",
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        "hologram",
    ]);
    let block = (kind, string(), string(), value()).prop_map(|(kind, text, id, extra)| {
        format!(
            "{{\"type\":\"{kind}\",\"text\":{text},\"id\":{id},\"tool_use_id\":{id},\"call_id\":{id},\"name\":\"n\",\"input\":{extra},\"x\":{extra}}}"
        )
    });
    let block = block.boxed();
    let content = prop_oneof![
        string(),
        value(),
        prop::collection::vec(block.clone(), 0..4).prop_map(|blocks| format!("[{}]", blocks.join(",")))
    ];
    let call = (string(), value()).prop_map(|(id, arguments)| {
        format!("{{\"id\":{id},\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":{arguments}}}}}")
    });
    let calls = prop::collection::vec(call, 0..3).prop_map(|calls| format!("[{}]", calls.join(",")));
    let fields =
        (role, content, calls, string(), value(), block).prop_map(|(role, content, calls, id, extra, item)| {
            vec![
                ("role".to_owned(), format!("\"{role}\"")),
                ("content".to_owned(), content),
                ("tool_calls".to_owned(), calls),
                ("tool_call_id".to_owned(), id),
                ("x_unknown".to_owned(), extra.clone()),
                ("x_unknown".to_owned(), extra),
                ("type".to_owned(), "\"message\"".to_owned()),
                ("item".to_owned(), item),
            ]
        });
    (fields, 1_usize..8, space())
        .prop_flat_map(|(fields, count, gap)| (Just(fields).prop_shuffle(), Just(count), Just(gap)))
        .prop_map(|(fields, count, gap): (Vec<(String, String)>, usize, String)| {
            object(fields.into_iter().take(count).collect(), &gap)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000 / 3))]

    #[test]
    fn any_body_comes_back(
        elements in prop::collection::vec(prop_oneof![9 => message(), 1 => value()], 0..5),
        before in value(),
        after in value(),
        gap in space(),
        bare in any::<bool>(),
    ) {
        for (name, key) in [("openai-chat", "messages"), ("anthropic", "messages"), ("openai-responses", "input")] {
            let list = format!("[{gap}{}{gap}]", elements.join(&format!("{gap},{gap}")));
            let body = if bare {
                list
            } else {
                format!("{gap}{{{gap}\"before\":{before},\"{key}\":{list},{gap}\"after\" :{after}}}{gap}")
            };
            let document = read_as(name, &body);
            prop_assert_eq!(document.write(), body);
            let found = document.recorded.messages as usize;
            prop_assert_eq!(found, elements.len());
        }
    }
}
