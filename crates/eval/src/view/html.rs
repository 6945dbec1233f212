//! The file itself: template, script, style and content put together, so that content stays content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest;
use serde::Serialize;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// One function, so that nothing of it can be reached by an id or a name in the page.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("page/text.js"),
    include_str!("page/content.js"),
    include_str!("page/charts.js"),
    include_str!("page/table.js"),
    include_str!("page/sheet.js"),
    include_str!("page/transcript.js"),
    include_str!("page/page.js"),
    "})();\n"
);

/// The page with this title and content.
pub fn render(title: &str, content: &impl Serialize) -> String {
    let data = serde_json::to_string(content).expect("a page's content has text keys and no failing parts");
    let policy = policy();
    let mut page = String::with_capacity(data.len() + STYLE.len() + SCRIPT.len() + TEMPLATE.len());
    // In one walk over the template: what is put in is never looked at again.
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("a mark in the template is closed");
        page.push_str(before);
        match name {
            "policy" => page.push_str(&policy),
            "title" => push_escaped(&mut page, title),
            "style" => page.push_str(STYLE),
            "data" => push_json(&mut page, &data),
            "script" => page.push_str(SCRIPT),
            other => unreachable!("the template has no mark {other:?}"),
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// Nothing loads and nothing runs but the page's own script and style, known by their hashes; text never becomes markup.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(digest::digest(&digest::SHA256, text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

/// Text between tags. Characters that steer a display are not shown in a title at all.
fn push_escaped(page: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '&' => page.push_str("&amp;"),
            '"' => page.push_str("&quot;"),
            steering if steering.is_control() || is_direction(steering) => page.push(char::REPLACEMENT_CHARACTER),
            other => page.push(other),
        }
    }
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON inside of a script element: no character of it can end the element or begin a comment. All of them stand inside
/// of strings only, where their escapes mean the same.
fn push_json(page: &mut String, json: &str) {
    let mut from = 0;
    for (at, found) in json.match_indices(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        page.push_str(&json[from..at]);
        page.push_str(match found {
            "<" => "\\u003c",
            ">" => "\\u003e",
            "&" => "\\u0026",
            "\u{2028}" => "\\u2028",
            _ => "\\u2029",
        });
        from = at + found.len();
    }
    page.push_str(&json[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_cannot_leave_its_place() {
        let hostile = "</script><!--<script>]]>{{script}}\u{2028}\u{0}&quot;";
        let page = render(hostile, &[hostile]);
        let title = page.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
        assert_eq!(
            title,
            "&lt;/script&gt;&lt;!--&lt;script&gt;]]&gt;{{script}}\u{2028}\u{fffd}&amp;quot;"
        );
        let data = page.split("id=\"content\">").nth(1).unwrap();
        let data = data.split("</script>").next().unwrap();
        assert!(!data.contains(['<', '>', '&', '\u{2028}', '\0']), "{data}");
        assert_eq!(serde_json::from_str::<Vec<String>>(data).unwrap(), [hostile]);
    }

    #[test]
    fn our_own_script_and_style_fit_their_elements() {
        for (text, end) in [(SCRIPT, "</script"), (STYLE, "</style")] {
            assert!(!text.to_lowercase().contains(end) && !text.contains("<!--"));
        }
        for outside in [
            "http:",
            "https:",
            "url(",
            "@import",
            "innerHTML",
            "insertAdjacent",
            "eval(",
        ] {
            let script = SCRIPT.replace("http://www.w3.org/2000/svg", "");
            assert!(!script.contains(outside) && !STYLE.contains(outside), "{outside}");
        }
        assert!(policy().contains("default-src 'none'") && !policy().contains("unsafe"));
    }
}
