//! The `mainstay` command: flags, environment, configuration, exit codes. Each command is one file.
//!
//! Exit codes: 0 done, 1 error, 2 usage, 3 target cannot be met, 100 gate not met. Results go to standard output, everything for
//! people that is not the result goes to standard error.

mod checkpoints;
mod compact;
mod completions;
mod config;
mod counting;
mod environment;
mod erase;
mod eval;
mod formats;
mod gate;
mod input;
mod inspect;
mod ledger;
mod loss;
mod manual;
mod mcp;
mod numbers;
mod output;
mod panic_wall;
mod proxy;
mod recall;
mod redact;
mod replay;
mod restore;
mod screen;
mod scrub;
mod sessions;
mod stats;
mod trim;

use std::process::ExitCode;

use clap::CommandFactory;
use clap::Parser;
use clap::Subcommand;

use crate::config::Configuration;
use crate::screen::Screen;

/// Keeps long agent conversations inside the model's window without losing what the agent needs next.
#[derive(Debug, Parser)]
#[command(name = "mainstay", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    configuration: config::Flags,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Compact(compact::Arguments),
    Ledger(ledger::Arguments),
    Checkpoints(checkpoints::Arguments),
    Loss(loss::Arguments),
    Recall(recall::Arguments),
    Restore(restore::Arguments),
    Stats(stats::Arguments),
    Erase(erase::Arguments),
    Trim(trim::Arguments),
    Redact(redact::Arguments),
    Eval(eval::Arguments),
    Replay(Box<replay::Arguments>),
    Scrub(Box<scrub::Arguments>),
    Proxy(Box<proxy::Arguments>),
    Mcp(mcp::Arguments),
    Sessions(sessions::Arguments),
    Config(config::Arguments),
    Formats(formats::Arguments),
    Completions(completions::Arguments),
    Man(manual::Arguments),
}

/// The whole command line, for completions and the manual.
fn command_line() -> clap::Command {
    Arguments::command()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut screen = Screen::new();
    let configuration = Configuration::new(&arguments.configuration);
    let done = panic_wall::guarded(|| dispatch(arguments.command, &configuration, &mut screen));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            screen.error(&error);
            exit_code(&error)
        }
    }
}

fn dispatch(command: Command, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    match command {
        Command::Inspect(arguments) => inspect::run(&arguments, configuration, screen),
        Command::Compact(arguments) => compact::run(&arguments, configuration, screen),
        Command::Ledger(arguments) => ledger::run(&arguments, configuration, screen),
        Command::Checkpoints(arguments) => checkpoints::run(&arguments, configuration, screen),
        Command::Loss(arguments) => loss::run(&arguments, configuration, screen),
        Command::Recall(arguments) => recall::run(&arguments, configuration, screen),
        Command::Restore(arguments) => restore::run(&arguments, configuration, screen),
        Command::Stats(arguments) => stats::run(&arguments, configuration, screen),
        Command::Erase(arguments) => erase::run(&arguments, configuration, screen),
        Command::Trim(arguments) => trim::run(&arguments, configuration, screen),
        Command::Redact(arguments) => redact::run(&arguments, configuration, screen),
        Command::Eval(arguments) => eval::run(&arguments, configuration, screen),
        Command::Replay(arguments) => replay::run(&arguments, screen),
        Command::Scrub(arguments) => scrub::run(&arguments, screen),
        Command::Proxy(arguments) => proxy::run(&arguments, configuration, screen),
        Command::Mcp(arguments) => mcp::run(&arguments, configuration, screen),
        Command::Sessions(arguments) => sessions::run(&arguments, screen),
        Command::Config(arguments) => config::run(&arguments, configuration, screen),
        Command::Formats(arguments) => formats::run(&arguments, screen),
        Command::Completions(arguments) => completions::run(&arguments, screen),
        Command::Man(arguments) => manual::run(&arguments, screen),
    }
}

fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if error.is::<gate::GateNotMet>() {
        100
    } else if error.is::<compact::TargetNotMet>() {
        3
    } else {
        1
    })
}

/// Whoever reads our output has seen enough (`mainstay … | head`): that is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
