//! Paths and file names in a text:
//! `(?:~|\.{1,2}|[A-Za-z0-9_.@+-]+)?(?:/[A-Za-z0-9_.@+-]+)+|\b[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(?:<ENDINGS>)\b`
//!
//! Either whole runs of path characters with slashes between them, or, in a run without a slash behind it, a name
//! with a known ending. One walk over the bytes; every run is looked at a fixed number of times.

use crate::retention::characters::before;
use crate::retention::characters::is_word;
use crate::retention::characters::is_word_at;

/// Endings by which a bare name is known to be a file.
const ENDINGS: &[&str] = &[
    "go", "py", "rs", "ts", "tsx", "js", "jsx", "mjs", "json", "jsonl", "md", "yaml", "yml", "toml", "sh", "txt", "c",
    "h", "cc", "cpp", "hpp", "java", "kt", "rb", "php", "html", "css", "scss", "sql", "lock", "cfg", "ini", "mod",
    "sum", "xml", "csv", "ipynb", "rst", "proto", "swift", "log", "env", "golden", "tmpl",
];

fn is_path_byte(byte: u8) -> bool {
    is_name_byte(byte) || matches!(byte, b'.' | b'@' | b'+')
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Calls `take` with the start and the end of every path, in order.
pub fn scan(text: &str, take: &mut dyn FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        let run = run_end(bytes, index);
        let slash = if bytes[index] == b'~' { index + 1 } else { run };
        let end = slashes_end(bytes, slash);
        if end > slash {
            take(index, end);
            index = end;
        } else if run > index {
            scan_names(text, index, run, take);
            index = run;
        } else {
            index += 1;
        }
    }
}

fn run_end(bytes: &[u8], index: usize) -> usize {
    let length = bytes[index..].iter().take_while(|byte| is_path_byte(**byte)).count();
    index + length
}

/// The end of `(/run)+` from here; here, where there is none.
fn slashes_end(bytes: &[u8], mut index: usize) -> usize {
    while bytes.get(index) == Some(&b'/') {
        let end = run_end(bytes, index + 1);
        if end == index + 1 {
            break;
        }
        index = end;
    }
    index
}

/// Names with a known ending in a run of path characters.
fn scan_names(text: &str, start: usize, end: usize, take: &mut dyn FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    // Pieces of name characters; a chain is what single dots join.
    let mut chain: Vec<(usize, usize)> = Vec::new();
    let mut index = start;
    while index < end {
        if !is_name_byte(bytes[index]) {
            index += 1;
            continue;
        }
        let length = bytes[index..end].iter().take_while(|byte| is_name_byte(**byte)).count();
        let joins = chain
            .last()
            .is_some_and(|last| last.1 + 1 == index && bytes[last.1] == b'.');
        if !joins {
            take_name(text, &chain, take);
            chain.clear();
        }
        chain.push((index, index + length));
        index += length;
    }
    take_name(text, &chain, take);
}

/// The one name in a chain: as much of it as ends in a known ending.
fn take_name(text: &str, chain: &[(usize, usize)], take: &mut dyn FnMut(usize, usize)) {
    let ending = (1..chain.len())
        .rev()
        .find_map(|place| Some((place, ending_end(text, chain[place])?)));
    let Some((place, end)) = ending else { return };
    let starts = chain[..place].iter().flat_map(|piece| piece.0..piece.1);
    // At a word boundary: a letter behind none, or a hyphen behind a letter.
    let is_boundary = |index: &usize| before(text, *index).is_some_and(is_word) != is_word_at(text, *index);
    if let Some(start) = starts.into_iter().find(is_boundary) {
        take(start, end);
    }
}

/// Where a known ending ends with which this piece begins, at the end of a word.
fn ending_end(text: &str, piece: (usize, usize)) -> Option<usize> {
    let bytes = &text.as_bytes()[piece.0..piece.1];
    let length = bytes.iter().take_while(|byte| **byte != b'-').count();
    let end = piece.0 + length;
    (ENDINGS.contains(&&text[piece.0..end]) && !is_word_at(text, end)).then_some(end)
}
