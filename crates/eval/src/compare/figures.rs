//! Figures and verdicts: each measure of each arm, over all probes and by what they ask for.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Serialize;

use crate::compare::Floor;
use crate::compare::collapse::Origins;
use crate::compare::collapse::falls;
use crate::compare::measure::Measure;
use crate::compare::measure::Origin;
use crate::compare::pairing::Pair;
use crate::compare::states::ArmStates;
use crate::compare::states::States;
use crate::fixture::Kind;
use crate::record::Sample;
use crate::stats::Resampled;
use crate::stats::clusters::gather;
use crate::stats::holm;
use crate::stats::median;

/// The chance of any false alarm within a family.
pub const SHARE: f64 = 0.05;
/// How often clusters are drawn: the level of the first of nine corrected questions is then the 27th of 4999.
const DRAWS: usize = 4999;

/// What a difference comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// Nothing that could not be chance.
    WithinNoise,
    /// Too few fixtures to say.
    TooFewFixtures,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::WithinNoise => "within noise",
            Verdict::TooFewFixtures => "too few fixtures",
        }
    }
}

/// One measure of one arm.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Which.
    pub measure: Measure,
    /// Where it comes from.
    pub origin: Origin,
    /// What it comes to.
    pub verdict: Verdict,
    /// The first run's mean over probes (for tokens and flaws: over fixtures), each the mean over its repeats.
    pub a: f64,
    /// The second run's.
    pub b: f64,
    /// The median over the first run's repeats of the mean over probes; for tokens and flaws the mean over fixtures of their medians.
    pub a_median: f64,
    /// The same of the second run.
    pub b_median: f64,
    /// The second minus the first.
    pub difference: f64,
    /// The lower end of the corrected interval of the difference; `None` for what is counted exactly, and with too few fixtures.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The p-value, uncorrected.
    pub p: Option<f64>,
    /// The p-value, corrected over the family.
    pub p_corrected: Option<f64>,
    /// How many questions the family has.
    pub family: usize,
    /// The true difference that would be found in 80 of 100 such comparisons; `None` as well where fixtures do not differ in it.
    pub least_detectable: Option<f64>,
    /// The difference that must be reached to count.
    pub floor: f64,
    /// How many probes (or states) are compared.
    pub pairs: usize,
    /// Of how many fixtures.
    pub fixtures: usize,
    /// What is new, where that is counted exactly.
    pub new: Vec<String>,
    /// What is gone, where that is counted exactly.
    pub gone: Vec<String>,
}

/// The figures of one arm, over all probes or those of one type.
#[derive(Clone, Debug, Serialize)]
pub struct Slice {
    /// The arm, or both.
    pub arm: String,
    /// Whether it is a control: reported, but no regression.
    pub is_control: bool,
    /// What the probes ask for; `None` for all.
    pub probe_type: Option<Kind>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// An arm of a comparison.
pub struct Arm<'a> {
    /// Its name.
    pub name: String,
    /// Whether it is a control.
    pub is_control: bool,
    /// Its probes.
    pub pairs: &'a [Pair<'a>],
    /// Its states.
    pub states: &'a ArmStates,
    /// Where facts of chained fixtures stand.
    pub origins: &'a Origins,
    /// What counts.
    pub floor: &'a Floor,
    /// Repeats of both runs.
    pub repeats: (u32, u32),
}

impl Arm<'_> {
    /// Its slices: all probes first, then each type. All probes are one family a source, the types together another.
    pub fn slices(&self) -> Vec<Slice> {
        let whole = vec![self.drafts(None)];
        let kinds = Kind::ALL.into_iter().map(Some);
        let parts: Vec<_> = kinds.map(|kind| self.drafts(kind)).collect();
        let slice = |kind: Option<Kind>, figures: Vec<Figure>| Slice {
            arm: self.name.clone(),
            is_control: self.is_control,
            probe_type: kind,
            figures,
        };
        let whole = decide(whole).into_iter().map(|figures| slice(None, figures));
        let parts = decide(parts).into_iter().zip(Kind::ALL);
        let parts = parts.map(|(figures, kind)| slice(Some(kind), figures));
        whole.chain(parts.filter(|slice| !slice.figures.is_empty())).collect()
    }

    fn drafts(&self, kind: Option<Kind>) -> Vec<Draft> {
        let pairs: Vec<&Pair<'_>> = self
            .pairs
            .iter()
            .filter(|pair| kind.is_none_or(|kind| pair.kind == kind))
            .collect();
        let measures = Measure::ALL.into_iter();
        measures
            .filter_map(|measure| match measure.is_of_states() {
                true if kind.is_some() => None,
                true if measure == Measure::Collapsed => self.collapsed(),
                true => self.of_states(measure),
                false => self.of_probes(measure, &pairs),
            })
            .collect()
    }

    fn of_probes(&self, measure: Measure, pairs: &[&Pair<'_>]) -> Option<Draft> {
        let mean = |samples: &[&Sample]| mean(samples.iter().filter_map(|sample| measure.of(sample)));
        let paired: Vec<(&str, f64, f64)> = pairs
            .iter()
            .filter_map(|pair| Some((pair.fixture, mean(&pair.a)?, mean(&pair.b)?)))
            .collect();
        let medians = (
            by_repeat(pairs.iter().flat_map(|pair| &pair.a), measure),
            by_repeat(pairs.iter().flat_map(|pair| &pair.b), measure),
        );
        let share = pairs.len() as f64 / self.pairs.len().max(1) as f64;
        let mut draft = self.draft(measure, &paired, medians, share)?;
        if measure.is_exact() {
            for pair in pairs {
                let (ours, theirs) = (leaks(&pair.a, measure), leaks(&pair.b, measure));
                let named = |leak: &String| format!("{} / {}: {leak}", pair.fixture, pair.probe);
                let new = theirs.difference(&ours).map(named);
                draft.figure.new.extend(new);
                let gone = ours.difference(&theirs).map(named);
                draft.figure.gone.extend(gone);
            }
        }
        Some(draft)
    }

    fn of_states(&self, measure: Measure) -> Option<Draft> {
        let states = &self.states.fixtures;
        let values = |states: &States| match measure {
            Measure::Flaws => states.flaws.clone(),
            _ => states.tokens.clone(),
        };
        let (mut paired, mut middles) = (Vec::new(), (Vec::new(), Vec::new()));
        for state in states {
            let (ours, theirs) = values(state);
            middles.0.push(median(ours.clone()));
            middles.1.push(median(theirs.clone()));
            let means = mean(ours.into_iter()).zip(mean(theirs.into_iter()));
            paired.extend(means.map(|(a, b)| (state.fixture.as_str(), a, b)));
        }
        let medians = (mean(middles.0.into_iter())?, mean(middles.1.into_iter())?);
        let mut draft = self.draft(measure, &paired, medians, 1.0)?;
        if measure == Measure::Flaws {
            let named = |state: &States, code: &String| format!("{}: {code}", state.fixture);
            for state in states {
                draft
                    .figure
                    .new
                    .extend(state.new_flaws.iter().map(|code| named(state, code)));
                draft
                    .figure
                    .gone
                    .extend(state.gone_flaws.iter().map(|code| named(state, code)));
            }
        }
        Some(draft)
    }

    /// Fixtures of which much was lost at once.
    fn collapsed(&self) -> Option<Draft> {
        if self.states.is_model_made {
            return None;
        }
        let falls = falls(self.pairs, self.origins);
        let count = |is_counted: bool| f64::from(u8::from(is_counted));
        let paired: Vec<(&str, f64, f64)> = falls
            .iter()
            .map(|(fixture, fall)| (*fixture, count(fall.is_recovery()), count(fall.is_collapse())))
            .collect();
        let mut draft = self.draft(Measure::Collapsed, &paired, (0.0, 0.0), 1.0)?;
        let collapsed = falls.iter().filter(|(_, fall)| fall.is_collapse());
        draft.figure.new = collapsed.map(|(fixture, fall)| fall.words(fixture)).collect();
        let recovered = falls.iter().filter(|(_, fall)| fall.is_recovery());
        draft.figure.gone = recovered.map(|(fixture, _)| (*fixture).to_owned()).collect();
        Some(draft)
    }

    /// A figure whose verdict is still open: it depends on the others of its family.
    fn draft(
        &self,
        measure: Measure,
        paired: &[(&str, f64, f64)],
        (a_median, b_median): (f64, f64),
        share_of_probes: f64,
    ) -> Option<Draft> {
        let clusters = gather(paired.iter().map(|(fixture, a, b)| (b - a, *fixture)));
        let resampled = Resampled::new(&clusters, if measure.is_exact() { 0 } else { DRAWS })?;
        let a = mean(paired.iter().map(|(_, a, _)| *a))?;
        let b = mean(paired.iter().map(|(_, _, b)| *b))?;
        let is_repeatable = measure.is_exact()
            || measure == Measure::Tokens
            || (measure.origin() == Origin::State && !self.states.is_model_made);
        let floor = match is_repeatable {
            true => 0.0,
            false => self.floor.of(measure, &self.name, self.repeats, share_of_probes),
        };
        Some(Draft {
            figure: Figure {
                measure,
                origin: measure.origin(),
                verdict: Verdict::WithinNoise,
                a,
                b,
                a_median,
                b_median,
                difference: resampled.mean,
                low: None,
                high: None,
                p: None,
                p_corrected: None,
                family: 1,
                least_detectable: None,
                floor,
                pairs: paired.len(),
                fixtures: resampled.clusters,
                new: Vec::new(),
                gone: Vec::new(),
            },
            resampled,
        })
    }
}

struct Draft {
    figure: Figure,
    resampled: Resampled,
}

/// Gives every figure its verdict; figures of one source, over all slices that are given together, are one family.
fn decide(mut slices: Vec<Vec<Draft>>) -> Vec<Vec<Figure>> {
    for origin in [Origin::Judge, Origin::Answer, Origin::State] {
        let asked = |draft: &&mut Draft| {
            let figure = &draft.figure;
            figure.origin == origin && !figure.measure.is_exact() && draft.resampled.is_trusted()
        };
        let mut family: Vec<&mut Draft> = slices.iter_mut().flatten().filter(asked).collect();
        let values: Vec<f64> = family.iter().map(|draft| draft.resampled.p_value()).collect();
        for ((draft, p), corrected) in family.iter_mut().zip(&values).zip(holm(&values, SHARE)) {
            let (figure, resampled) = (&mut draft.figure, &draft.resampled);
            let estimate = resampled.estimate(corrected.share);
            let first = SHARE / values.len() as f64;
            figure.low = Some(estimate.low);
            figure.high = Some(estimate.high);
            figure.p = Some(*p);
            figure.p_corrected = Some(corrected.p);
            figure.family = values.len();
            // Where nothing varies nothing can be said of how much it would vary.
            let varies = resampled.error > 0.0;
            figure.least_detectable = varies.then(|| resampled.least_detectable(first, figure.floor));
            let counts = corrected.p <= SHARE && figure.difference.abs() >= figure.floor;
            figure.verdict = match (figure.difference > 0.0) == figure.measure.is_more_better() {
                _ if !counts => Verdict::WithinNoise,
                true => Verdict::Better,
                false => Verdict::Worse,
            };
        }
    }
    let figures = slices.into_iter().map(|slice| slice.into_iter().map(settled).collect());
    figures.collect()
}

/// What needs no family: exact counts, and what has too few fixtures.
fn settled(draft: Draft) -> Figure {
    let mut figure = draft.figure;
    if figure.measure.is_exact() {
        // A new secret is not made good by one that is gone.
        figure.verdict = match (figure.new.is_empty(), figure.gone.is_empty()) {
            (false, _) => Verdict::Worse,
            (true, false) => Verdict::Better,
            (true, true) => Verdict::WithinNoise,
        };
    } else if !draft.resampled.is_trusted() {
        figure.verdict = Verdict::TooFewFixtures;
    }
    figure
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The median over repeats of the mean over samples.
fn by_repeat<'a>(samples: impl Iterator<Item = &'a &'a Sample>, measure: Measure) -> f64 {
    let mut repeats: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        repeats.entry(sample.repeat).or_default().extend(measure.of(sample));
    }
    median(
        repeats
            .into_values()
            .filter_map(|values| mean(values.into_iter()))
            .collect(),
    )
}

/// What states leak in any repeat, and answers in more than half of them: models say things now and then. Where a secret stands is not
/// which one it is: lines move.
fn leaks(samples: &[&Sample], measure: Measure) -> BTreeSet<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples {
        let leaks = match measure {
            Measure::StateLeaks => sample.state.leaks.iter(),
            _ => sample.graded.as_ref().map_or([].iter(), |grade| grade.leaks.iter()),
        };
        let named: BTreeSet<&str> = leaks
            .map(|leak| leak.rsplit_once(", line ").map_or(leak.as_str(), |(named, _)| named))
            .collect();
        for leak in named {
            *counts.entry(leak).or_default() += 1;
        }
    }
    let is_usual = |(_, count): &(&str, usize)| measure == Measure::StateLeaks || count * 2 > samples.len();
    counts
        .into_iter()
        .filter(is_usual)
        .map(|(leak, _)| leak.to_owned())
        .collect()
}
