//! What the agent goes on to use, and where it could be found again.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use crate::retention::identifiers::Class;
use crate::retention::notes::Id;
use crate::retention::notes::Notes;
use crate::retention::trajectory::Line;
use crate::retention::trajectory::Speaker;

/// What is needed after a cut.
pub struct Needed {
    /// The identifiers with the class they have before the cut, in the order of their use.
    pub all: Vec<(Id, Class)>,
    /// For each message of the agent after the cut, those that it uses first.
    pub actions: Vec<Vec<Id>>,
}

/// Identifiers that the agent writes in the tail before any message of it has shown them, that stand in the prefix and
/// not in the instructions.
pub fn needed(notes: &mut Notes, prefix: &[Line], tail: &[Line], instructed: &HashSet<Id>) -> Needed {
    let mut before: HashMap<Id, Class> = HashMap::new();
    for line in prefix {
        for (id, class) in notes.find(&line.text).iter() {
            before.entry(*id).or_insert(*class);
        }
    }
    let mut seen: HashSet<Id> = HashSet::new();
    let mut all = Vec::new();
    let mut actions = Vec::new();
    for line in tail {
        let found = notes.find(&line.text);
        if line.speaker == Speaker::Assistant {
            let is_needed = |id: &Id| before.contains_key(id) && !seen.contains(id) && !instructed.contains(id);
            let used: Vec<Id> = found.iter().map(|(id, _)| *id).filter(is_needed).collect();
            all.extend(used.iter().map(|id| (*id, before[id])));
            actions.push(used);
        }
        // Once the agent has said it, it is there to be seen as well.
        seen.extend(found.iter().map(|(id, _)| *id));
    }
    Needed { all, actions }
}

/// For every needed identifier, the messages of the agent whose tools showed it: as long as one of them is kept, it can
/// be fetched again.
pub fn pointers(notes: &mut Notes, prefix: &[Line], needed: &Needed) -> BTreeMap<Id, Vec<Arc<str>>> {
    let mut pointers: BTreeMap<Id, Vec<Arc<str>>> = needed.all.iter().map(|(id, _)| (*id, Vec::new())).collect();
    let mut asked: Option<&Arc<str>> = None;
    for line in prefix {
        match (line.speaker, asked) {
            (Speaker::Assistant, _) => asked = Some(&line.text),
            (Speaker::Tool, Some(asked)) => {
                for (id, _) in notes.find(&line.text).iter() {
                    if let Some(messages) = pointers.get_mut(id) {
                        messages.push(Arc::clone(asked));
                    }
                }
            }
            (Speaker::Tool | Speaker::User | Speaker::System, _) => {}
        }
    }
    pointers
}
