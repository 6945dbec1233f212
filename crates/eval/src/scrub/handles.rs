//! Handles and names in all cases, inside of identifiers, addresses and possessives, and hidden in base64.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use aho_corasick::MatchKind;
use regex::Regex;

use crate::scrub::people::Form;
use crate::scrub::people::Kind;
use crate::scrub::people::People;
use crate::scrub::people::pseudonym;
use crate::scrub::text::begins_word;
use crate::scrub::text::ends_in_escape;
use crate::scrub::text::ends_word;
use crate::scrub::text::replace;

/// From this many letters on a handle is replaced even in the middle of a word: hardly any word has it by chance.
const TELLING: usize = 6;

/// How many letters an ending of a declined name has at most.
const ENDING: usize = 3;

/// Where a name stands and nothing else can.
const PERSONAL: &[&str] = &[
    "@",
    "github.com/",
    "github.com:",
    "gitlab.com/",
    "gitlab.com:",
    "bitbucket.org/",
    "twitter.com/",
    "//x.com/",
    "t.me/",
    "huggingface.co/",
    "linkedin.com/in/",
    "npmjs.com/~",
    "keybase.io/",
    "/media/",
    "uid=1000(",
    "gid=1000(",
];

/// Finds all spellings at once.
#[derive(Clone, Debug)]
pub(super) struct Handles {
    automaton: AhoCorasick,
    /// For every pattern of the automaton, its form.
    forms: Vec<Form>,
}

impl Handles {
    /// Of these people; none where nobody has a name.
    pub(super) fn new(people: &People) -> Option<Self> {
        let (mut patterns, mut forms) = (Vec::new(), Vec::new());
        for form in people.forms().filter(|form| !form.text.is_empty()) {
            let mut spellings = vec![form.text.clone()];
            if !form.text.is_ascii() {
                spellings.extend([form.text.to_uppercase(), titled(&form.text)]);
            }
            spellings.dedup();
            for spelling in spellings {
                patterns.push(spelling);
                forms.push(form.clone());
            }
        }
        if patterns.is_empty() {
            return None;
        }
        let mut builder = AhoCorasick::builder();
        let builder = builder.match_kind(MatchKind::Standard).ascii_case_insensitive(true);
        let automaton = builder.build(patterns).ok()?;
        Some(Self { automaton, forms })
    }

    /// Whether somebody's name stands in a text.
    pub(super) fn knows(&self, text: &str) -> bool {
        !self.find(text).is_empty()
    }

    /// Replaces every spelling.
    pub(super) fn scrub<'t>(&self, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
        let text = replace(text, &BASE64, |hit| {
            let decoded = decoded(hit.whole())?;
            (!self.find(&decoded).is_empty() || decoded.contains('@') && MAIL_LIKE.is_match(&decoded)).then(|| {
                count();
                "[base64 left out]".to_owned()
            })
        });
        let found = self.find(&text);
        if found.is_empty() {
            return text;
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end, person) in found {
            let in_word = |c: char| c.is_alphanumeric() || c == '_';
            let glued =
                text[..start].ends_with(in_word) && !ends_in_escape(&text[..start]) || text[end..].starts_with(in_word);
            let name = pseudonym(person);
            out.push_str(&text[done..start]);
            out.push_str(&if glued { name.replace('-', "") } else { name });
            count();
            done = end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// The places of names, the leftmost and longest of those that overlap, and whose they are.
    fn find(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        for hit in self.automaton.find_overlapping_iter(text) {
            let form = &self.forms[hit.pattern().as_usize()];
            let Some((before, spelled, after)) = around(text, hit.start(), hit.end()) else {
                continue;
            };
            if let Some(ending) = fits(form, before, spelled, after) {
                found.push((hit.start(), hit.end() + ending, form.person));
            }
        }
        found.sort_by_key(|(start, end, person)| (*start, std::cmp::Reverse(*end), *person));
        let mut end = 0;
        found.retain(|span| {
            let apart = span.0 >= end;
            end = if apart { span.1 } else { end };
            apart
        });
        found
    }
}

fn around(text: &str, start: usize, end: usize) -> Option<(&str, &str, &str)> {
    Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?))
}

fn titled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if begins {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
        begins = !c.is_alphabetic();
    }
    out
}

/// Whether a name is meant here; how many bytes of its ending belong to it.
fn fits(form: &Form, before: &str, spelled: &str, after: &str) -> Option<usize> {
    let ending = ending(spelled, after);
    let letters = form.text.chars().filter(|c| c.is_alphabetic()).count();
    let begins = begins_word(before) || before.ends_with('_') || before.ends_with(|c: char| c.is_ascii_digit());
    let ends = ends_word(&after[ending..]) || after.starts_with(|c: char| c.is_ascii_digit());
    // `userTeknium`, `TekniumBot`: a hump begins or ends here.
    let hump_before = spelled.starts_with(char::is_uppercase) && before.ends_with(char::is_lowercase);
    let hump_after = spelled.ends_with(char::is_lowercase) && after.starts_with(char::is_uppercase);
    let whole = (begins || hump_before) && (ends || hump_after);
    let fits = match form.kind {
        Kind::Weak => {
            let sure = PERSONAL.iter().any(|place| before.ends_with(place)) || after.starts_with('@');
            sure && begins_word(before) && ends_word(after) && !after.starts_with(['.', '-'])
        }
        Kind::Word => {
            // `Mark Will` and `mark.will` are somebody, `mark will` and `Mark will` are not.
            let capital = spelled.split(' ').all(|word| word.starts_with(char::is_uppercase))
                || !spelled.contains(' ') && spelled.contains(['.', '_', '-']);
            capital && begins_word(before) && !before.ends_with('_') && ends_word(&after[ending..])
        }
        Kind::Handle => whole || letters >= TELLING && is_one_word(&form.text) && is_glued(before, after),
        Kind::Given => whole || letters >= TELLING,
    };
    fits.then_some(if whole { ending } else { 0 })
}

fn is_one_word(text: &str) -> bool {
    text.chars().all(char::is_alphanumeric)
}

/// Whether what a name is glued to are letters as names in identifiers are glued to: others go on with a longer name.
fn is_glued(before: &str, after: &str) -> bool {
    let plain = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() || c.is_ascii());
    plain(before.chars().next_back()) && plain(after.chars().next())
}

/// The ending of a declined Cyrillic name: the letters after it, if they are few.
fn ending(spelled: &str, after: &str) -> usize {
    let is_cyrillic = |c: char| ('\u{400}'..='\u{4ff}').contains(&c);
    if !spelled.ends_with(is_cyrillic) {
        return 0;
    }
    let letters: Vec<char> = after.chars().take_while(|c| is_cyrillic(*c)).take(ENDING + 1).collect();
    if letters.len() > ENDING {
        return 0;
    }
    letters.iter().map(|c| c.len_utf8()).sum()
}

static BASE64: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_\-]{16,}={0,2}").expect("the pattern is fixed, and a test runs it"));
static MAIL_LIKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9._%+\-]{2,64}@[A-Za-z0-9\-]{2,63}\.[a-z]{2,10}\b")
        .expect("the pattern is fixed, and a test runs it")
});

/// What base64 stands for, where that is a text.
fn decoded(run: &str) -> Option<String> {
    let (mut bytes, mut held, mut bits) = (Vec::with_capacity(run.len() * 3 / 4), 0u32, 0u32);
    for byte in run.bytes().take_while(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    text.chars()
        .all(|c| !c.is_control() || c.is_whitespace())
        .then_some(text)
}
