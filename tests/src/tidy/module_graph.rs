//! Which modules of a crate use which, read off the text of its files.
//!
//! Only product code counts: test files and what stands behind `#[cfg(test)]` are left out. A path counts where it begins with
//! `crate`, `super` or `self`; `use` lines and paths inside of expressions alike. Not here: names that macros or other crates
//! bring in, and which direction a use should have.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::is_product;
use crate::tree::Tree;

/// The path of a module inside of its crate; the crate's root is empty.
pub type ModulePath = Vec<String>;

/// One line in which a module uses another one.
#[derive(Clone, Debug)]
pub struct Use {
    /// The module in which the line stands.
    pub user: ModulePath,
    /// The module that it leads to.
    pub used: ModulePath,
    /// Where the line stands.
    pub file: String,
    /// The line.
    pub line: String,
}

struct Module<'a> {
    file: &'a str,
    lines: Vec<&'a str>,
    /// Names that a `use` line brings in, and the paths they stand for.
    imports: BTreeMap<String, Vec<String>>,
}

/// Every use of one module by another inside of a crate.
pub fn uses(tree: &Tree, crate_name: &str) -> Vec<Use> {
    let modules = modules(tree, &format!("crates/{crate_name}/src/"));
    let mut uses = Vec::new();
    for (user, module) in &modules {
        for line in &module.lines {
            for path in paths_in(line) {
                let Some(absolute) = absolute(user, &path) else {
                    continue;
                };
                uses.push(Use {
                    user: user.clone(),
                    used: resolve(&modules, user, absolute),
                    file: module.file.to_owned(),
                    line: line.trim().to_owned(),
                });
            }
        }
    }
    uses
}

fn modules<'a>(tree: &'a Tree, source: &str) -> BTreeMap<ModulePath, Module<'a>> {
    let mut modules = BTreeMap::new();
    let mut test_modules = Vec::new();
    for (file, text) in tree.rust().filter(|(file, _)| is_product(file)) {
        let Some(below) = file.strip_prefix(source) else {
            continue;
        };
        let mut path: ModulePath = below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            path.pop();
        }
        let (lines, tests) = product_lines(text);
        test_modules.extend(tests.into_iter().map(|name| child(&path, name)));
        let mut imports = BTreeMap::new();
        for line in &lines {
            if let Some((name, target)) = import(line) {
                // A path that begins with none of these names a child, or another crate, which leads nowhere.
                let target = absolute(&path, &target).unwrap_or_else(|| [&path[..], &target[..]].concat());
                imports.insert(name, target);
            }
        }
        modules.insert(path, Module { file, lines, imports });
    }
    modules.retain(|path, _| !test_modules.iter().any(|test| path.starts_with(test)));
    modules
}

/// The lines that are no comments and not behind `#[cfg(test)]`, and the modules that are declared behind it.
fn product_lines(text: &str) -> (Vec<&str>, Vec<&str>) {
    let mut product = Vec::new();
    let mut tests = Vec::new();
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            product.push(line);
            continue;
        }
        // Formatted code ends an item with a line of the same indentation.
        let indentation = line.len() - line.trim_start().len();
        let mut item = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
        let Some(first) = item.next() else {
            break;
        };
        if let Some(name) = first
            .trim()
            .strip_suffix(';')
            .and_then(|rest| rest.split("mod ").nth(1))
        {
            tests.push(name);
        }
        if !first.ends_with([';', '}']) {
            item.find(|line| {
                line.len() - line.trim_start().len() == indentation && (line.trim() == "}" || line.ends_with(';'))
            });
        }
    }
    (product, tests)
}

/// The name that a `use` line brings in, and its path.
fn import(line: &str) -> Option<(String, Vec<String>)> {
    let (visibility, path) = line.split_once("use ")?;
    if !visibility.is_empty() && !visibility.starts_with("pub") {
        return None;
    }
    let path = path.strip_suffix(';')?;
    let (path, name) = path.split_once(" as ").unwrap_or((path, path.rsplit("::").next()?));
    Some((name.to_owned(), path.split("::").map(str::to_owned).collect()))
}

/// The paths in a line that begin with `crate`, `super` or `self`.
fn paths_in(line: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = line.split(|c: char| !is_word(c) && c != ':');
    let paths = words.map(|path| {
        path.split("::")
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    });
    paths
        .filter(|path: &Vec<String>| path.len() > 1 && matches!(path[0].as_str(), "crate" | "super" | "self"))
        .collect()
}

/// A path from the crate's root on; nothing for a path that begins elsewhere.
fn absolute(module: &[String], path: &[String]) -> Option<Vec<String>> {
    let mut rest = path;
    let mut start = match rest.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "crate" | "self" => {}
            "super" => {
                start.pop()?;
            }
            _ => break,
        }
        rest = after;
    }
    start.extend_from_slice(rest);
    Some(start)
}

/// The module that a path leads to.
///
/// What a module takes from its own parent may be a name that the parent has only imported, from a child or from elsewhere.
/// That name is followed, so that a cycle cannot hide behind a re-export.
fn resolve(modules: &BTreeMap<ModulePath, Module>, user: &[String], mut path: Vec<String>) -> ModulePath {
    // Two files that import each other's names would be followed without end.
    for _ in 0..8 {
        let depth = (0..=path.len())
            .rev()
            .find(|depth| is_module(modules, &path[..*depth]))
            .unwrap_or(0);
        let followed = path.get(depth).filter(|_| user.starts_with(&path[..depth]));
        let imported = followed.and_then(|name| modules.get(&path[..depth])?.imports.get(name));
        match imported {
            Some(target) if *target != path => path = [&target[..], &path[depth + 1..]].concat(),
            _ => {
                path.truncate(depth);
                return path;
            }
        }
    }
    path
}

/// Whether a path is a module's, or that of a folder with modules.
fn is_module(modules: &BTreeMap<ModulePath, Module>, path: &[String]) -> bool {
    let mut from = modules.range::<[String], _>((Bound::Included(path), Bound::Unbounded));
    from.next().is_some_and(|(module, _)| module.starts_with(path))
}

fn child(parent: &[String], name: &str) -> ModulePath {
    let mut path = parent.to_vec();
    path.push(name.to_owned());
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(tree: &Tree) -> Vec<String> {
        let uses = uses(tree, "x").into_iter();
        uses.map(|edge| format!("{} -> {}", edge.user.join("::"), edge.used.join("::")))
            .collect()
    }

    #[test]
    fn paths_lead_from_the_module_they_stand_in() {
        let tree = Tree::planted("crates/x/src/a/mod.rs", "mod b;\n")
            .with(
                "crates/x/src/a/b.rs",
                "use super::c::C;\nfn f() { crate::d::g(self::h()) }\n",
            )
            .with("crates/x/src/a/c.rs", "use super::super::d::D;\n")
            .with("crates/x/src/d.rs", "");
        assert_eq!(used(&tree), ["a::b -> a::c", "a::b -> d", "a::b -> a::b", "a::c -> d"]);
    }

    #[test]
    fn a_name_that_the_parent_imports_leads_to_where_it_comes_from() {
        let tree = Tree::planted("crates/x/src/a/mod.rs", "mod b;\npub use b::B;\nuse crate::d::D;\n")
            .with("crates/x/src/a/b.rs", "")
            .with("crates/x/src/a/c.rs", "use super::B;\nuse super::D;\nuse super::Own;\n")
            .with("crates/x/src/d.rs", "use crate::a::B;\n");
        assert_eq!(
            used(&tree),
            ["a -> d", "a::c -> a::b", "a::c -> d", "a::c -> a", "d -> a"]
        );
    }

    #[test]
    fn tests_and_comments_use_nothing() {
        let text = "//! See [`crate::b`].\n#[cfg(test)]\nuse crate::b::B;\n#[cfg(test)]\n#[path = \"t.rs\"]\nmod checks;\nuse crate::c::C;\n\
                    #[cfg(test)]\nimpl B {\n    fn f() {\n        crate::b::g();\n    }\n}\nfn f() {\n    crate::d::g();\n}\n";
        let tree = Tree::planted("crates/x/src/a/mod.rs", text)
            .with("crates/x/src/a/checks.rs", "use crate::b::B;\n")
            .with("crates/x/src/a_tests.rs", "use crate::b::B;\n")
            .with("crates/x/src/b.rs", "")
            .with("crates/x/src/c.rs", "")
            .with("crates/x/src/d.rs", "");
        assert_eq!(used(&tree), ["a -> c", "a -> d"]);
    }
}
