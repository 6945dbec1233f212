//! Keys of endpoints: named by the configuration, read only when they are needed, and shown by nothing.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

use mainstay_llm::secret::Secret;

use crate::config::place::Variables;

/// More than this is no key: the longest in use, signed tokens, have a few thousand bytes.
const MOST_BYTES: u64 = 16 << 10;

/// Where a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// There is none, and none is wanted.
    None,
    /// In an environment variable.
    Variable(String),
    /// In a file of its own.
    File(PathBuf),
}

impl fmt::Display for KeySource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::None => formatter.write_str("no key"),
            KeySource::Variable(name) => write!(formatter, "environment variable {name}"),
            KeySource::File(path) => write!(formatter, "file {}", path.display()),
        }
    }
}

impl KeySource {
    /// Reads the key; the error says what is wrong and what to do, and never a part of the key.
    pub fn read(&self, variables: Variables<'_>) -> Result<Option<Secret>, String> {
        match self {
            KeySource::None => Ok(None),
            KeySource::Variable(name) => {
                let value = variables(name)
                    .filter(|value| !value.is_empty())
                    .ok_or_else(|| format!("the environment variable {name} is not set; export it, or use key_file"))?;
                let value = value
                    .into_string()
                    .map_err(|_| format!("the environment variable {name} is no text"))?;
                checked(&value, &format!("the environment variable {name}")).map(Some)
            }
            KeySource::File(path) => {
                let shown = path.display();
                let text = read_file(path).map_err(|why| format!("the key file {shown} {why}"))?;
                checked(&text, &format!("the key file {shown}")).map(Some)
            }
        }
    }
}

/// A key is one word that a header can carry.
fn checked(text: &str, place: &str) -> Result<Secret, String> {
    let key = text.trim();
    if key.is_empty() {
        return Err(format!("{place} is empty"));
    }
    if key.lines().nth(1).is_some() {
        return Err(format!(
            "{place} has several lines; it has to hold the key and nothing else"
        ));
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "{place} holds characters that no key has (spaces, quotes of a word processor?)"
        ));
    }
    Ok(Secret::new(key))
}

/// The text of a file that is its owner's alone.
fn read_file(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    // Asked before it is opened: opening a pipe would wait for somebody to write.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err("is no file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    refuse_what_others_may_read(&file, path)?;
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    // The error of text that is none says nothing of it.
    read.map_err(failed)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("has more than {MOST_BYTES} bytes and is no key"));
    }
    Ok(text)
}

/// As ssh does: a key that others can read is no secret, and using it would hide that.
#[cfg(unix)]
fn refuse_what_others_may_read(file: &std::fs::File, path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata().map_err(|error| format!("cannot be read: {error}"))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(format!("is open to others (mode {mode:04o}); run: chmod 600 {path}"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_what_others_may_read(_file: &std::fs::File, _path: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn a_variable_gives_the_key_without_what_surrounds_it() {
        let source = KeySource::Variable("K".into());
        let with = |value: &'static str| source.read(&move |_: &str| Some(OsString::from(value)));
        assert_eq!(with(" abc\n").unwrap().unwrap().reveal(), "abc");
        for (value, said) in [
            ("", "is not set"),
            ("  ", "is empty"),
            ("secretword two", "characters that no key has"),
            ("secretword\ntwo", "several lines"),
            ("“secretword”", "characters that no key has"),
            ("secretword\u{7f}", "characters that no key has"),
        ] {
            let error = with(value).unwrap_err();
            assert!(error.contains(said) && !error.contains("secretword"), "{error}");
        }
        assert!(source.read(&|_: &str| None).unwrap_err().contains("K is not set"));
        assert_eq!(KeySource::None.read(&|_: &str| None), Ok(None));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "abc\n").unwrap();
        let read = |mode: u32| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            KeySource::File(path.clone()).read(&|_: &str| None)
        };
        assert_eq!(read(0o600).unwrap().unwrap().reveal(), "abc");
        assert_eq!(read(0o400).unwrap().unwrap().reveal(), "abc");
        for mode in [0o640, 0o604, 0o620, 0o666, 0o601] {
            let error = read(mode).unwrap_err();
            assert!(error.contains(&format!("chmod 600 {}", path.display())), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_key_file_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| KeySource::File(path.to_owned()).read(&|_: &str| None).unwrap_err();
        assert!(said(folder.path()).contains("is no file"));
        assert!(said(&folder.path().join("absent")).contains("cannot be read"));
        for (bytes, words) in [
            (vec![b'k'; 20_000], "more than"),
            (b"\xff\xfekey".to_vec(), "cannot be read"),
            (Vec::new(), "is empty"),
            (b"one\ntwo\n".to_vec(), "several lines"),
        ] {
            let path = folder.path().join("odd");
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            let error = said(&path);
            assert!(error.contains(words), "{error}");
        }
    }
}
