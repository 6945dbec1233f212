//! `mainstay eval`: how good compaction is. One file a subcommand.

mod ab;
mod blocks;
mod board;
mod compare;
mod continuation;
mod holding;
mod list;
mod noise;
mod preflight;
mod retention;
mod run;
mod score;
mod validate;
mod view;

use clap::Args;
use clap::Subcommand;

use crate::config::Configuration;
use crate::screen::Screen;

/// Measure how good compaction is: by probes that models answer and judge, on recorded sessions, on conversations with an answer sheet.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Arguments),
    Board(board::Arguments),
    Compare(compare::Arguments),
    #[command(name = "continue")]
    Continuation(Box<continuation::Arguments>),
    Noise(noise::Arguments),
    Ab(Box<ab::Arguments>),
    Preflight(preflight::Arguments),
    Retention(Box<retention::Arguments>),
    Run(Box<run::Arguments>),
    Score(score::Arguments),
    Validate(validate::Arguments),
    View(view::Arguments),
}

/// Measures.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    match &arguments.command {
        Command::List(arguments) => list::run(arguments, screen),
        Command::Board(arguments) => board::run(arguments, screen),
        Command::Compare(arguments) => compare::run(arguments, screen),
        Command::Continuation(arguments) => continuation::run(arguments, configuration, screen),
        Command::Noise(arguments) => noise::run(arguments, screen),
        Command::Ab(arguments) => ab::run(arguments, configuration, screen),
        Command::Preflight(arguments) => preflight::run(arguments, screen),
        Command::Retention(arguments) => retention::run(arguments, screen),
        Command::Run(arguments) => run::run(arguments, configuration, screen),
        Command::Score(arguments) => score::run(arguments, screen),
        Command::Validate(arguments) => validate::run(arguments, screen),
        Command::View(arguments) => view::run(arguments, screen),
    }
}
