//! Where sessions are read from: a file, a directory, a database, or bytes in memory.
//!
//! The only file of this crate that touches the disk, and it only reads. Compressed files are read
//! through their decompressor. Databases are opened read-only; a live agent is never kept from writing.

use std::fs::File;
use std::io::BufReader;
use std::io::Cursor;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use rusqlite::Connection;
use rusqlite::ErrorCode;
use rusqlite::OpenFlags;

use crate::error::ReadError;
use crate::lines::Lines;

/// The largest text we are willing to decompress: far above any session, far below a bomb.
const MOST_DECOMPRESSED: u64 = 4 << 30;

/// What some editors put before UTF-8 text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// How long a read waits for a writer that is committing.
const DATABASE_PATIENCE: Duration = Duration::from_secs(2);

/// The parameter that makes SQLite read a database without locks and without files beside it.
const AS_IT_STANDS: &str = "&immutable=1";

/// Something a session can be read from.
#[derive(Debug)]
pub struct Source {
    name: String,
    kind: SourceKind,
    text: OnceLock<Text>,
}

/// The whole text of a source, shared so that looking at it and reading it hold it once.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text; invalid UTF-8 is replaced. A byte order mark is still there.
    pub text: Arc<String>,
    /// What was wrong with the bytes.
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug)]
enum SourceKind {
    Memory(Arc<Vec<u8>>),
    File(PathBuf),
    Directory(PathBuf),
}

impl Source {
    /// A file or directory on disk.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let metadata = std::fs::metadata(path).map_err(|cause| ReadError::io(path, cause))?;
        let kind = if metadata.is_dir() {
            SourceKind::Directory(path.to_owned())
        } else {
            SourceKind::File(path.to_owned())
        };
        Ok(Self {
            name: path.display().to_string(),
            kind,
            text: OnceLock::new(),
        })
    }

    /// Bytes that are already here, under a name for messages.
    pub fn memory(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            kind: SourceKind::Memory(Arc::new(bytes)),
            text: OnceLock::new(),
        }
    }

    /// The name for messages to people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path on disk, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match &self.kind {
            SourceKind::Memory(_) => None,
            SourceKind::File(path) | SourceKind::Directory(path) => Some(path),
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.kind, SourceKind::Directory(_))
    }

    /// The first bytes, before any decompression.
    pub fn magic(&self) -> Result<[u8; 16], ReadError> {
        let mut magic = [0; 16];
        let mut raw = self.raw()?;
        let mut filled = 0;
        while filled < magic.len() {
            match raw.read(&mut magic[filled..]).map_err(|cause| self.io(cause))? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(magic)
    }

    /// All bytes, decompressed.
    pub fn bytes(&self) -> Result<Vec<u8>, ReadError> {
        let expected = self.path().and_then(|path| std::fs::metadata(path).ok());
        let mut bytes = Vec::with_capacity(expected.map_or(0, |metadata| metadata.len() as usize + 1));
        let mut reader = self.reader()?.take(MOST_DECOMPRESSED + 1);
        reader.read_to_end(&mut bytes).map_err(|cause| self.io(cause))?;
        if bytes.len() as u64 > MOST_DECOMPRESSED {
            return Err(ReadError::refused(&self.name, "it is larger than 4 GiB"));
        }
        Ok(bytes)
    }

    /// The whole text, loaded once and kept until the source is dropped.
    pub fn text(&self) -> Result<Text, ReadError> {
        if let Some(text) = self.text.get() {
            return Ok(text.clone());
        }
        let mut findings = Vec::new();
        let text = String::from_utf8(self.bytes()?).unwrap_or_else(|error| {
            findings.push(Finding::new(Rule::InvalidUtf8, Place::Whole, ""));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        if text.starts_with(BYTE_ORDER_MARK) {
            findings.push(Finding::new(Rule::ByteOrderMark, Place::Whole, ""));
        }
        let text = Text {
            text: Arc::new(text),
            findings,
        };
        Ok(self.text.get_or_init(|| text).clone())
    }

    /// At most this many bytes from the start, decompressed.
    pub fn opening(&self, most: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        let mut reader = self.reader()?.take(most);
        reader.read_to_end(&mut bytes).map_err(|cause| self.io(cause))?;
        Ok(bytes)
    }

    /// The lines, one after the other, decompressed.
    pub fn lines(&self) -> Result<Lines, ReadError> {
        let reader = self.reader()?.take(MOST_DECOMPRESSED);
        Ok(Lines::new(
            &self.name,
            Box::new(BufReader::with_capacity(1 << 16, reader)),
        ))
    }

    /// The names in a directory, sorted; empty for anything else.
    pub fn entries(&self) -> Result<Vec<String>, ReadError> {
        let SourceKind::Directory(path) = &self.kind else {
            return Ok(Vec::new());
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path).map_err(|cause| self.io(cause))? {
            let entry = entry.map_err(|cause| self.io(cause))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// A file or directory inside a directory, or beside a file; `None` where there is none.
    pub fn relative(&self, name: &str) -> Option<Source> {
        let base = match &self.kind {
            SourceKind::Memory(_) => return None,
            SourceKind::File(path) => path.parent()?,
            SourceKind::Directory(path) => path,
        };
        Source::open(&base.join(name)).ok()
    }

    /// Whether it is an SQLite database.
    pub fn is_database(&self) -> Result<bool, ReadError> {
        Ok(!self.is_directory() && self.magic()?.starts_with(b"SQLite format 3"))
    }

    /// A read-only connection to an SQLite database. Nothing is created beside it: a database with a
    /// write-ahead log that nobody has open is read as it stands, and so is one in a directory we may not
    /// write.
    pub fn database(&self) -> Result<Connection, ReadError> {
        self.database_and_findings().map(|(connection, _)| connection)
    }

    /// The same, with a finding where a write-ahead log could not be read along.
    pub fn database_and_findings(&self) -> Result<(Connection, Vec<Finding>), ReadError> {
        let SourceKind::File(path) = &self.kind else {
            return Err(ReadError::refused(
                &self.name,
                "a database must be a file on disk, not standard input",
            ));
        };
        let log = path.with_file_name(format!(
            "{}-wal",
            path.file_name().unwrap_or_default().to_string_lossy()
        ));
        let log = std::fs::metadata(log).map(|metadata| metadata.len());
        // Opening would create the log and its index, and leave them behind.
        if log.is_err() && keeps_log(path) {
            let connection = connect(path, AS_IT_STANDS).map_err(|cause| self.failed(cause))?;
            return Ok((connection, Vec::new()));
        }
        match connect(path, "") {
            Ok(connection) => Ok((connection, Vec::new())),
            Err(cause) if is_barred(&cause) => {
                let connection = connect(path, AS_IT_STANDS).map_err(|cause| self.failed(cause))?;
                let unread = log.ok().filter(|length| *length > 0);
                let finding = unread.map(|length| {
                    let detail = format!("{length} bytes of the write-ahead log could not be read along");
                    Finding::new(Rule::MissingPiece, Place::Whole, detail)
                });
                Ok((connection, finding.into_iter().collect()))
            }
            Err(cause) => Err(self.failed(cause)),
        }
    }

    fn failed(&self, cause: rusqlite::Error) -> ReadError {
        ReadError::database(&self.name, cause)
    }

    fn raw(&self) -> Result<Box<dyn Read>, ReadError> {
        match &self.kind {
            SourceKind::Memory(bytes) => Ok(Box::new(Cursor::new(SharedBytes(bytes.clone())))),
            SourceKind::File(path) => {
                let file = File::open(path).map_err(|cause| self.io(cause))?;
                Ok(Box::new(file))
            }
            SourceKind::Directory(_) => Err(ReadError::refused(&self.name, "it is a directory")),
        }
    }

    fn reader(&self) -> Result<Box<dyn Read>, ReadError> {
        // The magic number of a zstd frame; Codex compresses cold sessions this way.
        if self.magic()?.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            let decoder = zstd::Decoder::new(self.raw()?).map_err(|cause| self.io(cause))?;
            return Ok(Box::new(decoder));
        }
        self.raw()
    }

    fn io(&self, cause: std::io::Error) -> ReadError {
        ReadError::io(Path::new(&self.name), cause)
    }
}

/// Whether a database's header says that it is kept with a write-ahead log.
fn keeps_log(path: &Path) -> bool {
    let mut header = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18..] == [2, 2]
}

/// Opens a database read-only and looks into it, which is when SQLite notices what is wrong.
fn connect(path: &Path, suffix: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:{}?mode=ro{suffix}", escape_uri(&path.to_string_lossy()));
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(DATABASE_PATIENCE)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

/// Whether SQLite could not create or write what it needs beside the database. A lock or damage is
/// another matter: reading past those would yield nonsense.
fn is_barred(cause: &rusqlite::Error) -> bool {
    matches!(
        cause.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn escape_uri(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for character in path.chars() {
        match character {
            '?' => escaped.push_str("%3f"),
            '#' => escaped.push_str("%23"),
            '%' => escaped.push_str("%25"),
            other => escaped.push(other),
        }
    }
    escaped
}
