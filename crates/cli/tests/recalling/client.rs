//! A client over standard input and output that trusts nothing: every line must be a message of the protocol.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::process::Child;
use std::process::ChildStdin;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

/// A test that waits longer than this has failed already.
const LONGEST: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
}

impl Client {
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("not of the protocol: {line}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            messages,
            last: 0,
        }
    }

    /// A client that has introduced itself.
    pub fn ready(command: Command) -> Self {
        let mut client = Self::start(command);
        client.introduce("2025-06-18");
        client
    }

    /// The handshake, by a version of the protocol; gives what the server says of itself.
    pub fn introduce(&mut self, version: &str) -> Value {
        let parameters = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}
        });
        let answer = self.request("initialize", parameters);
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer["result"].clone()
    }

    /// Sends a line as it is.
    pub fn line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The answer to a request.
    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}).to_string());
        loop {
            let message = self.messages.recv_timeout(LONGEST).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// The result of a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// What a tool says to a model; it must not be an error.
    pub fn told(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the input, and waits until the server has ended.
    pub fn end(mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Where a test has failed before it came to its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
