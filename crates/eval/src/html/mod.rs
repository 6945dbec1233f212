//! What our pages have in common: one file that needs nothing else, and a policy.
//!
//! Whatever a page shows of unknown origin goes through [`Shown`]; what runs or styles is known to the page's policy by its
//! hash, and nothing else does either. Style sheets begin with [`LOOK`], scripts have `theme.js` in them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest;

pub use mainstay_store::html::LOOK;
pub use mainstay_store::html::Shown;

/// The parts of a page that are ours.
#[derive(Clone, Copy, Debug)]
pub struct Sheet {
    /// The page with marks such as `{{title}}` where something is put in.
    pub template: &'static str,
    /// Its style: sheets, one after another.
    pub styles: &'static [&'static str],
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
                "style" => page.push_str(&self.styles.concat()),
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
            hash(&self.styles.concat())
        )
    }
}

#[cfg(test)]
impl Sheet {
    /// Fails where our own style or script would leave its element or fetch something.
    pub fn assert_own(&self) {
        for (text, end) in [(self.script.to_owned(), "</script"), (self.styles.concat(), "</style")] {
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
    fn what_is_put_in_is_not_looked_at_again() {
        let sheet = Sheet {
            template: "<p>{{one}} {{style}}",
            styles: &["s"],
            script: "",
        };
        let page = sheet.fill(|name, page| page.push_str(&format!("{{{{{name}}}}}")));
        assert_eq!(page, "<p>{{one}} s");
    }
}
