//! Figures of the board: a set, a size and a measure, with a mean, its interval and the sums by conversation that a later
//! run is compared with.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::board::measure::BoardMeasure;
use crate::board::measure::MeasureKind;
use crate::stats::Estimate;
use crate::stats::Resampled;
use crate::stats::clusters::Cluster;

/// How often clusters are drawn, as everywhere in the evaluation.
const DRAWS: usize = 1999;

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardFigure {
    /// The set.
    pub set: String,
    /// The size: a share of the conversation such as `10%`, a number of tokens such as `8000`, or `whole`.
    pub size: String,
    /// What was measured.
    pub measure: BoardMeasure,
    /// How it is read.
    pub kind: MeasureKind,
    /// The mean over all observations.
    pub mean: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
    /// The smallest observation.
    pub least: f64,
    /// The sum of all observations.
    pub total: f64,
    /// How many observations there are.
    pub observations: usize,
    /// The sum and the number of observations by conversation; left out of reports, kept for later comparison.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_cluster: BTreeMap<String, (f64, f64)>,
}

impl BoardFigure {
    /// Whether this is the figure of that set, size and measure.
    pub fn is(&self, set: &str, size: &str, measure: BoardMeasure) -> bool {
        self.set == set && self.size == size && self.measure == measure
    }

    /// The number that a floor is held against: the total of faults, the mean of anything else.
    pub fn judged(&self) -> f64 {
        match self.kind {
            MeasureKind::FaultCount => self.total,
            MeasureKind::Share | MeasureKind::FaultShare => self.mean,
        }
    }
}

/// One observation of one state.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardObservation {
    /// The size of the state.
    pub size: String,
    /// What was measured.
    pub measure: BoardMeasure,
    /// What was found.
    pub value: f64,
}

/// Observations of one set, by size and measure in the order in which they first came.
#[derive(Clone, Debug, Default)]
pub struct FigureTable {
    cells: Vec<FigureCell>,
    places: BTreeMap<(String, BoardMeasure), usize>,
}

#[derive(Clone, Debug)]
struct FigureCell {
    size: String,
    measure: BoardMeasure,
    least: f64,
    observations: usize,
    by_cluster: BTreeMap<String, (f64, f64)>,
}

impl FigureTable {
    /// Adds the observations of one conversation, which count together when intervals are drawn.
    pub fn extend(&mut self, cluster: &str, observations: Vec<BoardObservation>) {
        for BoardObservation { size, measure, value } in observations {
            let key = (size, measure);
            let place = match self.places.get(&key) {
                Some(place) => *place,
                None => {
                    self.cells.push(FigureCell {
                        size: key.0.clone(),
                        measure,
                        least: f64::INFINITY,
                        observations: 0,
                        by_cluster: BTreeMap::new(),
                    });
                    self.places.insert(key, self.cells.len() - 1);
                    self.cells.len() - 1
                }
            };
            let cell = &mut self.cells[place];
            cell.least = cell.least.min(value);
            cell.observations += 1;
            let sums = cell.by_cluster.entry(cluster.to_owned()).or_default();
            sums.0 += value;
            sums.1 += 1.0;
        }
    }

    /// The figures of a set.
    pub fn figures(self, set: &str) -> Vec<BoardFigure> {
        let figure = |cell: FigureCell| {
            let clusters = cell
                .by_cluster
                .values()
                .map(|(sum, size)| Cluster { sum: *sum, size: *size });
            let estimate = interval(&clusters.collect::<Vec<_>>()).expect("a cell has at least one observation");
            let kind = cell.measure.kind();
            let estimate = match kind {
                MeasureKind::FaultCount => estimate.on_scale(f64::INFINITY),
                MeasureKind::Share | MeasureKind::FaultShare => estimate.on_scale(1.0),
            };
            BoardFigure {
                set: set.to_owned(),
                size: cell.size,
                measure: cell.measure,
                kind,
                mean: estimate.mean,
                low: estimate.low,
                high: estimate.high,
                least: cell.least,
                total: cell.by_cluster.values().map(|(sum, _)| sum).sum(),
                observations: cell.observations,
                by_cluster: cell.by_cluster,
            }
        };
        self.cells.into_iter().map(figure).collect()
    }
}

/// The mean of clusters with its 95 % interval; `None` where there are none.
pub fn interval(clusters: &[Cluster]) -> Option<Estimate> {
    Some(Resampled::new(clusters, DRAWS)?.estimate(0.05))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(size: &str, measure: BoardMeasure, value: f64) -> BoardObservation {
        BoardObservation {
            size: size.to_owned(),
            measure,
            value,
        }
    }

    #[test]
    fn observations_are_gathered_by_size_and_measure_and_counted_by_conversation() {
        let mut table = FigureTable::default();
        let facts = |values: &[f64]| {
            let seen = values.iter().map(|value| seen("5%", BoardMeasure::Facts, *value));
            seen.collect::<Vec<_>>()
        };
        table.extend("a", facts(&[1.0, 0.0, 1.0]));
        table.extend("b", facts(&[1.0]));
        table.extend("b", vec![seen("5%", BoardMeasure::Stale, 2.0)]);
        let figures = table.figures("exam");
        let facts = figures
            .iter()
            .find(|figure| figure.is("exam", "5%", BoardMeasure::Facts));
        let facts = facts.expect("facts were observed");
        assert_eq!(
            (facts.mean, facts.total, facts.least, facts.observations),
            (0.75, 3.0, 0.0, 4)
        );
        assert_eq!(facts.by_cluster["a"], (2.0, 3.0));
        assert!(facts.low <= facts.mean && facts.mean <= facts.high && facts.high <= 1.0);
        let stale = figures.iter().find(|figure| figure.measure == BoardMeasure::Stale);
        assert_eq!(stale.map(BoardFigure::judged), Some(2.0));
        assert_eq!(figures.len(), 2);
    }
}
