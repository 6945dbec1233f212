//! Small programs inside of a script, such as `python3 -c` and `node -e`: which files they touch.

use std::sync::LazyLock;

use regex::Regex;

use super::touch::Act;
use super::touch::Touches;

/// What a small program does to files, as far as it says so in its calls.
pub(super) fn touches_of(code: &str, folder: Option<&str>, touches: &mut Touches) {
    if code.is_empty() {
        return;
    }
    let named = |variable: &str| {
        let found = NAMED
            .captures_iter(code)
            .filter(|captures| &captures[1] == variable)
            .last();
        found.map(|captures| captures[2].to_owned())
    };
    let file = |captures: &regex::Captures<'_>| match (captures.get(1), captures.get(2)) {
        (Some(literal), _) => Some(literal.as_str().to_owned()),
        (None, Some(variable)) => named(variable.as_str()),
        (None, None) => None,
    };
    // A program of more calls than this is no edit of files by hand.
    for captures in OPENED.captures_iter(code).take(16) {
        let act = match captures.get(3).map(|mode| mode.as_str().as_bytes()[0]) {
            Some(b'w' | b'x') => Act::Write,
            Some(b'a') => Act::Modify,
            _ => Act::Read,
        };
        if let Some(file) = file(&captures) {
            touches.add(act, folder, &file);
        }
    }
    for captures in PATH_CALL.captures_iter(code).take(16) {
        let act = match &captures[3] {
            "write_text" | "write_bytes" | "writeFileSync" => Act::Write,
            "unlink" => Act::Delete,
            _ => Act::Read,
        };
        if let Some(file) = file(&captures) {
            touches.add(act, folder, &file);
        }
    }
    for captures in NODE.captures_iter(code).take(16) {
        let act = match &captures[1] {
            "writeFile" => Act::Write,
            "appendFile" => Act::Modify,
            _ => Act::Read,
        };
        touches.add(act, folder, &captures[2]);
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are well formed, which a test shows")
}

/// `name = "file"`, `name = Path("file")`
static NAMED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?m)^\s*(\w+)\s*=\s*(?:[\w.]*Path\()?[rf]?['"]([^'"\n]{1,300})['"]"#));
/// `open("file", "w")`, `open(name)`
static OPENED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"\bopen\(\s*(?:['"]([^'"\n]{1,300})['"]|(\w+))\s*(?:,\s*(?:mode\s*=\s*)?['"]([rwax])[bt+]*['"])?"#)
});
/// `Path("file").write_text(`, `name.write_text(`
static PATH_CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:Path\(\s*['"]([^'"\n]{1,300})['"]\s*\)|\b(\w+))\.(write_text|write_bytes|read_text|read_bytes|unlink)\("#,
    )
});
/// `fs.writeFileSync("file"`
static NODE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(writeFile|appendFile|readFile)(?:Sync)?\(\s*['"]([^'"\n]{1,300})['"]"#));
