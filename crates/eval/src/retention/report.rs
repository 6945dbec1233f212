//! What a study comes to: means with intervals, paired differences against every baseline, and where an arm is worse
//! than the best of them. Field names are the documented JSON shape.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::retention::study::Contender;
use crate::retention::study::Measured;
use crate::retention::study::Row;
use crate::stats::Estimate;
use crate::stats::estimate;
use crate::stats::median;

/// The name of the group of all sources.
const ALL: &str = "all";
/// A result is over its budget when it is so much larger: counts of joined and parted texts differ a little.
const TOLERANCE: f64 = 1.02;

/// One of the four shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Of what is needed.
    Fur,
    /// Of what is needed and far.
    Far,
    /// Of what stood together.
    Pair,
    /// Of what is needed, kept or fetchable.
    Pointer,
}

impl Measure {
    /// All of them, in the order in which reports list them.
    pub const ALL: [Measure; 4] = [Measure::Fur, Measure::Far, Measure::Pair, Measure::Pointer];
    /// Those that differences are taken of.
    const COMPARED: [Measure; 3] = [Measure::Fur, Measure::Far, Measure::Pair];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Fur => "fur",
            Measure::Far => "far",
            Measure::Pair => "pair",
            Measure::Pointer => "ptr",
        }
    }

    fn of(self, measured: &Measured) -> Option<f64> {
        match self {
            Measure::Fur => Some(measured.score.fur),
            Measure::Far => measured.score.far,
            Measure::Pair => measured.score.pair,
            Measure::Pointer => Some(measured.score.pointer),
        }
    }
}

/// Everything a study comes to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The budgets, as shares of the prefix.
    pub budgets: Vec<f64>,
    /// All sources together, then each.
    pub groups: Vec<Group>,
    /// Where an arm under test is significantly worse than the best baseline.
    pub below_best: Vec<Below>,
}

/// The figures of some sessions.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The source, or `all`.
    pub group: String,
    /// How many cuts.
    pub cuts: usize,
    /// How many sessions.
    pub sessions: usize,
    /// The median of the tokens before a cut.
    pub median_prefix_tokens: usize,
    /// The median of how many identifiers are needed.
    pub median_needed: usize,
    /// The mean share of them that is far.
    pub far_share: f64,
    /// Every arm at every budget.
    pub arms: Vec<Figures>,
    /// Every arm under test against every baseline.
    pub differences: Vec<Difference>,
}

/// An arm at a budget.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The arm.
    pub arm: String,
    /// Whether it is one of those to beat.
    pub baseline: bool,
    /// The budget.
    pub budget: f64,
    /// The share of the needed that it keeps.
    pub fur: Option<Estimate>,
    /// Of what is far.
    pub far: Option<Estimate>,
    /// Of what stood together.
    pub pair: Option<Estimate>,
    /// Kept or fetchable.
    pub ptr: Option<Estimate>,
    /// The mean of what it used, as a share of the prefix.
    pub used: f64,
    /// The share of cuts at which it is over the budget.
    pub over_budget: f64,
}

impl Figures {
    /// One of the shares.
    pub fn share(&self, measure: Measure) -> Option<Estimate> {
        match measure {
            Measure::Fur => self.fur,
            Measure::Far => self.far,
            Measure::Pair => self.pair,
            Measure::Pointer => self.ptr,
        }
    }
}

/// An arm minus a baseline, on the same cuts.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The arm.
    pub arm: String,
    /// The baseline.
    pub baseline: String,
    /// The budget.
    pub budget: f64,
    /// Of which share.
    pub measure: &'static str,
    /// The difference.
    #[serde(flatten)]
    pub difference: Estimate,
}

/// An arm that is worse than the best baseline, beyond doubt.
#[derive(Clone, Debug, Serialize)]
pub struct Below {
    /// Where.
    pub group: String,
    /// How it compares.
    #[serde(flatten)]
    pub against: Difference,
}

impl Report {
    /// Puts the report together.
    pub fn new(rows: &[Row], contenders: &[Contender], budgets: &[f64]) -> Self {
        let table = Table { contenders, budgets };
        let mut sources: Vec<&Arc<str>> = Vec::new();
        for row in rows {
            if !sources.contains(&&row.source) {
                sources.push(&row.source);
            }
        }
        let mut groups = vec![table.group(ALL, rows.iter().collect())];
        if sources.len() > 1 {
            let of = |source: &Arc<str>| rows.iter().filter(|row| row.source == *source).collect();
            groups.extend(sources.into_iter().map(|source| table.group(source, of(source))));
        }
        let below_best = groups.iter().flat_map(below_best).collect();
        Self {
            budgets: budgets.to_vec(),
            groups,
            below_best,
        }
    }

    /// The arms under test.
    pub fn tested(&self) -> impl Iterator<Item = &str> {
        let figures = self.groups.first().map_or(&[][..], |group| &group.arms);
        let first = figures.first().map_or(0.0, |figures| figures.budget);
        let tested = move |figures: &&Figures| !figures.baseline && figures.budget == first;
        figures.iter().filter(tested).map(|figures| figures.arm.as_str())
    }

    fn of_all(&self, arm: &str, budget: f64) -> Option<&Figures> {
        let mut figures = self.groups.first()?.arms.iter();
        figures.find(|figures| figures.arm == arm && figures.budget == budget)
    }

    /// A mean over all sources.
    pub fn mean(&self, arm: &str, budget: f64, measure: Measure) -> Option<f64> {
        Some(self.of_all(arm, budget)?.share(measure)?.mean)
    }

    /// The share of all cuts at which an arm is over its budget.
    pub fn over_budget(&self, arm: &str, budget: f64) -> Option<f64> {
        Some(self.of_all(arm, budget)?.over_budget)
    }
}

/// Where in a row which contender's figures stand.
struct Table<'a> {
    contenders: &'a [Contender],
    budgets: &'a [f64],
}

impl Table<'_> {
    fn measured<'r>(&self, row: &'r Row, contender: usize, budget: usize) -> &'r Measured {
        &row.measured[contender * self.budgets.len() + budget]
    }

    fn group(&self, name: &str, rows: Vec<&Row>) -> Group {
        let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.source, &row.id)).collect();
        let far: f64 = rows.iter().map(|row| row.far as f64 / row.needed as f64).sum();
        let mut arms = Vec::new();
        let mut differences = Vec::new();
        for contender in 0..self.contenders.len() {
            for budget in 0..self.budgets.len() {
                arms.push(self.figures(&rows, contender, budget));
            }
            if !self.contenders[contender].is_baseline() {
                differences.extend(self.differences(&rows, contender));
            }
        }
        Group {
            group: name.to_owned(),
            cuts: rows.len(),
            sessions: sessions.len(),
            median_prefix_tokens: median(rows.iter().map(|row| row.prefix_tokens as f64).collect()) as usize,
            median_needed: median(rows.iter().map(|row| row.needed as f64).collect()) as usize,
            far_share: if rows.is_empty() { 0.0 } else { far / rows.len() as f64 },
            arms,
            differences,
        }
    }

    fn figures(&self, rows: &[&Row], contender: usize, budget: usize) -> Figures {
        let share = |measure: Measure| {
            let observed = rows.iter().filter_map(|row| {
                let value = measure.of(self.measured(row, contender, budget))?;
                Some((value, row.cluster.as_str()))
            });
            estimate(observed)
        };
        let used: Vec<f64> = rows
            .iter()
            .map(|row| self.measured(row, contender, budget).used)
            .collect();
        let limit = TOLERANCE * self.budgets[budget];
        let mean = |sum: f64| if used.is_empty() { 0.0 } else { sum / used.len() as f64 };
        Figures {
            arm: self.contenders[contender].name().to_owned(),
            baseline: self.contenders[contender].is_baseline(),
            budget: self.budgets[budget],
            fur: share(Measure::Fur),
            far: share(Measure::Far),
            pair: share(Measure::Pair),
            ptr: share(Measure::Pointer),
            used: mean(used.iter().sum()),
            over_budget: mean(used.iter().filter(|used| **used > limit).count() as f64),
        }
    }

    fn differences(&self, rows: &[&Row], contender: usize) -> Vec<Difference> {
        let mut differences = Vec::new();
        let baselines = (0..self.contenders.len()).filter(|index| self.contenders[*index].is_baseline());
        for baseline in baselines {
            for (budget, share) in self.budgets.iter().enumerate() {
                for measure in Measure::COMPARED {
                    let observed = rows.iter().filter_map(|row| {
                        let own = measure.of(self.measured(row, contender, budget))?;
                        let other = measure.of(self.measured(row, baseline, budget))?;
                        Some((own - other, row.cluster.as_str()))
                    });
                    let difference = estimate(observed).map(|difference| Difference {
                        arm: self.contenders[contender].name().to_owned(),
                        baseline: self.contenders[baseline].name().to_owned(),
                        budget: *share,
                        measure: measure.name(),
                        difference,
                    });
                    differences.extend(difference);
                }
            }
        }
        differences
    }
}

/// Where the best baseline of a group beats an arm, for every arm, budget and share.
fn below_best(group: &Group) -> Vec<Below> {
    let mut below = Vec::new();
    for figures in group.arms.iter().filter(|figures| !figures.baseline) {
        for measure in Measure::COMPARED {
            let rivals = group
                .arms
                .iter()
                .filter(|rival| rival.baseline && rival.budget == figures.budget);
            let mean = |rival: &Figures| rival.share(measure).map_or(0.0, |estimate| estimate.mean);
            let Some(best) = rivals.max_by(|one, other| mean(one).total_cmp(&mean(other))) else {
                continue;
            };
            let is_own = |difference: &&Difference| {
                difference.arm == figures.arm
                    && difference.baseline == best.arm
                    && difference.budget == figures.budget
                    && difference.measure == measure.name()
            };
            let worse = group.differences.iter().find(is_own);
            below.extend(
                worse
                    .filter(|worse| worse.difference.is_below_zero())
                    .map(|worse| Below {
                        group: group.group.clone(),
                        against: worse.clone(),
                    }),
            );
        }
    }
    below
}
