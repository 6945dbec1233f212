//! Continuation: can an agent go on from a state as if nothing had been cut?
//!
//! Any recorded session is an exam without written questions, because its future is known. It is cut ([`CutRule`]), every
//! [`ContinuationArm`] makes a state of what stands before the cut, an answering model says from one state alone what the task is, what
//! is done, what comes next, which rules hold and what is open, and judging models that know the real future score the answers of all
//! arms, anonymous and shuffled.
//!
//! An answerer sees a session under one arm only ([`AnswererSchedule`]), every case is judged at least twice, and arms are compared
//! within sessions ([`ContinuationReport`]). Requests go to models, into providers' batch files, or into plain files
//! ([`write_tasks`]) for anybody who can read.

mod arm;
mod case;
mod cut_rule;
mod exam;
mod figures;
mod holding;
mod judge_record;
mod report;
mod requests;
mod schedule;
mod state_making;
mod task_files;

pub use arm::ContinuationArm;
pub use arm::ContinuationArmError;
pub use arm::StateMaker;
pub use case::CaseSettings;
pub use case::ContinuationCase;
pub use case::PreparedCases;
pub use case::SessionPrefix;
pub use cut_rule::CutPoint;
pub use cut_rule::CutRule;
pub use cut_rule::StateSize;
pub use cut_rule::cut_points;
pub use exam::ArmEntry;
pub use exam::ContinuationExam;
pub use exam::ContinuationManifest;
pub use exam::KeptState;
pub use exam::StateNote;
pub use exam::positions;
pub use figures::ArmDifference;
pub use figures::ArmFigures;
pub use figures::JudgeAgreement;
pub use figures::ScoredAnswer;
pub use figures::arm_differences;
pub use figures::arm_figures;
pub use figures::judge_agreement;
pub use holding::HeldExam;
pub use holding::PrefixMap;
pub use holding::RequestRow;
pub use holding::hold_exam;
pub use holding::make_states;
pub use judge_record::JudgeRecord;
pub use report::AnswerScores;
pub use report::CaseScores;
pub use report::ContinuationReport;
pub use report::UnscoredEntry;
pub use requests::ContinuationScore;
pub use requests::DIMENSIONS;
pub use requests::MOST_ARMS;
pub use requests::ScoreError;
pub use requests::answer_prompt;
pub use requests::judge_prompt;
pub use requests::prompt_hashes;
pub use requests::read_scores;
pub use schedule::AnswererSchedule;
pub use task_files::read_answers;
pub use task_files::short_id;
pub use task_files::write_tasks;
