//! Where the provider finds a prompt too long or malformed, the keeper is asked once, and what it says is sent once.

use std::sync::Arc;
use std::sync::Mutex;

use bytes::Bytes;
use mainstay_llm::answer::Usage;
use mainstay_proxy::session::IncomingRequest;
use mainstay_proxy::session::OutgoingRequest;
use mainstay_proxy::session::RequestAction;
use mainstay_proxy::session::RequestNote;
use mainstay_proxy::session::RequestTicket;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::session::fail_open::SessionBackend;
use mainstay_proxy::session::fallback_slot::FallbackSlot;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::Stage;
use crate::stage::post;
use crate::stage::serving;
use crate::stage::status;

/// Knows a way around everything, or around nothing.
struct Knowing {
    keeper: SessionCompactor,
    knows: bool,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Knowing {
    fn way(&self, ticket: &RequestTicket, kind: &str, words: &str) -> Option<OutgoingRequest> {
        self.asked.lock().unwrap().push(format!("{kind}: {words}"));
        self.knows.then(|| OutgoingRequest {
            body: Bytes::from_static(b"{\"shorter\":true}"),
            extra_header: None,
            note: RequestNote {
                deed: RequestAction::Compacted,
                ..RequestNote::default()
            },
            ticket: Some(ticket.clone()),
        })
    }
}

impl SessionBackend for Knowing {
    fn prepare(&self, incoming: IncomingRequest, slot: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
        self.keeper.prepare(incoming, slot)
    }

    fn after_overflow(
        &self,
        ticket: &RequestTicket,
        words: &str,
        _: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest> {
        self.way(ticket, "overflow", words)
    }

    fn after_complaint(&self, ticket: &RequestTicket, words: &str) -> Option<OutgoingRequest> {
        self.way(ticket, "malformed", words)
    }

    fn answered(&self, _: RequestTicket, _: Option<Usage>) {}
}

const LONG: &str = r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum","type":"invalid_request_error"}}"#;
const ODD: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_1."}}"#;
const FAILED: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n\
    event: response.in_progress\ndata: {\"type\":\"response.in_progress\"}\n\n\
    event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\
    \"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";

fn stage(upstream: &Server, knows: bool) -> (Stage, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let stage = Stage::advised(serving(&upstream.url()), |keeper| {
        Arc::new(Knowing { keeper, knows, asked })
    });
    (stage, kept)
}

fn packed(body: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, body.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_way_around_is_taken_once() {
    for (first, kind, path) in [
        (Script::status(400, LONG), "overflow", "/v1/chat/completions"),
        (Script::status(413, "too large"), "overflow", "/v1/messages"),
        (Script::status(400, ODD), "malformed", "/v1/messages"),
        (Script::stream(&[FAILED]), "overflow", "/v1/responses"),
    ] {
        let upstream = Server::start(vec![first.clone(), Script::reply("hi"), first]);
        let (stage, asked) = stage(&upstream, true);
        let answer = stage.ask(post(path, "Authorization: Bearer k\r\n", CHAT));
        assert_eq!(status(&answer), 200, "{answer}");
        assert!(answer.contains("x-mainstay-deed: compacted"), "{answer}");
        assert!(
            !answer.contains("too long") && !answer.contains("response.failed"),
            "{answer}"
        );
        let received = upstream.received();
        assert_eq!(received.len(), 2);
        assert_eq!(
            (received[0].body.as_str(), received[1].body.as_str()),
            (CHAT, "{\"shorter\":true}")
        );
        assert_eq!(received[1].header("authorization"), Some("Bearer k"));
        assert_eq!(asked.lock().unwrap().len(), 1);
        assert!(asked.lock().unwrap()[0].starts_with(kind), "{asked:?}");
        assert_eq!(stage.figure(&format!("mainstay_retries_total{{kind=\"{kind}\"}}")), 1.0);
        // The second complaint is the client's: from here on the upstream says nothing else.
        let answer = stage.ask(post(path, "", CHAT));
        assert_eq!(upstream.received().len(), 4);
        assert_eq!(asked.lock().unwrap().len(), 2);
        assert!(status(&answer) >= 400 || answer.contains("response.failed"), "{answer}");
    }
}

#[test]
fn without_a_way_around_the_very_bytes_come_back() {
    for (script, path, body) in [
        (Script::status(400, LONG), "/v1/chat/completions", LONG),
        (Script::status(400, ODD), "/v1/messages", ODD),
        (Script::status(400, ""), "/v1/messages", ""),
        (Script::status(500, ODD), "/v1/messages", ODD),
    ] {
        let upstream = Server::start(vec![script]);
        let (stage, asked) = stage(&upstream, false);
        let answer = stage.ask(post(path, "", CHAT));
        assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{answer}");
        assert_eq!((upstream.received().len(), asked.lock().unwrap().len()), (1, 1));
    }
    let upstream = Server::start(vec![Script::stream(&[FAILED])]);
    let (stage, _) = stage(&upstream, false);
    let answer = stage.ask(post("/v1/responses", "", CHAT));
    assert_eq!(status(&answer), 200);
    let held: String = answer.split("\r\n").filter(|line| line.contains(':')).collect();
    assert!(
        held.contains("response.created") && held.contains("response.failed"),
        "{answer}"
    );
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[test]
fn packed_errors_are_read_and_come_back_packed() {
    let body = packed(LONG);
    let sent = body.clone();
    let upstream = crate::stage::Upstreamed::start(move |mut stream, _| {
        let head = format!(
            "HTTP/1.1 400 Bad\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            sent.len()
        );
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        std::io::Write::write_all(&mut stream, &sent).unwrap();
    });
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    let stage = Stage::advised(serving(&upstream.url()), |keeper| {
        Arc::new(Knowing {
            keeper,
            knows: false,
            asked,
        })
    });
    let mut stream = stage.connect();
    std::io::Write::write_all(&mut stream, post("/v1/messages", "", CHAT).as_bytes()).unwrap();
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut answer).unwrap();
    assert!(answer.ends_with(&body));
    assert_eq!(kept.lock().unwrap().len(), 1);
}

#[test]
fn other_errors_and_other_streams_are_nobody_s_business() {
    let early = FAILED
        .replace("context_length_exceeded", "server_error")
        .replace("exceeds the context window", "is fine");
    let late = format!("data: {{\"type\":\"response.output_text.delta\"}}\n\n{FAILED}");
    for (script, path) in [
        (Script::status(429, LONG), "/v1/chat/completions"),
        (Script::status(401, LONG), "/v1/chat/completions"),
        (
            Script::status(400, "{\"error\":{\"message\":\"no such field\"}}"),
            "/v1/messages",
        ),
        (Script::stream(&[&early]), "/v1/responses"),
        (Script::stream(&[&late]), "/v1/responses"),
        (Script::status(400, LONG), "/v1/other"),
    ] {
        let upstream = Server::start(vec![script]);
        let (stage, asked) = stage(&upstream, true);
        stage.ask(post(path, "", CHAT));
        assert_eq!(
            (upstream.received().len(), asked.lock().unwrap().len()),
            (1, 0),
            "{path}"
        );
    }
}
