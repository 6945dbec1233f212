//! The session logs of agents: one file or folder a format.

pub mod claude_code;

pub mod cline;

pub mod codex;

pub mod gemini_cli;

pub mod goose;

pub mod hermes;

pub mod opencode;

pub mod openhands;

pub mod pi;

pub mod recording;

pub mod sharegpt;

pub mod swe_agent;

pub mod tau_bench;

pub mod trajectories;

#[cfg(test)]
mod proof;
#[cfg(test)]
mod store_proof;
