//! What compaction has done so far: savings, cadence, modes.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Store;
use crate::checkpoint::Metrics;
use crate::error::StoreError;
use crate::kept;

/// The mode of a pass that only prunes.
const PRUNE: &str = "prune";

/// Figures over the checkpoints of a conversation, or of all. Means and shares are absent where there is nothing to divide by.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Conversations with a checkpoint.
    pub conversations: u64,
    /// Checkpoints: compactions of every mode.
    pub compactions: u64,
    /// Passes that only pruned.
    pub prune_only: u64,
    /// All other passes.
    pub full: u64,
    /// The share of passes that only pruned.
    pub prune_only_share: Option<f64>,
    /// Passes by mode.
    pub modes: BTreeMap<String, u64>,
    /// The mode of the newest pass.
    pub last_mode: Option<String>,
    /// Tokens that came in, over all passes.
    pub tokens_before: u64,
    /// Tokens that went out.
    pub tokens_after: u64,
    /// Tokens that were saved.
    pub tokens_saved: u64,
    /// Tokens that went out for each that came in.
    pub compression_ratio: Option<f64>,
    /// Tokens that a pass recovered, on average.
    pub mean_recovered_tokens: Option<f64>,
    /// Turns of the conversations so far.
    pub turns: u64,
    /// Compactions in a hundred turns.
    pub compactions_per_100_turns: Option<f64>,
    /// Turns from one compaction of a conversation to its next, on average.
    pub mean_turns_between: Option<f64>,
    /// Calls to summarising models.
    pub summary_calls: u64,
    /// Calls to summarising models, for each conversation.
    pub summary_calls_per_conversation: Option<f64>,
    /// Tokens of a summary, on average over the passes that have one.
    pub mean_summary_tokens: Option<f64>,
    /// Prompt tokens that hosts have reported.
    pub prompt_tokens: u64,
    /// Tokens of calls to summarising models.
    pub auxiliary_tokens: u64,
    /// Both of these together.
    pub total_tokens: u64,
    /// The earliest message that any pass changed.
    pub earliest_changed: Option<u64>,
    /// Milliseconds that a pass took, on average.
    pub mean_duration_ms: Option<f64>,
}

/// Turns at the first and at the latest compaction of a conversation, and how many there were.
#[derive(Clone, Copy)]
struct Cadence {
    first: u64,
    latest: u64,
    compactions: u64,
}

#[derive(Default)]
struct Sums {
    stats: Stats,
    summaries: u64,
    summary_tokens: u64,
    duration_ms: u64,
    cadences: BTreeMap<String, Cadence>,
}

impl Store {
    /// Figures over one conversation's checkpoints, or over all.
    pub fn stats(&self, conversation: Option<&str>) -> Result<Stats, StoreError> {
        let mut sums = Sums::default();
        kept::for_each(&self.connection, conversation, |kept| {
            sums.add(kept.conversation, kept.record.metrics);
            Ok(())
        })?;
        Ok(sums.finish())
    }
}

impl Sums {
    fn add(&mut self, conversation: String, metrics: Metrics) {
        let stats = &mut self.stats;
        stats.compactions += 1;
        stats.prune_only += u64::from(metrics.mode == PRUNE);
        stats.tokens_before = stats.tokens_before.saturating_add(metrics.tokens_before);
        stats.tokens_after = stats.tokens_after.saturating_add(metrics.tokens_after);
        let saved = metrics.tokens_before.saturating_sub(metrics.tokens_after);
        stats.tokens_saved = stats.tokens_saved.saturating_add(saved);
        stats.summary_calls = stats.summary_calls.saturating_add(metrics.summary_calls);
        stats.prompt_tokens = stats.prompt_tokens.saturating_add(metrics.prompt_tokens);
        stats.auxiliary_tokens = stats.auxiliary_tokens.saturating_add(metrics.auxiliary_tokens);
        let earliest = [stats.earliest_changed, metrics.earliest_changed];
        stats.earliest_changed = earliest.into_iter().flatten().min();
        *stats.modes.entry(metrics.mode.clone()).or_default() += 1;
        stats.last_mode = Some(metrics.mode);

        self.summaries += u64::from(metrics.summary_tokens > 0);
        self.summary_tokens = self.summary_tokens.saturating_add(metrics.summary_tokens);
        self.duration_ms = self.duration_ms.saturating_add(metrics.duration_ms);
        let cadence = self.cadences.entry(conversation).or_insert(Cadence {
            first: metrics.turns,
            latest: metrics.turns,
            compactions: 0,
        });
        cadence.latest = cadence.latest.max(metrics.turns);
        cadence.compactions += 1;
    }

    fn finish(self) -> Stats {
        let mut stats = self.stats;
        let count = stats.compactions;
        let cadences = self.cadences.values();
        stats.conversations = self.cadences.len() as u64;
        stats.turns = cadences
            .clone()
            .fold(0, |sum: u64, cadence| sum.saturating_add(cadence.latest));
        let between: u64 = cadences.clone().map(|cadence| cadence.latest - cadence.first).sum();
        let gaps: u64 = cadences.map(|cadence| cadence.compactions - 1).sum();
        stats.full = count - stats.prune_only;
        stats.total_tokens = stats.prompt_tokens.saturating_add(stats.auxiliary_tokens);
        stats.prune_only_share = ratio(stats.prune_only, count);
        stats.compression_ratio = ratio(stats.tokens_after, stats.tokens_before);
        stats.mean_recovered_tokens = ratio(stats.tokens_saved, count);
        stats.compactions_per_100_turns = ratio(count, stats.turns).map(|each| each * 100.0);
        stats.mean_turns_between = ratio(between, gaps);
        stats.summary_calls_per_conversation = ratio(stats.summary_calls, stats.conversations);
        stats.mean_summary_tokens = ratio(self.summary_tokens, self.summaries);
        stats.mean_duration_ms = ratio(self.duration_ms, count);
        stats
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(mode: &str, before: u64, after: u64, turns: u64) -> Metrics {
        Metrics {
            mode: mode.to_owned(),
            tokens_before: before,
            tokens_after: after,
            turns,
            ..Metrics::default()
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        let stats = Sums::default().finish();
        assert_eq!(stats, Stats::default());
    }

    #[test]
    fn figures_add_up() {
        let mut sums = Sums::default();
        sums.add(
            "a".into(),
            Metrics {
                earliest_changed: Some(9),
                ..pass("prune", 1_000, 600, 20)
            },
        );
        let summary = Metrics {
            summary_tokens: 80,
            summary_calls: 2,
            auxiliary_tokens: 900,
            ..pass("summary", 1_000, 200, 50)
        };
        sums.add(
            "a".into(),
            Metrics {
                earliest_changed: Some(2),
                prompt_tokens: 5_000,
                ..summary
            },
        );
        sums.add("b".into(), pass("ledger", 2_000, 1_000, 30));
        let stats = sums.finish();
        assert_eq!(
            (stats.conversations, stats.compactions, stats.prune_only, stats.full),
            (2, 3, 1, 2)
        );
        assert_eq!(
            (stats.tokens_before, stats.tokens_after, stats.tokens_saved),
            (4_000, 1_800, 2_200)
        );
        assert_eq!(stats.compression_ratio, Some(0.45));
        assert_eq!((stats.turns, stats.compactions_per_100_turns), (80, Some(3.75)));
        assert_eq!(stats.mean_turns_between, Some(30.0));
        assert_eq!(
            (stats.summary_calls_per_conversation, stats.mean_summary_tokens),
            (Some(1.0), Some(80.0))
        );
        assert_eq!((stats.total_tokens, stats.earliest_changed), (5_900, Some(2)));
        assert_eq!(stats.last_mode.as_deref(), Some("ledger"));
    }

    #[test]
    fn a_turn_count_that_falls_breaks_nothing() {
        let mut sums = Sums::default();
        sums.add("a".into(), pass("prune", 10, 5, 40));
        sums.add("a".into(), pass("prune", 10, 50, 30));
        let stats = sums.finish();
        assert_eq!(
            (stats.turns, stats.mean_turns_between, stats.tokens_saved),
            (40, Some(0.0), 5)
        );
    }
}
