//! What people see: tables, headings, errors. Text from a transcript never reaches the terminal raw.

use std::io::Write;

use anstyle::AnsiColor;
use anstyle::Style;
use comfy_table::CellAlignment;
use comfy_table::ContentArrangement;
use comfy_table::Table;
use comfy_table::presets;
pub use mainstay_engine::decide::marker::thousands as number;
pub use mainstay_session::terminal_line as plain;
use serde::Serialize;

const HEADING: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Standard output and standard error; colours only where they are a terminal's.
pub struct Screen {
    out: anstream::Stdout,
    err: anstream::Stderr,
    /// What is for people goes to standard error: standard output is for the result alone.
    is_aside: bool,
}

impl Screen {
    /// Both streams, with colours as the terminal and the user want them.
    pub fn new() -> Self {
        Self {
            out: anstream::stdout(),
            err: anstream::stderr(),
            is_aside: false,
        }
    }

    /// From here on everything for people goes to standard error.
    pub fn speak_on_standard_error(&mut self) {
        self.is_aside = true;
    }

    fn say(&mut self) -> &mut dyn Write {
        if self.is_aside { &mut self.err } else { &mut self.out }
    }

    /// Writes the result itself to standard output, as it is.
    pub fn result(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        // Past the stream that may rewrite escape sequences: these bytes are nobody's colours.
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        Ok(out.flush()?)
    }

    /// Writes a line of the result.
    pub fn line(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(self.say(), "{text}")?)
    }

    /// Writes a heading, with an empty line before it.
    pub fn heading(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(self.say(), "\n{HEADING}{text}{HEADING:#}")?)
    }

    /// Writes a line that matters less.
    pub fn faint(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(self.say(), "{FAINT}{text}{FAINT:#}")?)
    }

    /// Writes a table. Columns whose title starts with `>` are numbers, aligned to the right.
    pub fn table(&mut self, titles: &[&str], rows: Vec<Vec<String>>) -> anyhow::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(titles.iter().map(|title| title.trim_start_matches('>')));
        for row in rows {
            table.add_row(row);
        }
        for (index, title) in titles.iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                column.set_padding((0, 2));
                if title.starts_with('>') {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        for line in table.to_string().lines() {
            writeln!(self.say(), "  {}", line.trim_end())?;
        }
        Ok(())
    }

    /// Writes a value as indented JSON.
    pub fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(writeln!(self.say(), "{text}")?)
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Says how far long work is, on standard error: a log has no progress bar.
    pub fn note(&mut self, text: &str) {
        // A terminal that is gone cannot be told about it.
        let _ = writeln!(self.err, "{}", plain(text));
    }

    /// Says something that is not a failure but should be known, on standard error.
    pub fn warn(&mut self, text: &str) {
        // A terminal that is gone cannot be told about it.
        let _ = writeln!(self.err, "{ERROR}warning{ERROR:#}: {}", plain(text));
    }

    /// Says what went wrong, on standard error.
    pub fn error(&mut self, error: &anyhow::Error) {
        let causes: Vec<_> = error.chain().map(|cause| plain(&cause.to_string())).collect();
        // A terminal that is gone cannot be told about it.
        let _ = writeln!(self.err, "{ERROR}error{ERROR:#}: {}", causes.join(": "));
    }
}

/// The start of a text on one line, safe for a terminal.
pub fn opening(text: &str, most: usize) -> String {
    let words = plain(text).split_whitespace().take(most).collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// A size in bytes for people.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let mut value = size as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{size} B")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// A moment for people, to the minute, in UTC.
pub fn time(stamp: mainstay_engine::transcript::Timestamp) -> String {
    let text = jiff::Timestamp::from_millisecond(stamp.0)
        .map(|stamp| stamp.to_string())
        .unwrap_or_default();
    text.chars().take(16).collect::<String>().replace('T', " ")
}

/// A moment for names of files, to the second, in UTC.
pub fn second(stamp: mainstay_engine::transcript::Timestamp) -> String {
    let text = jiff::Timestamp::from_millisecond(stamp.0)
        .map(|stamp| stamp.to_string())
        .unwrap_or_default();
    text.chars()
        .take(19)
        .collect::<String>()
        .replace('T', "_")
        .replace(':', "-")
}

/// A share as per cent.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1} %", part as f64 * 100.0 / whole as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_gets_through() {
        let hostile = "a\u{1b}[2Jb\u{7}\u{202e}c\u{9b}31m\r\nd\u{1b}]52;c;aGk=\u{7}";
        let safe = opening(hostile, 100);
        assert!(safe.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{safe:?}");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_234_567), "1.2 MB");
        assert_eq!(percent(1, 0), "–");
        assert_eq!(opening("one  two\nthree", 7), "one two…");
    }
}
