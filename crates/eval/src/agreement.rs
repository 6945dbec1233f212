//! How far the grader and the judge agree.

use serde::Deserialize;
use serde::Serialize;

use crate::grade::JUDGE_PASSES;
use crate::record::Sample;

/// How far the verdicts of grader and judge agree on the answers that both saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// How many answers both saw.
    pub pairs: usize,
    /// Spearman's correlation of the grader's score and the judge's overall; `None` with fewer than three pairs, or where one
    /// of them gives everything the same.
    pub correlation: Option<f64>,
    /// The share of answers that both pass or both fail; `None` without pairs.
    pub same_verdict: Option<f64>,
    /// Cohen's kappa of the verdicts; `None` where chance alone would have them agree.
    pub kappa: Option<f64>,
    /// Both pass them.
    pub both_pass: usize,
    /// Both fail them.
    pub both_fail: usize,
    /// Only the grader passes them: the words are there, and something else is wrong.
    pub only_grader: usize,
    /// Only the judge passes them: said in words that the bank does not foresee, or the judge is generous.
    pub only_judge: usize,
}

/// Compares grades and judgements of the same answers. Samples without either, or excluded, are left out.
pub fn agreement(samples: &[Sample]) -> Agreement {
    let seen = samples.iter().filter(|sample| sample.excluded.is_none());
    let pairs: Vec<(f64, f64, bool)> = seen
        .filter_map(|sample| {
            let (grade, judged) = (sample.graded.as_ref()?, sample.judged.as_ref()?);
            Some((grade.score(), judged.scores.overall(), grade.passes()))
        })
        .collect();
    let mut found = Agreement {
        pairs: pairs.len(),
        ..Agreement::default()
    };
    for (_, overall, passes) in &pairs {
        match (*passes, *overall >= JUDGE_PASSES) {
            (true, true) => found.both_pass += 1,
            (false, false) => found.both_fail += 1,
            (true, false) => found.only_grader += 1,
            (false, true) => found.only_judge += 1,
        }
    }
    found.correlation = spearman(&pairs);
    if !pairs.is_empty() {
        let all = pairs.len() as f64;
        let same = (found.both_pass + found.both_fail) as f64 / all;
        let grader = (found.both_pass + found.only_grader) as f64 / all;
        let judge = (found.both_pass + found.only_judge) as f64 / all;
        let chance = grader * judge + (1.0 - grader) * (1.0 - judge);
        found.same_verdict = Some(same);
        found.kappa = (chance < 1.0).then(|| (same - chance) / (1.0 - chance));
    }
    found
}

fn spearman(pairs: &[(f64, f64, bool)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let first = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let second = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 + 1.0) / 2.0;
    let (mut both, mut own, mut other) = (0.0, 0.0, 0.0);
    for (a, b) in first.iter().zip(&second) {
        both += (a - middle) * (b - middle);
        own += (a - middle).powi(2);
        other += (b - middle).powi(2);
    }
    (own > 0.0 && other > 0.0).then(|| both / (own * other).sqrt())
}

/// Ranks from one on; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let same = order[from..]
            .iter()
            .take_while(|index| values[**index] == values[order[from]])
            .count()
            .max(1);
        for index in &order[from..from + same] {
            ranks[*index] = from as f64 + (same as f64 + 1.0) / 2.0;
        }
        from += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Kind;
    use crate::grade::FactGrade;
    use crate::grade::Grade;
    use crate::record::Judgement;
    use crate::record::Scores;

    fn sample(found: usize, of: usize, judged: f64) -> Sample {
        let fact = |index| FactGrade {
            fact: format!("fact {index}"),
            found: index < found,
        };
        let graded = Grade {
            facts: (0..of).map(fact).collect(),
            ..Grade::default()
        };
        let scores = Scores {
            accuracy: judged,
            context_awareness: judged,
            artifact_trail: judged,
            completeness: judged,
            continuity: judged,
            instruction_following: judged,
        };
        Sample {
            fixture: "f".to_owned(),
            arm: "a".to_owned(),
            repeat: 1,
            probe: "p".to_owned(),
            kind: Kind::Recall,
            state: Grade::default(),
            searched: None,
            found: None,
            answer: Some(String::new()),
            graded: Some(graded),
            judged: Some(Judgement {
                scores,
                reason: String::new(),
            }),
            excluded: None,
        }
    }

    #[test]
    fn verdicts_and_ranks_are_compared() {
        let samples = [
            sample(5, 5, 5.0),
            sample(4, 5, 4.0),
            sample(3, 5, 2.0),
            sample(1, 5, 3.0),
            sample(0, 5, 0.0),
        ];
        let found = agreement(&samples);
        let counts = (found.both_pass, found.both_fail, found.only_grader, found.only_judge);
        assert_eq!((found.pairs, counts), (5, (2, 1, 1, 1)));
        // Ranks 5 4 3 2 1 against 5 4 2 3 1: one minus six times two over one hundred and twenty.
        assert!((found.correlation.unwrap() - 0.9).abs() < 1e-12, "{found:?}");
        assert_eq!(found.same_verdict, Some(0.6));
        assert!((found.kappa.unwrap() - (0.6 - 0.52) / 0.48).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_cannot_be_compared_is_left_out() {
        let mut excluded = sample(1, 1, 5.0);
        excluded.excluded = Some("no answer".to_owned());
        let mut unjudged = sample(1, 1, 5.0);
        unjudged.judged = None;
        assert_eq!(agreement(&[excluded, unjudged]), Agreement::default());
        let alike = agreement(&[sample(1, 1, 5.0), sample(1, 1, 5.0), sample(1, 1, 5.0)]);
        assert_eq!(
            (alike.correlation, alike.kappa, alike.same_verdict),
            (None, None, Some(1.0))
        );
    }

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[1.0, 0.5, 1.0, 0.0]), [3.5, 2.0, 3.5, 1.0]);
    }
}
