//! Two runs beside each other: differences over the probes that both have, by arm and measure.
//!
//! Plain differences with their intervals. Whether one is more than noise is for others to say.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Serialize;

use crate::fixture::Kind;
use crate::record::ArmUsed;
use crate::record::Run;
use crate::record::Sample;
use crate::stats;
use crate::view::Tone;
use crate::view::Verdict;
use crate::view::figures::Bounds;
use crate::view::figures::Measure;
use crate::view::figures::Panel;
use crate::view::figures::Row;

/// The second run minus the first.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// By measure.
    pub dimensions: Vec<Panel>,
    /// The first measure by type of probe.
    pub kinds: Vec<Panel>,
}

/// Samples by fixture, arm and probe: the repeats of one question.
type Asked<'a> = BTreeMap<(&'a str, &'a str, &'a str), Vec<&'a Sample>>;

impl Comparison {
    /// Compares; what only one of the runs has is noted.
    pub fn new(first: &Run, second: &Run, notes: &mut Vec<String>) -> Self {
        let sides = [asked(first), asked(second)];
        note_alone(first, second, notes);
        let in_first = Measure::of(first.samples.iter());
        let measures = Measure::of(second.samples.iter()).into_iter();
        let measures: Vec<Measure> = measures.filter(|measure| in_first.contains(measure)).collect();
        let panel = |title: &str, measure: Measure, kind: Option<Kind>| Panel {
            title: title.to_owned(),
            measure: measure.title(),
            unit: measure.unit(),
            least: 0.0,
            most: 0.0,
            rows: differences(first, &sides, measure, kind),
        };
        let dimensions = measures.iter().map(|measure| panel(measure.title(), *measure, None));
        let mut dimensions: Vec<Panel> = dimensions.filter(|panel| !panel.rows.is_empty()).collect();
        let main = measures.first().copied();
        let kinds = main.into_iter().flat_map(|measure| {
            let kinds = Kind::ALL.into_iter();
            kinds.map(move |kind| panel(kind.name(), measure, Some(kind)))
        });
        let mut kinds: Vec<Panel> = kinds.filter(|panel| !panel.rows.is_empty()).collect();
        if dimensions.is_empty() {
            notes.push("the runs have no probe and arm in common".to_owned());
        }
        scale(&mut dimensions);
        scale(&mut kinds);
        Self { dimensions, kinds }
    }

    /// What the intervals say, for a page that nobody gave verdicts for. No word or colour of a verdict: with nine measures
    /// and five arms some intervals leave zero out by chance, those of arms that nobody changed among them.
    pub fn verdicts(&self, arms: &[ArmUsed]) -> Vec<Verdict> {
        let mut lines = Vec::new();
        for (arm, used) in arms.iter().enumerate() {
            for (is_told, side) in [(is_below as fn(&Bounds) -> bool, "below"), (is_above, "above")] {
                let panels = self.dimensions.iter();
                let rows = panels.flat_map(|panel| panel.rows.iter().map(move |row| (panel, row)));
                let told = rows.filter(|(_, row)| row.arm == arm && is_told(&row.estimate));
                let told: Vec<String> = told.map(|(panel, row)| said(panel, &row.estimate)).collect();
                if !told.is_empty() {
                    let control = if used.is_control { " (control)" } else { "" };
                    lines.push(format!("{}{control}, {side} zero: {}", used.name, told.join("; ")));
                }
            }
        }
        let intervals = self.dimensions.iter().map(|panel| panel.rows.len()).sum::<usize>();
        let caution = match lines.len() {
            0 => format!("None of {intervals} intervals of differences leaves zero out."),
            _ => format!(
                "Not a verdict: these of {intervals} single intervals leave zero out, with no allowance for how many were looked at."
            ),
        };
        lines.insert(0, caution);
        let tone = Tone::Plain;
        lines.into_iter().map(|text| Verdict { tone, text }).collect()
    }
}

fn is_below(bounds: &Bounds) -> bool {
    bounds.high < 0.0
}

fn is_above(bounds: &Bounds) -> bool {
    bounds.low > 0.0
}

fn said(panel: &Panel, bounds: &Bounds) -> String {
    let (scale, places, unit) = match panel.unit {
        "share" => (100.0, 1, " %"),
        _ => (1.0, 2, ""),
    };
    let [mean, low, high] = [bounds.mean, bounds.low, bounds.high].map(|value| value * scale);
    format!(
        "{} {mean:+.places$} [{low:+.places$}, {high:+.places$}]{unit}",
        panel.title
    )
}

fn asked(run: &Run) -> Asked<'_> {
    let mut asked = Asked::new();
    for sample in &run.samples {
        let name = (sample.fixture.as_str(), sample.arm.as_str(), sample.probe.as_str());
        asked.entry(name).or_default().push(sample);
    }
    asked
}

fn differences(first: &Run, sides: &[Asked<'_>; 2], measure: Measure, kind: Option<Kind>) -> Vec<Row> {
    let mean = |samples: &[&Sample]| {
        let values: Vec<f64> = samples.iter().filter_map(|sample| measure.value(sample)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let mut observed: BTreeMap<&str, Vec<(f64, &str)>> = BTreeMap::new();
    for (name, samples) in &sides[0] {
        let Some(others) = sides[1].get(name) else {
            continue;
        };
        if kind.is_some_and(|kind| samples[0].kind != kind) {
            continue;
        }
        if let (Some(before), Some(after)) = (mean(samples), mean(others)) {
            observed.entry(name.1).or_default().push((after - before, name.0));
        }
    }
    let arms = first.manifest.arms.iter().enumerate();
    arms.filter_map(|(arm, used)| {
        let observed = observed.get(used.name.as_str())?;
        let estimate = stats::estimate(observed.iter().copied())?.into();
        let count = observed.len();
        Some(Row { arm, estimate, count })
    })
    .collect()
}

/// Gives all panels of a unit one axis, with zero in its middle.
fn scale(panels: &mut [Panel]) {
    // The shortest axes there are: a fifth of a score and a twentieth of the facts look as small as they are.
    for (unit, shortest) in [("score", 0.5), ("share", 0.1)] {
        let own = || panels.iter().filter(|panel| panel.unit == unit);
        let bounds = own().flat_map(|panel| &panel.rows);
        let reach = bounds.fold(0.0_f64, |reach, row| {
            reach.max(row.estimate.low.abs()).max(row.estimate.high.abs())
        });
        let most = ((reach / shortest).ceil() * shortest).max(shortest);
        for panel in panels.iter_mut().filter(|panel| panel.unit == unit) {
            panel.least = -most;
            panel.most = most;
        }
    }
}

fn note_alone(first: &Run, second: &Run, notes: &mut Vec<String>) {
    let arms = |run: &Run| -> BTreeSet<String> { run.manifest.arms.iter().map(|arm| arm.name.clone()).collect() };
    let fixtures = |run: &Run| -> BTreeSet<String> {
        let fixtures = run.manifest.fixtures.iter();
        fixtures.map(|fixture| fixture.name.clone()).collect()
    };
    for (what, of_first, of_second) in [
        ("arms", arms(first), arms(second)),
        ("fixtures", fixtures(first), fixtures(second)),
    ] {
        for (run, own, others) in [("A", &of_first, &of_second), ("B", &of_second, &of_first)] {
            let alone: Vec<&str> = own.difference(others).map(String::as_str).collect();
            if !alone.is_empty() {
                notes.push(format!("only run {run} has the {what} {}", alone.join(", ")));
            }
        }
    }
    let digest = |run: &Run| -> BTreeMap<String, String> {
        let fixtures = run.manifest.fixtures.iter();
        fixtures
            .map(|used| (used.name.clone(), format!("{} {}", used.digest, used.probes_digest)))
            .collect()
    };
    let (one, other) = (digest(first), digest(second));
    let changed = one
        .iter()
        .filter(|(name, digest)| other.get(*name).is_some_and(|found| found != *digest));
    let changed: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
    if !changed.is_empty() {
        notes.push(format!(
            "the files of {} differ between the runs: their difference is not the engine's alone",
            changed.join(", ")
        ));
    }
}
