//! Files that a command writes: whole or not at all, and several of them all or none.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;

use crate::screen::Screen;

/// Writes a file whole or not at all; `-` is standard output.
pub fn write(output: Option<&str>, bytes: &[u8], screen: &mut Screen) -> anyhow::Result<()> {
    match output {
        None => Ok(()),
        Some("-") => screen.result(bytes),
        Some(path) => Part::written(path, bytes)?.adopt(),
    }
}

/// Writes several files, none of them where one cannot be written.
pub fn write_all(files: &[(&str, &[u8])], screen: &mut Screen) -> anyhow::Result<()> {
    let on_disk = files.iter().filter(|(path, _)| *path != "-");
    let parts: Vec<Part<'_>> = on_disk
        .map(|(path, bytes)| Part::written(path, bytes))
        .collect::<anyhow::Result<_>>()?;
    for (_, bytes) in files.iter().filter(|(path, _)| *path == "-") {
        screen.result(bytes)?;
    }
    parts.into_iter().try_for_each(Part::adopt)
}

/// Whether a file can be expected to be written there: to be asked before long work.
pub fn check(path: &str) -> anyhow::Result<()> {
    let place = Path::new(path);
    if path == "-" {
        return Ok(());
    }
    if place.is_dir() {
        anyhow::bail!("{path}: it is a directory; name a file in it");
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        anyhow::bail!("{path}: there is no directory {}; create it first", folder.display());
    }
    Ok(())
}

/// A file that is written beside its place, and gone unless it is adopted.
struct Part<'a> {
    path: &'a str,
    target: PathBuf,
    temporary: Option<PathBuf>,
}

impl<'a> Part<'a> {
    fn written(path: &'a str, bytes: &[u8]) -> anyhow::Result<Self> {
        // A device or a pipe is written to, never replaced.
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            std::fs::write(path, bytes).with_context(|| path.to_owned())?;
            return Ok(Self {
                path,
                target: PathBuf::from(path),
                temporary: None,
            });
        }
        // What a link points at is replaced, not the link.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
        let mut temporary = target.clone().into_os_string();
        temporary.push(format!(".part-{}", std::process::id()));
        let part = Self {
            path,
            target,
            temporary: Some(temporary.clone().into()),
        };
        std::fs::write(&temporary, bytes).with_context(|| path.to_owned())?;
        if let Ok(existing) = std::fs::metadata(&part.target) {
            std::fs::set_permissions(&temporary, existing.permissions()).with_context(|| path.to_owned())?;
        }
        Ok(part)
    }

    fn adopt(mut self) -> anyhow::Result<()> {
        if let Some(temporary) = self.temporary.take() {
            std::fs::rename(&temporary, &self.target).with_context(|| self.path.to_owned())?;
        }
        Ok(())
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Half a file is of no use to anybody; where it cannot be removed, there is nothing else to do.
            let _ = std::fs::remove_file(temporary);
        }
    }
}
