//! Whether what a block shows as somebody's words was said by them, and whether it claims what nobody said.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;

use crate::ledger_text::LedgerEntryView;
use crate::ledger_text::LedgerLine;
use crate::ledger_text::Section;
use crate::ledger_text::Status;
use crate::preflight::checks::Verdict;
use crate::preflight::checks::asked::every;
use crate::preflight::checks::case::Case;
use crate::preflight::checks::case::mentions;
use crate::preflight::checks::case::text_of;
use crate::preflight::claims;
use crate::preflight::sheet::State;
use crate::retention::render;

/// Sections whose entries quote people and the agent.
const QUOTING: [Section; 7] = [
    Section::Conversation,
    Section::ActiveFacts,
    Section::Decisions,
    Section::Obligations,
    Section::SupersededFacts,
    Section::UnresolvedQuestions,
    Section::Constraints,
];
/// A reply stands at most so many lines behind what it answers.
const MOST_BETWEEN: usize = 3;

/// Every entry that is shown as the person's or the agent's words: they said them. Places where something was left out or hidden part
/// an entry into pieces; each has to be a stretch of one message. A fact that is shown as a tool's is a value under a name, and the
/// value has to stand in a call or a result.
pub fn entries_shown(case: &Case<'_>) -> Verdict {
    let messages = case.conversation.transcript.messages().iter();
    let texts: Vec<(Role, String)> = messages
        .map(|message| (message.role, squeezed(&render(message))))
        .collect();
    let quoting = case.entries().filter(|entry| QUOTING.contains(&entry.section));
    let sourced = quoting.filter_map(|entry| match entry.author {
        Some(Author::User) => Some((entry, &[Role::User][..])),
        Some(Author::Assistant) => Some((entry, &[Role::Assistant][..])),
        // Under other headings a tool's words are another check's business.
        Some(Author::Tool) if matches!(entry.section, Section::ActiveFacts | Section::SupersededFacts) => {
            Some((entry, &[Role::Assistant, Role::Tool][..]))
        }
        Some(Author::Tool | Author::Host | Author::System | Author::Summary) | None => None,
    });
    every(sourced, |(entry, roles)| {
        let is_said = |piece: &str| {
            texts
                .iter()
                .any(|(speaker, text)| roles.contains(speaker) && text.contains(piece))
        };
        let is_known = |piece: &str| piece.is_empty() || is_said(piece) || is_said(without_remark(piece));
        let invented = match entry.author {
            // The name is made of where the value was found.
            Some(Author::Tool) => {
                let value = entry
                    .text
                    .split_once(": ")
                    .map_or(entry.text.as_str(), |(_, value)| value);
                pieces(value).into_iter().find(|piece| !is_known(piece))?
            }
            _ => pieces(&entry.text)
                .into_iter()
                .find(|piece| !is_known(behind_pointer(piece, texts.len())))?,
        };
        Some(format!(
            "nobody in that role said this under {}: {invented}",
            entry.section.title()
        ))
    })
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The stretches of an entry's text that are quoted: what stands between cuts, arrows and what was hidden.
fn pieces(text: &str) -> Vec<String> {
    let mut text = squeezed(text);
    for sign in ["[…]", "...", "…", "→", "[REDACTED_IP]", "\u{201c}", "\u{201d}"] {
        text = text.replace(sign, "\n");
    }
    // A reference stands for a credential, with its kind and hash.
    while let Some(start) = text.find("credential_ref:") {
        let end = text[start..]
            .find([' ', '\n', ';', '"'])
            .map_or(text.len(), |end| start + end);
        text.replace_range(start..end, "\n");
    }
    let pieces = text
        .split('\n')
        .map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()));
    pieces.filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}

/// A piece without the pointer that leads to a later word: `corrected m147`, `see m26`, with that word behind it: `corrected m147: words`.
/// A pointer to a message that is not there is no pointer.
fn behind_pointer(piece: &str, messages: usize) -> &str {
    let pointed = ["corrected m", "see m"]
        .iter()
        .find_map(|sign| piece.strip_prefix(sign));
    let Some(pointed) = pointed else {
        return piece;
    };
    let digits = pointed.bytes().take_while(u8::is_ascii_digit).count();
    let leads_somewhere = pointed[..digits].parse().is_ok_and(|number: usize| number < messages);
    let rest = &pointed[digits..];
    if !leads_somewhere || !(rest.is_empty() || rest.starts_with([':', ')'])) {
        return piece;
    }
    rest.trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// A piece without a remark of the block behind it: `(corrected m147)`, `, until m12`.
fn without_remark(piece: &str) -> &str {
    let end = [" (", " [", ", until m", ", corrected m", " \u{2014} corrected m"]
        .iter()
        .filter_map(|sign| piece.rfind(sign))
        .max();
    end.map_or(piece, |end| {
        piece[..end].trim_end_matches(|c: char| !c.is_alphanumeric())
    })
}

/// A proposal that was taken up stands with the reply that takes it up: the one means nothing without the other.
pub fn exchange(case: &Case<'_>) -> Verdict {
    let accepted = case.sheet().proposals.iter().filter(|proposal| proposal.is_accepted);
    let asked = accepted.filter(|proposal| proposal.language.is_first_class());
    every(asked, |proposal| {
        let places = case.lines.iter().enumerate();
        let mut offered = places.filter(|(_, line)| mentions(text_of(line), &proposal.needle));
        let is_answered = offered.any(|(place, _)| {
            let near = case.lines.iter().skip(place).take(MOST_BETWEEN + 1);
            near.into_iter().any(|line| text_of(line).contains(&proposal.reply))
        });
        (!is_answered).then(|| format!("{} does not stand with its reply: {}", proposal.needle, proposal.reply))
    })
}

/// What the person did not take up is nowhere called agreed, and is no decision or rule.
pub fn no_consent_claimed(case: &Case<'_>) -> Verdict {
    let passed_over = case.sheet().proposals.iter().filter(|proposal| !proposal.is_accepted);
    every(passed_over, |proposal| {
        let sources = case.sources(&proposal.needle);
        case.lines.iter().find_map(|line| {
            let text = text_of(line);
            if !mentions(text, &proposal.needle) {
                return None;
            }
            let is_listed = match line {
                LedgerLine::Entry(entry) => {
                    let is_binding = matches!(entry.section, Section::Decisions | Section::Constraints);
                    // Who proposes something may be quoted as proposing it; nobody else said it.
                    is_binding || (entry.section == Section::Obligations && entry.author == Some(Author::User))
                }
                LedgerLine::Prose(_) | LedgerLine::Title(_) => false,
            };
            let is_claimed = is_listed || claims::own_word(text, claims::AGREED, &sources).is_some();
            is_claimed.then(|| format!("nobody agreed to {}: {text}", proposal.needle))
        })
    })
}

/// A question that got no answer is not called answered.
pub fn question_not_closed(case: &Case<'_>) -> Verdict {
    let open = case.sheet().questions.iter().filter(|asked| asked.state == State::Open);
    every(open, |asked| {
        let sources = case.sources(&asked.needle);
        case.entries().find_map(|entry| {
            let is_closed =
                entry.status == Status::Done || claims::own_word(&entry.text, claims::SETTLED, &sources).is_some();
            (is_closed && mentions(&entry.text, &asked.needle))
                .then(|| format!("nobody answered the question about {}: {}", asked.needle, entry.text))
        })
    })
}

/// A command that failed is nowhere shown to have gone well.
pub fn no_false_ok(case: &Case<'_>) -> Verdict {
    every(case.sheet().failures.iter(), |failed| {
        case.lines.iter().map(text_of).find_map(|text| {
            let lower = text.to_lowercase();
            let is_told = claims::WENT_WRONG.iter().any(|word| lower.contains(word));
            let is_claimed = mentions(text, &failed.needle) && !is_told;
            let claim = claims::own_word(text, claims::WENT_WELL, &[]).filter(|_| is_claimed)?;
            Some(format!("{} failed and is called {claim}: {text}", failed.needle))
        })
    })
}

/// What went wrong is told by its code or name.
pub fn failure_kept(case: &Case<'_>) -> Verdict {
    every(case.sheet().failures.iter(), |failed| {
        (!case.is_shown(&failed.error))
            .then(|| format!("{} failed with {}, which is not shown", failed.needle, failed.error))
    })
}

/// A value that holds is nowhere marked as superseded, unless the line names the value that it came after.
pub fn no_false_supersession(case: &Case<'_>) -> Verdict {
    every(case.sheet().facts.iter(), |fact| {
        let is_marked = |entry: &&LedgerEntryView| {
            let names_old = fact.stale.iter().any(|stale| mentions(&entry.text, stale));
            entry.status == Status::Superseded && mentions(superseded_part(&entry.text), &fact.current) && !names_old
        };
        let entry = case.entries().find(is_marked)?;
        Some(format!(
            "{} holds and is marked as superseded: {}",
            fact.current, entry.text
        ))
    })
}

/// What a superseded entry says is over: where an arrow leads to the value that came instead, only what stands before it.
fn superseded_part(text: &str) -> &str {
    let arrow = text.rfind('\u{2192}').or_else(|| text.rfind("->"));
    arrow.map_or(text, |arrow| &text[..arrow])
}
