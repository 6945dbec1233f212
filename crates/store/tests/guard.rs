//! Where a store may be, who may read it, and what is refused without being touched.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod sample;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use mainstay_store::Store;
use mainstay_store::StoreError;
use sample::Sample;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

const PLACE: &str = "MAINSTAY_TEST_MAKES";

/// Does nothing by itself; the next test runs it under another umask.
#[test]
fn child_that_makes_a_store() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let mut store = Store::open(Path::new(&place)).unwrap();
    Sample::of("one", 5).append(&mut store).unwrap();
    // While it is open, the log and its index are there too.
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(mode(&Path::new(&place).with_file_name(name)), 0o600, "{name}");
    }
}

#[test]
fn a_store_is_for_its_owner_whatever_the_umask() {
    for umask in ["000", "022", "077", "777"] {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("made/store.db");
        let status = Command::new("sh")
            .args(["-c", "umask $0; exec \"$@\"", umask])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_makes_a_store"])
            .env(PLACE, &place)
            .status()
            .unwrap();
        assert!(status.success(), "umask {umask}");
        assert_eq!(
            (mode(&place), mode(place.parent().unwrap())),
            (0o600, 0o700),
            "umask {umask}"
        );
    }
}

#[test]
fn a_lax_store_is_tightened() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    drop(Store::open(&place).unwrap());
    fs::set_permissions(&place, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Store::open(&place).unwrap());
    assert_eq!(mode(&place), 0o600);
}

#[test]
fn links_and_shared_directories_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    drop(Store::open(&place).unwrap());

    let link = place.with_file_name("link.db");
    std::os::unix::fs::symlink(&place, &link).unwrap();
    let error = Store::open(&link).unwrap_err();
    assert!(error.to_string().ends_with("it is a symbolic link"), "{error}");
    let dangling = place.with_file_name("dangling.db");
    std::os::unix::fs::symlink(folder.path().join("elsewhere.db"), &dangling).unwrap();
    assert!(matches!(Store::open(&dangling), Err(StoreError::Refused { .. })));
    assert!(!folder.path().join("elsewhere.db").exists());

    // A link further up is how homes and temporary folders are made on some systems.
    let through = folder.path().join("through");
    std::os::unix::fs::symlink(place.parent().unwrap(), &through).unwrap();
    assert_eq!(
        Store::open(&through.join("store.db")).unwrap().path(),
        place.canonicalize().unwrap()
    );

    for shared in [0o770, 0o777, 0o1777, 0o722] {
        fs::set_permissions(place.parent().unwrap(), fs::Permissions::from_mode(shared)).unwrap();
        let error = Store::open(&place).unwrap_err();
        assert!(
            error.to_string().contains("others may write in its directory"),
            "{error}"
        );
        let unmade = place.with_file_name("unmade.db");
        assert!(Store::open(&unmade).is_err());
        assert!(!unmade.exists());
    }
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = folder.join("notes.txt");
    fs::write(&text, "dear diary, this is not a database at all\n".repeat(200)).unwrap();
    let foreign = folder.join("foreign.db");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other
        .execute_batch("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
        .unwrap();
    drop(other);
    for (path, reason) in [
        (&text, "it is not a database"),
        (&foreign, "it is another program's database"),
    ] {
        let before = fs::read(path).unwrap();
        for opened in [Store::open(path), Store::open_existing(path)] {
            let error = opened.unwrap_err().to_string();
            assert!(error.ends_with(reason), "{error}");
        }
        assert_eq!(fs::read(path).unwrap(), before);
    }
    fs::create_dir(folder.join("directory.db")).unwrap();
    let error = Store::open(&folder.join("directory.db")).unwrap_err().to_string();
    assert!(error.contains("it is not a regular file"), "{error}");
    assert!(Store::open(Path::new("/")).is_err());
    assert!(Store::open(&text.join("store.db")).is_err());
}

#[test]
fn what_must_not_make_a_store_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("nowhere/store.db");
    let error = Store::open_existing(&place).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("no store at {}; `mainstay compact` makes one", place.display())
    );
    assert!(!place.parent().unwrap().exists());
    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    assert!(matches!(Store::open_existing(&empty), Err(StoreError::Missing { .. })));
    assert_eq!(fs::metadata(&empty).unwrap().len(), 0);
}

#[test]
fn a_newer_store_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut store = Store::open(&place).unwrap();
    Sample::of("one", 8).append(&mut store).unwrap();
    drop(store);

    // The newer version stands in the file.
    let newer = rusqlite::Connection::open(&place).unwrap();
    newer.pragma_update(None, "user_version", 3).unwrap();
    drop(newer);
    let all = || {
        let mut files: Vec<_> = fs::read_dir(place.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
            .into_iter()
            .map(|path| (fs::read(&path).unwrap(), path))
            .collect::<Vec<_>>()
    };
    let before = all();
    for opened in [Store::open(&place), Store::open_existing(&place)] {
        let error = opened.unwrap_err().to_string();
        assert!(
            error.contains("newer version (format 3, this program knows 2); left as it is"),
            "{error}"
        );
    }
    assert!(all() == before);

    // The newer version stands only in the log.
    let newer = rusqlite::Connection::open(&place).unwrap();
    newer.pragma_update(None, "user_version", 2).unwrap();
    drop(newer);
    let newer = rusqlite::Connection::open(&place).unwrap();
    newer.pragma_update(None, "user_version", 3).unwrap();
    let content = |path: &Path| {
        (
            fs::read(path).unwrap(),
            fs::read(path.with_file_name("store.db-wal")).unwrap(),
        )
    };
    let before = content(&place);
    assert!(matches!(Store::open(&place), Err(StoreError::Newer { found: 3, .. })));
    assert!(content(&place) == before);
    drop(newer);
}

/// A directory in which even root cannot write, or `None` where no such thing can be mounted.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn read_only(path: &'a Path) -> Option<Self> {
        let options = ["-t", "tmpfs", "-o", "ro,size=1m,mode=0700", "tmpfs"];
        let mounted = Command::new("mount").args(options).arg(path).output();
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
fn a_directory_that_cannot_be_written_gives_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let place = sample::place(folder.path());
    let mut store = Store::open(&place).unwrap();
    Sample::of("one", 8).append(&mut store).unwrap();
    drop(store);
    let directory = place.parent().unwrap();
    fs::set_permissions(directory, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(directory.join("probe"), "").is_err() {
        let error = Store::open(&place.with_file_name("new.db")).unwrap_err().to_string();
        assert!(error.contains("ermission denied"), "{error}");
        let error = Store::open(&place).unwrap_err().to_string();
        assert!(error.contains("written"), "{error}");
    } else {
        eprintln!("skipped: this user may write everywhere");
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).unwrap();

    let sealed = folder.path().join("sealed");
    fs::create_dir(&sealed).unwrap();
    match Mounted::read_only(&sealed) {
        Some(_mounted) => {
            let error = Store::open(&sealed.join("store.db")).unwrap_err();
            assert!(matches!(error, StoreError::ReadOnly), "{error}");
        }
        None => eprintln!("skipped: nothing can be mounted here"),
    }
}
