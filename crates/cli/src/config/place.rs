//! Which file is read. Never one that merely lies in the current directory: whoever wrote a repository could then
//! send the conversations held in it to a server of theirs.

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use crate::config::origin::Origin;

/// Looks a variable up; empty ones count as not set.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The variable that names the file.
pub const VARIABLE: &str = "MAINSTAY_CONFIG";

/// A configuration file that is there, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where.
    pub path: PathBuf,
    /// Who says so.
    pub origin: Origin,
}

impl Place {
    /// Whether somebody named this very file, so that it has to be there.
    pub fn is_named(&self) -> bool {
        self.origin != Origin::BuiltIn
    }
}

/// The file: as the flag says, as the variable says, or in the user's directory for settings; none where the user has no
/// home. Directories that are not absolute are ignored, as they would lead back to the current directory.
pub fn find(flag: Option<&Path>, variables: Variables<'_>, home: &Path) -> Option<Place> {
    if let Some(path) = flag {
        return Some(Place {
            path: path.to_owned(),
            origin: Origin::Flag("--config"),
        });
    }
    if let Some(path) = variables(VARIABLE) {
        return Some(Place {
            path: PathBuf::from(path),
            origin: Origin::Variable(VARIABLE),
        });
    }
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let directory = if cfg!(target_os = "macos") {
        absolute(home.join("Library/Application Support"))
    } else {
        let own = variables("XDG_CONFIG_HOME").map(PathBuf::from).and_then(absolute);
        own.or_else(|| absolute(home.join(".config")))
    };
    Some(Place {
        path: directory?.join("mainstay/config.toml"),
        origin: Origin::BuiltIn,
    })
}

/// A path that stands in the file: `~/` is the home directory, and what is relative lies beside the file.
pub fn expand(path: &str, file: &Path, home: &Path) -> PathBuf {
    if path == "~" {
        return home.to_owned();
    }
    if let Some(below) = path.strip_prefix("~/") {
        return home.join(below);
    }
    file.parent().unwrap_or(Path::new("")).join(path)
}

#[cfg(all(test, not(target_os = "macos")))]
mod tests {
    use super::*;

    fn path(flag: Option<&str>, set: &[(&str, &str)], home: &str) -> Option<String> {
        let variables = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        find(flag.map(Path::new), &variables, Path::new(home)).map(|place| place.path.display().to_string())
    }

    #[test]
    fn the_flag_beats_the_variable_beats_the_users_directory() {
        let all = [("MAINSTAY_CONFIG", "/m.toml"), ("XDG_CONFIG_HOME", "/x")];
        assert_eq!(path(Some("f.toml"), &all, "/home/u").as_deref(), Some("f.toml"));
        assert_eq!(path(None, &all, "/home/u").as_deref(), Some("/m.toml"));
        assert_eq!(
            path(None, &all[1..], "/home/u").as_deref(),
            Some("/x/mainstay/config.toml")
        );
        assert_eq!(
            path(None, &[], "/home/u").as_deref(),
            Some("/home/u/.config/mainstay/config.toml")
        );
    }

    #[test]
    fn nothing_leads_to_the_current_directory() {
        assert_eq!(path(None, &[], ""), None);
        assert_eq!(path(None, &[("XDG_CONFIG_HOME", ".")], ""), None);
        assert_eq!(
            path(None, &[("XDG_CONFIG_HOME", "sub")], "/home/u").as_deref(),
            Some("/home/u/.config/mainstay/config.toml")
        );
    }

    #[test]
    fn paths_in_the_file_are_relative_to_it() {
        let at = |path| {
            expand(path, Path::new("/etc/m/config.toml"), Path::new("/home/u"))
                .display()
                .to_string()
        };
        assert_eq!(at("~/keys/a"), "/home/u/keys/a");
        assert_eq!(at("keys/a"), "/etc/m/keys/a");
        assert_eq!(at("/keys/a"), "/keys/a");
        assert_eq!(at("~other/a"), "/etc/m/~other/a");
    }
}
