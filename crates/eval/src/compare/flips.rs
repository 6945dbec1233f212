//! Which probes changed sides, and why.

use serde::Serialize;

use crate::compare::measure::Measure;
use crate::compare::pairing::Pair;
use crate::fixture::Kind;
use crate::grade::Grade;
use crate::record::Sample;

/// From here on an answer is good enough, below it a miss: the line that reports draw.
pub const PASSED: f64 = 3.0;

/// Which way a probe went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// For the worse.
    Worse,
    /// Some of it for the worse, some for the better.
    Mixed,
    /// For the better.
    Better,
}

/// What one text gained and lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Turnover {
    /// Facts that more than half of the first run's repeats have, and not more than half of the second's.
    pub lost: Vec<String>,
    /// The other way round.
    pub gained: Vec<String>,
    /// Stale facts that only the second gives as current, in more than half of its repeats.
    pub new_stale: Vec<String>,
    /// Stale facts that only the first did.
    pub gone_stale: Vec<String>,
    /// Secrets that the second shows in any repeat and the first in none.
    pub new_leaks: Vec<String>,
    /// The other way round.
    pub gone_leaks: Vec<String>,
}

/// A probe that changed sides.
#[derive(Clone, Debug, Serialize)]
pub struct Flip {
    /// The arm, or both.
    pub arm: String,
    /// The fixture.
    pub fixture: String,
    /// The probe.
    pub probe: String,
    /// What it asks for.
    pub probe_type: Kind,
    /// Which way.
    pub way: Way,
    /// In words: the judge's line crossed, what was lost and where.
    pub because: Vec<String>,
    /// The judge's overall score in the first run, the mean over repeats.
    pub a: Option<f64>,
    /// In the second.
    pub b: Option<f64>,
    /// What the answer gained and lost.
    pub answer: Turnover,
    /// What the state gained and lost.
    pub state: Turnover,
    /// The judge's words on the first run's answer, of the repeat nearest to the mean.
    pub a_reason: Option<String>,
    /// On the second run's.
    pub b_reason: Option<String>,
}

/// The probes of an arm that changed sides, in their order.
pub fn flips(arm: &str, pairs: &[Pair<'_>]) -> Vec<Flip> {
    pairs.iter().filter_map(|pair| flip(arm, pair)).collect()
}

impl Flip {
    /// Brings flips into the order of a report: for the worse first, then by what can be named of it, then by the fall of the score.
    pub fn sort(flips: &mut [Flip], is_worse_arm: impl Fn(&str) -> bool) {
        let fall = |flip: &Flip| flip.a.unwrap_or(0.0) - flip.b.unwrap_or(0.0);
        let named = |flip: &Flip| usize::MAX - flip.answer.losses() - flip.state.losses();
        let place = |flip: &Flip| (!is_worse_arm(&flip.arm), flip.way, named(flip));
        flips.sort_by(|one, other| place(one).cmp(&place(other)).then(fall(other).total_cmp(&fall(one))));
    }
}

impl Turnover {
    /// How many facts were lost, stale facts given as current and secrets shown that were not before.
    pub fn losses(&self) -> usize {
        self.lost.len() + self.new_stale.len() + self.new_leaks.len()
    }
}

fn flip(arm: &str, pair: &Pair<'_>) -> Option<Flip> {
    let (a, b) = (overall(&pair.a), overall(&pair.b));
    let answer = turnover(&pair.a, &pair.b, |sample| sample.graded.as_ref());
    let state = turnover(&pair.a, &pair.b, |sample| Some(&sample.state));
    let mut worse = told(&answer, &state, Side::Lost);
    let mut better = told(&answer, &state, Side::Gained);
    if let (Some(a), Some(b)) = (a, b) {
        let crossed = format!("the judge's score went from {a:.1} to {b:.1}");
        match (a >= PASSED, b >= PASSED) {
            (true, false) => worse.insert(0, crossed),
            (false, true) => better.insert(0, crossed),
            (true, true) | (false, false) => {}
        }
    }
    let way = match (worse.is_empty(), better.is_empty()) {
        (true, true) => return None,
        (false, true) => Way::Worse,
        (true, false) => Way::Better,
        (false, false) => Way::Mixed,
    };
    Some(Flip {
        arm: arm.to_owned(),
        fixture: pair.fixture.to_owned(),
        probe: pair.probe.to_owned(),
        probe_type: pair.kind,
        way,
        because: [worse, better].concat(),
        a,
        b,
        answer,
        state,
        a_reason: reason(&pair.a, a),
        b_reason: reason(&pair.b, b),
    })
}

fn overall(samples: &[&Sample]) -> Option<f64> {
    let values: Vec<f64> = samples
        .iter()
        .filter_map(|sample| Measure::Overall.of(sample))
        .collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn reason(samples: &[&Sample], mean: Option<f64>) -> Option<String> {
    let mean = mean?;
    let scored = samples.iter().filter_map(|sample| {
        let off = (Measure::Overall.of(sample)? - mean).abs();
        Some((off, sample.judged.as_ref()?.reason.clone()))
    });
    scored
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, reason)| reason)
}

fn turnover<'a>(a: &[&'a Sample], b: &[&'a Sample], grade: impl Fn(&'a Sample) -> Option<&'a Grade>) -> Turnover {
    let ours: Vec<&Grade> = a.iter().filter_map(|sample| grade(sample)).collect();
    let theirs: Vec<&Grade> = b.iter().filter_map(|sample| grade(sample)).collect();
    // What one run did not look at was not lost.
    if ours.is_empty() || theirs.is_empty() {
        return Turnover::default();
    }
    let names = |of: fn(&Grade) -> Vec<&String>| {
        let mut names: Vec<&String> = ours.iter().chain(&theirs).flat_map(|grade| of(grade)).collect();
        names.sort();
        names.dedup();
        names
    };
    let facts = names(|grade| grade.facts.iter().map(|fact| &fact.fact).collect());
    let found = |grade: &Grade, name: &String| grade.facts.iter().any(|fact| fact.found && fact.fact == *name);
    let most = |grades: &[&Grade], has: &dyn Fn(&Grade) -> bool| {
        grades.iter().filter(|grade| has(grade)).count() * 2 > grades.len()
    };
    let any = |grades: &[&Grade], has: &dyn Fn(&Grade) -> bool| grades.iter().any(|grade| has(grade));
    let only = |names: &[&String], one: &dyn Fn(&String) -> bool, other: &dyn Fn(&String) -> bool| -> Vec<String> {
        let those = names.iter().filter(|name| one(name) && !other(name));
        those.map(|name| (*name).clone()).collect()
    };
    let (had, has) = (
        |name: &String| most(&ours, &|grade| found(grade, name)),
        |name: &String| most(&theirs, &|grade| found(grade, name)),
    );
    let stale = names(|grade| grade.stale.iter().collect());
    let (was_stale, is_stale) = (
        |name: &String| most(&ours, &|grade| grade.stale.contains(name)),
        |name: &String| most(&theirs, &|grade| grade.stale.contains(name)),
    );
    let leaks = names(|grade| grade.leaks.iter().collect());
    let (leaked, leaking) = (
        |name: &String| any(&ours, &|grade| grade.leaks.contains(name)),
        |name: &String| any(&theirs, &|grade| grade.leaks.contains(name)),
    );
    Turnover {
        lost: only(&facts, &had, &has),
        gained: only(&facts, &has, &had),
        new_stale: only(&stale, &is_stale, &was_stale),
        gone_stale: only(&stale, &was_stale, &is_stale),
        new_leaks: only(&leaks, &leaking, &leaked),
        gone_leaks: only(&leaks, &leaked, &leaking),
    }
}

enum Side {
    Lost,
    Gained,
}

/// What happened, in words. A fact that the answer lost and the state did not is the answerer's loss, and the words say so.
fn told(answer: &Turnover, state: &Turnover, side: Side) -> Vec<String> {
    let (facts, state_facts, stale, state_stale, leaks, state_leaks) = match side {
        Side::Lost => (
            &answer.lost,
            &state.lost,
            &answer.new_stale,
            &state.new_stale,
            &answer.new_leaks,
            &state.new_leaks,
        ),
        Side::Gained => (
            &answer.gained,
            &state.gained,
            &answer.gone_stale,
            &state.gone_stale,
            &answer.gone_leaks,
            &state.gone_leaks,
        ),
    };
    let (verb, stale_words, leak_words) = match side {
        Side::Lost => ("lost", "gives as current what is stale", "shows a secret"),
        Side::Gained => ("gained", "no longer gives as current", "no longer shows"),
    };
    let mut told = Vec::new();
    for fact in facts {
        let where_else = match (&side, state_facts.contains(fact)) {
            (_, true) => "and the state",
            (Side::Lost, false) => "but not the state, which still has it or never had it",
            (Side::Gained, false) => "but not the state",
        };
        told.push(format!("the answer {verb} “{fact}”, {where_else}"));
    }
    let alone = state_facts.iter().filter(|fact| !facts.contains(fact));
    told.extend(alone.map(|fact| format!("the state {verb} “{fact}”")));
    told.extend(stale.iter().map(|fact| format!("the answer {stale_words}: “{fact}”")));
    told.extend(
        state_stale
            .iter()
            .map(|fact| format!("the state {stale_words}: “{fact}”")),
    );
    told.extend(leaks.iter().map(|leak| format!("the answer {leak_words}: {leak}")));
    told.extend(state_leaks.iter().map(|leak| format!("the state {leak_words}: {leak}")));
    told
}
