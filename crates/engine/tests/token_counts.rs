//! Token counts against two implementations that share no code with ours: recorded vectors of one, and
//! `bpe-openai` run beside ours on generated text and on recorded sessions.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use proptest::prelude::*;
use serde_json::Value;

fn ours(family: Family, text: &str) -> u64 {
    family.count(text, TextKind::Prose)
}

fn assert_agree(text: &str) {
    let shown: String = text.chars().take(80).collect();
    let o200k = bpe_openai::o200k_base().count(text) as u64;
    assert_eq!(ours(Family::O200k, text), o200k, "o200k of {shown:?}");
    let cl100k = bpe_openai::cl100k_base().count(text) as u64;
    assert_eq!(ours(Family::Cl100k, text), cl100k, "cl100k of {shown:?}");
}

#[test]
fn recorded_vectors() {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("data/token_vectors.json")).unwrap();
    assert!(vectors.len() > 100);
    for vector in &vectors {
        let text = vector["text"].as_str().unwrap();
        assert_eq!(
            Some(ours(Family::O200k, text)),
            vector["o200k"].as_u64(),
            "o200k of {text:?}"
        );
        assert_eq!(
            Some(ours(Family::Cl100k, text)),
            vector["cl100k"].as_u64(),
            "cl100k of {text:?}"
        );
    }
}

#[test]
fn a_megabyte_of_anything_is_counted_and_agrees() {
    // The differential check alone would not catch both being wrong, so a few are known in closed form.
    assert_eq!(ours(Family::O200k, &"a".repeat(1 << 20)), 131_072);
    let size = 1 << 20;
    for unit in ["a", " ", "\n", "\t", "_", "^", "-", "ж", "😀", "👩‍👩‍👧‍👦", "x9+/Qz", "\u{0}"] {
        let text = unit.repeat(size / unit.len());
        assert_eq!(
            ours(Family::O200k, &text),
            bpe_openai::o200k_base().count(&text) as u64,
            "{unit:?}"
        );
    }
}

#[test]
fn recorded_sessions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/trajectories");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no recorded sessions at {}", folder.display());
        return;
    };
    let mut counted = 0;
    for file in files.flatten() {
        // A slice of every file keeps an unoptimised test run short; `cargo test --release` may take all.
        let most = if cfg!(debug_assertions) { 400_000 } else { usize::MAX };
        let mut taken = 0;
        for line in std::fs::read_to_string(file.path()).unwrap().lines() {
            let session: Value = serde_json::from_str(line).unwrap();
            for message in session["messages"].as_array().unwrap() {
                let text = message["content"].as_str().unwrap_or("");
                if taken < most {
                    assert_agree(text);
                    taken += text.len();
                    counted += 1;
                }
            }
        }
    }
    assert!(counted > 1_000, "only {counted} messages compared");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_agrees(text in "\\PC{0,200}") {
        assert_agree(&text);
    }

    #[test]
    fn text_with_runs_and_controls_agrees(
        pieces in prop::collection::vec(("[ \\t\\r\\n]{0,9}", "[a-zA-Z'’]{0,12}", "[0-9]{0,7}", any::<char>()), 0..20),
    ) {
        let text: String = pieces.iter().map(|(a, b, c, d)| format!("{a}{b}{c}{d}")).collect();
        assert_agree(&text);
    }
}
