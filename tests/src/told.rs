//! A recorded conversation compacted with a model's words in it, and everything that must be true of the result.

use std::sync::Arc;

use mainstay_engine::compaction::Block;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Writers;
use mainstay_engine::decide::marker::opens_request;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::verify::check_structure;
use mainstay_session::Session;
use mainstay_session::SummaryWriters;
use mainstay_wire::document::Document;
use serde_json::Value;

use crate::conversation::Form;
use crate::provider::alternates;
use crate::provider::violations;
use crate::scripted;
use crate::trial;

/// A way to compact with a model.
#[derive(Clone, Copy, Debug)]
pub struct Arm {
    /// Its name in reports.
    pub name: &'static str,
    /// By what.
    pub engine: Engine,
    /// How many tokens the model takes in.
    pub window: u64,
    /// What the server wants of roles.
    pub roles: Roles,
}

/// A window that takes every session in one request.
const WIDE: u64 = 1_000_000;
/// A window that takes most sessions in several.
const NARROW: u64 = 24_000;

/// Summary and hybrid, each at once, in chunks, and for servers that want roles in turns.
pub const ARMS: [Arm; 6] = [
    Arm {
        name: "summary",
        engine: Engine::Summary,
        window: WIDE,
        roles: Roles::Open,
    },
    Arm {
        name: "summary in chunks",
        engine: Engine::Summary,
        window: NARROW,
        roles: Roles::Open,
    },
    Arm {
        name: "summary in turns",
        engine: Engine::Summary,
        window: WIDE,
        roles: Roles::Alternating,
    },
    Arm {
        name: "hybrid",
        engine: Engine::Hybrid,
        window: WIDE,
        roles: Roles::Open,
    },
    Arm {
        name: "hybrid in chunks",
        engine: Engine::Hybrid,
        window: NARROW,
        roles: Roles::Open,
    },
    Arm {
        name: "hybrid in turns",
        engine: Engine::Hybrid,
        window: WIDE,
        roles: Roles::Alternating,
    },
];

/// What came of it.
#[derive(Debug, Default)]
pub struct Told {
    /// `summary`, `hybrid`, `ledger`, `prune`, or empty where nothing was replaced.
    pub mode: &'static str,
    /// Tokens before.
    pub before: u64,
    /// Tokens after.
    pub after: u64,
    /// How often a model was asked.
    pub asked: usize,
    /// How much was wrong with the conversation as it came.
    pub inherited: usize,
    /// Everything that is wrong with the result and was not with the conversation.
    pub faults: Vec<String>,
}

/// Compacts a body to a fifth, and what comes of that once more.
pub fn compact(form: Form, body: &str, arm: Arm) -> Told {
    let document = trial::read(form, body);
    let known = violations(&parsed(body), form);
    let mut told = Told {
        inherited: known.len(),
        ..Told::default()
    };
    let Some((written, memory)) = pass(&mut told, &document, form, &known, arm, None) else {
        return told;
    };
    let again = trial::read(form, &written);
    let mut second = Told::default();
    pass(&mut second, &again, form, &known, arm, Some(memory));
    let faults = second.faults.into_iter().map(|fault| format!("again: {fault}"));
    told.faults.extend(faults);
    told
}

/// One pass; what it wrote and what is remembered, where something was replaced.
fn pass(
    told: &mut Told,
    document: &Document,
    form: Form,
    known: &[String],
    arm: Arm,
    memory: Option<Memory>,
) -> Option<(String, Memory)> {
    let mut session = trial::session_in(form, &Policy::default(), trial::budget(200_000));
    let settings = session.settings_mut();
    settings.rules.roles = arm.roles;
    settings.is_forced = true;
    settings.writers = Some(SummaryWriters {
        models: Writers {
            window: arm.window,
            output: 16_000,
            in_place: InPlace::Impossible("these are functions".to_owned()),
        },
        prompts: Prompts::default(),
    });
    session.observe(Arc::clone(&document.transcript));
    if let Some(memory) = memory
        && !session.resume_from(memory)
    {
        told.faults.push("the block is not known again".to_owned());
    }
    session.settings_mut().policy = Policy {
        engine: arm.engine,
        target: Some((session.counted().0 / 5).max(LEAST_TARGET)),
        ..Policy::default()
    };
    let outcome = scripted::pass(&mut session, &mut |request: &Request| {
        told.asked += 1;
        scripted::answer(scripted::summary(request, &mut |_| true))
    });
    (told.before, told.after) = (outcome.counted_before.0, outcome.counted_after.0);
    let block = outcome
        .block
        .as_ref()
        .filter(|_| outcome.verdict == Verdict::Compacted)?;
    told.mode = outcome.mode().name();
    let written = document.compacted_chunks(&outcome.changes, Some(block)).concat();
    let read_back = trial::read(form, &written);
    check_form(told, document, &written, form, known, arm);
    check_content(told, document, &outcome, block, &read_back);
    check_engine(told, &session, &read_back);
    Some((written, session.memory()?))
}

/// A conversation that is smaller has nothing to gain.
const LEAST_TARGET: u64 = 3_000;

fn parsed(body: &str) -> Value {
    serde_json::from_str(body).expect("a body is JSON")
}

/// A violation without its place, which moves when messages are replaced.
fn kind_of(violation: &str) -> &str {
    violation.split_once(": ").map_or(violation, |(_, kind)| kind)
}

/// What the provider would say.
fn check_form(told: &mut Told, document: &Document, written: &str, form: Form, known: &[String], arm: Arm) {
    let value = parsed(written);
    let found = violations(&value, form).into_iter();
    let new = found.filter(|found| !known.iter().any(|known| kind_of(known) == kind_of(found)));
    told.faults.extend(new);
    let list = |value: &Value| value[form.list_key()].as_array().cloned().unwrap_or_default();
    let had_turns = alternates(&list(&parsed(&document.write())));
    if arm.roles == Roles::Alternating && had_turns && !alternates(&list(&value)) {
        told.faults.push("the roles are not in turns any more".to_owned());
    }
}

/// What the agent would say.
fn check_content(told: &mut Told, document: &Document, outcome: &Outcome, block: &Block, read_back: &Document) {
    let messages = document.transcript.messages();
    if outcome.prompt_after > outcome.plan.target {
        told.faults
            .push(format!("{} tokens, not {}", outcome.prompt_after, outcome.plan.target));
    }
    told.faults
        .extend(trial::kept_faults(document, read_back, block, &outcome.changes));
    let is_restated = |part: &Part| matches!(part, Part::Text(text) if opens_request(text));
    let newest = messages.iter().rposition(Message::opens_turn);
    if newest.is_some_and(|newest| !block.span.keeps(newest)) && !block.message.parts.iter().any(is_restated) {
        told.faults.push("the newest request is lost".to_owned());
    }
}

/// What the engine itself would say.
fn check_engine(told: &mut Told, session: &Session, read_back: &Document) {
    let form = session.settings().rules.form;
    let flaws = check_structure(&session.messages(), form);
    if check_structure(session.transcript().messages(), form).is_empty() {
        told.faults.extend(flaws.into_iter().map(|flaw| flaw.detail));
    }
    let Some(scribe) = session.scribe() else { return };
    let parts = read_back
        .transcript
        .messages()
        .iter()
        .flat_map(|message| &message.parts);
    let frames = parts.filter(|part| matches!(part, Part::Text(text) if scribe.mark_of(text).is_some()));
    let frames = frames.count();
    if frames != 1 {
        told.faults.push(format!("{frames} frames"));
    }
}
