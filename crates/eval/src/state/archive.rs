//! Searching what was dropped, as an agent with the recall tool would.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;

use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transform::Dropped;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::Scope;
use mainstay_store::Store;
use mainstay_store::StoreError;

/// How many hits a search shows: what fits on a screen, and what `mainstay recall` shows.
const MOST_HITS: usize = 8;
/// How much of a hit is shown around its best stretch, in bytes: short results whole, long ones as their best lines.
const MOST_OF_A_HIT: usize = 1_200;

/// Everything that was dropped from one state, in a store of its own.
#[derive(Debug)]
pub struct Archive(Mutex<Store>);

impl Archive {
    /// Keeps what was dropped in a store at this place, which must be empty.
    pub fn new(path: &Path, dropped: &[Dropped]) -> Result<Self, StoreError> {
        let mut store = Store::open(path)?;
        let dropped: Vec<NewDropped<'_>> = dropped.iter().map(NewDropped::from).collect();
        store.append(&NewCheckpoint {
            dropped: &dropped,
            ..NewCheckpoint::new("state", Timestamp(0))
        })?;
        Ok(Self(Mutex::new(store)))
    }

    /// What a search finds, as the text that an agent gets; says so where it finds nothing.
    pub fn search(&self, words: &str) -> Result<String, StoreError> {
        let store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hits = store.find(words, Scope::Everything, MOST_HITS)?;
        if hits.is_empty() {
            return Ok("Nothing was found.\n".to_owned());
        }
        let mut text = String::new();
        for hit in hits {
            let whole = store.fetch(&hit.reference)?.map(|fetched| fetched.original);
            let shown = match whole {
                Some(whole) if whole.len() <= MOST_OF_A_HIT => String::from_utf8_lossy(&whole).into_owned(),
                Some(_) | None => hit.snippet,
            };
            text.push_str(&format!("[{}]\n{shown}\n\n", hit.reference));
        }
        Ok(text)
    }
}
