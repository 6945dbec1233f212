//! A handle to the store: opened when it is first needed, and again after the file was taken away.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::TryLockError;
use std::time::Duration;

use mainstay_store::Store;
use mainstay_store::StoreError;

/// How long another process may hold the store before we do without it: a request may be waiting.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// Where the store is, and the store where it is open.
pub struct StoreHandle {
    path: PathBuf,
    opened: Mutex<Option<OpenStore>>,
}

struct OpenStore {
    store: Store,
    /// Which file it was: a path may come to mean another one.
    file: Option<u64>,
}

impl StoreHandle {
    /// A handle for the store at a path; nothing is opened yet.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            opened: Mutex::new(None),
        }
    }

    /// Whether there is a store; looking something up must not make one.
    pub fn is_there(&self) -> bool {
        file(&self.path).is_some()
    }

    /// Works with the store, after whoever else does.
    pub fn with<T>(&self, work: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        self.work(&mut opened, work)
    }

    /// Works with the store unless somebody else does; then `None`.
    pub fn try_with<T>(&self, work: impl FnOnce(&mut Store) -> Result<T, StoreError>) -> Option<Result<T, StoreError>> {
        let mut opened = match self.opened.try_lock() {
            Ok(opened) => opened,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(self.work(&mut opened, work))
    }

    fn work<T>(
        &self,
        opened: &mut Option<OpenStore>,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if opened.as_ref().is_some_and(|opened| opened.file != file(&self.path)) {
            // Where the file was removed, writing on would write to nowhere.
            *opened = None;
        }
        if opened.is_none() {
            let store = Store::open(&self.path)?;
            store.wait_at_most(PATIENCE)?;
            let file = file(&self.path);
            *opened = Some(OpenStore { store, file });
        }
        let open = opened.as_mut().expect("it was opened above");
        let done = work(&mut open.store);
        if done.is_err() {
            // Whatever is wrong with it, the next one begins anew.
            *opened = None;
        }
        done
    }
}

/// Which file a path means.
#[cfg(unix)]
fn file(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|metadata| metadata.ino())
}

/// Which file a path means: elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn file(path: &Path) -> Option<u64> {
    path.exists().then_some(0)
}
