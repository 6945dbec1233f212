//! The rule that modules do not use each other in a circle, at any level of a crate.
//!
//! Modules of one parent are compared: a file below one that uses something below the other makes an edge. A parent may use its
//! children, and children what their parent itself defines. Modules in a circle can only be understood, tested and moved together.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::declared_modules;
use super::module_graph::Use;
use super::module_graph::uses;
use crate::tree::Tree;

/// A circle that is known and not broken yet.
struct KnownCycle {
    /// The folder of the parent.
    folder: &'static str,
    /// The modules that may be part of it.
    modules: &'static [&'static str],
    /// Why it is still there.
    reason: &'static str,
}

/// Every circle that is known. One that is gone has to be taken off the list.
const KNOWN_CYCLES: &[KnownCycle] = &[];

/// The uses among the modules of one parent: from, to, and the lines.
type Siblings = BTreeMap<(String, String), BTreeSet<String>>;

/// Every circle of modules in every crate, with the lines that make it.
pub fn module_cycles(tree: &Tree) -> Vec<String> {
    let crates = tree
        .files
        .keys()
        .filter_map(|path| path.strip_prefix("crates/")?.split('/').next());
    let crates: BTreeSet<_> = crates.collect();
    let mut found = Vec::new();
    let mut still_there = BTreeSet::new();
    for crate_name in crates {
        for (parent, siblings) in by_parent(uses(tree, crate_name)) {
            let folder = [format!("crates/{crate_name}/src")].into_iter().chain(parent);
            let folder = folder.collect::<Vec<_>>().join("/");
            for cycle in cycles(&siblings) {
                match KNOWN_CYCLES.iter().position(|known| is_known(known, &folder, &cycle)) {
                    Some(known) => drop(still_there.insert(known)),
                    None => found.push(report(&folder, &cycle, &siblings)),
                }
            }
        }
    }
    for (index, known) in KNOWN_CYCLES.iter().enumerate() {
        // A planted tree has no such folder.
        let is_here = tree
            .files
            .keys()
            .any(|path| path.starts_with(&format!("{}/", known.folder)));
        if is_here && !still_there.contains(&index) {
            let modules = known.modules.join(", ");
            let KnownCycle { folder, reason, .. } = known;
            found.push(format!(
                "{folder}: {modules} are no longer a circle, as listed ({reason})"
            ));
        }
    }
    found
}

/// Crates whose modules stand in order: each uses only modules before it. The engine has a rule of its own, for its tests as well.
const IN_ORDER: &[&str] = &["wire", "store", "llm", "eval"];

/// Every use of a module that is declared after its user.
pub fn module_order(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for crate_name in IN_ORDER {
        let declared = declared_modules(tree.text(&format!("crates/{crate_name}/src/lib.rs")));
        let position = |module: Option<&String>| {
            declared
                .iter()
                .position(|name| Some(*name) == module.map(String::as_str))
        };
        for Use { user, used, file, line } in uses(tree, crate_name) {
            let (own, other) = (position(user.first()), position(used.first()));
            if own.zip(other).is_some_and(|(own, other)| other > own) {
                found.push(format!("{file}: {line}: {} comes after {}", used[0], user[0]));
            }
        }
    }
    found
}

fn is_known(known: &KnownCycle, folder: &str, cycle: &BTreeSet<String>) -> bool {
    known.folder == folder && cycle.iter().all(|module| known.modules.contains(&module.as_str()))
}

fn by_parent(uses: Vec<Use>) -> BTreeMap<Vec<String>, Siblings> {
    let mut parents: BTreeMap<Vec<String>, Siblings> = BTreeMap::new();
    for edge in uses {
        let shared = edge
            .user
            .iter()
            .zip(&edge.used)
            .take_while(|(user, used)| user == used)
            .count();
        // Where one of them is the other's parent, there are no siblings.
        if let (Some(user), Some(used)) = (edge.user.get(shared), edge.used.get(shared)) {
            let siblings = parents.entry(edge.user[..shared].to_vec()).or_default();
            let lines = siblings.entry((user.clone(), used.clone())).or_default();
            lines.insert(format!("{}: {}", edge.file, edge.line));
        }
    }
    parents
}

/// The strongly connected components of more than one module.
fn cycles(siblings: &Siblings) -> Vec<BTreeSet<String>> {
    let modules: BTreeSet<&String> = siblings.keys().map(|(user, _)| user).collect();
    let reached: BTreeMap<_, _> = modules
        .iter()
        .map(|module| (*module, reach(siblings, module)))
        .collect();
    let mut cycles = Vec::new();
    for (module, below) in &reached {
        let back = below
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(*module)));
        let cycle: BTreeSet<String> = back.map(|other| (*other).clone()).collect();
        if !cycle.is_empty() && !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    cycles
}

/// The modules that a module uses, directly or through others; itself only if it is part of a circle.
fn reach<'a>(siblings: &'a Siblings, from: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for (_, used) in siblings.keys().filter(|(user, _)| user == module) {
            if reached.insert(used) {
                open.push(used);
            }
        }
    }
    reached
}

fn report(folder: &str, cycle: &BTreeSet<String>, siblings: &Siblings) -> String {
    let names: Vec<&str> = cycle.iter().map(String::as_str).collect();
    let mut report = format!("{folder}: {} use each other in a circle", names.join(", "));
    for ((user, used), lines) in siblings
        .iter()
        .filter(|((user, used), _)| cycle.contains(user) && cycle.contains(used))
    {
        report.push_str(&format!("\n  {user} uses {used}"));
        for line in lines {
            report.push_str(&format!("\n    {line}"));
        }
    }
    report
}
