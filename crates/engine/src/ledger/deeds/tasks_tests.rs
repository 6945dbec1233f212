//! What lists become.

use super::*;

fn fold(calls: &[(&str, &str)]) -> Vec<String> {
    let mut tasks = Tasks::default();
    for (index, (json, result)) in calls.iter().enumerate() {
        let object = Object::parse(json).unwrap();
        let plan = read(&object).unwrap();
        tasks.take_in(u32::try_from(index).unwrap(), &plan, result);
    }
    let spell = |entry: &Entry| {
        format!(
            "{} {} ({})",
            entry.status.name(),
            entry.value,
            entry.note.as_deref().unwrap_or("")
        )
    };
    tasks.entries().map(spell).collect()
}

#[test]
fn lists_of_all_agents() {
    for json in [
        r#"{"todos":[{"content":"A b","status":"completed"},{"content":"C","status":"in_progress"},{"content":"D","status":"pending"}]}"#,
        r#"{"plan":[{"step":"A b","status":"completed"},{"step":"C","status":"in_progress"},{"step":"D","status":"pending"}]}"#,
        r#"{"todos":[{"description":"A b","status":"completed"},{"description":"C","status":"in_progress"},{"description":"D","status":"pending"}]}"#,
        r#"{"command":"plan","task_list":[{"title":"A b","status":"done"},{"title":"C","status":"in_progress"},{"title":"D","status":"todo"}]}"#,
        r#"{"todos":"[x] A b\n[-] C\n[ ] D"}"#,
        r#"{"content":"My plan\n- [x] A b\n- [~] C\n1. [ ] D"}"#,
        r#"{"todos":[{"id":"1","content":"A b","status":"completed"},{"id":"2","content":"C","status":"in_progress"},{"id":"3","content":"D","status":"pending"}],"merge":true}"#,
    ] {
        assert_eq!(
            fold(&[(json, "")]),
            ["closed A b (done)", "open C (in progress)", "open D (pending)"],
            "{json}"
        );
    }
}

#[test]
fn the_newest_list_replaces_the_one_before_it() {
    let first = r#"{"todos":[{"content":"A","status":"completed"},{"content":"B","status":"pending"},{"content":"C","status":"pending"}]}"#;
    let second = r#"{"todos":[{"content":"C","status":"completed"},{"content":"E","status":"pending"}]}"#;
    assert_eq!(
        fold(&[(first, ""), (second, "")]),
        [
            "closed A (done)",
            "superseded B (no longer on the list m1)",
            "closed C (done)",
            "open E (pending)"
        ]
    );
}

#[test]
fn tasks_with_numbers_are_updated_by_them() {
    let said = fold(&[
        (
            r#"{"subject":"Write docs","description":"x"}"#,
            "Task #1 created successfully: Write docs",
        ),
        (
            r#"{"subject":"Run tests","description":"x"}"#,
            "Task #2 created successfully: Run tests",
        ),
        (r#"{"taskId":"1","status":"in_progress"}"#, "Updated task #1 status"),
        (r#"{"taskId":"1","status":"completed"}"#, "Updated task #1 status"),
        (r#"{"taskId":"2","status":"deleted"}"#, ""),
    ]);
    assert_eq!(said, ["closed Write docs (done)", "superseded Run tests (given up)"]);
    let printed = printed("#1 [completed] A\n#2 [pending] B [blocked by #1]\nnot this");
    assert_eq!(printed.len(), 2);
    assert_eq!(&*printed[1].words, "B");
}

#[test]
fn what_is_newly_done_is_told_once() {
    let mut tasks = Tasks::default();
    let plan = Plan::Whole(checklist("- [x] a\n- [ ] b"));
    assert_eq!(tasks.take_in(0, &plan, ""), ["a".into()]);
    assert!(tasks.take_in(1, &plan, "").is_empty());
}
