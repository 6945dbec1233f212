//! JSON texts changed in one place: every other member stays as it is spelled and where it is.

use mainstay_engine::json;
use mainstay_engine::json::Object;

/// An object with some members set, or left out where nothing is given. What was not there comes last. `None` where the text
/// is no object.
pub(super) fn edited(text: &str, changes: &[(&str, Option<&str>)]) -> Option<String> {
    let object = Object::parse(text).ok()?;
    let mut done = vec![false; changes.len()];
    let mut out = String::with_capacity(text.len());
    let mut put = |name: &str, value: &str| {
        out.push(if out.is_empty() { '{' } else { ',' });
        out.push_str(name);
        out.push(':');
        out.push_str(value);
    };
    for (name, value) in object.raw_members() {
        let plain = json::text(name).unwrap_or_default();
        let Some(which) = changes.iter().position(|(key, _)| *key == &*plain) else {
            put(name.get(), value.get());
            continue;
        };
        // Of repeated keys only one is left.
        let is_repeated = std::mem::replace(&mut done[which], true);
        if let Some(new) = changes[which].1.filter(|_| !is_repeated) {
            put(name.get(), new);
        }
    }
    for ((key, value), done) in changes.iter().zip(&done) {
        if let Some(new) = value.filter(|_| !done) {
            put(&json::quote(key), new);
        }
    }
    if out.is_empty() {
        out.push('{');
    }
    out.push('}');
    Some(out)
}

/// The same, or the text itself where it is no object.
pub(super) fn changed(text: &str, changes: &[(&str, Option<&str>)]) -> String {
    edited(text, changes).unwrap_or_else(|| text.to_owned())
}

/// An array of texts.
pub(super) fn list<S: AsRef<str>>(elements: &[S]) -> String {
    let mut out = String::from("[");
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(element.as_ref());
    }
    out.push(']');
    out
}

/// An object with figures raised by so much, as far as they are there.
pub(super) fn raised(text: &str, keys: &[&str], by: u64) -> String {
    let Ok(object) = Object::parse(text) else {
        return text.to_owned();
    };
    let figures: Vec<(&str, String)> = keys
        .iter()
        .filter_map(|key| Some((*key, object.count(key)?.saturating_add(by).to_string())))
        .collect();
    let changes: Vec<(&str, Option<&str>)> = figures
        .iter()
        .map(|(key, figure)| (*key, Some(figure.as_str())))
        .collect();
    changed(text, &changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_changes() {
        let text = r#"{"a": 1.0, "index":3,"b":"\u00e9","index":4 }"#;
        assert_eq!(
            edited(text, &[("index", Some("0")), ("c", Some("[]")), ("d", None)]).as_deref(),
            Some(r#"{"a":1.0,"index":0,"b":"\u00e9","c":[]}"#)
        );
        assert_eq!(edited(r#"{"a":1}"#, &[("a", None)]).as_deref(), Some("{}"));
        assert_eq!(edited("{}", &[("a", Some("1"))]).as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(edited("7", &[]), None);
        assert_eq!(
            raised(r#"{"x":1,"y":null}"#, &["x", "y", "z"], 5),
            r#"{"x":6,"y":null}"#
        );
        assert_eq!(list(&["1", "2"]), "[1,2]");
    }
}
