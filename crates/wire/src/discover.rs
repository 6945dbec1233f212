//! Finding the sessions of every supported agent on a user's machine.
//!
//! The caller says where the user's directories are; nothing here reads the environment.

use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::format::FORMATS;
use crate::format_definition::Format;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;

/// A session on disk.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its format.
    pub format: &'static Format,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written to.
    pub modified: Option<SystemTime>,
}

/// All sessions of all formats, newest first. Directories that cannot be read are passed over.
pub fn find(homes: &Homes) -> Vec<Found> {
    let mut found = Vec::new();
    for format in FORMATS {
        for haunt in (format.haunts)(homes) {
            walk(format, &haunt, &haunt.root, 0, &mut found);
        }
    }
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    found.dedup_by(|a, b| a.path == b.path);
    found
}

fn walk(format: &'static Format, haunt: &Haunt, directory: &Path, depth: usize, found: &mut Vec<Found>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(metadata) = std::fs::metadata(&path) else {
            continue;
        };
        let below = path.strip_prefix(&haunt.root).unwrap_or(&path);
        let below = below
            .iter()
            .map(|part| part.to_string_lossy())
            .collect::<Vec<_>>()
            .join("/");
        if (haunt.is_session)(&below) {
            found.push(Found {
                format,
                size: metadata.len(),
                modified: metadata.modified().ok(),
                path,
            });
        } else if metadata.is_dir() && depth < haunt.depth {
            walk(format, haunt, &path, depth + 1, found);
        }
    }
}
