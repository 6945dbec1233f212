//! The walk over a session: everything about people is learnt first, then every text goes through the passes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Media;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_wire::document::Document;
use regex::Regex;
use serde_json::Value;
use serde_json::json;

use crate::scrub::Options;
use crate::scrub::Report;
use crate::scrub::Scrubbed;
use crate::scrub::Shared;
use crate::scrub::chat;
use crate::scrub::chat::Call;
use crate::scrub::chat::Entry;
use crate::scrub::chat::Placed;
use crate::scrub::clues::Learnt;
use crate::scrub::clues::is_wanted;
use crate::scrub::clues::texts_of;
use crate::scrub::facts;
use crate::scrub::facts::Fact;
use crate::scrub::facts::LostFact;
use crate::scrub::fixture::Fixture;
use crate::scrub::fixture::Header;
use crate::scrub::fixture::size_of;
use crate::scrub::handles::Handles;
use crate::scrub::homes;
use crate::scrub::machines;
use crate::scrub::mails;
use crate::scrub::mentions;
use crate::scrub::mentions::Ids;
use crate::scrub::opening;
use crate::scrub::output;
use crate::scrub::pass::Counts;
use crate::scrub::pass::Pass;
use crate::scrub::people::Clue;
use crate::scrub::people::Kind;
use crate::scrub::people::People;
use crate::scrub::reasoning;
use crate::scrub::secrets::Secrets;
use crate::scrub::strings;
use crate::scrub::text::key_of;
use crate::scrub::text::then;

/// What stands in the place of every system prompt.
const SYSTEM: &str = "You are a helpful assistant with access to tools. The user gives you a task; you call tools to carry it out and report back.";

/// The passes over a string, in their order: addresses before the names in them, paths and prompts before bare names.
const TEXT_PASSES: [Pass; 5] = [Pass::Mails, Pass::Homes, Pass::Machines, Pass::Mentions, Pass::Handles];

/// How often a text that changed is read again. One more reading is the rule.
const ROUNDS: usize = 4;

/// A session being scrubbed.
pub(super) struct Scrubber<'a> {
    document: &'a Document,
    options: &'a Options,
    facts: Vec<Fact>,
    spellings: Vec<String>,
    people: People,
    handles: Option<Handles>,
    hosts: Option<Regex>,
    host_names: BTreeSet<String>,
    secrets: Secrets,
    ids: Ids,
    counts: Counts,
}

impl<'a> Scrubber<'a> {
    /// Learns who and what is in the session.
    pub(super) fn new(document: &'a Document, options: &'a Options, shared: &Shared) -> Self {
        let facts = facts::facts(&options.keep, options.bank.as_ref());
        let spellings = facts::spellings(&facts);
        let (mut learnt, mut secrets, mut owners) = (Learnt::default(), Secrets::new(), Vec::new());
        let directory = document.about.directory.as_deref().unwrap_or_default();
        homes::clues(&format!("{directory}/"), &mut owners);
        learnt.read(document, options, &mut secrets);
        learnt.join(&shared.0);
        let mut found = learnt.clues();
        found.retain(|clue| !is_wanted(clue, &spellings));
        let owner = owners.first().and_then(|clue: &Clue| clue.names.first());
        let people = People::new(&options.handles, owner.map(|(name, _)| name.as_str()), &found);
        Self {
            document,
            options,
            facts,
            spellings,
            handles: Handles::new(&people),
            people,
            hosts: machines::pattern_of(&learnt.hosts),
            host_names: learnt.hosts,
            secrets,
            ids: Ids::default(),
            counts: Counts::default(),
        }
    }

    /// Scrubs.
    pub(super) fn run(mut self) -> Scrubbed {
        let placed = self.entries();
        let counts = &mut self.counts;
        let mut placed = chat::tidy(placed, &mut || counts.add(Pass::Orphans));
        self.sweep(&mut placed);
        self.shorten(&mut placed);
        let mut header = self.header(&placed);
        let values: Vec<Value> = placed.iter().map(|placed| chat::value(&placed.entry)).collect();
        let system = json!({"role": "system", "content": SYSTEM});
        let fixed = size_of(&json!(&header)) + size_of(&system);
        let mut sums = vec![fixed];
        for value in &values {
            sums.push(sums[sums.len() - 1] + size_of(value));
        }
        let fits = |count: usize| sums[count] <= self.options.limit && count < self.options.most_messages;
        let end = chat::cut(&placed, fits);
        if end < placed.len() {
            header.truncated_to = end.checked_sub(1).map(|last| placed[last].source as u64);
            (end..placed.len()).for_each(|_| self.counts.add(Pass::Limits));
        }
        let messages = std::iter::once(system).chain(values.into_iter().take(end)).collect();
        let fixture = Fixture { header, messages };
        let lost_facts = self.lost(&fixture, placed.get(end).map(|first| first.source));
        let report = Report {
            passes: self.counts.all(),
            persons: self.people.count(),
            messages_before: self.document.transcript.messages().len(),
            messages: fixture.messages.len(),
            bytes: fixture.text().len(),
            lost_facts,
        };
        let names = self.names();
        Scrubbed { fixture, report, names }
    }

    fn header(&mut self, placed: &[Placed]) -> Header {
        let about = &self.document.about;
        let calls = placed
            .iter()
            .filter(|placed| matches!(placed.entry, Entry::Tool(..)))
            .count();
        let counted = format!(
            "{} messages with {calls} tool calls, from a session of {}",
            placed.len(),
            self.document.format.title
        );
        let (model, context_length) = (about.model.as_deref().map(str::to_owned), about.window);
        let description = self.options.description.clone().unwrap_or(counted);
        Header {
            name: self.options.name.clone(),
            description: self.text(&description).into_owned(),
            model,
            context_length,
            source: self.text(&self.options.source.clone()).into_owned(),
            truncated_to: None,
            scrubbed_at: self.options.scrubbed_at.clone(),
            scrubbing_passes: Pass::ALL.iter().map(|pass| pass.about()).collect(),
        }
    }

    /// Every message in the form of a fixture, scrubbed.
    fn entries(&mut self) -> Vec<Placed> {
        let mut placed = Vec::new();
        let opening = self.opening();
        for (source, message) in self.document.transcript.messages().iter().enumerate() {
            if matches!(message.role, Role::System | Role::Developer) {
                self.counts.add(Pass::System);
                continue;
            }
            let opens = message.opens_turn();
            let results: Vec<Entry> = message.results().map(|result| self.result(result)).collect();
            placed.extend(results.into_iter().map(|entry| Placed { entry, source }));
            let (mut text, calls) = self.said(message);
            if message.role == Role::Assistant {
                let counts = &mut self.counts;
                if let Cow::Owned(stripped) = reasoning::strip(&text, &mut || counts.add(Pass::Reasoning)) {
                    text = opening::closed_up(&stripped).into_owned();
                }
                let entry = Entry::Assistant(text, calls);
                placed.push(Placed { entry, source });
                continue;
            }
            if opening == Some(source) {
                let given = self.options.first_turn.clone();
                let new = given.unwrap_or_else(|| opening::neutral(&text));
                if new != text {
                    self.counts.add(Pass::FirstTurn);
                }
                text = new;
            }
            // What the agent program or a tool says in the user's place is no turn, and not kept at any length.
            let is_tool = message.author == Author::Tool && !message.has_results();
            if is_tool && opening != Some(source) && !text.trim().is_empty() {
                self.counts.add(Pass::Orphans);
            } else if !text.trim().is_empty() {
                let entry = Entry::User(text, opens || opening == Some(source));
                placed.push(Placed { entry, source });
            }
        }
        placed
    }

    /// The message in which the user first speaks: one that has been put into neutral words before, one that is the user's for sure, the
    /// first in the user's place, or, where there is none, the first result without a call: some agents hand the task over as one.
    fn opening(&self) -> Option<usize> {
        let messages = self.document.transcript.messages();
        let text = |part: &Part| matches!(part, Part::Text(text) if !text.trim().is_empty());
        let stands = |message: &Message| message.role != Role::Assistant && message.parts.iter().any(text);
        let speaks =
            |message: &Message| message.role == Role::User && message.author != Author::Tool && stands(message);
        let neutral = |part: Option<&Part>| matches!(part, Some(Part::Text(text)) if opening::is_neutral(text));
        let first = |holds: &dyn Fn(&Message) -> bool| messages.iter().position(holds);
        first(&|message| speaks(message) && neutral(message.parts.first()))
            .or_else(|| first(&|message| speaks(message) && message.opens_turn()))
            .or_else(|| first(&speaks))
            .or_else(|| first(&|message| message.author == Author::Tool && stands(message)))
    }

    fn result(&mut self, result: &mainstay_engine::transcript::ToolResult) -> Entry {
        let mut texts = Vec::new();
        for content in &result.content {
            match content {
                Content::Text(text) => texts.push(self.text(text).into_owned()),
                Content::Media(media) => texts.push(self.media(media)),
                Content::Opaque(opaque) => texts.push(self.unknown(&opaque.kind)),
            }
        }
        Entry::Tool(self.call_id(result.id.as_str()), texts.join("\n"))
    }

    /// The words and calls of a message.
    fn said(&mut self, message: &Message) -> (String, Vec<Call>) {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        for part in &message.parts {
            match part {
                Part::Text(text) => texts.push(self.text(text).into_owned()),
                Part::Media(media) => texts.push(self.media(media)),
                Part::Opaque(opaque) => texts.push(self.unknown(&opaque.kind)),
                Part::Thinking(_) => self.counts.add(Pass::Reasoning),
                Part::Result(_) => {}
                Part::Call(call) => calls.push(Call {
                    id: self.call_id(call.id.as_str()),
                    name: self.text(&call.name).into_owned(),
                    arguments: match &call.input {
                        Input::Json(text) => self.text(text).into_owned(),
                        Input::Text(text) => json!({"input": self.text(text)}).to_string(),
                    },
                }),
            }
        }
        (texts.join("\n"), calls)
    }

    fn media(&mut self, media: &Media) -> String {
        self.counts.add(Pass::Media);
        format!("[{} left out]", media.kind.name())
    }

    fn unknown(&mut self, kind: &str) -> String {
        self.counts.add(Pass::Media);
        format!("[block left out: {}]", self.text(kind))
    }

    /// An id of a call; one that could hold anything is hashed.
    fn call_id(&mut self, id: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '|');
        let is_plain = id.len() <= 100 && id.chars().all(plain);
        match self.handles.as_ref().filter(|handles| is_plain && handles.knows(id)) {
            None if is_plain => id.to_owned(),
            _ => format!("call_{}", &blake3::hash(id.as_bytes()).to_hex()[..24]),
        }
    }

    /// A text without secrets, people and machines. What one pass puts in may show the next one something: read until nothing changes.
    fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut text = self.text_once(text);
        for _ in 0..ROUNDS {
            let Cow::Owned(now) = &text else { break };
            let Cow::Owned(again) = self.text_once(now) else { break };
            text = Cow::Owned(again);
        }
        text
    }

    fn text_once<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let counts = &mut self.counts;
        let secrets = &mut self.secrets;
        let hidden = secrets.scrub(text, &mut || counts.add(Pass::Secrets));
        // Keys of JSON are no values to the redactor, and yet they may be.
        let hidden = then(hidden, |text| match strings::is_json(text) {
            true => strings::map(text, &mut |string| {
                secrets.scrub(string, &mut || counts.add(Pass::Secrets))
            }),
            false => Cow::Borrowed(text),
        });
        let (ids, people) = (&mut self.ids, &self.people);
        let hidden = then(hidden, |text| {
            mentions::scrub_ids(people, ids, text, &mut || counts.add(Pass::Mentions))
        });
        then(hidden, |text| self.strings(text, TEXT_PASSES.len()))
    }

    /// The first of the passes over strings on every string of a text.
    fn strings<'t>(&mut self, text: &'t str, first: usize) -> Cow<'t, str> {
        let mut counts = std::mem::take(&mut self.counts);
        let new = strings::map(text, &mut |string| {
            let mut changed = Cow::Borrowed(string);
            for pass in &TEXT_PASSES[..first] {
                changed = then(changed, |text| self.pass(*pass, text, &mut || counts.add(*pass)));
            }
            changed
        });
        self.counts = counts;
        new
    }

    fn pass<'t>(&self, pass: Pass, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
        match pass {
            Pass::Mails => mails::scrub(&self.people, text, count),
            Pass::Homes => homes::scrub(&self.people, text, count),
            Pass::Machines => machines::scrub(&self.people, self.hosts.as_ref(), text, count),
            Pass::Mentions => mentions::scrub(&self.people, text, count),
            _ => match &self.handles {
                Some(handles) => handles.scrub(text, count),
                None => Cow::Borrowed(text),
            },
        }
    }

    /// Reads every text once more: pieces that were joined, or lost what stood between them, may say something new.
    fn sweep(&mut self, placed: &mut [Placed]) {
        for placed in placed {
            let (Entry::Tool(_, text) | Entry::User(text, _) | Entry::Assistant(text, _)) = &mut placed.entry;
            if let Cow::Owned(new) = self.text(text) {
                *text = new;
            }
        }
    }

    /// Long outputs become short: of tools, and of the agent program in the user's place.
    fn shorten(&mut self, placed: &mut [Placed]) {
        for placed in placed {
            let (Entry::Tool(_, text) | Entry::User(text, false)) = &mut placed.entry else {
                continue;
            };
            let mut rounds = 0;
            while let Some(short) =
                output::shorten(text, self.options.most_output, &self.spellings).filter(|_| rounds < ROUNDS)
            {
                // A cut can make a name of the end of a word.
                *text = self.text(&short).into_owned();
                rounds += 1;
            }
            if rounds > 0 {
                self.counts.add(Pass::Outputs);
            }
        }
    }

    /// Facts that are gone, and why.
    fn lost(&mut self, fixture: &Fixture, cut: Option<usize>) -> Vec<LostFact> {
        let facts = std::mem::take(&mut self.facts);
        if facts.is_empty() {
            return Vec::new();
        }
        let mut left = String::new();
        strings::visit(&json!(fixture.messages).to_string(), &mut |string| {
            left.push_str(&string.to_lowercase());
            left.push('\n');
        });
        let mut lost = Vec::new();
        for fact in facts.iter().filter(|fact| !fact.stands_in(&left)) {
            if let Some(pass) = self.cause(fact, cut) {
                lost.push(LostFact {
                    fact: fact.fact.clone(),
                    probe: fact.probe.clone(),
                    pass,
                });
            }
        }
        lost
    }

    /// What took a fact away; nothing where it never stood in the session. Where several did, the last.
    fn cause(&mut self, fact: &Fact, cut: Option<usize>) -> Option<Pass> {
        let mut cause = None;
        for (index, message) in self.document.transcript.messages().iter().enumerate() {
            for (part, text) in texts_of(message) {
                if !fact.stands_in(&text.to_lowercase()) {
                    continue;
                }
                let is_model = message.role == Role::Assistant;
                let stripped = if is_model {
                    reasoning::strip(text, &mut || {})
                } else {
                    Cow::Borrowed(text)
                };
                if part.is_none() && !fact.stands_in(&stripped.to_lowercase()) {
                    cause = Some(Pass::Reasoning);
                    continue;
                }
                cause = Some(match self.text_cause(fact, text) {
                    ControlFlow::Break(pass) => pass,
                    ControlFlow::Continue(()) if cut.is_some_and(|cut| index >= cut) => Pass::Limits,
                    ControlFlow::Continue(()) => match part {
                        Some(pass) => pass,
                        None if message.opens_turn() => Pass::FirstTurn,
                        None => Pass::Orphans,
                    },
                });
            }
        }
        cause
    }

    /// Which pass over a text takes a fact away.
    fn text_cause(&mut self, fact: &Fact, text: &str) -> ControlFlow<Pass> {
        let hidden = self.secrets.scrub(text, &mut || {}).into_owned();
        if !fact.stands_in(&hidden.to_lowercase()) {
            return ControlFlow::Break(Pass::Secrets);
        }
        for first in 1..=TEXT_PASSES.len() {
            let after = self.strings(&hidden, first).to_lowercase();
            if !fact.stands_in(&after) {
                return ControlFlow::Break(TEXT_PASSES[first - 1]);
            }
        }
        ControlFlow::Continue(())
    }

    /// Everything the audit should know: what is surely somebody's name.
    fn names(&self) -> Vec<String> {
        let sure = self
            .people
            .forms()
            .filter(|form| matches!(form.kind, Kind::Handle | Kind::Given));
        let long = sure
            .filter(|form| key_of(&form.text).chars().count() >= 4)
            .map(|form| form.text);
        long.chain(self.host_names.iter().cloned()).collect()
    }
}
