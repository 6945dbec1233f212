//! What tools print all day, without anything that matters: the noise in which a compaction must find the rest.
//!
//! Numbers stay below 10,000 and names are none of the planted ones, so that nothing on an answer sheet stands here.

use crate::preflight::script::Turn;
use crate::stats::Generator;

const MODULES: [&str; 8] = [
    "parser", "queue", "cache", "router", "render", "schema", "metrics", "session",
];
const CHECKS: [&str; 6] = [
    "reads_empty_input",
    "keeps_order",
    "rounds_down",
    "closes_twice",
    "skips_blank",
    "sorts_ties",
];
const WORDS: [&str; 12] = [
    "the", "worker", "reads", "each", "batch", "and", "writes", "rows", "until", "nothing", "is", "left",
];

/// Something ordinary happens: a call with its output, perhaps with a word about it.
pub fn filler(generator: &mut Generator) -> Vec<Turn> {
    let module = *generator.pick(&MODULES);
    let path = format!("src/{module}/mod.rs");
    let mut turns = vec![match generator.below(5) {
        0 => Turn::call("terminal", &[("command", "cargo test")], test_log(generator, module)),
        1 => Turn::call("search", &[("pattern", "fn serve")], hits(generator)),
        2 => Turn::call("terminal", &[("command", "ls -la src")], listing(generator)),
        3 => Turn::call("read_file", &[("path", &path)], code(generator, module)),
        _ => Turn::call(
            "web_fetch",
            &[("url", "https://docs.example/guide")],
            prose(generator, 90),
        ),
    }];
    if generator.below(3) == 0 {
        turns.push(Turn::Agent(format!("The {module} module looks as expected.")));
    }
    turns
}

/// The end of every conversation: it stays as it is, and nothing was planted in it.
pub fn tail() -> [Turn; 5] {
    [
        Turn::User("Please run the tests again.".to_owned()),
        Turn::call(
            "terminal",
            &[("command", "cargo test -q")],
            "running 12 tests\n............\ntest result: ok. 12 passed",
        ),
        Turn::Agent("All twelve tests pass.".to_owned()),
        Turn::User("Good, what is next?".to_owned()),
        Turn::Agent("I am ready for the next step.".to_owned()),
    ]
}

/// How many messages [`tail`] makes: the call is two.
pub const TAIL: usize = 6;

fn test_log(generator: &mut Generator, module: &str) -> String {
    let count = 12 + generator.below(20);
    let mut log = format!("   Compiling {module} v0.4.{}\n", generator.below(9));
    for index in 0..count {
        log.push_str(&format!("test {module}::{}_{index} ... ok\n", generator.pick(&CHECKS)));
    }
    log.push_str(&format!(
        "test result: ok. {count} passed; finished in 0.{:02}s\n",
        generator.below(90)
    ));
    log
}

fn hits(generator: &mut Generator) -> String {
    let hit = |generator: &mut Generator| {
        let module = *generator.pick(&MODULES);
        format!(
            "src/{module}/mod.rs:{}: fn serve_{module}(batch: &Batch)",
            1 + generator.below(900)
        )
    };
    (0..14).map(|_| hit(generator)).collect::<Vec<_>>().join("\n")
}

fn listing(generator: &mut Generator) -> String {
    let line = |module: &&str| format!("-rw-r--r-- 1 dev dev {:>6} {module}.rs", 100 + generator.below(9000));
    MODULES.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn code(generator: &mut Generator, module: &str) -> String {
    let function = |index: usize, generator: &mut Generator| {
        let words = prose(generator, 8);
        format!("/// {words}\npub fn {module}_{index}(rows: &[Row]) -> usize {{\n    rows.len() + {index}\n}}\n")
    };
    (0..10).map(|index| function(index, generator)).collect()
}

fn prose(generator: &mut Generator, words: usize) -> String {
    (0..words)
        .map(|_| *generator.pick(&WORDS))
        .collect::<Vec<_>>()
        .join(" ")
}
