//! `mainstay eval`: how good compaction is. One file a subcommand.

mod gate;
mod preflight;
mod retention;

pub use gate::GateNotMet;

use clap::Args;
use clap::Subcommand;

use crate::screen::Screen;

/// Measure how good compaction is: on recorded sessions, and on conversations with an answer sheet.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Preflight(preflight::Arguments),
    Retention(Box<retention::Arguments>),
}

/// Measures.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    match &arguments.command {
        Command::Preflight(arguments) => preflight::run(arguments, screen),
        Command::Retention(arguments) => retention::run(arguments, screen),
    }
}
