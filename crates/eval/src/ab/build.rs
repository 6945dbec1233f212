//! From samples, states and scores to figures.

use std::collections::BTreeMap;

use crate::ab::checkpoint::session_of;
use crate::ab::evidence::Cold;
use crate::ab::evidence::Evidence;
use crate::ab::judge::Verdict;
use crate::ab::outcome::Miss;
use crate::ab::outcome::Outcome;
use crate::ab::report::AbReport;
use crate::ab::report::ArmReport;
use crate::ab::report::ContextReport;
use crate::ab::report::Differing;
use crate::ab::report::PairCount;
use crate::ab::report::ScorerReport;
use crate::fixture::Bank;
use crate::fixture::Exam;
use crate::fixture::Kind;
use crate::record::Run;
use crate::record::RunError;
use crate::record::Sample;
use crate::record::SampleName;
use crate::record::Shown;
use crate::record::StateRecord;
use crate::state::Arm;
use crate::state::Makes;
use crate::state::Target;
use crate::stats;
use crate::stats::Estimate;

/// The version of the report's form.
const VERSION: u32 = 1;
/// At most so many of the newest messages are the hot tail: as many as the conversations of preflight end with.
const HOT_TAIL: usize = 6;
/// A state may be larger than its target by this share before it counts as over, as in retention.
const SLACK: f64 = 1.02;

/// What a scorer beside the grader said of every sample, or why it said nothing.
#[derive(Clone, Debug)]
pub struct Scoring {
    /// `judge` or `people`.
    pub scorer: &'static str,
    /// What it said.
    pub verdicts: BTreeMap<SampleName, Result<Verdict, String>>,
}

/// A sample as a scorer saw it.
struct Scored {
    name: SampleName,
    outcome: Result<Outcome, String>,
    misses: Vec<Miss>,
    why: String,
}

/// What is known of a sample whoever scores it.
struct Known {
    kind: Kind,
    evidence: Option<Evidence>,
    excluded: String,
}

/// What a run comes to, by the grader and by these scorers.
pub fn report(run: &Run, exam: &Exam, scorings: &[Scoring]) -> Result<AbReport, RunError> {
    let manifest = &run.manifest;
    let arms: Vec<&str> = manifest.arms.iter().map(|arm| arm.name.as_str()).collect();
    let (a, b) = (arms.first().copied().unwrap_or(""), arms.last().copied().unwrap_or(""));
    let mut contexts = [Sums::default(), Sums::default()];
    let mut known: BTreeMap<SampleName, Known> = BTreeMap::new();
    let mut turns: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for subject in &exam.subjects {
        for (place, arm) in [a, b].into_iter().enumerate() {
            for repeat in 1..=manifest.repeats {
                let record = run.state(subject.name(), arm, repeat)?;
                let cold = Cold::new(&record);
                contexts[place].add(&record, &cold, &subject.bank, target(run, arm));
                learn(run, &record, &cold, &subject.bank, &mut known);
                let (session, at) = session_of(subject.name());
                let longest = turns.entry(session).or_default();
                *longest = (*longest).max((at, record.before.iter().filter(|shown| shown.role == "user").count()));
            }
        }
    }
    let questions: usize = exam.subjects.iter().map(|subject| subject.bank.probes.len()).sum();
    let ground = Ground {
        arms: [a, b],
        sessions: turns.len(),
        turns: (turns.values().map(|(_, turns)| turns).sum::<usize>() + questions) * manifest.repeats as usize,
        repeats: manifest.repeats,
    };
    let mut all = vec![("grader", graded(&known))];
    all.extend(scorings.iter().map(|scoring| (scoring.scorer, said(&known, scoring))));
    Ok(AbReport {
        version: VERSION,
        manifest: manifest.clone(),
        a: a.to_owned(),
        b: b.to_owned(),
        scored: if manifest.answerer.is_some() {
            "answers"
        } else {
            "states"
        },
        sessions: turns.len(),
        checkpoints: exam.subjects.len(),
        questions,
        contexts: contexts
            .iter()
            .zip([a, b])
            .map(|(sums, arm)| sums.report(arm))
            .collect(),
        agreement: agreement(&all),
        scorers: all
            .into_iter()
            .map(|(scorer, scored)| ground.report(scorer, &scored))
            .collect(),
    })
}

/// What the samples of a state tell.
fn learn(run: &Run, record: &StateRecord, cold: &Cold, bank: &Bank, known: &mut BTreeMap<SampleName, Known>) {
    let of_state = |sample: &&Sample| {
        sample.fixture == record.fixture && sample.arm == record.arm && sample.repeat == record.repeat
    };
    for sample in run.samples.iter().filter(of_state) {
        let Some(probe) = bank.probes.iter().find(|probe| probe.id == sample.probe) else {
            continue;
        };
        let wants_answers = run.manifest.answerer.is_some();
        known.insert(
            sample.name(),
            Known {
                kind: probe.kind,
                evidence: Evidence::of(sample, probe, bank, cold, wants_answers),
                excluded: sample.excluded.clone().unwrap_or_else(|| "no answer".to_owned()),
            },
        );
    }
}

fn graded(known: &BTreeMap<SampleName, Known>) -> Vec<Scored> {
    let scored = |(name, known): (&SampleName, &Known)| {
        let outcome = known
            .evidence
            .as_ref()
            .map(Outcome::of)
            .ok_or_else(|| known.excluded.clone());
        known.scored(name, outcome, None)
    };
    known.iter().map(scored).collect()
}

fn said(known: &BTreeMap<SampleName, Known>, scoring: &Scoring) -> Vec<Scored> {
    let scored = |(name, known): (&SampleName, &Known)| match scoring.verdicts.get(name) {
        Some(Ok(verdict)) => known.scored(name, Ok(verdict.outcome), Some(&verdict.reason)),
        Some(Err(why)) => known.scored(name, Err(why.clone()), None),
        None => known.scored(name, Err(known.excluded.clone()), None),
    };
    known.iter().map(scored).collect()
}

impl Known {
    fn scored(&self, name: &SampleName, outcome: Result<Outcome, String>, reason: Option<&String>) -> Scored {
        let misses = match (&outcome, &self.evidence) {
            (Ok(outcome), Some(evidence)) => Miss::of(*outcome, self.kind, evidence),
            (Ok(_) | Err(_), _) => Vec::new(),
        };
        let why = match (reason.filter(|reason| !reason.is_empty()), &self.evidence) {
            (Some(reason), _) => reason.clone(),
            (None, Some(evidence)) => words(evidence),
            (None, None) => String::new(),
        };
        let name = name.clone();
        Scored {
            name,
            outcome,
            misses,
            why,
        }
    }
}

/// What the grader saw, in words.
fn words(evidence: &Evidence) -> String {
    let lacking: Vec<&str> = evidence.lacking.iter().map(|lack| lack.fact.as_str()).collect();
    let parts = [
        ("lacks", lacking.join("; ")),
        ("stale", evidence.stale.join("; ")),
        ("shows", evidence.exposed.join("; ")),
    ];
    let said = parts.iter().filter(|(_, list)| !list.is_empty());
    let said: Vec<String> = said.map(|(what, list)| format!("{what}: {list}")).collect();
    said.join(", ")
}

/// What the figures of a scorer are taken over.
struct Ground<'a> {
    arms: [&'a str; 2],
    sessions: usize,
    turns: usize,
    repeats: u32,
}

impl Ground<'_> {
    fn report(&self, scorer: &'static str, scored: &[Scored]) -> ScorerReport {
        let of = |arm: &str| -> BTreeMap<(&str, u32, &str), &Scored> {
            let own = scored.iter().filter(|scored| scored.name.1 == arm);
            own.map(|scored| ((scored.name.0.as_str(), scored.name.2, scored.name.3.as_str()), scored))
                .collect()
        };
        let (first, second) = (of(self.arms[0]), of(self.arms[1]));
        let mut both: Vec<(&Scored, &Scored, Outcome, Outcome)> = first
            .iter()
            .filter_map(|(place, a)| {
                let b = second.get(place)?;
                Some((*a, *b, *a.outcome.as_ref().ok()?, *b.outcome.as_ref().ok()?))
            })
            .collect();
        both.sort_by_key(|(a, ..)| (session_of(&a.name.0), a.name.2, a.name.3.clone()));
        let mut pairs: BTreeMap<(Outcome, Outcome), usize> = BTreeMap::new();
        for (_, _, a, b) in &both {
            *pairs.entry((*a, *b)).or_default() += 1;
        }
        let differing = both
            .iter()
            .filter(|(_, _, a, b)| a != b)
            .map(|(first, second, a, b)| Differing {
                checkpoint: first.name.0.clone(),
                probe: first.name.3.clone(),
                repeat: first.name.2,
                a: *a,
                b: *b,
                a_why: first.why.clone(),
                b_why: second.why.clone(),
            });
        ScorerReport {
            scorer,
            arms: self.arms.iter().map(|arm| self.arm(arm, scored)).collect(),
            pairs: pairs
                .into_iter()
                .map(|((a, b), count)| PairCount { a, b, count })
                .collect(),
            differing: differing.collect(),
            differences: differences(&both),
        }
    }

    fn arm(&self, arm: &str, scored: &[Scored]) -> ArmReport {
        let mut report = ArmReport {
            arm: arm.to_owned(),
            scored: 0,
            unscored: BTreeMap::new(),
            outcomes: Outcome::ALL.map(|outcome| (outcome, 0)).into(),
            misses: Miss::ALL.map(|miss| (miss, 0)).into(),
            missed: 0,
            corrections_per_100_turns: 0.0,
            stale_per_session: 0.0,
            obligation_misses: 0,
        };
        let mut corrections = 0;
        for scored in scored.iter().filter(|scored| scored.name.1 == arm) {
            match &scored.outcome {
                Ok(outcome) => {
                    report.scored += 1;
                    corrections += usize::from(outcome.wants_correction());
                    *report.outcomes.entry(*outcome).or_default() += 1;
                }
                Err(why) => *report.unscored.entry(why.clone()).or_default() += 1,
            }
            report.missed += usize::from(!scored.misses.is_empty());
            for miss in &scored.misses {
                *report.misses.entry(*miss).or_default() += 1;
            }
        }
        let runs = (self.sessions * self.repeats as usize).max(1);
        report.corrections_per_100_turns = 100.0 * corrections as f64 / self.turns.max(1) as f64;
        report.stale_per_session = report.outcomes[&Outcome::Stale] as f64 / runs as f64;
        report.obligation_misses = report.misses[&Miss::LostObligation];
        report
    }
}

fn differences(both: &[(&Scored, &Scored, Outcome, Outcome)]) -> BTreeMap<&'static str, Estimate> {
    let one = |holds: bool| if holds { 1.0 } else { 0.0 };
    let mut differences = BTreeMap::new();
    for outcome in Outcome::ALL {
        let values = both.iter().map(|(first, _, a, b)| {
            let session = session_of(&first.name.0).0;
            (one(*b == outcome) - one(*a == outcome), session)
        });
        differences.extend(stats::estimate(values).map(|estimate| (outcome.name(), estimate)));
    }
    let values = both.iter().map(|(first, second, _, _)| {
        let session = session_of(&first.name.0).0;
        (one(!second.misses.is_empty()) - one(!first.misses.is_empty()), session)
    });
    differences.extend(stats::estimate(values).map(|estimate| ("missed", estimate)));
    differences
}

/// The share of samples on which two scorers agree, of those that both scored.
fn agreement(all: &[(&'static str, Vec<Scored>)]) -> BTreeMap<String, f64> {
    let mut shares = BTreeMap::new();
    for (place, (one, first)) in all.iter().enumerate() {
        for (other, second) in &all[place + 1..] {
            // Both lists are of the same samples, in the same order.
            let both = first.iter().zip(second);
            let both = both.filter_map(|(one, other)| Some((one.outcome.as_ref().ok()?, other.outcome.as_ref().ok()?)));
            let (mut count, mut same) = (0, 0);
            for (one, other) in both {
                count += 1;
                same += usize::from(one == other);
            }
            if count > 0 {
                shares.insert(format!("{one}-{other}"), same as f64 / count as f64);
            }
        }
    }
    shares
}

/// What the states of an arm add up to.
#[derive(Default)]
struct Sums {
    states: usize,
    messages: usize,
    tokens: u64,
    tokens_before: u64,
    secrets: usize,
    addresses: usize,
    over_target: usize,
    tail_unchanged: usize,
    tail_messages: usize,
}

impl Sums {
    fn add(&mut self, record: &StateRecord, cold: &Cold, bank: &Bank, target: Option<Target>) {
        self.states += 1;
        self.messages += record.after.len();
        self.tokens += record.tokens_after;
        self.tokens_before += record.tokens_before;
        for (kind, count) in cold.exposed_in(&record.written(), bank) {
            match kind.as_str() {
                "ip" => self.addresses += count,
                _ => self.secrets += count,
            }
        }
        let most = target.map(|target| SLACK * target.of(record.tokens_before) as f64);
        self.over_target += usize::from(most.is_some_and(|most| record.tokens_after as f64 > most));
        let tail = unchanged(&record.before, &record.after);
        self.tail_messages += tail;
        let claimed = claimed(record.before.len(), &record.after).clamp(1, HOT_TAIL);
        self.tail_unchanged += usize::from(tail >= claimed);
    }

    fn report(&self, arm: &str) -> ContextReport {
        let mean = |sum: f64| sum / self.states.max(1) as f64;
        ContextReport {
            arm: arm.to_owned(),
            states: self.states,
            messages: mean(self.messages as f64),
            tokens: mean(self.tokens as f64),
            tokens_before: mean(self.tokens_before as f64),
            secrets: self.secrets,
            addresses: self.addresses,
            over_target: self.over_target,
            tail_unchanged: self.tail_unchanged,
            tail_messages: mean(self.tail_messages as f64),
        }
    }
}

/// How many of the newest messages stand at the end as they were.
fn unchanged(before: &[Shown], after: &[Shown]) -> usize {
    let both = before.iter().rev().zip(after.iter().rev());
    both.take_while(|(was, is)| was.role == is.role && was.text == is.text)
        .count()
}

/// How many of the newest messages stand at the end in whatever form, without a gap and behind every block.
fn claimed(length: usize, after: &[Shown]) -> usize {
    let newest = (0..length).rev().zip(after.iter().rev());
    newest.take_while(|(index, shown)| shown.from == Some(*index)).count()
}

/// How many tokens the states of an arm may have; `None` for the arm that compacts nothing.
fn target(run: &Run, arm: &str) -> Option<Target> {
    let used = run.manifest.arms.iter().find(|used| used.name == arm)?;
    let arm: Arm = used.spec.parse().ok()?;
    match arm.makes {
        Makes::Uncompacted => None,
        Makes::KeepLast | Makes::Engine(_) => arm.target.or_else(|| run.manifest.target.parse().ok()),
    }
}
