//! A megabyte of anything ends, does not grow and does not break. No timing: what is not linear does not end.

use mainstay_engine::shrink::Goal;
use mainstay_engine::shrink::kind_of;
use mainstay_engine::shrink::shrink;

use crate::checker::judge;

/// Shrinks a giant, and what is left of it.
fn end(text: &str) -> Option<String> {
    let goal = Goal { most_bytes: 2000 };
    let small = shrink(text, goal)?.text;
    assert!(small.len() < text.len());
    if let Some(again) = shrink(&small, goal) {
        assert!(again.text.len() < small.len());
    }
    Some(small)
}

/// A megabyte of one piece.
fn megabyte(piece: &str) -> String {
    piece.repeat((1 << 20) / piece.len())
}

#[test]
fn a_megabyte_of_one_piece() {
    let pieces = [
        "{\"a\":",
        "[",
        "/",
        " ",
        "\n",
        "\r",
        "\t",
        "a",
        "0",
        "<",
        "<a ",
        "<!--",
        "</",
        "<script>",
        "\x1b[",
        "\x1b]",
        "\x1b]8;;",
        "\\",
        "\"",
        "é",
        "😀",
        "⟦…",
        "⟧",
        "⟦…⟧\n",
        "|",
        ",",
        ":",
        "1:",
        "a:1:",
        "a:1:\n",
        "-\n",
        "+\n",
        "@@ \n",
        "error: ",
        "error: x\n",
        "FAILED\n",
        "ok 1\n",
        "at a.b(C.java:1)\n",
        "\tat a\n",
        "{}\n",
        "{\"a\":1}\n",
        "[1]\n",
        "}{",
        "Aa0",
        "Aa0+/\n",
        "&amp;",
        "a/b.rs\n",
        "a b c d e f g\n",
        "==",
        "\u{0}",
        "=== RUN a\n",
        "--- a\n+++ b\n",
        "├── a\n",
        "\"\\u",
        "\"\\ud83d",
        "0x1f ",
        "1.5e",
        "-",
    ];
    for piece in pieces {
        let small = end(&megabyte(piece));
        let most = if piece.starts_with('⟦') && piece.ends_with('\n') {
            usize::MAX
        } else {
            2200
        };
        assert!(
            small.map_or(usize::MAX, |small| small.len()) <= most,
            "{piece:?} was not shrunk"
        );
    }
}

#[test]
fn a_megabyte_of_depth() {
    for (open, middle, close) in [
        ("[", "1", "]"),
        ("{\"a\":", "1", "}"),
        ("[{\"b\":", "\"error: deep\"", "}]"),
        ("[0,", "2", "]"),
    ] {
        let depth = (1 << 20) / (open.len() + close.len());
        let text = [&open.repeat(depth), middle, &close.repeat(depth)].concat();
        let small = end(&text);
        assert!(small.is_some() || open == "[{\"b\":", "{open} was not shrunk");
        kind_of(&text[..text.len() - 1]);
    }
}

#[test]
fn a_megabyte_of_records_and_lines() {
    let records: Vec<String> = (0..12_000)
        .map(|n| format!("{{\"id\":{n},\"tags\":[\"a\",\"b\"],\"error\":\"e{n}\"}}"))
        .collect();
    judge(&format!("[{}]", records.join(",")), 4000).unwrap();
    judge(&records.join("\n"), 4000).unwrap();
    let errors: String = (0..40_000).map(|n| format!("error: part {n} of {}\n", n * 7)).collect();
    assert!(judge(&errors, 1000).unwrap().text.len() < 1000);
    let one_line = "some words, an Error: here and there; ".repeat(27_000);
    assert!(judge(&one_line, 1000).unwrap().text.len() < 5000);
    let progress: String = (0..50_000).map(|n| format!("fetch {n}/50000 [=>  ]\r")).collect();
    assert!(judge(&progress, 4000).unwrap().text.len() < 50);
}
