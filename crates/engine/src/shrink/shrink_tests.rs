//! Outputs as tools print them, and what must be left of each.

use super::proof::check;
use super::proof::repeat;
use super::*;

#[test]
fn builds() {
    let cargo = format!(
        "{}warning: unused variable: `x`\n --> src/a.rs:3:9\n  |\n3 |     let x = 1;\n  |         ^ help: prefix it\n\nerror[E0308]: mismatched types\n  --> src/main.rs:20:14\n   |\n20 |     let n: u32 = \"seven\";\n   |            ---   ^^^^^^^ expected `u32`, found `&str`\n   |            |\n   |            expected due to this\n\nFor more information about this error, try `rustc --explain E0308`.\nwarning: `app` (bin \"app\") generated 1 warning\nerror: could not compile `app` (bin \"app\") due to 1 previous error; 1 warning emitted",
        repeat(200, |n| format!("   Compiling crate-{n} v1.0.{n}"))
    );
    let kept = [
        "error[E0308]: mismatched types\n  --> src/main.rs:20:14",
        "expected `u32`, found `&str`",
        "error: could not compile `app`",
        "generated 1 warning",
        "lines dropped: build steps⟧",
    ];
    check(ContentKind::BuildLog, &cargo, 900, &kept);
    let gcc = format!(
        "{}src/sum.c: In function 'add':\nsrc/sum.c:12:5: error: 'resutl' undeclared (first use in this function)\n   12 |     resutl = a + b;\n      |     ^~~~~~\nmake[1]: *** [Makefile:20: sum.o] Error 1\nmake: *** [Makefile:5: all] Error 2",
        repeat(200, |n| format!("[ {}%] Building C object part_{n}.o", n / 2))
    );
    check(
        ContentKind::BuildLog,
        &gcc,
        400,
        &[
            "src/sum.c:12:5: error: 'resutl' undeclared",
            "make: *** [Makefile:5: all] Error 2",
        ],
    );
    let tsc = format!(
        "{}src/app.ts(4,7): error TS2322: Type 'string' is not assignable to type 'number'.\nFound 1 error.",
        repeat(200, |n| format!("[{n}/200] Transforming src/part-{n}.ts"))
    );
    check(
        ContentKind::BuildLog,
        &tsc,
        300,
        &["src/app.ts(4,7): error TS2322: Type 'string' is not", "Found 1 error."],
    );
    let npm = format!(
        "{}npm ERR! code ERESOLVE\nnpm ERR! Could not resolve dependency: peer react@\"^17\" from old-lib@1.2.3\nnpm ERR! A complete log of this run can be found in: /root/.npm/_logs/x.log",
        repeat(200, |n| format!(
            "npm WARN deprecated part-{n}@1.0.{n}: use part-{}",
            n + 1
        ))
    );
    check(
        ContentKind::BuildLog,
        &npm,
        500,
        &[
            "code ERESOLVE",
            "peer react@\"^17\" from old-lib@1.2.3",
            "/root/.npm/_logs/x.log",
        ],
    );
}

#[test]
fn traces() {
    let python = format!(
        "Traceback (most recent call last):\n  File \"/app/main.py\", line 10, in <module>\n    run()\n{}  File \"/app/sums.py\", line 33, in add\n    return a / b\nZeroDivisionError: division by zero",
        repeat(120, |n| format!(
            "  File \"/usr/lib/python3.12/site-packages/lib/part.py\", line {n}, in step{n}\n    return self.next()"
        ))
    );
    let kept = [
        "Traceback (most recent call last):",
        "\"/app/main.py\", line 10",
        "\"/app/sums.py\", line 33, in add\n    return a / b",
        "ZeroDivisionError: division by zero",
        "library frames",
    ];
    check(ContentKind::StackTrace, &python, 1200, &kept);
    let java = format!(
        "Exception in thread \"main\" java.lang.IllegalStateException: no config\n\tat com.acme.App.load(App.java:41)\n{}\tat com.acme.App.main(App.java:9)\nCaused by: java.io.FileNotFoundException: /etc/acme.conf (No such file or directory)\n\t... 12 more",
        repeat(80, |n| format!(
            "\tat org.springframework.boot.Step{n}.run(Step{n}.java:{n})"
        ))
    );
    check(
        ContentKind::StackTrace,
        &java,
        900,
        &[
            "IllegalStateException: no config",
            "App.java:41",
            "App.java:9",
            "Caused by: java.io.FileNotFoundException: /etc/acme.conf",
        ],
    );
}

#[test]
fn logs() {
    let mut text = repeat(400, |n| {
        format!(
            "2024-05-01T10:{:02}:{:02}Z INFO worker-{} heartbeat seq={n}",
            n / 60 % 60,
            n % 60,
            n % 4
        )
    });
    text.push_str("2024-05-01T10:07:01Z INFO config reloaded from /etc/app.toml\n");
    text.push_str("2024-05-01T10:07:02Z ERROR db connection lost: ECONNRESET 10.0.0.5:5432\n");
    text.push_str(&repeat(400, |n| {
        format!("2024-05-01T11:00:00Z WARN retry {n} of pool main")
    }));
    text.push_str("2024-05-01T11:09:59Z INFO stopped, exit code 3");
    let kept = [
        "heartbeat seq=0",
        "config reloaded from /etc/app.toml",
        "ERROR db connection lost: ECONNRESET 10.0.0.5:5432",
        "WARN retry 0 of pool main",
        "WARN retry 399 of pool main",
        "stopped, exit code 3",
        "repeats",
    ];
    check(ContentKind::Log, &text, 1500, &kept);
    let flood = repeat(3000, |n| {
        format!("2024-05-01 10:00:00 ERROR shard {n} is unreachable after {}ms", n * 3)
    });
    let short = check(
        ContentKind::Log,
        &flood,
        1000,
        &["ERROR shard 0 is", "ERROR shard 2999 is", "⟦… ×2998 similar⟧"],
    );
    assert!(short.len() < 300);
}

#[test]
fn diffs() {
    let context = |from: usize| repeat(30, |n| format!(" unchanged line number {} of the file", from + n));
    let text = format!(
        "commit 1234abcd\nAuthor: A <a@example.com>\n\n    Fix the sum\n\ndiff --git a/src/sum.rs b/src/sum.rs\nindex 111..222 100644\n--- a/src/sum.rs\n+++ b/src/sum.rs\n@@ -1,61 +1,61 @@ fn add\n{}-    a - b\n+    a + b\n{}@@ -300,61 +300,62 @@ fn test\n{}+    assert_eq!(add(7, 8), 15);\n{}diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644",
        context(0),
        context(30),
        context(300),
        context(330)
    );
    let kept = [
        "diff --git a/src/sum.rs b/src/sum.rs",
        "@@ -1,61 +1,61 @@ fn add",
        "-    a - b\n+    a + b",
        "+    assert_eq!(add(7, 8), 15);",
        "deleted file mode",
        "Fix the sum",
        "context⟧",
    ];
    check(ContentKind::Diff, &text, 1200, &kept);
}

#[test]
fn hits_and_listings() {
    let hits = format!(
        "{}src/rare.rs:9:    retry_budget(3)\nREADME.md:4:about retry_budget",
        repeat(300, |n| format!(
            "src/part_{}.rs:{n}:    let left = retry_budget({n});",
            n / 30
        ))
    );
    let kept = [
        "src/part_0.rs:0:",
        "src/part_9.rs:270:",
        "src/rare.rs:9:    retry_budget(3)",
        "README.md:4:",
        "more hits in src/part_3.rs dropped: lines ",
    ];
    check(ContentKind::SearchHits, &hits, 2500, &kept);
    check(
        ContentKind::SearchHits,
        &hits,
        500,
        &["src/part_0.rs:0:", "README.md:4:", " more files dropped: "],
    );
    let listing = format!(
        "{}assets/logo.svg\nCargo.toml",
        repeat(400, |n| format!(
            "src/part_{}/file_{n}.{}",
            n / 100,
            if n % 5 == 0 { "toml" } else { "rs" }
        ))
    );
    let short = check(
        ContentKind::Listing,
        &listing,
        900,
        &[
            "src/part_0/file_0.toml",
            "in src/part_2/ dropped: ",
            " .rs, ",
            "assets/logo.svg",
            "Cargo.toml",
        ],
    );
    assert!(short.len() <= 900);
}

#[test]
fn errors_among_listed_files_stay() {
    let files = repeat(200, |n| format!("src/part_{n}/file.rs"));
    let text = format!("{files}Traceback (most recent call last):\nfind: /root: Permission denied\n{files}");
    let kept = ["Traceback (most recent call last):", "find: /root: Permission denied"];
    check(ContentKind::Listing, &text, 400, &kept);
}

#[test]
fn tables() {
    let mut csv = String::from("id,region,status,latency_ms\n");
    csv += &repeat(500, |n| format!("{n},eu-{},ok,{}", n % 3, 20 + n % 9));
    let csv = csv
        .replace("250,eu-1,ok,27", "250,eu-1,degraded,27")
        .replace("\n333,eu-0,ok,20\n", "\n333,eu-0,ok,91000\n");
    check(
        ContentKind::Table,
        &csv,
        600,
        &[
            "id,region,status,latency_ms",
            "\n0,eu-0,ok,20",
            "250,eu-1,degraded,27",
            "333,eu-0,ok,91000",
            "499,eu-1,ok,",
            "rows⟧",
        ],
    );
    let markdown = format!(
        "| name | state |\n|------|-------|\n{}",
        repeat(200, |n| format!(
            "| part-{n} | {} |",
            if n == 77 { "broken" } else { "fine" }
        ))
    );
    check(
        ContentKind::Table,
        &markdown,
        500,
        &[
            "| name | state |",
            "| part-0 | fine |",
            "| part-77 | broken |",
            "| part-199 | fine |",
        ],
    );
}

#[test]
fn pages_blobs_and_code() {
    let page = format!(
        "<!DOCTYPE html><html><head><title>Sums</title><style>{}</style><script>{}</script></head><body><h1>How to add</h1><p>Use <b>plus</b> &amp; care.</p><ul>{}</ul><a href=\"/docs/add\">the manual</a><p>Error: page 7 is missing</p></body></html>",
        "p { color: red }".repeat(300),
        "var x = 1;".repeat(300),
        repeat(200, |n| format!("<li>item {n}</li>"))
    );
    check(
        ContentKind::Html,
        &page,
        1000,
        &[
            "title: Sums",
            "# How to add",
            "Use plus & care.",
            "- item 0",
            "the manual (/docs/add)",
            "Error: page 7 is missing",
            "tags and ",
        ],
    );
    let blob: String = (0..20_000)
        .map(|n| char::from(b"aQ9zBkR3tYw7LmXcP"[n * 5 % 17]))
        .collect();
    check(
        ContentKind::Base64,
        &format!("saved to /tmp/a.png\ndata:image/png;base64,{blob}"),
        500,
        &["saved to /tmp/a.png", "15000 bytes of image/png⟧"],
    );
    let code = format!(
        "     1→//! Adds numbers.\n     2→use std::fmt;\n     3→\n     4→pub fn add(a: i32, b: i32) -> i32 {{\n{}   205→}}\n   206→\n   207→pub struct Sum {{\n   208→    total: i64,\n   209→}}\n   210→impl Sum {{\n   211→    pub fn total(&self) -> i64 {{\n{}   412→    }}\n   413→}}",
        repeat(200, |n| format!(
            "   {:3}→    let step_{n} = a.wrapping_mul({n}) ^ b;",
            n + 5
        )),
        repeat(200, |n| format!("   {:3}→        self.note(\"step {n}\");", n + 212))
    );
    let kept = [
        "1→//! Adds numbers.",
        "2→use std::fmt;",
        "4→pub fn add(a: i32, b: i32) -> i32 {",
        "207→pub struct Sum {",
        "210→impl Sum {",
        "211→    pub fn total(&self) -> i64 {",
        "413→}",
    ];
    check(ContentKind::Code, &code, 900, &kept);
}

#[test]
fn prose_escapes_and_wrappers() {
    let prose = format!(
        "A report.\n{}It mentions /etc/hosts here.\nfatal: the disk is gone\n{}The end.",
        repeat(100, |_| "Words upon words, without end or aim.".into()),
        repeat(100, |_| "More words, and still no end of them.".into())
    );
    check(
        ContentKind::Text,
        &prose,
        600,
        &["A report.", "/etc/hosts", "fatal: the disk is gone", "The end."],
    );
    let coloured = "\x1b[31merror\x1b[0m: no\n".to_owned();
    assert_eq!(
        shrink(&coloured, Goal { most_bytes: 1000 }).unwrap().text,
        "error: no\n"
    );
    assert_eq!(shrink("short", Goal { most_bytes: 1000 }), None);
    assert_eq!(shrink("short", Goal { most_bytes: 0 }), None);
    let wrapped = format!(
        "Chunk ID: 12\nProcess exited with code 1\nOutput:\n[{}]",
        vec!["{\"a\": 1}"; 400].join(", ")
    );
    let short = check(
        ContentKind::Json,
        &wrapped,
        400,
        &["Process exited with code 1\nOutput:\n[{\"a\": 1}"],
    );
    let body = short.split_once("Output:\n").unwrap().1;
    assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
}
