//! The raw bytes of requests, looked at before anybody reads them as HTTP.
//!
//! What two readers could take for different requests is refused here, so that no upstream ever reads one that we have not:
//! two lengths, a length beside chunks, lines that end or go on in odd ways, headers in disguise. The parser behind this is
//! lenient about some of that and takes it out of sight. Refusing means that the parser is given a byte that no request has: it
//! answers 400 and closes.

/// Headers whose disguise (`_` for `-`) some servers see through.
const GUARDED: [&str; 8] = [
    "content-length",
    "transfer-encoding",
    "host",
    "connection",
    "authorization",
    "x-api-key",
    "content-encoding",
    "proxy-authorization",
];

/// Longer lines before a chunk are nobody's: sixteen digits and a word or two.
const MOST_CHUNK_LINE: usize = 256;
/// Trailers of requests are hardly ever sent; 8 KB is what a whole head may have elsewhere.
const MOST_TRAILERS: usize = 8 << 10;

/// Bytes that no request could have meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmbiguousBytes {
    /// Where the message begins that they are in, among the bytes just looked at.
    pub begins: usize,
}

/// Follows requests through the bytes of a connection.
#[derive(Debug)]
pub struct FramingCheck {
    place: Place,
    line: Vec<u8>,
    head: Head,
    /// Whether any request spoke the old version, in which an answer ends with its connection.
    is_old: bool,
    /// How much of a head, or of trailers, has come.
    taken: usize,
    most_head: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Head,
    Body(u64),
    ChunkLine,
    Chunk(u64),
    ChunkEnd,
    Trailers,
    /// Too long for anybody; the parser says so.
    Beyond,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Head {
    begun: bool,
    is_old: bool,
    length: Option<u64>,
    chunked: bool,
    host: bool,
}

impl FramingCheck {
    /// At the beginning of a connection whose heads have at most so many bytes.
    pub fn new(most_head: usize) -> Self {
        Self {
            place: Place::Head,
            line: Vec::new(),
            head: Head::default(),
            is_old: false,
            taken: 0,
            // The parser refuses what is longer, and has to be let.
            most_head: most_head.saturating_mul(2),
        }
    }

    /// Whether the client is in the middle of a request.
    pub fn is_within(&self) -> bool {
        self.place != Place::Head || self.head.begun || !self.line.is_empty()
    }

    /// Whether answers may end with their connection, and so must not seem to.
    pub fn is_old(&self) -> bool {
        self.is_old
    }

    /// Looks at the next bytes.
    pub fn look(&mut self, bytes: &[u8]) -> Result<(), AmbiguousBytes> {
        let mut begins = 0;
        let mut at = 0;
        while at < bytes.len() {
            let ambiguous = AmbiguousBytes { begins };
            let rest = &bytes[at..];
            match self.place {
                Place::Beyond => return Ok(()),
                Place::Body(left) => at += self.pass(left, rest.len(), Place::Body, Place::Head),
                Place::Chunk(left) => at += self.pass(left, rest.len(), Place::Chunk, Place::ChunkEnd),
                Place::Head | Place::ChunkLine | Place::ChunkEnd | Place::Trailers => {
                    let end = memchr::memchr(b'\n', rest).map(|end| end + 1);
                    let piece = &rest[..end.unwrap_or(rest.len())];
                    at += piece.len();
                    self.line.extend_from_slice(piece);
                    self.taken += piece.len();
                    if self.is_too_long() {
                        match self.place {
                            Place::Head => self.place = Place::Beyond,
                            _ => return Err(ambiguous),
                        }
                    } else if end.is_some() {
                        let line = std::mem::take(&mut self.line);
                        self.end_line(&line).ok_or(ambiguous)?;
                    }
                }
            }
            if self.place == Place::Head && !self.head.begun && self.line.is_empty() {
                begins = at;
            }
        }
        Ok(())
    }

    fn pass(&mut self, left: u64, there: usize, go_on: fn(u64) -> Place, next: Place) -> usize {
        let passed = left.min(there as u64);
        self.place = if passed == left { next } else { go_on(left - passed) };
        // No more than is there, which is a length of memory.
        passed as usize
    }

    fn is_too_long(&self) -> bool {
        match self.place {
            Place::Head => self.taken > self.most_head,
            Place::ChunkLine => self.line.len() > MOST_CHUNK_LINE,
            Place::ChunkEnd => self.line.len() > 2,
            Place::Trailers => self.taken > MOST_TRAILERS,
            Place::Body(_) | Place::Chunk(_) | Place::Beyond => false,
        }
    }

    /// Takes a whole line; none where it is ambiguous.
    fn end_line(&mut self, line: &[u8]) -> Option<()> {
        let line = line.strip_suffix(b"\r\n")?;
        match self.place {
            Place::Head if !self.head.begun => self.begin(line),
            Place::Head if line.is_empty() => self.end_head(),
            Place::Head => self.header(line),
            Place::ChunkLine => {
                let size = chunk_size(line)?;
                self.taken = 0;
                self.place = if size == 0 { Place::Trailers } else { Place::Chunk(size) };
                Some(())
            }
            Place::ChunkEnd => {
                self.place = Place::ChunkLine;
                line.is_empty().then_some(())
            }
            Place::Trailers if line.is_empty() => {
                self.start_over();
                Some(())
            }
            Place::Trailers => {
                let (name, _) = field(line)?;
                let framing = ["content-length", "transfer-encoding", "host"].contains(&name.as_str());
                (!framing).then_some(())
            }
            Place::Body(_) | Place::Chunk(_) | Place::Beyond => Some(()),
        }
    }

    fn start_over(&mut self) {
        self.place = Place::Head;
        self.head = Head::default();
        self.taken = 0;
    }

    /// The request line. Empty lines before it are a habit of old clients.
    fn begin(&mut self, line: &[u8]) -> Option<()> {
        if line.is_empty() {
            return Some(());
        }
        let mut words = line.split(|byte| *byte == b' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_plain = !method.is_empty() && method.iter().all(is_token) && words.next().is_none();
        let is_target = !target.is_empty() && target.iter().all(u8::is_ascii_graphic);
        self.head.begun = true;
        self.head.is_old = version == b"HTTP/1.0";
        self.is_old |= self.head.is_old;
        (is_plain && is_target && (self.head.is_old || version == b"HTTP/1.1")).then_some(())
    }

    fn header(&mut self, line: &[u8]) -> Option<()> {
        let (name, value) = field(line)?;
        match name.as_str() {
            "content-length" => {
                if self.head.length.is_some() || value.is_empty() || value.len() > 19 {
                    return None;
                }
                let digits = std::str::from_utf8(value)
                    .ok()
                    .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))?;
                self.head.length = Some(digits.parse().ok()?);
            }
            "transfer-encoding" => {
                let is_plain = value.eq_ignore_ascii_case(b"chunked") && !self.head.chunked && !self.head.is_old;
                self.head.chunked = is_plain.then_some(true)?;
            }
            "host" if self.head.host => return None,
            "host" => self.head.host = true,
            _ => {}
        }
        Some(())
    }

    fn end_head(&mut self) -> Option<()> {
        let head = self.head;
        self.start_over();
        self.place = match (head.length, head.chunked) {
            (Some(_), true) => return None,
            (None, true) => Place::ChunkLine,
            (Some(length), false) if length > 0 => Place::Body(length),
            (_, false) => Place::Head,
        };
        Some(())
    }
}

/// The name of a header in lower case, and its value without white space around it; none where either is odd.
fn field(line: &[u8]) -> Option<(String, &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    // A line that begins with white space would go on with the one before.
    if name.is_empty() || !name.iter().all(is_token) {
        return None;
    }
    if value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return None;
    }
    let name = String::from_utf8(name.to_ascii_lowercase()).ok()?;
    let undisguised = name.replace('_', "-");
    let is_ours = undisguised.starts_with("x-mainstay-");
    if undisguised != name && (is_ours || GUARDED.contains(&undisguised.as_str())) {
        return None;
    }
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !is_space(byte)).unwrap_or(value.len());
    let end = value
        .iter()
        .rposition(|byte| !is_space(byte))
        .map_or(start, |end| end + 1);
    Some((name, &value[start..end]))
}

/// The size that a line before a chunk says.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?;
    let extension = &line[digits.len()..];
    if extension.iter().any(u8::is_ascii_control) || digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(digits, 16).ok()
}

/// What methods and names of headers are made of (RFC 9110, 5.6.2).
fn is_token(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte)
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
