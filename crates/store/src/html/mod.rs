//! What pages have in common, whoever draws them: a look, and text that stays text.
//!
//! Pages are drawn by the evaluation and by the proxy, which must not know each other; this is the lowest crate that both
//! build on and that is about showing what was kept. Whatever a page shows of unknown origin goes through [`Shown`] or
//! [`Lines`]. Policies, scripts and everything that is said on a page belong to whoever draws it.

use std::fmt;
use std::fmt::Display;
use std::fmt::Formatter;
use std::fmt::Write;

/// The style sheet that all pages begin with: colours by the reader's theme, type, tables, print.
pub const LOOK: &str = include_str!("look.css");

/// Text between tags or inside of an attribute's quotes, on one line. What would end either, hide something or move it is
/// spelled out.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a str);

impl Display for Shown<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| spell(formatter, letter))
    }
}

/// The same for a text of many lines, where line ends and tabs are shown as such.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a>(pub &'a str);

impl Display for Lines<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut letters = self.0.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\n' | '\t' => formatter.write_char(letter)?,
                // The end of a line as other systems have it.
                '\r' if letters.peek() == Some(&'\n') => {}
                other => spell(formatter, other)?,
            }
        }
        Ok(())
    }
}

fn spell(formatter: &mut Formatter<'_>, letter: char) -> fmt::Result {
    match letter {
        '<' => formatter.write_str("&lt;"),
        '>' => formatter.write_str("&gt;"),
        '&' => formatter.write_str("&amp;"),
        '"' => formatter.write_str("&quot;"),
        '\'' => formatter.write_str("&#39;"),
        unseen if is_unseen(unseen) => match u32::from(unseen) {
            code @ ..0x100 => write!(formatter, "\\x{code:02x}"),
            code @ ..0x1_0000 => write!(formatter, "\\u{code:04x}"),
            code => write!(formatter, "\\u{{{code:x}}}"),
        },
        other => formatter.write_char(other),
    }
}

/// Controls, and characters that take no room or turn the direction of those around them.
fn is_unseen(letter: char) -> bool {
    let is_format = matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    letter.is_control() || is_format
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let shown = |text| Shown(text).to_string();
        assert_eq!(
            shown("<a href=\"x\" title='y'>&amp;</a>"),
            "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;"
        );
        assert_eq!(
            shown("a\0\n\u{1b}[31m\u{202e}cod\u{e0041}"),
            "a\\x00\\x0a\\x1b[31m\\u202ecod\\u{e0041}"
        );
        assert_eq!(shown("сессия 窗口 😀"), "сессия 窗口 😀");
    }

    #[test]
    fn lines_stay_lines_and_nothing_else_does() {
        let lines = |text| Lines(text).to_string();
        assert_eq!(lines("a\r\nb\n\tc\rd</pre>\u{1b}"), "a\nb\n\tc\\x0dd&lt;/pre&gt;\\x1b");
    }
}
