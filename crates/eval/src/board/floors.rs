//! Floors of the board: what a figure must reach, by set, measure and size.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::board::BoardSet;
use crate::board::figure::BoardFigure;
use crate::board::measure::BoardMeasure;
use crate::board::measure::MeasureKind;

/// Stands for every size of a measure.
const EVERY_SIZE: &str = "*";
/// A mean that is off by rounding still meets its floor.
const ROUNDING: f64 = 1e-9;

/// Floors as a file gives them: set, then measure, then size.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct BoardFloors {
    by_set: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>,
}

/// A floor that is not met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FloorFailure {
    /// The set.
    pub set: String,
    /// The size.
    pub size: String,
    /// The measure.
    pub measure: BoardMeasure,
    /// The lowest share, or the highest number of faults.
    pub wanted: f64,
    /// What there is; none where the set was measured and has no such figure.
    pub got: Option<f64>,
}

impl BoardFloors {
    /// What is wrong with the file: a set or a measure that does not exist would never be held against anything.
    pub fn check(&self) -> Result<(), String> {
        for (set, measures) in &self.by_set {
            if !BoardSet::columns().any(|column| column == set) {
                let known: Vec<&str> = BoardSet::columns().collect();
                return Err(format!("unknown set {set:?}; known: {}", known.join(", ")));
            }
            for measure in measures.keys() {
                if BoardMeasure::named(measure).is_none() {
                    let known: Vec<&str> = BoardMeasure::ALL.into_iter().map(BoardMeasure::name).collect();
                    return Err(format!(
                        "{set}: unknown measure {measure:?}; known: {}",
                        known.join(", ")
                    ));
                }
            }
        }
        Ok(())
    }

    /// The floors that figures do not meet. Sets without any figure were not measured and are passed over. A state over its
    /// target fails whether a floor says so or not.
    pub fn failures(&self, figures: &[BoardFigure]) -> Vec<FloorFailure> {
        let mut failures = Vec::new();
        for (set, measures) in &self.by_set {
            if !figures.iter().any(|figure| figure.set == *set) {
                continue;
            }
            for (name, sizes) in measures {
                let Some(measure) = BoardMeasure::named(name) else {
                    continue;
                };
                for (size, wanted) in sizes {
                    let own = figures.iter().filter(|figure| {
                        let is_size = size == EVERY_SIZE || figure.size == *size;
                        figure.set == *set && figure.measure == measure && is_size
                    });
                    let own: Vec<&BoardFigure> = own.collect();
                    if own.is_empty() {
                        failures.push(FloorFailure {
                            set: set.clone(),
                            size: size.clone(),
                            measure,
                            wanted: *wanted,
                            got: None,
                        });
                    }
                    failures.extend(
                        own.into_iter()
                            .filter(|figure| !is_met(figure, *wanted))
                            .map(|figure| failure(figure, *wanted)),
                    );
                }
            }
        }
        let over = figures
            .iter()
            .filter(|figure| figure.measure == BoardMeasure::OverTarget);
        failures.extend(
            over.filter(|figure| figure.total > 0.0)
                .map(|figure| failure(figure, 0.0)),
        );
        failures
    }
}

fn is_met(figure: &BoardFigure, wanted: f64) -> bool {
    match figure.kind {
        MeasureKind::Share => figure.judged() >= wanted - ROUNDING,
        MeasureKind::FaultShare | MeasureKind::FaultCount => figure.judged() <= wanted + ROUNDING,
    }
}

fn failure(figure: &BoardFigure, wanted: f64) -> FloorFailure {
    FloorFailure {
        set: figure.set.clone(),
        size: figure.size.clone(),
        measure: figure.measure,
        wanted,
        got: Some(figure.judged()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::figure::BoardObservation;
    use crate::board::figure::FigureTable;

    fn figures(set: &str, seen: &[(&str, BoardMeasure, f64)]) -> Vec<BoardFigure> {
        let mut table = FigureTable::default();
        let seen = seen.iter().map(|(size, measure, value)| BoardObservation {
            size: (*size).to_owned(),
            measure: *measure,
            value: *value,
        });
        table.extend("one", seen.collect());
        table.figures(set)
    }

    fn floors(text: &str) -> BoardFloors {
        serde_json::from_str(text).expect("the test's floors are JSON")
    }

    #[test]
    fn a_share_below_its_floor_and_a_fault_above_it_fail() {
        let floors = floors(r#"{"hermes": {"facts": {"10%": 0.6, "25%": 0.6}, "stale": {"*": 0}}}"#);
        assert_eq!(floors.check(), Ok(()));
        let seen = [
            ("10%", BoardMeasure::Facts, 0.5),
            ("25%", BoardMeasure::Facts, 0.6),
            ("10%", BoardMeasure::Stale, 1.0),
            ("25%", BoardMeasure::Stale, 0.0),
        ];
        let failures = floors.failures(&figures("hermes", &seen));
        let failed: Vec<_> = failures
            .iter()
            .map(|failure| (failure.size.as_str(), failure.measure))
            .collect();
        assert_eq!(failed, [("10%", BoardMeasure::Facts), ("10%", BoardMeasure::Stale)]);
        assert_eq!((failures[0].wanted, failures[0].got), (0.6, Some(0.5)));
    }

    #[test]
    fn a_set_that_was_not_measured_is_passed_over_and_a_missing_figure_is_not() {
        let floors = floors(r#"{"hermes": {"facts": {"10%": 0.6}}, "longmemeval": {"answers": {"5%": 0.6}}}"#);
        let failures = floors.failures(&figures("longmemeval", &[("10%", BoardMeasure::Answers, 1.0)]));
        assert_eq!(failures.len(), 1);
        assert_eq!((failures[0].set.as_str(), failures[0].got), ("longmemeval", None));
    }

    #[test]
    fn a_state_over_its_target_fails_without_a_floor() {
        let failures = BoardFloors::default().failures(&figures("hermes", &[("10%", BoardMeasure::OverTarget, 1.0)]));
        assert_eq!(failures.len(), 1);
    }

    #[test]
    fn names_that_do_not_exist_are_refused() {
        assert!(floors(r#"{"nope": {"facts": {"5%": 1}}}"#).check().is_err());
        assert!(floors(r#"{"hermes": {"nope": {"5%": 1}}}"#).check().is_err());
    }
}
