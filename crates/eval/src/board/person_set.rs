//! People's words on recorded sessions: which messages of the person survive whole, which sentences of long ones, which of
//! the texts that close the agent's turns.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::decide::Engine;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;

use crate::board::figure::BoardObservation;
use crate::board::measure::BoardMeasure;
use crate::board::own_words::folded;
use crate::board::own_words::own_words;
use crate::board::own_words::sentences;
use crate::board::size::BoardSize;
use crate::board::state_check::CheckedState;
use crate::board::state_check::StateCheck;
use crate::forced::ForcedPasses;
use crate::forced::redactor;
use crate::retention::render;
use crate::state::tokens;

/// The tokenizer of recorded sessions, as in retention.
const FAMILY: Family = Family::Cl100k;
/// A message of the person is short up to so many tokens.
const MOST_SHORT: u64 = 300;
/// A session counts from so many tokens on: a twentieth of it still has room for a block with its headings.
pub const LEAST_TOKENS: usize = 20_000;

/// Something that should stand in a state: a short message as one text, a long one or a closing text as its sentences.
struct Wanted {
    measures: Vec<BoardMeasure>,
    texts: Vec<String>,
}

/// What the states of a session show at these sizes.
pub fn observe(messages: &[Message], sizes: &[BoardSize]) -> Vec<BoardObservation> {
    // Instructions are never compacted; some agents record more of them than a twentieth of a session.
    let is_spoken = |message: &&Message| !matches!(message.role, Role::System | Role::Developer);
    let draft = Draft {
        messages: messages.iter().filter(is_spoken).cloned().collect(),
        ..Draft::default()
    };
    let transcript = Arc::new(draft.assemble().transcript);
    let messages = transcript.messages();
    let wanted = wanted(messages);
    let search = WantedSearch::new(&wanted);
    let check = StateCheck::new(messages);
    let redactor = redactor();
    let whole = tokens(messages, FAMILY);
    let passes = ForcedPasses::new(Arc::clone(&transcript), FAMILY, Engine::Ledger);
    let mut observations = Vec::new();
    for size in sizes {
        let target = size.target(whole);
        let state = passes.to(target);
        let name = size.to_string();
        let checked = CheckedState {
            size: &name,
            messages: &state.messages,
            tokens: tokens(&state.messages, FAMILY),
            target,
            is_compacted: state.is_compacted(),
        };
        observations.extend(check.observe(&checked));
        let shown: Vec<String> = match checked.is_refused() {
            true => Vec::new(),
            false => state.messages.iter().map(render).collect(),
        };
        let shown = without_marks(&folded(&redactor.redact(&shown.join("\n")).text));
        let shares = search.shares(&wanted, &shown);
        for (wanted, share) in wanted.iter().zip(shares) {
            observations.extend(wanted.measures.iter().map(|measure| BoardObservation {
                size: name.clone(),
                measure: *measure,
                value: share,
            }));
        }
    }
    observations
}

/// A state without the marks that name later words: a corrected sentence that is shown with one still stands whole.
fn without_marks(state: &str) -> String {
    let mut plain = String::with_capacity(state.len());
    let mut rest = state;
    while let Some(at) = rest.find(" (") {
        let inner = &rest[at + 2..];
        let end = inner.find(')').filter(|end| {
            let mark = &inner[..*end];
            [" corrected m", " see m"]
                .iter()
                .any(|word| mark.contains(&format!("→{word}")))
        });
        match end {
            Some(end) => {
                plain.push_str(&rest[..at]);
                rest = &inner[end + 1..];
            }
            None => {
                plain.push_str(&rest[..at + 2]);
                rest = inner;
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn wanted(messages: &[Message]) -> Vec<Wanted> {
    // The block hides secrets, so what is looked for must have them hidden as well.
    let redactor = redactor();
    let hidden = |text: &str| redactor.redact(text).text;
    let said: Vec<String> = messages.iter().filter_map(own_words).collect();
    let mut wanted = Vec::new();
    for (index, words) in said.iter().enumerate() {
        let is_middle = index > 0 && index + 1 < said.len();
        let (measures, texts) = match FAMILY.count(words, TextKind::Prose) <= MOST_SHORT {
            true if is_middle => (
                vec![BoardMeasure::ShortMessages, BoardMeasure::ShortMiddle],
                vec![folded(&hidden(words))],
            ),
            true => (vec![BoardMeasure::ShortMessages], vec![folded(&hidden(words))]),
            false => (vec![BoardMeasure::LongSentences], sentences(&hidden(words))),
        };
        wanted.push(Wanted { measures, texts });
    }
    wanted.extend(closing_texts(messages).into_iter().map(|text| Wanted {
        measures: vec![BoardMeasure::ClosingSentences],
        texts: sentences(&hidden(&text)),
    }));
    wanted.retain(|wanted| wanted.texts.iter().any(|text| !text.is_empty()));
    wanted
}

/// The last text of the agent before each message of the person but the first. The text at the end of the session is no
/// such text: nobody has answered it.
fn closing_texts(messages: &[Message]) -> Vec<String> {
    let mut found = Vec::new();
    let mut last: Option<String> = None;
    for message in messages {
        if own_words(message).is_some() {
            found.extend(last.take());
        } else if message.role == Role::Assistant {
            let texts = message.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(&**text),
                Part::Call(_) | Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
            });
            let text = texts.collect::<Vec<_>>().join("\n");
            if !text.trim().is_empty() {
                last = Some(text);
            }
        }
    }
    found
}

/// All wanted texts of a session, looked for in one walk over a state.
struct WantedSearch {
    automaton: AhoCorasick,
    count: usize,
}

impl WantedSearch {
    fn new(wanted: &[Wanted]) -> Self {
        let texts: Vec<&String> = wanted.iter().flat_map(|wanted| &wanted.texts).collect();
        Self {
            automaton: AhoCorasick::new(&texts).expect("the texts of a session make an automaton"),
            count: texts.len(),
        }
    }

    /// Which share of its texts each wanted thing has in a state.
    fn shares(&self, wanted: &[Wanted], state: &str) -> Vec<f64> {
        let mut is_there = vec![false; self.count];
        for found in self.automaton.find_overlapping_iter(state) {
            // "ok" does not stand in "token".
            let goes_on = |before: Option<char>, after: Option<char>| {
                before
                    .zip(after)
                    .is_some_and(|(before, after)| before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric())
            };
            let (front, rest) = state.split_at(found.start());
            let (inside, behind) = rest.split_at(found.len());
            let is_part = goes_on(front.chars().next_back(), inside.chars().next())
                || goes_on(inside.chars().next_back(), behind.chars().next());
            is_there[found.pattern().as_usize()] |= !is_part;
        }
        let mut next = is_there.into_iter();
        wanted
            .iter()
            .map(|wanted| {
                let kept = next
                    .by_ref()
                    .take(wanted.texts.len())
                    .filter(|is_there| *is_there)
                    .count();
                kept as f64 / wanted.texts.len() as f64
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use mainstay_wire::authorship;

    use super::*;

    fn said(role: Role, text: &str) -> Message {
        authorship::message(role, vec![Part::Text(text.into())])
    }

    #[test]
    fn a_mark_of_a_later_word_does_not_break_a_sentence() {
        let state = "Use port 8443 (in the lab) from now on. (Use port 8443… → corrected m24) Thanks (a lot).";
        assert_eq!(
            without_marks(state),
            "Use port 8443 (in the lab) from now on. Thanks (a lot)."
        );
    }

    #[test]
    fn short_messages_long_ones_and_closing_texts_are_wanted() {
        let long = "Please rename the third table in the schema. ".repeat(60);
        let messages = [
            said(Role::User, "first"),
            said(Role::Assistant, "I read the code and start now."),
            said(Role::Assistant, "The first part is done."),
            said(Role::User, &long),
            said(Role::User, "<system-reminder>x</system-reminder>"),
            said(Role::Assistant, "The table has its new name."),
            said(Role::User, "and now\n  the other one"),
            said(Role::User, "last"),
            said(Role::Assistant, "Nobody has answered this text."),
        ];
        let wanted = wanted(&messages);
        let by = |measure: BoardMeasure| -> Vec<&str> {
            let own = wanted.iter().filter(|wanted| wanted.measures.contains(&measure));
            own.map(|wanted| wanted.texts[0].as_str()).collect()
        };
        assert_eq!(
            by(BoardMeasure::ShortMessages),
            ["first", "and now the other one", "last"]
        );
        assert_eq!(by(BoardMeasure::ShortMiddle), ["and now the other one"]);
        assert_eq!(
            by(BoardMeasure::LongSentences),
            ["Please rename the third table in the schema."]
        );
        assert_eq!(
            by(BoardMeasure::ClosingSentences),
            ["The first part is done.", "The table has its new name."]
        );
        let search = WantedSearch::new(&wanted);
        let shares = search.shares(
            &wanted,
            "first [m7] and now the other one. The first part is done. blast",
        );
        assert_eq!(shares, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    }
}
