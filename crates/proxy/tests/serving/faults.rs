//! Whatever goes wrong upstream, the client sees that it did: the very error, or an answer that breaks off, never one that seems
//! to end.

use std::io::Write;
use std::time::Duration;

use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::Stage;
use crate::stage::Upstreamed;
use crate::stage::post;
use crate::stage::rest;
use crate::stage::serving;
use crate::stage::status;

/// How often each is tried.
const TIMES: usize = 30;
const PATHS: [&str; 4] = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/other"];

/// Whether an answer came to its end, by its own count.
fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .split("content-length: ")
        .nth(1)
        .and_then(|rest| rest.lines().next());
    match length {
        Some(length) => body.len() == length.parse::<usize>().unwrap(),
        None => body.ends_with("0\r\n\r\n"),
    }
}

#[test]
fn errors_come_back_byte_for_byte_and_are_sent_once() {
    for code in [400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 529] {
        let body = format!("{{\"error\" : {{\"message\":\"nope {code} \\u00e9\",\"type\":\"x\"}} }}\n");
        let upstream = Server::start(vec![
            Script::status(code, &body)
                .header("retry-after", "7")
                .header("x-own", "1"),
        ]);
        let stage = Stage::new(&upstream.url());
        for (at, path) in PATHS.iter().cycle().take(TIMES).enumerate() {
            let answer = stage.ask(post(path, "", CHAT));
            assert_eq!(status(&answer), code);
            assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{answer}");
            assert!(
                answer.contains("retry-after: 7") && answer.contains("x-own: 1"),
                "{answer}"
            );
            assert_eq!(upstream.received().len(), at + 1, "{path} {code}");
        }
    }
}

#[test]
fn an_upstream_that_breaks_before_its_answer_is_a_bad_gateway() {
    let nobody = Server::nobody();
    let reset = Server::start(vec![Script::reset()]);
    let closed = Server::start(vec![Script::closed()]);
    let odd = Server::start(vec![Script::page("text/html", "x").header("content-length", "-5")]);
    let garbage = Upstreamed::start(|mut stream, _| stream.write_all(b"\x16\x03\x01 what?\r\n\r\n").unwrap());
    // It speaks no TLS.
    let plain = Server::start(vec![Script::json("{}")]).url().replace("http:", "https:");
    for url in [nobody, reset.url(), closed.url(), odd.url(), garbage.url(), plain] {
        let stage = Stage::new(&url);
        for path in PATHS.iter().cycle().take(TIMES) {
            let answer = stage.ask(post(path, "", CHAT));
            assert_eq!(status(&answer), 502, "{url}: {answer}");
            assert!(answer.contains("mainstay_error") && is_whole(&answer), "{answer}");
        }
    }
    assert_eq!(reset.received().len(), TIMES);
}

#[test]
fn an_answer_that_breaks_off_breaks_off() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let scripts = [
        Script::truncated("{\"choices\":["),
        Script::stream(&[begun]).then_reset(),
        Script::stream(&[begun]).header("content-length", "10000"),
        Script::stream(&["5\r\nhello\r\n", "5\r\nhel"]).header("transfer-encoding", "chunked"),
        Script::stream(&["5\r\nhello\r\n", "zz\r\n"]).header("transfer-encoding", "chunked"),
        Script::status(400, "{\"error\":").header("content-length", "100"),
    ];
    for script in scripts {
        let upstream = Server::start(vec![script.clone()]);
        let stage = Stage::new(&upstream.url());
        for (at, path) in PATHS.iter().cycle().take(TIMES).enumerate() {
            let answer = stage.ask(post(path, "", CHAT));
            assert!(
                !is_whole(&answer) || status(&answer) == 502,
                "{path} {script:?}: {answer}"
            );
            assert_eq!(upstream.received().len(), at + 1, "nothing is sent twice");
        }
        assert!(stage.figure("mainstay_upstream_errors_total{kind=\"upstream-broke\"}") > 0.0);
    }
}

#[test]
fn an_answer_that_ends_with_its_connection_does_not_seem_to_end() {
    let whole = Server::start(vec![Script::stream(&["data: one\n\n"])]);
    let broken = Server::start(vec![Script::stream(&["data: one\n\n"]).header("content-length", "100")]);
    for (upstream, ends) in [(whole, true), (broken, false)] {
        let mut serving = serving(&upstream.url());
        serving.limits.silence = Duration::from_secs(5);
        let stage = Stage::with(serving);
        for path in PATHS {
            let request = post(path, "", CHAT).replace("HTTP/1.1", "HTTP/1.0");
            let mut stream = stage.connect();
            stream.write_all(request.as_bytes()).unwrap();
            let read = std::io::Read::read_to_end(&mut stream, &mut Vec::new());
            assert_eq!(read.is_ok(), ends, "{path} {read:?}");
        }
    }
}

#[test]
fn an_upstream_that_says_nothing_is_left_when_its_time_is_over() {
    let begun = "data: one\n\n";
    for (script, head) in [
        (Script::silent(), "HTTP/1.1 504"),
        (Script::dripping_head(), "HTTP/1.1 504"),
        (Script::stream(&[begun]).then_hang(), "HTTP/1.1 200"),
    ] {
        let upstream = Server::start(vec![script]);
        let mut serving = serving(&upstream.url());
        serving.limits.silence = Duration::from_millis(200);
        let stage = Stage::with(serving);
        for path in PATHS {
            let mut stream = stage.connect();
            stream.write_all(post(path, "", CHAT).as_bytes()).unwrap();
            let answer = rest(&mut stream);
            assert!(answer.starts_with(head), "{answer}");
            assert_eq!(is_whole(&answer), head.ends_with("504"), "{answer}");
        }
    }
}

#[test]
fn packets_that_are_cut_off_pass_as_they_are() {
    let packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4b\x4c";
    let upstream = Upstreamed::start(move |mut stream, _| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            packed.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(packed).unwrap();
    });
    let stage = Stage::new(&upstream.url());
    let mut stream = stage.connect();
    stream
        .write_all(post("/v1/messages", "Accept-Encoding: gzip, br\r\n", CHAT).as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut answer).unwrap();
    assert!(answer.ends_with(packed));
    assert!(upstream.received.lock().unwrap()[0].contains("accept-encoding: gzip\r\n"));
}
