//! The checks are checked: a perfect engine passes all of them, and an engine that breaks one property fails that check
//! and no other.

use std::cell::Cell;
use std::collections::BTreeSet;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;

#[path = "mutants.rs"]
mod mutants;

use super::*;
use crate::ledger_text::LEDGER_NAME;
use crate::ledger_text::Section;
use crate::preflight::checks::mentions;
use crate::preflight::engines::Compacted;
use crate::preflight::engines::HotTail;
use crate::preflight::sheet::Sheet;
use crate::preflight::sheet::State;
use crate::preflight::sheet::Teller;
use crate::retention::render;

/// As many conversations as the default of the command.
const SEEDS: u64 = 24;

/// A result under construction: what a mutation may change.
struct Made {
    instructions: Vec<Message>,
    role: Role,
    lines: Vec<String>,
    extra: Vec<Message>,
    tail: Vec<Message>,
}

impl Made {
    fn drop_lines(&mut self, needle: &str) {
        self.lines.retain(|line| !line.contains(needle));
    }

    fn replace(&mut self, from: &str, to: &str) {
        for line in &mut self.lines {
            *line = line.replace(from, to);
        }
    }

    /// The line of the conversation that first names something, without its marks.
    fn quote(&self, needle: &str) -> String {
        let named = self.lines.iter().find(|line| mentions(line, needle));
        let text = named.unwrap().split_once("] ").unwrap().1;
        text.split(" (corrected m").next().unwrap().to_owned()
    }

    /// Adds a line at the start of a section.
    fn add(&mut self, section: Section, line: impl Into<String>) {
        let title = format!("## {}", section.title());
        let place = self.lines.iter().position(|line| *line == title).unwrap();
        self.lines.insert(place + 1, line.into());
    }
}

type Mutation = fn(&Sheet, &mut Made, usize);

/// An engine that knows the answers, and one mutation of what it then writes.
struct Knowing<'a> {
    conversation: &'a Conversation,
    mutation: Mutation,
    runs: Cell<usize>,
}

impl Engine for Knowing<'_> {
    fn name(&self) -> &str {
        "knowing"
    }

    fn compact(&self, _: &Transcript, _: usize) -> Compacted {
        let sheet = &self.conversation.sheet;
        let mut made = Made {
            instructions: self.conversation.instructions().into_iter().cloned().collect(),
            role: Role::System,
            lines: block(self.conversation),
            extra: Vec::new(),
            tail: self.conversation.hot().into_iter().cloned().collect(),
        };
        (self.mutation)(sheet, &mut made, self.runs.replace(self.runs.get() + 1));
        let mut messages = made.instructions;
        messages.push(Message::new(made.role, vec![Part::Text(made.lines.join("\n").into())]));
        messages.extend(made.extra);
        messages.extend(made.tail);
        Compacted { messages }
    }
}

/// What a perfect engine writes: everything that was said, in order and hidden where it must be, then the views.
fn block(conversation: &Conversation) -> Vec<String> {
    let sheet = &conversation.sheet;
    let mut lines = vec![
        format!("# {LEDGER_NAME}"),
        format!("## {}", Section::Conversation.title()),
    ];
    let messages = conversation.transcript.messages();
    let cold = &messages[..messages.len() - conversation.tail];
    let texts: Vec<String> = cold.iter().map(|message| hidden(sheet, &render(message))).collect();
    for (number, message) in cold.iter().enumerate() {
        let author = match message.role {
            Role::User => "user",
            Role::Assistant if message.calls().next().is_none() => "assistant",
            Role::Assistant | Role::Tool | Role::System | Role::Developer => continue,
        };
        let text = texts[number].split_whitespace().collect::<Vec<_>>().join(" ");
        let mark = corrected_by(sheet, &texts, number).map_or(String::new(), |later| format!(" (corrected m{later})"));
        lines.push(format!("- [{author} m{number}] {text}{mark}"));
    }
    for section in Section::ALL
        .into_iter()
        .filter(|section| *section != Section::Conversation)
    {
        lines.push(format!("## {}", section.title()));
        lines.extend(view(sheet, &texts, section));
    }
    lines
}

/// The message that corrects the value which a message gives.
fn corrected_by(sheet: &Sheet, texts: &[String], number: usize) -> Option<usize> {
    let told = sheet.facts.iter().filter(|fact| fact.teller == Teller::Person);
    let mut changed = told.filter(|fact| !mentions(&texts[number], &fact.current));
    let fact = changed.find(|fact| fact.stale.iter().any(|stale| mentions(&texts[number], stale)))?;
    texts.iter().position(|text| mentions(text, &fact.current))
}

fn hidden(sheet: &Sheet, text: &str) -> String {
    let mut text = text.to_owned();
    for (index, secret) in sheet.secrets.iter().enumerate() {
        text = text.replace(secret.as_str(), &format!("credential_ref:credential:ab{index}"));
    }
    for address in &sheet.addresses {
        text = text.replace(address.as_str(), "[REDACTED_IP]");
    }
    text
}

fn view(sheet: &Sheet, texts: &[String], section: Section) -> Vec<String> {
    let first = |needle: &str| {
        let number = texts.iter().position(|text| mentions(text, needle)).unwrap();
        (number, texts[number].clone())
    };
    match section {
        Section::ActiveFacts => {
            let by_tools = sheet.facts.iter().filter(|fact| fact.teller == Teller::Tool);
            by_tools
                .map(|fact| format!("- [tool m9] {} = {}", fact.subject, fact.current))
                .collect()
        }
        Section::Obligations => {
            let line = |task: &crate::preflight::sheet::Obligation| {
                let (number, text) = first(&task.needle);
                match task.state {
                    State::Open => format!("- [user m{number}] {text}"),
                    State::Closed(_) => format!("- [done] [user m{number}] {text}"),
                }
            };
            sheet.obligations.iter().map(line).collect()
        }
        Section::UnresolvedQuestions => {
            let open = sheet.questions.iter().filter(|question| question.state == State::Open);
            let line = |(number, text): (usize, String)| format!("- [user m{number}] {text}");
            open.map(|question| line(first(&question.needle))).collect()
        }
        Section::CredentialRefs => {
            let references = 0..sheet.secrets.len();
            references
                .map(|index| format!("- credential_ref:credential:ab{index}"))
                .collect()
        }
        Section::Files => {
            let files = sheet.files.iter();
            files
                .map(|file| format!("- {} {}", file.trace.word(), file.path))
                .collect()
        }
        Section::Commands => {
            let failed = sheet.failures.iter();
            failed
                .map(|failed| format!("- make {}: shows failures", failed.needle))
                .collect()
        }
        Section::Errors => {
            let failed = sheet.failures.iter();
            failed.map(|failed| format!("- [tool m10] {}", failed.error)).collect()
        }
        Section::Evidence => {
            let mut lines = vec!["- [tool m6] the old machine answers at [REDACTED_IP]".to_owned()];
            // What a tool said may be shown as the tool's.
            let hostile = sheet.hostile.iter();
            lines.extend(hostile.map(|needle| format!("- [tool m7] it says something about {needle}")));
            lines
        }
        Section::Decisions
        | Section::SupersededFacts
        | Section::RetrievalNotes
        | Section::Constraints
        | Section::Tasks
        | Section::Conversation
        | Section::Other => Vec::new(),
    }
}

fn conversations() -> Vec<Conversation> {
    let mut conversations = vec![smoke::conversation()];
    conversations.extend((0..SEEDS).map(planted::conversation));
    conversations
}

/// Which checks fail somewhere, and which are asked somewhere.
fn outcome(mutation: Mutation) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let (mut failed, mut asked) = (BTreeSet::new(), BTreeSet::new());
    for conversation in conversations() {
        let engine = Knowing {
            conversation: &conversation,
            mutation,
            runs: Cell::new(0),
        };
        for (check, verdict) in checks::ALL.iter().zip(examine(&engine, &conversation)) {
            if verdict != Verdict::NotAsked {
                asked.insert(check.name);
            }
            if matches!(verdict, Verdict::Failed(_)) {
                failed.insert(check.name);
            }
        }
    }
    (failed, asked)
}

#[test]
fn a_perfect_engine_passes_every_check_and_every_check_is_asked() {
    let (failed, asked) = outcome(|_, _, _| {});
    assert_eq!(failed, BTreeSet::new());
    assert_eq!(asked, checks::ALL.iter().map(|check| check.name).collect());
    assert_eq!(asked.len(), checks::ALL.len(), "two checks share a name");
}

#[test]
fn every_mutant_fails_its_check_and_no_other() {
    for (place, (check, mutation)) in mutants::MUTANTS.iter().enumerate() {
        let (failed, _) = outcome(*mutation);
        assert_eq!(failed, BTreeSet::from([*check]), "mutant {place}");
    }
    let caught: BTreeSet<_> = mutants::MUTANTS.iter().map(|(check, _)| *check).collect();
    assert_eq!(
        caught,
        checks::ALL.iter().map(|check| check.name).collect(),
        "a check without a mutant"
    );
}

#[test]
fn the_hot_tail_alone_passes_few_of_the_twelve() {
    let report = run(&[Box::new(HotTail)], 2, &|_| {});
    let engine = &report.engines[0];
    let passed: Vec<_> = engine
        .smoke
        .iter()
        .filter(|line| line.passed)
        .map(|line| line.check)
        .collect();
    assert_eq!(passed, ["token-hidden", "address-hidden", "hot-tail"]);
    assert_eq!((engine.smoke_passed, engine.smoke_checks), (3, 12));
    assert!(!engine.is_clean());
    assert_eq!(report.conversations, 2);
}

#[test]
fn false_claims_are_counted_by_kind() {
    let conversation = planted::conversation(0);
    let counted = |mutation: Mutation| {
        let engine = Knowing {
            conversation: &conversation,
            mutation,
            runs: Cell::new(0),
        };
        let verdicts = vec![examine(&engine, &conversation)];
        engine_report("knowing", std::slice::from_ref(&conversation), &verdicts)
    };
    let honest = counted(|_, _, _| {});
    assert!(
        honest
            .false_claims
            .iter()
            .all(|count| count.asked > 0 && count.claimed == 0)
    );
    for (check, kind) in checks::ALL.iter().filter_map(|check| Some((check.name, check.claim?))) {
        let (_, mutation) = mutants::MUTANTS.iter().find(|(name, _)| *name == check).unwrap();
        let report = counted(*mutation);
        for count in &report.false_claims {
            assert_eq!(count.claimed > 0, count.claim == kind, "{check}: {count:?}");
            assert!(count.claimed <= count.asked, "{count:?}");
        }
        assert!(report.claimed(kind) > 0);
    }
}
