//! Figures are found in every form and delivery, whatever the pieces, and nothing large is held.

use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderValue;

use super::*;

const CHAT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hé\"}}],\"usage\":null}\n\n: ping\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":40}}}\n\n\
    data: [DONE]\n\n";
const ANTHROPIC: &str = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\
    \"cache_read_input_tokens\":40,\"output_tokens\":1}}}\r\n\r\nevent: message_delta\r\ndata: {\"type\":\"message_delta\",\
    \"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\r\n\r\n";
const RESPONSES: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"usage\":null}}\n\n\
    event: response.completed\ndata: {\"type\":\"response.completed\",\ndata: \"response\":{\"status\":\"completed\",\"output\":[],\
    \"usage\":{\"input_tokens\":50,\"output_tokens\":3,\"input_tokens_details\":{\"cached_tokens\":40}}}}\n\n";

fn headers(content_type: &'static str, coding: Option<&'static str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(coding) = coding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    headers
}

fn expected() -> Option<Usage> {
    Some(Usage {
        input: 50,
        cache_read: 40,
        cache_write: 0,
        output: 3,
    })
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn streams_in_pieces_of_any_size_give_the_same_figures() {
    for (form, text) in [
        (WireForm::Chat, CHAT),
        (WireForm::Anthropic, ANTHROPIC),
        (WireForm::Responses, RESPONSES),
    ] {
        let returns = text.replace("\r\n", "\n").replace('\n', "\r");
        let pairs = text.replace("\r\n", "\n").replace('\n', "\r\n");
        for text in [text, &returns, &pairs, text.trim_end()] {
            for (coding, bytes) in [(None, text.as_bytes().to_vec()), (Some("gzip"), packed(text))] {
                for size in (1..40).chain([bytes.len()]) {
                    let mut watch = UsageReader::new(form, &headers("text/event-stream; charset=utf-8", coding));
                    bytes.chunks(size).for_each(|piece| watch.take(piece));
                    assert_eq!(watch.finish(), expected(), "{} {coding:?} by {size}", form.name());
                }
            }
        }
    }
}

#[test]
fn whole_answers_give_theirs() {
    let text = "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":50,\
                \"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":40}}}";
    for (coding, bytes) in [(None, text.as_bytes().to_vec()), (Some("gzip"), packed(text))] {
        let mut watch = UsageReader::new(WireForm::Chat, &headers("application/json", coding));
        bytes.chunks(7).for_each(|piece| watch.take(piece));
        assert_eq!(watch.finish(), expected(), "{coding:?}");
    }
    for (content_type, coding) in [("text/html", None), ("application/json", Some("br"))] {
        let mut watch = UsageReader::new(WireForm::Chat, &headers(content_type, coding));
        watch.take(text.as_bytes());
        assert_eq!(watch.finish(), None);
    }
}

#[test]
fn what_is_too_large_is_given_up_on_and_what_follows_is_not() {
    let mut watch = UsageReader::new(WireForm::Chat, &headers("text/event-stream", None));
    watch.take(b"data: ");
    for _ in 0..3_000 {
        watch.take(&[b'x'; 1_000]);
    }
    let Packed::Plain(reading) = &watch.0 else { panic!() };
    assert!(reading.held.capacity() <= 2 * MOST_HELD, "{}", reading.held.capacity());
    watch.take(b"\n\n");
    watch.take(CHAT.as_bytes());
    assert_eq!(watch.finish(), expected());

    let mut whole = UsageReader::new(WireForm::Chat, &headers("application/json", None));
    for _ in 0..3_000 {
        whole.take(&[b' '; 1_000]);
    }
    assert_eq!(whole.finish(), None);
}

#[test]
fn a_bomb_and_a_broken_packet_are_given_up_on() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..100 {
        encoder.write_all(&[b'x'; 1 << 20]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let mut watch = UsageReader::new(WireForm::Chat, &headers("text/event-stream", Some("gzip")));
    bomb.chunks(1_000).for_each(|piece| watch.take(piece));
    assert!(matches!(watch.0, Packed::Plain(_)));
    assert_eq!(watch.finish(), None);

    let mut watch = UsageReader::new(WireForm::Chat, &headers("text/event-stream", Some("gzip")));
    watch.take(CHAT.as_bytes());
    assert_eq!(watch.finish(), None);
    let whole = packed(CHAT);
    let mut watch = UsageReader::new(WireForm::Chat, &headers("text/event-stream", Some("gzip")));
    watch.take(&whole[..whole.len() / 2]);
    let _whatever = watch.finish();
}
