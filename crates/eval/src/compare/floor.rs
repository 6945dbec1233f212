//! What a difference must reach to count.

use crate::compare::measure::Measure;
use crate::compare::noise::Noise;

/// The difference on a scale from 0 to 5 that counts where noise was not measured: the seed's, from experience with judges.
pub const FLOOR: f64 = 0.3;

/// What a difference must reach to count.
#[derive(Clone, Debug, PartialEq)]
pub enum Floor {
    /// So much on a judge's scale; a fifth of it for shares.
    Fixed(f64),
    /// What runs of one configuration differ by.
    Measured(Noise),
}

impl Default for Floor {
    fn default() -> Self {
        Self::Fixed(FLOOR)
    }
}

impl Floor {
    /// What counts for an arm's measure, between runs of so many repeats, over a share of the probes.
    pub fn of(&self, measure: Measure, arm: &str, repeats: (u32, u32), share_of_probes: f64) -> f64 {
        let fixed = |floor: f64| floor * measure.scale() / 5.0;
        match self {
            Floor::Fixed(floor) => fixed(*floor),
            Floor::Measured(noise) => noise
                .floor(measure, arm, repeats, share_of_probes)
                .unwrap_or(fixed(FLOOR)),
        }
    }
}
