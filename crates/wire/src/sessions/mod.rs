//! The session logs of agents: one file a format.

pub mod trajectories;
