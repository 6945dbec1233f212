//! Evidence: verbatim pieces of the cold history, chosen under a budget by how likely the agent is to need them.
//!
//! An agent that goes on after a compaction needs the exact spelling of paths, names, ids and numbers, and it needs them
//! beside what they belong to. [`Evidence`] is folded message by message and remembers, for every identifier, who wrote it,
//! how often and when last, and for every piece of text, where it stands and which identifiers it holds.
//! [`Evidence::choose`] then picks pieces greedily by expected use per token.
//!
//! What holds: a snippet is a verbatim piece of its message, or a row of names that stand in it (but for the caller's filter); the snippets, [`render`]ed,
//! never cost more than the budget; folding costs what the message costs, whatever came before; the same
//! conversation gives the same snippets, folded at once, step by step, or through a saved state.
//!
//! Not here: redaction (the caller passes a filter), the frame around the block, and reasoning, which providers seal.

mod choose;
mod code_names;
mod folders;
mod gains;
mod pairs;
mod pieces;
mod readable;
mod saved;
mod scan;
mod spoken;
mod stats;
mod weights;

use std::collections::HashMap;
use std::fmt;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::OnceLock;

use serde::Deserialize;
use serde::Serialize;

use crate::decide::Deed;
use crate::decide::deed_of_call;
use crate::ledger::deeds::files_of;
use crate::ledger::evidence::folders::Folders;
use crate::ledger::evidence::gains::EvidenceWorth;
use crate::ledger::evidence::gains::estimate;
use crate::ledger::evidence::saved::EvidencePiece;
use crate::ledger::evidence::saved::IdentifierName;
use crate::ledger::evidence::saved::Occurrence;
use crate::ledger::evidence::saved::SavedEvidence;
use crate::ledger::evidence::saved::TextRef;
use crate::ledger::evidence::spoken::Spoken;
use crate::ledger::evidence::spoken::spoken;
use crate::ledger::evidence::stats::Sighting;
use crate::ledger::evidence::stats::Stats;
use crate::ledger::evidence::stats::Voice;
use crate::ledger::evidence::weights::expected_use;
use crate::transcript::Author;
use crate::transcript::CallId;
use crate::transcript::Message;
use crate::transcript::ToolCall;

pub use choose::Room;
pub use choose::Snippet;
pub use choose::render;
pub use scan::Class;
pub use scan::Found;
pub use scan::scan;
pub use weights::Features;
pub use weights::NAMES as FEATURE_NAMES;

/// Calls that are remembered with their file: as many as may wait for their results at once.
const FILES_HELD: usize = 64;

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageOrigin {
    /// The conversation itself.
    Conversation,
    /// A block that an earlier pass wrote.
    Block,
}

/// What is remembered of a conversation in order to choose evidence from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SavedEvidence", into = "SavedEvidence")]
pub struct Evidence {
    kept: SavedEvidence,
    ids: HashMap<Box<str>, u32>,
    keys: HashMap<Box<str>, u32>,
    folders: Folders,
    worth: WorthCache,
}

/// What pieces are worth, worked out when first asked for; two conversations do not differ by it.
#[derive(Clone, Default)]
struct WorthCache(OnceLock<Arc<EvidenceWorth>>);

impl PartialEq for WorthCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for WorthCache {}

impl fmt::Debug for WorthCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WorthCache")
    }
}

/// What was saved is not a state that folding makes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the saved evidence does not hold together")]
pub struct Unsound;

impl TryFrom<SavedEvidence> for Evidence {
    type Error = Unsound;

    fn try_from(kept: SavedEvidence) -> Result<Self, Unsound> {
        if !kept.is_sound() {
            return Err(Unsound);
        }
        let ids = (0u32..)
            .zip(&kept.names)
            .map(|(id, name)| (name.text.clone(), id))
            .collect();
        let keys = kept
            .names
            .iter()
            .map(|name| (name.key_text().into(), name.key))
            .collect();
        let mut folders = Folders::default();
        for name in kept.names.iter().filter(|name| name.class == Class::Path as u8) {
            folders.learn(&name.text);
        }
        Ok(Self {
            kept,
            ids,
            keys,
            folders,
            worth: WorthCache::default(),
        })
    }
}

impl From<Evidence> for SavedEvidence {
    fn from(evidence: Evidence) -> Self {
        evidence.kept
    }
}

impl Evidence {
    /// Nothing remembered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns one message. `index` is its place in the list that [`Evidence::choose`] will be given; messages come in order.
    pub fn fold(&mut self, index: u32, message: &Message) {
        self.fold_from(index, message, MessageOrigin::Conversation);
    }

    /// Learns what an earlier block showed: a row of names in it is one again.
    pub fn fold_carried(&mut self, index: u32, message: &Message) {
        self.fold_from(index, message, MessageOrigin::Block);
    }

    fn fold_from(&mut self, index: u32, message: &Message, origin: MessageOrigin) {
        self.worth = WorthCache::default();
        if message.author != Author::System {
            let clock = &mut self.kept.clock;
            clock.messages += 1;
            if message.author == Author::Assistant {
                clock.steps += 1;
                clock.newest_step = clock.messages;
            }
            if message.author == Author::User {
                clock.requests += 1;
                clock.newest_request = clock.messages;
            }
        }
        self.kept.files.extend(message.calls().filter_map(file_of));
        let over = self.kept.files.len().saturating_sub(FILES_HELD);
        self.kept.files.drain(..over);
        let mut offset = 0u32;
        for (slot, spoken) in (0u32..).zip(spoken(message)) {
            let text = spoken.text();
            // Places are 32 bits wide; no provider takes a text of four gigabytes.
            let Ok(length) = u32::try_from(text.len()) else {
                continue;
            };
            // A task list stands in the block as it was left last.
            if spoken.call.is_some_and(|call| deed_of_call(call) == Deed::Plan) {
                offset = offset.saturating_add(length).saturating_add(1);
                continue;
            }
            let tool = spoken.call.and_then(|call| self.learn_tool(&call.name));
            let (is_code, source) = self.code_and_source(&spoken, &text, origin);
            self.kept.texts.push(TextRef {
                message: index,
                slot,
                voice: spoken.voice,
                turn: self.kept.clock.messages,
                offset,
                tool,
                source,
                is_code,
            });
            self.learn_text(&text, spoken.voice, is_code);
            offset = offset.saturating_add(length).saturating_add(1);
            self.kept.clock.bytes += u64::from(length);
        }
    }

    /// Whether the conversation holds an identifier: as it is spelled, a file by its name alone, a folder by a path that
    /// leads through it.
    pub fn knows(&self, identifier: &str) -> bool {
        let identifier = identifier.strip_prefix("./").unwrap_or(identifier);
        self.ids.contains_key(identifier)
            || self.keys.contains_key(last_component(identifier))
            || self.folders.lead_through(identifier)
    }

    /// How many identifiers of a text the agent is expected to use again.
    pub fn expected_use_of(&self, text: &str) -> f64 {
        let mut ids: Vec<u32> = self.known(text).filter_map(|(id, _, _)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        let chance = |id: u32| {
            let (stats, name) = (&self.kept.stats[id as usize], &self.kept.names[id as usize]);
            expected_use(&stats.features(&self.kept.clock, name.class(), &name.text))
        };
        ids.into_iter().map(chance).sum()
    }

    /// Every identifier with what is known of it, as numbers in the order of [`FEATURE_NAMES`]: what weights are fitted on.
    pub fn identifiers(&self) -> impl Iterator<Item = (&str, Features)> + '_ {
        let seen = self
            .kept
            .names
            .iter()
            .zip(&self.kept.stats)
            .filter(|(_, stats)| !stats.is_unseen());
        seen.map(|(name, stats)| (&*name.text, stats.features(&self.kept.clock, name.class(), &name.text)))
    }

    /// Counts the name of a called tool, where it is an identifier.
    fn learn_tool(&mut self, name: &str) -> Option<u32> {
        let id = self.learned_whole(name)?;
        let sighting = Sighting {
            voice: Voice::Arguments,
            company: 1,
            is_escaped: false,
            is_leading: false,
        };
        self.kept.stats[id as usize].see(&self.kept.clock, sighting);
        Some(id)
    }

    /// The number of an identifier that is all there is.
    fn learned_whole(&mut self, name: &str) -> Option<u32> {
        let found = scan(name);
        let whole = found.iter().find(|found| found.range == (0..name.len()))?;
        Some(self.id(name, whole.class))
    }

    fn learn_text(&mut self, text: &str, voice: Voice, is_code: bool) {
        let found = scan(text);
        let index = self.kept.texts.len() as u32 - 1;
        let ids: Vec<u32> = found
            .iter()
            .map(|one| self.id(&text[one.range.clone()], one.class))
            .collect();
        let mut distinct = ids.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let company = distinct.len() as u32;
        let see = |evidence: &mut Self, at: usize, piece_start: usize| {
            let one = &found[at];
            let is_leading = || match is_code {
                true => {
                    let before = text[..one.range.start].trim_end_matches([' ', '\t']);
                    before.is_empty() || before.ends_with('\n')
                }
                false => text[piece_start..one.range.start].trim_ascii().is_empty(),
            };
            let sighting = Sighting {
                voice,
                company,
                is_escaped: text[..one.range.start].ends_with('\\'),
                is_leading: one.class == Class::Number && is_leading(),
            };
            evidence.kept.stats[ids[at] as usize].see(&evidence.kept.clock, sighting);
        };
        let ranges = match is_code {
            true => code_names::names(text, &found),
            false => pieces::cut(text, &found),
        };
        let mut at = 0;
        for range in ranges {
            // Only code has identifiers between its pieces: the same names again, and numbers without one.
            while found.get(at).is_some_and(|one| one.range.start < range.start) {
                see(self, at, range.start);
                at += 1;
            }
            let words = text[range.clone()].trim_ascii();
            let is_bare = !words.contains(char::is_alphabetic) || voice == Voice::Arguments && is_bare_member(words);
            self.kept.pieces.push(EvidencePiece {
                text: index,
                start: range.start as u32,
                end: range.end as u32,
                first: self.kept.occurrences.len() as u32,
                cost: if is_bare { 0 } else { estimate(words) + 1 },
                // The same name in another file is not the same evidence.
                hash: if is_code {
                    hash_of(&(index, words))
                } else {
                    hash_of(words)
                },
            });
            while let Some(one) = found.get(at).filter(|one| one.range.start < range.end) {
                see(self, at, range.start);
                self.kept.occurrences.push(Occurrence {
                    id: ids[at],
                    at: one.range.start as u32,
                });
                at += 1;
            }
        }
        for rest in at..found.len() {
            see(self, rest, 0);
        }
    }

    /// Whether a text is source code, and the file that it is from.
    fn code_and_source(&mut self, spoken: &Spoken<'_>, text: &str, origin: MessageOrigin) -> (bool, Option<u32>) {
        if origin == MessageOrigin::Block {
            let Some(path) = code_names::row_of_names(text) else {
                return (false, None);
            };
            let source = path.map(Box::<str>::from).and_then(|path| self.learned_whole(&path));
            return (true, source);
        }
        let asked = spoken.call.map(|call| &call.id).or(spoken.answers);
        let file = asked.and_then(|asked| self.kept.files.iter().rev().find(|(id, _)| id == asked));
        let path = file.map(|(_, path)| path.clone());
        let is_code = match spoken.call {
            // Whatever an edit puts into a file can be read there.
            Some(call) => matches!(deed_of_call(call), Deed::Edit | Deed::Write),
            // A file, a part of one or a diff of code can be read again; a log that only looks like code cannot, and what a
            // person pasted may be nowhere else.
            None => {
                let is_file = path.as_deref().is_some_and(code_names::is_code_file);
                let is_diff = || spoken.answers.is_some() && code_names::is_diff_of_code(text);
                (is_file || is_diff()) && code_names::is_code(text)
            }
        };
        if !is_code {
            return (false, None);
        }
        let source = path.and_then(|path| self.learned_whole(&path));
        (true, source)
    }

    /// What pieces are worth before anything is chosen.
    fn worth(&self) -> Arc<EvidenceWorth> {
        let worth = self.worth.0.get_or_init(|| Arc::new(EvidenceWorth::of(self)));
        Arc::clone(worth)
    }

    /// The number of an identifier, given on first sight.
    fn id(&mut self, text: &str, class: Class) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let mut name = IdentifierName {
            text: text.into(),
            class: class as u8,
            key: 0,
        };
        name.key = match self.keys.get(name.key_text()) {
            Some(key) => *key,
            None => {
                let key = self.kept.keys;
                self.kept.keys += 1;
                self.keys.insert(name.key_text().into(), key);
                key
            }
        };
        if class == Class::Path {
            self.folders.learn(text);
        }
        let id = self.kept.names.len() as u32;
        self.kept.names.push(name);
        self.kept.stats.push(Stats::default());
        self.ids.insert(text.into(), id);
        id
    }

    /// The identifiers of a text that are known, with their places.
    fn known<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Option<u32>, Option<u32>, Found)> + 'a {
        scan(text).into_iter().map(|one| {
            let name = &text[one.range.clone()];
            (
                self.ids.get(name).copied(),
                self.keys.get(last_component(name)).copied(),
                one,
            )
        })
    }
}

impl IdentifierName {
    fn class(&self) -> Class {
        [Class::Url, Class::Path, Class::Record, Class::Symbol, Class::Number][usize::from(self.class.min(4))]
    }

    fn key_text(&self) -> &str {
        if self.class == Class::Path as u8 {
            last_component(&self.text)
        } else {
            &self.text
        }
    }
}

/// Whether a line of arguments is a key with a number, a flag or nothing: `limit: 120` says nothing on its own.
fn is_bare_member(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else {
        return false;
    };
    let value = value.trim();
    let is_plain = value.is_empty() || matches!(value, "true" | "false" | "null");
    !key.contains(char::is_whitespace) && (is_plain || value.chars().all(|letter| letter.is_ascii_digit()))
}

/// A number that is equal for equal words.
fn hash_of(words: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

/// The file that a call is about, where it is one and nothing else is printed with it.
fn file_of(call: &ToolCall) -> Option<(CallId, Box<str>)> {
    let runs_more = deed_of_call(call) == Deed::Run && call.input.as_str().contains([';', '&', '\n', '`', '$']);
    match files_of(call).as_slice() {
        [file] if !runs_more => Some((call.id.clone(), file.clone())),
        _ => None,
    }
}

/// What stands after the last slash of a path, a trailing one aside.
fn last_component(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
