//! What an exam came to, as data and as Markdown.

use std::collections::BTreeMap;

use mainstay_llm::price::Spent;
use serde::Serialize;

use crate::continuation::arm::StateMaker;
use crate::continuation::exam::ContinuationExam;
use crate::continuation::exam::ContinuationManifest;
use crate::continuation::figures::ArmDifference;
use crate::continuation::figures::ArmFigures;
use crate::continuation::figures::JudgeAgreement;
use crate::continuation::figures::ScoredAnswer;
use crate::continuation::figures::arm_differences;
use crate::continuation::figures::arm_figures;
use crate::continuation::figures::judge_agreement;
use crate::continuation::holding::HeldExam;
use crate::continuation::requests::ContinuationScore;
use crate::continuation::requests::DIMENSIONS;
use crate::run::desk::Duty;
use crate::run::report::DutySpent;
use crate::run::report::duty_spent;
use crate::stats::Estimate;

/// One answer of a case in the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswerScores {
    /// The arm.
    pub arm: String,
    /// Who answered: the seat, counted from one.
    pub answerer: usize,
    /// What made the state.
    pub made: String,
    /// What the engine had to say about it.
    pub remarks: Vec<String>,
    /// Tokens of the state.
    pub tokens: u64,
    /// Words of the answer.
    pub words: usize,
    /// The mean of all scores of all judges; none where nobody scored it.
    pub overall: Option<f64>,
    /// What each judge said, by its seat, counted from one.
    pub judges: BTreeMap<usize, ContinuationScore>,
}

/// One case in the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseScores {
    /// The case.
    pub case: String,
    /// Its session.
    pub session: String,
    /// Where it was cut.
    pub cut: String,
    /// The size, as it was asked for.
    pub size: String,
    /// The answers, in the order of the arms.
    pub answers: Vec<AnswerScores>,
}

/// Something that could not be scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnscoredEntry {
    /// The case.
    pub case: String,
    /// The arm, or the judge.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What an exam came to.
#[derive(Clone, Debug, Serialize)]
pub struct ContinuationReport {
    /// The version of this form.
    pub version: u32,
    /// What was asked.
    pub manifest: ContinuationManifest,
    /// The figures of every arm at every size.
    pub arms: Vec<ArmFigures>,
    /// Arms against each other, paired by case, intervals by session.
    pub differences: Vec<ArmDifference>,
    /// How far judges agree.
    pub agreement: Vec<JudgeAgreement>,
    /// The scores of every case.
    pub cases: Vec<CaseScores>,
    /// What could not be scored.
    pub unscored: Vec<UnscoredEntry>,
    /// What was spent, by duty.
    pub spent: Vec<DutySpent>,
}

impl ContinuationReport {
    /// What an exam came to, as far as it was held.
    pub fn new(exam: &ContinuationExam, held: &HeldExam, spent: &BTreeMap<Duty, Spent>) -> Self {
        let (mut answers, mut cases, mut unscored) = (Vec::new(), Vec::new(), Vec::new());
        for (index, case) in exam.manifest.cases.iter().enumerate() {
            let mut listed = Vec::new();
            for judge in 0..exam.manifest.judge_seats {
                if let Some(Err(why)) = held.scores.get(&(index, judge)) {
                    unscored.push(UnscoredEntry {
                        case: case.id.clone(),
                        what: format!("judge {}", judge + 1),
                        why: why.clone(),
                    });
                }
            }
            for arm in exam.arms_of(case) {
                let made = &exam.arms[arm];
                let answer = match held.answers.get(&(index, arm)) {
                    Some(Ok(answer)) => answer,
                    other => {
                        let why = other.and_then(|answer| answer.as_ref().err());
                        unscored.push(UnscoredEntry {
                            case: case.id.clone(),
                            what: made.name.clone(),
                            why: why.map_or_else(|| "not answered yet".to_owned(), Clone::clone),
                        });
                        continue;
                    }
                };
                let note = held.states.get(&(index, arm));
                let scores: BTreeMap<usize, ContinuationScore> = (0..exam.manifest.judge_seats)
                    .filter_map(|judge| {
                        let scores = held.scores.get(&(index, judge))?.as_ref().ok()?;
                        let (_, score) = scores.iter().find(|(scored, _)| *scored == arm)?;
                        Some((judge, score.clone()))
                    })
                    .collect();
                let has_target = !matches!(made.maker, StateMaker::Recorded | StateMaker::Files(_));
                let scored = ScoredAnswer {
                    case: case.id.clone(),
                    session: case.session.clone(),
                    size: case.size.clone(),
                    arm: made.name.clone(),
                    made: note.map_or_else(String::new, |note| note.made.clone()),
                    tokens: note.map_or(0, |note| note.tokens),
                    target: has_target.then(|| made.target(case.size_tokens)),
                    words: answer.split_whitespace().count(),
                    scores,
                };
                let count = scored.scores.len() as f64;
                let sum: f64 = scored.scores.values().map(ContinuationScore::overall).sum();
                listed.push(AnswerScores {
                    arm: made.name.clone(),
                    answerer: exam.answerer_seat(index, arm) + 1,
                    made: scored.made.clone(),
                    remarks: note.map_or_else(Vec::new, |note| note.remarks.clone()),
                    tokens: scored.tokens,
                    words: scored.words,
                    overall: (count > 0.0).then(|| sum / count),
                    judges: scored
                        .scores
                        .iter()
                        .map(|(judge, score)| (judge + 1, score.clone()))
                        .collect(),
                });
                answers.push(scored);
            }
            cases.push(CaseScores {
                case: case.id.clone(),
                session: case.session.clone(),
                cut: case.cut.clone(),
                size: case.size.clone(),
                answers: listed,
            });
        }
        Self {
            version: 1,
            manifest: exam.manifest.clone(),
            arms: arm_figures(&answers),
            differences: arm_differences(&answers),
            agreement: judge_agreement(&answers),
            cases,
            unscored,
            spent: spent.iter().map(|(duty, spent)| duty_spent(*duty, spent)).collect(),
        }
    }

    /// The report as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Continuation: {}\n\n{} cases of {} sessions, {} answerers, {} judges.\n\n",
            self.manifest.label,
            self.cases.len(),
            self.sessions(),
            self.manifest.answerer_seats,
            self.manifest.judge_seats
        );
        for (titles, rows) in [
            self.arm_table(),
            self.difference_table(),
            self.agreement_table(),
            self.case_table(),
            self.unscored_table(),
        ] {
            if rows.is_empty() {
                continue;
            }
            // Reasons come from models and providers: a pipe or a line break in them must not break the table.
            let line = |cells: &[String]| {
                let cells: Vec<String> = cells
                    .iter()
                    .map(|cell| cell.replace('|', "\\|").replace('\n', " "))
                    .collect();
                format!("| {} |\n", cells.join(" | "))
            };
            text.push_str(&line(&titles));
            text.push_str(&line(&vec!["---".to_owned(); titles.len()]));
            rows.iter().for_each(|row| text.push_str(&line(row)));
            text.push('\n');
        }
        text
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        let sessions: std::collections::BTreeSet<&str> = self.cases.iter().map(|case| case.session.as_str()).collect();
        sessions.len()
    }

    /// The figures of the arms, as a table: titles and rows.
    pub fn arm_table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut titles: Vec<String> = ["arm", "size", "answers", "tokens", "overall"]
            .map(str::to_owned)
            .to_vec();
        titles.extend(DIMENSIONS.map(str::to_owned));
        titles.extend(["false", "harmful", "made"].map(str::to_owned));
        let rows = self.arms.iter().map(|arm| {
            let mean = |name: &str| {
                arm.figures
                    .get(name)
                    .map_or("–".to_owned(), |found| format!("{:.2}", found.mean))
            };
            let interval = |found: &Estimate| format!("{:.2} [{:.2}, {:.2}]", found.mean, found.low, found.high);
            let mut row = vec![
                arm.arm.clone(),
                arm.size.clone(),
                arm.answers.to_string(),
                format!("{:.0}", arm.tokens),
                arm.figures.get("overall").map_or("–".to_owned(), interval),
            ];
            row.extend(DIMENSIONS.map(mean));
            let made: Vec<String> = arm.made.iter().map(|(way, count)| format!("{count} {way}")).collect();
            row.extend([
                arm.false_statements.to_string(),
                arm.harmful_actions.to_string(),
                made.join(", "),
            ]);
            row
        });
        (titles, rows.collect())
    }

    /// The differences between arms, as a table.
    pub fn difference_table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let titles = ["arm", "minus", "size", "cases", "overall", "next", "false statements"];
        let rows = self.differences.iter().map(|difference| {
            let shown = |name: &str| difference.figures.get(name).map_or("–".to_owned(), signed);
            vec![
                difference.arm.clone(),
                difference.minus.clone(),
                difference.size.clone(),
                difference.cases.to_string(),
                shown("overall"),
                shown("next"),
                shown("false_statements"),
            ]
        });
        (titles.map(str::to_owned).to_vec(), rows.collect())
    }

    /// How far judges agree, as a table.
    pub fn agreement_table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let titles = [
            "judges",
            "answers",
            "r",
            "mean difference",
            "r of single scores",
            "their mean difference",
        ];
        let rows = self.agreement.iter().map(|pair| {
            let shown = |r: Option<f64>| r.map_or("–".to_owned(), |r| format!("{r:.2}"));
            vec![
                format!("{} and {}", pair.judges.0, pair.judges.1),
                pair.answers.to_string(),
                shown(pair.overall_r),
                format!("{:.2}", pair.overall_difference),
                shown(pair.scores_r),
                format!("{:.2}", pair.scores_difference),
            ]
        });
        (titles.map(str::to_owned).to_vec(), rows.collect())
    }

    /// Overall scores of every case, one column an arm.
    pub fn case_table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let arms = self.manifest.arms.iter().map(|arm| arm.name.clone());
        let titles = ["case".to_owned(), "cut".to_owned()].into_iter().chain(arms.clone());
        let rows = self.cases.iter().map(|case| {
            let overall = |arm: &str| {
                let answer = case.answers.iter().find(|answer| answer.arm == arm);
                let overall = answer.and_then(|answer| answer.overall);
                overall.map_or("–".to_owned(), |overall| format!("{overall:.2}"))
            };
            let mut row = vec![case.case.clone(), case.cut.clone()];
            row.extend(arms.clone().map(|arm| overall(&arm)));
            row
        });
        (titles.collect(), rows.collect())
    }

    /// What could not be scored, as a table.
    pub fn unscored_table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let titles = ["case", "not scored", "why"];
        let rows = self
            .unscored
            .iter()
            .map(|entry| vec![entry.case.clone(), entry.what.clone(), entry.why.clone()]);
        (titles.map(str::to_owned).to_vec(), rows.collect())
    }
}

/// A difference; an interval on one side of zero is marked.
fn signed(found: &Estimate) -> String {
    let is_clear = found.is_trusted() && (found.low > 0.0 || found.high < 0.0);
    let mark = if is_clear { "*" } else { "" };
    format!("{:+.2} [{:+.2}, {:+.2}]{mark}", found.mean, found.low, found.high)
}
