//! A session small enough to be scored by hand.

use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

use super::*;

/// An arm that gives back what it was told to.
struct Scripted(Vec<&'static str>);

impl Arm for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn compact(&self, _: &[Message], _: u64) -> Result<Vec<String>, ArmError> {
        Ok(self.0.iter().map(|text| (*text).to_owned()).collect())
    }
}

fn say(role: Role, text: &str) -> Message {
    Message::new(role, vec![Part::Text(text.into())])
}

fn call(id: &str, arguments: &str) -> Message {
    let call = ToolCall {
        id: CallId::new(id),
        name: "read".into(),
        input: Input::Json(arguments.into()),
    };
    Message::new(Role::Assistant, vec![Part::Call(Box::new(call))])
}

fn answer(id: &str, text: &str) -> Message {
    let result = ToolResult {
        id: CallId::new(id),
        name: None,
        content: vec![Content::Text(text.into())],
        outcome: ToolOutcome::Unstated,
    };
    Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
}

/// Cut before message 6 at half of the tokens. The agent then needs six identifiers: `src/auth.rs`, `check_token`,
/// `41f9c2ab7`, 8443, `retry_limit` and 250. Not needed are `safe_mode` (the instructions have it), `new_name` (the prefix
/// does not) and `other_name` (the tool shows it before the agent says it).
fn session() -> Trajectory {
    let padding = "word ".repeat(60);
    let messages = vec![
        say(Role::System, "keep safe_mode on"),
        say(Role::User, "fix src/auth.rs, it listens on 8443"),
        call("1", r#"{"path":"src/auth.rs"}"#),
        answer("1", &format!("check_token compares 41f9c2ab7\n{padding}\nother_name")),
        say(Role::Assistant, "and the settings"),
        answer("2", "retry_limit = 250"),
        say(
            Role::Assistant,
            "src/auth.rs has check_token with 41f9c2ab7 and safe_mode and new_name",
        ),
        answer("3", &format!("other_name {padding}")),
        say(Role::Assistant, "8443 other_name"),
        say(Role::Assistant, "retry_limit is 250 as check_token wants"),
    ];
    Trajectory::new("hand".into(), "one".into(), messages)
}

fn scored(texts: Vec<&'static str>) -> Row {
    let settings = Settings {
        budgets: vec![0.5],
        cuts: vec![0.5],
        ..Settings::default()
    };
    let contenders = [Contender::Arm(Box::new(Scripted(texts)))];
    let mut rows = study(&[session()], &contenders, &settings, &|_| {}).unwrap();
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[test]
fn the_hand_written_session_is_cut_and_asked_as_by_hand() {
    let row = scored(vec![]);
    assert_eq!((row.cut, row.needed), (6, 6));
    // Of the first action: the path stands near neither in the prefix (another message), token and hash stand together;
    // of the last: limit and 250. The pair of the path with the name and that with the hash never stood together.
    assert_eq!(row.pairs, 2);
    // The newest tenth of the prefix holds the last tool's line.
    assert_eq!(row.far, 4);
    let none = row.measured[0].score;
    assert_eq!(
        (none.fur, none.far, none.pair, none.pointer),
        (0.0, Some(0.0), Some(0.0), 0.0)
    );
}

#[test]
fn shares_are_those_counted_by_hand() {
    // The path by its last piece, the name, the hash: 3 of 6, strictly 2; all three far: 3 of 4.
    let row = scored(vec!["auth.rs check_token", "41f9c2ab7"]);
    let score = row.measured[0].score;
    assert_eq!((score.fur, score.strict), (3.0 / 6.0, 2.0 / 6.0));
    assert_eq!(score.far, Some(3.0 / 4.0));
    // The name and the hash stand in two messages now.
    assert_eq!(score.pair, Some(0.0));
    assert_eq!(score.pointer, 3.0 / 6.0);
    // Together again, and the call that showed both: fetchable are name and hash, kept is the path.
    let row = scored(vec![
        "[call read] {\"path\":\"src/auth.rs\"}",
        "check_token compares 41f9c2ab7",
    ]);
    let score = row.measured[0].score;
    assert_eq!(
        (score.fur, score.strict, score.pair),
        (3.0 / 6.0, 3.0 / 6.0, Some(1.0 / 2.0))
    );
    let row = scored(vec!["[call read] {\"path\":\"src/auth.rs\"}"]);
    let score = row.measured[0].score;
    assert_eq!((score.fur, score.pointer), (1.0 / 6.0, 3.0 / 6.0));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let sessions: Vec<Trajectory> = (0..7)
        .map(|index| Trajectory {
            id: index.to_string(),
            ..session()
        })
        .collect();
    let contenders: Vec<Contender> = Baseline::ALL.into_iter().map(Contender::Baseline).collect();
    let run = |jobs| {
        let settings = Settings {
            jobs,
            ..Settings::default()
        };
        let rows = study(&sessions, &contenders, &settings, &|_| {}).unwrap();
        rows.into_iter()
            .map(|row| (row.id, row.cut, row.measured))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_failing_arm_ends_the_study_with_its_reason() {
    let failing = arms_that_fail();
    let error = study(
        &[session()],
        &failing,
        &Settings {
            least_needed: 1,
            ..Settings::default()
        },
        &|_| {},
    );
    assert!(error.unwrap_err().to_string().contains("nonexistent-compactor"));
}

fn arms_that_fail() -> [Contender; 1] {
    let external = crate::retention::arms::External::new("nonexistent-compactor {budget}").unwrap();
    [Contender::Arm(Box::new(external))]
}
