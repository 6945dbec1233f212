//! JSON in at most so many characters that is still JSON: long strings keep their ends, then the last members go.

use crate::json;

use super::cut;

/// Shortest form of a string that is cut: less says nothing.
const LEAST_STRING: usize = 24;

/// Whether a text is one JSON array or object; scalars are cut as text.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && json::value(text).is_ok()
}

/// The JSON without white space between its tokens, in at most so many characters.
pub(super) fn fit(text: &str, most: usize) -> String {
    let dense = dense(text);
    if cut::length(&dense) <= most {
        return dense;
    }
    let mut longest = most;
    let mut short = dense;
    while longest > LEAST_STRING {
        longest = (longest / 2).max(LEAST_STRING);
        short = with_strings_cut(&short, longest);
        if cut::length(&short) <= most {
            return short;
        }
    }
    truncated(&short, most)
}

/// The JSON without white space between its tokens.
pub(super) fn dense(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at] == b'"' {
            at = string_end(bytes, at);
            out.push_str(&text[start..at]);
        } else if bytes[at].is_ascii_whitespace() {
            at += 1;
        } else {
            while at < bytes.len() && bytes[at] != b'"' && !bytes[at].is_ascii_whitespace() {
                at += 1;
            }
            out.push_str(&text[start..at]);
        }
    }
    out
}

/// Where the string that starts here ends.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Every string value that is longer keeps its ends.
fn with_strings_cut(text: &str, longest: usize) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let end = string_end(bytes, at);
        let is_key = bytes.get(end) == Some(&b':');
        if !is_key && end - at > longest {
            let decoded = json::value(&text[at..end]).ok().and_then(json::text);
            if let Some(decoded) = decoded {
                out.push_str(&text[copied..at]);
                out.push_str(&json::quote(&string_ends(&decoded, longest)));
                copied = end;
            }
        }
        at = end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Both ends of a string, and the telling lines of one that has lines.
fn string_ends(text: &str, longest: usize) -> String {
    let whole = cut::length(text);
    if whole <= longest {
        return text.to_owned();
    }
    if longest >= cut::LEAST_CORE && text.contains('\n') {
        return cut::core(text, longest).into_owned();
    }
    let tail = longest / 4;
    let head: String = text.chars().take(longest - tail - 1).collect();
    let tail: String = text.chars().skip(whole - tail).collect();
    format!("{head}…{tail}")
}

/// What stands for members that were left out of an object and elements of an array.
const MEMBERS: &str = r#""…":"…""#;
const ELEMENTS: &str = r#""…""#;

/// The first members and elements that fit, and every bracket closed.
fn truncated(text: &str, most: usize) -> String {
    let mut open: Vec<u8> = Vec::new();
    let (mut best, mut letters, mut at) = (0, 0, 0);
    let bytes = text.as_bytes();
    // The mark with a comma, and a bracket each.
    let fits = |letters: usize, open: &[u8]| letters + open.len() + cut::length(MEMBERS) < most;
    while at < bytes.len() && letters < most {
        let start = at;
        let mut is_place = false;
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                is_place = bytes.get(at) != Some(&b':');
            }
            b'{' | b'[' => {
                open.push(bytes[at]);
                at += 1;
                is_place = true;
            }
            b'}' | b']' => {
                open.pop();
                at += 1;
                is_place = true;
            }
            b',' | b':' => at += 1,
            _ => {
                while at < bytes.len() && !matches!(bytes[at], b',' | b':' | b'}' | b']') {
                    at += 1;
                }
                is_place = true;
            }
        }
        letters += cut::length(&text[start..at]);
        if is_place && !open.is_empty() && fits(letters, &open) {
            best = at;
        }
    }
    closed(&text[..best])
}

/// A beginning that ends behind a value or a bracket, with a mark for what follows and every bracket closed.
fn closed(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' | b'[' => open.push(bytes[at]),
            b'}' | b']' => {
                open.pop();
            }
            _ => {}
        }
        at += 1;
    }
    if open.is_empty() {
        return ELEMENTS.to_owned();
    }
    let mut out = text.to_owned();
    if !text.ends_with(['{', '[']) {
        out.push(',');
    }
    out.push_str(if open.last() == Some(&b'{') { MEMBERS } else { ELEMENTS });
    out.extend(
        open.iter()
            .rev()
            .map(|bracket| if *bracket == b'{' { '}' } else { ']' }),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[test]
    fn cut_json_is_json() {
        let body = "fn main() {}\\n".repeat(90);
        let long_key = "k".repeat(900);
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        for text in [
            format!(r#"{{ "path": "/a.rs", "content": "{body}", "last": null }}"#),
            format!(r#"{{"{long_key}": 1, "b": 2}}"#),
            format!("[{}1]", "12345, ".repeat(300)),
            format!(r#"{{"a":[{{"x":"{body}"}},{{"y":"{body}"}}],"b":{{"c":"{body}"}}}}"#),
            format!("[{}]", r#""é\u0000\"x","#.repeat(200).trim_end_matches(',')),
            deep,
            format!("[{}]", "9".repeat(800)),
        ] {
            for most in [40, 150, 400] {
                let short = fit(&text, most);
                assert!(json::value(&short).is_ok(), "{most}: {short}");
                assert!(cut::length(&short) <= most, "{most}: {} {short}", cut::length(&short));
            }
        }
        let short = fit(&format!(r#"{{ "path": "/a.rs", "content": "{body}" }}"#), 400);
        assert!(short.starts_with(r#"{"path":"/a.rs","content":"fn main()"#), "{short}");
    }

    proptest! {
        #[test]
        fn any_json_stays_json(strings in prop::collection::vec(any::<String>(), 0..20), most in 30usize..300) {
            let members: Vec<String> = strings
                .iter()
                .enumerate()
                .map(|(index, text)| format!("{}:[{},{{{}:{index}}}]", json::quote(&format!("{index}")), json::quote(text), json::quote(text)))
                .collect();
            let short = fit(&format!("{{{}}}", members.join(",")), most);
            prop_assert!(json::value(&short).is_ok(), "{}", short);
            prop_assert!(cut::length(&short) <= most);
        }
    }
}
