//! The rules of this project, as functions from a tree to a list of violations.
//!
//! A rule that no test runs is only a wish. `tests/tidy.rs` runs each on the project, and on a planted violation to
//! show that it can fail.

mod cycles;
mod map;
mod module_graph;

use crate::tree::Tree;

/// A rule: its name and what it checks.
pub type Rule = (&'static str, fn(&Tree) -> Vec<String>);

/// Every rule.
pub const RULES: &[Rule] = &[
    ("crates depend only in the direction of the map", crate_arrows),
    ("engine modules use only modules before them", engine_order),
    ("no module cycles in any crate", cycles::module_cycles),
    ("modules of a library stand in order", cycles::module_order),
    ("only the driver builds the input of a pass", driver_only),
    ("one module a use line", one_module_a_use),
    ("every file says on its first line what it is for", file_headers),
    ("no file is longer than a module should be", file_length),
    ("names say something", banned_names),
    ("only the command line reads the environment", environment_reads),
    ("the engine does nothing but calculate", engine_purity),
    ("the map shows the tree", map::map_against_tree),
    ("every walk and every invariant names what exists", map::named_functions),
    ("no cargo features", no_features),
    ("tests neither sleep nor look away", honest_tests),
    ("no leftovers", leftovers),
];

/// Which crates of ours a crate may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("wire", &["engine"]),
    ("store", &["engine"]),
    ("session", &["engine", "wire", "store"]),
    ("llm", &["engine", "wire"]),
    ("eval", &["engine", "wire", "store", "session", "llm"]),
    ("proxy", &["engine", "wire", "store", "session", "llm"]),
    ("cli", &["engine", "wire", "store", "session", "llm", "eval", "proxy"]),
];

/// The ceiling, and the files that may pass it, each with its reason.
const MOST_LINES: usize = 500;
const LONG_FILES: &[(&str, &str)] = &[];

fn crate_arrows(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in &tree.files {
        let Some(name) = path
            .strip_prefix("crates/")
            .and_then(|rest| rest.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        let Some((_, allowed)) = ARROWS.iter().find(|(crate_name, _)| *crate_name == name) else {
            found.push(format!("{path}: crate {name} is not on the map"));
            continue;
        };
        // The servers and generators of `tests` serve the tests of every crate, and nothing else.
        let (shipped, tested) = text.split_once("[dev-dependencies]").unwrap_or((text, ""));
        let tested = tested.lines().filter(|line| !line.starts_with("mainstay-tests"));
        for line in shipped
            .lines()
            .chain(tested)
            .filter(|line| line.starts_with("mainstay-"))
        {
            let used = line
                .trim_start_matches("mainstay-")
                .split(['.', ' ', '='])
                .next()
                .unwrap_or("");
            if !allowed.contains(&used) {
                found.push(format!("{path}: {name} may not use {used}"));
            }
        }
    }
    found
}

fn declared_modules(text: &str) -> Vec<&str> {
    let declared = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod ")));
    declared.filter_map(|rest| rest.strip_suffix(';')).collect()
}

fn engine_order(tree: &Tree) -> Vec<String> {
    let modules = declared_modules(tree.text("crates/engine/src/lib.rs"));
    let mut found = Vec::new();
    for (path, text) in tree.rust() {
        let Some(below) = path.strip_prefix("crates/engine/src/") else {
            continue;
        };
        let module = below.split(['/', '.']).next().unwrap_or("");
        let Some(own) = modules.iter().position(|name| *name == module) else {
            continue;
        };
        for line in text.lines() {
            let Some(rest) = line.trim_start().strip_prefix("use crate::") else {
                continue;
            };
            let used = rest.split([':', ';']).next().unwrap_or("");
            if modules
                .iter()
                .position(|name| *name == used)
                .is_some_and(|position| position > own)
            {
                found.push(format!("{path}: {module} uses {used}, which comes after it"));
            }
        }
    }
    found
}

fn one_module_a_use(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| path.starts_with("crates/")) {
        for line in text
            .lines()
            .filter(|line| line.starts_with("use ") && line.contains('{'))
        {
            found.push(format!("{path}: {line}"));
        }
    }
    found
}

/// A host that put a pass together itself could leave a check out, or hide with one setting and look with another.
fn driver_only(tree: &Tree) -> Vec<String> {
    let needles = [concat!("PassInput", " {"), concat!("Situation", " {")];
    let may = |path: &str| path.starts_with("crates/engine/src/") || path.starts_with("crates/session/src/");
    let mut found = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| !may(path)) {
        let lines = text
            .lines()
            .filter(|line| needles.iter().any(|needle| line.contains(needle)));
        found.extend(lines.map(|line| format!("{path}: {}", line.trim())));
    }
    found
}

fn file_headers(tree: &Tree) -> Vec<String> {
    let headless = tree
        .rust()
        .filter(|(_, text)| !text.starts_with("//! ") && !text.starts_with("#![no_main]\n//! "));
    headless
        .map(|(path, _)| format!("{path}: the first line is no //! comment"))
        .collect()
}

fn file_length(tree: &Tree) -> Vec<String> {
    let excused = |path: &str| LONG_FILES.iter().any(|(excused, _)| *excused == path);
    let long = tree
        .rust()
        .filter(|(path, text)| text.lines().count() > MOST_LINES && !excused(path));
    long.map(|(path, text)| format!("{path}: {} lines, at most {MOST_LINES}", text.lines().count()))
        .collect()
}

fn banned_names(tree: &Tree) -> Vec<String> {
    const STEMS: &[&str] = &[
        "util", "utils", "helper", "helpers", "common", "misc", "types", "base", "imp",
    ];
    const TYPES: &[&str] = &["Manager", "Handler", "Processor", "Service", "Info", "Data"];
    const FUNCTIONS: &[&str] = &["get_", "do_", "handle_"];
    let mut found = Vec::new();
    for (path, text) in tree.rust() {
        let stem = path.rsplit('/').next().unwrap_or("").trim_end_matches(".rs");
        if stem.split('_').any(|word| STEMS.contains(&word)) {
            found.push(format!("{path}: the name says nothing"));
        }
        for line in text.lines() {
            // What an implementation calls its types is the trait's choice.
            if line.starts_with("    type ") && line.contains(" = ") {
                continue;
            }
            let words: Vec<_> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            for pair in words.windows(2) {
                let bad_type = matches!(pair[0], "struct" | "enum" | "trait" | "type")
                    && TYPES.iter().any(|banned| pair[1].ends_with(banned));
                let bad_function = pair[0] == "fn"
                    && (FUNCTIONS.iter().any(|banned| pair[1].starts_with(banned))
                        || pair[1].ends_with("_inner")
                        || pair[1].ends_with("_impl"));
                if bad_type || bad_function {
                    found.push(format!("{path}: {} {}", pair[0], pair[1]));
                }
            }
        }
    }
    found
}

/// The product part of a file: what stands before its tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn is_product(path: &str) -> bool {
    let is_test = path.ends_with("_tests.rs") || path.ends_with("proof.rs") || path.ends_with("/tests.rs");
    path.starts_with("crates/") && path.contains("/src/") && !is_test
}

fn lines_with(tree: &Tree, applies: impl Fn(&str) -> bool, needles: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| is_product(path) && applies(path)) {
        for line in product(text)
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            if needles.iter().any(|needle| line.contains(needle)) {
                found.push(format!("{path}: {}", line.trim()));
            }
        }
    }
    found
}

fn environment_reads(tree: &Tree) -> Vec<String> {
    let applies = |path: &str| path != "crates/cli/src/environment.rs";
    lines_with(tree, applies, &["std::env", "env::var", "env::args"])
}

fn engine_purity(tree: &Tree) -> Vec<String> {
    const WORLD: &[&str] = &[
        "std::fs",
        "std::net",
        "std::io",
        "SystemTime",
        "Instant",
        "async ",
        "rand::",
        "thread::",
        "println!",
        "tracing::",
    ];
    let mut found = lines_with(tree, |path| path.starts_with("crates/engine/"), WORLD);
    // Reading the disk is the business of two files of wire.
    let reads = |path: &str| {
        path.starts_with("crates/wire/") && !path.ends_with("/source.rs") && !path.ends_with("/discover.rs")
    };
    found.extend(lines_with(
        tree,
        reads,
        &[
            "std::fs",
            "File::open",
            "Connection::open",
            "std::net",
            "SystemTime::now",
            "Instant::now",
        ],
    ));
    found
}

fn no_features(tree: &Tree) -> Vec<String> {
    let manifests = tree.files.iter().filter(|(path, _)| path.ends_with("Cargo.toml"));
    let featured = manifests.filter(|(_, text)| text.lines().any(|line| line.trim() == "[features]"));
    featured
        .map(|(path, _)| format!("{path}: a [features] section"))
        .collect()
}

fn honest_tests(tree: &Tree) -> Vec<String> {
    // Spelled in halves, so that this file does not find itself.
    let needles = [
        concat!("#[ign", "ore"),
        concat!("#[should_", "panic"),
        concat!("thread::", "sleep"),
        concat!("time::", "sleep"),
        concat!("assert!(", "true"),
    ];
    lines_anywhere(tree, &needles)
}

fn leftovers(tree: &Tree) -> Vec<String> {
    let needles = [
        concat!("TO", "DO:"),
        concat!("FIX", "ME"),
        concat!("XX", "X "),
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("/wo", "rk/"),
    ];
    lines_anywhere(tree, &needles)
}

/// Lines of any Rust file, tests included, with one of these in them.
fn lines_anywhere(tree: &Tree, needles: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in tree.rust() {
        let lines = text
            .lines()
            .filter(|line| needles.iter().any(|needle| line.contains(needle)));
        found.extend(lines.map(|line| format!("{path}: {}", line.trim())));
    }
    found
}
