//! Making states: each arm's text for each case, redacted.

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Message;

use crate::continuation::arm::ContinuationArm;
use crate::continuation::arm::StateMaker;
use crate::continuation::case::ContinuationCase;
use crate::continuation::case::SessionPrefix;
use crate::continuation::case::text_tokens;
use crate::retention::render;
use crate::state::Arm;
use crate::state::Makes;
use crate::state::State;
use crate::state::Target;
use crate::state::as_text;

/// A state that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeState {
    /// What an answering model will read.
    pub text: String,
    /// What made it.
    pub made: String,
    /// What the engine had to say about it.
    pub remarks: Vec<String>,
}

/// Why there is no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoState {
    /// The file that holds it is not there yet.
    NotWritten(String),
    /// The arm has none in this case.
    Impossible(String),
}

/// The state of an arm that no engine makes; `None` for an engine's.
pub fn plain_state(
    arm: &ContinuationArm,
    case: &ContinuationCase,
    prefix: Option<&SessionPrefix>,
    redactor: &Redactor,
) -> Option<Result<MadeState, NoState>> {
    let made = |text: &str, made: &str| {
        Ok(MadeState {
            text: redactor.redact(text).text,
            made: made.to_owned(),
            remarks: Vec::new(),
        })
    };
    Some(match &arm.maker {
        StateMaker::Engine(_) => return None,
        StateMaker::Files(directory) => {
            let path = directory.join(format!("{}.txt", case.id));
            match std::fs::read_to_string(&path) {
                Ok(text) if !text.trim().is_empty() => made(&text, "file"),
                Ok(_) | Err(_) => Err(NoState::NotWritten(path.display().to_string())),
            }
        }
        StateMaker::Recorded => match prefix.and_then(|prefix| prefix.own.as_deref()) {
            Some(own) => made(own, "own"),
            None => Err(NoState::Impossible("no summary was recorded here".to_owned())),
        },
        StateMaker::KeepLast => match prefix {
            Some(prefix) => made(
                &newest(&prefix.subject.messages, arm.target(case.size_tokens)),
                "keep-last",
            ),
            None => Err(NoState::Impossible("the session is not there".to_owned())),
        },
    })
}

/// An arm as the walk through a compaction knows it; `None` for those that no engine makes.
pub fn engine_arm(arm: &ContinuationArm, case: &ContinuationCase) -> Option<Arm> {
    let StateMaker::Engine(engine) = arm.maker else {
        return None;
    };
    let mut walked = Arm::new(&arm.name, Makes::Engine(engine));
    walked.target = Some(Target::Tokens(arm.target(case.size_tokens)));
    Some(walked)
}

/// What an engine made, as text. An engine that gave the conversation back as it was has made no state.
pub fn engine_state(state: &State, redactor: &Redactor) -> Result<MadeState, NoState> {
    let last = state.passes.last();
    let remarks: Vec<String> = last.map(|pass| pass.remarks.clone()).unwrap_or_default();
    let made = last.map_or("unchanged", |pass| pass.made.as_str());
    if made == "unchanged" {
        let why = format!("the engine could not make a state of this size: {}", remarks.join("; "));
        return Err(NoState::Impossible(why));
    }
    Ok(MadeState {
        text: redactor.redact(&as_text(&state.messages)).text,
        made: made.to_owned(),
        remarks,
    })
}

/// The newest messages that fit into this many tokens, the oldest of them by its end only. The room is used up: a newest message
/// larger than all of it would otherwise leave nothing.
fn newest(messages: &[Message], target: u64) -> String {
    let mut left = target;
    let mut pieces = Vec::new();
    for message in messages.iter().rev() {
        let piece = format!("[{}]\n{}", message.role.name(), render(message));
        let cost = measure(message, Family::O200k).total().max(1);
        if cost <= left {
            left -= cost;
            pieces.push(piece);
            continue;
        }
        let end = ending(&piece, left);
        if !end.is_empty() {
            pieces.push(format!("[{}]\n[…] {end}", message.role.name()));
        }
        break;
    }
    pieces.reverse();
    pieces.join("\n\n")
}

/// The end of a text, about this many tokens of it.
fn ending(text: &str, target: u64) -> &str {
    let whole = text_tokens(text).max(1);
    let bytes = (text.len() as u128 * u128::from(target) / u128::from(whole)) as usize;
    let start = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text[start..].trim_start()
}

#[cfg(test)]
mod tests {
    use mainstay_engine::transcript::Part;
    use mainstay_engine::transcript::Role;

    use super::*;

    #[test]
    fn the_newest_messages_fill_their_room_and_no_more() {
        let said = |text: String| Message::new(Role::User, vec![Part::Text(text.into())]);
        let messages: Vec<Message> = (0..50)
            .map(|number| said(format!("word {number} ").repeat(40)))
            .collect();
        for target in [0, 30, 300, 2_000] {
            let text = newest(&messages, target);
            let tokens = text_tokens(&text);
            assert!(tokens <= target + target / 10 + 10, "{tokens} of {target}");
            assert!(tokens * 10 >= target * 7, "{tokens} of {target}");
            assert!(target == 0 || text.contains("word 49"));
        }
    }
}
