//! Trims oversized tool results when they first come by. The whole of each is in the store before its small form goes out.
//!
//! What an output shrinks to follows from the output alone, so a proxy that was started anew, or another one, sends the same
//! bytes for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::shrink::Goal;
use mainstay_engine::shrink::shrink;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transform::Change;
use mainstay_wire::element;
use mainstay_wire::reading::WireForm;

/// Bytes that an output may have for each token of the limit, once it is shrunk: about half of the limit.
const BYTES_PER_TOKEN: u64 = 2;

/// Elements that go out in a smaller form, by their place in the chain.
#[derive(Clone, Debug, Default)]
pub struct TrimmedResults(BTreeMap<usize, Arc<str>>);

impl TrimmedResults {
    /// An element goes out like this from now on.
    pub fn put(&mut self, index: usize, text: Arc<str>) {
        self.0.insert(index, text);
    }

    /// Those at this place and behind it, in order.
    pub fn from(&self, first: usize) -> impl Iterator<Item = (usize, &Arc<str>)> {
        self.0.range(first..).map(|(index, text)| (*index, text))
    }

    /// Those before a place.
    pub fn before(&self, end: usize) -> Self {
        Self(
            self.0
                .range(..end)
                .map(|(index, text)| (*index, Arc::clone(text)))
                .collect(),
        )
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// An output that is to be kept.
pub struct OversizedResult<'a> {
    /// All of it.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: u64,
    /// The tool that printed it, where the wire says.
    pub tool: &'a str,
    /// Whether it tells of a failure.
    pub failed: bool,
}

/// The smaller form of an element whose tool results have more tokens than this; `None` where nothing is gained. `keep` puts an
/// output away and gives the reference to it; where it cannot, the output stays as it is.
pub fn trimmed(
    form: WireForm,
    element: &str,
    message: &Message,
    limit: u64,
    keep: &mut dyn FnMut(&OversizedResult<'_>) -> Option<String>,
) -> Option<String> {
    let mut changes = BTreeMap::new();
    for (part, content) in (0..).zip(&message.parts) {
        if let Part::Result(result) = content
            && let Some(small) = small_form(result, limit, keep)
        {
            changes.insert(part, Change::Result(small.into()));
        }
    }
    if changes.is_empty() {
        return None;
    }
    element::changed(form, element, message, changes).filter(|changed| changed.len() < element.len())
}

fn small_form(
    result: &ToolResult,
    limit: u64,
    keep: &mut dyn FnMut(&OversizedResult<'_>) -> Option<String>,
) -> Option<String> {
    // Beside a picture there is no text alone to put in place of everything.
    let [Content::Text(text)] = &result.content[..] else {
        return None;
    };
    // A token has a byte at least.
    if (text.len() as u64) <= limit {
        return None;
    }
    let tokens = Family::O200k.count(text, TextKind::Output);
    if tokens <= limit {
        return None;
    }
    let goal = Goal {
        most_bytes: usize::try_from(limit.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX),
    };
    let small = shrink(text, goal)?;
    let reference = keep(&OversizedResult {
        text,
        tokens,
        tool: result.name.as_deref().unwrap_or("tool"),
        failed: result.outcome == ToolOutcome::Failure,
    })?;
    // Inside of a tool result even JSON may be followed by words: it is read by a model.
    Some(format!(
        "{}\n⟦the whole output of {tokens} tokens: recall {reference}⟧",
        small.text
    ))
}
