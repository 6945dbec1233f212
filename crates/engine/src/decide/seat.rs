//! In which role a block goes out, and whether as a message of its own.
//!
//! Most servers take messages in any order of roles. Some render them through a template that wants user and assistant
//! in turns behind at most one system message, and refuse anything else. Such a template does not see tool rows and
//! assistant messages with calls; others of its kind count them to the assistant, so a block keeps clear of both.

use std::borrow::Cow;

use crate::decide::span::Span;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;

/// Where a block goes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seat {
    /// As a message of its own, where its span says.
    #[default]
    Own,
    /// At the head of this kept message, whose role it would otherwise meet.
    Into(usize),
}

/// What a server wants of the order of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roles {
    /// Nothing.
    #[default]
    Open,
    /// User and assistant in turns, the user first, behind at most one system message.
    Alternating,
}

/// The role in which an alternating template sees a message; `None` for what it does not see.
pub fn template_role(message: &Message) -> Option<Role> {
    let says = |part: &Part| matches!(part, Part::Text(_) | Part::Media(_));
    match message.role {
        Role::System | Role::Developer | Role::Tool => None,
        Role::User => {
            let only_results = !message.parts.is_empty() && message.parts.iter().all(is_result);
            (!only_results).then_some(Role::User)
        }
        Role::Assistant => {
            let is_seen = message.parts.is_empty() || message.parts.iter().any(says);
            (is_seen && message.calls().next().is_none()).then_some(Role::Assistant)
        }
    }
}

fn is_result(part: &Part) -> bool {
    matches!(part, Part::Result(_))
}

/// The side a message is on for templates that count tools to the assistant.
fn side(message: &Message) -> Option<Role> {
    match message.role {
        Role::System | Role::Developer => None,
        Role::User | Role::Assistant | Role::Tool => Some(template_role(message).unwrap_or(Role::Assistant)),
    }
}

/// The role and place of the block of a span. Where a server wants roles in turns, the span should be [`settle`]d.
pub fn seat(messages: &[Message], span: &Span, block_role: Role, roles: Roles) -> (Role, Seat) {
    match roles {
        Roles::Alternating => seat_in_turn(messages, span),
        Roles::Open => {
            // A conversation without any words of the person is refused by some providers.
            let has_words = span.kept.iter().any(|index| messages[*index].role == Role::User);
            (if has_words { block_role } else { Role::User }, Seat::Own)
        }
    }
}

fn seat_in_turn(messages: &[Message], span: &Span) -> (Role, Seat) {
    let (before, after) = span.kept.split_at(span.block_at.min(span.kept.len()));
    let seen = |index: &usize| Some((*index, template_role(&messages[*index])?));
    let seen_before = before.iter().rev().find_map(seen);
    let seen_after = after.iter().find_map(seen);
    let neighbours = [
        seen_before.map(|(_, role)| role),
        seen_after.map(|(_, role)| role),
        before.last().and_then(|index| side(&messages[*index])),
        after.first().and_then(|index| side(&messages[*index])),
    ];
    let is_free = |role: Role| !neighbours.contains(&Some(role));
    if is_free(Role::User) {
        return (Role::User, Seat::Own);
    }
    // The assistant neither begins a conversation, nor ends one that waits for its answer.
    if is_free(Role::Assistant) && seen_before.is_some() && !after.is_empty() {
        return (Role::Assistant, Seat::Own);
    }
    // Some providers refuse a conversation that the assistant begins, be it with a call that no template sees.
    let begins = |index: &usize| side(&messages[*index]).is_some();
    let is_first = !before.iter().any(begins);
    if is_first
        && after
            .iter()
            .find(|index| begins(index))
            .and_then(|index| side(&messages[*index]))
            == Some(Role::Assistant)
    {
        return (Role::User, Seat::Own);
    }
    let is_user = |seen: &(usize, Role)| seen.1 == Role::User;
    let carrier = seen_after.filter(is_user).or(seen_before.filter(is_user));
    // The user's role is taken only by a message that is seen, so there is one; results alone never carry a block.
    (Role::User, carrier.map_or(Seat::Own, |(index, _)| Seat::Into(index)))
}

/// A span whose messages can stand in turns with its block among them: as it is where that goes; else with the block
/// moved to where two of one role would meet; else without what it keeps beside its tail, which its block then stands
/// for. A conversation that was not in turns before comes back as it is.
pub fn settle(messages: &[Message], span: Span, roles: Roles) -> Span {
    if roles == Roles::Open || stands_in_turn(messages, &span) {
        return span;
    }
    let trimmed = tail_only(messages, &span);
    let candidates = [block_between(messages, &span), Some(trimmed.clone())];
    let mut candidates = candidates.into_iter().flatten();
    candidates
        .find(|candidate| stands_in_turn(messages, candidate))
        .or_else(|| block_between(messages, &trimmed).filter(|moved| stands_in_turn(messages, moved)))
        .unwrap_or(span)
}

/// Whether a template sees user and assistant in turns, the block among them.
fn stands_in_turn(messages: &[Message], span: &Span) -> bool {
    let (role, seat) = seat_in_turn(messages, span);
    let (before, after) = span.kept.split_at(span.block_at.min(span.kept.len()));
    let seen = |index: &usize| template_role(&messages[*index]);
    let block = (seat == Seat::Own).then_some(role);
    let row = before.iter().filter_map(seen);
    let row = row.chain(block).chain(after.iter().filter_map(seen));
    let mut last = Role::Assistant;
    for role in row {
        if role == last {
            return false;
        }
        last = role;
    }
    true
}

/// The span with its block where messages are missing between the first two of one role that meet.
fn block_between(messages: &[Message], span: &Span) -> Option<Span> {
    let mut last: Option<(usize, Role)> = None;
    for (position, index) in span.kept.iter().enumerate() {
        let Some(role) = template_role(&messages[*index]) else {
            continue;
        };
        if let Some((from, _)) = last.filter(|(_, before)| *before == role) {
            let gap = (from + 1..=position).rfind(|at| span.kept[at - 1] + 1 < span.kept[*at]);
            return gap.map(|block_at| Span {
                block_at,
                ..span.clone()
            });
        }
        last = Some((position, role));
    }
    None
}

/// The span without what stands alone before its tail: words and summaries that were kept for their own sake. The
/// person's newest words stay.
fn tail_only(messages: &[Message], span: &Span) -> Span {
    let newest = messages.iter().rposition(Message::opens_turn);
    let mut tail = span.until;
    for index in span.kept.iter().rev() {
        if index + 1 != tail {
            break;
        }
        tail = *index;
    }
    let stays = |index: &usize| *index >= tail || Some(*index) == newest || template_role(&messages[*index]).is_none();
    let before = span.kept.iter().take(span.block_at);
    Span {
        block_at: before.filter(|index| stays(index)).count(),
        kept: span.kept.iter().copied().filter(stays).collect(),
        ..span.clone()
    }
}

/// The kept messages of a conversation, in order, with a block in its seat. `kept` may go on behind the span.
pub fn seated<'a>(mut kept: Vec<Cow<'a, Message>>, span: &Span, block: Message, seat: Seat) -> Vec<Cow<'a, Message>> {
    let position = match seat {
        Seat::Own => None,
        Seat::Into(index) if index >= span.until => Some(span.kept.len() + (index - span.until)),
        Seat::Into(index) => span.kept.binary_search(&index).ok(),
    };
    match position.and_then(|position| kept.get_mut(position)) {
        Some(carrier) => {
            let results = carrier.parts.iter().take_while(|part| is_result(part)).count();
            carrier.to_mut().parts.splice(results..results, block.parts);
        }
        None => kept.insert(span.block_at.min(kept.len()), Cow::Owned(block)),
    }
    kept
}

#[cfg(test)]
#[path = "seat_tests.rs"]
mod tests;
