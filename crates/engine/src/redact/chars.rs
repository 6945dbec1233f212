//! Bytes by class, and where a token may begin.
//!
//! Everything here looks at a bounded number of bytes.

/// A set of ASCII bytes.
#[derive(Debug)]
pub(super) struct Class([bool; 256]);

/// The letters that name classes in a shape, and what each class has besides letters and digits.
const NAMED: [(u8, &[u8]); 15] = [
    (b'd', b""),
    (b'h', b""),
    (b'H', b""),
    (b'l', b""),
    (b'U', b""),
    (b'a', b""),
    (b'w', b""),
    (b'v', b""),
    (b'u', b"_-"),
    (b't', b"_-."),
    (b'b', b"+/"),
    (b'x', b"_-="),
    (b's', b"+/_-="),
    (b'p', b"./"),
    (b'q', b"./$=,+_-"),
];

static CLASSES: [Class; 17] = classes();

const fn classes() -> [Class; 17] {
    let mut all = [const { Class([false; 256]) }; 17];
    let mut at = 0;
    while at < NAMED.len() {
        all[at] = class(NAMED[at].0, NAMED[at].1);
        at += 1;
    }
    all[15] = class(b'z', b"_~.");
    all[16] = class(b'y', b"_~.-");
    all
}

const fn class(letter: u8, extra: &[u8]) -> Class {
    let mut set = [false; 256];
    let mut byte = 0;
    while byte < 128u8 {
        set[byte as usize] = match letter {
            b'd' => byte.is_ascii_digit(),
            b'h' => byte.is_ascii_digit() || (byte.is_ascii_hexdigit() && byte.is_ascii_lowercase()),
            b'H' => byte.is_ascii_hexdigit(),
            b'l' => byte.is_ascii_digit() || byte.is_ascii_lowercase(),
            b'U' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            b'a' => byte.is_ascii_alphabetic(),
            b'v' => byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b'<' | b'>'),
            _ => byte.is_ascii_alphanumeric(),
        };
        byte += 1;
    }
    let mut at = 0;
    while at < extra.len() {
        set[extra[at] as usize] = true;
        at += 1;
    }
    Class(set)
}

impl Class {
    /// The class of a letter in a shape; `None` for a letter that names none.
    pub fn of(letter: char) -> Option<&'static Self> {
        let place = match letter {
            'z' => 15,
            'y' => 16,
            _ => NAMED.iter().position(|(name, _)| char::from(*name) == letter)?,
        };
        Some(&CLASSES[place])
    }

    /// Whether a byte belongs to the class.
    pub fn has(&self, byte: u8) -> bool {
        self.0[byte as usize]
    }

    /// Where the run of this class that starts at `start` ends, looking at no more than `most` bytes.
    pub fn run(&self, bytes: &[u8], start: usize, most: usize) -> usize {
        let stop = bytes.len().min(start.saturating_add(most));
        let mut end = start;
        while end < stop && self.has(bytes[end]) {
            end += 1;
        }
        end
    }

    /// Where the run of this class that ends at `end` starts, looking at no more than `most` bytes.
    pub fn run_back(&self, bytes: &[u8], end: usize, most: usize) -> usize {
        let stop = end.saturating_sub(most);
        let mut start = end;
        while start > stop && self.has(bytes[start - 1]) {
            start -= 1;
        }
        start
    }
}

/// Whether a token may begin here: no letter or digit stands before it, or one that ends an escape
/// (`\n`, `%3D`, `\u003d`, a terminal colour).
pub(super) fn starts_here(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| bytes[before]) else {
        return true;
    };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let back = |distance: usize| at.checked_sub(distance).map(|position| bytes[position]);
    if back(2) == Some(b'\\') && matches!(before, b'n' | b'r' | b't' | b'b' | b'f' | b'0') {
        return true;
    }
    let is_hex = |distance: usize| back(distance).is_some_and(|byte| byte.is_ascii_hexdigit());
    if is_hex(1) && is_hex(2) && (back(3) == Some(b'%') || (back(3) == Some(b'x') && back(4) == Some(b'\\'))) {
        return true;
    }
    if (1..=4).all(is_hex) && back(5) == Some(b'u') && back(6) == Some(b'\\') {
        return true;
    }
    before == b'm' && ends_colour(bytes, at - 1)
}

/// Whether the `m` at this place ends a terminal colour such as `ESC[1;31m`.
fn ends_colour(bytes: &[u8], at: usize) -> bool {
    let tail = &bytes[at.saturating_sub(12)..at];
    let digits = tail
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    digits > 0 && tail.len() > digits && tail[tail.len() - digits - 1] == b'['
}

/// Whether a token that ends here is whole: no letter or digit follows.
pub(super) fn ends_here(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric())
}

/// Whether the 36 bytes from here are a UUID.
pub(super) fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The start of the line a position is in, looking back no further than `most` bytes.
pub(super) fn line_start(bytes: &[u8], at: usize, most: usize) -> usize {
    let floor = at.saturating_sub(most);
    let newline = bytes[floor..at].iter().rposition(|byte| *byte == b'\n');
    newline.map_or(floor, |newline| floor + newline + 1)
}

/// The end of the line a position is in, looking no further than `most` bytes.
pub(super) fn line_end(bytes: &[u8], at: usize, most: usize) -> usize {
    let ceiling = bytes.len().min(at.saturating_add(most));
    let newline = bytes[at.min(ceiling)..ceiling].iter().position(|byte| *byte == b'\n');
    newline.map_or(ceiling, |newline| at + newline)
}
