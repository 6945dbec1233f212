//! What keeping costs: a long conversation for the first time and again after it has grown, reading it back, and finding
//! in twenty thousand texts. Prints milliseconds; appends wait for the disk, so they are medians of several runs.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_store::CheckpointId;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::Scope;
use mainstay_store::Store;

/// Messages kept as they are; all others are dropped and indexed.
const TAIL: usize = 40;

fn main() {
    let quick = std::env::var_os("MAINSTAY_BENCH_QUICK").is_some();
    let (chunks, texts, runs) = if quick { (100, 500, 1) } else { (2_000, 20_000, 7) };
    append_and_grow(chunks, runs);
    find(texts, runs);
}

/// A text of common and rare words, about this many bytes long; different for every number.
fn text(number: usize, bytes: usize) -> String {
    const WORDS: &[&str] = &[
        "server",
        "returned",
        "the",
        "file",
        "of",
        "connection",
        "error",
        "in",
        "test",
        "module",
        "ошибка",
        "при",
        "запуске",
        "builds",
        "parsing",
        "retries",
        "to",
        "deploy",
        "config",
        "is",
        "value",
        "thread",
        "main",
        "panicked",
        "at",
        "src",
        "lib",
        "rs",
    ];
    let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match (state >> 40) % 8 {
            0 => text.push_str(&format!("{:x} ", state >> 44)),
            _ => text.push_str(&format!("{} ", WORDS[(state >> 20) as usize % WORDS.len()])),
        }
    }
    text
}

struct Conversation {
    texts: Vec<String>,
    chunks: Vec<String>,
    references: Vec<String>,
}

impl Conversation {
    fn new(messages: usize, bytes: usize) -> Self {
        let texts: Vec<String> = (0..messages).map(|number| text(number, bytes)).collect();
        Conversation {
            chunks: texts
                .iter()
                .map(|text| format!("{{\"role\":\"tool\",\"content\":\"{text}\"}},\n"))
                .collect(),
            references: (0..messages).map(|number| format!("m{number:08x}")).collect(),
            texts,
        }
    }

    fn append(&self, store: &mut Store, length: usize, dropping: bool) -> CheckpointId {
        let original: Vec<&[u8]> = self.chunks[..length].iter().map(String::as_bytes).collect();
        let cold = length.saturating_sub(TAIL);
        let dropped = |number: usize| NewDropped {
            reference: &self.references[number],
            text: &self.texts[number],
            message: number,
            part: 0,
            role: Role::Tool,
            author: Author::Tool,
            tool: Some("bash"),
            action: "removed",
            tokens: 600,
            failed: false,
        };
        let dropped: Vec<NewDropped<'_>> = (0..if dropping { cold } else { 0 }).map(dropped).collect();
        let kept = store.append(&NewCheckpoint {
            original: &original,
            result: &original[cold..],
            dropped: &dropped,
            ..NewCheckpoint::new("bench", Timestamp(0))
        });
        kept.expect("the disk has room")
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let made = work();
    (made, start.elapsed())
}

fn size(place: &Path) -> f64 {
    std::fs::metadata(place).map_or(0.0, |found| found.len() as f64 / 1e6)
}

fn append_and_grow(messages: usize, runs: usize) {
    let grown = messages + 20;
    let conversation = Conversation::new(grown, 2_330);
    let megabytes = conversation.chunks[..messages].iter().map(String::len).sum::<usize>() as f64 / 1e6;
    println!("{messages} chunks, {megabytes:.1} MB");
    for dropping in [false, true] {
        let (mut first, mut again, mut read, mut on_disk) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
        for _ in 0..runs {
            let folder = tempfile::tempdir().expect("a folder can be made");
            let place = folder.path().join("kept/store.db");
            let mut store = Store::open(&place).expect("a new store opens");
            first.push(timed(|| conversation.append(&mut store, messages, dropping)).1);
            let (id, time) = timed(|| conversation.append(&mut store, grown, dropping));
            again.push(time);
            let (original, time) = timed(|| store.original(&id).expect("it was just kept"));
            read.push(time);
            assert!(original == conversation.chunks.concat().as_bytes());
            drop(store);
            on_disk = size(&place);
        }
        println!(
            "  {:<34} first {:7.1} ms   20 more {:6.1} ms   original {:5.1} ms   {on_disk:.1} MB on disk",
            if dropping {
                "documents and all dropped texts:"
            } else {
                "documents alone:"
            },
            median(first),
            median(again),
            median(read),
        );
    }
}

fn find(texts: usize, runs: usize) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("kept/store.db");
    let mut store = Store::open(&place).expect("a new store opens");
    let conversation = Conversation::new(texts + TAIL, 1_000);
    let ((), time) = timed(|| {
        conversation.append(&mut store, texts + TAIL, true);
    });
    println!(
        "{texts} indexed texts of 1 kB, kept in {:.0} ms, {:.1} MB on disk",
        time.as_secs_f64() * 1e3,
        size(&place)
    );
    let rare = conversation.texts[texts / 2]
        .split(' ')
        .find(|word| word.len() == 5 && word.contains(char::is_numeric));
    for query in [
        rare.unwrap_or("12ab3"),
        "ошибки",
        "deploying server",
        "\"the connection error\"",
        "deploy nonesuchword",
        "m00000010",
    ] {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..runs {
            let (found, time) = timed(|| {
                store
                    .find(query, Scope::Conversation("bench"), 10)
                    .expect("any query is valid")
            });
            times.push(time);
            hits = found.len();
        }
        println!("  {query:<26} {:7.2} ms   {hits} hits", median(times));
    }
}
