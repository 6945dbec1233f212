//! The store's format on disk: its version, its tables, and how it is opened.
//!
//! A store of a newer version, another program's database and a file that is no database are refused before anything
//! is written. Tables are made in one transaction, so a store is there or it is not.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::TransactionBehavior;
use rusqlite::config::DbConfig;

use crate::Store;
use crate::error::StoreError;
use crate::guard;
use crate::guard::Absent;

/// The version of the tables below, in SQLite's `user_version`. One more with every change to them.
const VERSION: i64 = 2;

/// Tells a store from other databases, in SQLite's `application_id`: "MnSt".
const APPLICATION: i64 = 0x4d6e_5374;

/// How long a writer waits for others. A checkpoint of some megabytes is written in well under a second, so this is
/// many writers' worth.
const PATIENCE: Duration = Duration::from_secs(30);

/// The write-ahead log is cut back to this after a checkpoint of SQLite's: four times its own limit of a thousand pages,
/// so that ordinary appends reuse the file and one giant append does not keep its size.
const LOG_BYTES: i64 = 16 << 20;

const TABLES: &str = "
    CREATE TABLE body (
        id INTEGER PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        coding INTEGER NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TABLE checkpoint (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        conversation TEXT NOT NULL,
        created INTEGER NOT NULL,
        record TEXT NOT NULL,
        original BLOB NOT NULL,
        result BLOB NOT NULL,
        dropped BLOB NOT NULL,
        seal BLOB NOT NULL
    ) STRICT;
    CREATE INDEX checkpoint_conversation ON checkpoint (conversation, seq);
    CREATE TABLE passage (
        id INTEGER PRIMARY KEY,
        reference TEXT NOT NULL UNIQUE,
        body BLOB NOT NULL,
        seal BLOB NOT NULL
    ) STRICT;
    CREATE TABLE mention (
        conversation TEXT NOT NULL,
        passage INTEGER NOT NULL,
        checkpoint INTEGER,
        created INTEGER NOT NULL,
        record TEXT NOT NULL,
        seal BLOB NOT NULL,
        PRIMARY KEY (conversation, passage)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX mention_passage ON mention (passage);
    CREATE INDEX mention_checkpoint ON mention (checkpoint);
    CREATE VIRTUAL TABLE passage_text USING fts5(
        words, stems,
        content = '', contentless_delete = 1,
        tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TABLE calibration (
        model TEXT PRIMARY KEY,
        fit TEXT NOT NULL,
        seal BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// What came with version 2: ledger states and the store's key.
const TABLES_OF_2: &str = "
    CREATE TABLE ledger (
        name TEXT PRIMARY KEY,
        checkpoint INTEGER NOT NULL,
        state BLOB NOT NULL,
        seal BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX ledger_checkpoint ON ledger (checkpoint);
    CREATE TABLE key (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        bytes BLOB NOT NULL,
        seal BLOB NOT NULL
    ) STRICT;
";

/// One opening at a time in a process: closing the handle with which a new file is made would release the locks of a
/// connection that another thread has just opened on it.
static OPENING: Mutex<()> = Mutex::new(());

pub(crate) fn open(path: &Path, absent: Absent) -> Result<Store, StoreError> {
    let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    let place = guard::secure(path, absent)?;
    refuse_newer_header(&place)?;
    let mut connection = connect(&place)?;
    // Until it is known to be ours, closing it must not write its log back either.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    match identify(&connection, &place)? {
        Identity::Ours => {}
        Identity::Older => upgrade(&mut connection, &place)?,
        Identity::Blank if absent == Absent::Refuse => return Err(StoreError::Missing { path: path.to_owned() }),
        Identity::Blank => make_tables(&mut connection, &place)?,
    }
    guard::for_owner_only(&place, 0o600)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    prepare(&connection, &place)?;
    Ok(Store {
        connection,
        path: place,
    })
}

/// Looks at the version as the file itself has it, without locks, log or any write. Whatever else is wrong with the file
/// shows when it is really opened.
fn refuse_newer_header(place: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let uri = format!("file:{}?immutable=1", escaped(place));
    let Ok(connection) = Connection::open_with_flags(uri, flags) else {
        return Ok(());
    };
    match (
        number(&connection, "application_id"),
        number(&connection, "user_version"),
    ) {
        (Ok(APPLICATION), Ok(found)) if found > VERSION => Err(newer(place, found)),
        _ => Ok(()),
    }
}

fn newer(place: &Path, found: i64) -> StoreError {
    StoreError::Newer {
        path: place.to_owned(),
        found,
        known: VERSION,
    }
}

/// The path as a URI wants it.
fn escaped(place: &Path) -> String {
    let mut uri = String::new();
    for byte in place.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri
}

fn connect(place: &Path) -> Result<Connection, StoreError> {
    // The directory is resolved already, so a link can only be the file itself.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(place, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

enum Identity {
    Ours,
    /// Of version 1, which lacks only tables.
    Older,
    Blank,
}

fn identify(connection: &Connection, place: &Path) -> Result<Identity, StoreError> {
    // In one statement: another process may be making the tables right now.
    let read = connection.query_row(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)),
    );
    match read.map_err(|cause| opening(cause, place))? {
        (APPLICATION, VERSION, tables) if tables > 0 => Ok(Identity::Ours),
        (APPLICATION, 1, tables) if tables > 0 => Ok(Identity::Older),
        (APPLICATION, found, _) if found > VERSION => Err(newer(place, found)),
        (0, 0, 0) => Ok(Identity::Blank),
        (APPLICATION, ..) => Err(StoreError::damaged("its tables are missing")),
        _ => Err(StoreError::refused(place, "it is another program's database")),
    }
}

fn opening(cause: rusqlite::Error, place: &Path) -> StoreError {
    match cause.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => StoreError::refused(place, "it is not a database"),
        Some(rusqlite::ErrorCode::CannotOpen) => {
            StoreError::refused(place, "its directory cannot be written, which the database needs")
        }
        _ => StoreError::from(cause),
    }
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

fn make_tables(connection: &mut Connection, place: &Path) -> Result<(), StoreError> {
    write_ahead(connection, place)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made them while this one waited.
    if let Identity::Blank = identify(&transaction, place)? {
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(TABLES_OF_2)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(transaction.commit()?)
}

/// Adds what a newer version has; everything that is there stays as it is.
fn upgrade(connection: &mut Connection, place: &Path) -> Result<(), StoreError> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    if let Identity::Older = identify(&transaction, place)? {
        transaction.execute_batch(TABLES_OF_2)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(transaction.commit()?)
}

/// How often the log is asked for while other processes make the same store: far more often than there are processes.
const MOST_SWITCHES: usize = 200;

fn is_busy(cause: &rusqlite::Error) -> bool {
    matches!(
        cause.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}

fn write_ahead(connection: &Connection, place: &Path) -> Result<(), StoreError> {
    let mut attempts = 0;
    let mode: String = loop {
        let switched = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match switched {
            // SQLite does not wait for others here, whatever its patience; for the lock of a writer it does.
            Err(cause) if is_busy(&cause) && attempts < MOST_SWITCHES => {
                attempts += 1;
                match connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
                    Err(cause) if !is_busy(&cause) => return Err(opening(cause, place)),
                    Ok(()) | Err(_) => {}
                }
            }
            switched => break switched.map_err(|cause| opening(cause, place))?,
        }
    };
    if mode != "wal" {
        return Err(StoreError::refused(
            place,
            "its file system cannot hold a write-ahead log",
        ));
    }
    Ok(())
}

fn prepare(connection: &Connection, place: &Path) -> Result<(), StoreError> {
    if connection.is_readonly("main")? {
        return Err(StoreError::ReadOnly);
    }
    write_ahead(connection, place)?;
    // Durable when a commit returns, also where `fsync` alone only reaches the drive's cache.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    // A damaged file shall be noticed early and shall not be able to run anything.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(())
}
