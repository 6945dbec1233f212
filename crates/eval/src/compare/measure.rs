//! What is compared: a number a sample or a state has, where it comes from and which way is better.

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

use crate::record::Dimension;
use crate::record::Sample;

/// A number that two runs can be compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// A judge's score on a dimension, 0 to 5.
    Judged(Dimension),
    /// The mean of a judge's six scores.
    Overall,
    /// The share of expected facts in the answer.
    AnswerRecall,
    /// Stale facts that the answer gives as current.
    AnswerStale,
    /// Secrets in the answer.
    AnswerLeaks,
    /// The share of expected facts in the state.
    StateRecall,
    /// Stale facts that the state gives as current.
    StateStale,
    /// Secrets in the state.
    StateLeaks,
    /// Tokens of the state.
    Tokens,
    /// What is wrong with the state whatever is asked.
    Flaws,
    /// Fixtures of which the state has lost a quarter of the facts at once; only of states without a model in them.
    Collapsed,
}

/// Where a measure comes from; measures of one source are corrected together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A model that judges.
    Judge,
    /// The words of an answer, graded without a judge.
    Answer,
    /// The state itself: no model in it but the one that may have written a summary.
    State,
}

impl Measure {
    /// All, in the order of reports.
    pub const ALL: [Measure; 16] = [
        Measure::Judged(Dimension::Accuracy),
        Measure::Judged(Dimension::ContextAwareness),
        Measure::Judged(Dimension::ArtifactTrail),
        Measure::Judged(Dimension::Completeness),
        Measure::Judged(Dimension::Continuity),
        Measure::Judged(Dimension::InstructionFollowing),
        Measure::Overall,
        Measure::AnswerRecall,
        Measure::AnswerStale,
        Measure::AnswerLeaks,
        Measure::StateRecall,
        Measure::StateStale,
        Measure::StateLeaks,
        Measure::Flaws,
        Measure::Collapsed,
        Measure::Tokens,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Judged(dimension) => dimension.name(),
            Measure::Overall => "overall",
            Measure::AnswerRecall => "answer_recall",
            Measure::AnswerStale => "answer_stale",
            Measure::AnswerLeaks => "answer_leaks",
            Measure::StateRecall => "state_recall",
            Measure::StateStale => "state_stale",
            Measure::StateLeaks => "state_leaks",
            Measure::Tokens => "tokens",
            Measure::Flaws => "flaws",
            Measure::Collapsed => "collapsed",
        }
    }

    /// Where it comes from.
    pub fn origin(self) -> Origin {
        match self {
            Measure::Judged(_) | Measure::Overall => Origin::Judge,
            Measure::AnswerRecall | Measure::AnswerStale | Measure::AnswerLeaks => Origin::Answer,
            Measure::StateRecall
            | Measure::StateStale
            | Measure::StateLeaks
            | Measure::Tokens
            | Measure::Flaws
            | Measure::Collapsed => Origin::State,
        }
    }

    /// Whether more of it is better.
    pub fn is_more_better(self) -> bool {
        match self {
            Measure::Judged(_) | Measure::Overall | Measure::AnswerRecall | Measure::StateRecall => true,
            Measure::AnswerStale
            | Measure::AnswerLeaks
            | Measure::StateStale
            | Measure::StateLeaks
            | Measure::Tokens
            | Measure::Flaws
            | Measure::Collapsed => false,
        }
    }

    /// Whether a single new one is a verdict by itself: a secret that is shown, a state that a provider
    /// refuses, a fixture that collapsed.
    pub fn is_exact(self) -> bool {
        matches!(
            self,
            Measure::AnswerLeaks | Measure::StateLeaks | Measure::Flaws | Measure::Collapsed
        )
    }

    /// Whether it belongs to a state as a whole and not to a probe.
    pub fn is_of_states(self) -> bool {
        matches!(self, Measure::Tokens | Measure::Flaws | Measure::Collapsed)
    }

    /// Whether a change for the worse is a regression. A larger state is not: what it is worth is for people to say.
    pub fn is_gated(self) -> bool {
        self != Measure::Tokens
    }

    /// How long its scale is: what a difference on a judge's scale is a fifth of on one from 0 to 1.
    pub fn scale(self) -> f64 {
        match self.origin() {
            Origin::Judge => 5.0,
            Origin::Answer | Origin::State => 1.0,
        }
    }

    /// Its value for a sample; `None` where the sample has none, and for what belongs to states.
    pub fn of(self, sample: &Sample) -> Option<f64> {
        let scores = || {
            let counts = sample.excluded.is_none();
            sample.judged.as_ref().filter(|_| counts).map(|judged| &judged.scores)
        };
        let answer = sample.graded.as_ref();
        match self {
            Measure::Judged(dimension) => scores().map(|scores| scores.on(dimension)),
            Measure::Overall => scores().map(|scores| scores.overall()),
            Measure::AnswerRecall => answer.map(|grade| grade.recall()),
            Measure::AnswerStale => answer.map(|grade| grade.stale.len() as f64),
            Measure::AnswerLeaks => answer.map(|grade| grade.leaks.len() as f64),
            Measure::StateRecall => Some(sample.state.recall()),
            Measure::StateStale => Some(sample.state.stale.len() as f64),
            Measure::StateLeaks => Some(sample.state.leaks.len() as f64),
            Measure::Tokens | Measure::Flaws | Measure::Collapsed => None,
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Measure::ALL.into_iter().find(|measure| measure.name() == name);
        known.ok_or_else(|| serde::de::Error::custom(format!("no measure is called {name:?}")))
    }
}
