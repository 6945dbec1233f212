//! What is asked at a cut: everything the agent goes on to use, and where it stood.

use std::collections::HashSet;
use std::sync::Arc;

use crate::retention::baselines::keep_last;
use crate::retention::needed::needed;
use crate::retention::needed::pointers;
use crate::retention::notes::Id;
use crate::retention::notes::Notes;
use crate::retention::pairs::pairs;
use crate::retention::score::Question;
use crate::retention::trajectory::Line;

/// What stands in the newest tenth of the prefix is near; a compactor that keeps the tail has it anyway.
const NEAR: f64 = 0.1;

/// What is needed in the tail of what stands in the prefix; none where nothing is.
pub fn question(notes: &mut Notes, prefix: &[Line], tail: &[Line], instructed: &HashSet<Id>) -> Option<Question> {
    let needed = needed(notes, prefix, tail, instructed);
    if needed.all.is_empty() {
        return None;
    }
    let tokens: usize = prefix.iter().map(|line| notes.count(&line.text)).sum();
    let mut near: HashSet<Id> = HashSet::new();
    for text in keep_last(notes, prefix, (NEAR * tokens as f64) as usize) {
        near.extend(notes.find(&text).iter().map(|(id, _)| *id));
    }
    let texts: Vec<Arc<str>> = prefix.iter().map(|line| Arc::clone(&line.text)).collect();
    let ids = needed.all.iter().map(|(id, _)| *id);
    Some(Question {
        far: ids.filter(|id| !near.contains(id)).collect(),
        pairs: pairs(notes, &texts, &needed),
        pointers: pointers(notes, prefix, &needed),
        needed: needed.all,
    })
}
