//! The simulated prompt cache against what providers reported in recorded sessions.

use std::path::Path;

use mainstay_eval::replay::check::AgentCheck;
use mainstay_eval::replay::check::Agreement;
use mainstay_eval::replay::check::agent_rules;
use mainstay_eval::replay::check::check;
use mainstay_eval::replay::load;
use mainstay_eval::sessions::Selection;

/// So far the total may be off.
const TOTAL: f64 = 0.10;
/// So far the median session may be off.
const MEDIAN: f64 = 0.15;

#[test]
fn predictions_agree_with_reports() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sessions");
    if !folder.is_dir() {
        eprintln!("skipped: there are no recorded sessions at {}", folder.display());
        return;
    }
    let selection = Selection {
        least_tokens: 0,
        jobs: 2,
        ..Selection::default()
    };
    let recordings = load(&[folder], &selection).unwrap();
    assert!(recordings.unread.is_empty(), "{:?}", recordings.unread);
    let found = check(&recordings.sessions, 2, agent_rules);
    let names: Vec<_> = found
        .agents
        .iter()
        .map(|agent| (&*agent.source, agent.sessions))
        .collect();
    assert_eq!(names, [("claude-code", 17), ("codex", 27)]);
    for agent in &found.agents {
        show(agent);
        assert_eq!(agent.cache_write.is_some(), &*agent.source == "claude-code");
        let measures = [Some(agent.input), Some(agent.cache_read), agent.cache_write];
        for agreement in measures.into_iter().flatten() {
            let is_near = agreement.error.abs() <= TOTAL && agreement.median_distance <= MEDIAN;
            assert!(is_near, "{}: {agreement:?}", agent.source);
        }
    }
}

/// Prints the figures, for whoever runs this with `--nocapture`.
fn show(agent: &AgentCheck) {
    println!(
        "{}: {} sessions, {} requests",
        agent.source, agent.sessions, agent.requests
    );
    let line = |name: &str, agreement: &Agreement| {
        println!(
            "  {name:12} predicted {:11.0} reported {:11.0} error {:+.3} median {:+.3} distance {:.3}",
            agreement.predicted, agreement.reported, agreement.error, agreement.median_error, agreement.median_distance,
        );
    };
    line("input", &agent.input);
    line("cache read", &agent.cache_read);
    if let Some(write) = &agent.cache_write {
        line("cache write", write);
    }
    for stray in &agent.worst {
        println!("  {stray:?}");
    }
}
