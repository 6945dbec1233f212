//! The ledger as a user meets it: compaction after compaction, and on its own.
#![allow(clippy::unwrap_used, dead_code)]

mod home;

use serde_json::Value;
use serde_json::json;

use crate::home::Home;

const RULES: [&str; 3] = [
    "Never email anyone outside corp.example.",
    "Do not delete anything in /srv/archive until I tell you to.",
    "Деплой только на стенд beta, прод не трогаем.",
];

fn filler(round: usize, step: usize) -> Vec<Value> {
    let id = format!("call_{round}_{step}");
    let lines: Vec<String> = (0..60)
        .map(|line| {
            format!(
                "src/module_{step}.rs:{line}: value_{round}_{line} = {}",
                line * 37 % 101
            )
        })
        .collect();
    vec![
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "bash", "arguments": format!("{{\"command\":\"grep -n value src/module_{step}.rs\"}}")}}]}),
        json!({"role": "tool", "tool_call_id": id, "content": lines.join("\n")}),
        json!({"role": "assistant", "content": format!("Module {step} of round {round} looks as expected.")}),
        json!({"role": "user", "content": "go on"}),
    ]
}

#[test]
fn rules_of_the_user_stand_verbatim_after_ten_compactions() {
    let home = Home::new();
    let mut messages = vec![json!({"role": "system", "content": "You are a careful agent."})];
    for rule in RULES {
        messages.push(json!({"role": "user", "content": rule}));
        messages.push(json!({"role": "assistant", "content": "Understood."}));
    }
    for round in 0..10 {
        for step in 0..6 {
            messages.extend(filler(round, step));
        }
        let body = json!({"messages": messages}).to_string();
        let output = home.filter(
            &[
                "compact",
                "-",
                "--from",
                "openai-chat",
                "--engine",
                "ledger",
                "--target",
                "1500",
                "-o",
                "-",
            ],
            body.as_bytes(),
        );
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        messages = result["messages"].as_array().unwrap().clone();
        let text = result.to_string();
        for rule in RULES {
            assert!(text.contains(rule), "round {round}: {rule}\n{text}");
        }
        assert_eq!(
            text.matches("# Semantic RLE context ledger").count(),
            1,
            "frames are replaced, never nested"
        );
        assert_eq!(messages[0]["content"], "You are a careful agent.");
        assert!(
            messages[1]["content"]
                .as_str()
                .unwrap()
                .starts_with("# Semantic RLE context ledger")
        );
    }
}

#[test]
fn two_processes_write_the_same_bytes() {
    let home = Home::new();
    let mut messages = vec![json!({"role": "user", "content": RULES[0]})];
    for step in 0..12 {
        messages.extend(filler(0, step));
    }
    let body = json!({"messages": messages}).to_string();
    let compact = || {
        let arguments = [
            "compact",
            "-",
            "--from",
            "openai-chat",
            "--engine",
            "ledger",
            "--target",
            "900",
            "-o",
            "-",
        ];
        home.filter(&arguments, body.as_bytes()).stdout
    };
    let first = compact();
    assert!(!first.is_empty());
    assert_eq!(compact(), first);
    assert_eq!(compact(), first);
}
