//! The figures of a run: means with intervals, by arm and measure and by type of probe.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fixture::Kind;
use crate::record::Dimension;
use crate::record::Run;
use crate::record::Sample;
use crate::stats;
use crate::stats::Estimate;

/// A mean with its interval, of one arm.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The arm's place.
    pub arm: usize,
    /// The mean and its interval.
    #[serde(flatten)]
    pub estimate: Bounds,
    /// How many observations there are.
    pub count: usize,
}

/// An estimate, to as many places as anybody reads.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bounds {
    /// The mean.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many fixtures it rests on.
    pub clusters: usize,
}

impl From<Estimate> for Bounds {
    fn from(estimate: Estimate) -> Self {
        let rounded = |value: f64| (value * 10_000.0).round() / 10_000.0;
        Self {
            mean: rounded(estimate.mean),
            low: rounded(estimate.low),
            high: rounded(estimate.high),
            clusters: estimate.clusters,
        }
    }
}

/// What a chart of intervals shows.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// What is measured.
    pub measure: &'static str,
    /// `score` or `share`.
    pub unit: &'static str,
    /// The left end of its axis.
    pub least: f64,
    /// The right end of its axis.
    pub most: f64,
    /// The arms.
    pub rows: Vec<Row>,
}

/// Tokens and facts that an arm leaves.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The arm's place.
    pub arm: usize,
    /// Tokens of the state as a share of the fixture's.
    pub tokens: Bounds,
    /// Expected facts that stand in the state.
    pub recall: Bounds,
}

/// All of them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// By measure.
    pub dimensions: Vec<Panel>,
    /// The first measure by type of probe.
    pub kinds: Vec<Panel>,
    /// Tokens against facts.
    pub tradeoff: Vec<Point>,
}

/// Something that a sample has a figure for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The mean of the judge's six scores.
    Overall,
    /// One of them.
    Judged(Dimension),
    /// Expected facts in the answer.
    Answer,
    /// Expected facts in the state.
    State,
}

impl Measure {
    /// Those that the samples have figures for, the most telling first.
    pub fn of<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Vec<Self> {
        let judged = Dimension::ALL.into_iter().map(Self::Judged);
        let all = std::iter::once(Self::Overall)
            .chain(judged)
            .chain([Self::Answer, Self::State]);
        all.filter(|measure| samples.clone().any(|sample| measure.value(sample).is_some()))
            .collect()
    }

    /// The figure of a sample.
    pub fn value(self, sample: &Sample) -> Option<f64> {
        let scores = sample.judged.as_ref().map(|judged| &judged.scores);
        let value = match self {
            Self::Overall => scores?.overall(),
            Self::Judged(dimension) => scores?.on(dimension),
            Self::Answer => sample.graded.as_ref()?.recall(),
            Self::State => sample.state.recall(),
        };
        value.is_finite().then_some(value)
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overall => "Overall",
            Self::Judged(dimension) => dimension.title(),
            Self::Answer => "Facts in the answer",
            Self::State => "Facts in the state",
        }
    }

    /// What it is counted in.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Overall | Self::Judged(_) => "score",
            Self::Answer | Self::State => "share",
        }
    }

    /// The most it can be: a judge's scale ends at five.
    pub fn most(self) -> f64 {
        match self {
            Self::Overall | Self::Judged(_) => 5.0,
            Self::Answer | Self::State => 1.0,
        }
    }
}

impl Figures {
    /// The figures of a run; `shares` are the tokens each state left, by fixture and arm.
    pub fn new(run: &Run, shares: &[(String, String, f64)]) -> Self {
        let measures = Measure::of(run.samples.iter());
        let panel = |title: &str, measure: Measure, kind: Option<Kind>| Panel {
            title: title.to_owned(),
            measure: measure.title(),
            unit: measure.unit(),
            least: 0.0,
            most: measure.most(),
            rows: rows(run, measure, kind),
        };
        let dimensions = measures.iter().map(|measure| panel(measure.title(), *measure, None));
        let first = measures.first().copied();
        let kinds = first.into_iter().flat_map(|measure| {
            let kinds = Kind::ALL.into_iter();
            kinds.map(move |kind| panel(kind.name(), measure, Some(kind)))
        });
        Self {
            dimensions: dimensions.collect(),
            kinds: kinds.filter(|panel| !panel.rows.is_empty()).collect(),
            tradeoff: points(run, shares),
        }
    }
}

fn rows(run: &Run, measure: Measure, kind: Option<Kind>) -> Vec<Row> {
    // One walk over the samples, not one an arm: a run may have ten thousand.
    let mut observed: BTreeMap<&str, Vec<(f64, &str)>> = BTreeMap::new();
    for sample in run
        .samples
        .iter()
        .filter(|sample| kind.is_none_or(|kind| sample.kind == kind))
    {
        if let Some(value) = measure.value(sample) {
            observed.entry(&sample.arm).or_default().push((value, &sample.fixture));
        }
    }
    let arms = run.manifest.arms.iter().enumerate();
    arms.filter_map(|(arm, used)| {
        let observed = observed.get(used.name.as_str())?;
        let estimate = stats::estimate(observed.iter().copied())?
            .on_scale(measure.most())
            .into();
        let count = observed.len();
        Some(Row { arm, estimate, count })
    })
    .collect()
}

fn points(run: &Run, shares: &[(String, String, f64)]) -> Vec<Point> {
    let recalls = rows(run, Measure::State, None);
    let point = |row: &Row| {
        let name = &run.manifest.arms[row.arm].name;
        let own = shares.iter().filter(|(_, arm, _)| arm == name);
        let tokens = stats::estimate(own.map(|(fixture, _, share)| (*share, fixture.as_str())))?.into();
        Some(Point {
            arm: row.arm,
            tokens,
            recall: row.estimate,
        })
    };
    recalls.iter().filter_map(point).collect()
}
