//! Two runs, side by side: better, worse or within noise.
//!
//! Samples are paired on fixture, arm and probe and averaged over repeats; what only one run has, and fixtures that are not the
//! same in both, are left out and listed. A difference counts where its interval, corrected over its family, excludes zero *and*
//! it reaches the floor: the first says that it is not the choice of fixtures, the second that it is not the models' mood. A
//! family is what one source (a judge, the words of answers, states) says of one arm: over all probes, and, apart from that, by
//! type of probe. Secrets and structural flaws are counted exactly: one new is a regression.

mod collapse;
mod figures;
mod flips;
mod floor;
mod measure;
mod noise;
mod pairing;
mod report;
mod setup;
mod states;

pub use figures::Figure;
pub use figures::SHARE;
pub use figures::Slice;
pub use figures::Verdict;
pub use flips::Flip;
pub use flips::PASSED;
pub use flips::Turnover;
pub use flips::Way;
pub use floor::Floor;
pub use measure::Measure;
pub use measure::Origin;
pub use noise::EFFECTS;
pub use noise::Noise;
pub use noise::NoiseError;
pub use noise::Noisy;
pub use pairing::LeftOut;
pub use report::CompareError;
pub use report::Comparison;
pub use report::FloorUsed;
pub use report::Options;
pub use report::Regression;
pub use report::Side;
pub use report::compare;
