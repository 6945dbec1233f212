//! Paths as they are spelled in calls and commands: what is one, and which two are the same.

/// Longest path that is remembered: file systems end at about this, and longer words are no paths.
pub(super) const LONGEST: usize = 300;

/// Whether a word that stands where a file is expected can be one.
pub(super) fn is_path(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= LONGEST
        && !matches!(word, "." | ".." | "/" | "~" | "-" | "./" | "../" | "{}" | "EOF")
        && !word.starts_with('-')
        && !word.contains("://")
        && !is_device(word)
        && !is_address(word)
        && !word
            .chars()
            .all(|character| character.is_ascii_digit() || character.is_ascii_punctuation())
        && !word.chars().any(|character| {
            character.is_control()
                || matches!(
                    character,
                    '|' | '<' | '>' | '"' | '`' | '*' | '?' | '$' | ';' | '\u{fffd}'
                )
        })
}

/// Lines that an editor is told to show: `1,20p`.
fn is_address(word: &str) -> bool {
    let numbers = word.strip_suffix(['p', 'd', 'q']).unwrap_or_default();
    numbers.contains(',') && numbers.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}

/// Devices and kernel files: nothing is kept in them.
fn is_device(word: &str) -> bool {
    ["/dev/", "/proc/", "/sys/"]
        .iter()
        .any(|opening| word.starts_with(opening))
}

/// A path without `./`, `//`, `x/..` and a slash at its end.
pub(super) fn normalise(path: &str) -> String {
    let path = path.trim();
    let path = path.strip_prefix("file://").unwrap_or(path);
    let is_absolute = path.starts_with('/');
    let mut pieces: Vec<&str> = Vec::new();
    for piece in path.split('/') {
        match piece {
            "" | "." => {}
            ".." => match pieces.last() {
                Some(last) if *last != ".." && *last != "~" => {
                    pieces.pop();
                }
                Some(_) => pieces.push(".."),
                None if is_absolute => {}
                None => pieces.push(".."),
            },
            plain => pieces.push(plain),
        }
    }
    let joined = pieces.join("/");
    match is_absolute {
        true => format!("/{joined}"),
        false => joined,
    }
}

/// Whether a path says where it begins.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~'])
        || matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

/// A path as seen from a folder; as it is where the folder is not known.
pub(super) fn join(folder: Option<&str>, path: &str) -> String {
    match folder {
        Some(folder) if !is_absolute(path) => normalise(&format!("{folder}/{path}")),
        Some(_) | None => normalise(path),
    }
}

/// The last piece of a path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The last two pieces of a path: enough to tell the manifests of one repository apart, short enough to read.
pub(super) fn short(path: &str) -> &str {
    match path.rmatch_indices('/').nth(1) {
        Some((at, _)) => &path[at + 1..],
        None => path.trim_start_matches('/'),
    }
}

/// Whether a path ends with another one, piece by piece.
pub(super) fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Whether a file stands where things are put that nobody keeps.
pub(super) fn is_scratch(path: &str) -> bool {
    [
        "/tmp/",
        "/private/tmp/",
        "/var/tmp/",
        "/var/folders/",
        "/private/var/folders/",
        "/dev/",
        "$TMPDIR/",
    ]
    .iter()
    .any(|folder| path.starts_with(folder))
        || path.contains("/AppData/Local/Temp/")
}

/// Whether a file is a text for people, from its name.
pub(super) fn is_document(path: &str) -> bool {
    let ending = name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "md" | "rst" | "txt" | "adoc")
}

/// Whether a file holds rows of data, from its name.
pub(super) fn is_data(path: &str) -> bool {
    let ending = name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "csv" | "tsv" | "jsonl" | "ndjson")
}

/// Whether a file is a log, from its name or its folder.
pub(super) fn is_log(path: &str) -> bool {
    let name = name(path).to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "log" | "out" | "err" | "stderr" | "stdout")
        || name.contains(".log.")
        || matches!(&*name, "syslog" | "messages" | "dmesg" | "kern.log")
        || path.starts_with("/var/log/")
}

/// Whether a file holds settings, from its name.
pub(super) fn is_config(path: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "toml",
        "yaml",
        "yml",
        "json",
        "ini",
        "cfg",
        "conf",
        "env",
        "properties",
        "config",
        "tfvars",
        "plist",
    ];
    let name = name(path);
    name.starts_with(".env")
        || name.ends_with("rc") && name.starts_with('.')
        || name
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_no_path() {
        for word in [
            "",
            ".",
            "-",
            "/dev/null",
            "--flag",
            "https://a.b/c",
            "42",
            "1,20p",
            "*.rs",
            "a|b",
            "$HOME/x",
            "a\nb",
            "/proc/1/stat",
        ] {
            assert!(!is_path(word), "{word}");
        }
        for word in [
            "a",
            "src/a.rs",
            "/x",
            "~/x.md",
            ".env",
            "my file.txt",
            "[id].tsx",
            "a(1).txt",
            "папка/файл",
        ] {
            assert!(is_path(word), "{word}");
        }
        assert!(!is_path(&"x".repeat(301)));
    }

    #[test]
    fn spellings_of_one_path_meet() {
        for (spelled, plain) in [
            ("./src//a.rs", "src/a.rs"),
            ("/a/b/../c/", "/a/c"),
            ("../x", "../x"),
            ("../../x", "../../x"),
            ("/..", "/"),
            ("~/a/./b", "~/a/b"),
            ("file:///a", "/a"),
        ] {
            assert_eq!(normalise(spelled), plain, "{spelled}");
        }
        assert_eq!(join(Some("/repo"), "src/a.rs"), "/repo/src/a.rs");
        assert_eq!(join(Some("/repo"), "/tmp/a"), "/tmp/a");
        assert_eq!(join(Some("/repo/x"), "../a"), "/repo/a");
        assert_eq!(join(None, "./a"), "a");
        assert_eq!(short("/r/app/config.yaml"), "app/config.yaml");
        assert_eq!(short("/a.md"), "a.md");
        assert_eq!(short("a"), "a");
        assert!(ends_with("/r/src/a.rs", "src/a.rs") && !ends_with("/r/xsrc/a.rs", "src/a.rs"));
        assert!(is_config("a/.env.local") && is_config("Cargo.toml") && !is_config("a.rs"));
    }
}
