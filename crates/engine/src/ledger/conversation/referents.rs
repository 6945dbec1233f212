//! What a short reply refers to in the message that it answers: a label ("let's do 2", "option B"), a place in a list ("the second"), the
//! thing that the agent recommended, or words of its own.

use crate::ledger::conversation::replies::content_stems;

/// A label is a number up to this one; a larger number is a value.
const LARGEST_LABEL: u32 = 20;

/// Words for places in a list, in lower case; of longer ones the beginning is enough.
const ORDINALS: [&[&str]; 5] = [
    &[
        "first", "former", "erste", "erster", "ersten", "erstes", "перв", "primer", "premier", "premièr", "第一",
    ],
    &[
        "second",
        "latter",
        "zweite",
        "zweiter",
        "zweiten",
        "zweites",
        "втор",
        "segund",
        "deuxième",
        "第二",
    ],
    &[
        "third",
        "dritte",
        "dritter",
        "dritten",
        "drittes",
        "трет",
        "tercer",
        "troisième",
        "第三",
    ],
    &["fourth", "vierte", "vierten", "четв", "cuart", "quatrième", "第四"],
    &["fifth", "fünfte", "fünften", "пят", "quint", "cinquième", "第五"],
];
/// Words for the last place.
const LAST: [&str; 6] = ["last", "letzte", "letzten", "последн", "último", "dernier"];
/// Words for all of them.
const ALL: [&str; 9] = ["both", "all", "beide", "beides", "alle", "оба", "все", "ambos", "都"];
/// Words by which somebody recommends, in lower case, as they begin.
const RECOMMENDING: [&str; 22] = [
    "suggest",
    "recommend",
    "propos",
    "prefer",
    "my pick",
    "i'd ",
    "i’d ",
    "i would",
    "lean ",
    "leaning",
    "best option",
    "empfehl",
    "vorschlag",
    "schlage",
    "предлага",
    "рекоменд",
    "sugier",
    "recomiend",
    "recommand",
    "建议",
    "推荐",
    "go with",
];
/// Words after a single capital letter with which it names an option: "A for all calls".
const BEHIND_LETTER: [&str; 16] = [
    "for", "is", "and", "or", "then", "please", "with", "too", "but", "looks", "sounds", "instead", "it", "bitte", "и",
    "seems",
];

/// How replies begin that react to what was just said and mean little without it, in lower case: "Then 03:40", "Right, then no".
const REACTING: &str = "then; right; agreed; of course; in that case; fine; true; fair; good point; good catch; well spotted; i see; makes sense; \
    ok then; okay then; dann; stimmt; einverstanden; klar; genau; na dann; тогда; согласен; согласна; верно; конечно; понятно; ну тогда; \
    entonces; de acuerdo; claro; pues; alors; d'accord; d’accord; bien sûr; dans ce cas; 那就; 那么; 好的; 对的; 好; 对; 行; では; じゃあ";
/// Words with which the first sentence of such a reply ends: "ok rev B then".
const ENDING_REACTION: [&str; 5] = ["then", "dann", "тогда", "entonces", "alors"];
/// How messages begin that take something else than what was settled before, in lower case.
const TAKING_OTHER: &str = "then; in that case; ok then; okay then; right, then; dann; na dann; тогда; ну тогда; entonces; alors; dans ce cas; 那就; 那么";
/// Words that point at another one of several things, in lower case.
const OTHER: [&str; 12] = [
    "one",
    "other",
    "instead",
    "lieber",
    "andere",
    "anderen",
    "другой",
    "другую",
    "otro",
    "otra",
    "autre",
    "plutôt",
];
/// A message of at most so many words does nothing else than take something else.
const TAKING_WORDS: usize = 8;
/// A reply of at most so many words means little alone: "Do that.", "11:00."
const FEW_WORDS: usize = 3;
/// Bytes of a reply in which its first sentence ends.
const FIRST_SENTENCE: usize = 120;

/// Whether a reply only makes sense with what was said before it, question or not.
pub fn reacts(reply: &str) -> bool {
    let lower = reply.trim_start().to_lowercase();
    let has_spaces = !lower.contains(|letter: char| letter >= '\u{2e80}');
    if has_spaces && lower.split_whitespace().take(FEW_WORDS + 1).count() <= FEW_WORDS {
        return true;
    }
    let head = &lower[..lower.floor_char_boundary(FIRST_SENTENCE)];
    // "3.5" and "app.rs" do not end a sentence.
    let end = head.char_indices().find(|(at, sign)| {
        let is_last = head[at + sign.len_utf8()..]
            .chars()
            .next()
            .is_none_or(char::is_whitespace);
        *sign == '\n' || ".!?;,".contains(*sign) && is_last
    });
    let first = end.map_or(head, |(at, _)| &head[..at]);
    let last_word = first.split_whitespace().next_back();
    let ends_so = last_word.is_some_and(|word| ENDING_REACTION.contains(&word));
    begins_with(&lower, REACTING) || ends_so && (end.is_some() || head.len() == lower.len())
}

/// Whether a message does nothing else than take something else than what was settled before it: a value, or another one of several.
pub fn takes_other(message: &str) -> bool {
    let lower = message.trim().to_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let names_other =
        lower.contains(|letter: char| letter.is_ascii_digit()) || words.iter().any(|word| OTHER.contains(word));
    words.len() <= TAKING_WORDS && names_other && begins_with(&lower, TAKING_OTHER)
}

/// Whether a text in lower case begins with one of some phrases, as whole words.
fn begins_with(lower: &str, phrases: &str) -> bool {
    phrases.split("; ").map(str::trim).any(|phrase| {
        let mut signs = phrase.chars();
        let is_long_sign = phrase.chars().all(|letter| letter >= '\u{2e80}') && signs.nth(1).is_some();
        let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
        let rest = lower.strip_prefix(phrase);
        rest.is_some_and(|rest| is_long_sign || !rest.starts_with(goes_on))
    })
}

/// What a reply names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyReferents {
    /// Labels, in lower case, in the order in which they are named.
    pub labels: Vec<String>,
    /// Places in the list, from zero.
    pub places: Vec<usize>,
    /// Whether the last one is named.
    pub last: bool,
    /// Whether all are.
    pub all: bool,
    /// Whether it names what was recommended.
    pub recommended: bool,
    /// Stems of its meaningful words.
    pub stems: Vec<Box<str>>,
}

impl ReplyReferents {
    /// Reads a reply.
    pub fn read(reply: &str) -> Self {
        let lower = reply.to_lowercase();
        let mut found = Self {
            labels: labels_in(reply),
            stems: content_stems(reply),
            recommended: recommends(&lower),
            ..Self::default()
        };
        for word in lower
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            let names = |spelled: &&str| match spelled.is_ascii() && spelled.len() > 5 {
                true => word == *spelled,
                false => word.starts_with(*spelled),
            };
            if let Some(place) = ORDINALS.iter().position(|words| words.iter().any(&names)) {
                found.places.push(place);
            }
            found.last |= LAST.iter().any(&names);
            found.all |= ALL.contains(&word);
        }
        found
    }

    /// Whether it names one of several things.
    pub fn picks(&self) -> bool {
        !self.labels.is_empty() || !self.places.is_empty() || self.last
    }
}

/// Whether a sentence, in lower case, recommends something.
pub fn recommends(lower: &str) -> bool {
    RECOMMENDING.iter().any(|word| lower.contains(word))
}

/// Labels that a text names: `1`, `(2)`, `#3`, `option b`, `B`.
pub fn labels_in(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        for part in word.split(['/', '+', '&', ',']) {
            let bare = part.trim_matches(|letter: char| !letter.is_alphanumeric());
            let is_number = bare
                .parse::<u32>()
                .is_ok_and(|number| (1..=LARGEST_LABEL).contains(&number));
            // A sign directly before it makes it something else: "-1", "$5", "v2".
            let is_bare = part.starts_with(|letter: char| letter.is_ascii_digit() || "(#*`\"".contains(letter));
            let before = index.checked_sub(1).map(|before| words[before].to_lowercase());
            let is_named = before.as_deref().is_some_and(|before| {
                matches!(
                    before,
                    "option" | "variant" | "variante" | "plan" | "вариант" | "opción" | "number"
                )
            });
            let next = words.get(index + 1).map(|next| next.to_lowercase());
            let next = next
                .as_deref()
                .map(|next| next.trim_matches(|letter: char| !letter.is_alphanumeric()));
            let is_set_off = part.len() > bare.len() || next.is_none_or(|next| BEHIND_LETTER.contains(&next));
            let is_letter = bare.len() == 1
                && bare
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || is_named && byte.is_ascii_alphabetic());
            let is_word = matches!(bare, "A" | "I") && !is_set_off;
            if is_number && is_bare || is_letter && (is_named || !is_word && bare != "I") {
                let label = bare.to_lowercase();
                if !found.contains(&label) {
                    found.push(label);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_named_in_many_ways() {
        for (reply, labels) in [
            ("let's do 1", &["1"][..]),
            ("2", &["2"]),
            ("option B", &["b"]),
            ("not sure about (1)", &["1"]),
            ("#3 please", &["3"]),
            ("1 and 3", &["1", "3"]),
            ("1/2 now", &["1", "2"]),
            ("A for all calls, B instead of C.", &["a", "b", "c"]),
            ("A plan would help", &[]),
            ("I want both", &[]),
            ("make it 512", &[]),
            ("yes", &[]),
        ] {
            assert_eq!(labels_in(reply), labels, "{reply}");
        }
    }

    #[test]
    fn places_and_recommendations_are_named() {
        assert_eq!(ReplyReferents::read("the second one").places, [1]);
        assert_eq!(ReplyReferents::read("давай второй").places, [1]);
        assert_eq!(ReplyReferents::read("第一个").places, [0]);
        assert!(ReplyReferents::read("both please").all);
        assert!(ReplyReferents::read("let's do the separator you suggested").recommended);
        assert!(!ReplyReferents::read("yes").picks());
    }
}
