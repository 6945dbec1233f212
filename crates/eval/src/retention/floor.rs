//! Figures that must be reached: `0.03=.56/.47/.46,0.05=…` are FUR, far and pair by budget.

use crate::retention::report::Measure;
use crate::retention::report::Report;

/// What must be reached at each budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    lines: Vec<FloorLine>,
}

#[derive(Clone, Debug, PartialEq)]
struct FloorLine {
    /// The arm it holds for; every arm under test where none is named.
    arm: Option<String>,
    budget: f64,
    wanted: Vec<(Measure, f64)>,
}

/// A figure that was not reached.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Shortfall {
    /// Whose.
    pub arm: String,
    /// At which budget.
    pub budget: f64,
    /// Of what; `over_budget` where the budget was not kept.
    pub measure: &'static str,
    /// What was wanted.
    pub wanted: f64,
    /// What there was; none where nothing was measured.
    pub got: Option<f64>,
}

/// A floor is for results within their budget: an arm that is over it at more than this share of the cuts has not met
/// any. One cut in twenty allows for counts that differ a little.
const MOST_OVER: f64 = 0.05;

/// In this order they stand in a line of a floor.
const MEASURES: [Measure; 3] = [Measure::Fur, Measure::Far, Measure::Pair];

impl Floor {
    /// Reads a floor: entries parted by commas or lines, `[ARM@]BUDGET=FUR[/FAR[/PAIR]]`; `#` begins a comment.
    pub fn parse(text: &str) -> Result<Self, String> {
        let uncommented = text.lines().map(|line| line.split('#').next().unwrap_or(""));
        let entries = uncommented.flat_map(|line| line.split(',')).map(str::trim);
        let lines: Result<Vec<_>, _> = entries.filter(|entry| !entry.is_empty()).map(parse_line).collect();
        let lines = lines?;
        if lines.is_empty() {
            Err("a floor without figures".to_owned())
        } else {
            Ok(Self { lines })
        }
    }

    /// What of it a report does not reach, over all sources together.
    pub fn shortfalls(&self, report: &Report) -> Vec<Shortfall> {
        let mut found = Vec::new();
        for line in &self.lines {
            let tested = report
                .tested()
                .filter(|arm| line.arm.as_deref().is_none_or(|wanted| wanted == *arm));
            let named = line
                .arm
                .as_deref()
                .filter(|wanted| !report.tested().any(|arm| arm == *wanted));
            for arm in tested.chain(named) {
                let over = report.over_budget(arm, line.budget).filter(|over| *over > MOST_OVER);
                found.extend(over.map(|over| Shortfall {
                    arm: arm.to_owned(),
                    budget: line.budget,
                    measure: "over_budget",
                    wanted: MOST_OVER,
                    got: Some(over),
                }));
                for (measure, wanted) in &line.wanted {
                    let got = report.mean(arm, line.budget, *measure);
                    if got.is_none_or(|got| got < *wanted) {
                        found.push(Shortfall {
                            arm: arm.to_owned(),
                            budget: line.budget,
                            measure: measure.name(),
                            wanted: *wanted,
                            got,
                        });
                    }
                }
            }
        }
        found
    }
}

fn parse_line(entry: &str) -> Result<FloorLine, String> {
    let problem = || format!("{entry:?} is not BUDGET=FUR/FAR/PAIR");
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|number| (0.0..=1.0).contains(number))
    };
    let (left, right) = entry.split_once('=').ok_or_else(problem)?;
    let (arm, budget) = match left.split_once('@') {
        Some((arm, budget)) => (Some(arm.trim().to_owned()), budget),
        None => (None, left),
    };
    let figures: Option<Vec<f64>> = right.split('/').map(number).collect();
    let figures = figures
        .filter(|figures| figures.len() <= MEASURES.len())
        .ok_or_else(problem)?;
    Ok(FloorLine {
        arm,
        budget: number(budget).ok_or_else(problem)?,
        wanted: MEASURES.into_iter().zip(figures).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_read_from_a_line_or_a_file() {
        let inline = Floor::parse("0.03=.56/.47/.46, ledger@0.1=.8").unwrap();
        let file =
            Floor::parse("# what the sketch reaches\n0.03=.56/.47/.46 # three per cent\n\nledger@0.1=.8\n").unwrap();
        assert_eq!(inline, file);
        assert_eq!(inline.lines[0].wanted.len(), 3);
        assert_eq!(inline.lines[1].arm.as_deref(), Some("ledger"));
        for broken in ["", "x", "0.1", "0.1=a", "2=.5", "0.1=.1/.2/.3/.4"] {
            assert!(Floor::parse(broken).is_err(), "{broken:?}");
        }
    }
}
