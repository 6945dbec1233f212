//! What models are asked for in an evaluation, and which models have which duty.

use mainstay_llm::chain::Chain;
use serde::Deserialize;
use serde::Serialize;

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// To write a summary.
    Summarise,
    /// To answer a probe.
    Answer,
    /// To judge an answer.
    Judge,
}

impl Duty {
    /// All of them.
    pub const ALL: [Duty; 3] = [Duty::Summarise, Duty::Answer, Duty::Judge];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Duty::Summarise => "summarise",
            Duty::Answer => "answer",
            Duty::Judge => "judge",
        }
    }

    /// How long an answer is expected to be, in tokens: published summaries have 3,000 in the median; answers and
    /// judgements are asked for in a few lines, and models that think first use more than they write.
    pub fn expected_output(self) -> u64 {
        match self {
            Duty::Summarise => 3_000,
            Duty::Answer => 250,
            Duty::Judge => 200,
        }
    }
}

/// The models of a run, by duty.
#[derive(Debug, Default)]
pub struct Models {
    /// Who writes summaries.
    pub summarise: Option<Chain>,
    /// Who answers.
    pub answer: Option<Chain>,
    /// Who judges.
    pub judge: Option<Chain>,
    /// Who answers besides, for evaluations in which several models answer.
    pub more_answerers: Vec<Chain>,
    /// Who judges besides.
    pub more_judges: Vec<Chain>,
}

impl Models {
    /// Who has a duty.
    pub fn of(&self, duty: Duty) -> Option<&Chain> {
        match duty {
            Duty::Summarise => self.summarise.as_ref(),
            Duty::Answer => self.answer.as_ref(),
            Duty::Judge => self.judge.as_ref(),
        }
    }

    /// One of several models that have a duty; the first is the one that [`Models::of`] gives.
    pub fn member(&self, duty: Duty, member: usize) -> Option<&Chain> {
        let more: &[Chain] = match duty {
            Duty::Summarise => &[],
            Duty::Answer => &self.more_answerers,
            Duty::Judge => &self.more_judges,
        };
        match member.checked_sub(1) {
            None => self.of(duty),
            Some(index) => more.get(index),
        }
    }
}
