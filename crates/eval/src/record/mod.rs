//! What a run of the probe evaluation leaves on disk, and reading it back.
//!
//! A run is a directory that nothing changes once it is complete:
//!
//! | file | what it holds |
//! |---|---|
//! | `manifest.json` | what was asked for, by whom and with what: [`Manifest`] |
//! | `exam/fixtures/`, `exam/probes/` | the fixtures and banks, byte for byte |
//! | `calls.jsonl` | every answer of a model, as it came: what is paid for is never asked again |
//! | `samples.jsonl` | one [`Sample`] a line: a probe, answered from one arm's state in one repeat |
//! | `states/FIXTURE/ARM-run-N.json` | what an arm made of a fixture: [`StateRecord`] |
//! | `FIXTURE-run-N.json` | the samples of a fixture in one repeat |
//! | `report.json`, `report.md`, `junit.xml` | what it comes to; the first is written last: a run that has it is complete |

mod manifest;
mod run;
mod sample;
mod state;

pub use manifest::ArmUsed;
pub use manifest::FixtureUsed;
pub use manifest::Manifest;
pub use manifest::ModelUsed;
pub use run::Run;
pub use run::RunError;
pub use sample::Dimension;
pub use sample::Judgement;
pub use sample::Sample;
pub use sample::SampleName;
pub use sample::Scores;
pub use state::Fate;
pub use state::Papers;
pub use state::PassRecord;
pub use state::Shown;
pub use state::StateRecord;
