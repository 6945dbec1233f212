//! A small reader of shell scripts: simple commands with their words, redirections and here-documents.
//!
//! It knows as much of the shell as is needed to say which words a command was given: quotes, escapes, comments,
//! here-documents, substitutions, subshells. Nothing is expanded: a word that the shell would expand is marked. Any
//! text is read in one pass, without recursion, and broken text gives whatever could be read of it.

/// One word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes.
    pub text: String,
    /// Whether the shell takes it as it stands: no variable, substitution or pattern in it.
    pub is_plain: bool,
    /// Whether a part of it was quoted.
    pub is_quoted: bool,
}

/// Where a redirection leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// `<`
    In,
    /// `>`
    Out,
    /// `>>`
    Append,
}

/// What stands between a command and the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Joint {
    /// `;`, a line end, `&`, or nothing.
    #[default]
    Next,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// A command with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Its words, assignments before it among them.
    pub words: Vec<Word>,
    /// Where its input and output go.
    pub redirects: Vec<(Flow, Word)>,
    /// The here-document it reads.
    pub document: Option<String>,
    /// How the next command follows.
    pub joint: Joint,
    /// In how many subshells it stands.
    pub depth: u32,
}

impl Simple {
    /// Whether it only tells how the command before it ended: `echo "exit: $?"`.
    pub(super) fn tells_status(&self) -> bool {
        let mut words = self.words.iter();
        words
            .next()
            .is_some_and(|word| matches!(&*word.text, "echo" | "printf"))
            && words.any(|word| word.text.contains("$?"))
    }
}

/// The commands of a script, in order.
pub(super) fn read(script: &str) -> Vec<Simple> {
    let mut reader = Reader {
        text: script,
        at: 0,
        simple: Simple::default(),
        simples: Vec::new(),
        due: Vec::new(),
        depth: 0,
    };
    while reader.at < script.len() {
        reader.step();
    }
    reader.finish(Joint::Next);
    reader.simples
}

/// A here-document that begins at the next line.
struct Due {
    end: String,
    is_indented: bool,
    /// Whose input it is; `None` inside of a substitution.
    simple: Option<usize>,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    simple: Simple,
    simples: Vec<Simple>,
    due: Vec<Due>,
    depth: u32,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads a word, an operator or white space. Always moves on.
    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (b' ' | b'\t' | b'\r', _) => self.at += 1,
            (b'\\', b'\n') => self.at += 2,
            (b'\n', _) => self.end(1, Joint::Next),
            (b'#', _) => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
            (b';', b';') | (b'&', b'\n') => self.end(2, Joint::Next),
            (b';', _) => self.end(1, Joint::Next),
            (b'&', b'&') => self.end(2, Joint::And),
            (b'&', b'>') => {
                self.at += 1;
                self.redirect();
            }
            (b'&', _) => self.end(1, Joint::Next),
            (b'|', b'|') => self.end(2, Joint::Or),
            (b'|', b'&') => self.end(2, Joint::Pipe),
            (b'|', _) => self.end(1, Joint::Pipe),
            (b'(', b')') => self.end(2, Joint::Next),
            (b'(', _) => {
                self.end(1, Joint::Next);
                self.depth = self.depth.saturating_add(1);
            }
            (b')', _) => {
                self.end(1, Joint::Next);
                self.depth = self.depth.saturating_sub(1);
            }
            (b'<', b'(') | (b'>', b'(') => {
                self.at += 1;
                self.skip_substitution();
                self.simple.words.push(Word::default());
            }
            (b'<' | b'>', _) => self.redirect(),
            _ => self.word_or_number(),
        }
    }

    /// Ends the command that is being read, after an operator of so many bytes.
    fn end(&mut self, operator: usize, joint: Joint) {
        let is_line_end = self.peek(0) == b'\n' || (operator == 2 && self.peek(1) == b'\n');
        self.at += operator;
        self.finish(joint);
        if is_line_end {
            self.read_documents();
        }
    }

    fn finish(&mut self, joint: Joint) {
        let mut simple = std::mem::take(&mut self.simple);
        simple.joint = joint;
        simple.depth = self.depth;
        let has_due = self.due.iter().any(|due| due.simple == Some(self.simples.len()));
        if !simple.words.is_empty() || !simple.redirects.is_empty() || has_due {
            self.simples.push(simple);
        }
    }

    fn word_or_number(&mut self) {
        let start = self.at;
        let word = self.word();
        // `2>` names a stream, it is no word.
        let is_stream = word.text.bytes().all(|byte| byte.is_ascii_digit()) && matches!(self.peek(0), b'<' | b'>');
        if self.at == start {
            self.at += self.text[start..].chars().next().map_or(1, char::len_utf8);
        } else if !is_stream {
            self.simple.words.push(word);
        }
    }

    /// Reads a redirection; stands at `<` or `>`.
    fn redirect(&mut self) {
        let (flow, length) = match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'<', b'<', b'<') => {
                self.at += 3;
                self.skip_blanks();
                self.word();
                return;
            }
            (b'<', b'<', dash) => {
                self.at += if dash == b'-' { 3 } else { 2 };
                self.skip_blanks();
                let end = self.word().text;
                self.due.push(Due {
                    end,
                    is_indented: dash == b'-',
                    simple: Some(self.simples.len()),
                });
                return;
            }
            (b'>', b'>', _) => (Flow::Append, 2),
            (b'>', b'|' | b'&', _) => (Flow::Out, 2),
            (b'<', b'&' | b'>', _) => (Flow::In, 2),
            (b'>', ..) => (Flow::Out, 1),
            _ => (Flow::In, 1),
        };
        let is_copy = length == 2 && self.peek(1) == b'&';
        self.at += length;
        self.skip_blanks();
        if matches!(self.peek(0), b'(') {
            return;
        }
        let target = self.word();
        let is_stream = target.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if !(target.text.is_empty() || is_copy && is_stream) {
            self.simple.redirects.push((flow, target));
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
    }

    /// Reads up to the next operator or white space outside of quotes.
    fn word(&mut self) -> Word {
        let mut word = Word {
            is_plain: true,
            ..Word::default()
        };
        let mut plain_from = self.at;
        while self.at < self.text.len() {
            let byte = self.peek(0);
            let is_special = matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`');
            let is_end = matches!(
                byte,
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
            );
            // `X=(a b)` and the pattern `@(a|b)` belong to their word.
            let is_list = byte == b'('
                && self.at > plain_from
                && matches!(self.text.as_bytes()[self.at - 1], b'=' | b'@' | b'!' | b'+');
            if !(is_special || is_end || is_list) {
                if matches!(byte, b'*' | b'?') || (byte == b'{' && self.is_brace_list()) {
                    word.is_plain = false;
                }
                self.at += 1;
                continue;
            }
            word.text.push_str(&self.text[plain_from..self.at]);
            if is_list {
                word.is_plain = false;
                self.skip_substitution();
            } else if is_end {
                return word;
            } else {
                self.special(byte, &mut word);
            }
            plain_from = self.at;
        }
        word.text.push_str(&self.text[plain_from..self.at]);
        word
    }

    /// Whether a brace opens a list: `{a,b}` or `{1..3}`.
    fn is_brace_list(&self) -> bool {
        // Lists in words are short; what is longer is a body in some other language.
        const SHORT: usize = 200;
        let rest = &self.text.as_bytes()[self.at..];
        let inside = &rest[..rest.len().min(SHORT)];
        let Some(end) = inside
            .iter()
            .position(|byte| *byte == b'}' || byte.is_ascii_whitespace())
        else {
            return false;
        };
        let inside = &inside[1..end];
        inside.contains(&b',') || inside.windows(2).any(|two| two == b"..")
    }

    /// Reads a quote, an escape or an expansion inside of a word.
    fn special(&mut self, byte: u8, word: &mut Word) {
        match (byte, self.peek(1)) {
            (b'\\', b'\n') => self.at += 2,
            (b'\\', _) => {
                self.at += 1;
                if let Some(next) = self.text[self.at..].chars().next() {
                    word.text.push(next);
                    self.at += next.len_utf8();
                }
            }
            (b'\'', _) => {
                word.is_quoted = true;
                self.at += 1;
                let rest = &self.text[self.at..];
                let length = rest.find('\'').unwrap_or(rest.len());
                word.text.push_str(&rest[..length]);
                self.at = (self.at + length + 1).min(self.text.len());
            }
            (b'"', _) => {
                word.is_quoted = true;
                self.at += 1;
                self.double_quoted(word);
            }
            (b'$', b'\'') => {
                word.is_quoted = true;
                self.at += 2;
                self.escaped_quote(word);
            }
            (b'$', b'"') => self.at += 1,
            _ => self.expansion(byte, word),
        }
    }

    fn double_quoted(&mut self, word: &mut Word) {
        let mut from = self.at;
        while self.at < self.text.len() {
            let byte = self.peek(0);
            match (byte, self.peek(1)) {
                (b'"', _) => {
                    word.text.push_str(&self.text[from..self.at]);
                    self.at += 1;
                    return;
                }
                (b'\\', b'"' | b'\\' | b'$' | b'`') => {
                    word.text.push_str(&self.text[from..self.at]);
                    from = self.at + 1;
                    self.at += 2;
                }
                (b'$' | b'`', _) => {
                    word.text.push_str(&self.text[from..self.at]);
                    self.expansion(byte, word);
                    from = self.at;
                }
                _ => self.at += 1,
            }
        }
        word.text.push_str(&self.text[from..self.at]);
    }

    /// `$'…'`
    fn escaped_quote(&mut self, word: &mut Word) {
        while self.at < self.text.len() {
            let Some(next) = self.text[self.at..].chars().next() else {
                return;
            };
            self.at += next.len_utf8();
            match next {
                '\'' => return,
                '\\' => {
                    let Some(escaped) = self.text[self.at..].chars().next() else {
                        return;
                    };
                    self.at += escaped.len_utf8();
                    word.text.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        other => other,
                    });
                }
                plain => word.text.push(plain),
            }
        }
    }

    /// Copies an expansion as it stands; the word is no longer plain. A lone `$` is a letter.
    fn expansion(&mut self, byte: u8, word: &mut Word) {
        let start = self.at;
        self.at += 1;
        let next = self.peek(0);
        if byte == b'`' {
            self.at += match self.text[self.at..].find('`') {
                Some(length) => length + 1,
                None => self.text.len() - self.at,
            };
        } else if next == b'(' {
            self.skip_substitution();
        } else if next == b'{' {
            self.at += match self.text[self.at..].find('}') {
                Some(length) => length + 1,
                None => self.text.len() - self.at,
            };
        } else if !(next.is_ascii_alphanumeric() || matches!(next, b'_' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!')) {
            word.text.push('$');
            return;
        } else {
            self.at += 1;
            while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' {
                self.at += 1;
            }
        }
        word.is_plain = false;
        word.text.push_str(&self.text[start..self.at]);
    }

    /// Skips `(…)` with all that is nested in it; stands at the parenthesis.
    fn skip_substitution(&mut self) {
        #[derive(PartialEq)]
        enum Inside {
            Parenthesis,
            Quotes,
        }
        let mut nest: Vec<Inside> = Vec::new();
        let first_due = self.due.len();
        while self.at < self.text.len() {
            let byte = self.peek(0);
            let is_quoted = nest.last() == Some(&Inside::Quotes);
            match byte {
                b'\\' => {
                    self.at += 1;
                    self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
                    continue;
                }
                b'(' if !is_quoted || self.text.as_bytes()[self.at - 1] == b'$' => nest.push(Inside::Parenthesis),
                b')' if !is_quoted => {
                    nest.pop();
                }
                b'"' if is_quoted => {
                    nest.pop();
                }
                b'"' => nest.push(Inside::Quotes),
                b'\'' if !is_quoted => {
                    let rest = &self.text[self.at + 1..];
                    self.at += 1 + rest.find('\'').unwrap_or(rest.len());
                }
                b'<' if !is_quoted && self.peek(1) == b'<' && self.peek(2) != b'<' => {
                    let dash = self.peek(2) == b'-';
                    self.at += if dash { 3 } else { 2 };
                    self.skip_blanks();
                    let end = self.text[self.at..]
                        .find(|character: char| {
                            character.is_whitespace() || matches!(character, ')' | ';' | '|' | '&' | '>')
                        })
                        .map_or(self.text.len(), |length| self.at + length);
                    let delimiter = self.text[self.at..end].trim_matches(['\'', '"', '\\']);
                    self.due.push(Due {
                        end: delimiter.to_owned(),
                        is_indented: dash,
                        simple: None,
                    });
                    self.at = end;
                    continue;
                }
                b'\n' if self.due.len() > first_due => {
                    self.at += 1;
                    for due in self.due.split_off(first_due) {
                        self.document(&due);
                    }
                    continue;
                }
                _ => {}
            }
            self.at = (self.at + 1).min(self.text.len());
            if nest.is_empty() {
                break;
            }
        }
        self.due.truncate(first_due);
    }

    /// Reads the here-documents that are due at the beginning of a line.
    fn read_documents(&mut self) {
        for due in std::mem::take(&mut self.due) {
            let body = self.document(&due);
            if let Some(simple) = due.simple.and_then(|index| self.simples.get_mut(index)) {
                simple.document = Some(body);
            }
        }
    }

    /// Reads the lines of a here-document and the one that ends it.
    fn document(&mut self, due: &Due) -> String {
        let start = self.at;
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest[..length].trim_end_matches('\r');
            let line = if due.is_indented {
                line.trim_start_matches('\t')
            } else {
                line
            };
            let line_start = self.at;
            self.at = (self.at + length + 1).min(self.text.len());
            if line == due.end {
                return self.text[start..line_start].to_owned();
            }
        }
        self.text[start..].to_owned()
    }
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
