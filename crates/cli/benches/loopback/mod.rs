//! A client that does as little as possible: one connection, whole requests, answers read to their end.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;
use std::time::Instant;

/// A conversation that grows.
pub struct Talk {
    pub model: String,
    messages: String,
    number: u64,
    seed: u64,
}

impl Talk {
    /// A conversation of about so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self::of(0, bytes)
    }

    /// One of several that differ.
    pub fn of(seed: u64, bytes: usize) -> Self {
        let mut talk = Self {
            model: "gpt-4.1".to_owned(),
            messages: format!(
                "{{\"role\":\"system\",\"content\":\"Be careful.\"}},{{\"role\":\"user\",\"content\":\"Task {seed}: fix it.\"}}"
            ),
            number: 0,
            seed,
        };
        while talk.bytes() + 1_000 < bytes {
            talk.grow();
        }
        talk
    }

    pub fn bytes(&self) -> usize {
        self.messages.len()
    }

    /// One more step: a call and what it printed, about a kilobyte.
    pub fn grow(&mut self) {
        let (seed, number) = (self.seed, self.number);
        self.number += 1;
        let line = |line: u64| {
            format!(
                "{line}: let value_{seed}_{number}_{line} = compute({});\\n",
                number * line
            )
        };
        let output: String = (0..16).map(line).collect();
        self.messages.push_str(&format!(
            ",{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"c{number}\",\"type\":\"function\",\"function\":{{\"name\":\"read\",\"arguments\":\"{{\\\"path\\\":\\\"src/{seed}/{number}.rs\\\"}}\"}}}}]}},{{\"role\":\"tool\",\"tool_call_id\":\"c{number}\",\"content\":\"{output}\"}}"
        ));
    }

    /// The request that sends all of it.
    pub fn request(&self, streams: bool) -> Vec<u8> {
        let body = format!(
            "{{\"model\":\"{}\",\"stream\":{streams},\"messages\":[{}]}}",
            self.model, self.messages
        );
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer key\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut request = head.into_bytes();
        request.extend_from_slice(body.as_bytes());
        request
    }
}

/// How long an answer took.
pub struct Took {
    pub first_byte: Duration,
    pub whole: Duration,
}

/// One connection.
pub struct Line {
    stream: TcpStream,
    held: Vec<u8>,
}

impl Line {
    pub fn open(url: &str) -> Self {
        let address = url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).expect("somebody listens there");
        stream.set_nodelay(true).expect("a socket can be quick");
        Self {
            stream,
            held: vec![0; 1 << 16],
        }
    }

    /// Sends a request and reads its answer to the end.
    pub fn ask(&mut self, request: &[u8]) -> Took {
        let (took, answer) = self.exchange(request);
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
        took
    }

    fn exchange(&mut self, request: &[u8]) -> (Took, Vec<u8>) {
        let started = Instant::now();
        self.stream.write_all(request).expect("the other side takes it");
        let mut answer = Vec::new();
        let mut first_byte = None;
        loop {
            let read = self.stream.read(&mut self.held).expect("the other side answers");
            first_byte.get_or_insert_with(|| started.elapsed());
            answer.extend_from_slice(&self.held[..read]);
            if read == 0 || is_whole(&answer) {
                break;
            }
        }
        let took = Took {
            first_byte: first_byte.unwrap_or_default(),
            whole: started.elapsed(),
        };
        (took, answer)
    }
}

/// Whether an answer has come to its end.
fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    match length.and_then(|length| length.trim().parse::<usize>().ok()) {
        Some(length) => answer.len() >= end + 4 + length,
        None => answer.ends_with(b"0\r\n\r\n"),
    }
}

/// The payload of an answer in chunks, without what says how it was cut. Ids and times differ from answer to answer in their digits.
fn payload(answer: &[u8]) -> Vec<u8> {
    let end = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map_or(0, |end| end + 4);
    let (mut rest, mut payload) = (&answer[end..], Vec::new());
    while let Some(line) = rest.windows(2).position(|window| window == b"\r\n") {
        let digits = String::from_utf8_lossy(&rest[..line]).into_owned();
        let Some(length) = usize::from_str_radix(digits.trim(), 16)
            .ok()
            .filter(|length| *length > 0)
        else {
            break;
        };
        payload.extend_from_slice(&rest[line + 2..line + 2 + length]);
        rest = &rest[line + 2 + length + 2..];
    }
    payload
        .iter_mut()
        .filter(|byte| byte.is_ascii_digit())
        .for_each(|byte| *byte = b'0');
    payload
}

/// The same request so many times at once; what came back, and how long all of it took.
pub fn rush(url: &str, request: &[u8], many: usize) -> (Vec<Vec<u8>>, Duration) {
    let started = Instant::now();
    let answers = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..many)
            .map(|_| {
                let ask = || payload(&Line::open(url).exchange(request).1);
                std::thread::Builder::new()
                    .stack_size(128 << 10)
                    .spawn_scoped(scope, ask)
                    .expect("a thread costs little")
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("nobody panics"))
            .collect()
    });
    (answers, started.elapsed())
}
