//! Server-sent events out of bytes that arrive in pieces of any size.
//!
//! Linear in the bytes whatever the pieces; a byte order mark, comments, all three line ends and bytes that are no UTF-8 are
//! taken as the standard has it. One leniency: an event that ends with the stream instead of an empty line counts.

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its data, lines joined by line feeds.
    pub data: String,
}

/// Takes bytes and gives events.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    begun: bool,
    after_return: bool,
    name: Option<String>,
    data: Option<String>,
}

impl Events {
    /// Takes the next bytes; gives the events they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let follows_return = at == 0 && rest[0] == b'\n' && self.after_return && self.line.is_empty();
            self.after_return = rest[at] == b'\r';
            if !follows_return {
                self.line.extend_from_slice(&rest[..at]);
                events.extend(self.end_line());
            }
            rest = &rest[at + 1..];
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.line.extend_from_slice(rest);
        }
        events
    }

    /// The event that the stream ended in, if it ended in one.
    pub fn finish(mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = String::from_utf8_lossy(&line).into_owned();
        if !std::mem::replace(&mut self.begun, true) && line.starts_with('\u{feff}') {
            line.remove(0);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments, ids, retry times and what nobody knows.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = self.name.take();
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &[u8]) -> Vec<Event> {
        let mut events = Events::default();
        let mut found = events.push(text);
        found.extend(events.finish());
        found
    }

    #[test]
    fn pieces_of_any_size_give_the_same_events() {
        let text =
            "\u{feff}: hi\r\nevent: a\r\ndata: één\r\ndata: two\r\n\r\ndata:x\n\n\rretry: 5\rid\rdata\r\rdata: end";
        let expected = whole(text.as_bytes());
        let datas: Vec<_> = expected.iter().map(|event| event.data.as_str()).collect();
        assert_eq!(datas, ["één\ntwo", "x", "", "end"]);
        assert_eq!(expected[0].name.as_deref(), Some("a"));
        for size in 1..text.len() {
            let mut events = Events::default();
            let mut found: Vec<Event> = text
                .as_bytes()
                .chunks(size)
                .flat_map(|piece| events.push(piece))
                .collect();
            found.extend(events.finish());
            assert_eq!(found, expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_event_without_data_is_none() {
        assert!(whole(b"event: ping\n\n: comment\n\n").is_empty());
        assert_eq!(whole(b"data: \xff\n\n")[0].data, "\u{fffd}");
    }
}
