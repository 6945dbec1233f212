//! Which samples of two runs belong together, and which have no other.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fixture::Kind;
use crate::record::ArmUsed;
use crate::record::Run;
use crate::record::Sample;

/// Something that only one run has, or that is not the same in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// `fixture`, `arm` or `probe`.
    pub what: &'static str,
    /// Its name; a probe's with fixture and arm.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// An arm of each run, compared with one another.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmPair {
    /// The arm of the first run.
    pub a: String,
    /// The arm of the second.
    pub b: String,
    /// Whether both are there only to compare with.
    pub is_control: bool,
}

impl ArmPair {
    /// What it is called in a report.
    pub fn name(&self) -> String {
        if self.a == self.b {
            return self.a.clone();
        }
        format!("{} → {}", self.a, self.b)
    }
}

/// A probe as two runs answered it, with all repeats of each.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The fixture.
    pub fixture: &'a str,
    /// The probe.
    pub probe: &'a str,
    /// What it asks for.
    pub kind: Kind,
    /// The first run's samples.
    pub a: Vec<&'a Sample>,
    /// The second run's.
    pub b: Vec<&'a Sample>,
}

/// Everything that belongs together, by arm.
#[derive(Debug)]
pub struct Pairing<'a> {
    /// Fixtures that are the same in both.
    pub fixtures: Vec<String>,
    /// The arms, each with its pairs in the order of fixtures and probes.
    pub arms: Vec<(ArmPair, Vec<Pair<'a>>)>,
    /// What is not compared.
    pub left_out: Vec<LeftOut>,
}

/// Pairs two runs: every arm with the one of its name, or two arms with each other.
pub fn pair<'a>(a: &'a Run, b: &'a Run, arms: Option<&(String, String)>) -> Pairing<'a> {
    let mut left_out = Vec::new();
    let fixtures = fixtures(a, b, &mut left_out);
    let arms = match arms {
        Some((one, other)) => vec![ArmPair {
            a: one.clone(),
            b: other.clone(),
            is_control: false,
        }],
        None => same_arms(a, b, &mut left_out),
    };
    let (ours, theirs) = (by_probe(a), by_probe(b));
    let arms = arms
        .into_iter()
        .map(|arm| {
            let pairs = pairs(&fixtures, &arm, (&ours, &theirs), &mut left_out);
            (arm, pairs)
        })
        .collect();
    Pairing {
        fixtures,
        arms,
        left_out,
    }
}

fn fixtures(a: &Run, b: &Run, left_out: &mut Vec<LeftOut>) -> Vec<String> {
    let mut leave = |name: &str, reason: &str| {
        left_out.push(LeftOut {
            what: "fixture",
            name: name.to_owned(),
            reason: reason.to_owned(),
        });
    };
    let mut same = Vec::new();
    for fixture in &a.manifest.fixtures {
        match b.manifest.fixtures.iter().find(|other| other.name == fixture.name) {
            None => leave(&fixture.name, "only in the first run"),
            Some(other) if other.digest != fixture.digest => leave(&fixture.name, "the conversation is not the same"),
            Some(other) if other.probes_digest != fixture.probes_digest => {
                leave(&fixture.name, "the probes are not the same");
            }
            Some(_) => same.push(fixture.name.clone()),
        }
    }
    for other in &b.manifest.fixtures {
        if !a.manifest.fixtures.iter().any(|fixture| fixture.name == other.name) {
            leave(&other.name, "only in the second run");
        }
    }
    same
}

fn same_arms(a: &Run, b: &Run, left_out: &mut Vec<LeftOut>) -> Vec<ArmPair> {
    let has = |run: &Run, name: &str| run.manifest.arms.iter().any(|arm| arm.name == name);
    let only = |arm: &ArmUsed, reason: &str| LeftOut {
        what: "arm",
        name: arm.name.clone(),
        reason: reason.to_owned(),
    };
    let (ours, theirs) = (&a.manifest.arms, &b.manifest.arms);
    left_out.extend(
        ours.iter()
            .filter(|arm| !has(b, &arm.name))
            .map(|arm| only(arm, "only in the first run")),
    );
    left_out.extend(
        theirs
            .iter()
            .filter(|arm| !has(a, &arm.name))
            .map(|arm| only(arm, "only in the second run")),
    );
    let both = ours.iter().filter(|arm| has(b, &arm.name));
    both.map(|arm| ArmPair {
        a: arm.name.clone(),
        b: arm.name.clone(),
        is_control: arm.is_control,
    })
    .collect()
}

/// Samples of a run by fixture, arm and probe.
type ByProbe<'a> = BTreeMap<(&'a str, &'a str), BTreeMap<&'a str, Vec<&'a Sample>>>;

fn by_probe(run: &Run) -> ByProbe<'_> {
    let mut found: ByProbe<'_> = BTreeMap::new();
    for sample in &run.samples {
        let probes = found.entry((sample.fixture.as_str(), sample.arm.as_str())).or_default();
        probes.entry(sample.probe.as_str()).or_default().push(sample);
    }
    found
}

fn pairs<'a>(
    fixtures: &[String],
    arm: &ArmPair,
    (ours, theirs): (&ByProbe<'a>, &ByProbe<'a>),
    left_out: &mut Vec<LeftOut>,
) -> Vec<Pair<'a>> {
    let empty = BTreeMap::new();
    let mut pairs = Vec::new();
    for fixture in fixtures {
        let a = ours.get(&(fixture.as_str(), arm.a.as_str())).unwrap_or(&empty);
        let b = theirs.get(&(fixture.as_str(), arm.b.as_str())).unwrap_or(&empty);
        for (probe, samples) in a {
            let Some(others) = b.get(probe) else {
                left_out.push(alone(fixture, arm, probe, "only in the first run"));
                continue;
            };
            pairs.push(Pair {
                fixture: samples[0].fixture.as_str(),
                probe,
                kind: samples[0].kind,
                a: samples.clone(),
                b: others.clone(),
            });
        }
        let missing = b.keys().filter(|probe| !a.contains_key(*probe));
        left_out.extend(missing.map(|probe| alone(fixture, arm, probe, "only in the second run")));
    }
    pairs
}

fn alone(fixture: &str, arm: &ArmPair, probe: &str, reason: &str) -> LeftOut {
    LeftOut {
        what: "probe",
        name: format!("{fixture} / {probe} ({})", arm.name()),
        reason: reason.to_owned(),
    }
}
