//! Calls and results of every agent, and what becomes of the files they touch.

use super::tests::fold;
use super::*;

fn files(steps: &[(&str, &str, &str)]) -> Vec<String> {
    let (deeds, _) = fold(steps);
    let entries = deeds.entries().filter(|entry| entry.kind == Kind::File);
    entries.map(|entry| format!("{}: {}", entry.key, entry.value)).collect()
}

#[test]
fn file_tools_of_all_agents() {
    const RUN_PATCH: &str = "*** Begin Patch\n*** Update File: /r/a.rs\n@@\n-a\n+b\n*** End Patch";
    for (name, input, output, expected) in [
        ("Read", r#"{"file_path":"/r/a.rs"}"#, "1\tfn", "/r/a.rs: read"),
        (
            "Edit",
            r#"{"file_path":"/r/a.rs","old_string":"a","new_string":"b"}"#,
            "The file /r/a.rs has been updated",
            "/r/a.rs: modified, last: ok",
        ),
        (
            "MultiEdit",
            r#"{"file_path":"/r/a.rs","edits":[]}"#,
            "ok",
            "/r/a.rs: modified, last: ok",
        ),
        (
            "Write",
            r#"{"file_path":"/r/a.rs","content":"x"}"#,
            "File created successfully at: /r/a.rs",
            "/r/a.rs: created m0, last: ok",
        ),
        (
            "NotebookEdit",
            r#"{"notebook_path":"/r/a.ipynb","new_source":"x"}"#,
            "ok",
            "/r/a.ipynb: modified, last: ok",
        ),
        (
            "apply_patch",
            RUN_PATCH,
            r#"{"output":"Success.","metadata":{"exit_code":0}}"#,
            "/r/a.rs: modified, last: ok",
        ),
        (
            "shell",
            r#"{"command":["bash","-lc","cat a.rs"],"workdir":"/r"}"#,
            "x",
            "/r/a.rs: read",
        ),
        (
            "shell",
            r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: b.rs\n+x\n*** End Patch"],"workdir":"/r"}"#,
            "Success.",
            "/r/b.rs: created m0, last: ok",
        ),
        (
            "exec_command",
            r#"{"cmd":"sed -n '1,9p' a.go","workdir":"/r"}"#,
            "Process exited with code 0\nOutput:\nx",
            "/r/a.go: read",
        ),
        (
            "exec",
            "const r = await tools.exec_command({\n  cmd: \"cat a.rs\",\n  workdir: \"/r\"\n});",
            "x",
            "/r/a.rs: read",
        ),
        (
            "local_shell",
            r#"{"action":{"command":["cat","/r/a.rs"]}}"#,
            "x",
            "/r/a.rs: read",
        ),
        (
            "read_file",
            r#"{"path":"/r/a.py"}"#,
            r#"{"content":"x"}"#,
            "/r/a.py: read",
        ),
        (
            "write_file",
            r#"{"path":"/r/a.py","content":"x"}"#,
            r#"{"success":true}"#,
            "/r/a.py: created m0, last: ok",
        ),
        (
            "patch",
            r#"{"path":"/r/a.py","old_string":"a","new_string":"b"}"#,
            r#"{"success":true}"#,
            "/r/a.py: modified, last: ok",
        ),
        (
            "terminal",
            r#"{"command":"rm /r/a.py"}"#,
            r#"{"output":"","exit_code":0,"error":null}"#,
            "/r/a.py: deleted m0",
        ),
        (
            "edit",
            r#"{"path":"/r/a.ts","oldText":"a","newText":"b"}"#,
            "Successfully replaced text in /r/a.ts.",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "write",
            r#"{"path":"/r/a.ts","content":"b"}"#,
            "Successfully wrote 1 bytes",
            "/r/a.ts: created m0, last: ok",
        ),
        (
            "edit",
            r#"{"filePath":"/r/a.ts","oldString":"a","newString":"b"}"#,
            "Edit applied",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "developer__text_editor",
            r#"{"command":"view","path":"/r/a.md"}"#,
            "x",
            "/r/a.md: read",
        ),
        (
            "text_editor",
            r#"{"command":"write","path":"/r/a.md","file_text":"x"}"#,
            "ok",
            "/r/a.md: created m0, last: ok",
        ),
        (
            "developer__shell",
            r#"{"command":"touch /r/n"}"#,
            "",
            "/r/n: created m0, last: ok",
        ),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"/r/a.py","view_range":[1,9]}"#,
            "Here's the result",
            "/r/a.py: read",
        ),
        (
            "str_replace_editor",
            r#"{"command":"create","path":"/r/a.py","file_text":"x"}"#,
            "File created successfully at: /r/a.py",
            "/r/a.py: created m0, last: ok",
        ),
        (
            "str_replace_editor",
            r#"{"command":"str_replace","path":"/r/a.py","old_str":"a","new_str":"b"}"#,
            "edited",
            "/r/a.py: modified, last: ok",
        ),
        (
            "str_replace_editor",
            r#"{"command":"undo_edit","path":"/r/a.py"}"#,
            "undone",
            "/r/a.py: reverted m0 (modified), last: ok",
        ),
        (
            "execute_bash",
            r#"{"command":"echo x > /r/b"}"#,
            "\n[The command completed with exit code 0.]",
            "/r/b: created m0, last: ok",
        ),
        (
            "replace",
            r#"{"file_path":"/r/a.ts","old_string":"a","new_string":"b"}"#,
            "Successfully modified file",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "read_many_files",
            r#"{"paths":["/r/a.ts","src/**/*.ts"]}"#,
            "x",
            "/r/a.ts: read",
        ),
        (
            "run_shell_command",
            r#"{"command":"mv a.ts b.ts","directory":"/r"}"#,
            "Output: (empty)\nExit Code: 0",
            "/r/b.ts: renamed from /r/a.ts",
        ),
        (
            "write_to_file",
            r#"{"path":"/r/a.ts","content":"x"}"#,
            "saved",
            "/r/a.ts: created m0, last: ok",
        ),
        (
            "replace_in_file",
            r#"{"path":"/r/a.ts","diff":"------- SEARCH\na\n=======\nb\n+++++++ REPLACE"}"#,
            "saved",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "editor",
            r#"{"path":"/r/a.ts","old_text":"a","new_text":"b"}"#,
            r#"{"query":"edit","success":true}"#,
            "/r/a.ts: modified, last: ok",
        ),
        (
            "read_files",
            r#"{"files":[{"path":"/r/a.ts","start_line":3}]}"#,
            "x",
            "/r/a.ts: read",
        ),
        ("run_commands", r#"{"commands":["cat /r/a.ts"]}"#, "x", "/r/a.ts: read"),
        (
            "mcp__fs__move_file",
            r#"{"source":"/r/a","destination":"/r/b"}"#,
            "moved",
            "/r/b: renamed from /r/a",
        ),
        (
            "open",
            r#"{"path":"/r/a.py"}"#,
            "[File: /r/a.py (3 lines total)]",
            "/r/a.py: read",
        ),
        (
            "create",
            r#"{"filename":"/r/n.py"}"#,
            "[File: /r/n.py (1 lines total)]",
            "/r/n.py: created m0, last: ok",
        ),
    ] {
        assert_eq!(files(&[(name, input, output)]), [expected], "{name} {input}");
    }
}

#[test]
fn a_files_story_is_told_in_a_line() {
    let story = [
        ("Read", r#"{"file_path":"/r/src/a.rs"}"#, "x"),
        ("Bash", r#"{"command":"cat src/a.rs"}"#, "x"),
        (
            "Edit",
            r#"{"file_path":"/r/src/a.rs","old_string":"a","new_string":"b"}"#,
            "updated",
        ),
        (
            "Edit",
            r#"{"file_path":"/r/src/a.rs","old_string":"q","new_string":"b"}"#,
            "<tool_use_error>String to replace not found in file.</tool_use_error>",
        ),
    ];
    assert_eq!(files(&story), ["/r/src/a.rs: modified (read ×2), last: failed m6"]);
    let (deeds, _) = fold(&story);
    let note = deeds.entries().next().unwrap().note.clone();
    assert_eq!(
        note.as_deref(),
        Some("edit failed: String to replace not found in file.")
    );
    let moved = [
        ("Write", r#"{"file_path":"/r/a.rs","content":""}"#, "ok"),
        ("Bash", r#"{"command":"cd /r && git mv a.rs b.rs"}"#, ""),
        (
            "Edit",
            r#"{"file_path":"/r/b.rs","old_string":"a","new_string":"b"}"#,
            "ok",
        ),
        ("Bash", r#"{"command":"rm -rf /r"}"#, ""),
    ];
    assert_eq!(
        files(&moved),
        [
            "/r/b.rs: deleted m6 (renamed from /r/a.rs, modified, created m0)",
            "/r: deleted m6"
        ]
    );
    let relative = [
        ("Read", r#"{"file_path":"/r/src/a.rs"}"#, "x"),
        ("Bash", r#"{"command":"git mv src/a.rs src/b.rs"}"#, ""),
    ];
    assert_eq!(files(&relative), ["/r/src/b.rs: renamed from /r/src/a.rs (read)"]);
    let folder = [
        ("Write", r#"{"file_path":"/r/x/a.rs","content":""}"#, "ok"),
        ("Bash", r#"{"command":"mv /r/x /r/y"}"#, ""),
    ];
    assert!(files(&folder).contains(&"/r/y/a.rs: renamed from /r/x/a.rs (created m0), last: ok".to_owned()));
}

#[test]
fn spellings_of_one_file_meet() {
    let relative_first = [
        ("Bash", r#"{"command":"cat src/a.rs"}"#, "x"),
        ("Read", r#"{"file_path":"/r/src/a.rs"}"#, "x"),
        ("Bash", r#"{"command":"cat README.md"}"#, "x"),
        ("Read", r#"{"file_path":"/r/README.md"}"#, "x"),
    ];
    assert_eq!(
        files(&relative_first),
        ["/r/src/a.rs: read ×2", "/r/README.md: read ×2"]
    );
    let two_folders = [
        ("Read", r#"{"file_path":"/r/a/src/x.rs"}"#, "x"),
        ("Read", r#"{"file_path":"/r/b/src/x.rs"}"#, "x"),
        ("Bash", r#"{"command":"cat src/x.rs"}"#, "x"),
    ];
    assert_eq!(files(&two_folders).len(), 3);
}

#[test]
fn files_that_are_not_there_are_not_listed() {
    for (name, input, output) in [
        (
            "Read",
            r#"{"file_path":"/r/none"}"#,
            "<tool_use_error>File does not exist.</tool_use_error>",
        ),
        (
            "Bash",
            r#"{"command":"cat none.txt"}"#,
            "Exit code 1\ncat: none.txt: No such file or directory",
        ),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"/r"}"#,
            "Here's the files and directories up to 2 levels deep in /r",
        ),
        ("Grep", r#"{"pattern":"x","path":"/r"}"#, "no"),
    ] {
        assert!(files(&[(name, input, output)]).is_empty(), "{name} {input}");
    }
}

#[test]
fn swe_agents_editor_changes_the_file_that_is_open() {
    let foot = "\n(Open file: /r/a.py)\n(Current directory: /r)\nbash-$";
    let steps = [
        (
            "shell",
            "open a.py".to_owned(),
            format!("[File: a.py (3 lines total)]{foot}"),
        ),
        (
            "shell",
            "edit 1:1\ndef f() -> float:\nend_of_edit".to_owned(),
            format!("File updated.{foot}"),
        ),
        (
            "edit",
            r#"{"search":"a","replace":"b"}"#.to_owned(),
            format!("Text replaced.{foot}"),
        ),
        ("shell", "rm x.py".to_owned(), foot.to_owned()),
    ];
    let steps: Vec<(&str, &str, &str)> = steps
        .iter()
        .map(|(name, input, output)| (*name, &**input, &**output))
        .collect();
    let said = files(&steps);
    assert!(
        said.contains(&"/r/a.py: modified ×2 (read), last: ok".to_owned()),
        "{said:?}"
    );
    assert!(said.contains(&"/r/x.py: deleted m6".to_owned()), "{said:?}");
}

/// Pieces that some reader here looks twice at.
const PIECES: [&str; 24] = [
    "cd a && ",
    "mv a b;",
    "$(",
    "\"$(",
    "(",
    "<<A\n",
    "{a,",
    "edit 1:2 ",
    "s/a/b/;",
    "p = 'x'\nopen(p)\n",
    "*** Update File: a\n",
    "--- a\n+++ b\n",
    "-a: 1\n+a: 2\n",
    "port: 1\n",
    "- [ ] x\n",
    "File \"a\", line 1\n",
    "error: x\n",
    "--- FAIL: A (0s)\n",
    "a/",
    "../",
    "#1 [done] x\n",
    "cmd: \"ls\", ",
    "[",
    "\u{1f600}",
];

#[test]
fn long_repeats_of_anything_are_read() {
    for piece in PIECES {
        // Long enough that what is not linear is noticed.
        let long = piece.repeat(30_000 / piece.len());
        let quoted = crate::json::quote(&long);
        let names = [
            "command",
            "file_path",
            "old_string",
            "new_string",
            "content",
            "todos",
            "code",
            "patch",
        ];
        let members: Vec<String> = names.iter().map(|name| format!("\"{name}\":{quoted}")).collect();
        let object = format!("{{{}}}", members.join(","));
        for tool in [
            "Bash",
            "Edit",
            "Write",
            "TodoWrite",
            "apply_patch",
            "get_thing",
            "execute_code",
        ] {
            fold(&[(tool, &object, &long), (tool, &long, &object)]);
        }
    }
}
