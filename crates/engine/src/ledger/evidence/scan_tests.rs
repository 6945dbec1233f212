//! The scanner, on examples of every class and on any text.

use proptest::prelude::*;

use super::*;

fn classes(text: &str) -> Vec<(&str, Class)> {
    scan(text)
        .into_iter()
        .map(|found| (&text[found.range], found.class))
        .collect()
}

#[test]
fn every_class_is_found() {
    for (text, expected) in [
        (
            "see https://example.com/a?b=c).",
            vec![("https://example.com/a?b=c", Class::Url)],
        ),
        (
            "in ./src/main.rs:12 and ~/notes",
            vec![("./src/main.rs", Class::Path), ("~/notes", Class::Path)],
        ),
        (
            "Cargo.lock, go-1.22.md.",
            vec![("Cargo.lock", Class::Path), ("go-1.22.md", Class::Path)],
        ),
        (
            "commit 4f2a9c1 of #1234",
            vec![
                ("4f2a9c1", Class::Record),
                ("#1234", Class::Record),
                ("1234", Class::Number),
            ],
        ),
        ("booking HAT204", vec![("HAT204", Class::Record)]),
        (
            "call parse_header on HttpRequest",
            vec![("parse_header", Class::Symbol), ("HttpRequest", Class::Symbol)],
        ),
        (
            "closeStdin and strings.HasPrefix",
            vec![("closeStdin", Class::Symbol), ("strings.HasPrefix", Class::Symbol)],
        ),
        ("git log --oneline --no", vec![("--oneline", Class::Symbol)]),
        (
            "at 10:30:05 on 2024-05-15, v1.2.3, port 8080",
            vec![
                ("10:30:05", Class::Number),
                ("2024-05-15", Class::Number),
                ("8080", Class::Number),
            ],
        ),
        ("plain words, a/b, is_a, 42 and __init__", vec![]),
        (
            "“file_path” — «имя_файла» naïve_name",
            vec![("file_path", Class::Symbol)],
        ),
    ] {
        assert_eq!(classes(text), expected, "{text}");
    }
}

#[test]
fn what_a_path_covers_is_not_searched_again() {
    assert_eq!(
        classes("/usr/lib/some_library/v1.2.3/abc1234"),
        [("/usr/lib/some_library/v1.2.3/abc1234", Class::Path)]
    );
}

#[test]
fn hostile_runs_take_linear_time() {
    for unit in [
        "a.", "a/", "https://", "--", "0-", "a_", "~/", "Aa", "\\n", "é", "a.rs", "#1",
    ] {
        let text = unit.repeat(200_000);
        let found = scan(&text);
        assert!(found.len() <= text.len());
    }
}

proptest! {
    #[test]
    fn anything_can_be_scanned(text in "\\PC{0,200}") {
        let mut start = 0;
        for found in scan(&text) {
            prop_assert!(found.range.start >= start && text.get(found.range.clone()).is_some_and(|one| one.len() >= 3));
            start = found.range.start;
        }
    }
}
