//! A stream of events cut where an event ends, byte for byte: what is put together again is what came.

use bytes::Bytes;
use mainstay_llm::events::Event;
use mainstay_llm::events::Events;
use memchr::memchr2;

/// The largest event that is waited for: one that repeats a whole response, its instructions and its tools has a few megabytes.
const MOST_HELD: usize = 16 << 20;

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub(super) struct EventFrames {
    held: Vec<u8>,
    /// Where the line begins that is coming.
    line: usize,
    after_return: bool,
}

impl EventFrames {
    /// Takes the next bytes; gives what they complete, empty lines included.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Bytes> {
        let mut frames = Vec::new();
        let mut rest = bytes;
        while let Some(at) = memchr2(b'\n', b'\r', rest) {
            let ends_return = at == 0 && rest[0] == b'\n' && self.after_return;
            self.held.extend_from_slice(&rest[..=at]);
            self.after_return = rest[at] == b'\r';
            rest = &rest[at + 1..];
            let is_empty_line = self.held.len() == self.line + 1;
            self.line = self.held.len();
            // The second half of a line's end belongs to it, wherever the first has gone.
            let is_alone = ends_return && self.held.len() == 1;
            if is_alone || (is_empty_line && !ends_return) {
                frames.push(self.rest());
            }
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.held.extend_from_slice(rest);
        }
        frames
    }

    /// What is held of an event that has not ended.
    pub(super) fn rest(&mut self) -> Bytes {
        self.line = 0;
        std::mem::take(&mut self.held).into()
    }

    /// Whether more is held than anybody should wait for.
    pub(super) fn is_overlong(&self) -> bool {
        self.held.len() > MOST_HELD
    }
}

/// The event of a frame, if it is one.
pub(super) fn event(frame: &[u8]) -> Option<Event> {
    let mut events = Events::default();
    let found = events.push(frame).into_iter().next();
    found.or_else(|| events.finish())
}

/// An event as it goes over the wire.
pub(super) fn written(name: Option<&str>, data: &str) -> Bytes {
    let mut text = String::with_capacity(data.len() + 64);
    if let Some(name) = name {
        text.push_str("event: ");
        text.push_str(name);
        text.push('\n');
    }
    for line in data.split('\n') {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_give_the_same_bytes_and_events() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!(": hi{end}{end}event: a{end}data: één{end}data: b{end}{end}data: c{end}{end}data: end");
            let mut found = Vec::new();
            for size in 1..text.len() {
                let mut frames = EventFrames::default();
                let mut cut: Vec<Bytes> = text
                    .as_bytes()
                    .chunks(size)
                    .flat_map(|piece| frames.push(piece))
                    .collect();
                cut.push(frames.rest());
                assert_eq!(cut.concat(), text.as_bytes(), "pieces of {size}");
                let events: Vec<Event> = cut.iter().filter_map(|frame| event(frame)).collect();
                assert_eq!(events.len(), 3, "{end:?} {size}");
                found.push(events);
            }
            assert!(found.windows(2).all(|two| two[0] == two[1]));
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (name, data) in [(Some("a"), "{}"), (None, "x\ny"), (None, "")] {
            let read = event(&written(name, data)).unwrap();
            assert_eq!((read.name.as_deref(), read.data.as_str()), (name, data));
        }
    }
}
