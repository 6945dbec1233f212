//! The project's files as a map from path to text, so that a rule can be tried on a planted tree.

use std::collections::BTreeMap;
use std::path::Path;

/// Folders that hold no source of ours.
const SKIPPED: &[&str] = &["target", ".git", "corpus", "artifacts"];

/// Paths below the root, with `/` between their parts, and the files' texts.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The files.
    pub files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the project's own tree.
    pub fn of_project() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tree = Self::default();
        tree.read(&root, "");
        tree
    }

    /// A tree with one file.
    pub fn planted(path: &str, text: &str) -> Self {
        Self::default().with(path, text)
    }

    /// The tree with one more file.
    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    fn read(&mut self, directory: &Path, below: &str) {
        let Ok(entries) = std::fs::read_dir(directory) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if below.is_empty() {
                name.clone()
            } else {
                format!("{below}/{name}")
            };
            if entry.path().is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    self.read(&entry.path(), &path);
                }
            } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
                self.files.insert(path, text);
            }
        }
    }

    /// The Rust files, with their paths.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        let rust = self.files.iter().filter(|(path, _)| path.ends_with(".rs"));
        rust.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// A file's text; empty when there is none.
    pub fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }
}
