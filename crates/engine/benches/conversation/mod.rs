//! A synthetic conversation of any length, the same on every machine.

use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Transcript;

/// The words of tool outputs.
const WORDS: [&str; 8] = [
    "cache", "parser", "session", "budget", "retry", "worker", "schema", "commit",
];

/// Turns of a question, five steps and an answer; about 500 tokens a message.
pub fn transcript(messages: usize) -> Transcript {
    let mut random = 1_u64;
    let mut draw = move || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    let mut list = Vec::with_capacity(messages);
    while list.len() < messages {
        list.push(Message::new(
            Role::User,
            vec![Part::Text(format!("please look at number {}", list.len()).into())],
        ));
        for _ in 0..5 {
            let number = list.len();
            let id = CallId::new(format!("call_{number}"));
            let (name, input) = match draw() % 3 {
                0 => ("Read", format!("{{\"file_path\":\"src/file_{}.rs\"}}", draw() % 200)),
                1 => (
                    "Edit",
                    format!(
                        "{{\"file_path\":\"src/file_{}.rs\",\"new_string\":\"{}\"}}",
                        draw() % 200,
                        "new text ".repeat(60)
                    ),
                ),
                _ => ("Bash", format!("{{\"command\":\"cargo test --test suite_{number}\"}}")),
            };
            list.push(Message::new(
                Role::Assistant,
                vec![Part::Call(Box::new(ToolCall {
                    id: id.clone(),
                    name: name.into(),
                    input: Input::Json(input.into()),
                }))],
            ));
            let mut output = String::new();
            for line in 0..100 {
                output.push_str(&format!(
                    "{line:>5}| let {} = {}({});\n",
                    WORDS[draw() % 8],
                    WORDS[draw() % 8],
                    draw() % 10_000
                ));
            }
            list.push(Message::new(
                Role::Tool,
                vec![Part::Result(Box::new(ToolResult {
                    id,
                    name: None,
                    content: vec![Content::Text(output.into())],
                    outcome: ToolOutcome::Unstated,
                }))],
            ));
        }
        list.push(Message::new(
            Role::Assistant,
            vec![Part::Text("done, and on to the next".into())],
        ));
    }
    list.truncate(messages);
    Draft {
        messages: list,
        ..Draft::default()
    }
    .assemble()
    .transcript
}
