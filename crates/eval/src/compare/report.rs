//! A comparison as a whole: what was compared with what, what to doubt, and what it comes to.

use serde::Serialize;

use crate::compare::collapse::Origins;
use crate::compare::figures::Arm;
use crate::compare::figures::Figure;
use crate::compare::figures::Slice;
use crate::compare::figures::Verdict;
use crate::compare::flips::Flip;
use crate::compare::flips::flips;
use crate::compare::floor::Floor;
use crate::compare::measure::Measure;
use crate::compare::measure::Origin;
use crate::compare::pairing;
use crate::compare::pairing::LeftOut;
use crate::compare::setup;
use crate::compare::states;
use crate::record::Run;

/// From this difference in the share of excluded samples on, what is left is not the same choice of probes any more.
const MANY_EXCLUDED: f64 = 0.05;

/// How to compare.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What a difference must reach to count.
    pub floor: Floor,
    /// Compare this arm of the first run with that of the second, instead of every arm with itself.
    pub arms: Option<(String, String)>,
    /// Compare the scores of different judges, which no statistics make comparable.
    pub allows_other_judge: bool,
}

/// Why two runs cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// The judges are not the same.
    #[error("the runs were judged differently: {what} is {a} in {first} and {b} in {second}")]
    OtherJudge {
        /// What is different: the judge or its prompt.
        what: String,
        /// In the first run.
        a: String,
        /// In the second.
        b: String,
        /// The first run's label.
        first: String,
        /// The second's.
        second: String,
    },
    /// A run has no such arm.
    #[error("{run} has no arm {arm}; it has {known}")]
    NoArm {
        /// The run's label.
        run: String,
        /// The arm.
        arm: String,
        /// Those it has.
        known: String,
    },
    /// The runs have only controls in common.
    #[error(
        "{first} and {second} have no arm in common but controls ({a} and {b}); --arms compares two that are called differently"
    )]
    OnlyControls {
        /// The first run's label.
        first: String,
        /// The second's.
        second: String,
        /// The first run's own arms.
        a: String,
        /// The second's.
        b: String,
    },
    /// The runs have nothing in common.
    #[error("{first} and {second} have no probe in common")]
    NothingShared {
        /// The first run's label.
        first: String,
        /// The second's.
        second: String,
    },
}

/// One of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Its label.
    pub label: String,
    /// Its directory.
    pub directory: String,
    /// The version of the program.
    pub program: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: i64,
    /// Whether it ran to its end.
    pub is_complete: bool,
    /// How often everything was done.
    pub repeats: u32,
    /// Who judged.
    pub judge: Option<String>,
    /// Who answered.
    pub answerer: Option<String>,
    /// How many samples it has.
    pub samples: usize,
    /// How many of them count in no score of a judge.
    pub excluded: usize,
}

/// The floor that was used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FloorUsed {
    /// Whether it was measured on runs of one configuration.
    pub is_measured: bool,
    /// On a judge's scale from 0 to 5, where it was not measured; a measured one stands with every figure.
    pub fixed: Option<f64>,
    /// The runs that it was measured on.
    pub runs: Vec<String>,
}

/// Something that got worse.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// The arm, or both.
    pub arm: String,
    /// The measure.
    pub measure: Measure,
    /// By how much.
    pub difference: f64,
    /// What is new, where that is counted exactly.
    pub new: Vec<String>,
}

/// Two runs, compared.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What it comes to: worse where anything is, over all probes of an arm that is no control; better where something is.
    pub verdict: Verdict,
    /// What got worse.
    pub regressions: Vec<Regression>,
    /// The first run.
    pub a: Side,
    /// The second run.
    pub b: Side,
    /// What to know before believing any of it.
    pub warnings: Vec<String>,
    /// The fixtures that are the same in both.
    pub fixtures: Vec<String>,
    /// What is not compared, and why.
    pub left_out: Vec<LeftOut>,
    /// What a difference had to reach.
    pub floor: FloorUsed,
    /// The chance of any false alarm within a family.
    pub share: f64,
    /// The figures, by arm: all probes, then each type.
    pub slices: Vec<Slice>,
    /// Probes that changed sides: of arms that got worse first, and the worst first.
    pub flips: Vec<Flip>,
}

/// Compares two runs; the second is better or worse than the first.
pub fn compare(a: &Run, b: &Run, options: &Options) -> Result<Comparison, CompareError> {
    let mut warnings = doubts(a, b, options)?;
    if let Some((one, other)) = &options.arms {
        has_arm(a, one)?;
        has_arm(b, other)?;
    }
    let pairing = pairing::pair(a, b, options.arms.as_ref());
    if pairing.arms.iter().all(|(_, pairs)| pairs.is_empty()) {
        let (first, second) = (a.manifest.label.clone(), b.manifest.label.clone());
        return Err(CompareError::NothingShared { first, second });
    }
    if pairing.arms.iter().all(|(arm, _)| arm.is_control) {
        let own = |run: &Run| {
            let arms = run.manifest.arms.iter().filter(|arm| !arm.is_control);
            arms.map(|arm| arm.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let (first, second) = (a.manifest.label.clone(), b.manifest.label.clone());
        return Err(CompareError::OnlyControls {
            first,
            second,
            a: own(a),
            b: own(b),
        });
    }
    // A run without its fixtures can be compared; only where facts stood is not known then.
    let origins = a.exam().map_or_else(|_| Origins::default(), |exam| Origins::new(&exam));
    let (mut slices, mut turned, mut missing) = (Vec::new(), Vec::new(), 0);
    for (arm, pairs) in &pairing.arms {
        let states = states::read(a, b, arm, &pairing.fixtures);
        missing += states.missing;
        let arm = Arm {
            name: arm.name(),
            is_control: arm.is_control,
            pairs,
            states: &states,
            origins: &origins,
            floor: &options.floor,
            repeats: (a.manifest.repeats, b.manifest.repeats),
        };
        // Two arms of one run are made in different ways by what they are.
        if options.arms.is_none() && a.manifest.repeats == b.manifest.repeats {
            warnings.extend(states.remade(&arm.name));
        }
        slices.extend(arm.slices());
        turned.extend(flips(&arm.name, pairs));
    }
    if missing > 0 {
        warnings.push(format!(
            "{missing} states are missing: sizes and flaws are compared without them"
        ));
    }
    warnings.extend(slices.iter().filter_map(moved_control));
    let regressions = regressions(&slices);
    Flip::sort(&mut turned, |arm| regressions.iter().any(|worse| worse.arm == arm));
    Ok(Comparison {
        verdict: verdict(&slices, &regressions),
        regressions,
        a: side(a),
        b: side(b),
        warnings,
        fixtures: pairing.fixtures,
        left_out: pairing.left_out,
        floor: used(&options.floor),
        share: crate::compare::figures::SHARE,
        slices,
        flips: turned,
    })
}

fn has_arm(run: &Run, name: &str) -> Result<(), CompareError> {
    let arms = &run.manifest.arms;
    if arms.iter().any(|arm| arm.name == name) {
        return Ok(());
    }
    let known: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
    Err(CompareError::NoArm {
        run: run.manifest.label.clone(),
        arm: name.to_owned(),
        known: known.join(", "),
    })
}

/// What differs between the runs beside what is to be compared.
fn doubts(a: &Run, b: &Run, options: &Options) -> Result<Vec<String>, CompareError> {
    let mut warnings = Vec::new();
    for (part, other) in setup::differing(&a.manifest, &b.manifest) {
        if part.is_judging && !options.allows_other_judge {
            return Err(CompareError::OtherJudge {
                what: part.what,
                a: part.value,
                b: other,
                first: a.manifest.label.clone(),
                second: b.manifest.label.clone(),
            });
        }
        if !part.is_arm {
            warnings.push(format!("{} differs: {} and {other}", part.what, part.value));
        }
    }
    for run in [a, b] {
        if !run.is_complete {
            warnings.push(format!("{} did not run to its end", run.manifest.label));
        }
    }
    let share = |run: &Run| excluded(run) as f64 / run.samples.len().max(1) as f64;
    if (share(a) - share(b)).abs() > MANY_EXCLUDED {
        let (ours, theirs) = (excluded(a), excluded(b));
        warnings.push(format!(
            "{ours} of {} samples of {} count in no score, and {theirs} of {} of {}: what is left is not the same choice of probes",
            a.samples.len(),
            a.manifest.label,
            b.samples.len(),
            b.manifest.label,
        ));
    }
    if let Floor::Measured(noise) = &options.floor {
        let judge = a.manifest.judge.as_ref().map(|judge| judge.id.clone());
        if noise.judge != judge {
            let name = |judge: &Option<String>| judge.clone().unwrap_or("none".to_owned());
            let (one, other) = (name(&noise.judge), name(&judge));
            warnings.push(format!("the noise was measured with another judge: {one} and {other}"));
        }
    }
    Ok(warnings)
}

/// A control has nothing of ours in it: where it moves, something else than the compaction did.
fn moved_control(slice: &Slice) -> Option<String> {
    // A control's state changes with the target; only what models say of it tells of models.
    let is_moved =
        |figure: &&Figure| figure.origin != Origin::State && matches!(figure.verdict, Verdict::Better | Verdict::Worse);
    let figures = slice.figures.iter().filter(is_moved);
    let moved: Vec<String> = figures
        .map(|figure| format!("{} {:+.2}", figure.measure.name(), figure.difference))
        .collect();
    let is_whole = slice.is_control && slice.probe_type.is_none();
    (is_whole && !moved.is_empty()).then(|| {
        let (arm, moved) = (&slice.arm, moved.join(", "));
        format!("the control {arm} moved ({moved}): models behaved differently in the two runs")
    })
}

fn excluded(run: &Run) -> usize {
    run.samples.iter().filter(|sample| sample.excluded.is_some()).count()
}

fn regressions(slices: &[Slice]) -> Vec<Regression> {
    let whole = slices
        .iter()
        .filter(|slice| !slice.is_control && slice.probe_type.is_none());
    let figures = whole.flat_map(|slice| slice.figures.iter().map(move |figure| (slice, figure)));
    let worse = figures.filter(|(_, figure)| figure.verdict == Verdict::Worse && figure.measure.is_gated());
    worse
        .map(|(slice, figure)| Regression {
            arm: slice.arm.clone(),
            measure: figure.measure,
            difference: figure.difference,
            new: figure.new.clone(),
        })
        .collect()
}

fn verdict(slices: &[Slice], regressions: &[Regression]) -> Verdict {
    if !regressions.is_empty() {
        return Verdict::Worse;
    }
    let whole = slices
        .iter()
        .filter(|slice| !slice.is_control && slice.probe_type.is_none());
    let figures: Vec<&Figure> = whole
        .flat_map(|slice| &slice.figures)
        .filter(|figure| figure.measure.is_gated())
        .collect();
    if figures.iter().any(|figure| figure.verdict == Verdict::Better) {
        return Verdict::Better;
    }
    let mut open = figures.iter().filter(|figure| !figure.measure.is_exact());
    match open.any(|figure| figure.verdict == Verdict::TooFewFixtures) {
        true => Verdict::TooFewFixtures,
        false => Verdict::WithinNoise,
    }
}

fn side(run: &Run) -> Side {
    let manifest = &run.manifest;
    Side {
        label: manifest.label.clone(),
        directory: run.directory.display().to_string(),
        program: manifest.program.clone(),
        created: manifest.created,
        is_complete: run.is_complete,
        repeats: manifest.repeats,
        judge: manifest.judge.as_ref().map(|judge| judge.id.clone()),
        answerer: manifest.answerer.as_ref().map(|answerer| answerer.id.clone()),
        samples: run.samples.len(),
        excluded: excluded(run),
    }
}

fn used(floor: &Floor) -> FloorUsed {
    match floor {
        Floor::Fixed(floor) => FloorUsed {
            is_measured: false,
            fixed: Some(*floor),
            runs: Vec::new(),
        },
        Floor::Measured(noise) => FloorUsed {
            is_measured: true,
            fixed: None,
            runs: noise.runs.clone(),
        },
    }
}
