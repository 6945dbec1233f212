//! What is found in the outputs of runners, compilers and programs.

use super::*;

fn said(output: &str) -> Vec<String> {
    let report = read(output);
    let spell = |failure: &Failure| match (&failure.test, &failure.file) {
        (Some(test), _) => format!("test {test}"),
        (None, Some(file)) => format!("{file} | {}", failure.line),
        (None, None) => failure.line.clone(),
    };
    report.failures.iter().map(spell).collect()
}

#[test]
fn failing_tests_of_all_runners() {
    for (output, expected) in [
        (
            "test auth::tests::refuses ... FAILED\ntest a::b ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored",
            "test auth::tests::refuses",
        ),
        (
            "=== RUN TestA\n--- FAIL: TestA (0.00s)\nFAIL\tpkg/x\t0.3s",
            "test TestA",
        ),
        (
            "FAILED tests/a.py::test_b - AssertionError: x\n=== 1 failed, 3 passed in 0.1s ===",
            "test tests/a.py::test_b",
        ),
        ("FAIL: test_x (mod.Case)\nFAILED (failures=1)", "test test_x"),
        ("[  FAILED  ] Suite.Case (3 ms)", "test Suite.Case"),
        ("not ok 3 - adds numbers", "test adds numbers"),
        ("  ✕ renders (12 ms)", "test renders"),
        ("FAIL src/a.test.ts", "test src/a.test.ts"),
        ("  ● Suite › adds", "test Suite › adds"),
    ] {
        assert_eq!(said(output), [expected], "{output}");
    }
}

#[test]
fn errors_with_their_places() {
    for (output, expected) in [
        (
            "error[E0308]: mismatched types\n  --> src/a.rs:3:5\n   |",
            "src/a.rs | error[E0308]: mismatched types (src/a.rs:3:5)",
        ),
        (
            "src/x.c:12:3: error: expected ';'",
            "src/x.c | src/x.c:12:3: error: expected ';'",
        ),
        ("./a.go:7:2: undefined: foo", "./a.go | ./a.go:7:2: undefined: foo"),
        (
            "src/a.ts(3,4): error TS2304: Cannot find name 'x'.",
            "src/a.ts | src/a.ts(3,4): error TS2304: Cannot find name 'x'.",
        ),
        (
            "src/a.ts:3:4 - error TS2304: no",
            "src/a.ts | src/a.ts:3:4 - error TS2304: no",
        ),
        (
            "Traceback (most recent call last):\n  File \"/r/a.py\", line 3, in <module>\n    f()\n  File \"/usr/lib/python3/x.py\", line 1, in f\nValueError: bad 3",
            "/r/a.py | ValueError: bad 3",
        ),
        (
            "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds",
            "src/main.rs | index out of bounds",
        ),
        ("panic: runtime error: nil", "panic: runtime error: nil"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        (
            "cat: x.txt: No such file or directory",
            "cat: x.txt: No such file or directory",
        ),
        ("fatal: not a git repository", "fatal: not a git repository"),
        (
            "/r/a.js\n  12:3  error  'x' is unused  no-unused-vars",
            "/r/a.js | /r/a.js:12:3 error 'x' is unused no-unused-vars",
        ),
    ] {
        assert_eq!(said(output), [expected], "{output}");
    }
}

#[test]
fn what_went_well_is_no_failure() {
    for output in [
        "test result: ok. 3 passed; 0 failed; 0 ignored",
        "ok  \tpkg/x\t0.5s",
        "=== 12 passed in 0.3s ===",
        "src/a.rs:3:5: warning: unused",
        "Compiling error-chain v0.12",
        "added error handling to a",
        "0 errors, 2 warnings",
        "Error: (none)",
        "",
    ] {
        assert!(!read(output).is_failing(), "{output}: {:?}", said(output));
    }
    assert!(read("test result: ok. 3 passed; 0 failed").has_tests);
    assert_eq!(
        read("test a ... ok\n--- PASS: TestB (0.1s)\na.py::c PASSED [ 3%]").passed,
        ["a", "TestB", "a.py::c"]
    );
}

#[test]
fn repeats_and_numbers_are_one_error() {
    assert_eq!(mask("at 12:03:04 id deadbeef01 took 33 ms"), "at # id # took # ms");
    assert_eq!(mask("error[E0308]: storeV2 x"), "error[E0308]: storeV2 x");
    let report = read("Error: timeout after 3s\nError: timeout after 5s");
    assert_eq!(report.failures.len(), 1);
    assert_eq!(read(&"test a ... FAILED\n".repeat(50)).failures.len(), 1);
    let many: String = (0..50)
        .map(|n| format!("--- FAIL: Test{}x (0s)\n", "y".repeat(n)))
        .collect();
    let report = read(&many);
    assert_eq!(report.failures.len(), 12);
    assert!(read("test a ... FAILED\ntest b ... FAILED\n").telling().unwrap() == "2 failed: a, b");
}

#[test]
fn the_cause_is_told_and_not_the_line_that_announces_it() {
    for (output, expected) in [
        (
            "FAILURE: Build failed with an exception.\n* What went wrong: no toolchain 17",
            "no toolchain 17",
        ),
        (
            "FAILURE: Build failed with an exception.\n* What went wrong:\nExecution failed for task ':app:lint'.",
            "Execution failed for task ':app:lint'.",
        ),
        (
            "HTTP/1.1 503 Service Unavailable\ncontent-type: application/json\n\n{\"code\":\"QUOTA_9\"}",
            "HTTP/1.1 503 Service Unavailable — code: QUOTA_9",
        ),
        (
            "HTTP/1.1 502 Bad Gateway\nserver: x\n\n<html>",
            "HTTP/1.1 502 Bad Gateway",
        ),
        (
            "collected 3 items\n\nE       AssertionError: QUOTA_9\n",
            "E AssertionError: QUOTA_9",
        ),
    ] {
        assert_eq!(said(output), [expected], "{output}");
    }
    let output = "test closes ... FAILED\n\nfailures:\n\n---- closes stdout ----\nthread 'closes' panicked: left QUOTA_9, right 0\n";
    assert!(read(output).failures[0].line.contains("QUOTA_9"), "{:?}", read(output));
    let counted = read("E       AssertionError: QUOTA_9\n\n1 failed, 13 passed in 2.31s").telling();
    assert_eq!(
        counted.as_deref(),
        Some("13 passed, 1 failed: E AssertionError: QUOTA_9")
    );
}

#[test]
fn an_answer_that_failed_swallows_no_error_behind_it() {
    assert_eq!(
        said("HTTP/1.1 404 Not Found\nserver: x\nerror: upload aborted"),
        ["HTTP/1.1 404 Not Found", "error: upload aborted"]
    );
    assert_eq!(
        said("HTTP/1.1 404 Not Found\nHTTP/1.1 200 OK\nfine"),
        ["HTTP/1.1 404 Not Found"]
    );
}

#[test]
fn an_echo_is_told_where_nothing_else_is() {
    for (output, expected) in [
        (
            "npm ERR! code ERESOLVE\nnpm ERR! Lifecycle script `build` failed",
            "npm ERR! code ERESOLVE",
        ),
        (
            "npm ERR! code ELIFECYCLE\nnpm ERR! Lifecycle script `build` failed",
            "npm ERR! Lifecycle script `build` failed",
        ),
        ("error: could not compile `x`", "error: could not compile `x`"),
        (
            "src/x.c:12:3: error: expected ';'\nerror: could not compile `x`",
            "src/x.c | src/x.c:12:3: error: expected ';'",
        ),
    ] {
        assert_eq!(said(output), [expected], "{output}");
    }
}
