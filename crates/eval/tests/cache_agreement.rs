//! The simulated prompt cache against what providers reported in recorded sessions.

#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::Path;

use mainstay_engine::account::facts;
use mainstay_eval::replay::Recording;
use mainstay_eval::replay::Timeline;
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

/// The recorded sessions, where they are.
fn sessions() -> Option<Vec<Recording>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sessions");
    if !folder.is_dir() {
        eprintln!("skipped: there are no recorded sessions at {}", folder.display());
        return None;
    }
    let selection = Selection {
        least_tokens: 0,
        jobs: 2,
        ..Selection::default()
    };
    let recordings = load(&[folder], &selection).expect("the recorded sessions can be read");
    assert!(recordings.unread.is_empty(), "{:?}", recordings.unread);
    Some(recordings.sessions)
}

#[test]
fn sizes_add_up_to_the_reported_prompts() {
    let Some(recordings) = sessions() else { return };
    let mut totals: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for recording in recordings.iter().filter(|it| it.transcript.events().is_empty()) {
        let family = facts(recording.model.as_deref().unwrap_or_default()).family;
        let timeline = Timeline::new(recording, family);
        let total = totals.entry(&recording.source).or_default();
        let mut prompt = timeline.preface.shared + timeline.preface.own;
        let mut known = 0;
        for request in &timeline.requests {
            prompt += timeline.sizes[known..request.before].iter().sum::<u64>();
            known = request.before;
            if let Some(usage) = request.reported {
                total.0 += prompt;
                total.1 += usage.input;
            }
        }
    }
    for (source, (summed, reported)) in totals {
        let error = summed as f64 / reported as f64 - 1.0;
        eprintln!("{source}: {summed} for {reported}, {error:+.3}");
        // Codex leaves old reasoning out of its prompts, which sizes know of but sums do not.
        assert!(error.abs() <= 0.05, "{source}: {error:+.3}");
    }
}

#[test]
fn predictions_agree_with_reports() {
    let Some(recordings) = sessions() else { return };
    let found = check(&recordings, 2, agent_rules);
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
    eprintln!(
        "{}: {} sessions, {} requests",
        agent.source, agent.sessions, agent.requests
    );
    let line = |name: &str, agreement: &Agreement| {
        eprintln!(
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
        eprintln!("  {stray:?}");
    }
}
