//! The calibration of token counts, one a model.

use mainstay_engine::account::Calibration;
use rusqlite::OptionalExtension;

use crate::Store;
use crate::error::StoreError;
use crate::seal::Hash;
use crate::seal::Seal;

fn seal_of(model: &str, fit: &str) -> Hash {
    Seal::new("calibration").text(model).text(fit).finish()
}

impl Store {
    /// Keeps the calibration of a model, in place of the one before.
    pub fn save_calibration(&mut self, model: &str, calibration: &Calibration) -> Result<(), StoreError> {
        let fit = serde_json::to_string(calibration).expect("a calibration is five numbers");
        self.connection.execute(
            "INSERT INTO calibration (model, fit, seal) VALUES (?1, ?2, ?3)
             ON CONFLICT (model) DO UPDATE SET fit = excluded.fit, seal = excluded.seal",
            (model, &fit, &seal_of(model, &fit)[..]),
        )?;
        Ok(())
    }

    /// The calibration of a model, when one was kept.
    pub fn calibration(&self, model: &str) -> Result<Option<Calibration>, StoreError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT fit, seal FROM calibration WHERE model = ?1")?;
        let row = select.query_row([model], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((fit, seal)): Option<(String, Vec<u8>)> = row.optional()? else {
            return Ok(None);
        };
        let damaged = || StoreError::damaged(format!("the calibration of {model} is not what was written"));
        if seal_of(model, &fit)[..] != seal[..] {
            return Err(damaged());
        }
        serde_json::from_str(&fit).map(Some).map_err(|_| damaged())
    }
}
