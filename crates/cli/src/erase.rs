//! `mainstay erase`: forgetting for good.

use std::path::PathBuf;

use anyhow::Context;
use anyhow::bail;
use clap::Args;
use mainstay_store::Erase;
use mainstay_store::Store;

use crate::config::Configuration;
use crate::screen::Screen;
use crate::screen::number;

/// Erase what is kept, so that its bytes are gone from the disk.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct What {
    /// Everything about one conversation.
    #[arg(long, value_name = "KEY")]
    conversation: Option<String>,

    /// One compaction.
    #[arg(long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,

    /// Everything from before this moment (2026-08-01 or 2026-08-01T10:00:00Z); needs --yes.
    #[arg(long, value_name = "TIME")]
    before: Option<String>,

    /// Everything; needs --yes.
    #[arg(long)]
    everything: bool,
}

/// Erase what is kept, so that its bytes are gone from the disk.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    what: What,

    /// Yes, erase all of that: needed with --before and --everything.
    #[arg(long)]
    yes: bool,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Erases.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = Store::open_existing(&configuration.store(arguments.store.as_ref())?)?;
    let what = &arguments.what;
    let checkpoint = what
        .checkpoint
        .as_deref()
        .map(|prefix| store.find_checkpoint(prefix))
        .transpose()?;
    let erase = match (&what.conversation, &checkpoint, &what.before) {
        (Some(key), _, _) => Erase::Conversation(key),
        (None, Some(id), _) => Erase::Checkpoint(id),
        (None, None, _) if !arguments.yes => {
            bail!("this erases originals and checkpoints of many conversations; add --yes if that is meant")
        }
        (None, None, Some(time)) => {
            let day = format!("{time}T00:00:00Z");
            let parsed = mainstay_wire::time::parse(time).or_else(|| mainstay_wire::time::parse(&day));
            Erase::Before(parsed.with_context(|| format!("{time:?} is not a time; try 2026-08-01"))?)
        }
        (None, None, None) => Erase::Everything,
    };
    let erased = store.erase(erase)?;
    if arguments.json {
        return screen.json(&erased);
    }
    screen.line(&format!(
        "Erased {} checkpoints, {} references, {} pieces of content.",
        number(erased.checkpoints),
        number(erased.references),
        number(erased.bodies)
    ))?;
    if !erased.scrubbed {
        screen.line("The bytes are not gone from the file yet: another process is reading. Run this again later.")?;
    }
    Ok(())
}
