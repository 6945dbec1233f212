//! What a session tells about who and what is in it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_wire::document::Document;

use crate::scrub::Options;
use crate::scrub::callouts;
use crate::scrub::homes;
use crate::scrub::machines;
use crate::scrub::mails;
use crate::scrub::mentions;
use crate::scrub::opening;
use crate::scrub::pass::Pass;
use crate::scrub::people::Clue;
use crate::scrub::records;
use crate::scrub::records::Asked;
use crate::scrub::secrets::Secrets;
use crate::scrub::strings;
use crate::scrub::titles::is_nobody;
use crate::scrub::titles::is_tag;

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

/// What is learnt, in the order in which it is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Learnt {
    /// About people.
    pub(super) found: Vec<Clue>,
    /// Names of hosts.
    pub(super) hosts: BTreeSet<String>,
    /// About people who are called with an `@`.
    called: Vec<Clue>,
    /// What stands behind an `@` where only a program has one, in lower case.
    code: BTreeSet<String>,
}

impl Learnt {
    /// From everything in a session and what its caller says about it; secrets are remembered.
    pub(super) fn read(&mut self, document: &Document, options: &Options, secrets: &mut Secrets) {
        let directory = document.about.directory.clone().unwrap_or_default();
        let description = options.description.as_deref().unwrap_or("");
        let own = [options.source.as_str(), &directory, description];
        let texts = document.transcript.messages().iter().flat_map(texts_of);
        for text in own.into_iter().chain(texts.map(|(_, text)| text)) {
            let mentioned = secrets.learn(text).into_iter();
            let mentioned = mentioned.filter(|name| !is_nobody(name) && !is_tag(name));
            self.called.extend(mentioned.map(Clue::handle));
            learn(text, self);
        }
        self.answers(document.transcript.messages());
        // What the first message becomes is read as well: scrubbing the fixture again finds the same people.
        let is_user = |message: &&Message| message.role == Role::User && message.author != Author::Tool;
        let first = document.transcript.messages().iter().find(is_user);
        for (_, text) in first.into_iter().flat_map(texts_of) {
            learn(&opening::neutral(text), self);
        }
    }

    /// From what machines answered when they were asked who and what they are.
    fn answers(&mut self, messages: &[Message]) {
        let mut open: BTreeMap<String, Vec<Asked>> = BTreeMap::new();
        for part in messages.iter().flat_map(|message| &message.parts) {
            match part {
                Part::Call(call) => strings::visit(call.input.as_str(), &mut |string| {
                    if let Some(asked) = records::asked(string) {
                        open.insert(call.id.as_str().to_owned(), asked);
                    }
                }),
                Part::Result(result) => {
                    let Some(asked) = open.remove(result.id.as_str()) else {
                        continue;
                    };
                    let texts = result.content.iter().filter_map(|content| match content {
                        Content::Text(text) => Some(&**text),
                        Content::Media(_) | Content::Opaque(_) => None,
                    });
                    for (asked, line) in asked.into_iter().zip(texts.flat_map(str::lines)) {
                        self.answer(asked, line.trim());
                    }
                }
                Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
            }
        }
    }

    fn answer(&mut self, asked: Asked, line: &str) {
        let is_name = line.chars().all(|c| c.is_alphanumeric() || "._-\\".contains(c)) && records::is_account(line);
        match asked {
            Asked::Account if is_name => {
                let name = line.rsplit('\\').next().unwrap_or(line);
                self.found.push(Clue::handle(name));
            }
            Asked::Host if is_name && machines::is_telling(line) => {
                self.hosts.insert(line.to_lowercase());
            }
            Asked::Account | Asked::Host => {}
        }
    }

    /// Also what was learnt elsewhere: homes there say nothing about whose session this is.
    pub(super) fn join(&mut self, other: &Learnt) {
        let away = |clue: &Clue| Clue {
            is_home: false,
            ..clue.clone()
        };
        self.found.extend(other.found.iter().map(away));
        self.hosts.extend(other.hosts.iter().cloned());
        self.called.extend(other.called.iter().cloned());
        self.code.extend(other.code.iter().cloned());
    }

    /// Everything about people: who is called counts unless a program has the same name.
    pub(super) fn clues(&self) -> Vec<Clue> {
        let is_code = |clue: &&Clue| {
            clue.names
                .iter()
                .any(|(name, _)| self.code.contains(&name.to_lowercase()))
        };
        let called = self.called.iter().filter(|clue| !is_code(clue));
        self.found.iter().chain(called).cloned().collect()
    }
}

/// Learns from a text as it is, and from every string of it.
pub(super) fn learn(text: &str, learnt: &mut Learnt) {
    let Learnt {
        found,
        hosts,
        code,
        called,
    } = learnt;
    mails::clues(text, found);
    records::clues(text, found);
    strings::visit(text, &mut |string| {
        if string.len() < text.len() {
            mails::clues(string, found);
            records::clues(string, found);
        }
        homes::clues(string, found);
        mentions::clues(string, found);
        callouts::clues(string, called, code);
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
