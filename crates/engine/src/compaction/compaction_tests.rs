//! Passes of one compactor over a newest step that fills the room.

use std::sync::Arc;

use super::*;
use crate::account::ProviderTokens;
use crate::account::measure;
use crate::decide::PlanReason;
use crate::decide::ProviderForm;
use crate::decide::ProviderRules;
use crate::decide::ReasoningRule;
use crate::decide::Roles;
use crate::decide::Situation;
use crate::ledger::memory::Memory;
use crate::ledger::scribe::NothingToHide;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Draft;
use crate::transcript::Input;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

fn said(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn step(id: usize, lines: usize) -> [Message; 2] {
    let call_id = CallId::new(format!("c{id}"));
    let call = ToolCall {
        id: call_id.clone(),
        name: "Bash".into(),
        input: Input::Json(format!("{{\"command\":\"make part{id}\"}}").into()),
    };
    let output: String = (0..lines)
        .map(|line| format!("compiling unit {line} of part{id} in {} ms\n", line * 7))
        .collect();
    let result = ToolResult {
        id: call_id,
        name: None,
        content: vec![Content::Text(output.into())],
        outcome: ToolOutcome::Unstated,
    };
    [
        Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]),
        Message::new(Role::Tool, vec![Part::Result(Box::new(result))]),
    ]
}

fn history() -> Vec<Message> {
    let mut messages = vec![said(Role::User, "Build all parts, one after the other.")];
    for id in 0..8 {
        messages.extend(step(id, 40));
    }
    messages.push(said(Role::User, "Now the large one, please."));
    messages.extend(step(8, 1_500));
    messages
}

fn transcript(messages: Vec<Message>) -> Transcript {
    let draft = Draft {
        messages,
        ..Draft::default()
    };
    draft.assemble().transcript
}

fn scribe() -> Scribe {
    Scribe::new([7; 32], Arc::new(NothingToHide))
}

fn tokens(messages: &[Message]) -> u64 {
    let counts = messages.iter().map(|message| measure(message, Family::O200k).total());
    counts.sum()
}

fn pass(compactor: &mut Compactor, transcript: &Transcript, target: u64) -> Outcome {
    compactor.observe(transcript);
    let policy = Policy {
        engine: Engine::Ledger,
        target: Some(target),
        ..Policy::default()
    };
    let budget = Budget {
        model: "m".to_owned(),
        window: 200_000,
        output: 8_000,
        threshold: 100_000,
        tail: 20_000,
    };
    let situation = Situation {
        prompt: ProviderTokens(compactor.counted().0),
        scale: 1.0,
        forced: true,
        margin: 0,
        rules: ProviderRules {
            form: ProviderForm::Anthropic,
            block_role: Role::User,
            reasoning: ReasoningRule::MayDrop,
            roles: Roles::Open,
        },
    };
    compactor.pass(&PassInput {
        transcript,
        budget: &budget,
        policy: &policy,
        situation,
        writers: None,
        fault: None,
    })
}

#[test]
fn the_newest_step_stays_shortened_and_targets_hold_again_and_again() {
    let transcript = transcript(history());
    let mut compactor = Compactor::new(Family::O200k, &Policy::default()).with_scribe(scribe());
    let mut target = 6_000;
    let mut rounds = 0;
    while target > 600 {
        rounds += 1;
        let outcome = pass(&mut compactor, &transcript, target);
        assert_eq!(
            outcome.verdict,
            Verdict::Compacted,
            "{target}: {:?} {:?}",
            outcome.plan.reasons,
            outcome.flaws
        );
        let left = compactor.messages(&transcript);
        assert!(tokens(&left) <= target, "{} of {target}", tokens(&left));
        assert_eq!(tokens(&left), compactor.counted().0, "what is counted is what is there");
        let result = left.iter().rev().find_map(|message| message.results().next());
        let result = result.unwrap_or_else(|| panic!("{target}: the newest step stays: {:?}", outcome.plan));
        assert_eq!(result.id, CallId::new("c8"));
        let Content::Text(text) = &result.content[0] else {
            panic!("its output is text");
        };
        assert!(text.starts_with("compiling unit 0 of part8"), "{text}");
        assert!(
            text.trim_end().ends_with("compiling unit 1499 of part8 in 10493 ms"),
            "{text}"
        );
        assert!(
            left.iter()
                .any(|message| message.person_words() == ["Now the large one, please."])
        );
        // Below what there is, so that it has to be shortened further.
        target = compactor.counted().0 * 2 / 3;
    }
    assert!(rounds >= 2, "{rounds}");
}

#[test]
fn a_shortened_step_is_folded_once() {
    let first = transcript(history());
    let mut compactor = Compactor::new(Family::O200k, &Policy::default()).with_scribe(scribe());
    let outcome = pass(&mut compactor, &first, 2_500);
    let block = outcome.block.expect("a full pass leaves a block");
    assert!(!block.span.shortened.is_empty());
    let learned = compactor.scribe().expect("it was given one");
    let memory = learned.memory_behind(first.messages(), &block.span, &block.carried);
    let memory = Memory::from_bytes(&memory.to_bytes()).expect("what was written can be read");
    let mut left = compactor.messages(&first);
    left.push(said(Role::Assistant, "All parts are built."));
    let mut next = scribe();
    let (at, _) = next.find_frame(&left).expect("the block is there");
    next.resume_behind(at, memory);
    next.observe(&left);
    assert_eq!(next.ledger().folded() as usize, first.messages().len() + 1);
}

#[test]
fn what_a_block_does_not_need_goes_to_a_longer_tail() {
    let mut messages = vec![said(Role::User, "Build all parts, one after the other.")];
    for id in 0..40 {
        messages.extend(step(id, 20));
    }
    let whole = transcript(messages);
    let all = tokens(whole.messages());
    let target = all * 9 / 10;
    let mut compactor = Compactor::new(Family::O200k, &Policy::default()).with_scribe(scribe());
    let outcome = pass(&mut compactor, &whole, target);
    assert_eq!(outcome.verdict, Verdict::Compacted, "{:?}", outcome.flaws);
    let left = compactor.messages(&whole);
    assert!(tokens(&left) <= target);
    assert!(
        tokens(&left) * 100 >= target * 95,
        "{} of {target} tokens are used",
        tokens(&left)
    );
    // The steps that stay are those of the end, as they were.
    let untouched = left
        .iter()
        .rev()
        .zip(whole.messages().iter().rev())
        .take_while(|(after, before)| after == before)
        .count();
    assert!(
        untouched * 10 >= whole.messages().len() * 6,
        "{untouched} of {} messages stay",
        whole.messages().len()
    );
    assert!(
        outcome
            .plan
            .reasons
            .iter()
            .any(|reason| matches!(reason, PlanReason::MoreMessagesStay { .. })),
        "{:?}",
        outcome.plan.reasons
    );
}
