//! Over HTTP, with raw sockets: what is answered, and who is not.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use crate::home::Home;
use crate::home::err;
use crate::stage;

/// A test that waits longer than this has failed already.
const LONGEST: Duration = Duration::from_secs(60);

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let address = said
            .map(|line| line.split("http://").nth(1).map(str::to_owned))
            .find_map(|line| line);
        let address = address.unwrap().trim_end_matches("/mcp").parse().unwrap();
        Self { child, address }
    }

    /// The status and body that answer a request.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONGEST)).unwrap();
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        // A server that refuses a request need not read all of it.
        let _ = stream.write_all(format!("{request}\r\n{body}").as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        let body = answer
            .split_once("\r\n\r\n")
            .map(|(_, body)| body.to_owned())
            .unwrap_or_default();
        (status, body)
    }

    fn post(&self, more: &[(&str, &str)], message: &Value) -> (u16, String) {
        let host = self.address.to_string();
        let mut headers = vec![
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
        ];
        if !more.iter().any(|(name, _)| *name == "host") {
            headers.push(("host", &host));
        }
        headers.extend(more);
        self.send("POST", "/mcp", &headers, &message.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn message(method: &str, parameters: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
}

fn introduction() -> Value {
    message(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    )
}

fn search() -> Value {
    message(
        "tools/call",
        json!({"name": "search", "arguments": {"words": "walrus"}}),
    )
}

#[test]
fn questions_are_answered_one_by_one() {
    let home = stage::compacted();
    let server = Server::start(home.command(&["mcp", "--http", "127.0.0.1:0"]));
    let (status, body) = server.post(&[], &introduction());
    let introduced: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (status, &introduced["result"]["protocolVersion"]),
        (200, &json!("2025-06-18"))
    );
    let (status, _) = server.post(&[], &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(status, 202);
    let version = ("mcp-protocol-version", "2025-06-18");
    let (status, body) = server.post(&[version], &message("tools/list", json!({})));
    assert!(status == 200 && body.contains("checkpoints"), "{body}");
    // Nothing is remembered between requests: neither a session nor an introduction is needed.
    for _ in 0..2 {
        let (status, body) = server.post(&[version], &search());
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, &answer["result"]["isError"]), (200, &json!(false)), "{body}");
        assert!(body.contains("8443") && !body.contains(stage::SECRET));
    }
    let (status, body) = server.post(&[version], &message("tools/call", json!({"name": "nope"})));
    assert!(status == 200 && body.contains("-32602"), "{status} {body}");
}

#[test]
fn nobody_gets_in_from_a_page() {
    let home = stage::compacted();
    let server =
        Server::start(home.command(&["mcp", "--http", "127.0.0.1:0", "--origin", "https://inspector.example"]));
    let port = server.address.port();
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        assert_eq!(
            server.post(&[("host", &format!("{host}:{port}"))], &search()).0,
            200,
            "{host}"
        );
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "0.0.0.0",
        "[::]",
        "",
        "127.0.0.1.nip.io",
    ] {
        assert_eq!(server.post(&[("host", host)], &search()).0, 403, "{host}");
    }
    assert_eq!(
        server.post(&[("origin", "https://inspector.example")], &search()).0,
        200
    );
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost",
        &format!("http://127.0.0.1:{port}"),
    ] {
        assert_eq!(server.post(&[("origin", origin)], &search()).0, 403, "{origin}");
    }
    // On every path and with every method, those that do not exist among them.
    for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"] {
        for path in ["/mcp", "/", "/metrics", "/mcp/../mcp"] {
            for header in [("host", "evil.example"), ("origin", "http://evil.example")] {
                let own = ("host", "localhost");
                let headers = if header.0 == "host" {
                    vec![header]
                } else {
                    vec![own, header]
                };
                assert_eq!(
                    server.send(method, path, &headers, "").0,
                    403,
                    "{method} {path} {header:?}"
                );
            }
        }
    }
}

#[test]
fn what_is_no_question_is_refused() {
    let home = stage::compacted();
    let server = Server::start(home.command(&["mcp", "--http", "127.0.0.1:0"]));
    let host = ("host", "localhost");
    let accept = ("accept", "application/json, text/event-stream");
    let kind = ("content-type", "application/json");
    assert_eq!(server.send("GET", "/mcp", &[host, accept], "").0, 405);
    assert_eq!(server.send("DELETE", "/mcp", &[host, accept], "").0, 405);
    assert_eq!(server.send("GET", "/", &[host], "").0, 404);
    assert_eq!(server.send("POST", "/mcp", &[host, kind], &search().to_string()).0, 406);
    assert_eq!(
        server.send("POST", "/mcp", &[host, accept], &search().to_string()).0,
        415
    );
    for broken in ["", "{", "[]", "not JSON"] {
        let (status, _) = server.send("POST", "/mcp", &[host, accept, kind], broken);
        assert!((400..=422).contains(&status), "{broken:?}: {status}");
    }
    let giant = format!("\"{}\"", "x".repeat(2 << 20));
    assert_eq!(server.send("POST", "/mcp", &[host, accept, kind], &giant).0, 413);
    assert_eq!(server.post(&[], &search()).0, 200, "and it goes on");
}

#[test]
fn a_token_is_asked_for_and_other_machines_need_one() {
    let home = stage::compacted();
    let refused = home.run(&["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains("set a token"), "{}", err(&refused));
    for address in ["[::]:0", "192.0.2.1:0"] {
        assert!(!home.run(&["mcp", "--http", address]).status.success(), "{address}");
    }
    let mut command = home.command(&["mcp", "--http", "0.0.0.0:0", "--host", "recall.example"]);
    command.env("MAINSTAY_MCP_TOKEN", "correct-horse-battery");
    let mut server = Server::start(command);
    server.address.set_ip([127, 0, 0, 1].into());
    assert_eq!(server.post(&[], &search()).0, 401);
    assert_eq!(server.post(&[("authorization", "Bearer wrong")], &search()).0, 401);
    let token = ("authorization", "Bearer correct-horse-battery");
    assert_eq!(server.post(&[token], &search()).0, 200);
    assert_eq!(server.post(&[token, ("host", "recall.example")], &search()).0, 200);
    assert_eq!(server.post(&[token, ("host", "evil.example")], &search()).0, 403);
}

#[test]
fn a_taken_address_is_an_error() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = home.run(&["mcp", "--http", &address]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains(&address), "{}", err(&output));
}
