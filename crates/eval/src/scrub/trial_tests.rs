//! What a first user of the scrubber planted and found again, and what looks like it and must stay.

use serde_json::json;

use super::tests::document;
use super::tests::said;
use super::*;

#[test]
fn who_is_called_is_replaced() {
    for (text, names) in [
        ("@tess_ferrow please look", &["tess_ferrow"][..]),
        ("cc @k-nakagawa and @jroquefort", &["nakagawa", "roquefort"]),
        ("hey @petra.vossler", &["petra", "vossler"]),
        ("Reviewed by @mkowalczyk", &["kowalczyk"]),
        ("(thanks @mkowalczyk, @jroquefort!)", &["kowalczyk", "roquefort"]),
        ("I think @mkowalczyk broke the build yesterday.", &["kowalczyk"]),
        (
            "*.rs @k-nakagawa @jroquefort\n/docs/ @mkowalczyk # text",
            &["nakagawa", "roquefort", "kowalczyk"],
        ),
        (
            "Merge pull request #12 from tferrow/fix-parser\nMerge pull request #13 from x/mkowalczyk/login",
            &["tferrow", "kowalczyk"],
        ),
        ("@jroquefort: could you check that?", &["roquefort"]),
    ] {
        let left = said(text);
        assert!(names.iter().all(|name| !left.contains(name)), "{left}");
        assert!(left.contains("user"), "{left}");
    }
    assert_eq!(said("Reviewed by @mkowalczyk"), "Reviewed by <@user>");
}

#[test]
fn what_an_at_sign_begins_in_programs_stays() {
    for text in [
        "@pytest.mark.slow\ndef test_x(): pass",
        "    @Override\n    public void run() {",
        "@app.route('/x')\n@login_required\ndef index():",
        "import x from '@types/node'; npm i @types/node @babel/core",
        "@media screen and (min-width: 3px) {",
        "@import \"a.css\";",
        "git diff @{u} HEAD@{1} origin/main@{yesterday}",
        "react@18.2.0 and lodash@latest are fine",
        "  @count += 1\n  @items.each do |item|",
        "if @count > 0 && @total == 3",
        "return @current_user if @current_user",
        "/**\n * @param name the name of it\n * @customtag {x} y\n */",
        "@Autowired private Foo foo;",
        "the @retry_on_failure decorator wraps calls",
        "@retry_on_failure\ndef x():\n\nand so we use @retry_on_failure when calls are slow",
        "@Composable fun Greeting(name: String) {",
        "SELECT @rownum := 3",
    ] {
        assert_eq!(said(text), text);
    }
}

#[test]
fn sessions_scrubbed_together_share_what_they_tell() {
    let first = document(&json!([{"role": "user", "content": "see /home/tarquinius/src/a.rs"}]));
    let second =
        document(&json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": "tarquinius wrote it"}]));
    let (options, mut shared) = (Options::new("both"), Shared::default());
    shared.learn(&first, &options);
    shared.learn(&second, &options);
    let text = scrub_with(&second, &options, &shared).fixture.text();
    assert!(!text.contains("tarquinius") && text.contains("user wrote it"), "{text}");
}

/// How many things the audit finds in a text.
fn found_in(text: &str) -> usize {
    let fixture = json!({"messages": [{"role": "user", "content": text}]}).to_string();
    audit::Auditor::new(&[], &[]).audit(&fixture).unwrap().len()
}

#[test]
fn addresses_go_whatever_they_end_in() {
    for mail in [
        "mj@etx.eus",
        "x@y.travel",
        "tim@firma.gmbh",
        "дмитрий@почта.рф",
        "@ingrid@fosstodon.org",
        "\"john doe\"@acme.org",
        "\"john.doe\"@acme.org",
        "4917155538821@s.whatsapp.net",
        "a.b+c@mail.firma.xn--p1ai",
        "kai@uni.photography",
    ] {
        let left = said(&format!("write to {mail} soon"));
        assert!(left.contains("contributor@example.com"), "{left}");
        assert!(!left.contains("4917") && !left.contains("john"), "{left}");
        assert!(found_in(&format!("write to {mail} soon")) > 0, "{mail}");
    }
    for text in [
        "mysql://root@prod-db.acme.io:3306/shop",
        "logo@2x.png",
        "getty@tty1.service",
        "tool@1.0.0-beta.rc",
        "y = x@self.weight",
        "actions/checkout@v4.x",
        "git@github.acme.travel:a/b.git",
        "me@docs.example.com",
        "A@B.T",
    ] {
        assert_eq!((said(text).as_str(), found_in(text)), (text, 0));
    }
    let left = said("mysql://root:hunter2horse@prod-db.acme.io:3306/shop");
    assert!(
        left.contains("@prod-db.acme.io:3306/shop") && !left.contains("hunter2"),
        "{left}"
    );
}

#[test]
fn names_end_where_their_words_end() {
    let left = said("Author: x <grzegorz.b@firma.pl>\nGrzegorz Brzęczyszczykiewicz wrote it, grzegorz.b too");
    assert!(
        left.contains("Grzegorz Brzęczyszczykiewicz wrote") && left.ends_with("user too"),
        "{left}"
    );
    let left = said(
        "Author: Grzegorz Brzęczyszczykiewicz <g@firma.pl>\nask Grzegorz, or Brzęczyszczykiewicz; BRZĘCZYSZCZYKIEWICZ",
    );
    assert!(left.ends_with("ask user, or user; user"), "{left}");
    let left = said("Author: Mark Will <mw@firma.pl>\nThe mark will be reached. Mark it, Will it work?");
    assert!(
        left.ends_with("The mark will be reached. Mark it, Will it work?"),
        "{left}"
    );
    let left = said("Author: Дмитрий Соколов <d@firma.ru>\nспроси Дмитрия, код Соколова, с Соколовым");
    assert!(
        !left.to_lowercase().contains("соколов") && !left.to_lowercase().contains("дмитри"),
        "{left}"
    );
    let left = said("Author: Мария Лебедева <d@firma.ru>\nспроси Марию, код Лебедевой");
    assert!(!left.contains("Лебедев") && !left.contains("Мари"), "{left}");
}

#[test]
fn public_addresses_go_and_versions_stay() {
    for text in [
        "our server 45.83.64.1",
        "Server at 45.83.64.1 port 22",
        "listening on 5.9.14.22:8443",
        "ssh to ec2-54-201-33-12.us-west-2.compute.amazonaws.com",
    ] {
        let left = said(text);
        assert!(
            !left.contains("45.83") && !left.contains("5.9.14") && !left.contains("54-201"),
            "{left}"
        );
    }
    for text in [
        "kernel 5.15.0.91",
        "section 4.2.1.3",
        "pyerfa 2.0.0.1",
        "server 10.0.0.7",
        "30 Requests Drive the load",
    ] {
        assert_eq!((said(text).as_str(), found_in(text)), (text, 0));
    }
}

#[test]
fn records_tell_names() {
    for (text, names) in [
        (
            "{\"login\": \"tferrow\", \"id\": 3, \"name\": \"Tess Ferrow\"}\n",
            &["ferrow", "Tess"][..],
        ),
        (
            "{\"username\": \"kvossler\", \"global_name\": \"Petra Vossler\"} asked",
            &["ossler", "Petra"],
        ),
        ("Copyright (c) 2019-2024 Jolanta Roquefort", &["Roquefort", "Jolanta"]),
        (" * @author Jolanta Roquefort", &["Roquefort"]),
        ("// TODO(mkowalczyk): later; mkowalczyk knows", &["kowalczyk"]),
        ("assignee: Jolanta Roquefort", &["Roquefort"]),
        ("-rw-r--r-- 1 tferrow staff 120 Jan  3 10:00 a.txt", &["ferrow"]),
        (
            "USER PID %CPU\ntferrow   123  0.0  0.1 12345 6789 ? S 10:00 0:00 bash",
            &["ferrow"],
        ),
        (
            "<@845210998877665544> said {\"id\": \"845210998877665544\"}",
            &["84521"],
        ),
    ] {
        let left = said(text);
        assert!(names.iter().all(|name| !left.contains(name)), "{left}");
    }
    for text in [
        "Copyright (c) 2019 The Rust Project Developers",
        "-rw-r--r-- 1 root root 120 Jan  3 10:00 a.txt",
        "TODO(perf): later",
        "{\"name\": \"Release Build\", \"id\": 3}",
    ] {
        assert_eq!(said(text), text);
    }
    let call = json!({"id": "c", "type": "function", "function": {"name": "sh", "arguments": "{\"command\":\"whoami && hostname\"}"}});
    let messages = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "tferrow\nbluefin\n"},
        {"role": "assistant", "content": "tferrow is on bluefin"},
    ]);
    let text = scrub(&document(&messages), &Options::new("asked")).fixture.text();
    assert!(!text.contains("tferrow") && !text.contains("bluefin"), "{text}");
}

#[test]
fn the_first_message_keeps_its_code() {
    for (text, expected) in [
        (
            "I am stuck, I have no idea",
            "Task: the user is stuck, the user has no idea",
        ),
        (
            "SELECT my, I FROM me WHERE i = 1",
            "Task: SELECT my, I FROM me WHERE i = 1",
        ),
        (
            "for i in range(3): print(i, me)",
            "Task: for i in range(3): print(i, me)",
        ),
        (
            "rename 'my me' and my-app, my.cnf",
            "Task: rename 'my me' and my-app, my.cnf",
        ),
        (
            "look at element i of a Type I list",
            "Task: look at element i of a Type I list",
        ),
    ] {
        let messages = json!([{"role": "user", "content": text}]);
        let fixture = scrub(&document(&messages), &Options::new("first")).fixture;
        assert_eq!(fixture.messages[1]["content"], expected);
    }
}
