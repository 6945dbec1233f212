//! The rules that ARCHITECTURE.md shows the tree as it is: every crate and module, and only functions and tests that exist.
//!
//! A page that names what is no longer there misleads more than a page that names nothing.

use super::declared_modules;
use crate::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";
/// The section whose names must be tests.
const INVARIANTS: &str = "What must hold";

/// Every crate and every top-level module stands on the page, and every path on the page exists.
pub fn map_against_tree(tree: &Tree) -> Vec<String> {
    let map = tree.text(PAGE);
    let mut names: Vec<String> = Vec::new();
    for path in tree.files.keys() {
        let inside = path.strip_prefix("crates/");
        let Some(name) = inside.and_then(|rest| rest.strip_suffix("/Cargo.toml")) else {
            continue;
        };
        names.push(format!("crates/{name}"));
        let modules = declared_modules(tree.text(&format!("crates/{name}/src/lib.rs")));
        let modules = modules.into_iter().filter(|module| !module.ends_with("tests"));
        names.extend(modules.map(|module| format!("crates/{name}/src/{module}")));
    }
    let listed: Vec<String> = quoted(map).flat_map(expanded).collect();
    let missing = names.iter().filter(|name| !listed.contains(name));
    let mut found: Vec<String> = missing.map(|name| format!("{PAGE} does not show {name}")).collect();
    let is_path = |listed: &&String| listed.starts_with("crates/") && !listed.contains("::");
    for listed in listed.iter().filter(is_path) {
        let folder = format!("{}/", listed.trim_end_matches('/'));
        let is_there = |path: &String| path == listed || path.starts_with(&folder);
        if !names.contains(listed) && !tree.files.keys().any(is_there) {
            found.push(format!("{PAGE} shows {listed}, which is not there"));
        }
    }
    found
}

/// Every `path.rs::name` is a function of that file, in the section of invariants a test; every numbered step and every invariant
/// names at least one.
pub fn named_functions(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for section in tree.text(PAGE).split("\n## ") {
        let is_invariants = section.starts_with(INVARIANTS);
        for (path, name) in quoted(section).filter_map(function) {
            let text = tree.text(path);
            if !defines(text, name) {
                found.push(format!("{PAGE} names {path}::{name}, which is not there"));
            } else if is_invariants && !is_test(text, name) {
                found.push(format!("{PAGE} names {path}::{name}, which is not a test"));
            }
        }
        let is_numbered = is_invariants || section.starts_with("Walk");
        let bare = items(section)
            .into_iter()
            .filter(|item| !quoted(item).any(|name| function(name).is_some()));
        for item in bare.filter(|_| is_numbered) {
            let line = item.lines().next().unwrap_or("");
            found.push(format!("{PAGE} names no function for: {line}"));
        }
    }
    found
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// `a/{b,c}` is `a/b` and `a/c`.
fn expanded(listed: &str) -> Vec<String> {
    let Some((before, (inside, after))) = listed
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return vec![listed.to_owned()];
    };
    inside.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

/// The file and the name of `file.rs::name`.
fn function(quoted: &str) -> Option<(&str, &str)> {
    quoted.split_once("::").filter(|(path, _)| path.ends_with(".rs"))
}

/// The numbered items of a section, each with the lines that go on from it.
fn items(section: &str) -> Vec<String> {
    let is_item = |line: &str| {
        line.split_once(". ")
            .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    };
    let mut items: Vec<String> = Vec::new();
    for line in section.lines() {
        if is_item(line) {
            items.push(line.to_owned());
        } else if line.starts_with(' ')
            && let Some(item) = items.last_mut()
        {
            item.push('\n');
            item.push_str(line);
        }
    }
    items
}

/// The lines at which a function of this name begins.
fn definitions<'a>(lines: &'a [&str], name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_definition = move |line: &str| {
        let rest = line.split_once("fn ").and_then(|(_, rest)| rest.strip_prefix(name));
        !line.trim_start().starts_with("//") && rest.is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    (0..lines.len()).filter(move |at| is_definition(lines[*at]))
}

fn defines(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    definitions(&lines, name).next().is_some()
}

/// Whether a test attribute stands above a function; blocks of proptest have one, too.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let has_attribute = |at: usize| {
        let above = lines[..at].iter().rev();
        let mut above = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        above.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    };
    definitions(&lines, name).any(has_attribute)
}
