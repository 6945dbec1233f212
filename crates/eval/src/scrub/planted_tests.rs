//! Names, addresses, paths, tokens and mentions planted in every position one can think of: none is left, in any spelling.

use serde_json::Value;
use serde_json::json;

use crate::scrub::Options;
use crate::scrub::audit::Auditor;
use crate::scrub::scrub;
use crate::scrub::tests::document;

/// What must not be left of anybody, in lower case.
const NEEDLES: &[&str] = &[
    "zorblatt",
    "quillon",
    "marvexia",
    "brumfeld",
    "mailbox.dev",
    "corp-mail.io",
    "0151 2345",
    "15123456",
    "918273645",
    "u07qwerty1",
    "ghp_",
    "sk-ant-",
    "93.184.216.34",
    "3c:22:fb",
    "4539 1488",
    "зорблат",
    "kestrel-box",
];

/// Every way in which the persons of the tests appear, with what it is.
fn things() -> Vec<(&'static str, &'static str)> {
    vec![
        ("handle", "zorblatt"),
        ("handle upper", "ZORBLATT"),
        ("handle title", "Zorblatt"),
        ("handle mixed", "ZorBlatt"),
        ("possessive", "Zorblatt's"),
        ("german genitive", "Zorblatts"),
        ("identifier", "zorblatt_config"),
        ("camel", "getZorblattToken"),
        ("constant", "ZORBLATT_HOME"),
        ("with number", "zorblatt42"),
        ("glued", "myzorblattfork"),
        ("scope", "@zorblatt/tools"),
        ("mention of a handle", "@zorblatt"),
        ("repository", "github.com/zorblatt/dotfiles"),
        ("remote", "git@github.com:zorblatt/dotfiles.git"),
        ("full name", "Quillon Zorblatt"),
        ("full name upper", "QUILLON ZORBLATT"),
        ("last name first", "Zorblatt, Quillon"),
        ("first name", "Quillon"),
        ("mail", "quillon.zorblatt@mailbox.dev"),
        ("mail upper", "Quillon.Zorblatt@Mailbox.dev"),
        ("mail with a tag", "quillon.zorblatt+ci@mailbox.dev"),
        ("mail in brackets", "<quillon.zorblatt@mailbox.dev>"),
        ("author", "Author: Quillon Zorblatt <quillon.zorblatt@mailbox.dev>"),
        ("trailer", "Co-authored-by: Marvexia Brumfeld <marvexia@corp-mail.io>"),
        ("sign-off", "Signed-off-by: Marvexia Brumfeld <marvexia@corp-mail.io>"),
        ("other handle", "marvexia"),
        ("home", "/home/zorblatt/src/app.rs"),
        ("mac home", "/Users/zorblatt/src/app.rs"),
        ("windows home", "C:\\Users\\zorblatt\\src\\app.rs"),
        ("windows home escaped", "C:\\\\Users\\\\zorblatt\\\\src"),
        ("windows full name", "C:\\Users\\Quillon Zorblatt\\src"),
        ("wsl", "/mnt/c/Users/zorblatt/src/app.rs"),
        ("wsl share", "\\\\wsl$\\Ubuntu\\home\\zorblatt\\src"),
        ("tilde", "~zorblatt/src"),
        (
            "project folder",
            "/home/zorblatt/.claude/projects/-home-zorblatt-src-app",
        ),
        ("file address", "file:///home/zorblatt/src/app.rs"),
        ("encoded home", "%2Fhome%2Fzorblatt%2Fsrc"),
        ("flag", "-I/home/zorblatt/include"),
        ("remote path", "scp build.tar zorblatt@kestrel-box:/srv/zorblatt"),
        ("prompt", "zorblatt@kestrel-box:~/src$ ls"),
        ("token", "ghp_R7tK2mQ9xLp4Wz8Vb3Nc6Yd1Fh5Js0AgEuTo"),
        (
            "anthropic key",
            "sk-ant-api03-Zk8Qw2Lm5Xc9Vb4Nt7Rj1Hd6Fs3Gp0Ya8Ue5Io2Kl7Mz4Xw9Bq6Tn3Vc1-Rr8Pp5AA",
        ),
        ("discord mention", "<@918273645>"),
        ("discord nickname", "<@!918273645>"),
        ("slack mention", "<@U07QWERTY1|zorblatt>"),
        ("telegram", "tg://user?id=918273645"),
        ("phone", "+49 0151 23456789"),
        ("address", "93.184.216.34"),
        ("hardware", "3c:22:fb:1a:9e:07"),
        ("card", "4539 1488 0343 6467"),
        ("russian", "Зорблатта"),
    ]
}

/// Where a thing may stand: the name of the place, and the messages after the first ones.
fn places(thing: &str) -> Vec<(&'static str, Value)> {
    let output = |text: String| json!([call("c9", json!({"cmd": "ls"})), {"role": "tool", "tool_call_id": "c9", "content": text}]);
    let argument =
        |arguments: Value| json!([call("c9", arguments), {"role": "tool", "tool_call_id": "c9", "content": "ok"}]);
    vec![
        (
            "user text",
            json!([{"role": "user", "content": format!("look at {thing} please")}]),
        ),
        (
            "assistant text",
            json!([{"role": "assistant", "content": format!("I looked at {thing}.")}]),
        ),
        (
            "quoted",
            json!([{"role": "user", "content": format!("it says \"{thing}\" there")}]),
        ),
        (
            "brackets",
            json!([{"role": "assistant", "content": format!("done ({thing}), [{thing}] and `{thing}`")}]),
        ),
        (
            "german",
            json!([{"role": "user", "content": format!("Bitte schau, was {thing} für uns bedeutet – danke")}]),
        ),
        (
            "cyrillic sentence",
            json!([{"role": "user", "content": format!("посмотри, что делает {thing}, и исправь")}]),
        ),
        ("output", output(format!("total 4\n{thing}\ndone"))),
        (
            "log",
            output(format!("2026-03-01T10:11:12Z INFO worker[12]: seen {thing} in 12 ms")),
        ),
        ("colours", output(format!("\u{1b}[32m{thing}\u{1b}[0m ok"))),
        (
            "diff",
            output(format!("@@ -1,2 +1,2 @@\n-old\n+ let x = \"{thing}\";\n")),
        ),
        (
            "json output",
            output(json!({"status": 0, "stdout": format!("a\n{thing}\nb")}).to_string()),
        ),
        ("escaped lines", output(format!("{{\"broken\": \"one\\n{thing}\\ntwo"))),
        ("argument", argument(json!({"path": thing, "limit": 20}))),
        (
            "command",
            argument(json!({"cmd": format!("echo '{thing}' | grep -n x")})),
        ),
        (
            "nested arguments",
            argument(json!({"input": json!({"cmd": format!("cat \"{thing}\"")}).to_string()})),
        ),
        ("key", argument(json!({"files": {thing: 1}}))),
    ]
}

fn call(id: &str, arguments: Value) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": [{"id": id, "type": "function", "function": {"name": "shell", "arguments": arguments.to_string()}}]})
}

/// A conversation from which it can be learnt who is who, and then one planted thing.
fn conversation(planted: Value) -> Value {
    let known = "commit 1\nAuthor: Quillon Zorblatt <quillon.zorblatt@mailbox.dev>\ncommit 2\nAuthor: Marvexia Brumfeld <marvexia@corp-mail.io>\n<@918273645> <@U07QWERTY1> <@918273645>";
    let mut messages = vec![
        json!({"role": "user", "content": "fix the parser in /home/zorblatt/src/parser.rs, error E0308 in line 417"}),
        call("c1", json!({"cmd": "git log"})),
        json!({"role": "tool", "tool_call_id": "c1", "content": known}),
    ];
    messages.extend(planted.as_array().cloned().unwrap_or_default());
    messages.push(json!({"role": "assistant", "content": "the type of src/parser.rs:417 is wrong, version 1.4.2"}));
    Value::Array(messages)
}

/// The text with percent signs and base64 read, in lower case: an auditor of the test's own.
fn read_in_every_way(text: &str) -> String {
    let mut all = text.to_lowercase();
    let percent = text
        .replace("%2F", "/")
        .replace("%2f", "/")
        .replace("%40", "@")
        .replace("%20", " ");
    all.push_str(&percent.to_lowercase());
    for run in text
        .split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c)))
        .filter(|run| run.len() >= 12)
    {
        let (mut held, mut bits, mut bytes) = (0u32, 0, Vec::new());
        for c in run.bytes() {
            let at = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                .iter()
                .position(|letter| *letter == c);
            held = (held << 6) | at.unwrap_or(0) as u32;
            bits += 6;
            if bits >= 8 {
                bits -= 8;
                bytes.push((held >> bits) as u8);
            }
            held &= 0xffff;
        }
        all.push_str(&String::from_utf8_lossy(&bytes).to_lowercase());
    }
    all
}

#[test]
fn nothing_planted_is_left() {
    let options = Options {
        handles: vec![vec!["zorblatt".into(), "Зорблат".into()]],
        ..Options::new("planted")
    };
    let (mut variants, mut left) = (0, Vec::new());
    for (kind, thing) in things() {
        for (place, planted) in places(thing) {
            variants += 1;
            let scrubbed = scrub(&document(&conversation(planted)), &options);
            let text = scrubbed.fixture.text();
            let read = read_in_every_way(&text);
            let found: Vec<&&str> = NEEDLES.iter().filter(|needle| read.contains(**needle)).collect();
            if !found.is_empty() {
                left.push(format!("{kind} in {place}: {found:?} left"));
            }
            let audit = Auditor::new(&scrubbed.names, &[]).audit(&text).unwrap();
            if !audit.is_empty() {
                left.push(format!("{kind} in {place}: the audit finds {audit:?}"));
            }
            for fact in ["src/parser.rs", "E0308", "417", "1.4.2"] {
                if !text.contains(fact) {
                    left.push(format!("{kind} in {place}: {fact} is lost"));
                }
            }
        }
    }
    assert!(variants >= 800, "only {variants} variants");
    assert!(left.is_empty(), "{} of {variants}:\n{}", left.len(), left.join("\n"));
}

#[test]
fn without_a_handle_given_the_home_and_the_commits_tell_who_it_is() {
    let mut left = Vec::new();
    for (kind, thing) in things().into_iter().filter(|(kind, _)| !matches!(*kind, "russian")) {
        for (place, planted) in places(thing) {
            let scrubbed = scrub(&document(&conversation(planted)), &Options::new("planted"));
            let read = read_in_every_way(&scrubbed.fixture.text());
            left.extend(
                NEEDLES
                    .iter()
                    .filter(|needle| read.contains(**needle))
                    .map(|needle| format!("{kind} in {place}: {needle}")),
            );
        }
    }
    assert!(left.is_empty(), "{}:\n{}", left.len(), left.join("\n"));
}
