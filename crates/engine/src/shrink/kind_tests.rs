//! Small outputs of many tools, and the kind each is taken for.

use super::super::kind_of;
use super::*;

fn expect(kind: ContentKind, texts: &[&str]) {
    for text in texts {
        assert_eq!(kind_of(text), kind, "{text}");
    }
}

#[test]
fn runs_of_tests() {
    expect(
        ContentKind::TestLog,
        &[
            "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed",
            "============ test session starts ============\ncollected 2 items\n\ntests/test_a.py .F   [100%]\n===== 1 failed, 1 passed in 0.1s =====",
            "PASS src/a.test.ts\nFAIL src/b.test.ts\n  ● sums › adds\n\nTests:       1 failed, 3 passed, 4 total",
            " ✓ src/a.test.ts (3 tests) 4ms\n ❯ src/b.test.ts (1 test | 1 failed)\n   × adds\n Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 3 passed (4)",
            "=== RUN   TestAdd\n--- FAIL: TestAdd (0.00s)\n    a_test.go:5: got 3\nFAIL\nFAIL\texample.com/a\t0.01s",
            "[INFO] Running com.x.ATest\n[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n[ERROR]   ATest.adds:12 expected:<1>",
            "> Task :test FAILED\n\nATest > adds() FAILED\n    org.opentest4j.AssertionFailedError\n\n3 tests completed, 1 failed",
            "  Calculator\n    ✓ adds\n    1) subtracts\n\n  1 passing (5ms)\n  1 failing\n",
            "....F.\n\nFailures:\n\n  1) A adds\n\n6 examples, 1 failure\n\nrspec ./spec/a_spec.rb:3 # A adds",
            "TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b",
            "    Start 1: a\n1/2 Test #1: a ....... Passed    0.01 sec\n2/2 Test #2: b .......***Failed  0.01 sec\n50% tests passed, 1 tests failed out of 2",
            "[==========] Running 2 tests\n[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[  FAILED  ] A.c",
            "test_a (t.T) ... ok\ntest_b (t.T) ... FAIL\n\nRan 2 tests in 0.001s\n\nFAILED (failures=1)",
        ],
    );
}

#[test]
fn builds_and_linters() {
    expect(
        ContentKind::BuildLog,
        &[
            "   Compiling a v0.1.0\nerror[E0308]: mismatched types\n --> src/main.rs:2:5\n  |\n2 |     1\n  |     ^ expected `()`\nerror: could not compile `a`",
            "gcc -c a.c\na.c:3:5: error: expected ';'\na.c: In function 'main':\nmake: *** [a.o] Error 1",
            "src/a.ts(1,5): error TS2304: Cannot find name 'x'.\nsrc/b.ts(2,1): error TS2304: Cannot find name 'y'.\nFound 2 errors.",
            "cmd/main.go:49:6: Error return value is not checked (errcheck)\ncmd/main.go:51:2: use of fmt.Println forbidden\ncmd/b.go:5:1: x (y)",
            "npm WARN deprecated x@1\nnpm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve\n",
            "[ 10%] Building C object a.o\n[ 20%] Building C object b.o\n[100%] Linking C executable x",
            "Step 1/3 : FROM alpine\nStep 2/3 : RUN make\n ---> Running in 1234\nStep 3/3 : CMD x\nSuccessfully built abc",
        ],
    );
}

#[test]
fn traces_and_logs() {
    expect(
        ContentKind::StackTrace,
        &[
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n  File \"a.py\", line 2, in f\n    g()\n  File \"b.py\", line 9, in g\nValueError: no",
            "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat com.x.A.b(A.java:3)\n\tat com.x.A.c(A.java:4)\n\tat com.x.A.main(A.java:9)",
            "TypeError: x is not a function\n    at f (/app/a.js:1:2)\n    at g (/app/b.js:3:4)\n    at node:internal/main:5",
            "thread 'main' panicked at src/a.rs:3:5:\nboom\nstack backtrace:\n   0: std::panicking::begin\n   1: core::panic::x\n   2: a::main",
        ],
    );
    expect(
        ContentKind::Log,
        &[
            "2024-05-01T10:00:00Z INFO start\n2024-05-01T10:00:01Z INFO go\n2024-05-01T10:00:02Z ERROR stop",
            "May  1 10:00:00 host sshd[1]: in\nMay  1 10:00:01 host sshd[1]: out\nMay  1 10:00:02 host sshd[1]: in",
            "time=2024 level=info msg=a\ntime=2024 level=info msg=b\ntime=2024 level=error msg=c",
            "[2024-05-01 10:00:00] a\n[2024-05-01 10:00:01] b\n[2024-05-01 10:00:02] c",
            "INFO: a\nINFO: b\nWARN: c\nERROR: d",
        ],
    );
}

#[test]
fn structure() {
    expect(
        ContentKind::Json,
        &["{\"a\": 1}", "  [1,\n2]\n", "Chunk ID: 1\nOutput:\n{\"a\":\n[]}"],
    );
    expect(ContentKind::JsonLines, &["{\"a\":1}\n{\"a\":2}\n", "[1]\n[2]\n\n[3]"]);
    expect(
        ContentKind::Html,
        &[
            "<!DOCTYPE html><html><body>x</body></html>",
            "Address: x\n=====\n<!doctype html>\n<html><p>a</html>",
        ],
    );
    expect(
        ContentKind::Diff,
        &[
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c",
            "--- old.txt\n+++ new.txt\n@@ -1 +1 @@\n-a\n+b",
        ],
    );
}

#[test]
fn hits_listings_and_tables() {
    expect(
        ContentKind::SearchHits,
        &[
            "src/a.rs:1:use b;\nsrc/a.rs:9:fn b() {}\nsrc/c.rs:4:b();",
            "src/a.rs\n1:use b;\n9:fn b() {}\n40:b();\n\nsrc/c.rs\n4:b();\n80:b();",
            "a.py-3-context\na.py:4:hit\na.py-5-context\n--\nb.py:9:hit",
        ],
    );
    expect(
        ContentKind::Listing,
        &[
            "src/a.rs\nsrc/b.rs\nsrc/c/d.rs\nCargo.toml\nREADME.md",
            "./a/b\n./a/c\n./a/d\n./e\n./f/g",
            "total 8\ndrwxr-xr-x 2 me me 4096 Jan  1 10:00 .\n-rw-r--r-- 1 me me 12 Jan  1 10:00 a.txt\n-rw-r--r-- 1 me me 12 Jan  1 10:00 b.txt\n-rw-r--r-- 1 me me 1 Jan  1 10:00 c",
            ".\n├── a.rs\n├── b\n│   └── c.rs\n└── d.toml\n",
        ],
    );
    expect(
        ContentKind::Table,
        &[
            "id,name,status\n1,a,ok\n2,b,ok\n3,c,bad",
            "| id | name |\n|----|------|\n| 1 | a |\n| 2 | b |",
            "id\tname\tn\n1\ta\t4\n2\tb\t5\n3\tc\t6",
            "NAME    READY   STATUS    AGE\na-1     1/1     Running   3d\nb-2     0/1     Pending   3d\nc-3     1/1     Running   9d",
            " id | name\n----+------\n  1 | a\n  2 | b\n(2 rows)",
        ],
    );
}

#[test]
fn code_and_text() {
    expect(
        ContentKind::Code,
        &[
            "use std::fmt;\n\nfn main() {\n    let x = 1;\n    println!(\"{x}\");\n}",
            "import os\n\ndef f(x):\n    return x + 1\n\nclass A:\n    pass",
            "     1\tpackage main\n     2\t\n     3\tfunc main() {\n     4\t\tx := 1\n     5\t}",
            "    1→const a = 1;\n    2→export function f() {\n    3→  return a;\n    4→}",
            "  12|def f():\n  13|    return 1\n  14|\n  15|def g():\n  16|    return 2",
            "#include <stdio.h>\nint main(void) {\n    return 0;\n}",
        ],
    );
    expect(
        ContentKind::Text,
        &[
            "",
            "   \n\n",
            "Hello there.\nThis is a letter.\nIt has three lines, or four.",
            "{\"a\":",
            "word",
            "Das ist ein Brief.\n\nEr ist kurz.",
        ],
    );
    let blob: String = (0..3000)
        .map(|n| char::from(b"aQ9zBkR3tYw7LmXcP"[n * 5 % 17]))
        .collect();
    expect(ContentKind::Base64, &[&blob, &format!("data:image/png;base64,{blob}")]);
}
