//! Where a user's directories are, and in which of them agents keep sessions.
//!
//! The caller says where the user's directories are; nothing here reads the environment or the disk.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The environment variables that move an agent's directory. The caller looks them up.
pub const VARIABLES: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GOOSE_PATH_ROOT",
    "HERMES_HOME",
    "OPENCODE_DATA_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// The user's directories.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    /// The home directory.
    pub home: PathBuf,
    /// The values of those of [`VARIABLES`] that are set.
    pub variables: BTreeMap<String, PathBuf>,
}

impl Homes {
    /// The directory a variable names, or one below the home directory.
    pub fn variable_or(&self, variable: &str, below_home: &str) -> PathBuf {
        self.variables
            .get(variable)
            .cloned()
            .unwrap_or_else(|| self.home.join(below_home))
    }

    /// Where programs keep a user's data.
    pub fn data(&self) -> PathBuf {
        self.variable_or("XDG_DATA_HOME", ".local/share")
    }

    /// Where programs keep a user's settings.
    pub fn config(&self) -> PathBuf {
        self.variable_or("XDG_CONFIG_HOME", ".config")
    }
}

/// A directory in which an agent keeps sessions.
#[derive(Clone, Debug)]
pub struct Haunt {
    /// Where to look.
    pub root: PathBuf,
    /// How many directories deep.
    pub depth: usize,
    /// Which names are sessions; given the path below the root, with `/` between its parts.
    pub is_session: fn(&str) -> bool,
}
