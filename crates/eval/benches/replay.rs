//! Replaying 100 sessions of tool work under the six baselines and the economic policy, on two threads; and the simulated cache alone.
//!
//! The first figures are seconds and sessions a second for all policies, beside `never` alone, which has to find requests, count
//! and price like all of them: the ratio says what deciding and taking out cost. The second are times of a request that adds
//! two segments to a prompt, for a prompt and for one ten times as long: the ratio says whether the cost follows what is new.
//! Times of the cache are the best of several runs, those of the replay of one: it is long enough.

#![allow(clippy::print_stdout)]

use std::time::Duration;
use std::time::Instant;

use mainstay_engine::economy::PromptCache;
use mainstay_engine::economy::Segment;
use mainstay_engine::economy::SegmentKind;
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
use mainstay_eval::replay::Plan;
use mainstay_eval::replay::Recording;
use mainstay_eval::replay::Settings;
use mainstay_eval::replay::Strategy;
use mainstay_eval::replay::replay;
use mainstay_llm::profile;
use mainstay_tests::conversation::Random;

/// The window: half of it is the threshold, which most of the sessions pass.
const WINDOW: u64 = 64_000;
/// Requests of a session: a long afternoon of an agent.
const REQUESTS: usize = 60;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    sessions(if quick { 4 } else { 100 });
    let (segments, requests, runs) = if quick { (400, 200, 1) } else { (4_000, 10_000, 7) };
    cache(segments, requests, runs);
}

fn sessions(count: usize) {
    let recordings: Vec<Recording> = (0..count).map(|seed| recording(seed as u64)).collect();
    let wanted = |strategy: &Strategy| strategy.is_baseline() || *strategy == Strategy::Economic;
    let all: Vec<Strategy> = Strategy::USUAL.into_iter().filter(wanted).collect();
    let (whole, passes) = replayed(&recordings, &all);
    let (alone, _) = replayed(&recordings, &[Strategy::Never]);
    let rate = |time: Duration| count as f64 / time.as_secs_f64();
    println!(
        "replay of {count} sessions of {REQUESTS} requests, {} policies, {passes} passes, two threads:",
        all.len()
    );
    println!(
        "  all policies   {:>8.3} s, {:>8.1} sessions/s",
        whole.as_secs_f64(),
        rate(whole)
    );
    println!(
        "  never alone    {:>8.3} s, {:>8.1} sessions/s, ratio {:.2}",
        alone.as_secs_f64(),
        rate(alone),
        whole.as_secs_f64() / alone.as_secs_f64()
    );
}

fn replayed(recordings: &[Recording], strategies: &[Strategy]) -> (Duration, usize) {
    let profile = profile::named("anthropic-sonnet-5.5").expect("the table has it");
    let settings = Settings {
        window: Some(WINDOW),
        ..Settings::default()
    };
    let plan = Plan {
        strategies,
        profiles: std::slice::from_ref(&profile),
        summariser: &profile,
        settings: &settings,
        optimum: false,
        jobs: 2,
    };
    let start = Instant::now();
    let replayed = replay(recordings, &plan, &|_| {});
    let time = start.elapsed();
    let runs = replayed.iter().flat_map(|session| session.runs.iter().flatten());
    (time, runs.map(|run| run.passes.len()).sum())
}

/// Requests that each add a call and its result to a prompt of so many segments, and to one ten times as long.
fn cache(segments: usize, requests: usize, runs: usize) {
    println!("cache, {requests} requests that add two segments each:");
    for name in ["openai-gpt-5.5", "claude-code-opus-5.5"] {
        let short = served(name, segments, requests, runs);
        let long = served(name, segments * 10, requests, runs);
        println!(
            "  {name:<20} after {segments} segments {:>7.0} ns a request; after {} {:>7.0} ns, ratio {:.2}",
            short * 1e9,
            segments * 10,
            long * 1e9,
            long / short
        );
    }
}

/// Seconds a request.
fn served(name: &str, segments: usize, requests: usize, runs: usize) -> f64 {
    let rules = profile::named(name).expect("the table has it").cache;
    let mut grown = PromptCache::new(rules);
    let history: Vec<Segment> = (0..segments).map(segment).collect();
    grown.serve(0, &history, 0);
    let time = best(runs, || {
        let mut cache = grown.clone();
        let mut read = 0.0;
        let start = Instant::now();
        for request in 0..requests {
            let length = segments + 2 * request;
            let added = [segment(length), segment(length + 1)];
            read += cache.serve(length, &added, 5_000 * (request as i64 + 1)).read;
        }
        let time = start.elapsed();
        assert!(read > 0.0);
        time
    });
    time.as_secs_f64() / requests as f64
}

fn segment(index: usize) -> Segment {
    Segment {
        id: index as u64,
        tokens: 300,
        blocks: 1,
        kind: match index {
            0 => SegmentKind::Preface,
            _ if index % 2 == 1 => SegmentKind::Answer,
            _ => SegmentKind::Plain,
        },
    }
}

/// A session of an agent that reads, searches, edits and tests: about 1,000 tokens a request.
fn recording(seed: u64) -> Recording {
    let mut random = Random(seed);
    let text = |role: Role, said: String| Message::new(role, vec![Part::Text(said.into())]);
    let mut messages = vec![text(Role::System, "You are a careful programmer. ".repeat(200))];
    for request in 0..REQUESTS {
        if request % 12 == 0 {
            let module = random.below(40);
            messages.push(text(
                Role::User,
                format!("please repair src/module_{module}.rs, limit_{module} must hold"),
            ));
        }
        let id = CallId::new(format!("call_{request}"));
        let module = random.below(40);
        let (name, input) = match random.below(4) {
            0 => ("Bash", format!("{{\"command\":\"cargo test suite_{module}\"}}")),
            1 => (
                "Edit",
                format!(
                    "{{\"file_path\":\"src/module_{module}.rs\",\"new_string\":\"limit_{module} = value_{}\"}}",
                    random.below(400)
                ),
            ),
            _ => ("Read", format!("{{\"file_path\":\"src/module_{module}.rs\"}}")),
        };
        messages.push(Message::new(
            Role::Assistant,
            vec![
                Part::Text(format!("value_{} next, then limit_{module}", random.below(400)).into()),
                Part::Call(Box::new(ToolCall {
                    id: id.clone(),
                    name: name.into(),
                    input: Input::Json(input.into()),
                })),
            ],
        ));
        let lines = (0..20 + random.below(50)).map(|line| {
            let (name, value) = (random.below(400), random.below(10_000));
            format!("{line:>4}| let value_{name} = limit_{module}({value});\n")
        });
        let output: String = lines.collect();
        messages.push(Message::new(
            Role::Tool,
            vec![Part::Result(Box::new(ToolResult {
                id,
                name: None,
                content: vec![Content::Text(output.into())],
                outcome: ToolOutcome::Unstated,
            }))],
        ));
    }
    let draft = Draft {
        messages,
        ..Draft::default()
    };
    Recording {
        name: format!("session {seed}"),
        source: "bench".into(),
        model: Some("claude-sonnet-5-5".into()),
        transcript: draft.assemble().transcript.into(),
        tools: None,
        started: None,
        restarts: Vec::new(),
    }
}

fn best(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap_or_default()
}
