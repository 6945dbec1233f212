//! Lines of many tools, and what they are.

use super::*;

#[test]
fn reports_of_many_tools_are_told() {
    let reports = [
        "error: could not find `x`",
        "error[E0308]: mismatched types",
        "src/main.c:3:5: error: expected ';'",
        "src/a.ts(14,5): error TS7006: Parameter",
        "Program.cs(3,1): error CS1002: ; expected",
        "Error: Cannot find module 'x'",
        "fatal: not a git repository",
        "panic: runtime error: index out of range",
        "thread 'main' panicked at src/main.rs:3:5:",
        "Traceback (most recent call last):",
        "ValueError: invalid literal for int()",
        "java.lang.NullPointerException: Cannot invoke",
        "Caused by: java.io.IOException: closed",
        "2024-01-01 10:00:00 ERROR db: lost",
        "npm ERR! code ELIFECYCLE",
        "E1101 10:22:33.1 1 main.go:1] bad",
        "[ERROR] Failed to execute goal",
        "time=x level=error msg=bad",
        "FAILED tests/test_a.py::test_x - assert 1 == 2",
        "test tests::adds ... FAILED",
        "--- FAIL: TestAdd (0.00s)",
        "FAIL\texample.com/pkg\t0.01s",
        "FAIL src/a.test.ts",
        "not ok 3 - adds",
        "  ✕ adds numbers (5 ms)",
        " × adds numbers",
        "  ● Calculator › adds",
        "    1) adds numbers",
        "rspec ./spec/a_spec.rb:4 # A adds",
        "---- tests::adds stdout ----",
        "E       assert 1 == 2",
        "  3/12 Test  #3: adds ...............***Failed    0.01 sec",
        "[ERROR] Tests run: 3, Failures: 1, Errors: 0 <<< FAILURE! - in com.x.ATest",
        "CalculatorTest > adds FAILED",
        "bash: foo: command not found",
        "Segmentation fault (core dumped)",
        "make: *** [Makefile:3: all] Error 2 FAILED",
    ];
    for line in reports {
        assert!(is_report(line), "{line}");
    }
}

#[test]
fn absence_and_plain_lines_are_none() {
    for line in [
        "0 errors, 0 warnings",
        "no errors found",
        "failed: 0",
        r#"{"error":null}"#,
        "a terror struck",
        "let x = 1;",
    ] {
        assert!(!is_mention(line), "{line}");
    }
    assert!(is_mention("0 failed, 1 error"));
    assert!(is_mention("an error was seen"));
    assert!(!is_report("an error was seen"));
}

#[test]
fn summaries_of_many_tools_are_told() {
    for line in [
        "test result: FAILED. 3 passed; 1 failed; 0 ignored",
        "==== 1 failed, 3 passed in 0.12s ====",
        "Tests:       1 failed, 3 passed, 4 total",
        " Test Files  1 failed | 3 passed (4)",
        "Tests run: 4, Failures: 1, Errors: 0, Skipped: 0",
        "  3 passing (12ms)",
        "4 examples, 1 failure",
        "75% tests passed, 1 tests failed out of 4",
        "Ran 4 tests in 0.001s",
        "ok  \texample.com/pkg\t0.012s",
        "BUILD FAILED in 3s",
        "    Finished `dev` profile [unoptimized] target(s) in 3.2s",
        "Process exited with code 1",
        "exit status 2",
        "added 214 packages in 3s",
        "✖ 12 problems (3 errors, 9 warnings)",
        " 3 files changed, 12 insertions(+)",
    ] {
        assert!(is_summary(line), "{line}");
    }
    assert!(!is_summary("let exit = 3;"));
}

#[test]
fn places_and_warnings_are_told() {
    for line in ["see src/a.rs", "./x/y", "main.go:12", "at https://a.b/c"] {
        assert!(is_place(line), "{line}");
    }
    assert!(!is_place("and or"));
    for line in ["warning: unused", "WARN slow", "a.c:1:2: warning: x", "level=warning"] {
        assert!(is_warning(line), "{line}");
    }
}
