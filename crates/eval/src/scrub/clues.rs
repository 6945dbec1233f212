//! What a session tells about who and what is in it.

use std::collections::BTreeSet;

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;

use crate::scrub::homes;
use crate::scrub::machines;
use crate::scrub::mails;
use crate::scrub::mentions;
use crate::scrub::pass::Pass;
use crate::scrub::people::Clue;
use crate::scrub::strings;

/// Every text of a message, and the pass that drops it where one does.
pub(super) fn texts_of(message: &Message) -> Vec<(Option<Pass>, &str)> {
    let system = matches!(message.role, Role::System | Role::Developer).then_some(Pass::System);
    let mut texts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => texts.push((system, &**text)),
            Part::Thinking(thinking) => texts.push((Some(Pass::Reasoning), &*thinking.text)),
            Part::Call(call) => texts.extend([(system, &*call.name), (system, call.input.as_str())]),
            Part::Result(result) => texts.extend(result.content.iter().filter_map(|content| match content {
                Content::Text(text) => Some((Some(Pass::Outputs), &**text)),
                Content::Media(_) | Content::Opaque(_) => None,
            })),
            Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    texts
}

/// Learns from a text as it is, and from every string of it.
pub(super) fn learn(text: &str, found: &mut Vec<Clue>, hosts: &mut BTreeSet<String>) {
    mails::clues(text, found);
    strings::visit(text, &mut |string| {
        if string.len() < text.len() {
            mails::clues(string, found);
        }
        homes::clues(string, found);
        mentions::clues(string, found);
        machines::clues(string, found);
        machines::hosts(string, hosts);
    });
}

/// Whether a name that was found is a word of a fact that is to be kept: then it names a thing as well.
pub(super) fn is_wanted(clue: &Clue, spellings: &[String]) -> bool {
    clue.ids.is_empty()
        && clue.names.iter().any(|(name, _)| {
            let name = name.to_lowercase();
            spellings
                .iter()
                .any(|fact| fact.split(|c: char| !c.is_alphanumeric()).any(|word| word == name))
        })
}
