//! Nothing is larger, longer or slower than the operator allows, and nobody pays for somebody else who tries.

use std::io::Read;
use std::io::Write;
use std::time::Duration;

use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::Stage;
use crate::stage::post;
use crate::stage::rest;
use crate::stage::serving;
use crate::stage::status;
use crate::stage::until;

#[test]
fn heads_have_their_limits() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let stage = Stage::new(&upstream.url());
    let get = |headers: String| {
        status(&stage.ask(format!(
            "GET /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        )))
    };
    assert_eq!(get(format!("x-large: {}\r\n", "x".repeat(50 << 10))), 200);
    assert_eq!(get(format!("x-large: {}\r\n", "x".repeat(64 << 10))), 431);
    assert_eq!(
        get((0..1_000)
            .map(|at| format!("x-{at}: {}\r\n", "x".repeat(100)))
            .collect()),
        431
    );
    assert_eq!(get((0..98).map(|at| format!("x-{at}: y\r\n")).collect()), 200);
    assert_eq!(get((0..99).map(|at| format!("x-{at}: y\r\n")).collect()), 431);
    assert_eq!(upstream.received().len(), 2);
}

#[test]
fn bodies_are_refused_before_they_are_taken_in() {
    // This server does not read bodies in chunks: it would answer before the limit is passed.
    let upstream = Server::with(|received| match received.header("transfer-encoding") {
        Some(_) => Script::silent(),
        None => Script::json("{}"),
    });
    let mut serving = serving(&upstream.url());
    serving.limits.body = 100_000;
    let stage = Stage::with(serving);
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/files"] {
        // The length alone is enough; nothing of the body has to come.
        let mut stream = stage.connect();
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!(status(&rest(&mut stream)), 413, "{path}");
        // Chunks say nothing beforehand: refused when the limit is passed, and the client gets to know.
        let mut stream = stage.connect();
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
        for _ in 0..1_000 {
            if stream.write_all(chunk.as_bytes()).is_err() {
                break;
            }
        }
        assert_eq!(status(&rest(&mut stream)), 413, "{path}");
        let fits = post(path, "", &"x".repeat(100_000));
        assert_eq!(status(&stage.ask(fits)), 200, "{path}");
    }
}

#[test]
fn all_bodies_together_have_a_limit_that_is_given_back() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let mut serving = serving(&upstream.url());
    serving.limits.bodies = 64 << 10;
    let stage = Stage::with(serving);
    for _ in 0..10 {
        assert_eq!(status(&stage.ask(post("/v1/messages", "", &"x".repeat(50_000)))), 200);
    }
    let answer = stage.ask(post("/v1/messages", "", &"x".repeat(70_000)));
    assert_eq!(status(&answer), 503);
    assert!(answer.contains("retry-after: 1"), "{answer}");
}

#[test]
fn more_requests_than_allowed_are_told_to_come_again() {
    let upstream = Server::start(vec![Script::silent(), Script::silent(), Script::json("{}")]);
    let mut serving = serving(&upstream.url());
    serving.limits.requests = 2;
    let stage = Stage::with(serving);
    let mut waiting: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = stage.connect();
            stream
                .write_all(post("/v1/chat/completions", "", CHAT).as_bytes())
                .unwrap();
            stream
        })
        .collect();
    until("both are under way", || upstream.under_way() == 2);
    let answer = stage.ask(post("/v1/chat/completions", "", CHAT));
    assert_eq!(status(&answer), 503);
    assert!(answer.contains("retry-after: 1"), "{answer}");
    assert_eq!(status(&stage.page("/mainstay/health")), 200);
    waiting.clear();
    until("their places are free again", || {
        status(&stage.ask(post("/v1/chat/completions", "", CHAT))) == 200
    });
}

#[test]
fn slow_clients_are_left_and_hold_up_nobody() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let mut serving = serving(&upstream.url());
    serving.limits.head_wait = Duration::from_millis(200);
    serving.limits.body_wait = Duration::from_millis(200);
    let stage = Stage::with(serving);
    let begin = |bytes: &str| {
        let mut stream = stage.connect();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream
    };
    let mut slow: Vec<_> = (0..150)
        .flat_map(|_| {
            [
                begin(""),
                begin("GET /v1/x HTTP/1.1\r\nHost: local"),
                begin("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"),
                begin("POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"),
            ]
        })
        .collect();
    assert_eq!(status(&stage.page("/v1/models")), 200);
    for (at, stream) in slow.iter_mut().enumerate() {
        let answer = rest(stream);
        match at % 4 {
            // A body of which nothing more comes is answered; half a head is not.
            2 | 3 => assert_eq!(status(&answer), 408, "{at}: {answer}"),
            _ => assert!(answer.is_empty() || status(&answer) == 408, "{at}: {answer}"),
        }
    }
    until("nobody is left", || stage.figure("mainstay_connections") == 1.0);
    assert_eq!(stage.figure("mainstay_requests_under_way"), 1.0);
}

#[test]
fn a_client_that_reads_nothing_is_left_after_a_while() {
    let event = format!("data: {}\n\n", "x".repeat(100_000));
    let events: Vec<&str> = std::iter::repeat_n(event.as_str(), 400).collect();
    let upstream = Server::start(vec![Script::stream(&events)]);
    let mut serving = serving(&upstream.url());
    serving.limits.stall = Duration::from_millis(200);
    let stage = Stage::with(serving);
    let mut stream = stage.connect();
    stream
        .write_all(post("/v1/chat/completions", "", CHAT).as_bytes())
        .unwrap();
    // Forty megabytes fit into no socket's memory.
    until("the upstream was let go", || {
        upstream.received().len() == 1 && stage.figure("mainstay_endings_total{kind=\"client-gone\"}") == 1.0
    });
    let mut first = [0; 16];
    stream.read_exact(&mut first).unwrap();
    assert!(first.starts_with(b"HTTP/1.1 200"));
}
