//! Scrubbing as a caller meets it.

use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;
use serde_json::Value;
use serde_json::json;

use super::*;

/// A conversation read as a list of chat messages.
pub(in crate::scrub) fn document(messages: &Value) -> Document {
    let body = json!({"messages": messages}).to_string();
    let source = Source::memory("conversation.json", body.into_bytes());
    format::read(
        &source,
        Some(format::by_name("openai-chat").unwrap()),
        &Request::default(),
    )
    .unwrap()
}

fn texts(scrubbed: &Scrubbed) -> Vec<String> {
    let content = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    scrubbed.fixture.messages.iter().map(content).collect()
}

/// The texts of messages, scrubbed with nothing said, without the system prompt.
fn plain(messages: Value) -> Vec<String> {
    texts(&scrub(&document(&messages), &Options::new("plain"))).split_off(1)
}

pub(in crate::scrub) fn said(text: &str) -> String {
    plain(json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": text}]))
        .pop()
        .unwrap()
}

#[test]
fn persons_stay_apart_and_the_same_everywhere() {
    let log = "Author: Ilse Vantongeren <ilse@kontor.dev>\nAuthor: Odalys Ferrandiz <odalys@kontor.dev>\nReviewed by ilse vantongeren, thanks ODALYS FERRANDIZ";
    let scrubbed = said(&format!(
        "/Users/tarquinius/x.rs\n{log}\nTarquinius's fork, tarquinius_fork"
    ));
    let expected = "/Users/user/x.rs\nAuthor: user-2 <contributor-2@example.com>\nAuthor: user-3 <contributor-3@example.com>\nReviewed by user-2, thanks user-3\nuser's fork, user_fork";
    assert_eq!(scrubbed, expected);
}

#[test]
fn what_names_nobody_stays() {
    let text = "git@github.com:acme/tool.git, react@18.2.0, logo@2x.png, x@self.weight, /home/runner/jobs/x, /home/user/y, ~/z, @pytest.fixture, \
                /var/lib/home/page.tsx, https://acme.dev/home/dashboard, <Component>, 10.0.0.7, 127.0.0.1:8080, v1.2.3.4, E0308, \
                368750cee35f31935640a34ad199e889fc60f1a8, noreply@example.com, --no-edit, annotation, Mark the item, philosophy";
    assert_eq!(said(text), text);
}

#[test]
fn a_home_called_like_a_thing_does_not_rename_the_thing() {
    let text = "/home/hermes/app.py: hermes starts; /home/mark/x: mark it";
    let expected = "/home/hermes/app.py: hermes starts; /home/user/x: mark it";
    assert_eq!(said(text), expected);
}

#[test]
fn reasoning_goes_and_tags_that_are_spoken_of_stay() {
    assert_eq!(said("<think>secret plan</think>The answer"), "The answer");
    assert_eq!(said("<REASONING_SCRATCHPAD>a\nb</REASONING_SCRATCHPAD>\nok"), "\nok");
    assert_eq!(said("Yes. <Thinking>never closed"), "Yes. ");
    assert_eq!(said("left over</think>so be it"), "so be it");
    let spoken = "strip `<think>` blocks and the \"</think>\" after them";
    assert_eq!(said(spoken), spoken);
}

#[test]
fn the_first_message_loses_its_voice_and_keeps_its_facts() {
    let told = "Hey there! Can you please fix my parser in `src/a b.rs`? I'm getting error E0308 on line 417, lol. Thanks!\n```\nlet my = I;\n```";
    let first = plain(json!([{"role": "user", "content": told}])).remove(0);
    assert_eq!(
        first,
        "Task: fix the user's parser in `src/a b.rs`? the user is getting error E0308 on line 417.\n```\nlet my = I;\n```"
    );
    let given = Options {
        first_turn: Some("Fix the parser.".into()),
        ..Options::new("given")
    };
    assert_eq!(
        texts(&scrub(&document(&json!([{"role": "user", "content": told}])), &given))[1],
        "Fix the parser."
    );
}

#[test]
fn orphans_go_and_pairs_stay() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}});
    let messages = json!([
        {"role": "system", "content": "private instructions"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [call("a"), call("never")]},
        {"role": "tool", "tool_call_id": "a", "content": "fine"},
        {"role": "tool", "tool_call_id": "ghost", "content": "boo"},
        {"role": "assistant", "content": "<think>only thoughts</think>"},
        {"role": "user", "content": "more"},
        {"role": "assistant", "content": "waiting", "tool_calls": [call("open")]},
    ]);
    let scrubbed = scrub(&document(&messages), &Options::new("orphans"));
    let text = scrubbed.fixture.text();
    assert!(
        !text.contains("never") && !text.contains("boo") && !text.contains("\"open\"") && !text.contains("private"),
        "{text}"
    );
    let roles: Vec<&str> = scrubbed
        .fixture
        .messages
        .iter()
        .filter_map(|message| message["role"].as_str())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user", "assistant"]);
}

#[test]
fn a_task_that_was_recorded_as_a_result_is_still_the_task() {
    let messages = json!([
        {"role": "tool", "tool_call_id": "none", "content": "solve the issue in src/mod.py"},
        {"role": "assistant", "content": "on it"},
        {"role": "tool", "tool_call_id": "none either", "content": "boo"},
    ]);
    assert_eq!(plain(messages), ["Task: solve the issue in src/mod.py", "on it"]);
}

#[test]
fn long_outputs_are_cut_and_say_so() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}});
    let output = format!("begin {} the fact 4711 {} end", "x".repeat(9000), "ü".repeat(9000));
    let messages = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": output},
    ]);
    let options = Options {
        keep: vec!["fact 4711".into(), "never said".into()],
        ..Options::new("outputs")
    };
    let scrubbed = scrub(&document(&messages), &options);
    let text = texts(&scrubbed).pop().unwrap();
    assert!(
        text.chars().count() <= MOST_OUTPUT && text.starts_with("begin") && text.ends_with("end"),
        "{text}"
    );
    assert!(
        text.contains("fact 4711") && text.contains("characters left out"),
        "{text}"
    );
    assert!(
        scrubbed.report.lost_facts.is_empty(),
        "{:?}",
        scrubbed.report.lost_facts
    );
}

#[test]
fn a_lost_fact_names_the_pass_that_took_it() {
    let messages = json!([
        {"role": "system", "content": "the port is 7443"},
        {"role": "user", "content": "hey, work in /home/tarquinius/src"},
        {"role": "assistant", "content": "<think>maybe 9191</think>written by ilse@kontor.dev"},
    ]);
    let keep = ["7443", "/home/tarquinius", "ilse@kontor.dev", "hey,", "/src", "9191"];
    let options = Options {
        keep: keep.iter().map(|fact| (*fact).to_owned()).collect(),
        ..Options::new("lost")
    };
    let lost = scrub(&document(&messages), &options).report.lost_facts;
    let lost: Vec<(&str, Pass)> = lost.iter().map(|lost| (lost.fact.as_str(), lost.pass)).collect();
    let expected = [
        ("7443", Pass::System),
        ("/home/tarquinius", Pass::Homes),
        ("ilse@kontor.dev", Pass::Mails),
        ("hey,", Pass::FirstTurn),
        ("9191", Pass::Reasoning),
    ];
    assert_eq!(lost, expected);
}

#[test]
fn a_fixture_keeps_to_its_limit_and_says_where_it_was_cut() {
    let turn = |index: usize| {
        [
            json!({"role": "user", "content": format!("question {index}")}),
            json!({"role": "assistant", "content": "word ".repeat(200)}),
        ]
    };
    let messages: Vec<Value> = (0..100).flat_map(turn).collect();
    let options = Options {
        limit: 20_000,
        ..Options::new("limit")
    };
    let scrubbed = scrub(&document(&json!(messages)), &options);
    assert!(scrubbed.fixture.text().len() <= 20_000 && scrubbed.fixture.text().len() > 15_000);
    let last = scrubbed.fixture.header.truncated_to.unwrap();
    assert_eq!(messages[last as usize]["role"], "assistant");
    assert_eq!(scrubbed.fixture.messages.len() as u64, last + 2);
    let options = Options {
        most_messages: 5,
        ..Options::new("limit")
    };
    assert_eq!(scrub(&document(&json!(messages)), &options).fixture.messages.len(), 5);
}

#[test]
fn the_audit_shows_where_and_never_what() {
    let fixture = json!({"name": "x", "messages": [
        {"role": "user", "content": "mail ilse@kontor.dev or call +49 151 2345 6789"},
        {"role": "assistant", "content": "<think>x</think> see /home/tarquinius/a and b%40kontor.dev"},
        {"role": "tool", "tool_call_id": "c", "content": "from 93.184.216.34, <@918273645>, ilse@box:~/x$ ls, Tarquinius was here"},
    ]})
    .to_string();
    let found = audit::Auditor::new(&["tarquinius".into()], &[])
        .audit(&fixture)
        .unwrap();
    let kinds: Vec<(&str, &str)> = found
        .iter()
        .map(|finding| (finding.path.as_str(), finding.kind))
        .collect();
    for expected in [
        ("messages[0].content", "mail"),
        ("messages[0].content", "phone"),
        ("messages[1].content", "home"),
        ("messages[1].content", "mail"),
        ("messages[1].content", "name"),
        ("messages[1].content", "reasoning"),
        ("messages[2].content", "address"),
        ("messages[2].content", "login"),
        ("messages[2].content", "mention"),
        ("messages[2].content", "name"),
    ] {
        assert!(kinds.contains(&expected), "{expected:?} not in {kinds:?}");
    }
    let shown = serde_json::to_string(&found).unwrap();
    assert!(
        !shown.contains("kontor") && !shown.contains("arquinius") && !shown.contains("93.184"),
        "{shown}"
    );
    let allowed = audit::Auditor::new(&["tarquinius".into()], &["tarquinius".into()])
        .audit(&fixture)
        .unwrap();
    assert!(
        allowed
            .iter()
            .all(|finding| finding.kind != "name" && finding.kind != "home"),
        "{allowed:?}"
    );
}
