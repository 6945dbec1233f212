//! Reads the token usage out of an answer while it passes.
//!
//! Nothing is held up and nothing is changed. Memory is bounded: an event, or a whole answer, of more than a megabyte is given
//! up on, and so is an answer that unpacks to more than anybody writes.

use std::io;
use std::io::Write;

use flate2::write::GzDecoder;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http::header::CONTENT_TYPE;
use mainstay_llm::answer::Usage;
use mainstay_llm::events::Events;
use mainstay_llm::forms;
use mainstay_llm::forms::Reader;
use mainstay_wire::reading::WireForm;
use memchr::memchr2;
use memchr::memmem;

/// The largest event, or whole answer, that is read: a long answer has a tenth of it.
const MOST_HELD: usize = 1 << 20;
/// The most that an answer may unpack to: a day's worth of a fast model.
const MOST_UNPACKED: u64 = 64 << 20;

/// Reads an answer along.
pub struct UsageReader(Packed);

enum Packed {
    Plain(Box<Reading>),
    Gzip(Box<GzDecoder<Reading>>),
    /// Nobody can read it.
    Opaque,
}

impl UsageReader {
    /// Reads along an answer with these headers.
    pub fn new(form: WireForm, headers: &HeaderMap) -> Self {
        let says = |name, word: &str| {
            let value = headers
                .get(name)
                .and_then(|value: &http::HeaderValue| value.to_str().ok());
            value.is_some_and(|value| value.to_ascii_lowercase().contains(word))
        };
        let shape = match says(CONTENT_TYPE, "event-stream") {
            true => Shape::Events,
            false if says(CONTENT_TYPE, "json") => Shape::Whole,
            false => return Self(Packed::Opaque),
        };
        let reading = Reading::new(form, shape);
        Self(match headers.get(CONTENT_ENCODING) {
            None => Packed::Plain(Box::new(reading)),
            Some(coding) if coding.as_bytes().eq_ignore_ascii_case(b"identity") => Packed::Plain(Box::new(reading)),
            Some(coding) if coding.as_bytes().eq_ignore_ascii_case(b"gzip") => {
                Packed::Gzip(Box::new(GzDecoder::new(reading)))
            }
            Some(_) => Packed::Opaque,
        })
    }

    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        let taken = match &mut self.0 {
            Packed::Plain(reading) => reading.write_all(bytes),
            Packed::Gzip(decoder) => decoder.write_all(bytes),
            Packed::Opaque => Ok(()),
        };
        if taken.is_err() {
            let usage = self.usage();
            let mut given_up = Reading::new(WireForm::Chat, Shape::Nothing);
            given_up.usage = usage;
            self.0 = Packed::Plain(Box::new(given_up));
        }
    }

    fn usage(&self) -> Option<Usage> {
        match &self.0 {
            Packed::Plain(reading) => reading.usage,
            Packed::Gzip(decoder) => decoder.get_ref().usage,
            Packed::Opaque => None,
        }
    }

    /// What it said, once it is over.
    pub fn finish(self) -> Option<Usage> {
        match self.0 {
            Packed::Plain(reading) => reading.finish(),
            Packed::Gzip(mut decoder) => {
                let _cut_off = decoder.try_finish();
                let reading = std::mem::replace(decoder.get_mut(), Reading::new(WireForm::Chat, Shape::Nothing));
                reading.finish()
            }
            Packed::Opaque => None,
        }
    }
}

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Events,
    Whole,
    Nothing,
}

struct Reading {
    form: WireForm,
    shape: Shape,
    /// The event that is coming, or the whole answer.
    held: Vec<u8>,
    /// Where the line begins that is coming.
    line: usize,
    after_return: bool,
    /// The event that is coming is too large; the next may not be.
    skips: bool,
    unpacked: u64,
    reader: Reader,
    usage: Option<Usage>,
}

impl Reading {
    fn new(form: WireForm, shape: Shape) -> Self {
        Self {
            form,
            shape,
            held: Vec::new(),
            line: 0,
            after_return: false,
            skips: false,
            unpacked: 0,
            reader: Reader::new(form),
            usage: None,
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.held.len() + bytes.len() > MOST_HELD {
            self.skips = true;
            self.held.clear();
            self.line = 0;
        }
        if !self.skips {
            self.held.extend_from_slice(bytes);
        } else if !bytes.is_empty() {
            // An empty line is told from another by whether anything stands before its end.
            self.held.clear();
            self.held.push(bytes[bytes.len() - 1]);
            self.line = 0;
        }
    }

    fn take_events(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(at) = memchr2(b'\n', b'\r', rest) {
            let follows_return = at == 0 && rest[0] == b'\n' && self.after_return;
            self.after_return = rest[at] == b'\r';
            if !follows_return {
                self.hold(&rest[..at]);
                if self.held.len() == self.line {
                    self.end_event();
                } else {
                    self.hold(b"\n");
                    self.line = self.held.len();
                }
            }
            rest = &rest[at + 1..];
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.hold(rest);
        }
    }

    fn end_event(&mut self) {
        if !self.skips && memmem::find(&self.held, b"\"usage\"").is_some() {
            let mut events = Events::default();
            let mut found = events.push(&self.held);
            found.extend(events.finish());
            // Figures of one request come in pieces only from Anthropic; elsewhere a reader would gather the answer's text.
            if self.form != WireForm::Anthropic {
                self.reader = Reader::new(self.form);
            }
            for event in &found {
                // What is wrong with an answer is its reader's business.
                let _misread = self.reader.take(event);
            }
            self.usage = self.reader.usage().or(self.usage);
        }
        self.held.clear();
        self.line = 0;
        self.skips = false;
    }

    fn finish(mut self) -> Option<Usage> {
        match self.shape {
            Shape::Events => self.end_event(),
            Shape::Whole if !self.skips => {
                let text = String::from_utf8_lossy(&self.held);
                let answer = forms::read_whole(self.form, &text);
                self.usage = match answer {
                    Ok(answer) => answer.usage,
                    Err(trouble) => trouble.usage,
                };
            }
            Shape::Whole | Shape::Nothing => {}
        }
        self.usage
    }
}

impl Write for Reading {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unpacked = self.unpacked.saturating_add(bytes.len() as u64);
        match self.shape {
            Shape::Events => self.take_events(bytes),
            Shape::Whole if !self.skips => self.hold(bytes),
            Shape::Whole | Shape::Nothing => {}
        }
        match self.unpacked > MOST_UNPACKED && self.shape != Shape::Nothing {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "usage_reader_tests.rs"]
mod tests;
