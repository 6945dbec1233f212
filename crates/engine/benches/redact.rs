//! Redacting texts of several kinds, and texts made to be slow.
//!
//! Each row: megabytes a processor second on one thread, the time of twice the text over the time of the text (two is linear), and
//! the time over that of a pass that only counts letters, in the same run. Times are the best of several runs.

#![allow(clippy::print_stdout)]

use std::time::Duration;
use std::time::Instant;

use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let (size, runs) = if quick { (50_000, 1) } else { (1_000_000, 7) };
    let redactor = Redactor::new(Key::new([3; 32]), Options::default());
    redactor.find("read the rules first");
    println!(
        "{:<18} {:>8} {:>12} {:>14}",
        "text", "MB/s", "twice/once", "over counting"
    );
    let mut slowest = f64::MAX;
    for (name, piece) in pieces() {
        let once = grown(&piece, size);
        let twice = grown(&piece, size * 2);
        let first = best(runs, || redactor.find(&once).len());
        let second = best(runs, || redactor.find(&twice).len());
        let counting = best(runs, || once.bytes().filter(u8::is_ascii_alphabetic).count());
        let speed = once.len() as f64 / 1e6 / first.as_secs_f64();
        slowest = slowest.min(speed);
        println!(
            "{name:<18} {speed:>8.1} {:>12.2} {:>14.1}",
            second.as_secs_f64() / first.as_secs_f64(),
            first.as_secs_f64() / counting.as_secs_f64(),
        );
    }
    println!("slowest: {slowest:.1} MB/s");
}

/// Pieces that are repeated: ordinary texts first, then texts made to be slow.
fn pieces() -> Vec<(&'static str, String)> {
    let code = include_str!("../src/redact/prose.rs").to_owned() + include_str!("../src/json.rs");
    let mut random = 1u64;
    let mut next = move || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    let log: String = (0..400)
        .map(|line| format!("2026-03-14T09:26:{:02}.589Z INFO http request id={:08x} path=/api/v1/tokens status=200 dur={}ms user=svc key=none\n", line % 60, next(), next() % 900))
        .collect();
    let prose = include_str!("../../../docs/compaction.md").to_owned() + include_str!("../../../docs/store.md");
    let json: String = (0..300)
        .map(|line| format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{:016x}\",\"content\":\"line {line}\\nthe token count is {}\\n\\\"quoted\\\"\",\"usage\":{{\"input_tokens\":{}}}}}\n", next(), next() % 999, next() % 9999))
        .collect();
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let base64: String = (0..20_000)
        .map(|at| {
            if at % 77 == 76 {
                '\n'
            } else {
                char::from(alphabet[next() % 64])
            }
        })
        .collect();
    let numbers: String = (0..4_000).map(|_| format!("0.{:06},", next() % 1_000_000)).collect();
    let plain = |piece: &str| piece.to_owned();
    vec![
        ("code", code),
        ("logs", log),
        ("prose", prose),
        ("JSON lines", json),
        ("base64", base64),
        ("numbers", numbers),
        ("a.", plain("a.")),
        ("a", plain("a")),
        ("A_", plain("A_")),
        ("spaces", plain(" ")),
        ("digits", plain("7")),
        ("quotes", plain("\"")),
        ("escaped quotes", plain("\\\"")),
        ("key headers", format!("-----BEGIN RSA {} KEY-----\n", "PRIVATE")),
        ("open objects", plain("{\"a\":")),
        ("password=", plain("password=")),
        ("password is", plain("password is ")),
        ("sk-", plain("sk-")),
        ("eyJ-", plain("eyJ-")),
        ("://a:b/", plain("://a:b/")),
        ("curl -u", plain("curl -u a ")),
        ("kind: Secret", plain("kind: Secret\n")),
        ("token: '", plain("token: '")),
        ("1.1.", plain("1.1.")),
        ("parol", plain("пароль ")),
    ]
}

fn grown(piece: &str, size: usize) -> String {
    piece.repeat(size.div_ceil(piece.len()))
}

/// The least time of several runs: the processor's where the system tells it, for others may be using the machine.
fn best(runs: usize, mut work: impl FnMut() -> usize) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let (start, processor) = (Instant::now(), processor_time());
        std::hint::black_box(work());
        let spent = match (processor, processor_time()) {
            (Some(before), Some(after)) if after > before => after - before,
            _ => start.elapsed(),
        };
        best = best.min(spent);
    }
    best
}

fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
