//! The walk over a text of the user role that gives each stretch to its author.

use std::ops::Range;

use crate::transcript::block_opening::opens_block;
use crate::transcript::block_opening::opens_request;
use crate::transcript::host_marks::Extent;
use crate::transcript::host_marks::HostOpening;
use crate::transcript::host_marks::Inside;
use crate::transcript::host_marks::OPENINGS;
use crate::transcript::host_marks::PROGRAM_COMMANDS;
use crate::transcript::host_marks::PROGRAM_COMMANDS_WITH_WORDS;
use crate::transcript::host_marks::REFERENCES_END;
use crate::transcript::host_marks::framing_author;
use crate::transcript::host_marks::names_hook;
use crate::transcript::host_tags::TagToken;
use crate::transcript::host_tags::tag_tokens;
use crate::transcript::message::Author;
use crate::transcript::text_segment::TextSegment;

/// Fences longer than this count as this long.
const LONGEST_FENCE: usize = 16;

/// How many lines a note in brackets may have.
const LONGEST_NOTE: usize = 40;

/// What one text opens and the next goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carry {
    Nothing,
    /// What a tool gave back, as text, or what a program says around the person's words.
    Framed(Author),
    /// Files that the person referred to.
    References,
    /// The next text and no more.
    Next(Author),
}

/// The walk over one text. It goes line by line and never back.
pub(super) struct Splitter<'a> {
    text: &'a str,
    tokens: Vec<TagToken>,
    /// The first token that was not looked at.
    next: usize,
    /// Up to where the text was looked at.
    at: usize,
    /// Where the stretch begins that nobody has claimed.
    from: usize,
    /// Whose words those are that nobody claims.
    base: Author,
    carry: Carry,
    /// The closing tokens of the wrappers around the person's words here.
    wrappers: Vec<usize>,
    /// Whether the command was one to the program.
    is_program_command: bool,
    /// The shortest fences, of backticks and of tildes, that are known to stay open.
    open_fences: [usize; 2],
    /// Whether no spoken words are closed from here on.
    has_open_speech: bool,
    pieces: Vec<(Author, Range<usize>)>,
}

impl<'a> Splitter<'a> {
    pub fn new(text: &'a str, carry: Carry) -> Self {
        Self {
            text,
            tokens: tag_tokens(text),
            next: 0,
            at: 0,
            from: 0,
            base: match carry {
                Carry::Nothing => Author::User,
                Carry::Framed(author) | Carry::Next(author) => author,
                Carry::References => Author::Host,
            },
            carry: match carry {
                Carry::Next(_) => Carry::Nothing,
                Carry::Nothing | Carry::Framed(_) | Carry::References => carry,
            },
            wrappers: Vec::new(),
            is_program_command: false,
            open_fences: [usize::MAX; 2],
            has_open_speech: false,
            pieces: Vec::new(),
        }
    }

    /// The segments, and what a text behind this one goes on with.
    pub fn run(mut self) -> (Vec<TextSegment<'a>>, Carry) {
        let opening = self.text.trim_start();
        if opens_block(self.text) || opens_request(opening) {
            self.claim(Author::Summary, 0..self.text.len());
            return self.finish();
        }
        if let Some(author) = framing_author(opening) {
            self.base = author;
            self.carry = Carry::Framed(author);
        }
        if self.carry == Carry::References
            && let Some(index) = self.text.find(REFERENCES_END)
        {
            self.claim(Author::Host, 0..line_end(self.text, index));
            self.base = Author::User;
            self.carry = Carry::Nothing;
        }
        let is_wrapped = |token: &TagToken| {
            token.inside == Inside::PersonOnly && token.mate.is_some() && self.opens_line(token.range.start)
        };
        if self.tokens.iter().any(is_wrapped) {
            self.base = Author::Host;
        }
        while self.at < self.text.len() {
            self.line();
        }
        self.leave(self.text.len());
        self.finish()
    }

    fn finish(self) -> (Vec<TextSegment<'a>>, Carry) {
        let carry = self.carry;
        (self.segments(), carry)
    }

    /// Looks at the rest of the line.
    fn line(&mut self) {
        let rest = &self.text[self.at..];
        let end = self.at + rest.find('\n').map_or(rest.len(), |index| index + 1);
        let line = &self.text[self.at..end];
        let start = self.at + line.len() - line.trim_start().len();
        let opens_line = self.at == 0 || self.text[..self.at].ends_with('\n');
        let is_edge = opens_line || (self.from == self.at && !self.pieces.is_empty());
        if opens_line && self.is_persons() {
            if let Some(after) = self.behind_fence(start, end) {
                self.at = after;
                return;
            }
            if self.text[start..end].starts_with('>') {
                self.at = end;
                return;
            }
        }
        if is_edge && start < end && self.claim_opening(start) {
            return;
        }
        if !self.claim_tag(end, is_edge) {
            self.at = end;
        }
    }

    fn is_persons(&self) -> bool {
        self.owner() == Author::User
    }

    /// Whose words those are that nobody claims here.
    fn owner(&self) -> Author {
        match self.wrappers.is_empty() {
            true => self.base,
            false => Author::User,
        }
    }

    /// Gives what nobody claimed before a place to its owner.
    fn leave(&mut self, start: usize) {
        if self.from < start {
            self.pieces.push((self.owner(), self.from..start));
            self.from = start;
        }
    }

    /// Gives a stretch to its author.
    fn claim(&mut self, author: Author, range: Range<usize>) {
        self.leave(range.start);
        self.pieces.push((author, range.clone()));
        self.from = range.end;
        self.at = range.end;
        while self
            .wrappers
            .last()
            .is_some_and(|close| self.tokens[*close].range.start < self.at)
        {
            self.wrappers.pop();
        }
    }

    /// Where the lines go on behind a fenced block that opens here and is closed.
    fn behind_fence(&mut self, start: usize, end: usize) -> Option<usize> {
        let (kind, length) = fence(&self.text[start..end])?;
        if length >= self.open_fences[kind] {
            return None;
        }
        let mut at = end;
        for line in self.text[end..].split_inclusive('\n') {
            at += line.len();
            let body = line.trim();
            if fence(body).is_some_and(|(other, more)| other == kind && more >= length)
                && body.chars().all(|letter| body.starts_with(letter))
            {
                return Some(at);
            }
        }
        self.open_fences[kind] = length;
        None
    }

    /// Claims a stretch that opens here with known words.
    fn claim_opening(&mut self, start: usize) -> bool {
        let text = &self.text[start..];
        let is_first = self.pieces.is_empty() && self.text[..start].trim().is_empty();
        let known = OPENINGS
            .iter()
            .find(|opening| (opening.within || is_first) && text.starts_with(opening.words));
        if let Some(opening) = known {
            self.claim_extent(opening, start);
            return true;
        }
        if names_hook(text) {
            let end = self.paragraph_end(start);
            self.claim(Author::Host, start..end);
            return true;
        }
        false
    }

    fn claim_extent(&mut self, opening: &HostOpening, start: usize) {
        let text = self.text;
        let behind = start + opening.words.len();
        let find = |words: &str| text[behind..].find(words).map(|index| behind + index);
        let end = match opening.extent {
            Extent::Words => behind,
            Extent::Bracket => self.bracket_end(start),
            Extent::SpokenBracket if self.has_open_speech => behind,
            Extent::SpokenBracket => match find("\"]") {
                Some(close) => {
                    self.claim(Author::Host, start..behind);
                    self.claim(Author::User, behind..close);
                    return self.claim(Author::Host, close..close + 2);
                }
                None => {
                    self.has_open_speech = true;
                    behind
                }
            },
            Extent::Paragraph => self.paragraph_end(start),
            Extent::Text => text.len(),
            Extent::TextAndNext(author) => {
                self.carry = Carry::Next(author);
                text.len()
            }
            Extent::Through(words) => match find(words) {
                Some(index) => line_end(text, index),
                None => {
                    if words == REFERENCES_END {
                        self.carry = Carry::References;
                    }
                    text.len()
                }
            },
            Extent::Behind(words) => find(words).map_or(text.len(), |index| index + words.len()),
        };
        self.claim(opening.author, start..end);
    }

    /// Where a note in brackets ends: in its line where it is closed there, else at the next line that ends in a bracket.
    fn bracket_end(&self, start: usize) -> usize {
        let end = line_end(self.text, start);
        let mut depth = 0_usize;
        for (index, letter) in self.text[start..end].char_indices() {
            match letter {
                '[' => depth += 1,
                ']' if depth <= 1 => return start + index + 1,
                ']' => depth -= 1,
                _ => {}
            }
        }
        let mut at = end;
        for line in self.text[end..].split_inclusive('\n').take(LONGEST_NOTE) {
            at += line.len();
            let is_end = line.trim_end().ends_with(']');
            if is_end || line.trim().is_empty() {
                return if is_end { at } else { end };
            }
        }
        end
    }

    /// Where a stretch without an end of its own stops: before the next known tag in a line of its own, and before a paragraph
    /// that reads like a person's.
    fn paragraph_end(&self, start: usize) -> usize {
        let mut at = line_end(self.text, start);
        let mut token = self.tokens.partition_point(|token| token.range.start < at);
        let mut was_blank = false;
        for line in self.text[at..].split_inclusive('\n') {
            let first = line.trim_start();
            let begins = at + line.len() - first.len();
            while self.tokens.get(token).is_some_and(|token| token.range.start < begins) {
                token += 1;
            }
            let opens_tag = self
                .tokens
                .get(token)
                .is_some_and(|token| token.range.start == begins && token.mate.is_some() && !token.closes);
            if opens_tag || was_blank && line.starts_with(char::is_alphabetic) {
                return at;
            }
            was_blank = first.is_empty();
            at += line.len();
        }
        at
    }

    /// Claims what the first telling tag of the line holds.
    fn claim_tag(&mut self, end: usize, is_edge: bool) -> bool {
        let mut counted = self.at;
        let mut ticks = 0;
        while let Some(token) = self
            .tokens
            .get(self.next)
            .filter(|token| token.range.start < end)
            .cloned()
        {
            let index = self.next;
            self.next += 1;
            if token.range.start < self.at {
                continue;
            }
            let before = &self.text[counted..token.range.start];
            ticks += before.bytes().filter(|byte| *byte == b'`').count();
            counted = token.range.start;
            let follows = &self.text[self.at..token.range.start];
            let is_quoted = ticks % 2 == 1 || follows.ends_with(['"', '\'', '“', '„', '«', '‘']);
            let place = TagPlace {
                is_first: is_edge && follows.trim().is_empty(),
                is_quoted,
            };
            let claimed = match token.closes {
                true => self.claim_closing(index, &token, &place),
                false => self.claim_opened(&token, &place),
            };
            if claimed {
                return true;
            }
        }
        false
    }

    fn claim_closing(&mut self, index: usize, token: &TagToken, place: &TagPlace) -> bool {
        if self.wrappers.last() == Some(&index) {
            self.leave(token.range.start);
            self.wrappers.pop();
            self.claim(Author::Host, token.range.clone());
            return true;
        }
        // A closing without its opening: what it holds began before a closing that was not meant.
        let is_telling = !token.is_common || self.text.trim().len() == token.range.len();
        match token.inside {
            Inside::By(author)
                if is_telling && !place.is_quoted && (place.is_first || self.ends_line(token.range.end)) =>
            {
                self.claim(author, self.from..token.range.end);
                true
            }
            _ => false,
        }
    }

    fn claim_opened(&mut self, token: &TagToken, place: &TagPlace) -> bool {
        let is_mention = self.text[token.range.end..].starts_with([' ', ',', '.', ':', ')']);
        // An opening whose closing went to a mention inside of it ends there all the same.
        let first_close = token.first_close.filter(|_| place.is_first && !is_mention);
        let Some(close) = token.mate.or(first_close) else {
            return place.is_first && !is_mention && self.claim_unclosed(token);
        };
        let closing = self.tokens[close].range.clone();
        let whole = token.range.start..closing.end;
        let inner = token.range.end..closing.start;
        if !place.is_first && (place.is_quoted || !self.ends_line(closing.end)) {
            return false;
        }
        match token.inside {
            Inside::By(author) => self.claim(author, whole),
            Inside::Person | Inside::PersonOnly => {
                self.claim(Author::Host, token.range.clone());
                self.wrappers.push(close);
            }
            Inside::CommandName => {
                let name = self.text[inner.clone()].trim().trim_start_matches('/');
                self.is_program_command = PROGRAM_COMMANDS.contains(&name);
                match self.is_program_command || PROGRAM_COMMANDS_WITH_WORDS.contains(&name) {
                    true => self.claim(Author::Host, whole),
                    false => self.claim_within(whole, inner),
                }
            }
            Inside::CommandArguments if self.is_program_command => self.claim(Author::Host, whole),
            Inside::CommandArguments => self.claim_within(whole, inner),
            Inside::Shell => self.claim_shell(whole, inner),
        }
        true
    }

    /// The tags are the program's, what stands between them is the person's.
    fn claim_within(&mut self, whole: Range<usize>, inner: Range<usize>) {
        self.claim(Author::Host, whole.start..inner.start);
        self.claim(Author::User, inner.clone());
        self.claim(Author::Host, inner.end..whole.end);
    }

    fn claim_shell(&mut self, whole: Range<usize>, inner: Range<usize>) {
        let (open, close) = ("<command>", "</command>");
        let text = &self.text[inner.clone()];
        let found = text.find(open).map(|index| index + open.len());
        let found = found.and_then(|start| Some(start..start + text[start..].find(close)?));
        let Some(command) = found else {
            return self.claim(Author::Tool, whole);
        };
        self.claim(Author::Host, whole.start..inner.start + command.start);
        self.claim(Author::User, inner.start + command.start..inner.start + command.end);
        self.claim(Author::Tool, inner.start + command.end..whole.end);
    }

    /// A tag that is never closed holds what follows where it can only be the program's: it stands alone in its line, or opens
    /// the text with its content directly behind it.
    fn claim_unclosed(&mut self, token: &TagToken) -> bool {
        let author = match token.inside {
            Inside::By(author) => author,
            Inside::Person | Inside::PersonOnly | Inside::CommandArguments => return false,
            Inside::CommandName | Inside::Shell => Author::Host,
        };
        let opens_text = self.text[..token.range.start].trim().is_empty();
        if !opens_text && !self.ends_line(token.range.end) {
            return false;
        }
        let end = self.paragraph_end(token.range.start);
        self.claim(author, token.range.start..end);
        true
    }

    /// Whether only blank space stands between a place and the end of its line.
    fn ends_line(&self, at: usize) -> bool {
        let blank = self.text[at..].trim_start_matches([' ', '\t', '\r']);
        blank.is_empty() || blank.starts_with(['\n', '<'])
    }

    /// Whether only blank space stands between the start of a line and a place.
    fn opens_line(&self, at: usize) -> bool {
        let blank = self.text[..at].trim_end_matches([' ', '\t', '\r']);
        blank.is_empty() || blank.ends_with('\n')
    }

    /// The pieces in order, blank ones as part of their neighbours.
    fn segments(self) -> Vec<TextSegment<'a>> {
        let text = self.text;
        let mut segments: Vec<TextSegment<'a>> = Vec::new();
        let mut is_blank = false;
        for (author, range) in self.pieces {
            let blank = text[range.clone()].trim().is_empty();
            match segments.last_mut() {
                Some(last) if blank || is_blank || last.author == author => {
                    if is_blank {
                        last.author = author;
                    }
                    is_blank &= blank;
                    last.range.end = range.end;
                    last.text = &text[last.range.clone()];
                }
                _ => {
                    is_blank = blank;
                    segments.push(TextSegment {
                        author,
                        text: &text[range.clone()],
                        range,
                    });
                }
            }
        }
        segments
    }
}

/// How a tag stands in its line.
struct TagPlace {
    /// Nothing stands before it, or only what somebody else claimed.
    is_first: bool,
    is_quoted: bool,
}

/// The kind and length of a fence that a line opens with.
fn fence(line: &str) -> Option<(usize, usize)> {
    let kind = ['`', '~'].iter().position(|mark| line.starts_with(*mark))?;
    let length = line.len() - line.trim_start_matches(['`', '~'][kind]).len();
    (length >= 3).then_some((kind, length.min(LONGEST_FENCE)))
}

/// Where the line of a place ends, its break included.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |index| at + index + 1)
}
