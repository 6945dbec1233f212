//! The ways to read a string: as it stands, with escapes read, with percent signs read, and what base64 in it says.

/// Runs of base64 shorter than this say nothing that could be told from chance.
const SHORTEST_RUN: usize = 20;

/// All readings, the plain one first.
pub(super) fn of(text: &str) -> Vec<(&'static str, String)> {
    let mut views = vec![("plain", text.to_owned())];
    if text.contains('\\') {
        views.push(("escaped", unescaped(text)));
    }
    if text.contains('%') {
        let read = without_percent(text);
        if read != text {
            views.push(("percent", read));
        }
    }
    let hidden = inside_base64(text);
    if !hidden.is_empty() {
        views.push(("base64", hidden));
    }
    views
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.clone().next() {
            Some('n' | 'r' | 't') => {
                rest.next();
                out.push('\n');
            }
            Some('u') => {
                let digits: String = rest.clone().skip(1).take(4).collect();
                match u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32)
                    .filter(|_| digits.len() == 4)
                {
                    Some(decoded) => {
                        rest.nth(4);
                        out.push(decoded);
                    }
                    None => out.push('\\'),
                }
            }
            Some('/' | '"') => {}
            _ => out.push('\\'),
        }
    }
    out
}

fn without_percent(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    while at < bytes.len() {
        match (bytes[at], digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What the runs of base64 of a text say, one a line; runs that say no text are left out.
fn inside_base64(text: &str) -> String {
    let mut out = String::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    for run in text
        .split(|c: char| !is_part(c))
        .filter(|run| run.len() >= SHORTEST_RUN)
    {
        let values: Option<Vec<u32>> = run.bytes().map(value).collect();
        let Some(values) = values else { continue };
        let mut bytes = Vec::with_capacity(run.len());
        for four in values.chunks(4).filter(|four| four.len() > 1) {
            let word = (0..4).fold(0, |word, index| (word << 6) | four.get(index).copied().unwrap_or(0));
            bytes.extend((0..four.len() - 1).map(|index| (word >> (16 - 8 * index)) as u8));
        }
        if let Ok(said) = String::from_utf8(bytes)
            && said
                .chars()
                .all(|c| !c.is_control() || c == '\n' || c == '\t' || c == '\r')
        {
            out.push_str(&said);
            out.push('\n');
        }
    }
    out
}

fn value(byte: u8) -> Option<u32> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let byte = match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    memchr::memchr(byte, LETTERS).and_then(|at| u32::try_from(at).ok())
}
