//! Bytes that two readers could take for different requests are refused, and no upstream sees what hides in them.

use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::Stage;
use crate::stage::status;

/// What a smuggled request would look like.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn cases() -> Vec<String> {
    let mut cases = Vec::new();
    let mut with = |headers: &str, body: &str| {
        cases.push(format!(
            "POST /v1/x HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n{body}"
        ));
    };
    let chunks = format!("0\r\n\r\n{HIDDEN}");
    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: chunked\r\nContent-Length: 0",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding: chunked\u{b}",
        "Transfer-Encoding:\u{0}chunked",
        "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding: \r\n\tchunked",
        "Transfer-Encoding : chunked",
        " Transfer-Encoding: chunked",
        "\tTransfer-Encoding: chunked",
        "Transfer-Encoding\t: chunked",
        "Transfer_Encoding: chunked",
        "transfer_encoding: chunked\r\nContent-Length: 0",
        "X: y\rTransfer-Encoding: chunked",
        "X: y\nTransfer-Encoding: chunked",
        "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    ] {
        with(headers, &chunks);
    }
    for headers in [
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5",
        "Content-Length: 5,6",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 5.0",
        "Content-Length: 5 5",
        "Content-Length: \u{b}5",
        "Content-Length:",
        "Content-Length: five",
        "Content-Length: 18446744073709551616",
        "Content-Length : 5",
        "Content_Length: 5",
        "Content-Length\r\n : 5",
        "Content-Length: 5\r\n 5",
        "X: y\r\n folded: z",
        "X: y\nContent-Length: 5",
        "X: \u{0}",
        "X y: z",
        ": z",
        "no colon",
        "Host: other",
        "Upgrade: websocket\r\nConnection: Upgrade",
        "x_mainstay_upstream: y",
    ] {
        with(headers, &format!("hello{HIDDEN}"));
    }
    let chunked = "Transfer-Encoding: chunked";
    for body in [
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "-1\r\nhello\r\n0\r\n\r\n",
        "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "5;\u{b}\r\nhello\r\n0\r\n\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n",
        "\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n",
    ] {
        with(chunked, &format!("{body}{HIDDEN}"));
    }
    for line in [
        "POST  /v1/x HTTP/1.1",
        "POST /v1/x  HTTP/1.1",
        "POST /v1/x HTTP/1.1 ",
        "POST /v1/x",
        "POST /v1/x HTTP/0.9",
        "POST /v1/x HTTP/2.0",
        "POST /v1/x HTTP/1.1\n",
        "PO ST /v1/x HTTP/1.1",
        "POST\t/v1/x HTTP/1.1",
        "POST /v1/\u{1}x HTTP/1.1",
    ] {
        cases.push(format!(
            "{line}\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n{HIDDEN}"
        ));
    }
    cases.push(format!(
        "POST /v1/x HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
    ));
    cases
}

#[test]
fn what_can_be_read_in_two_ways_reaches_nobody() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let stage = Stage::new(&upstream.url());
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    for case in &cases {
        let answer = stage.ask(case);
        assert!(
            answer.is_empty() || (400..500).contains(&status(&answer)),
            "{case:?}: {answer}"
        );
        assert_eq!(
            answer.matches("HTTP/1.1 ").count(),
            usize::from(!answer.is_empty()),
            "{case:?}: {answer}"
        );
        assert_eq!(upstream.received().len(), 0, "{case:?}: {answer}");
    }
    assert_eq!(status(&stage.page("/v1/models")), 200);
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn what_can_be_read_in_one_way_reaches_the_upstream_once() {
    let upstream = Server::start(vec![Script::json("{}")]);
    let stage = Stage::new(&upstream.url());
    let close = "Connection: close";
    for (seen, case) in [
        format!("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n{close}\r\n\r\n3\r\n{{}}\n\r\n0\r\n\r\n"),
        format!("POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n{close}\r\n\r\n{{}}"),
        "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\n\r\n{}".to_owned(),
        "POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nX-Hop: 1\r\nConnection: close, x-hop, authorization\r\nAuthorization: k\r\n\r\n{}".to_owned(),
        format!("GET /v1/x HTTP/1.0\r\nHost: localhost\r\nsession_id: s\r\n\r\n{HIDDEN}"),
    ]
    .iter()
    .enumerate()
    {
        let answer = stage.ask(case);
        assert_eq!(status(&answer), 200, "{case:?}: {answer}");
        let received = upstream.received();
        assert_eq!(received.len(), seen + 1, "{case:?}");
        let headers = &received[seen].headers;
        let has = |name: &str| headers.iter().any(|(own, _)| own == name);
        assert!(!has("upgrade") && !has("http2-settings") && !has("x-hop") && !has("connection"), "{headers:?}");
        assert_eq!(has("authorization"), case.contains("Authorization: k"), "{headers:?}");
        assert_ne!(received[seen].path, "/hidden");
    }
}

#[test]
fn pipelined_requests_are_answered_in_turn() {
    let upstream = Server::with(|received| Script::json(&format!("{{\"path\":\"{}\"}}", received.path)));
    let stage = Stage::new(&upstream.url());
    let one = |path: &str| format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}");
    let answer = stage.ask(format!(
        "{}{}GET /v1/c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        one("/v1/a"),
        one("/v1/b")
    ));
    let at = |path: &str| answer.find(&format!("\"{path}\"")).unwrap();
    assert!(at("/v1/a") < at("/v1/b") && at("/v1/b") < at("/v1/c"), "{answer}");
    assert_eq!(upstream.received().len(), 3);
    // One that is fine is served; what follows it and is not, is refused.
    let answer = stage.ask(format!(
        "{}GET /v1/x HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n",
        one("/v1/a")
    ));
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 1, "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 400").count(), 1, "{answer}");
    assert_eq!(upstream.received().len(), 4);
}
