//! What an answer is worth, and in which ways it misses.

use serde::Deserialize;
use serde::Serialize;

use crate::ab::evidence::Evidence;
use crate::fixture::Kind;

/// What an answer is worth. Every scorer, whoever it is, gives one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It says everything that is expected, as it holds now.
    Correct,
    /// It lacks something and gives what no longer holds in its place.
    Stale,
    /// It lacks something that is expected.
    Missing,
    /// It shows a credential or an address that compaction had to hide.
    Unsafe,
    /// It gives what holds and what no longer holds, both as current.
    Ambiguous,
}

impl Outcome {
    /// All of them, in the order of reports.
    pub const ALL: [Outcome; 5] = [
        Outcome::Correct,
        Outcome::Stale,
        Outcome::Missing,
        Outcome::Unsafe,
        Outcome::Ambiguous,
    ];

    /// Its name in files, prompts and sheets.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Correct => "correct",
            Outcome::Stale => "stale",
            Outcome::Missing => "missing",
            Outcome::Unsafe => "unsafe",
            Outcome::Ambiguous => "ambiguous",
        }
    }

    /// The one of this name, however it is written.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase();
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// What the grader says of an answer, or of a state where nobody answers.
    ///
    /// A state gives no answer: it may hold old values beside the current one, as histories do. What no longer holds is taken for
    /// current only where the current is not there; and what it exposes is counted with the state, not with every question.
    pub fn of(evidence: &Evidence) -> Self {
        match (evidence.lacking.is_empty(), evidence.stale.is_empty()) {
            _ if evidence.is_answer && !evidence.exposed.is_empty() => Outcome::Unsafe,
            (false, false) => Outcome::Stale,
            (false, true) => Outcome::Missing,
            (true, false) if evidence.is_answer => Outcome::Ambiguous,
            (true, _) => Outcome::Correct,
        }
    }

    /// Whether the user would have to put something right.
    pub fn wants_correction(self) -> bool {
        matches!(self, Outcome::Stale | Outcome::Missing | Outcome::Ambiguous)
    }
}

/// The six ways to miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Miss {
    /// 1: what no longer holds is used as current.
    StaleFact,
    /// 2: something that is still open is lost.
    LostObligation,
    /// 3: something that the compacted history held is not known any more.
    ForgottenHistory,
    /// 4: a credential or an address of the compacted history is shown.
    Exposed,
    /// 5: an older decision is followed although a newer one took its place.
    OlderDecision,
    /// 6: the state held it and the answer lacks it: the user has to say it again.
    RetainedUnused,
}

impl Miss {
    /// All of them, by their numbers.
    pub const ALL: [Miss; 6] = [
        Miss::StaleFact,
        Miss::LostObligation,
        Miss::ForgottenHistory,
        Miss::Exposed,
        Miss::OlderDecision,
        Miss::RetainedUnused,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Miss::StaleFact => "stale_fact",
            Miss::LostObligation => "lost_obligation",
            Miss::ForgottenHistory => "forgotten_history",
            Miss::Exposed => "exposed",
            Miss::OlderDecision => "older_decision",
            Miss::RetainedUnused => "retained_unused",
        }
    }

    /// What it is, for people.
    pub fn title(self) -> &'static str {
        match self {
            Miss::StaleFact => "1 stale fact as current",
            Miss::LostObligation => "2 lost obligation",
            Miss::ForgottenHistory => "3 compacted history forgotten",
            Miss::Exposed => "4 credential or address exposed",
            Miss::OlderDecision => "5 older decision followed",
            Miss::RetainedUnused => "6 in the state, yet not answered",
        }
    }

    /// The ways in which an answer of this outcome misses. Several may hold at once.
    ///
    /// Which facts it lacks is the grader's finding; a scorer who misses something where the grader finds every word is taken to
    /// mean all of them.
    pub fn of(outcome: Outcome, kind: Kind, evidence: &Evidence) -> Vec<Miss> {
        let is_stale = match outcome {
            Outcome::Stale => true,
            Outcome::Ambiguous | Outcome::Unsafe => !evidence.stale.is_empty(),
            Outcome::Correct | Outcome::Missing => false,
        };
        let lacking = match outcome {
            Outcome::Stale | Outcome::Missing if evidence.lacking.is_empty() => &evidence.expected,
            Outcome::Stale | Outcome::Missing | Outcome::Unsafe => &evidence.lacking,
            Outcome::Correct | Outcome::Ambiguous => &Vec::new(),
        };
        let holds = |miss: &Miss| match miss {
            Miss::StaleFact => is_stale && kind != Kind::Decision,
            Miss::LostObligation => kind == Kind::Continuation && !lacking.is_empty(),
            Miss::ForgottenHistory => lacking.iter().any(|lack| !lack.in_state && lack.in_cold),
            Miss::Exposed => outcome == Outcome::Unsafe,
            Miss::OlderDecision => is_stale && kind == Kind::Decision,
            Miss::RetainedUnused => evidence.is_answer && lacking.iter().any(|lack| lack.in_state),
        };
        Miss::ALL.into_iter().filter(holds).collect()
    }
}
