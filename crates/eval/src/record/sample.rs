//! One probe, answered from one state, graded and judged.

use serde::Deserialize;
use serde::Serialize;

use crate::fixture::Kind;
use crate::fixture::Probe;
use crate::grade::Grade;

/// What a judge looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Paths, names, codes and numbers are right.
    Accuracy,
    /// It is the state now, not one in the middle.
    ContextAwareness,
    /// It knows what was read, changed and made.
    ArtifactTrail,
    /// All parts of the question are answered.
    Completeness,
    /// The work can go on without fetching things again.
    Continuity,
    /// The answer has the form that was asked for.
    InstructionFollowing,
}

impl Dimension {
    /// All six, in the order of reports.
    pub const ALL: [Dimension; 6] = [
        Dimension::Accuracy,
        Dimension::ContextAwareness,
        Dimension::ArtifactTrail,
        Dimension::Completeness,
        Dimension::Continuity,
        Dimension::InstructionFollowing,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Accuracy => "accuracy",
            Dimension::ContextAwareness => "context_awareness",
            Dimension::ArtifactTrail => "artifact_trail",
            Dimension::Completeness => "completeness",
            Dimension::Continuity => "continuity",
            Dimension::InstructionFollowing => "instruction_following",
        }
    }

    /// Its name at the head of a column.
    pub fn title(self) -> &'static str {
        match self {
            Dimension::Accuracy => "Accuracy",
            Dimension::ContextAwareness => "Context",
            Dimension::ArtifactTrail => "Artifact",
            Dimension::Completeness => "Complete",
            Dimension::Continuity => "Continuity",
            Dimension::InstructionFollowing => "Instruction",
        }
    }
}

/// A score from 0 to 5 on each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scores {
    /// See [`Dimension::Accuracy`]; the others likewise.
    pub accuracy: f64,
    /// The state now.
    pub context_awareness: f64,
    /// What was read, changed and made.
    pub artifact_trail: f64,
    /// All parts.
    pub completeness: f64,
    /// Work can go on.
    pub continuity: f64,
    /// The form asked for.
    pub instruction_following: f64,
}

impl Scores {
    /// The score on a dimension.
    pub fn on(&self, dimension: Dimension) -> f64 {
        match dimension {
            Dimension::Accuracy => self.accuracy,
            Dimension::ContextAwareness => self.context_awareness,
            Dimension::ArtifactTrail => self.artifact_trail,
            Dimension::Completeness => self.completeness,
            Dimension::Continuity => self.continuity,
            Dimension::InstructionFollowing => self.instruction_following,
        }
    }

    /// The mean of all six.
    pub fn overall(&self) -> f64 {
        Dimension::ALL.iter().map(|dimension| self.on(*dimension)).sum::<f64>() / Dimension::ALL.len() as f64
    }
}

/// What a judge says of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The scores.
    pub scores: Scores,
    /// Why.
    pub reason: String,
}

/// What a sample is known by: fixture, arm, repeat and probe.
pub type SampleName = (String, String, u32, String);

impl Sample {
    /// A probe that nobody has asked of a state yet.
    pub fn new(fixture: &str, arm: &str, repeat: u32, probe: &Probe) -> Self {
        Self {
            fixture: fixture.to_owned(),
            arm: arm.to_owned(),
            repeat,
            probe: probe.id.clone(),
            kind: probe.kind,
            state: Grade::default(),
            searched: None,
            found: None,
            answer: None,
            graded: None,
            judged: None,
            excluded: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> SampleName {
        (self.fixture.clone(), self.arm.clone(), self.repeat, self.probe.clone())
    }
}

/// One probe, answered from what one arm made of its fixture, in one repeat.
///
/// `fixture`, `arm`, `repeat` and `probe` together are its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The fixture.
    pub fixture: String,
    /// The arm.
    pub arm: String,
    /// Which repeat, from 1 on.
    pub repeat: u32,
    /// The probe's id.
    pub probe: String,
    /// What it asks for.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What stands in the state: what an answer could know at best.
    pub state: Grade,
    /// What a model with a search asked the archive for; `None` where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<String>,
    /// What the search found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The answer; `None` in a run without a model that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The answer's grade, given without a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graded: Option<Grade>,
    /// The judgement; `None` in a run without a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judgement>,
    /// Why the sample counts in no score of a judge: no answer, or no judgement that could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
}
