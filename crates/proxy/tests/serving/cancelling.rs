//! A client that goes away takes its request to the upstream with it, at whatever moment.

use std::io::Read;
use std::io::Write;

use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::Stage;
use crate::stage::post;
use crate::stage::until;

/// How often each is tried.
const TIMES: usize = 100;

fn cancelled(script: Script, seen: &[u8], path: &str) {
    let upstream = Server::start(vec![script]);
    let stage = Stage::new(&upstream.url());
    for time in 1..=TIMES {
        let mut stream = stage.connect();
        stream.write_all(post(path, "", CHAT).as_bytes()).unwrap();
        until("the upstream has it", || upstream.received().len() == time);
        let mut answer = Vec::new();
        while !answer.windows(seen.len().max(1)).any(|window| window == seen) && !seen.is_empty() {
            let mut piece = [0; 1_024];
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0);
            answer.extend_from_slice(&piece[..read]);
        }
        drop(stream);
        until("the upstream was let go", || upstream.under_way() == 0);
    }
    until("every account is closed", || {
        stage.figure("mainstay_requests_under_way") == 1.0
    });
    until("every connection is gone", || {
        stage.figure("mainstay_connections") == 1.0
    });
    let tasks = stage.runtime.as_ref().unwrap().metrics().num_alive_tasks();
    assert!(tasks < 10, "{tasks} tasks are left");
    assert_eq!(
        stage.figure("mainstay_endings_total{kind=\"client-gone\"}"),
        TIMES as f64
    );
}

#[test]
fn before_the_head_of_the_answer() {
    cancelled(Script::silent(), b"", "/v1/chat/completions");
    cancelled(Script::silent(), b"", "/v1/other");
}

#[test]
fn before_its_first_byte() {
    cancelled(Script::stream(&[]).then_hang(), b"\r\n\r\n", "/v1/messages");
}

#[test]
fn in_the_middle_of_the_stream() {
    cancelled(
        Script::stream(&["data: one\n\n"]).then_hang(),
        b"data: one",
        "/v1/chat/completions",
    );
}

#[test]
fn while_the_stream_goes_on() {
    // Every byte is a chunk of its own.
    cancelled(Script::dripping_stream(), b"1\r\n:\r\n", "/v1/messages");
}

#[test]
fn while_the_beginning_of_a_response_is_held_back() {
    let created = "event: response.created\ndata: {\"type\":\"response.created\"}\n\n";
    cancelled(Script::stream(&[created]).then_hang(), b"", "/v1/responses");
}

#[test]
fn in_the_middle_of_an_upload() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let stage = Stage::new(&upstream.url());
    for path in ["/v1/files", "/v1/messages"] {
        for _ in 0..TIMES {
            let mut stream = stage.connect();
            let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n");
            stream.write_all(format!("{head}half").as_bytes()).unwrap();
        }
    }
    until("every connection is gone", || {
        stage.figure("mainstay_connections") == 1.0
    });
    assert_eq!(upstream.received().len(), 0);
}
