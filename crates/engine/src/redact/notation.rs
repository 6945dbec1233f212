//! The grammar of what is announced by a name: a name, what closes it, an operator; then a value (`literal.rs`).
//!
//! One grammar serves every notation. Every step looks at a bounded number of bytes.

use crate::redact::scan::Scanner;

/// How far a name reaches to either side of the word that gives it away; the longest names of real configurations are shorter.
const NAME: usize = 64;

/// What stands between the name and the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equals,
    Colon,
    Comparison,
    Argument,
    Tag,
    Cell,
    Space,
}

impl Scanner<'_> {
    /// The whole name around a word.
    pub(super) fn name_around(&self, start: usize, end: usize) -> (usize, usize) {
        let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$');
        let floor = start.saturating_sub(NAME);
        let mut from = start;
        while from > floor && part(self.bytes[from - 1]) {
            from -= 1;
        }
        let ceiling = self.bytes.len().min(end + NAME);
        let mut to = end;
        while to < ceiling && (part(self.bytes[to]) || (self.bytes[to] >= 0x80 && !self.text[start..end].is_ascii())) {
            to += 1;
        }
        while !self.text.is_char_boundary(to) {
            to -= 1;
        }
        // What a sentence or an operator puts after the name is no part of it.
        while to > end && matches!(self.bytes[to - 1], b'.' | b'-' | b'$') {
            to -= 1;
        }
        if to > end && !self.text[start..end].is_ascii() {
            let letters = self.text[end..to]
                .char_indices()
                .find(|(_, letter)| !letter.is_alphanumeric());
            to = letters.map_or(to, |(at, _)| end + at);
        }
        while from < start && matches!(self.bytes[from], b'-' | b'.' | b'$') {
            from += 1;
        }
        // An escape before the name lends it a letter: `\nTOKEN=`.
        if from > 0 && from < start && self.bytes[from - 1] == b'\\' && matches!(self.bytes[from], b'n' | b't' | b'r') {
            from += 1;
        }
        (from, to)
    }

    /// The operator after a name, and where the value may begin.
    pub(super) fn operator(&self, from: usize, to: usize) -> Option<(Operator, usize)> {
        let bytes = self.bytes;
        let mut at = to;
        let mut closed = false;
        while at < bytes.len() && at < to + 8 {
            match bytes[at] {
                b'"' | b'\'' | b'`' => closed = true,
                b'\\' if matches!(bytes.get(at + 1), Some(b'"' | b'\'' | b'\\')) => {}
                b']' | b')' | b'*' | b'}' | b'?' => {}
                _ => break,
            }
            at += 1;
        }
        for (entity, size) in [("&quot;", 6), ("&#34;", 5), ("”", 3), ("»", 2), ("’", 3)] {
            if self.text.as_bytes()[at..].starts_with(entity.as_bytes()) {
                at += size;
                closed = true;
            }
        }
        let after_name = at;
        at = self.skip_blanks(at);
        let spaced = at > after_name;
        let next = *bytes.get(at)?;
        match next {
            b'=' | b':' | b'?' | b'!' | b'.' | b'+' | b'|' | b'-' | b'~' => self.signs(at, spaced, closed),
            b'>' if from > 0 && matches!(bytes[from - 1], b'<' | b':') => Some((Operator::Tag, at + 1)),
            b',' if closed => Some((Operator::Argument, at + 1)),
            b',' => Some((Operator::Cell, at + 1)),
            b'>' if closed => Some((Operator::Tag, at + 1)),
            b'<' => self.after_angle(at),
            b'(' if matches!(bytes.get(at + 1), Some(b'"' | b'\'')) => Some((Operator::Argument, at + 1)),
            b'{' if closed && spaced => self.default_in_block(at),
            b'{' if spaced => self.after_accessor(at),
            b'\n' | b'\r' | b'\\' => self.value_on_next_line(from, at, closed),
            _ if closed && spaced => self.value_attribute(at),
            0xE2 | 0xEF => self.wide_sign(at),
            _ if spaced => self.after_space(at),
            _ => None,
        }
    }

    /// An operator made of signs.
    fn signs(&self, at: usize, spaced: bool, closed: bool) -> Option<(Operator, usize)> {
        let sign = |byte: &u8| {
            matches!(
                byte,
                b'=' | b':' | b'>' | b'-' | b'?' | b'!' | b'.' | b'+' | b'|' | b'~'
            )
        };
        let size = self.bytes[at..].iter().take(4).take_while(|byte| sign(byte)).count();
        let mut signs = &self.text[at..at + size];
        // `:-x` in a shell default, and `=-x`, `=.x`: the sign belongs to the value.
        while signs.len() > 1
            && matches!(
                signs.as_bytes()[signs.len() - 1],
                b'-' | b'.' | b'+' | b'!' | b'~' | b'?'
            )
        {
            signs = &signs[..signs.len() - 1];
        }
        let after = at + signs.len();
        match signs {
            "=" | ":=" | "::=" | ":::=" | "=>" | "?=" | "??=" | "||=" | ".=" | "+=" | "->" | "~>" => {
                Some((Operator::Equals, after))
            }
            "==" | "===" | "!=" | "!==" | "=~" => Some((Operator::Comparison, after)),
            ":" => Some(self.after_type(after).unwrap_or((Operator::Colon, after))),
            "::" if self.bytes.get(after) == Some(&b' ') => Some((Operator::Colon, after)),
            "|" | "||" => Some((Operator::Cell, after)),
            _ if spaced && !closed && signs == "-" => self.after_space(at),
            _ => None,
        }
    }

    /// `: str = "…"`: the value comes after the type.
    fn after_type(&self, at: usize) -> Option<(Operator, usize)> {
        let begin = self.skip_blanks(at);
        let typed = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'_' | b'[' | b']' | b'<' | b'>' | b'|' | b' ' | b'.' | b'&' | b'\''
                )
        };
        let size = self.bytes[begin..]
            .iter()
            .take(40)
            .take_while(|byte| typed(byte))
            .count();
        let is_type = self.bytes.get(begin).is_some_and(u8::is_ascii_alphabetic);
        let assigned = self.bytes.get(begin + size) == Some(&b'=') && self.bytes.get(begin + size + 1) != Some(&b'=');
        (is_type && size > 0 && assigned && self.bytes[begin + size - 1] == b' ')
            .then_some((Operator::Equals, begin + size + 1))
    }

    /// Nothing but space: a flag's value, a line of `.netrc`, `var token string = "…"`, a registry value.
    fn after_space(&self, at: usize) -> Option<(Operator, usize)> {
        const BETWEEN: &[&str] = &[
            "string",
            "String",
            "str",
            "char",
            "text",
            "REG_SZ",
            "REG_EXPAND_SZ",
            "REG_MULTI_SZ",
            "&str",
            "const",
            "std::string",
        ];
        for word in BETWEEN {
            if !self.bytes[at..].starts_with(word.as_bytes()) {
                continue;
            }
            let after = self.skip_blanks(at + word.len());
            if after == at + word.len() {
                continue;
            }
            return match self.bytes.get(after) {
                Some(b'=') => Some((Operator::Equals, after + 1)),
                Some(b':') if self.bytes.get(after + 1) == Some(&b'=') => Some((Operator::Equals, after + 2)),
                _ if word.starts_with("REG") => Some((Operator::Equals, after)),
                _ => continue,
            };
        }
        // Routers write the kind of the password as a digit: `secret 0 …`.
        let kind = self.bytes[at].is_ascii_digit() && self.bytes.get(at + 1) == Some(&b' ');
        Some((Operator::Space, if kind { at + 2 } else { at }))
    }

    /// `name: X` and on the next line `value: …`, as Kubernetes and GitHub write it.
    fn value_on_next_line(&self, from: usize, at: usize, closed: bool) -> Option<(Operator, usize)> {
        let breaks = self.bytes[at..]
            .iter()
            .take(4)
            .take_while(|byte| matches!(byte, b'\n' | b'\r'))
            .count();
        let form = closed
            && self.bytes[at..at + breaks]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                == 2;
        let shown =
            from > 0 && self.bytes[from - 1] == b'$' && self.bytes[..from - 1].trim_ascii_end().ends_with(b"echo");
        if form || shown {
            return Some((Operator::Equals, at + breaks));
        }

        let mut next = at;
        while next < self.bytes.len() && next < at + 80 {
            match self.bytes[next] {
                b' ' | b'\n' | b'\r' | b'\t' | b'"' | b',' | b'\\' => next += 1,
                b'n' | b'r' | b't' if self.bytes[next - 1] == b'\\' => next += 1,
                _ => break,
            }
        }
        let rest = &self.bytes[next.min(self.bytes.len())..];
        let named = [
            "value:",
            "Value:",
            "value\":",
            "Value\":",
            "value\\\":",
            "default:",
            "stringValue:",
        ]
        .iter()
        .find(|start| rest.starts_with(start.as_bytes()))?;
        Some((Operator::Colon, next + named.len()))
    }

    /// `key="X" value="…"`, as XML configurations write it.
    fn value_attribute(&self, at: usize) -> Option<(Operator, usize)> {
        let rest = &self.bytes[at..];
        for start in ["value=", "Value=", "content=", "default=", "value =", "defaultValue="] {
            if rest.starts_with(start.as_bytes()) {
                return Some((Operator::Equals, at + start.len()));
            }
        }
        rest.starts_with(b"is ").then_some((Operator::Equals, at + 3))
    }

    /// `variable "db_password" { default = "…" }`.
    fn default_in_block(&self, at: usize) -> Option<(Operator, usize)> {
        let block = &self.text.as_bytes()[at..self.bytes.len().min(at + 300)];
        let block = &block[..block.iter().position(|byte| *byte == b'}').unwrap_or(block.len())];
        let found = block.windows(7).position(|window| window == b"default")?;
        let sign = block[found..].iter().position(|byte| *byte == b'=')?;
        Some((Operator::Equals, at + found + sign + 1))
    }

    /// `</key><string>…` of a property list, and `<<< …` of a shell.
    fn after_angle(&self, at: usize) -> Option<(Operator, usize)> {
        if self.bytes[at..].starts_with(b"<<<") {
            return Some((Operator::Equals, at + 3));
        }
        let window = &self.bytes[at..self.bytes.len().min(at + 60)];
        let value = memchr::memmem::find(window, b"<string>").filter(|_| window.starts_with(b"</key>"))?;
        Some((Operator::Tag, at + value + 8))
    }

    /// `Password { get; set; } = "…"`.
    fn after_accessor(&self, at: usize) -> Option<(Operator, usize)> {
        let window = &self.bytes[at..self.bytes.len().min(at + 40)];
        let sign = memchr::memmem::find(window, b"} =").filter(|_| memchr::memmem::find(window, b"get").is_some())?;
        Some((Operator::Equals, at + sign + 3))
    }

    /// Signs of other scripts: `：`, `＝`, dashes and arrows.
    fn wide_sign(&self, at: usize) -> Option<(Operator, usize)> {
        let letter = self.text.get(at..)?.chars().next()?;
        matches!(letter, '：' | '＝' | '→' | '⇒' | '—' | '–').then_some((Operator::Colon, at + letter.len_utf8()))
    }
}
