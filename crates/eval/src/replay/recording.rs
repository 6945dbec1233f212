//! A session as it was read, to make a timeline of.

use std::sync::Arc;

use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Transcript;
use mainstay_wire::document::Document;

/// A session as it was read: everything that was said, recorded compactions as events.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its name in reports.
    pub name: String,
    /// The format it was recorded in, or the collection it belongs to.
    pub source: Arc<str>,
    /// The model that was used.
    pub model: Option<Arc<str>>,
    /// What was said.
    pub transcript: Arc<Transcript>,
    /// The tool definitions that were sent along, as JSON, where the source has them.
    pub tools: Option<Box<str>>,
    /// When it started.
    pub started: Option<Timestamp>,
    /// Where the agent program was started anew.
    pub restarts: Vec<Place>,
}

impl Recording {
    /// A document of a source, named by its own id, otherwise as given.
    pub fn new(document: Document, source: Arc<str>, otherwise: String) -> Self {
        let about = document.about;
        Self {
            name: about.id.filter(|id| !id.is_empty()).unwrap_or(otherwise),
            source,
            model: about.model,
            transcript: document.transcript,
            tools: about.tools,
            started: about.started,
            restarts: about.restarts,
        }
    }
}
