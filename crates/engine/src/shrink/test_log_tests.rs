//! Runs as test runners print them, and what must be left of each.

use super::super::ContentKind;
use super::super::proof::check;
use super::super::proof::repeat;

#[test]
fn cargo_test() {
    let text = format!(
        "   Compiling sums v0.1.0 (/src/sums)\n    Finished `test` profile in 1.2s\n     Running unittests src/lib.rs (target/debug/deps/sums-1a2b)\n\nrunning 302 tests\n{}test tests::adds ... FAILED\ntest tests::slow ... ignored\n\nfailures:\n\n---- tests::adds stdout ----\n\nthread 'tests::adds' (77) panicked at src/lib.rs:41:9:\nassertion `left == right` failed: sums differ\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1`\n\n\nfailures:\n    tests::adds\n\ntest result: FAILED. 300 passed; 1 failed; 1 ignored; 0 measured\n\nerror: test failed, to rerun pass `--lib`",
        repeat(300, |n| format!("test tests::parses_{n} ... ok"))
    );
    let kept = [
        "test tests::adds ... FAILED",
        "---- tests::adds stdout ----",
        "panicked at src/lib.rs:41:9:\nassertion `left == right` failed: sums differ\n  left: 3\n right: 4",
        "test result: FAILED. 300 passed; 1 failed; 1 ignored",
        "error: test failed, to rerun pass `--lib`",
        "⟦… 300 lines dropped: passing tests⟧",
        "running 302 tests",
    ];
    check(ContentKind::TestLog, &text, 1500, &kept);
    // Failures stay where the goal is out of reach.
    check(ContentKind::TestLog, &text, 100, &kept[..5]);
}

#[test]
fn pytest() {
    let text = format!(
        "============================= test session starts ==============================\nplatform linux -- Python 3.12.1\ncollected 202 items\n\n{}tests/test_sums.py::test_adds[7-8] FAILED                    [ 99%]\n\n=================================== FAILURES ===================================\n_______________________________ test_adds[7-8] _________________________________\n\na = 7, b = 8\n\n    def test_adds(a, b):\n>       assert add(a, b) == 15\nE       assert 14 == 15\nE        +  where 14 = add(7, 8)\n\ntests/test_sums.py:12: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_sums.py::test_adds[7-8] - assert 14 == 15\n======================== 1 failed, 201 passed in 0.42s =========================",
        repeat(201, |n| format!(
            "tests/test_sums.py::test_parses[{n}] PASSED            [ {:2}%]",
            n / 3
        ))
    );
    let kept = [
        "tests/test_sums.py::test_adds[7-8] FAILED",
        "E       assert 14 == 15",
        ">       assert add(a, b) == 15",
        "tests/test_sums.py:12: AssertionError",
        "FAILED tests/test_sums.py::test_adds[7-8] - assert 14 == 15",
        "1 failed, 201 passed in 0.42s",
    ];
    check(ContentKind::TestLog, &text, 1500, &kept);
}

#[test]
fn jest_vitest_and_mocha() {
    let jest = format!(
        "PASS src/a.test.ts\n{}FAIL src/b.test.ts\n  sums\n    ✓ adds (2 ms)\n    ✕ subtracts (4 ms)\n\n  ● sums › subtracts\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 1\n    Received: 2\n\n      at Object.<anonymous> (src/b.test.ts:9:15)\n\nTest Suites: 1 failed, 90 passed, 91 total\nTests:       1 failed, 400 passed, 401 total\nTime:        3.2 s",
        repeat(90, |n| format!("PASS src/components/part-{n}.test.ts"))
    );
    let kept = [
        "FAIL src/b.test.ts",
        "✕ subtracts (4 ms)",
        "● sums › subtracts",
        "Expected: 1\n    Received: 2",
        "src/b.test.ts:9:15",
        "Tests:       1 failed, 400 passed, 401 total",
    ];
    check(ContentKind::TestLog, &jest, 800, &kept);
    let vitest = format!(
        " RUN  v1.2.0 /app\n\n{} ❯ src/b.test.ts (2 tests | 1 failed) 5ms\n   × sums > subtracts\n     → expected 2 to be 1\n\n FAIL  src/b.test.ts > sums > subtracts\nAssertionError: expected 2 to be 1\n ❯ src/b.test.ts:9:15\n\n Test Files  1 failed | 90 passed (91)\n      Tests  1 failed | 400 passed (401)",
        repeat(90, |n| format!(" ✓ src/part-{n}.test.ts (4 tests) 3ms"))
    );
    let kept = [
        "× sums > subtracts",
        "FAIL  src/b.test.ts > sums > subtracts",
        "AssertionError: expected 2 to be 1",
        "Tests  1 failed | 400 passed",
    ];
    check(ContentKind::TestLog, &vitest, 600, &kept);
    let mocha = format!(
        "  sums\n{}    1) subtracts\n\n  200 passing (30ms)\n  1 failing\n\n  1) sums\n       subtracts:\n     AssertionError [ERR_ASSERTION]: 2 == 1\n      at Context.<anonymous> (test/b.js:9:14)",
        repeat(200, |n| format!("    ✔ adds {n}"))
    );
    check(
        ContentKind::TestLog,
        &mocha,
        400,
        &[
            "    1) subtracts",
            "200 passing (30ms)",
            "AssertionError [ERR_ASSERTION]: 2 == 1",
        ],
    );
}

#[test]
fn go_maven_gradle_rspec_ctest_and_tap() {
    let go = format!(
        "{}=== RUN   TestAdd/seven\n    sum_test.go:12: got 14, want 15\n--- FAIL: TestAdd (0.00s)\n    --- FAIL: TestAdd/seven (0.00s)\nFAIL\nFAIL\texample.com/sum\t0.004s\nok  \texample.com/other\t0.010s\nFAIL",
        repeat(150, |n| format!(
            "=== RUN   TestParse{n}\n--- PASS: TestParse{n} (0.00s)"
        ))
    );
    let kept = [
        "sum_test.go:12: got 14, want 15",
        "--- FAIL: TestAdd (0.00s)",
        "--- FAIL: TestAdd/seven (0.00s)",
        "FAIL\texample.com/sum\t0.004s",
    ];
    check(ContentKind::TestLog, &go, 500, &kept);
    let maven = format!(
        "[INFO] Scanning for projects...\n{}[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in com.acme.SumTest\n[ERROR] com.acme.SumTest.adds  Time elapsed: 0.01 s  <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <15> but was: <14>\n\tat com.acme.SumTest.adds(SumTest.java:12)\n\n[ERROR] Tests run: 404, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE\n[INFO] Total time:  4.2 s",
        repeat(100, |n| format!(
            "[INFO] Running com.acme.Part{n}Test\n[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in com.acme.Part{n}Test"
        ))
    );
    let kept = [
        "com.acme.SumTest.adds  Time elapsed: 0.01 s  <<< FAILURE!",
        "expected: <15> but was: <14>",
        "[ERROR] Tests run: 404, Failures: 1",
        "BUILD FAILURE",
    ];
    check(ContentKind::TestLog, &maven, 900, &kept);
    let gradle = format!(
        "> Task :compileJava UP-TO-DATE\n> Task :test FAILED\n{}SumTest > adds() FAILED\n    org.opentest4j.AssertionFailedError at SumTest.java:12\n\n101 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\n* What went wrong:\nExecution failed for task ':test'.\n\nBUILD FAILED in 3s",
        repeat(100, |n| format!("PartTest > parses{n}() PASSED"))
    );
    check(
        ContentKind::TestLog,
        &gradle,
        500,
        &[
            "SumTest > adds() FAILED",
            "101 tests completed, 1 failed",
            "BUILD FAILED in 3s",
            "Execution failed for task ':test'.",
        ],
    );
    let rspec = format!(
        "Sums\n{}  adds (FAILED - 1)\n\nFailures:\n\n  1) Sums adds\n     Failure/Error: expect(add(7, 8)).to eq 15\n       expected: 15\n            got: 14\n     # ./spec/sums_spec.rb:9\n\n201 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/sums_spec.rb:8 # Sums adds",
        repeat(200, |n| format!("  parses number {n} well"))
    );
    check(
        ContentKind::TestLog,
        &rspec,
        600,
        &[
            "adds (FAILED - 1)",
            "expected: 15\n            got: 14",
            "201 examples, 1 failure",
            "rspec ./spec/sums_spec.rb:8 # Sums adds",
        ],
    );
    let ctest = format!(
        "Test project /build\n{}201/201 Test #201: adds ......................***Failed    0.01 sec\n\n99% tests passed, 1 tests failed out of 201\n\nThe following tests FAILED:\n\t201 - adds (Failed)\nErrors while running CTest",
        repeat(200, |n| format!(
            "    Start {n}: parses_{n}\n{n}/201 Test #{n}: parses_{n} ......................   Passed    0.01 sec"
        ))
    );
    check(
        ContentKind::TestLog,
        &ctest,
        400,
        &[
            "Test #201: adds ......................***Failed",
            "99% tests passed, 1 tests failed",
            "201 - adds (Failed)",
        ],
    );
    let tap = format!(
        "TAP version 14\n1..301\n{}not ok 301 - adds\n  ---\n  message: sums differ\n  ...\n# tests 301\n# fail 1",
        repeat(300, |n| format!("ok {n} - parses {n}"))
    );
    check(
        ContentKind::TestLog,
        &tap,
        300,
        &["not ok 301 - adds", "message: sums differ", "# fail 1", "1..301"],
    );
}
