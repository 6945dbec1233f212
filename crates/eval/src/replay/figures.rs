//! What one policy came to in one session, and over all of them.

use mainstay_engine::economy::Bill;

use crate::replay::price::Priced;
use crate::replay::report::Cadence;
use crate::replay::report::Mark;
use crate::replay::track::Kept;
use crate::replay::track::Pass;
use crate::replay::track::PassKind;
use crate::replay::track::Track;

/// Seconds that a request takes beside its tokens; and for each token read from the cache, not read from it, and written.
/// Least squares over 1,980 recorded requests of Claude Code and Codex, without the tenth that fits worst.
const SECONDS: [f64; 4] = [1.1, 2e-6, 34e-6, 15e-3];

/// One session under one policy and profile.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its requests.
    pub requests: usize,
    /// What it cost.
    pub bill: Bill,
    /// Prompt tokens in all, and of them those read from the cache.
    pub prompts: (f64, f64),
    /// The largest prompt.
    pub peak: u64,
    /// Seconds of waiting for models.
    pub wall: f64,
    /// Requests whose prompt did not fit.
    pub overflowing: usize,
    /// The passes.
    pub passes: Vec<Pass>,
    /// What was kept at the moments at which all are asked.
    pub kept: Vec<Kept>,
    /// Every request.
    pub course: Vec<Mark>,
}

impl Run {
    /// The figures of a priced track.
    pub fn new(track: &Track, priced: &Priced) -> Self {
        let mut paid = 0.0;
        let mut wall = 0.0;
        let mut course = Vec::with_capacity(track.steps.len());
        let mut passes = track.passes.iter().map(|pass| pass.request).peekable();
        for (index, step) in track.steps.iter().enumerate() {
            let served = &priced.served[index];
            paid += priced.bills[index].total();
            wall += seconds(served.read, served.write + served.fresh, step.output as f64);
            let is_pass = passes.next_if_eq(&index).is_some();
            course.push(Mark {
                prompt: step.prompt,
                paid,
                is_pass,
            });
        }
        for call in track.passes.iter().filter_map(|pass| pass.summary) {
            let (read, fresh) = match call.is_in_place {
                true => (call.input as f64, 0.0),
                false => (0.0, call.input as f64),
            };
            wall += seconds(read, fresh, call.output as f64);
        }
        Self {
            requests: track.steps.len(),
            bill: priced.total(),
            prompts: (
                priced.served.iter().map(|served| served.prompt()).sum(),
                priced.served.iter().map(|served| served.read).sum(),
            ),
            peak: track.steps.iter().map(|step| step.prompt).max().unwrap_or(0),
            wall,
            overflowing: track.overflowing,
            passes: track.passes.clone(),
            kept: track.kept.clone(),
            course,
        }
    }
}

fn seconds(read: f64, fresh: f64, output: f64) -> f64 {
    let [request, cached, uncached, written] = SECONDS;
    request + read * cached + fresh * uncached + output * written
}

/// The cadence of passes over sessions.
pub fn cadence(runs: &[&Run]) -> Cadence {
    let passes: Vec<&Pass> = runs.iter().flat_map(|run| &run.passes).collect();
    let requests: usize = runs.iter().map(|run| run.requests).sum();
    let gaps: Vec<f64> = runs
        .iter()
        .flat_map(|run| run.passes.windows(2))
        .map(|pair| (pair[1].request - pair[0].request) as f64)
        .collect();
    let calls: Vec<_> = passes.iter().filter_map(|pass| pass.summary).collect();
    let prompts: f64 = runs.iter().map(|run| run.prompts.0).sum();
    let auxiliary: u64 = calls.iter().map(|call| call.input + call.output).sum();
    let of_passes = |figure: &dyn Fn(&Pass) -> f64| mean(passes.iter().map(|pass| figure(pass)));
    Cadence {
        passes: passes.len(),
        per_hundred: passes.len() as f64 * 100.0 / requests.max(1) as f64,
        between: mean(gaps.into_iter()),
        summary_calls: calls.len() as f64 / runs.len().max(1) as f64,
        reclaimed: of_passes(&|pass| pass.before.saturating_sub(pass.after) as f64),
        tokens: prompts + auxiliary as f64,
        earliest: of_passes(&|pass| pass.earliest as f64),
        prune_only: of_passes(&|pass| match pass.kind {
            PassKind::Prune | PassKind::Clearing => 1.0,
            PassKind::Ledger | PassKind::Summary | PassKind::Recorded => 0.0,
        }),
    }
}

/// The mean; none of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}
