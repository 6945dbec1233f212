//! What all sessions share, whatever is known of them: the operator's settings, the store, and the clock.

use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use mainstay_engine::transcript::Timestamp;

use crate::session::store_handle::StoreHandle;
use crate::settings::CompactionSettings;

/// What all sessions share.
pub struct SessionEnvironment {
    pub settings: CompactionSettings,
    pub store: StoreHandle,
}

impl SessionEnvironment {
    pub fn new(settings: CompactionSettings) -> Self {
        let store = StoreHandle::new(settings.store.clone());
        if store.is_there() {
            // The first request shall not wait for it; whatever is wrong shows again when it is needed.
            let _ = store.with(|store| store.foreign_writes());
        }
        Self { settings, store }
    }
}

/// The time, as the host's clock has it.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
