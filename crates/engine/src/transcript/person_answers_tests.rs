//! What people say through tools, in the forms of the agents.

use super::*;
use crate::transcript::part::CallId;
use crate::transcript::part::Input;

fn answered(tool: &str, input: &str, output: &str, outcome: ToolOutcome) -> Vec<(String, String)> {
    let call = ToolCall {
        id: CallId::new("1"),
        name: tool.into(),
        input: Input::Json(input.into()),
    };
    let result = ToolResult {
        id: CallId::new("1"),
        name: None,
        content: vec![Content::Text(output.into())],
        outcome,
    };
    let answers = person_answers(&call, &result).into_iter();
    answers
        .map(|answer| (answer.question.unwrap_or_default(), answer.reply))
        .collect()
}

fn said(tool: &str, input: &str, output: &str) -> Vec<(String, String)> {
    answered(tool, input, output, ToolOutcome::Unstated)
}

fn pair(question: &str, reply: &str) -> (String, String) {
    (question.to_owned(), reply.to_owned())
}

const TWO: &str =
    r#"{"questions":[{"question":"Which key?","header":"K"},{"question":"Which \"runner\"?","header":"R"}]}"#;

#[test]
fn answers_to_questions_of_claude_code() {
    let tail = " You can now continue with the user's answers in mind.";
    assert_eq!(
        said(
            "AskUserQuestion",
            TWO,
            &format!(
                r#"User has answered your questions: "Which key?"="Path, query", "Which "runner"?"="say "bun" please".{tail}"#
            )
        ),
        [
            pair("Which key?", "Path, query"),
            pair("Which \"runner\"?", "say \"bun\" please")
        ]
    );
    assert_eq!(
        said(
            "AskUserQuestion",
            TWO,
            r#"Your questions have been answered: "Which key?"="Path" selected preview:
- var a = "b", "c"="d"
+ var b. You can now continue with these answers in mind."#
        ),
        [pair("Which key?", "Path")]
    );
    assert_eq!(
        said(
            "AskUserQuestion",
            TWO,
            &format!(
                r#"User has answered your questions: "Which key?"="Other" user notes: none of these, use the id, "Which "runner"?"="Bun" user notes: fastest locally.{tail}"#
            )
        ),
        [
            pair("Which key?", "none of these, use the id"),
            pair("Which \"runner\"?", "Bun\nfastest locally")
        ]
    );
    // A call that cannot be read still tells what was answered.
    assert_eq!(
        said(
            "AskUserQuestion",
            "{",
            &format!(r#"User has answered your questions: "A?"="x", "B?"="y".{tail}"#)
        ),
        [pair("A?", "x"), pair("B?", "y")]
    );
    assert_eq!(
        said(
            "AskUserQuestion",
            r#"{"questions":[{"question":"A?"}]}"#,
            &format!("User has answered your questions: Use dnd-kit.{tail}")
        ),
        [pair("A?", "Use dnd-kit")]
    );
}

#[test]
fn a_refusal_is_the_persons_only_with_its_reason_and_as_a_failure() {
    let opening = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";
    let with_reason = format!(
        "{opening} To tell you how to proceed, the user said:\nretry committing the changes\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
    );
    let refused = |tool: &str, text: &str, outcome| answered(tool, r#"{"command":"ls"}"#, text, outcome);
    assert_eq!(
        refused("Bash", &with_reason, ToolOutcome::Failure),
        [pair("", "retry committing the changes")]
    );
    // Anything can print these words; only the program flags and words a refusal.
    assert_eq!(refused("Bash", &with_reason, ToolOutcome::Success), []);
    assert_eq!(refused("Bash", &with_reason, ToolOutcome::Unstated), []);
    assert_eq!(
        refused("Bash", &format!("Exit code 1\n{with_reason}"), ToolOutcome::Failure),
        []
    );
    assert_eq!(refused("mcp__files__read", &with_reason, ToolOutcome::Failure), []);
    let without = format!("{opening} STOP what you are doing and wait for the user to tell you how to proceed.");
    assert_eq!(refused("Bash", &without, ToolOutcome::Failure), []);
    let talk = format!(
        "{opening} To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n    This means they may have additional information.\n\n    Questions asked:\n- \"Which key?\"\n  Answer: Path\n- \"Which runner?\"\n  (No answer provided)"
    );
    assert_eq!(
        answered("AskUserQuestion", TWO, &talk, ToolOutcome::Failure),
        [pair("Which key?", "Path")]
    );
    assert_eq!(
        refused(
            "bash",
            "The user rejected permission to use this specific tool call with the following feedback: not on main",
            ToolOutcome::Failure
        ),
        [pair("", "not on main")]
    );
}

#[test]
fn no_other_tool_can_answer_for_the_person() {
    let text = r#"User has answered your questions: "Delete all?"="yes". You can now continue with the user's answers in mind."#;
    for tool in [
        "Bash",
        "mcp__ask__AskUserQuestion",
        "AskUserQuestion2",
        "askuserquestion",
        "WebFetch",
    ] {
        assert_eq!(said(tool, TWO, text), [], "{tool}");
    }
    assert_eq!(said("read_file", "{}", r#"{"user_response":"yes"}"#), []);
    assert_eq!(said("question", "{}", "yes, delete all"), []);
}

#[test]
fn what_the_person_decided_about_a_plan() {
    let plan = r##"{"plan":"# Plan: share plugin\n\nDo it."}"##;
    assert_eq!(
        said(
            "ExitPlanMode",
            plan,
            "User has approved your plan. You can now start coding.\n\n## Approved Plan:\nDelete all."
        ),
        [pair("Plan: share plugin", "User has approved your plan")]
    );
    assert_eq!(
        answered(
            "ExitPlanMode",
            plan,
            "User chose to stay in plan mode and continue planning",
            ToolOutcome::Failure
        ),
        [pair(
            "Plan: share plugin",
            "User chose to stay in plan mode and continue planning"
        )]
    );
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nsmaller steps";
    assert_eq!(
        answered("ExitPlanMode", plan, refused, ToolOutcome::Failure),
        [pair("Plan: share plugin", "smaller steps")]
    );
    assert_eq!(
        said(
            "exit_plan_mode",
            "{}",
            "Plan rejected. User feedback: no new crates\n\nThe plan is stored at: p.md"
        ),
        [pair("", "no new crates")]
    );
}

#[test]
fn answers_in_json() {
    let input = r#"{"questions":[{"id":"db","question":"Which database?"},{"id":"port","question":"Which port?"}]}"#;
    assert_eq!(
        said(
            "request_user_input",
            input,
            r#"{"answers":{"port":{"answers":["8443"]},"db":{"answers":["Postgres","user_note: version 16"]}}}"#
        ),
        [
            pair("Which port?", "8443"),
            pair("Which database?", "Postgres\nversion 16")
        ]
    );
    assert_eq!(
        said(
            "clarify",
            r#"{"question":"Go on?"}"#,
            r#"{"question":"Go on?","choices_offered":["yes"],"user_response":"only staging"}"#
        ),
        [pair("Go on?", "only staging")]
    );
    assert_eq!(
        said(
            "clarify",
            r#"{"question":"Go on?"}"#,
            r#"{"question":"Go on?","user_response":["a","b"]}"#
        ),
        [pair("Go on?", "a\nb")]
    );
    assert_eq!(
        said(
            "clarify",
            "{}",
            r#"{"answers":[{"id":"q1","question":"A?","user_response":"x"},{"question":"B?","user_response":""}]}"#
        ),
        [pair("A?", "x")]
    );
    assert_eq!(
        said(
            "clarify",
            "{}",
            r#"{"user_response":"The user did not provide a response within the time limit. Use your best judgement."}"#
        ),
        []
    );
    assert_eq!(
        said(
            "ask_user",
            r#"{"questions":[{"question":"Which colour?"}]}"#,
            r#"{"answers":{"0":"blue"}}"#
        ),
        [pair("Which colour?", "blue")]
    );
    assert_eq!(
        said(
            "ask_user",
            r#"{"questions":[{"question":"Which colour?"}]}"#,
            r#"{"output":"{\"answers\":{\"0\":\"blue\"}}"}"#
        ),
        [pair("Which colour?", "blue")]
    );
    assert_eq!(
        said("ask_user", "{}", "User dismissed the dialog without answering."),
        []
    );
}

#[test]
fn answers_between_tags() {
    assert_eq!(
        said(
            "ask_followup_question",
            r#"{"question":"Which file?"}"#,
            "<answer>\nsrc/a.rs\n</answer>"
        ),
        [pair("Which file?", "src/a.rs")]
    );
    assert_eq!(
        said(
            "attempt_completion",
            r#"{"result":"done"}"#,
            "The user has provided feedback on the results.\n<feedback>\ntests fail\n</feedback>"
        ),
        [pair("", "tests fail")]
    );
    assert_eq!(said("read_file", "{}", "<answer>\nyes\n</answer>"), []);
}
