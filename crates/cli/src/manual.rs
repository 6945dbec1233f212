//! `mainstay man`: the manual page, of the whole command or of one of its commands.

use anyhow::bail;
use clap::Args;

use crate::command_line;
use crate::screen::Screen;

/// Print the manual page (roff; try `mainstay man | man -l -`).
#[derive(Debug, Args)]
pub struct Arguments {
    /// The page of this command only.
    command: Option<String>,
}

/// Prints the page.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let mut whole = command_line();
    whole.build();
    let page = match &arguments.command {
        None => whole,
        Some(name) => match whole.find_subcommand(name) {
            Some(command) => command.clone(),
            None => bail!("there is no command {name:?}"),
        },
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page).render(&mut roff)?;
    screen.bytes(&roff)
}
