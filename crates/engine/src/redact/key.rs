//! What the name of a value says about it: `DB_PASSWORD` is a password, `password_policy` and `max_tokens` are not.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::redact::rules::Word;

/// How much a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// The value may be a password somebody chose: one word, or at least this many where it may be several.
    Password {
        /// The fewest words of a phrase; `None` where only one word can be a password (`pass`, `pwd`).
        phrase: Option<usize>,
    },
    /// The value is a secret if it looks made by a machine.
    Secret,
    /// The value is a secret only if it looks like nothing else.
    Weak,
    /// The name of a service: the value is a secret if it looks made by a machine and is long.
    Vendor,
}

/// How many words a password has that is several: fewer are a remark.
pub(super) const PASSWORD_WORDS: usize = 4;
/// The same under a name that says it is a phrase.
pub(super) const PASSPHRASE_WORDS: usize = 3;

impl Promise {
    /// What a telling word promises that is no name of a program: `пароль`, `mot de passe`, `api key`.
    pub fn of_word(word: Word) -> Option<Self> {
        match word {
            Word::Password => Some(Promise::Password {
                phrase: Some(PASSWORD_WORDS),
            }),
            Word::Secret => Some(Promise::Secret),
            Word::Key | Word::Login | Word::Seed | Word::Vendor => None,
        }
    }
}

/// The lists of `names.txt`.
static LISTS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| lists(include_str!("names.txt")));

/// Reads lists of words under `[headings]`.
pub(super) fn lists(text: &'static str) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut lists: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut heading = "";
    for line in text.lines().filter(|line| *line != "#" && !line.starts_with("# ")) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => heading = name,
            None => lists.entry(heading).or_default().extend(line.split_whitespace()),
        }
    }
    lists
}

fn listed(list: &str, word: &str) -> bool {
    LISTS.get(list).is_some_and(|words| words.contains(word))
}

fn ends_as(list: &str, word: &str) -> bool {
    LISTS
        .get(list)
        .is_some_and(|ends| ends.iter().any(|end| word.ends_with(end)))
}

/// What a name promises; `None` when it is no name of a secret.
pub(super) fn promise(name: &str, vendors: &BTreeSet<Box<str>>) -> Option<Promise> {
    let words = words(name);
    let mut rest: &[String] = &words;
    while let [more @ .., last] = rest {
        let trimmed = listed("trimmed", last) || last.bytes().all(|byte| byte.is_ascii_digit());
        if !trimmed || more.is_empty() {
            break;
        }
        rest = more;
    }
    let last = rest.last()?.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let before = &rest[..rest.len() - 1];
    let is_vendor = || words.iter().any(|word| vendors.contains(word.as_str()));
    if ends_as("password_ends", last) || listed("whole_passwords", last) {
        let phrase = match last {
            _ if last.ends_with("phrase") => Some(PASSPHRASE_WORDS),
            _ if listed("whole_passwords", last) || last.ends_with("pwd") => None,
            _ => Some(PASSWORD_WORDS),
        };
        return Some(Promise::Password { phrase });
    }
    if ends_as("secret_ends", last) {
        let counted = before.last().is_some_and(|word| {
            matches!(
                word.as_str(),
                "max"
                    | "min"
                    | "per"
                    | "next"
                    | "stop"
                    | "end"
                    | "eos"
                    | "bos"
                    | "pad"
                    | "unk"
                    | "mask"
                    | "sep"
                    | "csrf"
            )
        });
        return Some(if counted { Promise::Weak } else { Promise::Secret });
    }
    if last == "key" || last == "pat" {
        if before.iter().any(|word| listed("plain_key", word)) {
            return None;
        }
        let of = before.iter().any(|word| listed("key_of", word)) || is_vendor();
        return Some(if of { Promise::Secret } else { Promise::Weak });
    }
    if last == "auth" && before.is_empty() {
        return Some(Promise::Weak);
    }
    if matches!(last, "id") && before.ends_with(&["access".to_owned(), "key".to_owned()]) {
        return Some(Promise::Weak);
    }
    if listed("about", last) {
        return None;
    }
    let told = words
        .iter()
        .any(|word| ends_as("password_ends", word) || ends_as("secret_ends", word) || word == "auth");
    if told {
        return Some(Promise::Weak);
    }
    is_vendor().then_some(Promise::Vendor)
}

/// The words of a name, in lower case: split at case changes and at what is no letter or digit.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next_is_lower = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase()
            && (before.is_lowercase() || before.is_ascii_digit() || (before.is_uppercase() && next_is_lower));
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_promise_what_they_say() {
        let vendors = BTreeSet::from(["algolia".into(), "box".into()]);
        let password = |phrase| Some(Promise::Password { phrase });
        for (name, expected) in [
            ("DB_PASSWORD", password(Some(4))),
            ("dbPassword2", password(Some(4))),
            ("ssh_passphrase", password(Some(3))),
            ("PGPWD", password(None)),
            ("pass", password(None)),
            ("password_policy", None),
            ("DB_PASSWORD_FILE", None),
            ("SERVICE_API_KEY", Some(Promise::Secret)),
            ("apiKey", Some(Promise::Secret)),
            ("app.jenkins.api.token", Some(Promise::Secret)),
            ("max_tokens", None),
            ("token_count", None),
            ("KEY_LENGTH", None),
            ("monkey", None),
            ("key", Some(Promise::Weak)),
            ("cache_key", None),
            ("publicKey", None),
            ("BOX_KEY", Some(Promise::Secret)),
            ("ALGOLIA", Some(Promise::Vendor)),
            ("AWS_SECRET_ACCESS_KEY_PROD", Some(Promise::Secret)),
            ("compass", None),
        ] {
            assert_eq!(promise(name, &vendors), expected, "{name}");
        }
    }
}
