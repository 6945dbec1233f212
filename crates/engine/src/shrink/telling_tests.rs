//! Tests for the telling lines of outputs of many makes.

use super::*;

fn line(output: &str) -> String {
    telling_line(output).unwrap_or_default()
}

#[test]
fn failures_come_before_everything_and_headings_are_not_failures() {
    let python = "running\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\nValueError: bad port 99999\n";
    assert_eq!(line(python), "ValueError: bad port 99999");
    let cargo =
        "   Compiling a v0.1.0\nerror[E0308]: mismatched types\n --> src/a.rs:3:5\nerror: could not compile `a`\n";
    assert_eq!(line(cargo), "error[E0308]: mismatched types");
    let tests = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nthread 'b' panicked at src/b.rs:4:5:\nassertion failed: x\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    assert_eq!(line(tests), "test b ... FAILED");
    let three = telling_lines(tests, 3);
    assert_eq!(three.len(), 3);
    assert_eq!(three[2], "test result: FAILED. 1 passed; 1 failed; 0 ignored");
}

#[test]
fn a_good_outcome_is_told_by_its_count_and_an_empty_suite_is_not() {
    let suites = "running 41 tests\n.....\ntest result: ok. 41 passed; 0 failed; finished in 1.20s\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; finished in 0.00s\n";
    assert_eq!(line(suites), "test result: ok. 41 passed; 0 failed; finished in 1.20s");
    assert_eq!(
        line("ok  \texample.org/a\t0.51s\nFinished in 1.93s\n"),
        "ok example.org/a 0.51s"
    );
    assert_eq!(line("step one\nstep two\nall copied\n\n"), "all copied");
    assert_eq!(
        line("Exit code: 0\nWall time: 1 s\nOutput:\nall copied\n"),
        "all copied"
    );
    assert_eq!(line("Exit code: 3\nOutput:\nnothing to say\n"), "Exit code: 3");
    assert_eq!(telling_lines("a\nb\nc\nd", 2), ["c", "d"]);
}

#[test]
fn json_is_told_by_its_fields_without_its_punctuation() {
    assert_eq!(
        line(r#"{"data":{"id":17,"name":"web-3"},"error":"disk full","status":"failed","took_ms":12}"#),
        "error: disk full, status: failed, id: 17, name: web-3, took_ms: 12"
    );
    assert_eq!(
        line(r#"{"ok":false,"hint":"log in again"}"#),
        "ok: false, hint: log in again"
    );
    assert_eq!(
        line(r#"{"count":3,"items":[{"n":1},{"n":2},{"n":3}]}"#),
        "count: 3, items: 3 entries"
    );
    assert_eq!(line(r#"{"status":503,"path":"/a"}"#), "status: 503, path: /a");
    assert_eq!(line(r#"{"error":null,"ok":true}"#), "ok: true");
    assert_eq!(
        line(r#"[{"id":1,"body":"use a lock"},{"id":2,"body":"done"}]"#),
        "2 entries, first: id: 1, body: use a lock"
    );
    assert_eq!(line("[]"), "");
}

#[test]
fn rows_that_differ_are_told_by_the_value_that_differs() {
    let rows: Vec<String> = (0..60)
        .map(|n| {
            let state = if n == 37 { "draining" } else { "ready" };
            format!(r#"{{"name":"node-{n}","zone":"a","phase":"{state}"}}"#)
        })
        .collect();
    let json = format!("[{}]", rows.join(","));
    assert_eq!(line(&json), "phase: draining, name: node-37, zone: a");
    assert_eq!(line(&rows.join("\n")), "phase: draining, name: node-37, zone: a");
    let mut table = String::from("NAME      READY   STATUS    RESTARTS\n");
    for n in 0..40 {
        let status = if n == 11 { "Evicted" } else { "Running" };
        table.push_str(&format!("pod-{n:<4}  1/1     {status}   0\n"));
    }
    assert_eq!(line(&table), "pod-11 1/1 Evicted 0");
}

#[test]
fn an_output_inside_json_is_read_as_an_output() {
    let inner = "collected 3 items\\ntests/test_a.py .F.\\nE       AssertionError: 1 != 2\\n==== 1 failed, 2 passed in 0.05s ====";
    let json = format!(
        r#"{{"output":"{inner}{}","exit_code":1,"error":null}}"#,
        "\\n".repeat(100)
    );
    assert_eq!(
        telling_lines(&json, 3),
        ["exit_code: 1", "AssertionError: 1 != 2", "1 failed, 2 passed in 0.05s"]
    );
    assert_eq!(line(&json), "AssertionError: 1 != 2");
}

#[test]
fn content_that_speaks_of_errors_has_not_failed() {
    let code = "     1\tuse std::io;\n     2\t\n     3\tfn main() -> Result<(), Error> {\n     4\t    panic!(\"error: never\");\n     5\t}\n";
    assert_eq!(line(code), "use std::io;");
    assert_eq!(
        opening_line("# Guide\n\nError: what to do when it fails\n").as_deref(),
        Some("# Guide")
    );
}

#[test]
fn lines_stay_short_and_in_order_whatever_comes_in() {
    let long = format!("{}error: disk full {}", "words ".repeat(20), "more ".repeat(900));
    let outputs = [
        "",
        "\u{0}\u{1}",
        "{",
        "⟦pruned⟧",
        "\x1b[31merror\x1b[0m: red",
        &long,
        "\r\r\n",
        "ошибка: нет места",
    ];
    for output in outputs {
        for most in [0, 1, 3, 100] {
            let lines = telling_lines(output, most);
            assert!(lines.len() <= most, "{output:?}");
            assert!(
                lines
                    .iter()
                    .all(|line| line.chars().count() <= 160 && !line.contains('\n')),
                "{output:?}"
            );
        }
    }
    assert_eq!(line("\x1b[31merror\x1b[0m: red"), "error: red");
}
