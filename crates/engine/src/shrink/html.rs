//! HTML: what a reader sees. Headings, links, list items and text stay; markup, scripts and styles go.
//!
//! One pass over the bytes; an element that never ends takes the rest of the page.

use super::marker::CLOSE;
use super::marker::OPEN;
use super::pick::counted;
use super::pick::pick;
use super::text;

/// Whether a text is a page or a fragment of one.
pub(super) fn is_html(text: &str) -> bool {
    let head = text[..text.floor_char_boundary(text.len().min(2000))].to_ascii_lowercase();
    if head.starts_with("<!doctype html") || head.contains("<html") && head.starts_with('<') {
        return true;
    }
    // Components of web frameworks open with these, and their scripts are the point of them.
    if !head.starts_with('<') || head.starts_with("<script") || head.starts_with("<template") {
        return false;
    }
    // A fragment: a tag that HTML knows in every hundred bytes. Prose with some tags stays below that.
    let known = text
        .match_indices('<')
        .filter(|(at, _)| is_known(&text[at + 1..]))
        .count();
    known >= 8 && known * 100 >= text.len()
}

fn is_known(tag: &str) -> bool {
    const KNOWN: &[&str] = &[
        "div", "span", "p", "a", "li", "ul", "ol", "td", "tr", "th", "table", "h1", "h2", "h3", "h4", "script",
        "style", "img", "br", "button", "form", "input", "head", "body", "meta", "link", "section", "nav",
    ];
    let name = name_of(tag.strip_prefix('/').unwrap_or(tag));
    KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn name_of(tag: &str) -> &str {
    let length = tag.bytes().take_while(u8::is_ascii_alphanumeric).count();
    &tag[..length]
}

/// The visible page, shortened like text.
pub(super) fn shrink(page: &str, most_bytes: usize) -> String {
    let seen = skeleton(page);
    let marker = format!(
        "{OPEN} {} and {} of scripts, styles and comments dropped{CLOSE}\n",
        counted(seen.tags, "tag"),
        counted(seen.hidden, "byte")
    );
    let short = if seen.text.len() + marker.len() > most_bytes {
        pick(text::rank(&seen.text), most_bytes.saturating_sub(marker.len()))
    } else {
        seen.text
    };
    marker + &short
}

struct Skeleton {
    text: String,
    tags: usize,
    hidden: usize,
}

/// Most bytes of an address that is shown with its link.
const MOST_ADDRESS: usize = 120;

fn skeleton(page: &str) -> Skeleton {
    let mut seen = Skeleton {
        text: String::new(),
        tags: 0,
        hidden: 0,
    };
    let mut link: Option<&str> = None;
    let mut rest = page;
    while let Some(open) = rest.find('<') {
        push_text(&mut seen.text, &rest[..open]);
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            let length = comment.find("-->").map_or(rest.len(), |end| 4 + end + 3);
            seen.hidden += length;
            rest = &rest[length..];
            continue;
        }
        let is_close = rest.starts_with("</");
        let name = name_of(&rest[1 + usize::from(is_close)..]).to_ascii_lowercase();
        if name.is_empty() && !rest.starts_with("<!") {
            push_text(&mut seen.text, "<");
            rest = &rest[1..];
            continue;
        }
        let Some(end) = rest.find('>') else { break };
        let inside = &rest[1..end];
        let after = &rest[end + 1..];
        seen.tags += 1;
        rest = after;
        if !is_close && matches!(name.as_str(), "script" | "style" | "svg" | "noscript" | "template") {
            let length = closing(after, &name);
            seen.hidden += length;
            rest = &after[length..];
        } else if name == "meta" {
            push_description(&mut seen.text, inside);
        } else if name == "a" {
            link = if is_close {
                close_link(&mut seen.text, link)
            } else {
                attribute(inside, "href")
            };
        } else {
            open_block(&mut seen.text, &name, is_close);
        }
    }
    push_text(&mut seen.text, rest.strip_prefix('<').unwrap_or(rest));
    let lines: Vec<&str> = seen
        .text
        .lines()
        .map(str::trim)
        .filter(|line| !matches!(*line, "" | "-" | "|"))
        .collect();
    Skeleton {
        text: lines.join("\n"),
        ..seen
    }
}

/// The bytes up to the end of the element's closing tag; all when it never closes.
fn closing(after: &str, name: &str) -> usize {
    let bytes = after.as_bytes();
    let mut at = 0;
    while let Some(found) = after[at..].find("</") {
        at += found + 2;
        let end = at + name.len();
        if bytes
            .get(at..end)
            .is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()))
        {
            return after[end..].find('>').map_or(after.len(), |close| end + close + 1);
        }
    }
    after.len()
}

fn open_block(text: &mut String, name: &str, is_close: bool) {
    let line = match name {
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if !is_close => {
            let level = usize::from(name.as_bytes()[1] - b'0');
            format!("\n{} ", "#".repeat(level))
        }
        "li" if !is_close => "\n- ".to_owned(),
        "td" | "th" if !is_close => " | ".to_owned(),
        "title" if !is_close => "\ntitle: ".to_owned(),
        "b" | "i" | "em" | "strong" | "span" | "code" | "small" | "sup" | "sub" | "u" | "label" | "td" | "th" => return,
        _ => "\n".to_owned(),
    };
    // Nested blocks open many lines at once.
    if line != "\n" || !text.ends_with('\n') {
        text.push_str(&line);
    }
}

fn close_link(text: &mut String, link: Option<&str>) -> Option<&'static str> {
    if let Some(address) = link.filter(|address| !address.is_empty() && !address.starts_with("javascript:")) {
        let shown = &address[..address.floor_char_boundary(MOST_ADDRESS.min(address.len()))];
        text.push_str(&format!(" ({shown})"));
    }
    None
}

/// What a page says about itself.
fn push_description(text: &mut String, tag: &str) {
    let name = attribute(tag, "name")
        .or_else(|| attribute(tag, "property"))
        .unwrap_or("");
    if matches!(name, "description" | "og:title" | "og:description")
        && let Some(content) = attribute(tag, "content")
    {
        text.push_str(&format!("\n{name}: "));
        push_text(text, content);
        text.push('\n');
    }
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let at = tag.find(&format!("{name}="))? + name.len() + 1;
    let value = &tag[at..];
    match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next(),
        _ => value.split_ascii_whitespace().next(),
    }
}

/// Text with its white space joined and the five everyday entities read.
fn push_text(text: &mut String, raw: &str) {
    const ENTITIES: &[(&str, &str)] = &[
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    if raw.starts_with(char::is_whitespace) && !text.ends_with(char::is_whitespace) {
        text.push(' ');
    }
    for (index, word) in raw.split_whitespace().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        if word.contains('&') {
            let read = ENTITIES
                .iter()
                .fold(word.to_owned(), |word, (entity, plain)| word.replace(entity, plain));
            text.push_str(&read);
        } else {
            text.push_str(word);
        }
    }
    if raw.ends_with(char::is_whitespace) && !text.ends_with(char::is_whitespace) {
        text.push(' ');
    }
}
