//! `mainstay formats`: what can be read.

use clap::Args;
use mainstay_wire::format::FORMATS;

use crate::screen::Screen;

/// List the formats that can be read.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Prints the list.
pub fn run(_: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let rows = FORMATS
        .iter()
        .map(|format| vec![format.name.to_owned(), format.title.to_owned()]);
    screen.table(&["FORMAT", "WHAT IT IS"], rows.collect())
}
