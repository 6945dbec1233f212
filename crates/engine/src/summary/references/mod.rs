//! What must not be lost of what a summary replaces, whether a text still has it, and what a text has that nobody said.
//!
//! References come from the ledger, which knows what still holds and who said it, and from the words of the person and
//! the calls of the model. Superseded values, closed obligations and errors that went away are no references.

mod gather;
mod invented;
mod mentions;
mod seen;

pub use invented::invented;
pub use seen::seen_names;

use std::collections::BTreeMap;
use std::collections::HashSet;

use crate::ledger::Ledger;
use crate::summary::records::Record;
use crate::transcript::Author;

use mentions::Matcher;

/// What a reference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefKind {
    /// The path of a file that was changed, created, deleted or renamed.
    File,
    /// The line that tells of an error that is still there.
    Error,
    /// A value that holds.
    Fact,
    /// The reference of a credential.
    Credential,
    /// An identifier in a constraint, decision, obligation, question or task that holds.
    Statement,
    /// An identifier in the person's own words.
    Said,
    /// An identifier that the model wrote in several of its calls.
    Used,
    /// An identifier that the previous summary has in a section that lasts.
    Earlier,
}

impl RefKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            RefKind::File => "file",
            RefKind::Error => "error",
            RefKind::Fact => "fact",
            RefKind::Credential => "credential",
            RefKind::Statement => "statement",
            RefKind::Said => "said",
            RefKind::Used => "used",
            RefKind::Earlier => "earlier",
        }
    }
}

/// One thing that must not be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What it is.
    pub kind: RefKind,
    /// How it is spelled.
    pub text: Box<str>,
    /// Who it is by.
    pub author: Author,
    /// The message that last had it.
    pub message: u32,
    /// How much it matters; more is more.
    pub weight: u32,
}

/// How many references are kept. A block of 8,000 tokens, the largest that is usual, can name some 300 identifiers beside
/// its sentences; what does not fit there cannot be asked for.
pub const MOST: usize = 300;

/// How many of them decide whether an answer is refused. A summary of 2,000 tokens, the smallest that is asked for, names
/// some 40 to 80 identifiers; to ask for more would refuse good ones.
pub const MOST_CRITICAL: usize = 40;

/// How many of one kind decide: thirty renamed files are told by their folder.
const MOST_OF_KIND: usize = 8;

/// Lighter ones do not decide: what was only used or printed can be found again. It is the weight of what the person named.
const LEAST_CRITICAL: u32 = gather::SAID;

/// What must not be lost, most important first.
#[derive(Clone, Debug, Default)]
pub struct References {
    list: Vec<Reference>,
    matcher: Matcher,
}

impl References {
    /// What must not be lost of these messages, and of what the previous summary says of earlier ones.
    pub fn of(ledger: &Ledger, records: &[Record<'_>], previous: Option<&str>) -> Self {
        Self::new(gather::gather(ledger, records, previous))
    }

    /// A list of references; the most important [`MOST`] are kept, each once.
    pub fn new(mut list: Vec<Reference>) -> Self {
        list.sort_by(|one, other| {
            (other.weight, other.message)
                .cmp(&(one.weight, one.message))
                .then_with(|| one.text.cmp(&other.text))
        });
        let mut list = one_spelling_each(list);
        list.truncate(MOST);
        let matcher = Matcher::new(&list);
        Self { list, matcher }
    }

    /// All of them.
    pub fn list(&self) -> &[Reference] {
        &self.list
    }

    /// Those that decide whether an answer is refused, most important first.
    pub fn critical(&self) -> Vec<&Reference> {
        let mut kinds: BTreeMap<RefKind, usize> = BTreeMap::new();
        let heavy = self.list.iter().filter(|reference| reference.weight >= LEAST_CRITICAL);
        let few = heavy.filter(|reference| {
            let known = kinds.entry(reference.kind).or_default();
            *known += 1;
            *known <= MOST_OF_KIND
        });
        few.take(MOST_CRITICAL).collect()
    }

    /// Those that stand in records or in what was told before: nobody can be asked to repeat what they were not shown.
    pub fn found_in(&self, records: &[String], told: &str) -> Self {
        let mut found = self.matcher.present(told);
        for chunk in records {
            for (is_found, is_here) in found.iter_mut().zip(self.matcher.present(chunk)) {
                *is_found |= is_here;
            }
        }
        let found = self.list.iter().zip(found).filter(|(_, is_found)| *is_found);
        Self::new(found.map(|(reference, _)| reference.clone()).collect())
    }

    /// Those that a text does not have, most important first.
    pub fn missing(&self, text: &str) -> Vec<&Reference> {
        let present = self.matcher.present(text);
        self.list
            .iter()
            .zip(present)
            .filter(|(_, is_present)| !is_present)
            .map(|(reference, _)| reference)
            .collect()
    }
}

/// Each reference once: of one path in several spellings the most important stays.
fn one_spelling_each(list: Vec<Reference>) -> Vec<Reference> {
    let (mut spelled, mut paths, mut all_ends) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut is_new = |reference: &Reference| {
        let bare = mentions::bare(&reference.text);
        if !spelled.insert(reference.text.clone()) {
            return false;
        }
        if !mentions::is_path(reference) || !bare.contains('/') {
            return true;
        }
        let is_known = all_ends.contains(bare) || mentions::ends(bare).any(|end| paths.contains(end));
        paths.insert(bare.to_owned());
        all_ends.insert(bare.to_owned());
        all_ends.extend(mentions::ends(bare).filter(|end| end.contains('/')).map(str::to_owned));
        !is_known
    };
    list.into_iter().filter(|reference| is_new(reference)).collect()
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
