//! Identifiers as the metric's definition finds them: what its regular expressions gave for the same texts.

use proptest::prelude::*;

use super::*;

/// Finds, and expects the classes in their order with their names parted by blanks.
fn check(text: &str, expected: &[(&str, &str)]) {
    let found = find(text);
    let mut by_class: Vec<(&str, String)> = Vec::new();
    for (name, class) in &found {
        match by_class.last_mut().filter(|last| last.0 == class.name()) {
            Some(last) => last.1.push_str(&format!(" {name}")),
            None => by_class.push((class.name(), name.to_string())),
        }
    }
    let found: Vec<(&str, &str)> = by_class.iter().map(|(class, names)| (*class, names.as_str())).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn paths_and_file_names() {
    check(
        "open src/auth.rs, see issue #142",
        &[("path", "src/auth.rs"), ("id", "#142"), ("number", "142")],
    );
    check(
        "~/x/y.z ./a/b ../c/dd a//bb/cc foo~/bar",
        &[("path", "../c/dd /bb/cc ~/bar")],
    );
    // Boundaries follow Unicode: an accented letter before a name belongs to the word.
    check(
        "a.b.py x.tsx y.tsq README.md-old émain.py -foo.md --foo.md .env.local @x.go+y.rs",
        &[("path", "a.b.py x.tsx README.md foo.md"), ("symbol", "env.local")],
    );
}

#[test]
fn addresses_end_before_closing_punctuation() {
    check(
        "see https://a.example/x?y=1). and (http://b.example/ж)",
        &[("url", "https://a.example/x?y=1 http://b.example/ж")],
    );
    check("http:// https://\u{1d}x httphttp://a.b", &[("url", "http://a.b")]);
}

#[test]
fn ids_are_whole_words_with_letters_and_digits() {
    check(
        "commit 3f2a9bc DEADBEEF12 abcdefa deadbeef1 AB12C ABCDE 12345678-abcd-1234-abcd-1234567890ab",
        &[
            (
                "id",
                "3f2a9bc DEADBEEF12 deadbeef1 AB12C 12345678-abcd-1234-abcd-1234567890ab",
            ),
            ("number", "12345678 1234"),
        ],
    );
    // A UUID whose first group is an id by itself is taken apart, as the expression's order has it.
    check(
        "a1234567-abcd-1234-abcd-1234567890ab",
        &[("id", "a1234567 1234567890ab"), ("number", "1234")],
    );
    check(
        "#12 #1 #1234567 #123a #٣٣ x#55",
        &[("id", "#12 #٣٣ #55"), ("number", "1234567")],
    );
}

#[test]
fn symbols_of_code_and_flags() {
    check(
        "snake_case __init__ a_b a_b_ camelCase Camel CamelCase CamelCAse XMLHttp abc.def.ghi ab.cde abc.de",
        &[("symbol", "snake_case camelCase CamelCase abc.def.ghi")],
    );
    check(
        "foo_bar.baz_qux --long-flag --foo ---foo-bar --foooBar --fooo_Bar",
        &[("symbol", "foo_bar baz_qux --long-flag --foo-bar --fooo")],
    );
}

#[test]
fn numbers_versions_and_dates() {
    check(
        "v1.2.3 2024-01-02 10:30:00 1.2.3.4.5 12345 12345.6 1-2-3-4-567 99",
        &[("number", "2024-01-02 10:30:00 1.2.3.4 12345 1-2-3-4 567")],
    );
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(text in "(?s)[a-fA-F0-9_./~@+#: éж٣²\u{301}漢\\-\n]{0,60}") {
        for (name, class) in find(&text) {
            prop_assert!(text.contains(&*name), "{} {name:?}", class.name());
        }
    }
}
