//! Folding a long conversation for evidence, folding one message more, and choosing from it.
//!
//! The conversation has about a million tokens of the kinds that agents see: calls, listings, logs, code. One message more
//! is timed on it and on one a tenth as long: the ratio says whether the cost follows what is new. Times are the best of
//! several runs on one thread.

#![allow(clippy::print_stdout)]

use std::borrow::Cow;
use std::time::Duration;
use std::time::Instant;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::ledger::evidence::Evidence;
use mainstay_engine::ledger::evidence::Room;
use mainstay_engine::ledger::evidence::render;
use mainstay_engine::ledger::evidence::scan;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let (steps, runs) = if quick { (100, 1) } else { (1_000, 5) };
    let messages = conversation(steps);
    let text: String = messages.iter().filter_map(output).collect();
    println!(
        "conversation: {} messages, {} tokens of output",
        messages.len(),
        count(&text)
    );

    let scanned = best(runs, || scan(&text).len());
    println!(
        "scanning for identifiers:     {:>8.0} MB/s",
        text.len() as f64 / 1e6 / scanned.as_secs_f64()
    );
    println!(
        "folding all of it:            {:>8.2} ms",
        milliseconds(best(runs, || folded(&messages)))
    );

    let one = &messages[4];
    let more = |length: usize| -> Duration {
        let mut evidence = folded(&messages[..length]);
        // The first message may meet full buffers; growing them is spread over all that fit then.
        evidence.fold(length as u32, one);
        let times = (0..runs as u32).map(|run| {
            let start = Instant::now();
            evidence.fold(length as u32 + 1 + run, one);
            start.elapsed()
        });
        times.min().unwrap_or_default()
    };
    let short = more(messages.len() / 10);
    let long = more(messages.len());
    println!(
        "folding one message more:     {:>8.3} ms, {:.2} times that of a tenth",
        milliseconds(long),
        ratio(long, short)
    );

    let evidence = folded(&messages);
    for budget in [2_000, 20_000, 200_000] {
        let room = Room {
            is_cold: &|_| true,
            shown: &[],
            budget,
            count: &count,
            filter: &|text| Cow::Borrowed(text),
            number: &|place| place,
            focus: &[],
        };
        let snippets = evidence.choose(&messages, &room);
        assert!(count(&render(&snippets)) <= budget);
        let time = best(runs, || evidence.choose(&messages, &room));
        println!(
            "choosing {budget:>6} tokens:       {:>8.2} ms, {} snippets",
            milliseconds(time),
            snippets.len()
        );
    }
}

fn count(text: &str) -> u64 {
    Family::O200k.count(text, TextKind::Output)
}

fn folded(messages: &[Message]) -> Evidence {
    let mut evidence = Evidence::new();
    for (index, message) in (0u32..).zip(messages) {
        evidence.fold(index, message);
    }
    evidence
}

/// Steps of reading and searching, each with an output of about a thousand tokens.
fn conversation(steps: usize) -> Vec<Message> {
    let mut messages = vec![Message::new(
        Role::User,
        vec![Part::Text("Find out why cache_worker fails.".into())],
    )];
    for step in 0..steps {
        let input = format!("{{\"path\": \"src/room_{}/file_{step}.rs\"}}", step % 17);
        let call = ToolCall {
            id: CallId::new(format!("c{step}")),
            name: "read_file".into(),
            input: Input::Json(input.into()),
        };
        let output: String = (0..40).map(|line| lines(step, line)).collect();
        let result = ToolResult {
            id: CallId::new(format!("c{step}")),
            name: None,
            content: vec![Content::Text(output.into())],
            outcome: ToolOutcome::Success,
        };
        messages.push(Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]));
        messages.push(Message::new(Role::Tool, vec![Part::Result(Box::new(result))]));
    }
    messages
}

fn lines(step: usize, line: usize) -> String {
    match line % 4 {
        0 => format!(
            "    let value_{} = parse_header(&request_{line}, config.timeout);\n",
            step * 7 % 997
        ),
        1 => format!(
            "2024-05-{:02} 10:30:{line:02} worker {step} retries job {}\n",
            step % 28 + 1,
            step * 31 + line
        ),
        2 => format!(
            "src/room_{}/file_{}.rs:{line}: expected a schema, found nothing\n",
            step % 17,
            step * 3 % 500
        ),
        _ => format!(
            "{{\"commit\": \"{:08x}\", \"author\": \"someone\", \"count\": {line}}}\n",
            step * 2_654_435 + line
        ),
    }
}

fn output(message: &Message) -> Option<String> {
    let result = message.results().next()?;
    result.content.iter().find_map(|content| match content {
        Content::Text(text) => Some(text.to_string()),
        Content::Media(_) | Content::Opaque(_) => None,
    })
}

/// The best time of several runs.
fn best<T>(runs: usize, run: impl Fn() -> T) -> Duration {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn ratio(long: Duration, short: Duration) -> f64 {
    long.as_secs_f64() / short.as_secs_f64().max(1e-9)
}
