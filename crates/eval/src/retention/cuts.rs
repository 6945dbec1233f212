//! Where a session is cut.

use crate::retention::trajectory::Speaker;
use crate::retention::trajectory::Trajectory;

/// No cut before this many messages: there is nothing to compact yet.
const EARLIEST: usize = 4;

/// The messages before which the session is cut: for each share the first one of the user or the agent by which that
/// share of the tokens has passed. One message is cut before at most once.
pub fn cuts(trajectory: &Trajectory, shares: &[f64]) -> Vec<usize> {
    let total: usize = trajectory.tokens.iter().sum();
    let mut cuts = Vec::new();
    let mut passed = 0;
    for (index, line) in trajectory.lines.iter().enumerate() {
        let is_due = shares
            .get(cuts.len())
            .is_some_and(|share| passed as f64 >= share * total as f64);
        let is_turn = matches!(line.speaker, Speaker::User | Speaker::Assistant);
        if is_due && is_turn && index >= EARLIEST {
            cuts.push(index);
        }
        passed += trajectory.tokens[index];
    }
    cuts
}
