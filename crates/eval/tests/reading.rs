//! Sessions as they are found on disk: many a line, one a file, damaged, in folders.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use mainstay_eval::retention::corpus;
use mainstay_eval::retention::corpus::Corpus;
use mainstay_eval::retention::corpus::Selection;
use serde_json::Value;
use serde_json::json;

fn messages(count: usize) -> Vec<Value> {
    let turn = |index: usize| match index % 3 {
        0 => json!({"role": "user", "content": format!("question {index}")}),
        1 => json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": format!("c{index}"), "name": "read", "arguments": "{\"path\": \"src/a.rs\"}"}]}),
        _ => json!({"role": "tool", "tool_call_id": format!("c{}", index - 1), "content": "a line\nand another"}),
    };
    (0..count).map(turn).collect()
}

fn trajectory(id: &str, count: usize, compactions: Value) -> String {
    let record = json!({"id": id, "source": "s", "format": "f", "model": null, "tokens": 1, "compactions": compactions,
        "messages": messages(count)});
    format!("{record}\n")
}

fn load(path: &Path, selection: &Selection) -> Corpus {
    corpus::load(&[path.to_owned()], selection).unwrap()
}

fn any_size() -> Selection {
    Selection {
        least_tokens: 0,
        ..Selection::default()
    }
}

#[test]
fn sessions_end_before_their_first_compaction_and_short_ones_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.jsonl");
    let lines = [
        trajectory("whole", 30, json!([])),
        trajectory("compacted", 30, json!([{"at": 18, "summary": "x"}, {"at": 25}])),
        trajectory("by index", 30, json!([21])),
        trajectory("short", 30, json!([{"at": 3}])),
    ];
    std::fs::write(&path, lines.concat() + "{\"id\": broken\n").unwrap();
    let corpus = load(&path, &any_size());
    let read: Vec<_> = corpus
        .trajectories
        .iter()
        .map(|one| (one.id.as_str(), one.messages.len()))
        .collect();
    assert_eq!(read, [("whole", 30), ("compacted", 18), ("by index", 21)]);
    assert_eq!((corpus.short, corpus.unread.len()), (1, 1));
    assert_eq!(&*corpus.trajectories[0].source, "mine");
    // As the definition renders them: content, then calls, none of it repaired.
    assert_eq!(
        &*corpus.trajectories[0].lines[1].text,
        "[call read] {\"path\": \"src/a.rs\"}"
    );
    assert_eq!(&*corpus.trajectories[0].lines[2].text, "a line\nand another");
    let most = Selection { most: 2, ..any_size() };
    assert_eq!(load(&path, &most).trajectories.len(), 2);
}

#[test]
fn a_folder_gives_what_can_be_read_and_names_what_cannot() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("deeper")).unwrap();
    std::fs::write(folder.path().join("b.jsonl"), trajectory("b", 15, json!([]))).unwrap();
    std::fs::write(folder.path().join("a.jsonl"), trajectory("a", 15, json!([]))).unwrap();
    let chat = json!({"model": "m", "messages": messages(15)}).to_string();
    std::fs::write(folder.path().join("deeper/chat.json"), chat).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "nothing to see").unwrap();
    let corpus = load(folder.path(), &any_size());
    let sources: Vec<_> = corpus.trajectories.iter().map(|one| &*one.source).collect();
    assert_eq!(sources, ["a", "b", "openai-chat"]);
    assert_eq!(corpus.unread.len(), 1);
    assert!(corpus.unread[0].0.ends_with("notes.txt") && !corpus.unread[0].1.contains("notes.txt"));
    let only = Selection {
        sources: vec!["b".to_owned()],
        jobs: 3,
        ..any_size()
    };
    assert_eq!(load(folder.path(), &only).trajectories.len(), 1);
    assert!(corpus::load(&[folder.path().join("notes.txt")], &any_size()).is_err());
}
