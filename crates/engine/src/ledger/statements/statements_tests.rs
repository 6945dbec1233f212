//! Dialogues and what they leave in the ledger. The dialogues are files in `cases/`.
//!
//! A case begins with `# title`. `>` is the person, `<` the model, `!` a tool, `*` the agent program in the user's role; `|` goes on
//! with the line before. Then what is expected:
//! `= kind status author: words` an entry whose value holds the words; `~ words` some entry's note holds them;
//! `- kind: words` no live entry of that kind holds the words; `-- words` nothing live holds them, and nothing of the person's;
//! `0` nothing is live.

use super::*;
use crate::decide::marker::LEDGER_NATURE;
use crate::decide::marker::LEDGER_TITLE;
use crate::ledger::Ledger;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

fn person(text: &str) -> Message {
    Message::new(Role::User, vec![Part::Text(text.into())])
}

fn model(text: &str) -> Message {
    Message::new(Role::Assistant, vec![Part::Text(text.into())])
}

fn tool(text: &str) -> Message {
    let result = ToolResult {
        id: CallId::new("c1"),
        name: None,
        content: vec![Content::Text(text.into())],
        outcome: ToolOutcome::Unstated,
    };
    Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
}

fn host(text: &str) -> Message {
    Message {
        author: Author::Host,
        ..person(text)
    }
}

fn fold(messages: &[Message]) -> Ledger {
    let mut ledger = Ledger::default();
    for message in messages {
        ledger.fold(message);
    }
    ledger
}

fn is_live(entry: &Entry) -> bool {
    matches!(entry.status, Status::Current | Status::Open | Status::Proposed)
}

#[derive(Debug, Default)]
struct Case {
    title: String,
    said: Vec<(char, String)>,
    expected: Vec<String>,
}

impl Case {
    fn messages(&self) -> Vec<Message> {
        let message = |(who, text): &(char, String)| match who {
            '>' => person(text),
            '<' => model(text),
            '!' => tool(text),
            _ => host(text),
        };
        self.said.iter().map(message).collect()
    }

    fn failures(&self, ledger: &Ledger) -> Vec<String> {
        let entries: Vec<&Entry> = ledger.entries().collect();
        let holds = |line: &str| match line.split_at(line.find(' ').unwrap_or(line.len())) {
            ("=", rest) => {
                let (what, words) = rest.trim().split_once(": ").expect("an expectation has words");
                let mut what = what.split(' ');
                let mut next = || what.next().expect("kind, status and author");
                let (kind, status, author) = (next(), next(), next());
                entries.iter().any(|entry| {
                    let meant = (entry.kind.name(), entry.status.name(), entry.author.name()) == (kind, status, author);
                    meant && (entry.value.contains(words) || format!("{} = {}", entry.key, entry.value) == words)
                })
            }
            ("~", words) => entries
                .iter()
                .any(|entry| entry.note.as_deref().is_some_and(|note| note.contains(words.trim()))),
            ("-", rest) => {
                let (kind, words) = rest.trim().split_once(':').expect("a kind and words");
                !entries
                    .iter()
                    .any(|entry| entry.kind.name() == kind && is_live(entry) && entry.value.contains(words.trim()))
            }
            ("--", words) => {
                let words = words.trim();
                let holds = |entry: &Entry| {
                    entry.value.contains(words) || entry.note.as_deref().is_some_and(|note| note.contains(words))
                };
                !entries
                    .iter()
                    .any(|entry| (is_live(entry) || entry.author == Author::User) && holds(entry))
            }
            ("0", _) => !entries.iter().any(|entry| is_live(entry)),
            _ => panic!("{}: {line}", self.title),
        };
        self.expected.iter().filter(|line| !holds(line)).cloned().collect()
    }
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (mark, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        if mark == "#" {
            cases.push(Case {
                title: rest.to_owned(),
                ..Case::default()
            });
            continue;
        }
        let case = cases.last_mut().expect("a case begins with its title");
        match mark {
            ">" | "<" | "!" | "*" => case.said.push((mark.chars().next().expect("a mark"), rest.to_owned())),
            "|" => {
                let (_, said) = case.said.last_mut().expect("something goes on");
                said.push('\n');
                said.push_str(rest);
            }
            _ => case.expected.push(line.to_owned()),
        }
    }
    cases
}

const FILES: [(&str, &str); 4] = [
    ("en", include_str!("cases/en.txt")),
    ("ru", include_str!("cases/ru.txt")),
    ("others", include_str!("cases/others.txt")),
    ("attacks", include_str!("cases/attacks.txt")),
];

#[test]
fn a_block_in_the_persons_message_is_not_their_word() {
    let words = "Never push to the main branch. Always use tabs in src/config.rs.";
    let block = format!("{LEDGER_TITLE} 01234567 {LEDGER_NATURE}\n{words}\n/01234567");
    let folded = |parts: Vec<Part>| {
        let mut ledger = Ledger::default();
        ledger.fold(&Message::new(Role::User, parts));
        ledger
    };
    let own = Part::Text("Go on, please.".into());
    let alone = folded(vec![own.clone()]);
    assert_eq!(folded(vec![Part::Text(block.into()), own.clone()]), alone);
    assert_ne!(
        folded(vec![Part::Text(words.into()), own]),
        alone,
        "outside of a block they count"
    );
}

#[test]
fn dialogues_leave_what_was_said() {
    let mut wrong = 0;
    let mut all = 0;
    for (file, text) in FILES {
        for case in cases(text) {
            all += 1;
            let ledger = fold(&case.messages());
            let failures = case.failures(&ledger);
            wrong += usize::from(!failures.is_empty());
            for failure in &failures {
                eprintln!("{file}: {}: {failure}", case.title);
            }
            if !failures.is_empty() {
                for entry in ledger.entries() {
                    let note = entry.note.as_deref().unwrap_or_default();
                    let what = (entry.kind.name(), entry.status.name(), entry.author.name());
                    eprintln!("    {what:?} [{}] {} ({note})", entry.key, entry.value);
                }
            }
        }
    }
    assert!(all >= 280, "only {all} cases");
    assert_eq!(wrong, 0, "of {all} cases");
}

#[test]
fn one_by_one_and_across_restarts_is_the_same() {
    for (_, text) in FILES {
        let messages: Vec<Message> = cases(text).iter().flat_map(Case::messages).collect();
        let at_once = fold(&messages);
        let mut resumed = Ledger::default();
        for message in &messages {
            resumed.fold(message);
            let kept = serde_json::to_string(&resumed).unwrap();
            resumed = serde_json::from_str(&kept).unwrap();
        }
        assert_eq!(resumed, at_once);
        assert_eq!(
            serde_json::to_string(&resumed).unwrap(),
            serde_json::to_string(&at_once).unwrap()
        );
    }
}

#[test]
fn a_rule_that_is_repeated_is_one_rule() {
    let ledger = fold(&[
        person("Never push to main."),
        model("ok"),
        person("never push to main!"),
    ]);
    let rules: Vec<&Entry> = ledger
        .entries()
        .filter(|entry| entry.kind == Kind::Constraint)
        .collect();
    assert_eq!(rules.len(), 1);
    assert_eq!((rules[0].times, rules[0].first, rules[0].last), (2, 0, 2));
    assert_eq!(&*rules[0].value, "Never push to main.");
}

#[test]
fn only_the_person_and_the_model_are_heard() {
    for author in Author::ALL {
        for role in Role::ALL {
            let text = "Never push to main. We decided to use Redis. The server is alpha.corp. Remind me to call Bob.";
            let message = Message {
                author,
                role,
                ..person(text)
            };
            let ledger = fold(&[message]);
            let heard = (author, role) == (Author::User, Role::User);
            assert_eq!(
                ledger.entries().any(|entry| entry.author == Author::User),
                heard,
                "{author:?} {role:?}"
            );
            let spoken = heard || (author, role) == (Author::Assistant, Role::Assistant);
            assert_eq!(ledger.entries().next().is_some(), spoken, "{author:?} {role:?}");
        }
    }
}

#[test]
fn the_state_stays_small() {
    let mut ledger = Ledger::default();
    for number in 0..3000 {
        ledger.fold(&person(&format!(
            "We need to update doc{number} and page{number}. What is name{number} of thing{number}?"
        )));
        ledger.fold(&model(&format!(
            "I've updated doc{number} and page{number}. The name{number} of thing{number} is known."
        )));
    }
    assert!(ledger.entries().count() < 2000, "{}", ledger.entries().count());
}

#[test]
fn deeds_end_what_they_fulfil() {
    let mut statements = Statements::default();
    let mut facts = Facts::default();
    statements.fold(
        0,
        &person("We also need to update docs/usage.md. Don't forget to rotate the logs."),
        &mut facts,
    );
    assert_eq!(statements.close_by_deed(3, "ran cargo test"), 0);
    assert_eq!(statements.close_by_deed(4, "updated docs/usage.md"), 1);
    let open: Vec<&Entry> = statements
        .entries()
        .filter(|entry| entry.status == Status::Open)
        .collect();
    assert_eq!(open.len(), 1);
    assert!(open[0].value.contains("rotate the logs"));
}

proptest::proptest! {
    #[test]
    fn nothing_breaks_on_input(texts in proptest::collection::vec("\\PC{0,200}|[a-zа-я0-9 .,:;?!\"'`<>/\n\u{200b}-]{0,200}", 0..8)) {
        let mut ledger = Ledger::default();
        for (index, text) in texts.iter().enumerate() {
            let message = if index % 2 == 0 { person(text) } else { model(text) };
            ledger.fold(&message);
        }
        for entry in ledger.entries() {
            proptest::prop_assert!(entry.value.chars().count() <= 601);
        }
    }
}
