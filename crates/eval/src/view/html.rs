//! The file itself: template, script, style and content put together, so that content stays content.

use serde::Serialize;

use crate::html::LOOK;
use crate::html::Sheet;
use crate::html::Shown;

const SHEET: Sheet = Sheet {
    template: include_str!("page/page.html"),
    styles: &[LOOK, include_str!("page/page.css")],
    // One function, so that nothing of it can be reached by an id or a name in the page.
    script: concat!(
        "\"use strict\";\n(() => {\n",
        include_str!("../html/theme.js"),
        include_str!("page/text.js"),
        include_str!("page/content.js"),
        include_str!("page/charts.js"),
        include_str!("page/table.js"),
        include_str!("page/sheet.js"),
        include_str!("page/transcript.js"),
        include_str!("page/page.js"),
        "})();\n"
    ),
};

/// The page with this title and content.
pub fn render(title: &str, content: &impl Serialize) -> String {
    let data = serde_json::to_string(content).expect("a page's content has text keys and no failing parts");
    SHEET.fill(|name, page| match name {
        "title" => page.push_str(&Shown(title).to_string()),
        "data" => push_json(page, &data),
        other => unreachable!("the template has no mark {other:?}"),
    })
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
            "&lt;/script&gt;&lt;!--&lt;script&gt;]]&gt;{{script}}\\u2028\\x00&amp;quot;"
        );
        let data = page.split("id=\"content\">").nth(1).unwrap();
        let data = data.split("</script>").next().unwrap();
        assert!(!data.contains(['<', '>', '&', '\u{2028}', '\0']), "{data}");
        assert_eq!(serde_json::from_str::<Vec<String>>(data).unwrap(), [hostile]);
    }

    #[test]
    fn our_own_script_and_style_fit_their_elements() {
        SHEET.assert_own();
    }
}
