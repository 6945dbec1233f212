//! Tables of an SQLite session store, read tolerantly: columns that an older schema lacks are simply
//! absent, values of another type are converted, and nothing is ever written.
//!
//! All reads of one [`Tables`] see one state of the store where the store allows that without keeping its
//! owner from writing.

use std::cell::Cell;

use mainstay_engine::transcript::Finding;
use rusqlite::Connection;
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::error::ReadError;
use crate::source::Source;

/// An open session store.
#[derive(Debug)]
pub struct Tables {
    connection: Connection,
    name: String,
    /// What was wrong with the store as a whole.
    pub findings: Vec<Finding>,
}

impl Tables {
    /// Opens a store for reading.
    pub fn open(source: &Source) -> Result<Self, ReadError> {
        let (connection, findings) = source.database_and_findings()?;
        let tables = Self {
            connection,
            name: source.name().to_owned(),
            findings,
        };
        let mode = tables
            .connection
            .query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0));
        // With a write-ahead log readers never block the writer, so one snapshot costs nobody anything.
        if mode.is_ok_and(|mode| mode.eq_ignore_ascii_case("wal")) {
            tables
                .connection
                .execute_batch("BEGIN")
                .map_err(|cause| tables.failed(cause))?;
        }
        Ok(tables)
    }

    /// The columns of a table; none where there is no such table.
    pub fn columns(&self, table: &str) -> Result<Vec<String>, ReadError> {
        let mut columns = Vec::new();
        self.each("SELECT name FROM pragma_table_info(?1)", &[table], |row| {
            columns.extend(row.text("name").map(String::from));
            Ok(())
        })?;
        Ok(columns)
    }

    /// Refuses a store whose table lacks columns without which it cannot be read.
    pub fn require(&self, table: &str, wanted: &[&str]) -> Result<(), ReadError> {
        let columns = self.columns(table)?;
        let reason = if columns.is_empty() {
            format!("the database has no table {table:?}")
        } else {
            let missing: Vec<_> = wanted
                .iter()
                .filter(|wanted| !columns.iter().any(|column| column == *wanted))
                .copied()
                .collect();
            if missing.is_empty() {
                return Ok(());
            }
            format!("its table {table:?} has no column {}", missing.join(", "))
        };
        Err(ReadError::refused(
            &self.name,
            format!("a schema this version does not know: {reason}"),
        ))
    }

    /// Runs a query and hands over its rows one after the other.
    pub fn each(
        &self,
        query: &str,
        parameters: &[&str],
        mut visit: impl FnMut(&Fields<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut statement = self.connection.prepare(query).map_err(|cause| self.failed(cause))?;
        let mut rows = statement
            .query(rusqlite::params_from_iter(parameters))
            .map_err(|cause| self.failed(cause))?;
        while let Some(row) = rows.next().map_err(|cause| self.failed(cause))? {
            visit(&Fields {
                row,
                damaged: Cell::new(false),
            })?;
        }
        Ok(())
    }

    /// The number a query yields.
    pub fn count(&self, query: &str, parameters: &[&str]) -> Result<u64, ReadError> {
        let mut count = 0;
        self.each(query, parameters, |row| {
            count = row.number_at(0).unwrap_or(0.0) as u64;
            Ok(())
        })?;
        Ok(count)
    }

    fn failed(&self, cause: rusqlite::Error) -> ReadError {
        ReadError::database(&self.name, cause)
    }
}

/// One row.
#[derive(Debug)]
pub struct Fields<'a> {
    row: &'a Row<'a>,
    damaged: Cell<bool>,
}

impl Fields<'_> {
    /// A value as text; `None` for NULL and for a column that is not there.
    pub fn text(&self, column: &str) -> Option<Box<str>> {
        match self.row.get_ref(column).ok()? {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string().into()),
            ValueRef::Real(number) => Some(number.to_string().into()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(match std::str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => {
                    self.damaged.set(true);
                    String::from_utf8_lossy(bytes).into()
                }
            }),
        }
    }

    /// A value as text, where it is not empty.
    pub fn words(&self, column: &str) -> Option<Box<str>> {
        self.text(column).filter(|text| !text.is_empty())
    }

    /// A value as a number; text that spells one counts.
    pub fn number(&self, column: &str) -> Option<f64> {
        as_number(self.row.get_ref(column).ok()?)
    }

    /// Whether a value is a number other than zero; a column that is not there has the given value.
    pub fn flag(&self, column: &str, otherwise: bool) -> bool {
        self.number(column).map_or(otherwise, |number| number != 0.0)
    }

    /// Whether a text that was asked for was not valid UTF-8.
    pub fn is_damaged(&self) -> bool {
        self.damaged.get()
    }

    fn number_at(&self, index: usize) -> Option<f64> {
        as_number(self.row.get_ref(index).ok()?)
    }
}

fn as_number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_engine::transcript::Rule;

    #[test]
    fn a_log_that_cannot_be_read_along_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a b#c?.db");
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "WAL").unwrap();
        writer.execute_batch("CREATE TABLE t (x)").unwrap();
        writer
            .execute_batch("PRAGMA wal_checkpoint; INSERT INTO t VALUES (1)")
            .unwrap();
        let copy = directory.path().join("copy.db");
        std::fs::copy(&path, &copy).unwrap();
        // What stands where the log should be cannot be read.
        std::fs::create_dir(directory.path().join("copy.db-wal")).unwrap();

        let whole = Tables::open(&Source::open(&path).unwrap()).unwrap();
        assert_eq!(whole.count("SELECT count(*) FROM t", &[]).unwrap(), 1);
        assert!(whole.findings.is_empty());
        let barred = Tables::open(&Source::open(&copy).unwrap()).unwrap();
        assert_eq!(barred.count("SELECT count(*) FROM t", &[]).unwrap(), 0);
        assert_eq!(barred.findings[0].rule, Rule::MissingPiece);
    }

    #[test]
    fn values_are_converted_and_absent_columns_are_absent() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch("CREATE TABLE t (a, b, c, d); INSERT INTO t VALUES (7, '1.5', x'ff', NULL)")
            .unwrap();
        let tables = Tables::open(&Source::open(&path).unwrap()).unwrap();
        let mut seen = 0;
        tables
            .each("SELECT * FROM t", &[], |row| {
                assert_eq!(row.text("a").as_deref(), Some("7"));
                assert_eq!(row.number("b"), Some(1.5));
                assert!(row.flag("a", false) && row.flag("nowhere", true) && !row.is_damaged());
                assert_eq!(row.text("c").as_deref(), Some("\u{fffd}"));
                assert!(row.is_damaged());
                assert_eq!((row.text("d"), row.number("nowhere")), (None, None));
                seen += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, 1);
        assert!(
            tables
                .require("t", &["a", "z"])
                .unwrap_err()
                .to_string()
                .contains("no column z")
        );
        assert!(
            tables
                .require("u", &["a"])
                .unwrap_err()
                .to_string()
                .contains("no table \"u\"")
        );
    }
}
