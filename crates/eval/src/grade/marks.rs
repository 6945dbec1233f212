//! Words that deny something or say that it is past, in English, German and Russian, and the plainest in Spanish and French.

use crate::grade::removal::ENDED;
use crate::grade::removal::REMOVED;

/// Words that deny what stands behind them.
pub const DENYING: &[&str] = &[
    "not",
    "no",
    "never",
    "without",
    "none",
    "nothing",
    "neither",
    "nor",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keinem",
    "keiner",
    "nie",
    "niemals",
    "ohne",
    "nichts",
    "не",
    "нет",
    "ни",
    "без",
    "никогда",
    "ничего",
    "nunca",
    "sin",
    "jamais",
    "sans",
];

/// Words that set aside what stands behind them for something else.
pub const INSTEAD: &[&str] = &["instead", "rather", "statt", "anstatt", "anstelle", "вместо"];

/// Words that may stand between a denial and what it denies.
pub const BETWEEN: &[&str] = &[
    "the",
    "a",
    "an",
    "in",
    "on",
    "at",
    "to",
    "be",
    "been",
    "by",
    "with",
    "of",
    "than",
    "any",
    "really",
    "actually",
    "longer",
    "more",
    "use",
    "using",
    "used",
    "choose",
    "chosen",
    "adopt",
    "port",
    "der",
    "die",
    "das",
    "den",
    "dem",
    "ein",
    "eine",
    "einen",
    "im",
    "mit",
    "auf",
    "mehr",
    "von",
    "port",
    "в",
    "во",
    "на",
    "с",
    "из",
    "использовать",
    "используем",
    "порт",
    "порту",
    "через",
];

/// Words of a question that asks for what is denied, so that a denial answers it.
const ASKING_FOR_DENIED: &[&str] = &[
    "not",
    "never",
    "avoid",
    "avoided",
    "forbidden",
    "forbid",
    "prohibited",
    "reject",
    "rejected",
    "exclude",
    "excluded",
    "without",
    "ruled",
    "against",
    "instead",
    "nicht",
    "nie",
    "verboten",
    "vermeiden",
    "abgelehnt",
    "verworfen",
    "ausgeschlossen",
    "kein",
    "keine",
    "не",
    "нельзя",
    "запрещено",
    "отклонили",
    "отказались",
    "избегать",
];

/// Whether a question, folded, asks for what is denied.
pub fn asks_for_denied(question: &str) -> bool {
    let mut words = question.split(|c: char| !c.is_alphanumeric());
    words.any(|word| ASKING_FOR_DENIED.contains(&word))
}

/// Words that say by themselves that something is over; they may stand before it or behind it.
pub const OVER: &[&str] = &[
    "formerly",
    "previously",
    "originally",
    "initially",
    "earlier",
    "superseded",
    "obsolete",
    "outdated",
    "deprecated",
    "stale",
    "abandoned",
    "rejected",
    "discarded",
    "anymore",
    "früher",
    "vorher",
    "zuvor",
    "ursprünglich",
    "anfangs",
    "ehemals",
    "veraltet",
    "überholt",
    "verworfen",
    "abgelöst",
    "abgelehnt",
    "раньше",
    "ранее",
    "прежде",
    "изначально",
    "первоначально",
    "сначала",
    "сперва",
    "устарел",
    "устарело",
    "устарела",
    "устаревший",
    "отклонен",
    "отклонено",
    "anteriormente",
    "antes",
    "obsoleto",
    "obsoleta",
    "auparavant",
    "anciennement",
    "obsolète",
];

/// Adjectives that say that what they stand before is over.
pub const OLD: &[&str] = &[
    "old",
    "older",
    "previous",
    "former",
    "prior",
    "past",
    "original",
    "alt",
    "alte",
    "alten",
    "alter",
    "altes",
    "vorherige",
    "vorherigen",
    "vorheriger",
    "frühere",
    "früheren",
    "früherer",
    "ehemalige",
    "ehemaligen",
    "ursprüngliche",
    "ursprünglichen",
    "ursprünglicher",
    "старый",
    "старая",
    "старое",
    "старого",
    "старой",
    "старом",
    "прежний",
    "прежняя",
    "прежнее",
    "прежнего",
    "предыдущий",
    "предыдущее",
    "предыдущая",
];

/// Verbs whose object is over, and what leads from it to what came instead.
pub const REPLACING: &[&str] = &[
    "replaced",
    "replaces",
    "replacing",
    "replace",
    "supersedes",
    "superseding",
    "overrides",
    "overriding",
    "ersetzt",
    "ersetzte",
    "заменил",
    "заменили",
    "заменяет",
    "заменен",
    "заменено",
    "заменена",
];

/// Verbs of changing something: what they start from is over, what they lead to is not.
pub const CHANGING: &[&str] = &[
    "changed",
    "change",
    "changing",
    "moved",
    "switched",
    "migrated",
    "updated",
    "upgraded",
    "bumped",
    "raised",
    "lowered",
    "renamed",
    "away",
    "off",
    "geändert",
    "gewechselt",
    "umgestellt",
    "изменили",
    "изменен",
    "поменяли",
    "перешли",
];

/// Words for what came first, where something else came then.
pub const FIRST: &[&str] = &["first", "started", "began", "zuerst", "zunächst", "erst", "вначале"];

/// Words for what came then.
pub const THEN: &[&str] = &[
    "then",
    "later",
    "subsequently",
    "now",
    "but",
    "dann",
    "später",
    "jetzt",
    "aber",
    "потом",
    "затем",
    "позже",
    "теперь",
];

/// Words behind which the new stands, after a verb of replacing.
pub const TOWARDS: &[&str] = &[
    "by",
    "with",
    "to",
    "now",
    "durch",
    "auf",
    "jetzt",
    "nun",
    "на",
    "теперь",
    "->",
];

/// Forms of `be`.
pub const BEING: &[&str] = &[
    "is", "are", "was", "were", "been", "being", "got", "be", "ist", "sind", "war", "waren", "wurde", "wurden", "wird",
    "worden", "был", "была", "было", "были", "está", "están", "fue", "fueron", "sido", "est", "sont", "été",
];

/// Forms of `be` that tell of the past.
pub const WAS: &[&str] = &[
    "was", "were", "had", "war", "waren", "hatte", "был", "была", "было", "были",
];

/// Words before what something was changed from.
pub const FROM: &[&str] = &["from", "von", "vom", "aus", "с", "со", "из"];

/// Words that, first in brackets behind something, say that it is over.
const IN_BRACKETS: &[&str] = &[
    "old",
    "was",
    "until",
    "replaced",
    "now",
    "no",
    "not",
    "initial",
    "original",
    "past",
    "before",
    "alt",
    "war",
    "bis",
    "ersetzt",
    "jetzt",
    "nicht",
    "старый",
    "старое",
    "был",
    "было",
    "заменено",
    "заменен",
    "теперь",
    "не",
    "больше",
    "уже",
    "до",
];

/// Words that open a clause of their own.
const OPENING: &[&str] = &[
    "but",
    "however",
    "whereas",
    "while",
    "because",
    "aber",
    "sondern",
    "während",
    "weil",
    "но",
    "а",
    "потому",
];

/// Whether a word opens a clause of its own.
pub fn opens_clause(word: &str) -> bool {
    OPENING.contains(&word)
}

/// Words that, first in brackets and with more behind them, tell of another value: `9090 (formerly 8080)`.
const OF_ANOTHER: &[&str] = &[
    "was",
    "formerly",
    "previously",
    "originally",
    "initially",
    "earlier",
    "not",
    "war",
    "früher",
    "vorher",
    "zuvor",
    "ursprünglich",
    "anfangs",
    "ehemals",
    "nicht",
    "был",
    "было",
    "раньше",
    "ранее",
    "прежде",
    "изначально",
    "первоначально",
    "сначала",
    "не",
];

/// Whether a bracket behind something says that it is over, by its first words.
pub fn closes(bracket: &str) -> bool {
    let inside = bracket.split([')', ']']).next().unwrap_or("");
    let mut words = inside
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let first = words.next().unwrap_or("");
    let mut more = words.take(2).peekable();
    if OF_ANOTHER.contains(&first) && more.peek().is_some() {
        return more.any(|word| {
            matches!(
                word,
                "used" | "valid" | "current" | "mehr" | "gültig" | "verwendet" | "используется"
            )
        });
    }
    let is_mark = |word: &str| {
        IN_BRACKETS.contains(&word) || OVER.contains(&word) || REMOVED.contains(&word) || ENDED.contains(&word)
    };
    is_mark(first) || more.any(is_mark)
}

/// Whether a heading says that what stands below it is over.
pub fn is_past_heading(heading: &str) -> bool {
    let words: Vec<&str> = heading
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_over = |word: &&str| {
        OVER.contains(word)
            || OLD.contains(word)
            || REMOVED.contains(word)
            || matches!(
                *word,
                "replaced" | "renamed" | "ersetzt" | "umbenannt" | "устаревшее" | "прошлое"
            )
    };
    let pairs = [
        ["no", "longer"],
        ["nicht", "mehr"],
        ["больше", "не"],
        ["больше", "нет"],
        ["ya", "no"],
    ];
    words.iter().any(is_over) || words.windows(2).any(|two| pairs.iter().any(|pair| two == pair))
}
