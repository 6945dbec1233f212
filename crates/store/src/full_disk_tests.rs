//! A disk that is full: appending fails in words, what is kept stays readable, and it works again when there is room.

use std::path::Path;
use std::process::Command;

use mainstay_engine::transcript::Timestamp;

use crate::CheckpointId;
use crate::NewCheckpoint;
use crate::Store;
use crate::StoreError;

/// Bytes that do not compress.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn append(store: &mut Store, seed: u64, length: usize) -> Result<(CheckpointId, Vec<u8>), StoreError> {
    let document = noise(seed, length);
    let chunks: Vec<&[u8]> = document.chunks(5_000).collect();
    let new = NewCheckpoint {
        original: &chunks,
        ..NewCheckpoint::new("full", Timestamp(0))
    };
    store.append(&new).map(|id| (id, document))
}

fn assert_readable(store: &Store, kept: &[(CheckpointId, Vec<u8>)]) {
    for (id, document) in kept {
        assert!(store.original(id).unwrap() == *document);
    }
    assert_eq!(store.checkpoints(None, usize::MAX).unwrap().len(), kept.len());
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_limit_at_any_page_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("kept/store.db")).unwrap();
    let mut kept = vec![append(&mut store, 1, 20_000).unwrap()];
    let pages: i64 = store
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    for spare in 0..20 {
        // 100 kB need some 25 pages: every one of them is once the first that finds no room.
        let limit = pages + spare;
        store
            .connection
            .pragma_update_and_check(None, "max_page_count", limit, |_| Ok(()))
            .unwrap();
        let refused = append(&mut store, 100 + spare as u64, 100_000).unwrap_err();
        assert!(matches!(refused, StoreError::Full), "{refused}");
        assert!(refused.to_string().starts_with("no space left for the store"));
        assert_readable(&store, &kept);
    }
    store
        .connection
        .pragma_update_and_check(None, "max_page_count", 1_000_000, |_| Ok(()))
        .unwrap();
    kept.push(append(&mut store, 2, 100_000).unwrap());
    assert_readable(&store, &kept);
}

/// A small file system of its own, where one can be mounted.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn sized(path: &'a Path, size: usize) -> Option<Self> {
        let options = format!("size={size},mode=0700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(path)
            .output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then_some(Mounted(path))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).output();
    }
}

#[test]
fn a_full_file_system_loses_nothing() {
    for size in [512 << 10, 1 << 20, 4 << 20] {
        let folder = tempfile::tempdir().unwrap();
        let Some(mounted) = Mounted::sized(folder.path(), size) else {
            eprintln!("skipped: nothing can be mounted here");
            return;
        };
        fill_and_free(mounted.0, size / 2);
    }
}

/// Fills a file system of which `ballast_size` bytes can be freed later: enough to write all of the log back into the file.
fn fill_and_free(directory: &Path, ballast_size: usize) {
    let place = directory.join("store.db");
    let ballast = directory.join("ballast");
    std::fs::write(&ballast, noise(9, ballast_size)).unwrap();
    let mut store = Store::open(&place).unwrap();
    let mut kept = Vec::new();
    let refused = loop {
        match append(&mut store, kept.len() as u64, 30_000) {
            Ok(one) => kept.push(one),
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, StoreError::Full), "{refused}");
    assert_readable(&store, &kept);
    // Still full: refused again, and still readable, also when opened anew.
    assert!(append(&mut store, 1_000, 60_000).is_err());
    assert_readable(&store, &kept);
    std::fs::remove_file(&ballast).unwrap();
    drop(store);
    let mut store = Store::open(&place).unwrap();
    assert_readable(&store, &kept);
    kept.push(append(&mut store, 2_000, 10_000).unwrap());
    assert_readable(&store, &kept);
}

#[test]
fn a_store_that_finds_no_room_is_made_later() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::sized(folder.path(), 1 << 20) else {
        eprintln!("skipped: nothing can be mounted here");
        return;
    };
    let (place, ballast) = (mounted.0.join("store.db"), mounted.0.join("ballast"));
    for spare in (0..20).map(|pages| pages * 4096) {
        std::fs::write(&ballast, noise(9, (1 << 20) - spare)).unwrap();
        let refused = Store::open(&place).unwrap_err();
        assert!(
            matches!(refused, StoreError::Full | StoreError::Database(_)),
            "{spare}: {refused}"
        );
        std::fs::remove_file(&ballast).unwrap();
        if spare % 3 == 0 {
            let _ = std::fs::remove_file(&place);
        }
    }
    let mut store = Store::open(&place).unwrap();
    let kept = append(&mut store, 1, 20_000).unwrap();
    assert_readable(&store, &[kept]);
}
