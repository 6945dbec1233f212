//! `mainstay completions`: what a shell needs to complete our command line.

use clap::Args;
use clap_complete::Shell;

use crate::command_line;
use crate::screen::Screen;

/// Print completions for a shell.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The shell.
    shell: Shell,
}

/// Prints the completions.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command_line(), "mainstay", &mut script);
    screen.bytes(&script)
}
