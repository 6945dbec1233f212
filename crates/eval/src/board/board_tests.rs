//! Runs of the board on conversations written here.

use std::sync::Mutex;

use super::*;

fn settings(data: &std::path::Path, sets: &[BoardSet]) -> BoardSettings {
    BoardSettings {
        sets: sets.to_vec(),
        data: data.to_owned(),
        planted: data.join("planted"),
        cache: data.join("cache"),
        jobs: 2,
    }
}

#[test]
fn a_set_whose_data_is_absent_is_skipped_and_says_where_it_was_looked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let ended = Mutex::new(Vec::new());
    let report = run(
        &settings(folder.path(), &[BoardSet::ExamRecorded, BoardSet::Person]),
        &|progress| {
            if let BoardProgress::Ended(set) = progress {
                ended.lock().expect("no test thread panics").push(set.set);
            }
        },
    );
    let report = report.expect("an absent set is not an error");
    assert!(report.figures.is_empty());
    let reasons: Vec<_> = report
        .sets
        .iter()
        .map(|set| set.skipped.clone().unwrap_or_default())
        .collect();
    assert_eq!(
        reasons[0],
        format!("not found at {}", folder.path().join("exam-recorded").display())
    );
    assert!(reasons[1].ends_with("sessions"), "{reasons:?}");
    assert_eq!(
        *ended.lock().expect("no test thread panics"),
        ["exam-recorded", "person"]
    );
}

/// A conversation in which the person speaks five times among long outputs.
fn session() -> String {
    let mut lines = Vec::new();
    let asked = [
        "Please move the parser into its own crate.",
        "Leave the cron job alone.",
        "The port is 8132 from now on.",
        "Use the second of the two drafts.",
        "And now run the tests again.",
    ];
    for (turn, words) in asked.iter().enumerate() {
        lines.push(serde_json::json!({"role": "user", "content": words}));
        for step in 0..8 {
            let id = format!("call-{turn}-{step}");
            let arguments = serde_json::json!({"path": format!("src/part_{turn}_{step}.rs")}).to_string();
            lines.push(
                serde_json::json!({"role": "assistant", "content": "I look at the next part.", "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}}]}),
            );
            let output: Vec<String> = (0..60)
                .map(|line| format!("    let value_{turn}_{step}_{line} = compute({line}, {turn}, {step});"))
                .collect();
            lines.push(serde_json::json!({"role": "tool", "tool_call_id": id, "content": output.join("\n")}));
        }
        lines.push(serde_json::json!({"role": "assistant", "content": format!("Part {turn} of the work is done and checked.")}));
    }
    serde_json::json!({"model": "gpt-4o", "messages": lines}).to_string()
}

#[test]
fn the_words_of_people_are_measured_on_a_session_and_the_number_of_threads_changes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let sessions = folder.path().join("sessions");
    std::fs::create_dir(&sessions).expect("a folder can be made");
    std::fs::write(sessions.join("one.json"), session()).expect("a session can be written");
    let measure = |jobs| {
        let settings = BoardSettings {
            jobs,
            ..settings(folder.path(), &[BoardSet::Person])
        };
        run(&settings, &|_| {}).expect("the session can be read").figures
    };
    let figures = measure(1);
    let figure = |size: &str, measure| {
        let found = figures.iter().find(|figure| figure.is("person", size, measure));
        found.unwrap_or_else(|| panic!("{size} {measure:?} was not measured"))
    };
    assert_eq!(figure("25%", BoardMeasure::ShortMessages).observations, 5);
    assert_eq!(figure("25%", BoardMeasure::ShortMiddle).observations, 3);
    assert_eq!(figure("25%", BoardMeasure::ClosingSentences).observations, 4);
    assert_eq!(figure("5%", BoardMeasure::OverTarget).total, 0.0);
    assert!(figure("25%", BoardMeasure::Used).mean > 0.0);
    assert_eq!(figures, measure(3));
}
