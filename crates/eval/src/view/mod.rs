//! A run, or two beside each other, as one HTML file that needs nothing else: no server, no network, no font.
//!
//! The page holds the run's content as JSON and draws itself from it. What is in it holds whatever the content says:
//!
//! - content reaches the page as text only, and what would hide or move something is spelled out;
//! - the page's policy lets its own script and style run, by their hashes, and nothing load;
//! - texts that stand in it often stand in its file once, and a file that would be too large says what is left out.
//!
//! What figures mean is not decided here: verdicts are given by whoever asks for the page.

mod comparison;
mod content;
mod figures;
mod html;
mod texts;

use serde::Serialize;

use crate::record::Run;
use crate::view::comparison::Comparison;
use crate::view::content::RunContent;
use crate::view::texts::Texts;

/// So many bytes of texts go into a page: browsers open it within a second or two, and mail takes it.
const MOST_BYTES: usize = 20 << 20;

/// A run to be shown.
#[derive(Clone, Debug)]
pub struct Exhibit<'a> {
    /// The run.
    pub run: &'a Run,
    /// What it cost, in words.
    pub cost: Option<String>,
}

/// Which way a verdict goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// The second run is better.
    Better,
    /// The second run is worse.
    Worse,
    /// No difference that is more than noise.
    Noise,
    /// A figure, without a judgement.
    Plain,
}

/// A sentence at the head of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Which way it goes.
    pub tone: Tone,
    /// The sentence.
    pub text: String,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The file.
    pub html: String,
    /// What is not as it should be: an incomplete run, what could not be read, what was left out. The page says so, too.
    pub notes: Vec<String>,
}

/// Everything in a page.
#[derive(Serialize)]
struct Content {
    runs: Vec<RunContent>,
    comparison: Option<Comparison>,
    verdicts: Vec<Verdict>,
    notes: Vec<String>,
    texts: Vec<String>,
}

/// A page of a run, or of two; `verdicts` stand at its head, and where none are given it says what its figures do.
pub fn page(run: &Exhibit<'_>, other: Option<&Exhibit<'_>>, verdicts: &[Verdict]) -> Page {
    page_within(MOST_BYTES, run, other, verdicts)
}

fn page_within(most: usize, run: &Exhibit<'_>, other: Option<&Exhibit<'_>>, verdicts: &[Verdict]) -> Page {
    let mut notes = Vec::new();
    let mut texts = Texts::new(most);
    let exhibits: Vec<&Exhibit<'_>> = std::iter::once(run).chain(other).collect();
    let runs = content::gather(&exhibits, &mut texts, &mut notes);
    let comparison = other.map(|other| Comparison::new(run.run, other.run, &mut notes));
    let mut verdicts = verdicts.to_vec();
    if verdicts.is_empty() {
        verdicts = match &comparison {
            Some(comparison) => comparison.verdicts(&run.run.manifest.arms),
            None => runs.iter().flat_map(RunContent::verdicts).collect(),
        };
    }
    let title = match other {
        Some(other) => format!("{} against {}", run.run.manifest.label, other.run.manifest.label),
        None => run.run.manifest.label.clone(),
    };
    let content = Content {
        runs,
        comparison,
        verdicts,
        notes: notes.clone(),
        texts: texts.into_list(),
    };
    Page {
        html: html::render(&title, &content),
        notes,
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
