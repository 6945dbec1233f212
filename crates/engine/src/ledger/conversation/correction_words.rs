//! Words of correction, in several languages.

/// Words that say that something is not what it was or not what was said, in their plain form.
const CUES: &str = "instead moved switched changed bumped actually correction corrected wrong mixed mistake mistaken mistyped misspoke \
    incorrect typo misremembered misread confused forget scratch strike ignore disregard replace replaced swap swapped \
    renamed longer anymore raised lowered increased reduced extended postponed rescheduled oops meant revised amended \
    outdated obsolete becomes became вместо перенесли перенесен поменяли поменялся поменялась поменялось изменили \
    изменился изменилась изменилось сменили сменился сменилась переехал переехала переехали перевели ошибся ошиблась \
    ошибка опечатка перепутал перепутала оговорился оговорилась исправь исправление поправка поправь поправили замени \
    заменили забудь вычеркни вычеркнуть верное верный верно правильно неправильный неверно устарел устарела устарело \
    оказалось стало годится stattdessen statt anstatt sondern geändert umgestiegen umgezogen verschoben verlegt \
    gewechselt falsch falsche falschen verwechselt vertan geirrt tippfehler streich tausche ersetze ersetzt vergiss \
    korrektur korrigiere überholt veraltet cambió cambia cambiado cambiaron cambiamos corrijo corrección olvida \
    reemplaza sustituye equivoqué equivocado movió perdón plutôt changé remplace remplacé oublie trompé erreur déplacé \
    modifié 改 换 错";

/// Words that may say the same, or only when something is to happen: "the port is 9090 now", "now run the tests".
const WEAK_CUES: &str = "old former previous старый старая старое прежний alte alter altes antiguo viejo ancien 旧 now new latest change changes switch update updated correct again rather теперь уже новый новая новое новой больше \
    jetzt nun inzwischen neuerdings neu neue doch ahora nuevo nueva maintenant désormais nouveau nouvelle finalement 现 更";

/// Words that together say that something has changed, in their plain form.
const CUE_PHRASES: &str = "out of date; any more; turns out; turned out; as of; from now; from here; from today; just heard; just learned; \
    found out; effective immediately; went from; my bad; since yesterday; since today; на самом деле; с \
    сегодняшнего; со вчерашнего; а не; по новой; всё-таки; все-таки; ab jetzt; ab sofort; ab heute; ab morgen; seit \
    gestern; seit heute; nicht mehr; stand heute; das andere war; neues zu; ya no; a partir; en realidad; en vez; à \
    partir; au lieu; en fait; 不 再; 不 是; update on; news on";

/// Words with which a sentence takes back or limits the one before it, in lower case.
const TURNING_BACK: &str = "wait no nope hm hmm hang but however though actually although leave instead forget scratch unless except \
    nein doch aber warte moment halt allerdings jedoch stattdessen vergiss außer sondern нет но стоп подожди погоди однако хотя забудь \
    кроме вместо pero espera aunque salvo mejor mais attends non sauf cependant plutôt 但 等等 不过";

/// Whether a sentence begins by taking back or limiting what stands before it: "Wait, no", "But not on Fridays".
pub fn turns_back(sentence: &str) -> bool {
    let lower = sentence.trim_start().to_lowercase();
    let word = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let is_signs =
        |word: &&str| !word.is_ascii() && word.chars().count() <= 2 && lower.starts_with(word) && *word >= "\u{2e80}";
    is_listed(TURNING_BACK, word) || TURNING_BACK.split(' ').any(|word| is_signs(&word))
}

/// How surely a sentence corrects something, by its words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CueStrength {
    /// Nothing says so.
    #[default]
    None,
    /// It may.
    Weak,
    /// It does.
    Strong,
}

/// What a word says about correction.
pub fn cue_of(word: &str) -> CueStrength {
    if is_listed(CUES, word) {
        CueStrength::Strong
    } else if is_listed(WEAK_CUES, word) {
        CueStrength::Weak
    } else {
        CueStrength::None
    }
}

/// Whether a line of words in their plain form, with single spaces, has a phrase that says that something has changed.
pub fn has_cue_phrase(line: &str) -> bool {
    CUE_PHRASES.split("; ").any(|phrase| {
        let mut found = line.match_indices(phrase);
        found.any(|(at, _)| {
            let (before, behind) = (&line[..at], &line[at + phrase.len()..]);
            (before.is_empty() || before.ends_with(' ')) && (behind.is_empty() || behind.starts_with(' '))
        })
    })
}

/// Whether a word speaks of correction, and so does not tell what a sentence is about.
pub fn is_cue(word: &str) -> bool {
    cue_of(word) > CueStrength::None
}

/// Whether a list of words, separated by spaces, has a word.
pub fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_whole_words() {
        assert!(has_cue_phrase("that is out of date by now"));
        assert!(has_cue_phrase("das gilt nicht mehr"));
        assert!(!has_cue_phrase("the layout of dates"));
        assert!(!has_cue_phrase("shout out of dateline"));
    }

    #[test]
    fn a_sentence_that_turns_back_belongs_to_the_one_before() {
        for sentence in [
            "Wait, no: three reports read it.",
            "hm, no.",
            "Aber nur montags.",
            "Нет, лучше замок в базе.",
            "不过周五不行",
        ] {
            assert!(turns_back(sentence), "{sentence}");
        }
        for sentence in ["Nobody reads it.", "Use the median.", "", "Notes are in the wiki."] {
            assert!(!turns_back(sentence), "{sentence}");
        }
    }

    #[test]
    fn words_say_how_surely_they_correct() {
        for (word, strength) in [
            ("typo", CueStrength::Strong),
            ("перепутал", CueStrength::Strong),
            ("verschoben", CueStrength::Strong),
            ("now", CueStrength::Weak),
            ("jetzt", CueStrength::Weak),
            ("port", CueStrength::None),
            ("", CueStrength::None),
        ] {
            assert_eq!(cue_of(word), strength, "{word}");
        }
    }
}
