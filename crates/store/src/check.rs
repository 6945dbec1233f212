//! Checking the whole store: SQLite's own check, every seal, every hash, and that nothing points nowhere.

use rusqlite::Connection;

use crate::Store;
use crate::bodies::Unpacker;
use crate::error::StoreError;
use crate::kept;
use crate::kept::Kept;
use crate::manifest;
use crate::passages;

/// Faults that are listed; a file with more is not better described by more lines.
const MOST_FAULTS: usize = 100;

impl Store {
    /// Everything that is wrong with the store, in words; nothing when all is well. An error means that the check could
    /// not be carried through.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let mut faults = Faults(Vec::new());
        let mut select = view.prepare(&format!("PRAGMA integrity_check({MOST_FAULTS})"))?;
        let lines = select.query_map([], |row| row.get::<_, String>(0))?;
        for line in lines {
            match line {
                Ok(line) if line == "ok" => {}
                Ok(line) => faults.note(line),
                Err(cause) => faults.note(cause.to_string()),
            }
        }
        faults.bodies(&view)?;
        faults.checkpoints(&view)?;
        faults.passages(&view)?;
        faults.mentions(&view)?;
        faults.rows(&view, "SELECT model FROM calibration", |faults, row| {
            let model: String = row.get(0)?;
            faults.result(self.calibration(&model)).map(|_| ())
        })?;
        faults.rows(&view, "SELECT name FROM ledger", |faults, row| {
            let name: String = row.get(0)?;
            faults.result(self.ledger(&name)).map(|_| ())
        })?;
        faults.result(self.kept_key())?;
        Ok(faults.0)
    }
}

struct Faults(Vec<String>);

impl Faults {
    fn note(&mut self, fault: String) {
        if self.0.len() < MOST_FAULTS && !self.0.contains(&fault) {
            self.0.push(fault);
        }
    }

    /// Notes what is wrong with a row. Damage is what is looked for; anything else ends the check.
    fn result<T>(&mut self, result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Damaged { what }) => {
                self.note(what);
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Calls back for every row, as far as rows can be had.
    fn rows(
        &mut self,
        view: &Connection,
        sql: &str,
        mut take: impl FnMut(&mut Self, &rusqlite::Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut select = view.prepare(sql)?;
        let mut rows = select.query([])?;
        loop {
            match rows.next().map_err(StoreError::from) {
                Ok(Some(row)) => {
                    let taken = take(self, row);
                    self.result(taken)?;
                }
                Ok(None) => return Ok(()),
                Err(error) => return self.result::<()>(Err(error)).map(|_| ()),
            }
        }
    }

    fn bodies(&mut self, view: &Connection) -> Result<(), StoreError> {
        let mut unpacker = Unpacker::new()?;
        self.rows(view, "SELECT id FROM body", |faults, row| {
            let body = unpacker.read_number(view, row.get(0)?);
            faults.result(body).map(|_| ())
        })
    }

    /// Restores everything that a checkpoint holds: nothing less shows that it can be.
    fn checkpoints(&mut self, view: &Connection) -> Result<(), StoreError> {
        let mut unpacker = Unpacker::new()?;
        let sql = format!("SELECT {} FROM checkpoint ORDER BY seq", kept::COLUMNS);
        self.rows(view, &sql, |faults, row| {
            let Some(kept) = faults.result(Kept::read(row))? else {
                return Ok(());
            };
            let id = kept.id.clone();
            let plan = kept.record.plan_hash().and_then(|hash| unpacker.read(view, &hash));
            let parts = [
                ("original", manifest::read(view, &kept.original, &kept.record.original)),
                ("result", manifest::read(view, &kept.result, &kept.record.result)),
                ("plan", plan),
            ];
            for (name, part) in parts {
                if faults.result(part)?.is_none() {
                    faults.note(format!("checkpoint {id}: its {name} cannot be restored"));
                }
            }
            for entry in faults.result(kept.entries(&mut unpacker))?.unwrap_or_default() {
                let passage = faults.result(passages::by_reference(view, &entry.reference))?;
                if passage.flatten().is_none() {
                    faults.note(format!("checkpoint {id}: {} is missing or damaged", entry.reference));
                }
            }
            Ok(())
        })
    }

    fn passages(&mut self, view: &Connection) -> Result<(), StoreError> {
        let mut unpacker = Unpacker::new()?;
        self.rows(view, "SELECT id, reference, body, seal FROM passage", |faults, row| {
            if let Some(passage) = faults.result(passages::read(row))? {
                faults.result(unpacker.read(view, &passage.body))?;
                if faults
                    .result(passages::mention_of(view, passage.id, None))?
                    .flatten()
                    .is_none()
                {
                    faults.note(format!("nothing mentions {}", passage.reference));
                }
            }
            Ok(())
        })
    }

    fn mentions(&mut self, view: &Connection) -> Result<(), StoreError> {
        let sql = format!("SELECT {} FROM mention", passages::MENTION_COLUMNS);
        self.rows(view, &sql, |faults, row| {
            faults.result(passages::read_mention(row)).map(|_| ())
        })
    }
}
