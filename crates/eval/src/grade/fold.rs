//! Texts brought to one spelling, so that the same thing said with other characters is the same.
//!
//! Two passes. [`characters`] unifies characters: compatibility forms (full width, ligatures, wide and thin spaces), quotes,
//! dashes, arrows, case, escapes of JSON and terminals, decoration of Markdown. [`Folded::new`] goes on by lines and
//! words: markers of lists and headings go, units stand apart from their numbers, small numbers in words become digits, `n't`
//! becomes `not`. What it yields is one line of words with single spaces, and beside it where sentences and clauses begin.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::grade::marks;
use crate::grade::words;
use crate::ledger_text::corrections;

/// Lines of running text are broken late: what ends earlier than this was meant to end. Half of the usual eighty columns and some.
const SHORT_LINE: usize = 50;

/// Where something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Break {
    /// A part of a sentence.
    Clause,
    /// A sentence, an item of a list, a row of a table.
    Sentence,
}

/// A text in one spelling.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    /// Words with single spaces between them.
    pub text: String,
    /// Where sentences and clauses begin, in order.
    breaks: Vec<(usize, Break)>,
    /// Stretches that are struck through, in order.
    struck: Vec<Range<usize>>,
    /// Stretches that a mark of the block says are corrected, in order.
    corrected: Vec<Range<usize>>,
    /// From where on a heading says that what follows is past, or that it is not any more.
    sections: Vec<(usize, bool)>,
    /// Whether the text has words of German or Russian: a comma may stand before decimals, a point between thousands.
    pub is_continental: bool,
    /// Whether it has words of German: nouns and adjectives take its endings.
    pub is_german: bool,
}

impl Folded {
    /// Brings a text to its one spelling.
    pub fn new(text: &str) -> Self {
        let (cleaned, struck) = characters(text);
        let mut writer = Writer {
            struck,
            ..Writer::default()
        };
        let mut offset = 0;
        for line in cleaned.split('\n') {
            writer.line(line, offset);
            offset += line.len() + 1;
        }
        let mut folded = writer.folded;
        folded.is_german = folded.text.split(' ').any(words::is_german);
        let is_cyrillic = |c: char| ('\u{400}'..='\u{4ff}').contains(&c);
        folded.is_continental = folded.is_german || folded.text.contains(is_cyrillic);
        folded
    }

    /// The part of the sentence or the whole sentence around a place.
    pub fn around(&self, place: &Range<usize>, level: Break) -> Range<usize> {
        let counts = |(at, found): &&(usize, Break)| *found >= level && *at <= self.text.len();
        let before = self.breaks.partition_point(|(at, _)| *at <= place.start);
        let start = self.breaks[..before].iter().rev().take(MOST_BREAKS).find(counts);
        let after = self.breaks.partition_point(|(at, _)| *at < place.end);
        let end = self.breaks[after..].iter().take(MOST_BREAKS).find(counts);
        let start = start.map_or(0, |(at, _)| *at);
        let end = end.map_or(self.text.len(), |(at, _)| *at);
        start..end.max(place.end)
    }

    /// Whether a sentence ends within a place.
    pub fn spans_sentences(&self, place: &Range<usize>) -> bool {
        let from = self.breaks.partition_point(|(at, _)| *at <= place.start);
        self.breaks[from..]
            .iter()
            .take_while(|(at, _)| *at < place.end)
            .any(|(_, found)| *found == Break::Sentence)
    }

    /// Whether a sentence begins at a place.
    pub fn begins_sentence(&self, at: usize) -> bool {
        let found = self.breaks.binary_search_by(|(start, _)| start.cmp(&at));
        at == 0 || found.is_ok_and(|index| self.breaks[index].1 == Break::Sentence)
    }

    /// Whether a place is struck through, is marked as corrected, or stands under a heading that says it is past.
    pub fn is_set_aside(&self, at: usize) -> bool {
        let is_within = |ranges: &[Range<usize>]| {
            let next = ranges.partition_point(|range| range.start <= at);
            next > 0 && ranges[next - 1].end > at
        };
        let is_struck = is_within(&self.struck) || is_within(&self.corrected);
        let section = self.sections.partition_point(|(start, _)| *start <= at);
        is_struck || (section > 0 && self.sections[section - 1].1)
    }
}

/// So many breaks are passed over in search of one of the right level: a sentence with more clauses is no sentence.
const MOST_BREAKS: usize = 64;

/// Characters that say nothing: soft hyphens, characters without width, marks of direction and of variants.
fn is_void(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{307}'
    )
}

/// A text with unified characters, and what of it is struck through.
fn characters(text: &str) -> (String, Vec<Range<usize>>) {
    // Raised and lowered digits are no digits of the number before them.
    let raised = |c: char| match c {
        '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{2070}'..='\u{209c}' => ' ',
        other => other,
    };
    let unified: Vec<char> = match text.is_ascii() {
        true => text.chars().collect(),
        false => text.chars().map(raised).nfkc().filter(|c| !is_void(*c)).collect(),
    };
    let mut cleaner = Cleaner {
        out: String::with_capacity(unified.len()),
        ..Cleaner::default()
    };
    let mut at = 0;
    while at < unified.len() {
        at += cleaner.next(&unified, at);
    }
    (cleaner.out, cleaner.struck)
}

#[derive(Default)]
struct Cleaner {
    out: String,
    struck: Vec<Range<usize>>,
    struck_from: Option<usize>,
    /// Where the word began.
    word: usize,
    /// Whether a single star opened emphasis on this line.
    is_emphasised: bool,
}

impl Cleaner {
    /// Takes the next characters in and says how many they were.
    fn next(&mut self, all: &[char], at: usize) -> usize {
        let c = all[at];
        let following = all.get(at + 1).copied().unwrap_or(' ');
        let preceding = self.out.chars().next_back().unwrap_or(' ');
        match c {
            'a'..='z' | '0'..='9' => self.out.push(c),
            '\\' => return self.escape(all, at),
            '\u{1b}' if following == '[' => {
                let end = all[at..].iter().skip(2).take(16).position(char::is_ascii_alphabetic);
                return end.map_or(2, |end| end + 3);
            }
            '\n' => self.newline(),
            '\r' if following == '\n' => {}
            '\r' => self.newline(),
            '*' | '~' => return self.decoration(all, at, preceding),
            '`' if preceding.is_alphanumeric() && following.is_alphanumeric() => self.space(),
            '`' => {}
            '"' | '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2039}' | '\u{203a}' | '|' => self.space(),
            '\'' | '\u{2018}'..='\u{201b}' | '\u{2032}' => {
                if preceding.is_alphanumeric() && following.is_alphanumeric() {
                    self.out.push('\'');
                } else {
                    self.space();
                }
            }
            '\u{2014}' | '\u{2015}' => self.apart("-"),
            '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe63}' => self.out.push('-'),
            '\u{2192}' | '\u{21d2}' | '\u{27f6}' | '\u{27f9}' | '\u{2794}' | '\u{279c}' | '\u{21a6}' => {
                self.apart("->")
            }
            '-' | '=' if following == '>' => {
                self.apart("->");
                return 2;
            }
            '\u{df}' | '\u{1e9e}' => self.out.push_str("ss"),
            '\u{451}' | '\u{401}' => self.out.push('\u{435}'),
            c if c.is_whitespace() || c.is_control() => self.space(),
            c => self.out.extend(c.to_lowercase().filter(|c| !is_void(*c))),
        }
        1
    }

    fn space(&mut self) {
        self.out.push(' ');
        self.word = self.out.len();
    }

    fn newline(&mut self) {
        self.out.push('\n');
        self.word = self.out.len();
        self.is_emphasised = false;
    }

    fn apart(&mut self, sign: &str) {
        self.space();
        self.out.push_str(sign);
        self.space();
    }

    /// A run of backslashes: an escape of JSON, or a separator in a path.
    fn escape(&mut self, all: &[char], at: usize) -> usize {
        let run = all[at..].iter().take_while(|c| **c == '\\').count();
        let word = self.out.get(self.word..).unwrap_or("").as_bytes();
        let is_drive = word.len() >= 2 && word[0].is_ascii_alphabetic() && word[1] == b':';
        match all.get(at + run) {
            Some('n' | 'r') if !is_drive => self.newline(),
            Some('t' | '"' | '\'') if !is_drive => self.space(),
            Some('u') => {
                let digits: String = all[at + run + 1..].iter().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
                let Some(decoded) = code.and_then(char::from_u32) else {
                    self.out.push('/');
                    return run;
                };
                // An escaped character is read as if it stood there, but for one that would itself be an escape.
                if decoded != '\\' {
                    self.next(&[decoded], 0);
                }
                return run + 5;
            }
            Some('/') => return run,
            Some(_) | None => {
                self.out.push('/');
                return run;
            }
        }
        run + 1
    }

    /// Stars and tildes: emphasis and strikethrough of Markdown, or themselves.
    fn decoration(&mut self, all: &[char], at: usize, preceding: char) -> usize {
        let sign = all[at];
        let run = all[at..].iter().take_while(|c| **c == sign).count();
        let following = all.get(at + run).copied().unwrap_or(' ');
        let is_inside = preceding.is_alphanumeric() && following.is_alphanumeric();
        match (sign, run) {
            ('~', 2) => match self.struck_from.take() {
                Some(start) => self.struck.push(start..self.out.len()),
                None => self.struck_from = Some(self.out.len()),
            },
            ('*', 1) if !preceding.is_alphanumeric() && following.is_alphanumeric() => self.is_emphasised = true,
            ('*', 1) if self.is_emphasised && !preceding.is_whitespace() && !following.is_alphanumeric() => {
                self.is_emphasised = false;
            }
            ('*', 2..) if !is_inside => {}
            (_, _) => (0..run).for_each(|_| self.out.push(sign)),
        }
        run
    }
}

/// Puts lines together.
#[derive(Default)]
struct Writer {
    folded: Folded,
    struck: Vec<Range<usize>>,
    /// How many struck stretches lie behind us.
    passed: usize,
    /// Length of the line before; `None` at the start and behind an empty line.
    before: Option<usize>,
    heading_is_past: bool,
    /// An introduction (`Superseded:`) holds for the items below it.
    introduction_is_past: bool,
}

impl Writer {
    fn line(&mut self, line: &str, offset: usize) {
        let shape = LineShape::of(line);
        let rest = shape.rest;
        if rest.is_empty() {
            self.before = None;
            return;
        }
        let begins_anew = shape.is_heading || shape.is_item || self.before.is_none_or(|length| length < SHORT_LINE);
        if begins_anew {
            self.mark(Break::Sentence);
        }
        if shape.is_heading {
            self.heading_is_past = marks::is_past_heading(rest);
            self.introduction_is_past = false;
        } else if !shape.is_item {
            self.introduction_is_past = rest.ends_with(':') && marks::is_past_heading(rest);
        }
        let is_past = self.heading_is_past || self.introduction_is_past;
        if self.folded.sections.last().is_some_and(|(_, past)| *past) != is_past {
            let at = self.folded.text.len();
            self.folded.sections.push((at, is_past));
        }
        let start = self.folded.text.len();
        let indent = offset + (line.len() - line.trim_start().len()) + shape.skipped;
        let mut place = indent;
        for piece in rest.split_inclusive(' ') {
            let token = piece.trim_end_matches(' ');
            if !token.is_empty() {
                self.token(token, place);
            }
            place += piece.len();
        }
        self.set_corrected_aside(start);
        self.before = match shape.is_heading {
            true => None,
            false => Some(line.len()),
        };
    }

    /// Sets aside what a mark of the block (`corrected m147`, `until m12`, `→ now`) says is corrected, in the line that starts here.
    ///
    /// A mark behind the whole line covers the line, one that more words follow covers the sentence before it, and one that opens
    /// the line covers it all.
    fn set_corrected_aside(&mut self, start: usize) {
        let folded = &mut self.folded;
        let line = &folded.text[start..];
        let Some(mark) = corrections::correction(line) else {
            return;
        };
        let is_at_end = !line[mark.end..].contains(char::is_alphanumeric);
        let opens = !line[..mark.start].split(' ').any(is_said_word);
        let covered = if is_at_end || opens {
            start..folded.text.len()
        } else {
            let at = start + mark.start;
            let inside = folded.breaks.iter().rev().skip_while(|(place, _)| *place > at);
            // The mark may stand behind the end of its sentence; then the sentence before that end is meant.
            let begin = inside.take_while(|(place, _)| *place > start).find(|(place, level)| {
                *level == Break::Sentence && folded.text[*place..at].split(' ').any(is_said_word)
            });
            begin.map_or(start, |(place, _)| *place)..at
        };
        folded.corrected.push(covered);
    }

    /// A sentence or clause begins with the next word.
    fn mark(&mut self, level: Break) {
        let at = match self.folded.text.is_empty() {
            true => 0,
            false => self.folded.text.len() + 1,
        };
        match self.folded.breaks.last_mut() {
            Some((last, found)) if *last == at => *found = (*found).max(level),
            Some(_) | None => self.folded.breaks.push((at, level)),
        }
    }

    fn token(&mut self, token: &str, place: usize) {
        if token.starts_with(['(', '[']) || token == "-" || marks::opens_clause(token) {
            self.mark(Break::Clause);
        }
        while self.struck.get(self.passed).is_some_and(|range| range.end <= place) {
            self.passed += 1;
        }
        let is_struck = self
            .struck
            .get(self.passed)
            .is_some_and(|range| range.start < place + token.len());
        let start = self.folded.text.len();
        words::push(&mut self.folded.text, token);
        if is_struck {
            let end = self.folded.text.len();
            self.folded.struck.push(start..end);
        }
        let bare = token.trim_end_matches([')', ']', '\'', '}']);
        if bare.ends_with(['.', '!', '?', ';']) && !words::is_abbreviation(bare) {
            self.mark(Break::Sentence);
        } else if bare.ends_with(',') || bare.len() < token.len() || token == "-" {
            self.mark(Break::Clause);
        }
    }
}

/// Whether a token is something that was said, not the head of a line (`[user m12]`) or a sign.
fn is_said_word(token: &str) -> bool {
    let is_head = token.starts_with('[') || token.ends_with(']') || token.starts_with('(');
    let bare = token.trim_matches(|c: char| !c.is_alphanumeric());
    !is_head && !bare.is_empty() && !corrections::is_message_number(bare)
}

/// What a line is, and what of it are words.
struct LineShape<'a> {
    rest: &'a str,
    skipped: usize,
    is_heading: bool,
    is_item: bool,
}

impl<'a> LineShape<'a> {
    fn of(line: &'a str) -> Self {
        let trimmed = line.trim();
        let mut rest = trimmed;
        while let Some(quoted) = rest.strip_prefix('>') {
            rest = quoted.trim_start();
        }
        let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = (1..=6).contains(&hashes) && rest[hashes..].starts_with(' ');
        let mut is_item = trimmed.starts_with('>');
        if is_heading {
            rest = rest[hashes..].trim_start();
        } else if let Some(item) = item(rest) {
            rest = item.trim_start();
            is_item = true;
        }
        if rest
            .bytes()
            .all(|byte| matches!(byte, b'-' | b':' | b'=' | b' ' | b'+'))
        {
            rest = "";
        }
        Self {
            skipped: trimmed.len() - rest.len(),
            rest,
            is_heading,
            is_item,
        }
    }
}

/// What stands behind the marker of a list.
fn item(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '\u{2022}']) {
        let rest = rest.strip_prefix(' ')?;
        let boxed = rest.strip_prefix("[ ] ").or_else(|| rest.strip_prefix("[x] "));
        return Some(boxed.unwrap_or(rest));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    // Longer numbers at the start of a line are numbers.
    if digits == 0 || digits > 2 {
        return None;
    }
    line[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ')
}
