//! The place of the store on disk: who may read it, who may put something else there.
//!
//! The store holds whole conversations, so it is for its owner alone: file 0600, a directory we make 0700, set
//! explicitly because the umask can only be trusted to be somebody else's. On systems without such modes the
//! directory's own protection has to do.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

use crate::error::StoreError;

/// What to do when there is no store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    Make,
    Refuse,
}

/// Checks the place and, when asked to, makes directory and file. Gives the path with links in its directory resolved.
pub(crate) fn secure(path: &Path, absent: Absent) -> Result<PathBuf, StoreError> {
    let Some(name) = path.file_name() else {
        return Err(StoreError::refused(path, "the path names no file"));
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if absent == Absent::Make {
        make_directory(directory)?;
    }
    let directory = match fs::canonicalize(directory) {
        Ok(directory) => directory,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Err(StoreError::Missing { path: path.to_owned() }),
        Err(cause) => return Err(StoreError::io(directory, cause)),
    };
    refuse_shared(path, &directory)?;
    let place = directory.join(name);
    if !is_regular_file(&place)? {
        if absent == Absent::Refuse {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        make_file(&place, &directory)?;
    }
    Ok(place)
}

/// Whether a file is there; anything else that is there is refused.
fn is_regular_file(place: &Path) -> Result<bool, StoreError> {
    match fs::symlink_metadata(place) {
        Ok(found) if found.is_symlink() => Err(StoreError::refused(place, "it is a symbolic link")),
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(StoreError::refused(place, "it is not a regular file")),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(StoreError::io(place, cause)),
    }
}

fn make_file(place: &Path, directory: &Path) -> Result<(), StoreError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    private_mode(&mut options);
    match options.open(place) {
        Ok(_) => {}
        // Another process was faster.
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => return is_regular_file(place).map(|_| ()),
        Err(cause) => return Err(StoreError::io(place, cause)),
    }
    for_owner_only(place, 0o600)?;
    // A name that a power cut forgets would take the first checkpoints with it.
    if let Ok(handle) = fs::File::open(directory) {
        handle.sync_all().map_err(|cause| StoreError::io(directory, cause))?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_directory(directory: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt;
    if directory.exists() {
        return Ok(());
    }
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|cause| StoreError::io(directory, cause))?;
    for_owner_only(directory, 0o700)
}

#[cfg(not(unix))]
fn make_directory(directory: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(directory).map_err(|cause| StoreError::io(directory, cause))
}

#[cfg(unix)]
fn private_mode(options: &mut fs::OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private_mode(_: &mut fs::OpenOptions) {}

/// Takes all rights from everybody but the owner, where somebody else has any. By path: opening a database file only to
/// close it again would release the locks that other connections of this process hold on it.
#[cfg(unix)]
pub(crate) fn for_owner_only(path: &Path, mode: u32) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::metadata(path).map_err(|cause| StoreError::io(path, cause))?;
    if found.permissions().mode() & 0o777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|cause| StoreError::io(path, cause))
}

#[cfg(not(unix))]
pub(crate) fn for_owner_only(_: &Path, _: u32) -> Result<(), StoreError> {
    Ok(())
}

/// In a directory where others may write, they may also put another file in the store's place.
#[cfg(unix)]
fn refuse_shared(path: &Path, directory: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::metadata(directory).map_err(|cause| StoreError::io(directory, cause))?;
    if !found.is_dir() {
        return Err(StoreError::refused(path, "its parent is not a directory"));
    }
    if found.permissions().mode() & 0o022 != 0 {
        let reason = format!("others may write in its directory {}", directory.display());
        return Err(StoreError::refused(path, reason));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_shared(_: &Path, _: &Path) -> Result<(), StoreError> {
    Ok(())
}
