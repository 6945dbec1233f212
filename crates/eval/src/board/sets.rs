//! The sets of the board: where each lies, at which sizes it is measured, and what it puts into the table.

use std::path::Path;

use crate::board::BoardSettings;
use crate::board::conversations::Conversations;
use crate::board::conversations::Done;
use crate::board::exam_set;
use crate::board::figure::FigureTable;
use crate::board::identifier_set;
use crate::board::person_set;
use crate::board::planted_set;
use crate::board::planted_set::PlantedTools;
use crate::board::preflight_set;
use crate::board::qa_set;
use crate::board::qa_set::QaConversation;
use crate::board::size::BoardSize;
use crate::board::size::SHARES;
use crate::fixture::Exam;
use crate::fixture::Subject;
use crate::retention::Trajectory;
use crate::retention::corpus;
use crate::sessions::Selection;

/// A set of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardSet {
    /// Recorded sessions with probe banks.
    ExamRecorded,
    /// The fixtures that come with the program.
    OwnExam,
    /// Hermes's fixtures.
    Hermes,
    /// Answers in the person's own words in long chats.
    LongMemEval,
    /// Words of people in recorded sessions.
    Person,
    /// Identifiers that agents go on to use.
    Identifiers,
    /// Generated conversations with an answer sheet, written and scored by programs that do not come with this one.
    Planted,
    /// Preflight's conversations.
    Preflight,
}

/// What measuring a set came to.
pub enum SetOutcome {
    /// Its data is absent.
    Skipped(String),
    /// Tables by the column they stand in, and how many conversations there were.
    Measured {
        /// The tables.
        tables: Vec<(&'static str, FigureTable)>,
        /// How many conversations.
        conversations: usize,
    },
}

impl BoardSet {
    /// All of them, in the order in which they are measured.
    pub const ALL: [BoardSet; 8] = [
        BoardSet::ExamRecorded,
        BoardSet::OwnExam,
        BoardSet::Hermes,
        BoardSet::LongMemEval,
        BoardSet::Person,
        BoardSet::Identifiers,
        BoardSet::Planted,
        BoardSet::Preflight,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            BoardSet::ExamRecorded => "exam-recorded",
            BoardSet::OwnExam => "own-exam",
            BoardSet::Hermes => "hermes",
            BoardSet::LongMemEval => "longmemeval",
            BoardSet::Person => "person",
            BoardSet::Identifiers => "identifiers",
            BoardSet::Planted => "planted",
            BoardSet::Preflight => "preflight",
        }
    }

    /// The set of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// The names under which figures stand: one for most sets.
    pub fn columns() -> impl Iterator<Item = &'static str> {
        let sets = Self::ALL.into_iter().filter(|set| *set != BoardSet::Planted);
        sets.map(Self::name).chain(planted_set::COLUMNS)
    }

    /// Measures it.
    pub(super) fn measure(self, settings: &BoardSettings, done: Done<'_>) -> Result<SetOutcome, String> {
        match self {
            BoardSet::ExamRecorded => self.exam(&settings.data.join("exam-recorded"), &SHARES, settings.jobs, done),
            BoardSet::Hermes => {
                let sizes = [BoardSize::Share(0.1), BoardSize::Share(0.25), BoardSize::Whole];
                self.exam(&settings.data.join("hermes-eval"), &sizes, settings.jobs, done)
            }
            BoardSet::OwnExam => {
                let exam = Exam::built_in().map_err(|error| error.to_string())?;
                Ok(self.measured_exam(&exam, &SHARES, settings.jobs, done))
            }
            BoardSet::LongMemEval => {
                self.questions(&settings.data.join("qa/longmemeval_oracle.json"), settings.jobs, done)
            }
            BoardSet::Person => self.person(&settings.data.join("sessions"), settings.jobs, done),
            BoardSet::Identifiers => {
                let directory = settings.data.join("trajectories");
                match absent(&directory) {
                    Some(skipped) => Ok(skipped),
                    None => Ok(self.measured(identifier_set::measure(&directory, settings.jobs, done)?)),
                }
            }
            BoardSet::Planted => {
                if let Some(skipped) = absent(&settings.planted) {
                    return Ok(skipped);
                }
                let tools = PlantedTools {
                    programs: &settings.planted,
                    cache: &settings.cache,
                    jobs: settings.jobs,
                };
                let (tables, conversations) = tools.measure(done)?;
                Ok(SetOutcome::Measured { tables, conversations })
            }
            BoardSet::Preflight => Ok(self.measured(preflight_set::measure(done))),
        }
    }

    fn measured(self, (table, conversations): (FigureTable, usize)) -> SetOutcome {
        SetOutcome::Measured {
            tables: vec![(self.name(), table)],
            conversations,
        }
    }

    fn questions(self, path: &Path, jobs: usize, done: Done<'_>) -> Result<SetOutcome, String> {
        if let Some(skipped) = absent(path) {
            return Ok(skipped);
        }
        let list = qa_set::load(path)?;
        let conversations = Conversations {
            list: &list,
            name: &|conversation: &QaConversation| conversation.name.clone(),
            weight: &|conversation: &QaConversation| conversation.messages.len(),
        };
        let table = conversations.table(jobs, done, &|conversation| conversation.observe(&SHARES));
        Ok(self.measured((table, list.len())))
    }

    fn exam(self, directory: &Path, sizes: &[BoardSize], jobs: usize, done: Done<'_>) -> Result<SetOutcome, String> {
        if let Some(skipped) = absent(directory) {
            return Ok(skipped);
        }
        let exam = Exam::read(directory).map_err(|error| error.to_string())?;
        Ok(self.measured_exam(&exam, sizes, jobs, done))
    }

    fn measured_exam(self, exam: &Exam, sizes: &[BoardSize], jobs: usize, done: Done<'_>) -> SetOutcome {
        let conversations = Conversations {
            list: &exam.subjects,
            name: &|subject: &Subject| subject.name().to_owned(),
            weight: &|subject: &Subject| subject.fixture_text.len(),
        };
        let table = conversations.table(jobs, done, &|subject| exam_set::observe(subject, sizes));
        self.measured((table, exam.subjects.len()))
    }

    fn person(self, directory: &Path, jobs: usize, done: Done<'_>) -> Result<SetOutcome, String> {
        if let Some(skipped) = absent(directory) {
            return Ok(skipped);
        }
        let selection = Selection {
            least_tokens: person_set::LEAST_TOKENS,
            jobs,
            ..Selection::default()
        };
        let corpus = corpus::load(&[directory.to_owned()], &selection).map_err(|error| error.to_string())?;
        let conversations = Conversations {
            list: &corpus.trajectories,
            name: &Trajectory::cluster,
            weight: &|trajectory: &Trajectory| trajectory.tokens.iter().sum(),
        };
        let work = |trajectory: &Trajectory| person_set::observe(&trajectory.messages, &SHARES);
        let table = conversations.table(jobs, done, &work);
        Ok(self.measured((table, corpus.trajectories.len())))
    }
}

/// What a set without data comes to.
pub fn absent(path: &Path) -> Option<SetOutcome> {
    let is_absent = !path.exists();
    is_absent.then(|| SetOutcome::Skipped(format!("not found at {}", path.display())))
}
