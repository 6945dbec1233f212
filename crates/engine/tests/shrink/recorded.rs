//! Tool outputs of recorded sessions, judged and measured.

use std::collections::BTreeMap;
use std::path::Path;

use crate::checker::judge;

/// Outputs above this are worth shrinking.
const LONG: usize = 4096;

/// The goal of the measurement: half of the shortest of them.
const GOAL: usize = 2048;

fn outputs(folder: &Path) -> Vec<String> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder was just seen")
        .map(|entry| entry.expect("its entries can be read").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        for line in std::fs::read_to_string(path).expect("recordings are text").lines() {
            let record: serde_json::Value = serde_json::from_str(line).expect("recordings are lines of JSON");
            let messages = record["messages"].as_array().cloned().unwrap_or_default();
            let tools = messages.iter().filter(|message| message["role"] == "tool");
            found.extend(
                tools
                    .filter_map(|message| message["content"].as_str())
                    .filter(|text| text.len() > LONG)
                    .map(str::to_owned),
            );
        }
    }
    found
}

#[test]
fn recorded_outputs_keep_their_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/trajectories");
    if !folder.is_dir() {
        eprintln!("skipped: no recorded sessions beside the workspace");
        return;
    }
    let outputs = outputs(&folder);
    assert!(outputs.len() >= 200, "only {} outputs", outputs.len());
    let mut kept: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut unchanged = 0;
    for text in &outputs {
        match judge(text, GOAL) {
            Some(small) => kept
                .entry(small.kind.name())
                .or_default()
                .push(small.text.len() * 1000 / text.len()),
            None => unchanged += 1,
        }
    }
    eprintln!(
        "{} outputs, {unchanged} without gain; median share dropped:",
        outputs.len()
    );
    for (kind, shares) in &mut kept {
        shares.sort_unstable();
        let median = shares[shares.len() / 2];
        eprintln!(
            "{kind:12} {:4} texts  {}.{} %",
            shares.len(),
            (1000 - median) / 10,
            (1000 - median) % 10
        );
    }
    assert!(
        unchanged * 20 <= outputs.len(),
        "{unchanged} of {} gained nothing",
        outputs.len()
    );
}
