//! Streams of the three forms, cut anywhere, and turns that are put back.

use std::sync::Arc;

use bytes::Bytes;
use mainstay_wire::reading::WireForm;
use serde_json::Value;

use crate::recall_tool::event_frames::EventFrames;
use crate::recall_tool::forms::loom;
use crate::recall_tool::model_turn::AnswerPart;
use crate::recall_tool::model_turn::ModelTurn;
use crate::recall_tool::recall_memory::RecallRecord;
use crate::recall_tool::recall_memory::RecallRound;
use crate::recall_tool::restore::restored;
use crate::recall_tool::stream_merge::AnswerEnd;

/// What the client sees of streams that come in pieces of this size, and the answers that they were.
fn woven(form: WireForm, streams: &[String], size: usize, closing: AnswerEnd) -> (String, Vec<ModelTurn>) {
    let mut loom = loom(form);
    let mut out = Vec::new();
    let mut turns = Vec::new();
    for (index, stream) in streams.iter().enumerate() {
        let mut frames = EventFrames::default();
        for piece in stream.as_bytes().chunks(size) {
            for frame in frames.push(piece) {
                loom.take(frame, &mut out);
            }
        }
        loom.run_out();
        if !loom.is_due() {
            continue;
        }
        turns.push(loom.turn());
        match index + 1 < streams.len() {
            true => loom.go_on(),
            false => loom.close(closing, 100, &mut out),
        }
    }
    (String::from_utf8(out.concat()).unwrap(), turns)
}

/// The same for every size of pieces.
fn woven_anyhow(form: WireForm, streams: &[String], closing: AnswerEnd) -> (String, Vec<ModelTurn>) {
    let whole = woven(form, streams, usize::MAX, closing);
    let longest = streams.iter().map(String::len).max().unwrap_or(1);
    for size in (1..64).chain([longest / 2, longest - 1]) {
        assert_eq!(woven(form, streams, size, closing), whole, "pieces of {size}");
    }
    whole
}

fn events(text: &str) -> Vec<Value> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

fn named(events: &[&str]) -> String {
    let written = events.iter().map(|data| {
        let value: Value = serde_json::from_str(data).unwrap();
        format!("event: {}\ndata: {data}\n\n", value["type"].as_str().unwrap())
    });
    written.collect()
}

fn anthropic(blocks: &[&str], stop: &str) -> String {
    let mut all =
        vec![r#"{"type":"message_start","message":{"id":"msg_1","content":[],"usage":{"input_tokens":5}}}"#.to_owned()];
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = block.split_once(' ').unwrap();
        all.push(format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{start}}}"#
        ));
        all.push(r#"{"type":"ping"}"#.to_owned());
        all.push(format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#
        ));
        all.push(format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
    }
    all.push(format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop}"}},"usage":{{"output_tokens":7}}}}"#
    ));
    all.push(r#"{"type":"message_stop"}"#.to_owned());
    named(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

const THOUGHT: &str = r#"{"type":"thinking","thinking":"","signature":""} {"type":"signature_delta","signature":"s1"}"#;
const WORDS: &str = r#"{"type":"text","text":""} {"type":"text_delta","text":"één \ud83d\ude00"}"#;
const OURS: &str = r#"{"type":"tool_use","id":"r1","name":"mainstay_recall","input":{}} {"type":"input_json_delta","partial_json":"{\"query\":\"a b\"}"}"#;
const THEIRS: &str = r#"{"type":"tool_use","id":"t1","name":"Bash","input":{}} {"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"}"#;

#[test]
fn messages_of_anthropic_go_on_in_one() {
    let streams = [
        anthropic(&[THOUGHT, WORDS, OURS], "tool_use"),
        anthropic(&[OURS, THEIRS], "tool_use"),
    ];
    let (text, turns) = woven_anyhow(WireForm::Anthropic, &streams, AnswerEnd::AsItIs);
    let events = events(&text);
    let starts: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .collect();
    let seen: Vec<_> = starts
        .iter()
        .map(|event| {
            (
                event["index"].as_u64().unwrap(),
                event["content_block"]["type"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(seen, [(0, "thinking"), (1, "text"), (2, "tool_use")]);
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!(
        (count("message_start"), count("message_delta"), count("message_stop")),
        (1, 1, 1)
    );
    assert!(!text.contains("mainstay_recall"));
    assert!(text.contains(r#""output_tokens":107"#));
    assert!(turns[0].waits && !turns[0].calls_theirs && turns[1].calls_theirs);
    assert_eq!(
        turns[0].elements[0],
        r#"{"type":"thinking","thinking":"","signature":"s1"}"#
    );
    assert_eq!(turns[0].elements[1], r#"{"type":"text","text":"één 😀"}"#);
    assert_eq!(turns[0].asked().next().unwrap().input, r#"{"query":"a b"}"#);
}

#[test]
fn a_stream_without_our_call_is_left_alone() {
    for end in ["\n", "\r\n", "\r"] {
        let stream = anthropic(&[THOUGHT, WORDS, THEIRS], "tool_use").replace('\n', end);
        let (text, turns) = woven_anyhow(WireForm::Anthropic, std::slice::from_ref(&stream), AnswerEnd::AsItIs);
        assert_eq!(text, stream);
        assert!(turns.is_empty());
    }
}

fn chat(id: u32, deltas: &[&str], finish: &str) -> String {
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"c{id}\",\"created\":{id},\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut text = chunk(r#"{"role":"assistant","content":""}"#, "null");
    for delta in deltas {
        text += &chunk(delta, "null");
    }
    text += &chunk("{}", finish);
    text += &format!(
        "data: {{\"id\":\"c{id}\",\"created\":{id},\"model\":\"m\",\"choices\":[],\"usage\":{{\"prompt_tokens\":9,\"completion_tokens\":1,\"total_tokens\":10}}}}\n\n"
    );
    text + "data: [DONE]\n\n"
}

#[test]
fn chunks_of_chat_go_on_in_one() {
    let ours = r#"{"tool_calls":[{"index":0,"id":"r1","type":"function","function":{"name":"mainstay_recall","arguments":""}}]}"#;
    let theirs = r#"{"tool_calls":[{"index":1,"id":"t1","type":"function","function":{"name":"Bash","arguments":""}},{"index":0,"function":{"arguments":"{}"}}]}"#;
    let more = r#"{"tool_calls":[{"index":1,"function":{"arguments":"{\"a\":1}"}}]}"#;
    let streams = [
        chat(1, &[r#"{"content":"één"}"#, ours], "\"tool_calls\""),
        chat(
            2,
            &[r#"{"content":"two"}"#, r#"{"content":"!"}"#, ours, theirs, more],
            "\"tool_calls\"",
        ),
    ];
    let (text, turns) = woven_anyhow(WireForm::Chat, &streams, AnswerEnd::AsItIs);
    let events = events(&text);
    assert!(events.iter().all(|event| event["id"] == "c1" && event["created"] == 1));
    let said: String = events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(said, "één\n\ntwo!");
    assert_eq!(text.matches("[DONE]").count(), 1);
    assert_eq!(text.matches("\"role\"").count(), 1);
    assert_eq!(text.matches("\"finish_reason\":\"tool_calls\"").count(), 1);
    assert!(text.contains(r#""completion_tokens":101,"total_tokens":110"#), "{text}");
    assert!(!text.contains("mainstay_recall") && !text.contains("\"index\":1"));
    assert_eq!(turns.len(), 2);
    assert!(turns[1].elements[0].contains(r#""name":"Bash","arguments":"{\"a\":1}""#));
}

fn responses(id: u32, items: &[&str], first: u32) -> String {
    let response = |status: &str, output: &str| {
        format!(
            r#"{{"id":"resp_{id}","created_at":{id},"status":"{status}","output":{output},"usage":{{"output_tokens":1,"total_tokens":3}}}}"#
        )
    };
    let mut all = vec![format!(
        r#"{{"type":"response.created","sequence_number":{first},"response":{}}}"#,
        response("in_progress", "[]")
    )];
    for (index, item) in items.iter().enumerate() {
        for kind in ["output_item.added", "output_item.done"] {
            let number = first as usize + all.len();
            all.push(format!(
                r#"{{"type":"response.{kind}","sequence_number":{number},"output_index":{index},"item":{item}}}"#
            ));
        }
    }
    let output = format!("[{}]", items.join(","));
    let number = first as usize + all.len();
    all.push(format!(
        r#"{{"type":"response.completed","sequence_number":{number},"response":{}}}"#,
        response("completed", &output)
    ));
    named(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn events_of_responses_go_on_in_one() {
    let reasoning = r#"{"id":"rs_1","type":"reasoning","encrypted_content":"e","summary":[]}"#;
    let ours = r#"{"id":"fc_1","type":"function_call","call_id":"r1","name":"mainstay_recall","arguments":"{"}"#;
    let theirs = r#"{"id":"fc_2","type":"function_call","call_id":"t1","name":"Bash","arguments":"{}"}"#;
    let streams = [responses(1, &[reasoning, ours], 0), responses(2, &[ours, theirs], 0)];
    let (text, turns) = woven_anyhow(WireForm::Responses, &streams, AnswerEnd::AsItIs);
    let events = events(&text);
    let numbers: Vec<u64> = events
        .iter()
        .map(|event| event["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..6).collect::<Vec<u64>>());
    let last = events.last().unwrap();
    assert_eq!(
        (last["response"]["id"].as_str(), &last["response"]["created_at"]),
        (Some("resp_1"), &1.into())
    );
    assert_eq!(last["response"]["output"].as_array().unwrap().len(), 2);
    assert_eq!(last["response"]["usage"]["output_tokens"], 101);
    assert_eq!(events[4]["output_index"], 1);
    assert!(!text.contains("mainstay_recall"));
    assert_eq!(
        turns[0].asked().next().unwrap().input,
        "{}",
        "what is no JSON cannot go back"
    );
    let stream = responses(1, &[reasoning, theirs], 3);
    let (text, turns) = woven_anyhow(WireForm::Responses, std::slice::from_ref(&stream), AnswerEnd::AsItIs);
    assert_eq!((text, turns.len()), (stream, 0));
}

#[test]
fn an_end_without_calls_says_something() {
    let ours = r#"{"id":"fc_1","type":"function_call","call_id":"r1","name":"mainstay_recall","arguments":"{}"}"#;
    let call = r#"{"tool_calls":[{"index":0,"id":"r1","type":"function","function":{"name":"mainstay_recall","arguments":"{}"}}]}"#;
    for (form, stream) in [
        (WireForm::Anthropic, anthropic(&[THOUGHT, OURS], "tool_use")),
        (WireForm::Chat, chat(1, &[call], "\"tool_calls\"")),
        (WireForm::Responses, responses(1, &[ours], 0)),
    ] {
        let (text, _) = woven_anyhow(form, &[stream], AnswerEnd::WithoutCalls);
        assert!(
            text.contains("said nothing else") && !text.contains("mainstay_recall"),
            "{text}"
        );
        assert!(
            !text.contains("\"tool_use\"") && !text.contains("\"tool_calls\""),
            "{text}"
        );
    }
}

#[test]
fn garbage_passes_as_it_is() {
    let text = "data: {\n\ndata: 7\n\nevent: x\n\n:c\n\ndata: {\"index\":9}\n\ndata: {\"choices\":[7]}\n\ndata: \u{0}";
    for form in [WireForm::Anthropic, WireForm::Chat, WireForm::Responses] {
        let mut loom = loom(form);
        let mut frames = EventFrames::default();
        let mut out = Vec::new();
        for frame in frames.push(text.as_bytes()) {
            loom.take(frame, &mut out);
        }
        loom.take(frames.rest(), &mut out);
        loom.run_out();
        assert!(!loom.is_due());
        assert_eq!(String::from_utf8(out.concat()).unwrap(), text, "{form:?}");
    }
}

/// A turn of two answers: one that the client does not know of, and one in which ours stands before its own call.
fn record() -> RecallRecord {
    let form = WireForm::Anthropic;
    let streams = [
        anthropic(&[THOUGHT, OURS], "tool_use"),
        anthropic(&[WORDS, OURS, THEIRS], "tool_use"),
    ];
    let (_, turns) = woven(form, &streams, 7, AnswerEnd::AsItIs);
    let result = |turn: &ModelTurn| {
        turn.asked()
            .map(|asked| asked.result(form, "found"))
            .collect::<Vec<_>>()
    };
    RecallRecord {
        rounds: vec![RecallRound {
            shown: turns[0].shown(),
            asked: turns[0].asked().cloned().collect(),
            results: result(&turns[0]),
        }],
        results: result(&turns[1]),
        last: turns[1].seats.clone(),
        is_thin: false,
    }
}

#[test]
fn a_turn_becomes_what_it_was() {
    let record = Arc::new(record());
    assert!(record.last.iter().any(|seat| matches!(seat, AnswerPart::Ours(_))));
    let thought = r#"{"type":"thinking","thinking":"","signature":"s1"}"#;
    let words = r#"{"type":"text","text":"één 😀","cache_control":{}}"#;
    let call = r#"{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}"#;
    let ours = r#"{"type":"tool_use","id":"r1","name":"mainstay_recall","input":{"query":"a b"}}"#;
    let found = r#"{"type":"tool_result","tool_use_id":"r1","content":"found"}"#;
    let answer = r#"{"type":"tool_result","tool_use_id":"t1","content":"x"}"#;
    let put = |blocks: &[&str], after: &str| {
        let content = blocks.join(",");
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":"q"}},{{"role":"assistant","content":[{content}]}}{after}],"x":1}}"#
        );
        let (restored, used) = restored(
            WireForm::Anthropic,
            &Bytes::from(body.clone()),
            std::slice::from_ref(&record),
        );
        let restored = String::from_utf8(restored.to_vec()).unwrap();
        assert_eq!(restored != body, used.len() == 1);
        (used.len() == 1).then_some(restored)
    };
    let after = format!(r#",{{"role":"user","content":[{answer}]}}"#);
    let whole = put(&[thought, words, call], &after).unwrap();
    let expected = format!(
        r#"{{"messages":[{{"role":"user","content":"q"}},{{"role":"assistant","content":[{thought},{ours}]}},{{"role":"user","content":[{found}]}},{{"role":"assistant","content":[{words},{ours},{call}]}},{{"role":"user","content":[{found},{answer}]}}],"x":1}}"#
    );
    assert_eq!(whole, expected);
    let bare = put(&[call], &after).unwrap();
    assert!(
        bare.contains(&format!(r#"{{"role":"assistant","content":[{ours}]}}"#)),
        "thinking was left out: {bare}"
    );
    assert_eq!(put(&[thought, words, call], ""), None, "nothing answers the call yet");
    assert_eq!(put(&[thought, words], &after), None, "another turn");
    let twice = format!(r#"{after},{{"role":"assistant","content":[{call}]}}{after}"#);
    assert_eq!(put(&[thought, words, call], &twice), None, "two turns have that id");
    assert_eq!(put(&[thought, words, call], r#",{"role":"user","content":"no"}"#), None);
}
