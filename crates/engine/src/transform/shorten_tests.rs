//! Parts of the newest step in less room: their ends stay, and the whole can be recalled.

use super::*;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Draft;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Role;
use crate::transcript::ToolCall;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;
use crate::transform::prune::changed;

const FAMILY: Family = Family::O200k;

fn step(input: &str, output: &str) -> Transcript {
    let id = CallId::new("1");
    let call = ToolCall {
        id: id.clone(),
        name: "Bash".into(),
        input: Input::Json(input.into()),
    };
    let result = ToolResult {
        id,
        name: None,
        content: vec![Content::Text(output.into())],
        outcome: ToolOutcome::Unstated,
    };
    let draft = Draft {
        messages: vec![
            Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]),
            Message::new(Role::Tool, vec![Part::Result(Box::new(result))]),
        ],
        ..Draft::default()
    };
    draft.assemble().transcript
}

fn part(message: u32, allowed: u64) -> ShortenedPart {
    ShortenedPart {
        spot: Spot { message, part: 0 },
        tokens: 0,
        allowed,
    }
}

fn lines(number: usize) -> String {
    (0..number).map(|line| format!("line {line} of the output\n")).collect()
}

#[test]
fn a_result_keeps_its_beginning_and_end() {
    let whole = lines(400);
    let transcript = step("{}", &whole);
    let pruned = shorten_parts(&transcript, &[part(1, 200)], FAMILY);
    let [dropped] = &pruned.dropped[..] else {
        panic!("one part was shortened");
    };
    assert_eq!(&*dropped.text, &*whole);
    assert_eq!(dropped.author, Author::Tool);
    assert!(dropped.tokens_left <= 200 && dropped.tokens > 2_000, "{dropped:?}");
    let spot = Spot { message: 1, part: 0 };
    let Some(Change::Result(text)) = pruned.changes.get(&spot) else {
        panic!("a result stays a result");
    };
    assert!(text.starts_with("line 0 of the output\nline 1 of"), "{text}");
    assert!(text.ends_with("line 399 of the output"), "{text}");
    assert!(
        text.contains(&format!("whole: mainstay recall {}", dropped.reference)),
        "{text}"
    );
    let again = shorten_parts(&transcript, &[part(1, 200)], FAMILY);
    assert_eq!(again.changes, pruned.changes);
}

#[test]
fn a_mark_in_the_output_is_not_ours() {
    let whole = format!("[…] was here\n{}", lines(400));
    let pruned = shorten_parts(&step("{}", &whole), &[part(1, 200)], FAMILY);
    let Some(Change::Result(text)) = pruned.changes.get(&Spot { message: 1, part: 0 }) else {
        panic!("a result stays a result");
    };
    assert!(text.starts_with("[…] was here\n"), "{text}");
    assert_eq!(text.matches("mainstay recall").count(), 1, "{text}");
}

#[test]
fn one_long_line_is_cut_inside() {
    let whole = "value,".repeat(5_000);
    let pruned = shorten_parts(&step("{}", &whole), &[part(1, 200)], FAMILY);
    let dropped = &pruned.dropped[0];
    assert!(
        dropped.tokens_left <= 200 && dropped.tokens_left > 40,
        "{}",
        dropped.tokens_left
    );
}

#[test]
fn what_would_not_get_smaller_stays() {
    let pruned = shorten_parts(&step("{}", "short"), &[part(0, 80), part(1, 80)], FAMILY);
    assert!(pruned.changes.is_empty() && pruned.dropped.is_empty());
}

#[test]
fn arguments_stay_json() {
    let input = serde_json::json!({ "file_path": "src/lib.rs", "content": lines(300) }).to_string();
    let transcript = step(&input, "ok");
    let pruned = shorten_parts(&transcript, &[part(0, 100)], FAMILY);
    let spot = Spot { message: 0, part: 0 };
    let change = pruned.changes.get(&spot).expect("long arguments are shortened");
    let Some(Part::Call(call)) = changed(&transcript.messages()[0].parts[0], change) else {
        panic!("a call stays a call");
    };
    let json: serde_json::Value = serde_json::from_str(call.input.as_str()).expect("JSON stays JSON");
    assert_eq!(json["file_path"], "src/lib.rs");
    assert_eq!(&*pruned.dropped[0].text, input.as_str());
    assert_eq!(pruned.dropped[0].tool.as_deref(), Some("Bash"));
}

#[test]
fn words_are_never_shortened() {
    let draft = Draft {
        messages: vec![Message::new(Role::User, vec![Part::Text(lines(400).into())])],
        ..Draft::default()
    };
    let pruned = shorten_parts(&draft.assemble().transcript, &[part(0, 80)], FAMILY);
    assert!(pruned.changes.is_empty());
}
