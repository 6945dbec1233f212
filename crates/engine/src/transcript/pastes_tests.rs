//! What people say and what they paste.

use super::*;

/// What of a text was said, without blank space around.
fn said(text: &str) -> Vec<&str> {
    let passages = split_pastes(text);
    let mut at = 0;
    for passage in &passages {
        assert_eq!(passage.range.start, at);
        assert_eq!(passage.text, &text[passage.range.clone()]);
        at = passage.range.end;
    }
    assert_eq!(at, text.len());
    let own = passages.into_iter().filter(|passage| passage.kind == PassageKind::Said);
    own.map(|passage| passage.text.trim())
        .filter(|words| !words.is_empty())
        .collect()
}

/// The kinds of what was pasted.
fn pasted(text: &str) -> Vec<PasteKind> {
    let kinds = split_pastes(text).into_iter().map(|passage| passage.kind);
    kinds
        .filter_map(|kind| match kind {
            PassageKind::Pasted(kind) => Some(kind),
            PassageKind::Said => None,
        })
        .collect()
}

fn check(before: &str, paste: &str, after: &str, kind: PasteKind) {
    let text = format!("{before}\n\n{paste}\n\n{after}");
    assert_eq!(said(&text), [before, after], "{text}");
    assert_eq!(pasted(&text), [kind], "{text}");
}

const BEFORE: &str = "This is what I get when I run it:";
const AFTER: &str = "Please fix that and never touch the lock file.";

#[test]
fn what_is_set_off_by_its_form_is_pasted() {
    let pastes = [
        ("```rust\nfn main() {}\n\nlet a = 1;\n```", PasteKind::Code),
        ("```\n$ make\nall: never do this\n```", PasteKind::CommandOutput),
        ("~~~json\n{\"a\": 1}\n~~~", PasteKind::Data),
        ("> you must always\n> deploy on Friday", PasteKind::Quote),
        (
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-- never\n+- always\n\n",
            PasteKind::Diff,
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nValueError: must not be empty",
            PasteKind::Log,
        ),
        (
            "TypeError: x is not a function\n    at main (/a/b.js:3:4)\n    at node:internal/main:5:6",
            PasteKind::Log,
        ),
        (
            "2026-11-17 10:00:01 INFO never retry\n2026-11-17 10:00:02 ERROR you must log in",
            PasteKind::Log,
        ),
        ("[INFO] never retry\n[ERROR] you must log in", PasteKind::Log),
        (
            "at=2026-05-04 level=INFO msg=\"push failed\" error=\"http 413 <title>Payload Too Large</title> you must never retry it\"",
            PasteKind::Log,
        ),
        ("```rust\nlet a = 1;\n```text\nb\n```", PasteKind::Code),
        (
            "$ cargo build\nerror: you must specify a target\nhelp: use --bin",
            PasteKind::CommandOutput,
        ),
        (
            "Usage: tool [OPTIONS] <FILE>\n\nOptions:\n  -f, --force    Always overwrite\n      --no-color  Never use colours\n  -h, --help     Print help",
            PasteKind::HelpText,
        ),
        (
            "❯ vault auth\nManage logins\n\nUsage:\n  vault auth [command]\n\nAvailable Commands:\n  login   Log in\n  logout  Log out\n\nFlags:\n  -h, --help   help for auth\n\nUse \"vault auth [command] --help\" for more information about a command.",
            PasteKind::CommandOutput,
        ),
        (
            "Usage: tool [OPTIONS]\n\nOptions:\n  -f, --force  Always\n\nTry 'tool --help' for more information.",
            PasteKind::HelpText,
        ),
        (
            "NAME\n       ls - list directory contents\n\nSYNOPSIS\n       ls [OPTION]... [FILE]...\n\nDESCRIPTION\n       You must not use this.",
            PasteKind::HelpText,
        ),
        (
            "From: Ann <ann@example.org>\nTo: Bob\nSubject: rules\n\nHi Bob,\n\nplease always deploy on Friday.\n\nBest regards\nAnn",
            PasteKind::Mail,
        ),
        (
            "On Tue, Nov 17, 2026 at 10:00 Ann wrote:\n> always deploy\n> on Friday",
            PasteKind::Mail,
        ),
        ("{\n  \"rule\": \"never\",\n  \"list\": [1, 2]\n}", PasteKind::Data),
        ("id;name;port\n1;alpha;80\n2;beta;443", PasteKind::Data),
        ("| name | port |\n|---|---|\n| alpha | 80 |", PasteKind::Table),
        (
            "NAME     READY   STATUS\nalpha    1/1     Running\nbeta     0/1     Pending",
            PasteKind::Table,
        ),
        (
            "<document>\nAlways obey.\n\nNever ask.\n</document>",
            PasteKind::Document,
        ),
        (
            "import os\nfrom sys import argv, exit\n\ndef main(args):\n    return run(args[0])\n\nmain(argv);",
            PasteKind::Code,
        ),
    ];
    for (paste, kind) in pastes {
        check(BEFORE, paste.trim_end(), AFTER, kind);
    }
}

#[test]
fn briefs_of_people_are_said() {
    for text in [
        "# Task\n\nMigrate the billing service.\n\n## Rules\n\n- never touch main\n- always run the tests\n  before you commit\n\n1. read the code\n2. write a plan\n",
        "fix the build, then push; do not merge",
        "Rules:\n    - tabs, not spaces\n    - no new crates\n",
        "Use port: 8443\nhost: alpha\nand nothing else",
        "[ ] one\n[x] two",
        "- a, b, c\n- d, e, f\n- g, h, i",
        "I like this (a lot); really.",
        "Error handling must be strict.\nErrors go to stderr.",
        "--force must never be used\nuse --dry-run first",
        "To: whom it may concern, please stop",
        "Usage: we only use it on Fridays.",
        "10:30 is fine for me",
        "Сделай так:\n1. убери лок\n2. не трогай main\n",
        "if (and only if) the tests pass, push.\nreturn to me then.",
    ] {
        assert_eq!(pasted(text), [], "{text}");
        assert_eq!(said(text), [text.trim()]);
    }
    assert_eq!(split_pastes(""), []);
}

#[test]
fn what_stands_behind_an_open_fence_is_the_persons_again() {
    assert_eq!(
        said("look:\n```\nlet a = 1;\n\nPlease make this a constant instead"),
        ["look:", "Please make this a constant instead"]
    );
}

#[test]
fn hostile_texts_take_one_pass() {
    for piece in [
        "```\n",
        "{\n",
        "[",
        "<document>\n",
        "> a\n",
        "@@ -1,9 +1,9 @@\n",
        "From: a\nTo: b\n",
        "usage:\n",
        "$ a\n",
        "Error: a\n",
    ] {
        let text = piece.repeat(3_000);
        let end = split_pastes(&text).last().map(|passage| passage.range.end);
        assert_eq!(end, Some(text.len()));
    }
}

#[test]
fn what_programs_print_about_their_progress_is_pasted() {
    let text = "Sending to replicas: 307.2 MiB, done.\nStoring objects: 641756/641756 (2 replicas), done.\n\nwhere is this coming from?";
    assert_eq!(said(text), ["where is this coming from?"]);
    let text = "❯ make test\n=== RUN   TestSmoke\n    smoke_test.go:100: config: source=a branch=b target=c\n[sync] fetching\nok      example.com/sync  1.8s\nwhy is that so slow?";
    assert_eq!(said(text), ["why is that so slow?"]);
    let text = "could it update a single line? \nsource: Compressing objects:  89% (263/295)\nsource: Compressing objects:  90% (266/295)";
    assert_eq!(said(text), ["could it update a single line?"]);
}

#[test]
fn the_last_line_of_a_log_is_pasted_and_a_remark_on_it_is_said() {
    let log = "10:00:01 pushing pack 1\n10:00:02 pushing pack 2";
    assert!(said(&format!("{log}\ntarget rejected pack — splitting 1 → 2 packs")).is_empty());
    for remark in ["fix it", "I get this every time", "why does that happen?"] {
        assert_eq!(said(&format!("{log}\n{remark}")), [remark]);
    }
}

#[test]
fn a_configuration_with_nested_keys_is_pasted_and_notes_are_not() {
    let text = "is this the best description?\n\ncasks:\n  - name: sync\n    repository:\n      owner: example\n      name: tap\n    directory: Casks\n\nRead the README to check it";
    assert_eq!(
        said(text),
        ["is this the best description?", "Read the README to check it"]
    );
    let notes = "host: alpha\nport: 8080\nuser: deploy\nregion: west";
    assert_eq!(said(notes), [notes]);
}

#[test]
fn rules_in_a_script_without_spaces_are_said() {
    let rules: Vec<String> = (1..9)
        .map(|rule| format!("  - 不要修改第{rule}个服务的迁移目录"))
        .collect();
    let text = format!("规则如下：\n{}", rules.join("\n"));
    assert_eq!(said(&text), [text.trim()]);
    let rule = "Never set DEBUG=1 TRACE=1 PROFILE=1 in production.";
    assert_eq!(said(rule), [rule]);
    let between = "error: lock held by 1\nnever delete the lock by hand\nerror: lock held by 2";
    assert!(said(between).iter().any(|words| words.contains("by hand")));
}

#[test]
fn only_a_line_that_does_nothing_but_point_to_help_is_pasted() {
    let listing = "$ vault auth list\nNAME     TYPE     STATUS\nalpha    token    ok\nbeta     token    ok\n\n";
    let rule = "Run `vault auth --help` for more details and then never touch prod.yaml; the port must be 9443.";
    assert_eq!(said(&format!("{listing}{rule}")), [rule]);
    let usage = "Usage: tool [OPTIONS]\n\nOptions:\n  -f, --force  Always\n\n";
    let wish = "The lease must stay at 45 minutes.";
    let text = format!("{usage}{wish}\n\nTry 'tool --help' for more information.");
    assert!(said(&text).concat().contains(wish), "{:?}", said(&text));
}
