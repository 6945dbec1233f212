//! Runs every rule on the project, and on a planted violation of it.

use mainstay_tests::tidy::RULES;
use mainstay_tests::tree::Tree;

fn violations(name: &str, tree: &Tree) -> Vec<String> {
    let (_, rule) = RULES
        .iter()
        .find(|(rule, _)| *rule == name)
        .unwrap_or_else(|| panic!("no rule {name:?}"));
    rule(tree)
}

#[test]
fn the_project_is_tidy() {
    let tree = Tree::of_project();
    assert!(tree.files.len() > 30, "the tree was not found");
    let mut found = Vec::new();
    for (name, rule) in RULES {
        found.extend(rule(&tree).into_iter().map(|violation| format!("{name}: {violation}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_rule_catches_a_planted_violation() {
    let lib = "//! e\npub mod transcript;\npub mod account;\n";
    let planted: &[(&str, Tree)] = &[
        (
            "crates depend only in the direction of the map",
            Tree::planted(
                "crates/engine/Cargo.toml",
                "[dependencies]\nmainstay-wire.workspace = true\n",
            ),
        ),
        (
            "crates depend only in the direction of the map",
            Tree::planted("crates/extra/Cargo.toml", "[package]\n"),
        ),
        (
            "engine modules use only modules before them",
            Tree::planted("crates/engine/src/lib.rs", lib).with(
                "crates/engine/src/transcript/part.rs",
                "//! p\nuse crate::account::Tally;\n",
            ),
        ),
        (
            "no module cycles in any crate",
            Tree::planted("crates/x/src/a.rs", "//! a\nuse crate::b::B;\n")
                .with("crates/x/src/b/c.rs", "//! c\nfn c() {\n    crate::a::a();\n}\n"),
        ),
        (
            "no module cycles in any crate",
            Tree::planted("crates/x/src/a/b.rs", "//! b\nuse super::c::C;\n")
                .with("crates/x/src/a/c/d.rs", "//! d\nuse crate::a::b::B;\n"),
        ),
        (
            "modules of a library stand in order",
            Tree::planted("crates/wire/src/lib.rs", "//! e\npub mod a;\nmod b;\n")
                .with("crates/wire/src/a.rs", "//! a\nuse crate::b::B;\n")
                .with("crates/wire/src/b.rs", "//! b\n"),
        ),
        (
            "only the driver builds the input of a pass",
            Tree::planted(
                "crates/proxy/src/a.rs",
                concat!("//! a\nlet input = PassInput", " { transcript };\n"),
            ),
        ),
        (
            "one module a use line",
            Tree::planted("crates/wire/src/a.rs", "//! a\nuse crate::{b, c};\n"),
        ),
        (
            "every file says on its first line what it is for",
            Tree::planted("crates/wire/src/a.rs", "fn a() {}\n"),
        ),
        (
            "no file is longer than a module should be",
            Tree::planted("crates/wire/src/a.rs", &"//! a\n".repeat(501)),
        ),
        (
            "names say something",
            Tree::planted("crates/wire/src/string_utils.rs", "//! a\n"),
        ),
        (
            "names say something",
            Tree::planted(
                "crates/wire/src/a.rs",
                concat!("//! a\npub struct Session", "Manager;\n"),
            ),
        ),
        (
            "names say something",
            Tree::planted("crates/wire/src/a.rs", "//! a\nfn get_line() {}\n"),
        ),
        (
            "names say something",
            Tree::planted("crates/wire/src/a.rs", "//! a\nfn read_impl() {}\n"),
        ),
        (
            "only the command line reads the environment",
            Tree::planted("crates/wire/src/a.rs", "//! a\nfn a() { std::env::var(\"HOME\"); }\n"),
        ),
        (
            "the engine does nothing but calculate",
            Tree::planted("crates/engine/src/a.rs", "//! a\nuse std::time::Instant;\n"),
        ),
        (
            "the engine does nothing but calculate",
            Tree::planted("crates/wire/src/a.rs", "//! a\nfn a() { std::fs::read(\"x\"); }\n"),
        ),
        (
            "the map shows the tree",
            Tree::planted("crates/engine/Cargo.toml", "").with("ARCHITECTURE.md", "nothing"),
        ),
        (
            "the map shows the tree",
            Tree::planted("ARCHITECTURE.md", "see `crates/ghost`"),
        ),
        (
            "the map shows the tree",
            Tree::planted("crates/x/src/a.rs", "//! a\n").with("ARCHITECTURE.md", "see `crates/x/src/{a.rs,ghost}`"),
        ),
        (
            "every walk and every invariant names what exists",
            Tree::planted("ARCHITECTURE.md", "see `crates/x/src/ghost.rs::run`"),
        ),
        (
            "every walk and every invariant names what exists",
            Tree::planted("crates/x/src/a.rs", "//! a\n// fn run()\nfn runner() {}\n")
                .with("ARCHITECTURE.md", "see `crates/x/src/a.rs::run`"),
        ),
        (
            "every walk and every invariant names what exists",
            Tree::planted("crates/x/src/a.rs", "//! a\n#[test]\nfn other() {}\n\nfn holds() {}\n").with(
                "ARCHITECTURE.md",
                "\n## What must hold\n\n1. It holds. `crates/x/src/a.rs::holds`\n",
            ),
        ),
        (
            "every walk and every invariant names what exists",
            Tree::planted(
                "ARCHITECTURE.md",
                "\n## What must hold\n\n1. It holds,\n   says `docs/a.md`.\n",
            ),
        ),
        (
            "every walk and every invariant names what exists",
            Tree::planted("ARCHITECTURE.md", "\n## Walk: a request\n\n1. It comes in.\n"),
        ),
        (
            "no cargo features",
            Tree::planted("crates/wire/Cargo.toml", "[features]\nx = []\n"),
        ),
        (
            "tests neither sleep nor look away",
            Tree::planted("crates/wire/src/a.rs", concat!("//! a\n#[ign", "ore]\nfn a() {}\n")),
        ),
        (
            "no leftovers",
            Tree::planted("crates/wire/src/a.rs", concat!("//! a\n// TO", "DO: later\n")),
        ),
    ];
    for (rule, _) in RULES {
        assert!(
            planted.iter().any(|(name, _)| name == rule),
            "no planted violation for {rule:?}"
        );
    }
    for (rule, tree) in planted {
        assert!(!violations(rule, tree).is_empty(), "{rule:?} misses {:?}", tree.files);
    }
}

#[test]
fn functions_tests_and_lists_of_modules_are_found() {
    let page = "`crates/x`, `crates/x/src/{a,b}`, `crates/x/src`\n## Walk\n\n1. Goes\n   on in `crates/x/src/a.rs::run`.\n\n\
                ## What must hold\n\n1. One. `crates/x/src/b.rs::one`\n2. Two. `crates/x/src/b.rs::two`\n\
                3. Three. `crates/x/src/b.rs::three`\n";
    let tests = "//! b\n#[test]\nfn one() {}\n#[tokio::test(flavor = \"x\")]\nasync fn two() {}\nproptest! {\n    \
                 /// Always.\n    #[test]\n    fn three(seed in any::<u64>()) {}\n}\n";
    let tree = Tree::planted("ARCHITECTURE.md", page)
        .with("crates/x/Cargo.toml", "")
        .with("crates/x/src/lib.rs", "//! x\nmod a;\npub mod b;\n")
        .with("crates/x/src/a.rs", "//! a\npub fn run<T>() {}\n")
        .with("crates/x/src/b.rs", tests);
    assert_eq!(violations("the map shows the tree", &tree), [""; 0]);
    assert_eq!(
        violations("every walk and every invariant names what exists", &tree),
        [""; 0]
    );
}

#[test]
fn a_parent_and_its_children_are_no_cycle() {
    let tree = Tree::planted("crates/x/src/a/mod.rs", "//! a\nmod b;\nuse b::B;\nuse self::c::C;\n")
        .with("crates/x/src/a/b.rs", "//! b\nuse super::c::C;\nuse super::a;\n")
        .with(
            "crates/x/src/a/c.rs",
            "//! c\nuse crate::a::a;\n#[cfg(test)]\nmod tests {\n    use crate::a::b::B;\n}\n",
        )
        .with("crates/x/src/a/c_tests.rs", "//! c\nuse crate::a::b::B;\n");
    assert_eq!(violations("no module cycles in any crate", &tree), [""; 0]);
}

#[test]
fn a_cycle_is_reported_with_the_lines_that_make_it() {
    let tree = Tree::planted("crates/x/src/a.rs", "//! a\nuse crate::b::B;\n")
        .with("crates/x/src/b.rs", "//! b\nuse crate::a::A;\nuse crate::c::C;\n")
        .with("crates/x/src/c.rs", "//! c\n");
    let report = "crates/x/src: a, b use each other in a circle\n  a uses b\n    crates/x/src/a.rs: use crate::b::B;\n  \
                  b uses a\n    crates/x/src/b.rs: use crate::a::A;";
    assert_eq!(violations("no module cycles in any crate", &tree), [report]);
}
