//! `mainstay config init`: a file to start from, in which every line is explained and nothing is changed.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::Args;

use crate::config::Configuration;
use crate::screen::Screen;

/// The file to start from.
pub const EXAMPLE: &str = include_str!("example.toml");

/// Write a configuration file to start from, unless there is one.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Writes it.
pub fn run(_arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let path = configuration.path()?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_folder(folder).with_context(|| folder.display().to_string())?;
    }
    let mut file = match create_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("{} is there already; it was left as it is", path.display())
        }
        created => created.with_context(|| path.display().to_string())?,
    };
    file.write_all(EXAMPLE.as_bytes())
        .with_context(|| path.display().to_string())?;
    screen.line(&format!(
        "{} written. Every line in it is a comment until you say otherwise.",
        path.display()
    ))
}

/// Only its owner may read it, and a link or file that is there is never followed or changed.
fn create_file(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn create_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
