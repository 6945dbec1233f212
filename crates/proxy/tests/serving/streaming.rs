//! Answers pass byte for byte as they arrive, whatever the pieces.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc;

use mainstay_tests::server::Script;
use mainstay_tests::server::Server;

use crate::stage::CHAT;
use crate::stage::LONG;
use crate::stage::Stage;
use crate::stage::Upstreamed;
use crate::stage::post;
use crate::stage::status;
use crate::stage::until;

const EVENTS: &str = "\u{feff}: hello\r\nevent: a\r\ndata: {\"delta\":\"één 漢字\"}\r\n\r\ndata: one\ndata: two\n\n\
    data:x\r\rid: 7\nretry: 5\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";

/// The body of a chunked answer.
fn unchunked(answer: &[u8]) -> Option<Vec<u8>> {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let mut rest = &answer[head..];
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).ok()?, 16).ok()?;
        rest = &rest[end + 2..];
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size + 2..)?;
    }
}

fn ask(stage: &Stage, path: &str) -> Vec<u8> {
    let mut stream = stage.connect();
    stream.write_all(post(path, "", CHAT).as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn events_split_anywhere_pass_byte_for_byte() {
    let cut = Mutex::new(0);
    let upstream = Upstreamed::start(move |mut stream, _| {
        let mut cut = cut.lock().unwrap();
        *cut = (*cut + 1) % EVENTS.len();
        let (one, two) = EVENTS.as_bytes().split_at(*cut);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            .unwrap();
        stream.write_all(one).unwrap();
        stream.write_all(two).unwrap();
    });
    let stage = Stage::new(&upstream.url());
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/other"] {
        for _ in 0..EVENTS.len() {
            let answer = ask(&stage, path);
            assert_eq!(unchunked(&answer).as_deref(), Some(EVENTS.as_bytes()), "{path}");
        }
    }
    assert!(stage.log().contains("\"input_tokens\":9"));
}

#[test]
fn every_piece_is_passed_on_before_the_next_one_comes() {
    let (go_on, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let upstream = Upstreamed::start(move |mut stream, _| {
        let wait = wait.lock().unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            .unwrap();
        for byte in b"data: abc\n\n" {
            stream
                .write_all(format!("1\r\n{}\r\n", char::from(*byte)).as_bytes())
                .unwrap();
            // The next byte is sent only after the client has seen this one.
            wait.recv_timeout(LONG).unwrap();
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let stage = Stage::new(&upstream.url());
    for path in ["/v1/chat/completions", "/v1/messages", "/v1/other"] {
        let mut stream = stage.connect();
        stream.write_all(post(path, "", CHAT).as_bytes()).unwrap();
        let mut seen = Vec::new();
        for count in 1..=b"data: abc\n\n".len() {
            while chunks(&seen) < count {
                let mut piece = [0; 4_096];
                let read = stream.read(&mut piece).unwrap();
                assert_ne!(read, 0);
                seen.extend_from_slice(&piece[..read]);
            }
            go_on.send(()).unwrap();
        }
        stream.read_to_end(&mut seen).unwrap();
        assert_eq!(unchunked(&seen).unwrap(), b"data: abc\n\n");
    }
}

/// How many chunks of one byte there are.
fn chunks(answer: &[u8]) -> usize {
    answer
        .windows(3)
        .filter(|window| window == b"1\r\n")
        .count()
        .saturating_sub(
            // The status line ends in no such thing; the date might.
            answer
                .windows(4)
                .position(|window| window == b"\r\n\r\n")
                .map_or(usize::MAX, |head| {
                    answer[..head].windows(3).filter(|window| window == b"1\r\n").count()
                }),
        )
}

#[test]
fn large_events_and_whole_answers_pass_in_any_size() {
    let large = format!("data: {}\n\n", "é".repeat(1 << 20));
    let text = large.clone();
    let upstream = Server::with(move |received| match received.path.contains("messages") {
        true => Script::stream(&[&text, &text]),
        false => Script::json(&text),
    });
    let stage = Stage::new(&upstream.url());
    assert_eq!(
        unchunked(&ask(&stage, "/v1/messages")).unwrap(),
        format!("{large}{large}").as_bytes()
    );
    let answer = ask(&stage, "/v1/chat/completions");
    assert!(answer.ends_with(large.as_bytes()));
    let head = String::from_utf8_lossy(&answer[..answer.len() - large.len()]).into_owned();
    assert!(head.contains(&format!("content-length: {}\r\n", large.len())), "{head}");
}

#[test]
fn heads_bodies_and_trailers_of_every_kind_come_back_as_they_are() {
    let upstream = Upstreamed::start(|mut stream, request| {
        let answer: &[u8] = match request.split(' ').nth(1).unwrap() {
            "/v1/empty" => b"HTTP/1.1 204 No Content\r\nconnection: close\r\nx-own: 1\r\n\r\n",
            "/v1/same" => b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\netag: \"x\"\r\n\r\n",
            "/v1/zero" => b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
            "/v1/head" => b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\n",
            "/v1/trailers" => {
                b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 7\r\n\r\n"
            }
            _ => {
                b"HTTP/1.1 418 Teapot\r\nconnection: close\r\ncontent-length: 2\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx-hop: 1\r\nconnection: x-hop\r\n\
                  keep-alive: timeout=5\r\nx-mainstay-deed: forged\r\nrequest-id: r\r\nx-old: \xe9\r\n\r\nhi"
            }
        };
        stream.write_all(answer).unwrap();
        let _ended = stream.shutdown(std::net::Shutdown::Write);
        let _gone = stream.read(&mut [0]);
    });
    let stage = Stage::new(&upstream.url());
    let get = |method: &str, path: &str, headers: &str| {
        stage.ask(format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        ))
    };
    assert!(get("GET", "/v1/empty", "").starts_with("HTTP/1.1 204"));
    assert!(get("GET", "/v1/same", "").contains("etag: \"x\""));
    assert!(get("GET", "/v1/zero", "").contains("content-length: 0"));
    let head = get("HEAD", "/v1/head", "");
    assert!(
        head.contains("content-length: 5") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    let trailers = get("GET", "/v1/trailers", "TE: trailers\r\n");
    assert!(trailers.ends_with("2\r\nhi\r\n0\r\nx-sum: 7\r\n\r\n"), "{trailers}");
    for path in ["/v1/other", "/v1/chat/completions"] {
        let answer = stage.ask(post(path, "", CHAT));
        assert_eq!(status(&answer), 418);
        assert!(
            answer.contains("set-cookie: a=1\r\nset-cookie: b=2") && answer.contains("request-id: r"),
            "{answer}"
        );
        assert!(answer.ends_with("\r\n\r\nhi"), "{answer}");
        for taken_off in ["x-hop", "keep-alive", "forged"] {
            assert!(!answer.contains(taken_off), "{taken_off}: {answer}");
        }
        assert!(answer.contains("x-mainstay-request: "), "{answer}");
    }
}

#[test]
fn uploads_pass_on_while_they_come() {
    let upstream = Upstreamed::start(|mut stream: TcpStream, _| {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            .unwrap();
    });
    let stage = Stage::new(&upstream.url());
    let mut stream = stage.connect();
    stream
        .write_all(
            b"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        )
        .unwrap();
    for _ in 0..100 {
        stream.write_all(b"5\r\nhello\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok"), "{answer}");
    let received = upstream.received.lock().unwrap()[0].clone();
    assert_eq!(received.matches("hello").count(), 100);
    until("it is counted", || {
        stage.figure("mainstay_body_bytes_total{kind=\"in\"}") == 500.0
    });
}
