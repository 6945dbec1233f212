//! The keys of conversations: listing them, and finding one by how it begins.

use crate::Store;
use crate::error::StoreError;

/// How many keys an ambiguous beginning lists: enough to see what they have in common.
const EXAMPLES: usize = 5;

impl Store {
    /// The keys of all conversations with a checkpoint, in order.
    pub fn conversations(&self) -> Result<Vec<String>, StoreError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT DISTINCT conversation FROM checkpoint ORDER BY conversation")?;
        let keys = select.query_map([], |row| row.get(0))?;
        Ok(keys.collect::<rusqlite::Result<_>>()?)
    }

    /// The one conversation whose key is this or begins like this, among those that have lost anything or have a checkpoint.
    pub fn find_conversation(&self, beginning: &str) -> Result<String, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT conversation FROM (
                SELECT DISTINCT conversation FROM checkpoint UNION SELECT DISTINCT conversation FROM mention
             ) WHERE conversation <> '' AND substr(conversation, 1, length(?1)) = ?1
             ORDER BY conversation <> ?1, conversation LIMIT ?2",
        )?;
        let wanted = beginning.trim();
        let keys = select.query_map((wanted, EXAMPLES as i64), |row| row.get(0))?;
        let mut keys = keys.collect::<rusqlite::Result<Vec<String>>>()?;
        match keys.len() {
            _ if wanted.is_empty() => Err(StoreError::no_conversation(beginning)),
            0 => Err(StoreError::no_conversation(beginning)),
            // A whole key is meant, whatever else begins with it.
            count if count == 1 || keys[0] == wanted => Ok(keys.swap_remove(0)),
            _ => Err(StoreError::AmbiguousConversation {
                wanted: wanted.to_owned(),
                matches: keys,
            }),
        }
    }
}
