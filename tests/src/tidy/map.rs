//! The rule that ARCHITECTURE.md shows the tree as it is: every crate and module, and only paths that exist.
//!
//! A page that names what is no longer there misleads more than a page that names nothing.

use super::declared_modules;
use crate::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";

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
