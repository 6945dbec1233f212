//! How much of what is needed a compacted prefix still holds.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;

use crate::retention::identifiers::Class;
use crate::retention::notes::Id;
use crate::retention::notes::Notes;
use crate::retention::pairs::Pair;
use crate::retention::pairs::share_kept;

/// What is asked of a compacted prefix.
pub struct Question {
    /// What is needed, with its class.
    pub needed: Vec<(Id, Class)>,
    /// Those of it that the newest tenth of the prefix does not hold.
    pub far: HashSet<Id>,
    /// What stood together.
    pub pairs: Vec<Pair>,
    /// By which messages it could be fetched again.
    pub pointers: BTreeMap<Id, Vec<Arc<str>>>,
}

/// The shares that are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Of the needed; for a path its last piece is enough.
    pub fur: f64,
    /// Of the needed, paths in full.
    pub strict: f64,
    /// Of the needed that was far; none where nothing was.
    pub far: Option<f64>,
    /// Of the pairs; none where there were none.
    pub pair: Option<f64>,
    /// Of the needed, kept or fetchable.
    pub pointer: f64,
}

/// Scores the texts of a compacted prefix. At least one identifier must be needed.
pub fn score(notes: &mut Notes, texts: &[Arc<str>], question: &Question) -> Score {
    let mut have: HashSet<Id> = HashSet::new();
    for text in texts {
        have.extend(notes.find(text).iter().map(|(id, _)| *id));
    }
    let stems: HashSet<Id> = have.iter().map(|id| notes.stem(*id)).collect();
    let kept: HashSet<&str> = texts.iter().map(|text| &**text).collect();
    let is_there =
        |(id, class): &(Id, Class)| have.contains(id) || (*class == Class::Path && stems.contains(&notes.stem(*id)));
    let is_fetchable = |id: &Id| {
        question
            .pointers
            .get(id)
            .is_some_and(|asked| asked.iter().any(|text| kept.contains(&**text)))
    };
    let count = |holds: &dyn Fn(&(Id, Class)) -> bool| question.needed.iter().filter(|needed| holds(needed)).count();
    let share = |kept: usize, of: usize| kept as f64 / of as f64;
    let needed = question.needed.len();
    let far = count(&|needed| question.far.contains(&needed.0) && is_there(needed));
    Score {
        fur: share(count(&is_there), needed),
        strict: share(count(&|needed| have.contains(&needed.0)), needed),
        far: (!question.far.is_empty()).then(|| share(far, question.far.len())),
        pair: share_kept(notes, texts, &question.pairs),
        pointer: share(count(&|needed| is_there(needed) || is_fetchable(&needed.0)), needed),
    }
}
