//! What a glance finds, and what it refuses.

use super::*;

fn glance(text: &str) -> Option<Glance> {
    Glance::of(WireForm::Chat, text.as_bytes())
}

#[test]
fn fields_and_elements_stand_where_a_reader_finds_them() {
    let text =
        r#" { "model" : "m\u0031" ,"messages":[ {"a":"]},\"{"} ,"x", 12e3,[[]],null] , "n":-1.50,"stream":true}  "#;
    let glance = glance(text).unwrap();
    let elements: Vec<&str> = glance.elements.iter().map(|range| &text[range.clone()]).collect();
    assert_eq!(elements, [r#"{"a":"]},\"{"}"#, "\"x\"", "12e3", "[[]]", "null"]);
    assert_eq!(glance.value(text.as_bytes(), "n"), Some(&b"-1.50"[..]));
    assert_eq!(glance.text(text.as_bytes(), "model"), None, "an escape is not decoded");
    assert_eq!(glance.value(text.as_bytes(), "stream"), Some(&b"true"[..]));
    assert_eq!(&text[glance.list.start - 1..glance.list.start], "[");
    assert_eq!(&text[glance.list.end..glance.list.end + 1], "]");
}

#[test]
fn what_two_readers_could_take_for_different_things_is_refused() {
    for text in [
        r#"{"messages":[],"messages":[1]}"#,
        r#"{"m\u0065ssages":[1],"messages":[]}"#,
        r#"{"messages":[]} {"messages":[1]}"#,
        r#"{"messages":{}}"#,
        r#"{"messages":"[]"}"#,
        r#"{"other":[]}"#,
        r#"[{"messages":[]}]"#,
        "",
    ] {
        assert_eq!(glance(text), None, "{text}");
    }
}

#[test]
fn a_body_that_is_cut_anywhere_is_refused() {
    let text = r#"{"model":"m","messages":[{"role":"user","content":"a\"b"},{"x":[1,{"y":"\\"}]}],"n":1}"#;
    assert!(glance(text).is_some());
    for end in 0..text.len() {
        assert_eq!(glance(&text[..end]), None, "{}", &text[..end]);
    }
}

#[test]
fn nesting_costs_no_stack() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let text = format!(r#"{{"messages":[{deep},1]}}"#);
    assert_eq!(glance(&text).unwrap().elements.len(), 2);
}
