//! A run of the board that was kept, and what a newer one differs from it by: paired by conversation, with intervals.

use serde::Deserialize;
use serde::Serialize;

use crate::board::figure::BoardFigure;
use crate::board::figure::interval;
use crate::board::measure::BoardMeasure;
use crate::board::measure::MeasureKind;
use crate::stats::clusters::Cluster;

/// The version of the file's form.
const FORM: u32 = 1;

/// A run as `--keep` writes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptBoard {
    /// The version of this form.
    pub board: u32,
    /// All figures, with their sums by conversation.
    pub figures: Vec<BoardFigure>,
}

/// What a figure differs by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureDifference {
    /// The set.
    pub set: String,
    /// The size.
    pub size: String,
    /// The measure.
    pub measure: BoardMeasure,
    /// How it is read.
    pub kind: MeasureKind,
    /// The mean of the kept run.
    pub before: f64,
    /// The mean of this run.
    pub after: f64,
    /// The mean difference over the conversations that both have.
    pub mean: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
    /// How many conversations both have.
    pub conversations: usize,
}

impl KeptBoard {
    /// A run to keep.
    pub fn new(figures: Vec<BoardFigure>) -> Self {
        Self { board: FORM, figures }
    }

    /// Reads a kept run.
    pub fn parse(text: &str) -> Result<Self, String> {
        let kept: KeptBoard = serde_json::from_str(text).map_err(|error| format!("not a kept board: {error}"))?;
        if kept.board != FORM {
            return Err(format!(
                "form {} of a kept board; this program reads form {FORM}",
                kept.board
            ));
        }
        Ok(kept)
    }

    /// What these figures differ from the kept ones by, for every figure that both have.
    pub fn differences(&self, figures: &[BoardFigure]) -> Vec<FigureDifference> {
        figures.iter().filter_map(|figure| self.difference(figure)).collect()
    }

    fn difference(&self, after: &BoardFigure) -> Option<FigureDifference> {
        let same = |before: &&BoardFigure| before.is(&after.set, &after.size, after.measure);
        let before = self.figures.iter().find(same)?;
        let mut clusters = Vec::new();
        for (name, (sum, size)) in &after.by_cluster {
            if let Some((old_sum, old_size)) = before.by_cluster.get(name) {
                // Weighted by this run's observations, where the numbers of observations differ.
                clusters.push(Cluster {
                    sum: sum - old_sum / old_size * size,
                    size: *size,
                });
            }
        }
        let estimate = interval(&clusters)?;
        Some(FigureDifference {
            set: after.set.clone(),
            size: after.size.clone(),
            measure: after.measure,
            kind: after.kind,
            before: before.mean,
            after: after.mean,
            mean: estimate.mean,
            low: estimate.low,
            high: estimate.high,
            conversations: clusters.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::figure::BoardObservation;
    use crate::board::figure::FigureTable;

    fn figures(by_conversation: &[(&str, &[f64])]) -> Vec<BoardFigure> {
        let mut table = FigureTable::default();
        for (name, values) in by_conversation {
            let seen = values.iter().map(|value| BoardObservation {
                size: "5%".to_owned(),
                measure: BoardMeasure::Facts,
                value: *value,
            });
            table.extend(name, seen.collect());
        }
        table.figures("hermes")
    }

    #[test]
    fn a_difference_is_paired_by_conversation() {
        let kept = KeptBoard::new(figures(&[("a", &[0.0, 1.0]), ("b", &[0.0]), ("gone", &[1.0])]));
        let text = serde_json::to_string(&kept).expect("figures are JSON");
        let kept = KeptBoard::parse(&text).expect("what was kept is read");
        let differences = kept.differences(&figures(&[("a", &[1.0, 1.0]), ("b", &[0.0]), ("new", &[1.0])]));
        let [difference] = differences.as_slice() else {
            panic!("one figure is in both: {differences:?}");
        };
        // Half a fact more in the two of a, none in the one of b.
        assert!((difference.mean - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(
            (difference.before, difference.after, difference.conversations),
            (0.5, 0.75, 2)
        );
        assert!(difference.low <= difference.mean && difference.mean <= difference.high);
    }

    #[test]
    fn another_form_is_refused() {
        assert!(KeptBoard::parse(r#"{"board": 2, "figures": []}"#).is_err());
        assert!(KeptBoard::parse("[]").is_err());
    }
}
