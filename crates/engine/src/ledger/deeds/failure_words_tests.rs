//! Which lines report a failure, and which only speak of one.

use super::*;

#[test]
fn marks_of_failure() {
    for line in [
        "[FAIL] disk is nearly full",
        "checksum of part-003.bin: MISMATCH",
        "verify ........ FAILED",
        "ERROR payments: gateway gave up",
        "postgres: FATAL:  no role",
        "level=error msg=\"no leader\"",
        "{\"status\": \"failed\", \"id\": 7}",
        "{\"ok\": false}",
        "{\"error\":\"upstream_gone\",\"code\":E15}",
        "HTTP/1.1 503 Service Unavailable",
        "HTTP/2 404",
        "status code: 502",
        "\"POST /orders HTTP/1.1\" 500 12",
        "< 429 Too Many Requests",
        "** (RuntimeError) no pool",
        "PHP Fatal error:  Uncaught Error: no",
        "Unhandled exception. System.IO.IOException: gone",
        "app.rb:3:in 'run': bad id (ArgumentError)",
        "java.io.IOException: closed",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "ERR_NO_ROOM: all taken",
        "task killed: SIGKILL",
        "❌ deploy",
        "result=failed",
    ] {
        assert_eq!(strength(line), Some(Strength::Mark), "{line}");
    }
}

#[test]
fn words_of_failure() {
    for line in [
        "verify mismatch at block 7",
        "could not extend file base/1: no room",
        "payment refused: code 3",
        "cp: cannot create regular file 'x': Permission denied",
        "read: connection reset by peer",
        "image base:78 not found",
        "fork: Out of memory",
        "upload timed out after 30 s",
        "! remote rejected",
        "the transfer was aborted",
        "totals are off by 20.10 in 3 accounts",
        "не удалось подключиться к базе",
        "Zugriff verweigert",
    ] {
        assert_eq!(strength(line), Some(Strength::Words), "{line}");
    }
}

#[test]
fn what_only_speaks_of_failure() {
    for line in [
        "banner = '*** FAIL: it leaked ***'",
        "0 errors, 2 warnings",
        "no failures",
        "failed: 0",
        "errors=0 timeouts=0",
        "added error handling to the client",
        "internal/errors.go",
        "src/error.rs | 3 +-",
        "[main 1a2b3c4] fix: connection refused on retry",
        "1a2b3c4 handle the failed upload",
        "✓ returns 404 when not found (3 ms)",
        "test rejects_invalid_token ... ok",
        "--- PASS: TestTimeout (0.1s)",
        "if err != nil { return fmt.Errorf(\"failed\") }",
        "raise ValueError('not found')",
        "// could not happen",
        "+ log.error(\"denied\")",
        "## When an upload failed",
        "- retries when the request timed out",
        "INFO retry after the request failed",
        "request timeout = 30",
        "Compiling error-chain v0.12",
        "12: could not be shown",
        "did it fail, or was it refused?",
        "\"error\": null, \"x\": 1",
        "drwxr-xr-x 2 u u 4096 failed",
        "",
    ] {
        assert_eq!(strength(line), None, "{line}");
    }
}

#[test]
fn code_that_is_shown_is_told_from_reports() {
    let code = "fn open() {\n    let file = read();\n    return Err(\"failed\");\n}\n".repeat(5);
    assert!(is_shown_text(&code));
    let report = "copied part 3 of 9\nchecked the sum\n".repeat(10) + "could not extend file: no room\n";
    assert!(!is_shown_text(&report) && !is_shown_text("fn a() {}"));
}
