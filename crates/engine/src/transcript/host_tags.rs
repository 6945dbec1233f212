//! The tags of agent programs in a text, each opening with its closing.

use std::ops::Range;

use crate::transcript::host_marks::HostTag;
use crate::transcript::host_marks::Inside;
use crate::transcript::host_marks::TAGS;

/// How long a tag may be, attributes included.
const LONGEST_TAG: usize = 400;

/// A known tag.
#[derive(Clone, Debug)]
pub(super) struct TagToken {
    pub range: Range<usize>,
    pub closes: bool,
    pub inside: Inside,
    /// The other end: of the nearest opening and closing that belong together.
    pub mate: Option<usize>,
    /// The next closing of this name, whichever opening it belongs to.
    pub first_close: Option<usize>,
    /// Whether people use this name as well.
    pub is_common: bool,
    tag: usize,
}

/// The known tags of a text, in order.
pub(super) fn tag_tokens(text: &str) -> Vec<TagToken> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(index) = text[at..].find('<') {
        let start = at + index;
        at = start + 1;
        if let Some(token) = token_at(text, start) {
            at = token.range.end;
            tokens.push(token);
        }
    }
    pair(&mut tokens);
    tokens
}

fn token_at(text: &str, start: usize) -> Option<TagToken> {
    let body = &text[start + 1..];
    let (closes, body) = body.strip_prefix('/').map_or((false, body), |body| (true, body));
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let length = body.find(|letter| !is_name(letter)).unwrap_or(body.len());
    let (name, rest) = body.split_at(length);
    if name.is_empty() || !rest.starts_with(['>', ' ', '\t']) {
        return None;
    }
    let attributes = rest.trim_start();
    let tag = TAGS.iter().position(|tag| fits(tag, name, attributes, closes))?;
    let window = rest.bytes().take(LONGEST_TAG);
    let close = window.take_while(|byte| *byte != b'\n').position(|byte| byte == b'>')?;
    if rest[..close].ends_with('/') {
        return None;
    }
    let end = start + 1 + usize::from(closes) + length + close + 1;
    Some(TagToken {
        range: start..end,
        closes,
        inside: TAGS[tag].inside,
        mate: None,
        first_close: None,
        is_common: !TAGS[tag].attributes.is_empty(),
        tag,
    })
}

fn fits(tag: &HostTag, name: &str, attributes: &str, closes: bool) -> bool {
    let is_named = match tag.name.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => tag.name == name,
    };
    let mut wanted = tag.attributes.iter();
    is_named && (closes || tag.attributes.is_empty() || wanted.any(|attribute| attributes.starts_with(attribute)))
}

/// Finds the closing of every opening. Tags of one name may nest.
fn pair(tokens: &mut [TagToken]) {
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); TAGS.len()];
    for index in 0..tokens.len() {
        let tag = tokens[index].tag;
        if !tokens[index].closes {
            open[tag].push(index);
        } else if let Some(opening) = open[tag].pop() {
            tokens[opening].mate = Some(index);
            tokens[index].mate = Some(opening);
        }
    }
    let mut closes = vec![None; TAGS.len()];
    for index in (0..tokens.len()).rev() {
        let tag = tokens[index].tag;
        if tokens[index].closes {
            closes[tag] = Some(index);
        } else {
            tokens[index].first_close = closes[tag];
        }
    }
}
