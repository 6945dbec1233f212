//! Passwords told in sentences: `the root password is …`, `пароль от базы: …`, `log in with admin / …`.
//!
//! Nothing but a form that no word has counts here: letters with digits or signs, or quotes around it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::redact::chars::line_end;
use crate::redact::chars::line_start;
use crate::redact::key::PASSPHRASE_WORDS;
use crate::redact::key::PASSWORD_WORDS;
use crate::redact::key::lists;
use crate::redact::look::Look;
use crate::redact::notation::Operator;
use crate::redact::phrase::Setting;
use crate::redact::phrase::is_passphrase;
use crate::redact::rules::Word;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;
use crate::redact::value::Candidate;

/// How much of a sentence is looked at, in bytes: `Password for the staging box of the billing team: …` fits, in Russian too.
const SENTENCE: usize = 160;
/// How many words may stand between the word and what it announces.
const WORDS: usize = 9;

/// How far before the word a value is looked for, in bytes.
const BEFORE: usize = 80;

/// What ends a clause: the value of the next is not this one's.
const OTHER: &[&str] = &["http://", "https://", "```"];

/// The lists of `sentences.txt`.
static LISTS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| lists(include_str!("sentences.txt")));

/// Whether a word is in a list, in whatever case.
fn listed(list: &str, word: &str) -> bool {
    if word.len() > 24 {
        return false;
    }
    let words = &LISTS[list];
    words.contains(word) || word.contains(char::is_uppercase) && words.contains(word.to_lowercase().as_str())
}

/// Words of a note that asks to keep what stands before it secret, in lower case.
const CONFIDENCES: [&str; 14] = [
    "don't share",
    "do not share",
    "don't tell",
    "secret",
    "confidential",
    "keep it private",
    "to yourself",
    "geheim",
    "nicht weiter",
    "никому",
    "секрет",
    "не показыв",
    "no lo compartas",
    "ne partage",
];

/// How a word of a sentence stands there.
#[derive(Clone, Copy, Debug)]
struct Manner {
    quoted: bool,
    /// The word before says that a value follows.
    announced: bool,
    /// It follows the telling word at once.
    direct: bool,
    /// The telling word is `pass`, which tells little.
    is_pass: bool,
    /// The telling word says that the password is a phrase.
    is_phrase: bool,
}

impl Scanner<'_> {
    /// What a sentence tells after one of the words, or before it.
    pub fn prose(&mut self, word: Word, start: usize, end: usize) {
        let count = self.found.len();
        self.told_after(word, start, end);
        let is_pass = self.text[start..end].eq_ignore_ascii_case("pass");
        if matches!(word, Word::Password | Word::Login) && !is_pass && self.found.len() == count {
            self.told_before(word, start);
        }
    }

    fn told_after(&mut self, word: Word, start: usize, end: usize) {
        let mut at = end;
        // The rest of an inflected word: `паролем`, `passwords`.
        while let Some(letter) = self.text[at..].chars().next().filter(|letter| letter.is_alphabetic()) {
            at += letter.len_utf8();
            if at - end > 24 {
                return;
            }
        }
        let before = start.checked_sub(1).map(|before| self.bytes[before]);
        let inside = before.is_some_and(|byte| matches!(byte, b'_' | b'/' | b'.' | b'-'))
            || !crate::redact::chars::starts_here(self.bytes, start);
        if inside
            || matches!(
                self.bytes.get(at),
                Some(b'_' | b'(' | b'/' | b'[' | b'-' | b'.' | b'@' | b'0'..=b'9' | b'<' | b'$' | b'{')
            )
            || (at > end
                && self.text[start..end].is_ascii()
                && !self.text[end..at].starts_with('s')
                && word != Word::Vendor)
        {
            return;
        }
        // Several secrets are talked about, one is told: `tokens status=200`.
        if word == Word::Secret && at > end && self.text[start..end].is_ascii() {
            return;
        }
        let stop = line_end(self.bytes, at, SENTENCE);
        let is_pass = self.text[start..end].eq_ignore_ascii_case("pass");
        let mut is_phrase = self.bytes[start..end].ends_with(b"phrase");
        let mut announced = false;
        let mut equated = false;
        let mut keyed = true;
        let mut count = 0;
        while at < stop && count < WORDS {
            let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'*' | b'\\' | b'(' | b'=' | b':');
            let blanks = self.bytes[at..stop].iter().take_while(|byte| blank(byte)).count();
            let signed = self.bytes[at..at + blanks]
                .iter()
                .any(|byte| matches!(byte, b'=' | b':'));
            announced |= signed;
            equated |= signed;
            at += blanks;
            if at >= stop {
                return;
            }
            let (from, to, quoted, next) = self.told_word(at, stop);
            let Some(told) = self.text.get(from..to).map(Candidate::new) else {
                return;
            };
            if OTHER.iter().any(|other| told.starts_with(other)) {
                return;
            }
            if !self.affords(start, 40 + told.len()) {
                return;
            }
            // Things pass, and a pass is many things: it must be said that a value follows.
            let direct = count == 0 && !is_pass || (word == Word::Vendor && keyed);
            if is_told(
                word,
                &told,
                Manner {
                    quoted,
                    announced,
                    direct,
                    is_pass,
                    is_phrase,
                },
            ) {
                let kind = if matches!(word, Word::Password | Word::Login) {
                    "password"
                } else {
                    "credential"
                };
                return self.push(from, to, Label::Code(kind, "told in a sentence"));
            }
            if word == Word::Login && self.told_pair(from, to, next, stop) {
                return;
            }
            if word == Word::Login && announced && !quoted && self.told_in_confidence(from, stop) {
                return;
            }
            if word == Word::Password && equated && !quoted && !is_pass && self.told_phrase(from, is_phrase) {
                return;
            }
            let bare = told.trim_end_matches([':', ',']);
            is_phrase |= count == 0 && listed("phrases", bare);
            let named = listed("announcing", bare) || told.len() != bare.len() && listed("announcing", &told);
            let signed = told.ends_with([':', '=']);
            announced = named || signed || matches!(self.bytes.get(next), Some(b':' | b'='));
            equated = signed || named && listed("equating", bare);
            // A sentence that ends has told what it had to tell, except in a list of credentials.
            if told.ends_with(['.', '!', '?', ';']) && !quoted {
                return;
            }
            if matches!(word, Word::Secret | Word::Vendor) && count >= 4 && !announced {
                return;
            }
            keyed = keyed && listed("keyed", bare);
            at = next.max(at + 1);
            while !self.text.is_char_boundary(at) {
                at += 1;
            }
            count += 1;
        }
    }

    /// The next word of a sentence: its inside, whether it is quoted, and where to go on.
    fn told_word(&self, at: usize, stop: usize) -> (usize, usize, bool, usize) {
        if let Some(value) = self
            .quoted(at)
            .filter(|value| value.quoted && value.end <= stop && value.end > value.start)
        {
            return (value.start, value.end, true, value.end + 1);
        }
        let mut end = self
            .unquoted_end(at, stop.saturating_sub(at), Operator::Cell)
            .min(stop.max(at));
        if end == at {
            let letter = self.text[at..].chars().next().map_or(1, char::len_utf8);
            end = at + letter;
            return (at, end, false, end);
        }
        let next = end;
        // Brackets and sentence marks after a password are rarely its own; `!` and `?` often are.
        while end > at && matches!(self.bytes[end - 1], b')' | b',' | b';') {
            end -= 1;
        }
        (at, end.max(at), false, next)
    }

    /// Hides what stands before a note that asks to keep it secret: `log in with gravel orbit lantern (don't share)`. Without the note
    /// plain words after `log in with` are the name of an account.
    fn told_in_confidence(&mut self, from: usize, stop: usize) -> bool {
        const LONGEST: usize = 80;
        let Some(open) = self.text[from..stop].find('(').filter(|length| *length <= LONGEST) else {
            return false;
        };
        let value = self.text[from..from + open].trim_end();
        let note: String = self.text[from + open..stop].chars().take(LONGEST).collect();
        let note = note.to_lowercase().replace('’', "'");
        let is_secret = CONFIDENCES.iter().any(|words| note.contains(words));
        if value.is_empty() || value.contains(['.', ';']) || !is_secret {
            return false;
        }
        let end = from + value.len();
        self.push(from, end, Label::Code("password", "told in confidence"));
        true
    }

    /// Hides a password of several words without quotes.
    fn told_phrase(&mut self, from: usize, is_phrase: bool) -> bool {
        let end = self.phrase_end(from);
        let least = if is_phrase { PASSPHRASE_WORDS } else { PASSWORD_WORDS };
        let fits = self.ends_phrase(end) && is_passphrase(&self.text[from..end], Setting::Bare, least);
        if fits {
            self.push(from, end, Label::Code("password", "told in a sentence"));
        }
        fits
    }

    /// A password that stands before the word: `use … to log in`, `… is the password`.
    fn told_before(&mut self, word: Word, start: usize) {
        let mut from = line_start(self.bytes, start, BEFORE);
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let line = &self.text[from..start];
        if !line.bytes().any(|byte| byte.is_ascii_digit()) || !self.affords(start, line.len()) {
            return;
        }
        let mut end = line.len();
        let mut said = false;
        for _ in 0..WORDS {
            let rest = line[..end].trim_end_matches([' ', '\t']);
            let begin = rest.rfind([' ', '\t']).map_or(0, |space| space + 1);
            let spelled = &rest[begin..];
            if spelled.is_empty() {
                return;
            }
            if listed("between", spelled) {
                said |= listed("as", spelled);
                end = begin;
                continue;
            }
            let inside = spelled.trim_matches(['"', '\'', '`', '(', ')', ',', ';', '«', '»', '“', '”', '„', '*']);
            let told = Candidate::new(inside);
            let handed = || {
                let before = rest[..begin]
                    .trim_end()
                    .rsplit([' ', '\t', '(', '"'])
                    .next()
                    .unwrap_or("");
                listed("handed", before)
            };
            let announced = if word == Word::Login { handed() } else { said };
            if announced && is_handed(&told) {
                let at = from + begin + spelled.find(inside).unwrap_or(0);
                self.push(at, at + inside.len(), Label::Code("password", "told in a sentence"));
            }
            return;
        }
    }

    /// `admin / secret`, `root:secret`, `admin:secret` after a word about logging in.
    fn told_pair(&mut self, from: usize, to: usize, next: usize, stop: usize) -> bool {
        let Some(told) = self.text.get(from..to) else {
            return false;
        };
        let strong = |password: &str| {
            let password = Candidate::new(password);
            let look = password.look;
            password.is_password()
                && !password.is_placeholder()
                && !password.is_reference()
                && !password.is_path()
                && !password.is_measure()
                && !is_file(&password)
                && (look.upper > 0 || look.symbols > 0 || look.is_random(10))
                && look.digits > 0
        };
        if let Some((name, password)) = told.split_once([':', '/'])
            && !name.is_empty()
            && !told.contains("://")
            && strong(password)
        {
            self.push(to - password.len(), to, Label::Code("password", "told as a pair"));
            return true;
        }
        let after = self.skip_blanks(next);
        if after < stop && matches!(self.bytes[after], b'/' | b':' | b'|') {
            let (from, to, _, _) = self.told_word(self.skip_blanks(after + 1), stop);
            if self.text.get(from..to).is_some_and(strong) {
                self.push(from, to, Label::Code("password", "told as a pair"));
                return true;
            }
        }
        false
    }
}

/// Whether a word is a password by its looks: nothing else has signs, digits and letters in one.
fn is_handed(told: &Candidate<'_>) -> bool {
    told.has_signs()
        && told.is_password()
        && !told.is_placeholder()
        && !told.is_reference()
        && !told.is_path()
        && !told.is_measure()
        && !told.is_setting()
        && !told.is_identifier()
        && !told.is_expression()
        && !told.contains("://")
        && !told.contains(['(', '=', ':', '/', '<', '['])
}

/// Whether a word is the name of a file or of a host: `auth.py`, `db-1.internal`.
fn is_file(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else {
        return false;
    };
    (1..=9).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_lowercase())
        && Look::at(stem.as_bytes()).strange < 0.35
}

/// Whether a word of a sentence is the secret that was announced.
fn is_told(word: Word, told: &Candidate<'_>, manner: Manner) -> bool {
    let Manner {
        quoted,
        announced,
        direct,
        is_pass,
        is_phrase,
    } = manner;
    if word == Word::Password && quoted && announced && !is_pass && told.look.spaces > 0 {
        let least = if is_phrase { PASSPHRASE_WORDS } else { PASSWORD_WORDS };
        return is_passphrase(told, Setting::Quoted, least);
    }
    if told.len() < 6
        || told.is_placeholder()
        || told.is_reference()
        || told.is_path()
        || told.is_measure()
        || told.contains("://")
        || told.is_setting()
        || told.starts_with(['&', '-', '+', '[', '*'])
        || told.is_identifier()
        || (told.contains('(') && told.is_expression())
    {
        return false;
    }
    let look = &told.look;
    match word {
        Word::Password => {
            if quoted && announced {
                return look.spaces == 0 && (!told.is_wordy() && !is_pass || told.is_password())
                    || !is_pass
                        && told.len() >= 8
                        && look.spaces == 0
                        && look.upper == 0
                        && told.bytes().all(|byte| byte.is_ascii_lowercase())
                        && look.strange >= 0.1;
            }
            let signs = told.bytes().any(|byte| {
                matches!(
                    byte,
                    b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'?' | b'~' | b'+' | b'*'
                )
            });
            let named = told.contains('_') && look.strange < 0.25 && !signs;
            let strong = look.digits > 0
                && look.lower + look.upper + look.beyond > 0
                && (look.upper > 0 || signs || look.digits >= 2)
                || look.is_random(10)
                || signs && look.upper > 0;
            let telling = look.is_random(8) && look.upper > 0 && look.lower > 0 && look.digits > 0 || told.has_signs();
            (announced || direct || telling && !is_pass)
                && told.is_password()
                && strong
                && !named
                && !told.is_digest()
                && !told.is_expression()
                && !is_file(told)
        }
        Word::Secret => {
            let random = look.is_random(16) && look.is_mixed() && look.strange >= 0.3 && !told.contains('/');
            let said = announced && told.len() >= 32;
            let fits = random && (said || !told.is_digest()) && !told.is_expression();
            (announced || direct) && fits || announced && told.has_signs()
        }
        Word::Vendor => {
            direct
                && look.is_random(20)
                && look.is_mixed()
                && !told.is_expression()
                && !told.contains('/')
                && !told.contains('.')
        }
        Word::Login => {
            announced
                && (look.is_random(10) && look.is_mixed() || is_handed(told))
                && told.is_password()
                && !told.is_digest()
                && !told.contains('@')
                && !told.contains(':')
                && !is_file(told)
                && !told.is_expression()
        }
        Word::Key => {
            let mixed = look.upper > 1 && look.lower > 1 && look.digits > 1;
            let plain = told.bytes().all(|byte| byte.is_ascii_alphanumeric());
            announced && mixed && plain && look.is_random(24) && look.strange >= 0.4
        }
        Word::Seed => false,
    }
}
