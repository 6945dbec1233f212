//! From scores to figures: means by arm, paired differences between arms, agreement between judges.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::continuation::requests::ContinuationScore;
use crate::continuation::requests::DIMENSIONS;
use crate::stats::Estimate;
use crate::stats::estimate;

/// A state may be larger than its target by this share before it counts as over, as in retention.
const SLACK: f64 = 1.02;

/// An answer with the scores of all judges.
#[derive(Clone, Debug)]
pub struct ScoredAnswer {
    /// The case.
    pub case: String,
    /// Its session: the cluster that intervals are drawn by.
    pub session: String,
    /// The size, as it was asked for.
    pub size: String,
    /// The arm.
    pub arm: String,
    /// What made the state: an arm whose summary failed is made of the ledger alone.
    pub made: String,
    /// Tokens of the state.
    pub tokens: u64,
    /// Tokens that the state was allowed; none for states whose size nobody set.
    pub target: Option<u64>,
    /// Words of the answer.
    pub words: usize,
    /// The scores by judge.
    pub scores: BTreeMap<usize, ContinuationScore>,
}

impl ScoredAnswer {
    /// What is measured of it, each the mean over the judges: the six scores, then all of them, false statements, harmful actions.
    fn measures(&self) -> Option<[f64; 9]> {
        let judges = self.scores.len() as f64;
        if self.scores.is_empty() {
            return None;
        }
        let mut sums = [0.0; 9];
        for score in self.scores.values() {
            for (sum, value) in sums.iter_mut().zip(score.scores) {
                *sum += value;
            }
            sums[6] += score.overall();
            sums[7] += score.false_statements as f64;
            sums[8] += score.harmful_actions as f64;
        }
        Some(sums.map(|sum| sum / judges))
    }
}

/// What is measured, in the order of [`ScoredAnswer::measures`].
fn measure_names() -> impl Iterator<Item = &'static str> {
    DIMENSIONS
        .into_iter()
        .chain(["overall", "false_statements", "harmful_actions"])
}

/// The figures of an arm at a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmFigures {
    /// The arm.
    pub arm: String,
    /// The size, as it was asked for.
    pub size: String,
    /// How many answers were scored.
    pub answers: usize,
    /// How many states were made in which way.
    pub made: BTreeMap<String, usize>,
    /// Mean tokens of the states.
    pub tokens: f64,
    /// How many states are more than 2 % over their target.
    pub over_target: usize,
    /// Mean words of the answers.
    pub words: f64,
    /// Mean scores with 95 % intervals: `overall`, the six dimensions, `false_statements` and `harmful_actions` an answer.
    pub figures: BTreeMap<&'static str, Estimate>,
    /// False statements, summed over answers and judges.
    pub false_statements: u64,
    /// Harmful actions, summed over answers and judges.
    pub harmful_actions: u64,
}

/// One arm minus another, over the cases that both have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmDifference {
    /// The first arm.
    pub arm: String,
    /// The arm that is subtracted.
    pub minus: String,
    /// The size.
    pub size: String,
    /// How many cases both have.
    pub cases: usize,
    /// The differences with 95 % intervals, named as in [`ArmFigures::figures`].
    pub figures: BTreeMap<&'static str, Estimate>,
}

/// How far two judges agree, on the answers that both scored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeAgreement {
    /// The two judges, counted from one.
    pub judges: (usize, usize),
    /// How many answers.
    pub answers: usize,
    /// Pearson's correlation of the overall scores; none where one judge gave all the same.
    pub overall_r: Option<f64>,
    /// The mean absolute difference of the overall scores.
    pub overall_difference: f64,
    /// The same over all single scores.
    pub scores_r: Option<f64>,
    /// The same over all single scores.
    pub scores_difference: f64,
}

/// The figures of every arm at every size, in the order in which they first appear.
pub fn arm_figures(answers: &[ScoredAnswer]) -> Vec<ArmFigures> {
    let mut figures = Vec::new();
    for (size, arm) in groups(answers) {
        let own: Vec<&ScoredAnswer> = answers
            .iter()
            .filter(|answer| answer.size == size && answer.arm == arm && !answer.scores.is_empty())
            .collect();
        let count = own.len().max(1) as f64;
        let over = |answer: &&&ScoredAnswer| {
            let target = answer.target.map(|target| target as f64 * SLACK);
            target.is_some_and(|target| answer.tokens as f64 > target)
        };
        let total =
            |of: fn(&ContinuationScore) -> u64| own.iter().flat_map(|answer| answer.scores.values()).map(of).sum();
        let mut made: BTreeMap<String, usize> = BTreeMap::new();
        for answer in &own {
            *made.entry(answer.made.clone()).or_default() += 1;
        }
        figures.push(ArmFigures {
            made,
            arm: arm.to_owned(),
            size: size.to_owned(),
            answers: own.len(),
            tokens: own.iter().map(|answer| answer.tokens as f64).sum::<f64>() / count,
            over_target: own.iter().filter(over).count(),
            words: own.iter().map(|answer| answer.words as f64).sum::<f64>() / count,
            figures: estimates(
                own.iter()
                    .filter_map(|answer| Some((answer.measures()?, answer.session.as_str()))),
                true,
            ),
            false_statements: total(|score| score.false_statements),
            harmful_actions: total(|score| score.harmful_actions),
        });
    }
    figures
}

/// Every arm minus every later one, at every size.
pub fn arm_differences(answers: &[ScoredAnswer]) -> Vec<ArmDifference> {
    let groups = groups(answers);
    let mut differences = Vec::new();
    for (index, (size, arm)) in groups.iter().enumerate() {
        for (_, minus) in groups[index + 1..].iter().filter(|(other, _)| other == size) {
            let of = |arm: &str| -> BTreeMap<&str, (&ScoredAnswer, [f64; 9])> {
                let own = answers
                    .iter()
                    .filter(|answer| answer.size == *size && answer.arm == arm);
                own.filter_map(|answer| Some((answer.case.as_str(), (answer, answer.measures()?))))
                    .collect()
            };
            let (first, second) = (of(arm), of(minus));
            let both: Vec<([f64; 9], &str)> = first
                .iter()
                .filter_map(|(case, (answer, one))| {
                    let (_, other) = second.get(case)?;
                    let mut difference = *one;
                    difference.iter_mut().zip(other).for_each(|(one, other)| *one -= other);
                    Some((difference, answer.session.as_str()))
                })
                .collect();
            if !both.is_empty() {
                differences.push(ArmDifference {
                    arm: (*arm).to_owned(),
                    minus: (*minus).to_owned(),
                    size: (*size).to_owned(),
                    cases: both.len(),
                    figures: estimates(both.into_iter(), false),
                });
            }
        }
    }
    differences
}

/// How far every two judges agree.
pub fn judge_agreement(answers: &[ScoredAnswer]) -> Vec<JudgeAgreement> {
    let judges = answers.iter().flat_map(|answer| answer.scores.keys());
    let judges = judges.max().map_or(0, |last| last + 1);
    let mut agreement = Vec::new();
    for first in 0..judges {
        for second in first + 1..judges {
            let both: Vec<(&ContinuationScore, &ContinuationScore)> = answers
                .iter()
                .filter_map(|answer| Some((answer.scores.get(&first)?, answer.scores.get(&second)?)))
                .collect();
            if both.is_empty() {
                continue;
            }
            let overall: Vec<(f64, f64)> = both
                .iter()
                .map(|(one, other)| (one.overall(), other.overall()))
                .collect();
            let single: Vec<(f64, f64)> = both
                .iter()
                .flat_map(|(one, other)| one.scores.into_iter().zip(other.scores))
                .collect();
            agreement.push(JudgeAgreement {
                judges: (first + 1, second + 1),
                answers: both.len(),
                overall_r: pearson(&overall),
                overall_difference: mean_difference(&overall),
                scores_r: pearson(&single),
                scores_difference: mean_difference(&single),
            });
        }
    }
    agreement
}

/// Sizes and arms in the order in which they first appear, sizes first.
fn groups(answers: &[ScoredAnswer]) -> Vec<(&str, &str)> {
    let mut groups: Vec<(&str, &str)> = Vec::new();
    let mut sizes: Vec<&str> = Vec::new();
    for answer in answers {
        if !sizes.contains(&answer.size.as_str()) {
            sizes.push(&answer.size);
        }
        if !groups.contains(&(answer.size.as_str(), answer.arm.as_str())) {
            groups.push((&answer.size, &answer.arm));
        }
    }
    // Stable: arms stay in their order within a size.
    groups.sort_by_key(|(size, _)| sizes.iter().position(|known| known == size));
    groups
}

/// An estimate for every measure; scores stay on their scale.
fn estimates<'a>(
    observations: impl Iterator<Item = ([f64; 9], &'a str)>,
    is_on_scale: bool,
) -> BTreeMap<&'static str, Estimate> {
    let observations: Vec<([f64; 9], &str)> = observations.collect();
    let mut figures = BTreeMap::new();
    for (index, name) in measure_names().enumerate() {
        let values = observations.iter().map(|(values, session)| (values[index], *session));
        let most = if index <= DIMENSIONS.len() { 5.0 } else { f64::INFINITY };
        let found = estimate(values).map(|found| if is_on_scale { found.on_scale(most) } else { found });
        figures.extend(found.map(|found| (name, found)));
    }
    figures
}

/// Pearson's correlation; none where one side does not vary.
fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (left, right) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut product, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for (one, other) in pairs {
        let (one, other) = (one - left, other - right);
        product += one * other;
        left_square += one * one;
        right_square += other * other;
    }
    let scale = (left_square * right_square).sqrt();
    (scale > 1e-12).then(|| product / scale)
}

fn mean_difference(pairs: &[(f64, f64)]) -> f64 {
    pairs.iter().map(|(one, other)| (one - other).abs()).sum::<f64>() / pairs.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(value: f64, false_statements: u64) -> ContinuationScore {
        ContinuationScore {
            scores: [value; 6],
            false_statements,
            harmful_actions: 0,
            reason: String::new(),
        }
    }

    fn answer(session: usize, arm: &str, judged: &[f64]) -> ScoredAnswer {
        let scores = judged.iter().enumerate();
        ScoredAnswer {
            case: format!("s{session}@10"),
            session: format!("s{session}"),
            size: "3%".to_owned(),
            arm: arm.to_owned(),
            made: "ledger".to_owned(),
            tokens: 100,
            target: Some(90),
            words: 50,
            scores: scores.map(|(judge, value)| (judge, score(*value, 1))).collect(),
        }
    }

    #[test]
    fn known_scores_give_known_figures_and_paired_differences() {
        let mut answers = Vec::new();
        for session in 0..8 {
            // Sessions differ much, arms by exactly one point: only pairing shows that.
            let level = (session % 4) as f64;
            answers.push(answer(session, "a", &[level, level + 1.0]));
            answers.push(answer(session, "b", &[level + 1.0, level + 2.0]));
        }
        // A case that only one arm has takes no part in differences.
        answers.push(answer(8, "b", &[0.0, 0.0]));
        let figures = arm_figures(&answers);
        assert_eq!(
            (figures[0].arm.as_str(), figures[0].answers, figures[1].answers),
            ("a", 8, 9)
        );
        assert!((figures[0].figures["overall"].mean - 2.0).abs() < 1e-12);
        assert!((figures[0].figures["task"].mean - 2.0).abs() < 1e-12);
        assert_eq!(figures[0].made["ledger"], 8);
        assert_eq!((figures[0].false_statements, figures[0].over_target), (16, 8));
        assert!((figures[0].figures["false_statements"].mean - 1.0).abs() < 1e-12);
        let differences = arm_differences(&answers);
        assert_eq!(differences.len(), 1);
        let overall = differences[0].figures["overall"];
        assert_eq!((differences[0].cases, overall.clusters), (8, 8));
        assert!((overall.mean + 1.0).abs() < 1e-9 && overall.is_below_zero());
    }

    #[test]
    fn agreement_is_the_textbook_correlation_and_difference() {
        // Overall scores 1, 2, 3, 4 against 2, 2, 4, 5: r = 5.5 / sqrt(5 · 6.75).
        let pairs = [(1.0, 2.0), (2.0, 2.0), (3.0, 4.0), (4.0, 5.0)];
        let answers: Vec<ScoredAnswer> = pairs
            .iter()
            .enumerate()
            .map(|(session, (one, other))| answer(session, "a", &[*one, *other]))
            .collect();
        let agreement = judge_agreement(&answers);
        assert_eq!(
            (agreement.len(), agreement[0].judges, agreement[0].answers),
            (1, (1, 2), 4)
        );
        let expected = 5.5 / (5.0_f64 * 6.75).sqrt();
        assert!((agreement[0].overall_r.unwrap() - expected).abs() < 1e-12);
        assert!((agreement[0].overall_difference - 0.75).abs() < 1e-12);
        assert!((agreement[0].scores_r.unwrap() - expected).abs() < 1e-12);
        let same = [answer(0, "a", &[3.0, 1.0]), answer(1, "a", &[3.0, 2.0])];
        assert_eq!(judge_agreement(&same)[0].overall_r, None);
        assert!(judge_agreement(&[answer(0, "a", &[3.0])]).is_empty());
    }
}
