//! From samples and states to figures.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use mainstay_llm::price::Spent;

use crate::agreement::agreement;
use crate::fixture::Kind;
use crate::record::ArmUsed;
use crate::record::Dimension;
use crate::record::Run;
use crate::record::RunError;
use crate::record::Sample;
use crate::record::StateRecord;
use crate::run::desk::Duty;
use crate::run::report::ArmReport;
use crate::run::report::DutySpent;
use crate::run::report::Figure;
use crate::run::report::FixtureReport;
use crate::run::report::KindReport;
use crate::run::report::MISS;
use crate::run::report::Medians;
use crate::run::report::Miss;
use crate::run::report::Report;
use crate::run::report::identical::identical;
use crate::state::Arm;
use crate::stats;

/// The arm with the whole conversation.
const WHOLE: &str = "uncompacted";

/// The version of the report's form.
const VERSION: u32 = 1;

/// What a run comes to.
pub fn report(run: &Run, spent: &BTreeMap<Duty, Spent>) -> Result<Report, RunError> {
    let mut arms = Vec::new();
    let mut all_states = Vec::new();
    for arm in &run.manifest.arms {
        let samples: Vec<&Sample> = run.samples.iter().filter(|sample| sample.arm == arm.name).collect();
        let states = states(run, arm)?;
        arms.push(arm_report(run, arm, &samples, &states));
        all_states.push(states);
    }
    let named = run.manifest.arms.iter().zip(&all_states);
    let named: Vec<(&ArmUsed, &[StateRecord])> = named.map(|(arm, states)| (arm, states.as_slice())).collect();
    let mut excluded = BTreeMap::new();
    for why in run.samples.iter().filter_map(|sample| sample.excluded.as_ref()) {
        *excluded.entry(why.clone()).or_default() += 1;
    }
    Ok(Report {
        version: VERSION,
        manifest: run.manifest.clone(),
        arms,
        misses: misses(run),
        excluded,
        agreement: Some(agreement(&run.samples)).filter(|agreement| agreement.pairs > 0),
        identical: identical(&named, &run.samples),
        spent: spent.iter().map(|(duty, spent)| duty_spent(*duty, spent)).collect(),
    })
}

pub fn duty_spent(duty: Duty, spent: &Spent) -> DutySpent {
    DutySpent {
        duty: duty.name(),
        calls: spent.calls,
        input: spent.usage.input,
        cache_read: spent.usage.cache_read,
        output: spent.usage.output,
        cost: spent.cost,
        unpriced: spent.unknown,
    }
}

fn arm_report(run: &Run, arm: &ArmUsed, samples: &[&Sample], states: &[StateRecord]) -> ArmReport {
    let scores = named_measures()
        .into_iter()
        .filter_map(|(name, score)| Some((name, figure(samples, &*score, 5.0)?)));
    let mut made = BTreeMap::new();
    for pass in states.iter().flat_map(|state| &state.passes) {
        *made.entry(pass.made.clone()).or_default() += 1;
    }
    let mean = |value: fn(&StateRecord) -> u64| {
        let sum: u64 = states.iter().map(value).sum();
        sum as f64 / states.len().max(1) as f64
    };
    let kinds: BTreeSet<Kind> = samples.iter().map(|sample| sample.kind).collect();
    ArmReport {
        arm: arm.name.clone(),
        is_control: arm.is_control,
        samples: samples.len(),
        excluded: samples.iter().filter(|sample| sample.excluded.is_some()).count(),
        scores: scores.collect(),
        answer_recall: figure(samples, &answer_recall, 1.0),
        state_recall: figure(samples, &state_recall, 1.0),
        stale: samples.iter().map(|sample| judged_text(sample).stale.len()).sum(),
        leaks: samples.iter().map(|sample| judged_text(sample).leaks.len()).sum(),
        flaws: states.iter().map(|state| state.flaws.len()).sum(),
        inflated: states
            .iter()
            .filter(|state| state.tokens_after > state.tokens_before)
            .count(),
        tokens_before: mean(|state| state.tokens_before),
        tokens_after: mean(|state| state.tokens_after),
        without_model: without_model(run, arm, &made),
        made,
        fixtures: run
            .manifest
            .fixtures
            .iter()
            .map(|fixture| fixture_report(&fixture.name, fixture.tokens, samples, states))
            .collect(),
        types: kinds.into_iter().map(|kind| kind_report(kind, samples)).collect(),
    }
}

/// Why no state of an arm that should ask a model for summaries holds a model's words; `None` where one does, or none should.
fn without_model(run: &Run, arm: &ArmUsed, made: &BTreeMap<String, usize>) -> Option<String> {
    let wants_one = arm.spec.parse::<Arm>().is_ok_and(|arm| arm.asks_models());
    if !wants_one || made.is_empty() || made.contains_key("summary") || made.contains_key("hybrid") {
        return None;
    }
    let why = match run.manifest.summarisers.is_empty() {
        true => "no model was asked",
        false => "no summary by a model was used",
    };
    let ways: Vec<&str> = made.keys().map(String::as_str).collect();
    Some(match ways.as_slice() {
        ["ledger"] => format!("{why}: this is the ledger"),
        ways => format!("{why}: this is {}", ways.join(" and ")),
    })
}

fn states(run: &Run, arm: &ArmUsed) -> Result<Vec<StateRecord>, RunError> {
    let mut states = Vec::new();
    for fixture in &run.manifest.fixtures {
        for repeat in 1..=run.manifest.repeats {
            // A run that was broken off has not all of them.
            if Run::state_path(&run.directory, &fixture.name, &arm.name, repeat).exists() {
                states.push(run.state(&fixture.name, &arm.name, repeat)?);
            }
        }
    }
    Ok(states)
}

fn fixture_report(name: &str, tokens: u64, samples: &[&Sample], states: &[StateRecord]) -> FixtureReport {
    let own: Vec<&Sample> = samples
        .iter()
        .copied()
        .filter(|sample| sample.fixture == name)
        .collect();
    let after: Vec<u64> = states
        .iter()
        .filter(|state| state.fixture == name)
        .map(|state| state.tokens_after)
        .collect();
    FixtureReport {
        fixture: name.to_owned(),
        scores: medians(&own),
        answer_recall: median(&own, &answer_recall),
        state_recall: median(&own, &state_recall).unwrap_or(0.0),
        tokens_before: tokens,
        tokens_after: after.iter().sum::<u64>() as f64 / after.len().max(1) as f64,
    }
}

fn kind_report(kind: Kind, samples: &[&Sample]) -> KindReport {
    let own: Vec<&Sample> = samples.iter().copied().filter(|sample| sample.kind == kind).collect();
    KindReport {
        kind,
        scores: medians(&own),
        answer_recall: median(&own, &answer_recall),
        state_recall: median(&own, &state_recall).unwrap_or(0.0),
    }
}

/// Something that a sample has, or has not.
type Measure = dyn Fn(&Sample) -> Option<f64>;

/// The judge's scores by name.
fn named_measures() -> Vec<(&'static str, Box<Measure>)> {
    let mut measures: Vec<(&'static str, Box<Measure>)> = Vec::new();
    for dimension in Dimension::ALL {
        let score = move |sample: &Sample| sample.judged.as_ref().map(|judged| judged.scores.on(dimension));
        measures.push((dimension.name(), Box::new(score)));
    }
    measures.push(("overall", Box::new(overall)));
    measures
}

fn overall(sample: &Sample) -> Option<f64> {
    sample.judged.as_ref().map(|judged| judged.scores.overall())
}

fn answer_recall(sample: &Sample) -> Option<f64> {
    sample.graded.as_ref().map(crate::grade::Grade::recall)
}

fn state_recall(sample: &Sample) -> Option<f64> {
    // What a sample without an answer was made of is known all the same.
    Some(sample.state.recall())
}

/// The grade of what is looked at: the answer's where there is one, else the state's.
fn judged_text(sample: &Sample) -> &crate::grade::Grade {
    sample.graded.as_ref().unwrap_or(&sample.state)
}

fn figure(samples: &[&Sample], measure: &Measure, most: f64) -> Option<Figure> {
    let values = samples
        .iter()
        .filter_map(|sample| Some((measure(sample)?, sample.fixture.as_str())));
    Some(Figure {
        estimate: stats::estimate(values)?.on_scale(most),
        median: median(samples, measure)?,
    })
}

/// The median over repeats of the mean over probes.
fn median(samples: &[&Sample], measure: &Measure) -> Option<f64> {
    let mut repeats: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for sample in samples {
        if let Some(value) = measure(sample) {
            let total = repeats.entry(sample.repeat).or_default();
            *total = (total.0 + value, total.1 + 1.0);
        }
    }
    let means: Vec<f64> = repeats.values().map(|(sum, count)| sum / count).collect();
    (!means.is_empty()).then(|| stats::median(means))
}

fn medians(samples: &[&Sample]) -> Medians {
    let measures = named_measures().into_iter();
    measures
        .filter_map(|(name, measure)| Some((name, median(samples, &*measure)?)))
        .collect()
}

/// What engines' arms miss, worst first within a fixture's order.
fn misses(run: &Run) -> Vec<Miss> {
    let mut probes: BTreeMap<(&str, &str, &str), Vec<&Sample>> = BTreeMap::new();
    for sample in &run.samples {
        let place = (sample.fixture.as_str(), sample.probe.as_str(), sample.arm.as_str());
        probes.entry(place).or_default().push(sample);
    }
    let is_control = |name: &str| run.manifest.arms.iter().any(|arm| arm.is_control && arm.name == name);
    // What the whole conversation does not have in these words, no compaction can lose.
    let mut unsaid: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for sample in run.samples.iter().filter(|sample| sample.arm == WHOLE) {
        let facts = sample.state.facts.iter().filter(|fact| !fact.found);
        let own = unsaid.entry((&sample.fixture, &sample.probe)).or_default();
        own.extend(facts.map(|fact| fact.fact.as_str()));
    }
    let nothing = BTreeSet::new();
    let mut misses: Vec<Miss> = probes
        .into_iter()
        .filter(|((_, _, arm), _)| !is_control(arm))
        .filter_map(|(place, samples)| {
            let unsaid = unsaid.get(&(place.0, place.1)).unwrap_or(&nothing);
            miss(place, &samples, unsaid)
        })
        .collect();
    let worth = |miss: &Miss| miss.score.unwrap_or(miss.recall * 5.0);
    misses.sort_by(|one, other| worth(one).total_cmp(&worth(other)));
    misses
}

fn miss((fixture, probe, arm): (&str, &str, &str), samples: &[&Sample], unsaid: &BTreeSet<&str>) -> Option<Miss> {
    let score = median(samples, &overall);
    let recall = median(samples, &|sample| Some(judged_text(sample).recall())).unwrap_or(0.0);
    let facts = samples.iter().flat_map(|sample| &judged_text(sample).facts);
    let missing = facts.filter(|fact| !fact.found).map(|fact| fact.fact.as_str());
    let is_judged = score.is_some();
    let missing: BTreeSet<&str> = missing.filter(|fact| is_judged || !unsaid.contains(fact)).collect();
    let stale: BTreeSet<&String> = samples.iter().flat_map(|sample| &judged_text(sample).stale).collect();
    let is_miss = match score {
        Some(score) => score < MISS,
        None => !missing.is_empty() || !stale.is_empty(),
    };
    let judged = samples.iter().filter_map(|sample| sample.judged.as_ref());
    let worst = judged.min_by(|one, other| one.scores.overall().total_cmp(&other.scores.overall()));
    is_miss.then(|| Miss {
        fixture: fixture.to_owned(),
        probe: probe.to_owned(),
        arm: arm.to_owned(),
        score,
        recall,
        missing: missing.into_iter().map(str::to_owned).collect(),
        stale: stale.into_iter().cloned().collect(),
        reason: worst.map(|judged| judged.reason.clone()),
    })
}
