//! What the host says that governs the running work: the rules of a skill or command whose text it put into the conversation, and the few
//! sentences in which it tells the agent who it is.
//!
//! None of it is the person's. Of a skill only sentences that forbid, limit or demand something are kept: the steps themselves are done or
//! can be read again, a rule that is forgotten does harm.

use crate::decide::spawns_agent;
use crate::json::Object;
use crate::ledger::conversation::record::SentenceSigns;
use crate::ledger::conversation::record::sentence_ranges;
use crate::transcript::Author;
use crate::transcript::Content;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::ToolResult;
use crate::transcript::split_by_author;

/// A shorter text is no skill.
const LEAST_SKILL_BYTES: usize = 200;
/// A longer sentence is no rule.
const LONGEST_RULE: usize = 320;
/// Bytes of rules that are kept.
const RULES_BYTES: usize = 2_400;
/// Bytes of a notice that are kept.
const NOTICE_BYTES: usize = 400;

/// Tools that load a skill, in lower case.
const SKILL_TOOLS: [&str; 5] = ["skill", "activate_skill", "use_skill", "load_skill", "invoke_skill"];

/// How a text begins that is a skill's: the name follows.
const SKILL_OPENINGS: [&str; 4] = [
    "Base directory for this skill:",
    "[SYSTEM: The user has invoked the \"",
    "[IMPORTANT: The user has invoked the \"",
    "<skill>",
];

/// Sentences in which a host tells the agent who it is.
const NOTICES: [&str; 2] = [
    "You are the newly spawned agent.",
    "The prior conversation history was forked from your parent agent.",
];

/// Words of rules, in lower case, besides words of negation.
const RULE_WORDS: &str = "never; must; only ; unless; until ; always; skip ; avoid; required; forbidden; before making; ask for; ask the user; \
    ask before; confirm; approval; do not; don't; don’t; nicht ; niemals; immer ; nur ; никогда; нельзя; обязательно; только; nunca; siempre; \
    solo si; jamais; toujours; 不要; 必须; 禁止";

/// What the host said, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostWords {
    /// A skill or command with its rules.
    Skill {
        /// What it is called.
        name: String,
        /// Its rules, a line each.
        rules: Vec<String>,
    },
    /// A notice in full.
    Notice(String),
}

/// How the line of a skill begins.
pub const SKILL: &str = "skill ";

impl HostWords {
    /// The words as a record holds them.
    pub fn text(&self) -> String {
        match self {
            HostWords::Skill { name, rules } => format!("{SKILL}{name}:\n{}", rules.join("\n")),
            HostWords::Notice(text) => text.clone(),
        }
    }

    /// What the host says in a message of the user role. `command` is the command that the person has just typed, whose text may follow.
    pub fn in_message(message: &Message, command: Option<&str>) -> Option<Self> {
        if message.role != Role::User {
            return None;
        }
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(&**text),
            _ => None,
        });
        for text in texts {
            let own = match message.author {
                Author::Host => vec![text],
                Author::User => {
                    let segments = split_by_author(text).into_iter();
                    let hosts = segments.filter(|segment| segment.author == Author::Host);
                    hosts.map(|segment| segment.text).collect()
                }
                _ => Vec::new(),
            };
            for text in own {
                let text = text.trim_start();
                let opening = SKILL_OPENINGS.iter().find(|opening| text.starts_with(**opening));
                if let Some(opening) = opening {
                    return Some(skill(&skill_name(&text[opening.len()..]), text));
                }
                let is_told =
                    message.author == Author::Host && text.len() >= LEAST_SKILL_BYTES && !text.starts_with('<');
                if let Some(command) = command.filter(|_| is_told) {
                    return Some(skill(command.trim_start_matches('/'), text));
                }
            }
        }
        None
    }

    /// What the host says in the result of a call.
    pub fn in_result(call: Option<&ToolCall>, result: &ToolResult) -> Option<Self> {
        let text = result.content.iter().find_map(|content| match content {
            Content::Text(text) => Some(text.trim_start()),
            Content::Media(_) | Content::Opaque(_) => None,
        })?;
        // Any page and any file may begin with such words; only a tool that makes agents has the host's.
        let spawns = call.is_some_and(|call| spawns_agent(&call.name));
        if spawns && NOTICES.iter().any(|notice| text.starts_with(notice)) {
            let end = text.floor_char_boundary(NOTICE_BYTES);
            let end = text[..end].rfind(['.', '\n']).map_or(end, |stop| stop + 1);
            return Some(HostWords::Notice(text[..end].trim().to_owned()));
        }
        let call = call.filter(|call| SKILL_TOOLS.contains(&call.name.to_lowercase().as_str()))?;
        if text.len() < LEAST_SKILL_BYTES {
            return None;
        }
        let input = Object::parse(call.input.as_str()).unwrap_or_default();
        let name = ["skill", "name", "command"].iter().find_map(|key| input.text(key));
        Some(skill(name.as_deref().unwrap_or("skill"), text))
    }
}

/// The name of a skill: the last part of its path, or the first word that is not a tag.
fn skill_name(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let line = line.strip_prefix("<name>").unwrap_or(line);
    let end = line.find(['"', '<']).unwrap_or(line.len());
    let name = line[..end].trim().trim_end_matches(['/', '\\']);
    name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned()
}

fn skill(name: &str, text: &str) -> HostWords {
    let mut rules: Vec<String> = Vec::new();
    let mut bytes = 0;
    for range in sentence_ranges(text) {
        let sentence = text[range].trim();
        let is_plain = !sentence.contains('\n') && !sentence.starts_with(['#', '<', '`', '|', '"']);
        if sentence.len() > LONGEST_RULE || !is_plain || !is_rule(sentence) {
            continue;
        }
        bytes += sentence.len();
        if bytes > RULES_BYTES {
            break;
        }
        rules.push(sentence.to_owned());
    }
    HostWords::Skill {
        name: name.chars().take(60).collect(),
        rules,
    }
}

fn is_rule(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let signs = SentenceSigns::read(sentence);
    !signs.question && RULE_WORDS.split("; ").any(|word| lower.contains(word))
}

#[cfg(test)]
#[path = "host_words_tests.rs"]
mod tests;
