//! What two runs were made with, side by side.

use crate::record::Manifest;
use crate::record::ModelUsed;

/// One thing that a run was made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is: `judge`, `prompt answer`, `arm ledger` …
    pub what: String,
    /// What it was.
    pub value: String,
    /// Whether scores of two runs that differ in it were given by different judges.
    pub is_judging: bool,
    /// Whether it is an arm's own digest: what a comparison is about, and no reason to doubt it.
    pub is_arm: bool,
}

/// Everything that a run was made with, fixtures aside.
pub fn parts(manifest: &Manifest) -> Vec<Part> {
    let part = |what: &str, value: String| Part {
        what: what.to_owned(),
        value,
        is_judging: false,
        is_arm: false,
    };
    let name = |model: &ModelUsed| format!("{} at {}", model.id, model.url);
    let one = |model: &Option<ModelUsed>| model.as_ref().map_or("none".to_owned(), name);
    let summarisers: Vec<String> = manifest.summarisers.iter().map(name).collect();
    let mut parts = vec![
        part("program", manifest.program.clone()),
        // Without a judge on one side there are no scores to compare, and nothing to refuse.
        Part {
            is_judging: manifest.judge.is_some(),
            ..part("judge", one(&manifest.judge))
        },
        part("answerer", one(&manifest.answerer)),
        part("summarisers", summarisers.join(", then ")),
        part("target", manifest.target.clone()),
        part("tokenizer", manifest.tokenizer.clone()),
        part("focus", manifest.focus.clone().unwrap_or("none".to_owned())),
    ];
    parts.extend(manifest.prompts.iter().map(|(name, digest)| Part {
        is_judging: matches!(name.as_str(), "judge" | "case"),
        ..part(&format!("prompt {name}"), digest.clone())
    }));
    parts.extend(manifest.arms.iter().map(|arm| Part {
        is_arm: true,
        ..part(&format!("arm {}", arm.name), arm.digest.clone())
    }));
    parts
}

/// What differs between two runs: the part as the first has it, and the other's value. What only one of them has differs, too,
/// but for arms.
pub fn differing(a: &Manifest, b: &Manifest) -> Vec<(Part, String)> {
    let (ours, theirs) = (parts(a), parts(b));
    let of = |parts: &[Part], what: &str| parts.iter().find(|part| part.what == what).cloned();
    let mut found = Vec::new();
    for part in &ours {
        match of(&theirs, &part.what) {
            Some(other) if other.value != part.value => {
                let is_judging = part.is_judging && other.is_judging;
                let part = Part {
                    is_judging,
                    ..part.clone()
                };
                found.push((part, other.value));
            }
            None if !part.is_arm => found.push((
                Part {
                    is_judging: false,
                    ..part.clone()
                },
                "none".to_owned(),
            )),
            Some(_) | None => {}
        }
    }
    for part in theirs
        .into_iter()
        .filter(|part| !part.is_arm && of(&ours, &part.what).is_none())
    {
        let value = part.value.clone();
        found.push((
            Part {
                value: "none".to_owned(),
                is_judging: false,
                ..part
            },
            value,
        ));
    }
    found
}
