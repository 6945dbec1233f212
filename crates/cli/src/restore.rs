//! `mainstay restore`: the exact bytes that came in.

use std::path::PathBuf;

use clap::Args;
use mainstay_store::Store;

use crate::config::Configuration;
use crate::output;
use crate::screen::Screen;

/// Give back the exact bytes that a compaction took in.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The checkpoint; the start of its name is enough.
    checkpoint: String,

    /// Where to write them (default: standard output).
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,

    /// The compacted form instead of the original.
    #[arg(long)]
    result: bool,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Restores.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let store = Store::open_existing(&configuration.store(arguments.store.as_ref())?)?;
    let id = store.find_checkpoint(&arguments.checkpoint)?;
    let bytes = if arguments.result {
        store.result(&id)?
    } else {
        store.original(&id)?
    };
    output::write(Some(&arguments.output), &bytes, screen)
}
