//! What our pages have in common: one file that needs nothing else, a look, a policy, and text that stays text.
//!
//! Whatever a page shows of unknown origin goes through [`Shown`]; what runs or styles is known to the page's policy by its
//! hash, and nothing else does either. Style sheets begin with `look.css`, scripts have `theme.js` in them.

use std::fmt;
use std::fmt::Display;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest;

/// The parts of a page that are ours.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// The page with marks such as `{{title}}` where something is put in.
    pub template: &'static str,
    /// Its style.
    pub style: &'static str,
    /// Its script.
    pub script: &'static str,
}

impl Sheet {
    /// The page. Policy, style and script are put in here, every other mark by `put`, which is given the mark's name.
    pub fn fill(&self, mut put: impl FnMut(&str, &mut String)) -> String {
        let mut page = String::new();
        // In one walk over the template: what is put in is never looked at again.
        let mut rest = self.template;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").expect("a mark in the template is closed");
            page.push_str(before);
            match name {
                "policy" => page.push_str(&self.policy()),
                "style" => page.push_str(self.style),
                "script" => page.push_str(self.script),
                other => put(other, &mut page),
            }
            rest = after;
        }
        page.push_str(rest);
        page
    }

    /// Nothing loads and nothing runs but the page's own script and style, known by their hashes; text never becomes markup.
    pub fn policy(&self) -> String {
        let hash = |text: &str| STANDARD.encode(digest::digest(&digest::SHA256, text.as_bytes()));
        format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            hash(self.script),
            hash(self.style)
        )
    }
}

/// Text between tags or inside of an attribute's quotes. What would end either, hide something or move it is spelled out.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a str);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                unseen if is_unseen(unseen) => match u32::from(unseen) {
                    code @ ..0x100 => write!(f, "\\x{code:02x}")?,
                    code @ ..0x1_0000 => write!(f, "\\u{code:04x}")?,
                    code => write!(f, "\\u{{{code:x}}}")?,
                },
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Controls, and characters that take no room or turn the direction of those around them.
fn is_unseen(c: char) -> bool {
    let is_format = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    c.is_control() || is_format
}

#[cfg(test)]
impl Sheet {
    /// Fails where our own style or script would leave its element or fetch something.
    pub fn assert_own(&self) {
        for (text, end) in [(self.script, "</script"), (self.style, "</style")] {
            assert!(!text.to_lowercase().contains(end) && !text.contains("<!--"));
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for outside in [
                "http:",
                "https:",
                "url(",
                "@import",
                "innerHTML",
                "insertAdjacent",
                "eval(",
            ] {
                assert!(!text.contains(outside), "{outside}");
            }
        }
        assert!(self.policy().contains("default-src 'none'") && !self.policy().contains("unsafe"));
    }
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
    fn what_is_put_in_is_not_looked_at_again() {
        let sheet = Sheet {
            template: "<p>{{one}} {{style}}",
            style: "s",
            script: "",
        };
        let page = sheet.fill(|name, page| page.push_str(&format!("{{{{{name}}}}}")));
        assert_eq!(page, "<p>{{one}} s");
    }
}
