//! A plain HTTP/1.1 client for tests: one connection a request, every byte of the answer kept.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// An answer as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, out of its chunks.
    pub body: Vec<u8>,
    /// Whether the body came to its announced end.
    pub is_whole: bool,
}

impl Answer {
    /// The first header of this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Nothing that a test asks for takes longer.
const LONGEST: Duration = Duration::from_secs(60);

/// Posts a body to `http://host:port/path`. An answer that breaks off is an answer that is not whole.
pub fn post(url: &str, headers: &[(String, String)], body: &str) -> std::io::Result<Answer> {
    request("POST", url, headers, body)
}

/// Gets `http://host:port/path`.
pub fn get(url: &str) -> std::io::Result<Answer> {
    request("GET", url, &[], "")
}

fn request(method: &str, url: &str, headers: &[(String, String)], body: &str) -> std::io::Result<Answer> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LONGEST))?;
    let mut head = format!("{method} /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!(
        "content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut bytes = Vec::new();
    // What came before a broken end still counts.
    let ended = stream.read_to_end(&mut bytes);
    match parse(&bytes) {
        Some(answer) => Ok(answer),
        None => Err(ended.err().unwrap_or_else(|| std::io::Error::other("no answer"))),
    }
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let mut answer = Answer {
        status,
        headers: pairs
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect(),
        ..Answer::default()
    };
    let rest = &bytes[end + 4..];
    let length = answer.header("content-length").and_then(|length| length.parse().ok());
    if answer.header("transfer-encoding") == Some("chunked") {
        (answer.body, answer.is_whole) = unchunked(rest);
    } else {
        answer.body = rest.to_vec();
        answer.is_whole = length.is_none_or(|length: usize| rest.len() == length);
    }
    Some(answer)
}

/// A body out of its chunks, and whether its last chunk came.
fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            return (body, false);
        };
        let size = String::from_utf8_lossy(&rest[..end]).into_owned();
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else {
            return (body, false);
        };
        if size == 0 {
            return (body, true);
        }
        let from = end + 2;
        if rest.len() < from + size + 2 {
            body.extend_from_slice(&rest[from.min(rest.len())..rest.len().min(from + size)]);
            return (body, false);
        }
        body.extend_from_slice(&rest[from..from + size]);
        rest = &rest[from + size + 2..];
    }
}
