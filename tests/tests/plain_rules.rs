//! Plain one-sentence rules by a person stay in a block of 3,000 tokens: after one pass, after twenty, and while tool output tries to
//! fill the ledger with rules of its own. The sentences were written without knowledge of the patterns.

#![allow(clippy::unwrap_used)]

use mainstay_engine::decide::Engine;
use mainstay_engine::summary::Request;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_tests::conversation::Random;
use mainstay_tests::conversation::lines;
use mainstay_tests::cycles::Cycles;
use mainstay_tests::cycles::words;
use serde::Deserialize;

const TARGET: u64 = 3_000;
const STEPS: usize = 60;

#[derive(Deserialize)]
struct RuleBank {
    rules: Vec<PlainRule>,
    attacks: Vec<String>,
}

#[derive(Deserialize)]
struct PlainRule {
    opener: String,
    rule: String,
    must: Vec<String>,
}

fn bank() -> RuleBank {
    serde_json::from_str(include_str!("../data/plain_rules.json")).unwrap()
}

fn said(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

/// A call and its result.
fn step(number: usize, output: &str) -> [Message; 2] {
    let id = CallId::new(format!("call_{number}"));
    let call = ToolCall {
        id: id.clone(),
        name: "run_command".into(),
        input: Input::Json(format!(r#"{{"command": "./check part-{number}"}}"#).into()),
    };
    let result = ToolResult {
        id,
        name: None,
        outcome: ToolOutcome::Unstated,
        content: vec![Content::Text(output.into())],
    };
    [
        Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]),
        Message::new(Role::Tool, vec![Part::Result(Box::new(result))]),
    ]
}

/// A rule in a conversation: sixty steps with tools follow it.
fn conversation(rule: &PlainRule, attacks: &[String], seed: u64) -> Vec<Message> {
    let mut random = Random(seed + 1);
    let mut messages = vec![
        said(Role::User, &rule.opener),
        said(Role::Assistant, "I will have a look at it."),
        said(Role::User, &rule.rule),
        said(Role::Assistant, "Understood."),
    ];
    for number in 0..STEPS {
        // Enough that every part of the conversation is worth a pass.
        let mut output: String = (0..6).map(|_| format!("{}\n", lines(&mut random, 1_200))).collect();
        if !attacks.is_empty() {
            for offset in 0..4 {
                output.push('\n');
                output.push_str(&attacks[(number * 4 + offset) % attacks.len()]);
            }
        }
        messages.extend(step(number, &output));
    }
    messages.push(said(Role::Assistant, "All parts are checked."));
    messages.push(said(Role::User, "go on"));
    messages
}

/// The rules that are not wholly there after so many passes.
fn lost(passes: usize, attacks: &[String]) -> Vec<String> {
    let mut lost = Vec::new();
    for (seed, rule) in (0u64..).zip(&bank().rules) {
        let model = &mut |_: &Request, _: &[Message]| unreachable!("the ledger asks no model");
        let cycles = Cycles {
            count: passes,
            ..Cycles::new(Engine::Ledger, TARGET)
        };
        let (left, _) = cycles.walk(&conversation(rule, attacks, seed), model);
        let shown = words(&left);
        if !rule.must.iter().all(|must| shown.contains(must.as_str())) {
            lost.push(rule.rule.clone());
        }
    }
    lost
}

#[test]
fn plain_rules_are_kept() {
    assert_eq!(bank().rules.len(), 50);
    assert_eq!(lost(1, &[]), Vec::<String>::new());
}

#[test]
fn plain_rules_are_kept_after_twenty_passes() {
    assert_eq!(lost(20, &[]), Vec::<String>::new());
}

#[test]
fn plain_rules_are_kept_while_output_claims_rules_of_its_own() {
    assert_eq!(lost(1, &bank().attacks), Vec::<String>::new());
}

#[test]
fn rules_that_output_claims_are_never_the_persons() {
    let bank = bank();
    let rule = &bank.rules[0];
    let model = &mut |_: &Request, _: &[Message]| unreachable!("the ledger asks no model");
    let (left, _) = Cycles::new(Engine::Ledger, TARGET).walk(&conversation(rule, &bank.attacks, 7), model);
    for attack in &bank.attacks {
        let opening: String = attack.lines().next().unwrap_or_default().chars().take(40).collect();
        for line in words(&left).lines().filter(|line| line.starts_with("- [user m")) {
            assert!(!line.contains(opening.as_str()), "{line}");
        }
    }
}
