//! A report in pieces, for the screen or as Markdown.

use crate::screen::Screen;

/// A piece of a report. Its words are safe for a terminal already.
#[derive(Clone, Debug)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A line.
    Line(String),
    /// A line that matters less; it belongs to the line before it.
    Faint(String),
    /// Something that should be known before anything is believed; on the screen it is said apart.
    Doubt(String),
    /// A table. Columns whose title starts with `>` are numbers.
    Table(Vec<String>, Vec<Vec<String>>),
}

/// Shows a report.
pub fn show(blocks: &[Block], screen: &mut Screen) -> anyhow::Result<()> {
    for block in blocks {
        match block {
            Block::Heading(text) => screen.heading(text)?,
            Block::Line(text) => screen.line(&format!("  {text}"))?,
            Block::Faint(text) => screen.faint(&format!("    {text}"))?,
            Block::Doubt(_) => {}
            Block::Table(titles, rows) => {
                let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
                screen.table(&titles, rows.clone())?;
            }
        }
    }
    Ok(())
}

/// The report as Markdown. What comes from elsewhere cannot be more than text in it.
pub fn markdown(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Heading(words) => text.push_str(&format!("\n## {}\n\n", inert(words))),
            Block::Line(words) => text.push_str(&format!("- {}\n", inert(words))),
            Block::Faint(words) => text.push_str(&format!("  - {}\n", inert(words))),
            Block::Doubt(words) => text.push_str(&format!("- **warning**: {}\n", inert(words))),
            Block::Table(titles, rows) => {
                let line = |cells: &[String]| {
                    let cells: Vec<String> = cells.iter().map(|cell| inert(cell)).collect();
                    format!("| {} |\n", cells.join(" | "))
                };
                let heads: Vec<String> = titles
                    .iter()
                    .map(|title| title.trim_start_matches('>').to_lowercase())
                    .collect();
                let rules: Vec<&str> = titles
                    .iter()
                    .map(|title| if title.starts_with('>') { "---:" } else { "---" })
                    .collect();
                text.push_str(&format!("\n{}|{}|\n", line(&heads), rules.join("|")));
                rows.iter().for_each(|row| text.push_str(&line(row)));
                text.push('\n');
            }
        }
    }
    text.trim_start().to_owned()
}

fn inert(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for letter in words.chars() {
        match letter {
            '<' => text.push_str("&lt;"),
            '&' => text.push_str("&amp;"),
            '|' | '`' | '*' | '[' | ']' | '\\' | '!' | '#' | '@' => {
                text.push('\\');
                text.push(letter);
            }
            '\n' | '\r' => text.push(' '),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup_that_was_text() {
        let hostile = "<img src=x onerror=1> ![a](http://b) | `c` @everyone";
        let blocks = [
            Block::Line(hostile.to_owned()),
            Block::Table(
                vec!["A".to_owned(), ">B".to_owned()],
                vec![vec![hostile.to_owned(), "1".to_owned()]],
            ),
        ];
        let text = markdown(&blocks);
        assert!(
            !text.contains("<img") && !text.contains(" ![a]") && !text.contains(" | `c`"),
            "{text}"
        );
        assert!(text.contains("|---|---:|\n"), "{text}");
    }
}
