//! Noise: how far apart two runs of one and the same configuration come out.
//!
//! Models answer and judge differently every time. What repeats of the same thing differ by says how large a difference has to
//! be before it can be more than that. Repeats of one run do, and of several runs all the better: those show what changes from
//! day to day, too.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::compare::measure::Measure;
use crate::compare::setup;
use crate::record::Run;
use crate::stats::student;

/// The effects that the report says the needed repeats of.
pub const EFFECTS: [f64; 4] = [0.2, 0.3, 0.5, 1.0];
/// The chance with which two equal runs may pass the floor.
const SHARE: f64 = 0.05;
/// So many repeats are looked at before an effect is said to be out of reach; nobody pays for more.
const MOST_REPEATS: u32 = 1000;

/// Why noise cannot be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// There is nothing that was done twice.
    #[error("noise needs repeats: a run with several, or several runs of one configuration")]
    NoRepeats,
    /// The runs are not of one configuration.
    #[error("{label} is not of the same configuration as {first}: {what} differs ({one} and {other})")]
    Differs {
        /// The first run.
        first: String,
        /// The one that differs.
        label: String,
        /// In what.
        what: String,
        /// What the first has.
        one: String,
        /// What this one has.
        other: String,
    },
}

/// The noise of one measure of one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noisy {
    /// The arm.
    pub arm: String,
    /// The measure.
    pub measure: Measure,
    /// The standard deviation of a single sample around the mean of its repeats.
    pub deviation: f64,
    /// The standard deviation of the mean over all probes of one repeat.
    pub mean_deviation: f64,
    /// The degrees of freedom behind it.
    pub freedom: f64,
    /// How many probes have repeats.
    pub probes: usize,
    /// The difference that two runs with as many repeats as these exceed by chance in 5 %.
    pub floor: f64,
    /// How many repeats it takes so that a true difference is seen in 80 of 100 comparisons, for each effect; `None` beyond reason.
    pub repeats_for: Vec<(f64, Option<u32>)>,
}

/// What equal runs differ by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The version of this form.
    pub version: u32,
    /// The runs it was measured on.
    pub runs: Vec<String>,
    /// How many repeats each of them has.
    pub repeats: u32,
    /// Who judged.
    pub judge: Option<String>,
    /// Every measure of every arm.
    pub measures: Vec<Noisy>,
}

impl Noise {
    /// The version of the form that this program writes.
    pub const VERSION: u32 = 1;

    /// Measures it on runs of one configuration, or on one run with repeats.
    pub fn measure(runs: &[&Run]) -> Result<Self, NoiseError> {
        let Some(first) = runs.first() else {
            return Err(NoiseError::NoRepeats);
        };
        for run in runs {
            same(first, run)?;
        }
        let mut measures = Vec::new();
        let repeats = runs.iter().map(|run| run.manifest.repeats).min().unwrap_or(1).max(1);
        for arm in &first.manifest.arms {
            for measure in Measure::ALL.into_iter().filter(|measure| !measure.is_exact()) {
                measures.extend(noisy(runs, &arm.name, measure, repeats));
            }
        }
        if measures.is_empty() {
            return Err(NoiseError::NoRepeats);
        }
        Ok(Self {
            version: Self::VERSION,
            runs: runs.iter().map(|run| run.manifest.label.clone()).collect(),
            repeats,
            judge: first.manifest.judge.as_ref().map(|judge| judge.id.clone()),
            measures,
        })
    }

    /// The difference that counts for an arm's measure, between runs of so many repeats, over a share of the probes. An arm that
    /// was not measured is taken for the noisiest that was; `None` where no arm was measured so.
    pub fn floor(&self, measure: Measure, arm: &str, repeats: (u32, u32), share_of_probes: f64) -> Option<f64> {
        let measured = self.measures.iter().filter(|noisy| noisy.measure == measure);
        let own = measured.clone().find(|noisy| noisy.arm == arm);
        let noisiest = measured.max_by(|one, other| one.mean_deviation.total_cmp(&other.mean_deviation));
        let noisy = own.or(noisiest)?;
        Some(noisy.floor_at(repeats) / share_of_probes.clamp(1e-3, 1.0).sqrt())
    }
}

impl Noisy {
    fn floor_at(&self, (a, b): (u32, u32)) -> f64 {
        let share = 1.0 / f64::from(a.max(1)) + 1.0 / f64::from(b.max(1));
        student::critical(SHARE, self.freedom) * self.mean_deviation * share.sqrt()
    }

    /// How many repeats each of two runs needs so that a true difference of this size is seen in 80 of 100 comparisons, as far
    /// as the models' noise is concerned: more repeats do not make the fixtures more.
    pub fn repeats_for(&self, effect: f64) -> Option<u32> {
        let reach = student::critical(SHARE, self.freedom) + student::critical(0.4, self.freedom);
        let needed = 2.0 * (self.mean_deviation * reach / effect).powi(2);
        let needed = needed.ceil().max(1.0);
        (needed <= f64::from(MOST_REPEATS)).then_some(needed as u32)
    }
}

fn same(first: &Run, run: &Run) -> Result<(), NoiseError> {
    let differs = |what: String, one: String, other: String| NoiseError::Differs {
        first: first.manifest.label.clone(),
        label: run.manifest.label.clone(),
        what,
        one,
        other,
    };
    if let Some((part, other)) = setup::differing(&first.manifest, &run.manifest).into_iter().next() {
        return Err(differs(part.what, part.value, other));
    }
    let digests = |run: &Run| -> Vec<String> {
        let fixtures = run.manifest.fixtures.iter();
        fixtures
            .map(|fixture| format!("{} {} {}", fixture.name, fixture.digest, fixture.probes_digest))
            .collect()
    };
    let (ours, theirs) = (digests(first), digests(run));
    let other = ours.iter().zip(&theirs).find(|(one, other)| one != other);
    match other {
        Some((one, other)) => Err(differs("a fixture".to_owned(), one.clone(), other.clone())),
        None if ours.len() != theirs.len() => {
            let count = |list: &[String]| list.len().to_string();
            Err(differs(
                "the number of fixtures".to_owned(),
                count(&ours),
                count(&theirs),
            ))
        }
        None => Ok(()),
    }
}

/// What the repeats of an arm's probes differ by. Probes of one fixture and repeat share a state, so their deviations are added
/// up before they are squared.
fn noisy(runs: &[&Run], arm: &str, measure: Measure, repeats: u32) -> Option<Noisy> {
    // Values by fixture and probe, each with its run and repeat.
    type Repeats = Vec<((usize, u32), f64)>;
    let mut probes: BTreeMap<(&str, &str), Repeats> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        for sample in run.samples.iter().filter(|sample| sample.arm == arm) {
            if let Some(value) = measure.of(sample) {
                let probe = probes.entry((&sample.fixture, &sample.probe)).or_default();
                probe.push(((place, sample.repeat), value));
            }
        }
    }
    probes.retain(|_, values| values.len() > 1);
    let (mut squares, mut spare) = (0.0, 0.0);
    // By fixture: the summed deviations of each repeat.
    let mut sums: BTreeMap<&str, BTreeMap<(usize, u32), f64>> = BTreeMap::new();
    for ((fixture, _), values) in &probes {
        let mean = values.iter().map(|(_, value)| value).sum::<f64>() / values.len() as f64;
        spare += values.len() as f64 - 1.0;
        for (repeat, value) in values {
            squares += (value - mean).powi(2);
            *sums.entry(fixture).or_default().entry(*repeat).or_default() += value - mean;
        }
    }
    if probes.is_empty() {
        return None;
    }
    let variances: Vec<(f64, f64)> = sums
        .values()
        .map(|repeats| {
            let freedom = (repeats.len() as f64 - 1.0).max(1.0);
            (repeats.values().map(|sum| sum * sum).sum::<f64>() / freedom, freedom)
        })
        .collect();
    let total: f64 = variances.iter().map(|(variance, _)| variance).sum();
    let spread: f64 = variances
        .iter()
        .map(|(variance, freedom)| variance * variance / freedom)
        .sum();
    let mut noisy = Noisy {
        arm: arm.to_owned(),
        measure,
        deviation: (squares / spare).sqrt(),
        mean_deviation: total.sqrt() / probes.len() as f64,
        // Welch's and Satterthwaite's: variances that were added up are known as well as the largest of them.
        freedom: if spread > 0.0 {
            (total * total / spread).max(1.0)
        } else {
            spare.max(1.0)
        },
        probes: probes.len(),
        floor: 0.0,
        repeats_for: Vec::new(),
    };
    noisy.floor = noisy.floor_at((repeats, repeats));
    noisy.repeats_for = EFFECTS
        .iter()
        .map(|effect| (*effect, noisy.repeats_for(effect * measure.scale() / 5.0)))
        .collect();
    Some(noisy)
}
