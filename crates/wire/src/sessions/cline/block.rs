//! Blocks and messages as Cline stores them: Anthropic's, and some of its own that the provider never sees in
//! that form.

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::ToolOutcome;

use crate::anthropic;
use crate::json;
use crate::json::Object;
use crate::json::Raw;

/// The fields that Anthropic takes in a block of each type. A block with others is rendered anew.
const FIELDS: &[(&str, &[&str])] = &[
    ("text", &["type", "text", "cache_control", "citations"]),
    ("image", &["type", "source", "cache_control"]),
    (
        "document",
        &["type", "source", "cache_control", "title", "context", "citations"],
    ),
    ("tool_use", &["type", "id", "name", "input", "cache_control"]),
    (
        "tool_result",
        &["type", "tool_use_id", "content", "is_error", "cache_control"],
    ),
    ("thinking", &["type", "thinking", "signature"]),
    ("redacted_thinking", &["type", "data"]),
];

/// Whether the content of a message can be sent as it is.
pub(super) fn is_provider_form(content: Raw<'_>) -> bool {
    if json::text(content).is_some() {
        return true;
    }
    json::array(content).is_some_and(|blocks| !blocks.is_empty() && blocks.iter().all(|raw| is_provider_block(raw)))
}

fn is_provider_block(raw: Raw<'_>) -> bool {
    let Some(block) = Object::of(raw) else { return false };
    let kind = block.tag("type").unwrap_or("");
    let Some((_, fields)) = FIELDS.iter().find(|(name, _)| *name == kind) else {
        return false;
    };
    let has_own_fields = block.members().all(|(key, _)| fields.contains(&key.as_ref()));
    // An answer may itself be a list of blocks.
    let answer = block.array("content").unwrap_or_default();
    let is_typed = |raw: &Raw<'_>| {
        Object::of(raw).is_some_and(|inner| matches!(inner.tag("type"), Some("text" | "image" | "document")))
    };
    // Thinking without its signature is refused.
    let is_sealed = kind != "thinking" || block.text("signature").is_some_and(|signature| !signature.is_empty());
    has_own_fields && is_sealed && answer.iter().all(is_typed)
}

/// Reads one block.
pub(super) fn read(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Part {
    let block = Object::of(raw).unwrap_or_default();
    match block.tag("type") {
        Some("file") => read_file(&block).unwrap_or_else(|| anthropic::read_block(raw, place, findings)),
        Some("reasoning") => Part::Thinking(Box::new(Thinking {
            text: block.text("text").unwrap_or_default(),
            seal: Seal::Unsealed,
        })),
        Some("tool_result") => read_result(raw, &block, place, findings),
        Some(_) | None => anthropic::read_block(raw, place, findings),
    }
}

/// A file that the person named; it is sent as text under its path.
fn read_file(block: &Object<'_>) -> Option<Part> {
    let content = block.text("content")?;
    let path = block.text("path").unwrap_or_default();
    let text = format!("<file_content path={}>\n{content}\n</file_content>", json::quote(&path));
    Some(Part::Text(text.into()))
}

/// The SDK's tools answer with a list of `{query, result, success}`, which is sent as JSON text.
fn read_result(raw: Raw<'_>, block: &Object<'_>, place: Place, findings: &mut Vec<Finding>) -> Part {
    let mut part = anthropic::read_block(raw, place, findings);
    let Part::Result(result) = &mut part else { return part };
    result.name = block.text("name");
    for content in &mut result.content {
        if let Content::Opaque(opaque) = content
            && opaque.kind.is_empty()
        {
            *content = Content::Text(std::mem::take(&mut opaque.json));
        }
    }
    if result.outcome == ToolOutcome::Unstated {
        result.outcome = outcome_of(block);
    }
    part
}

/// Whether all operations of a structured answer went the same way.
fn outcome_of(block: &Object<'_>) -> ToolOutcome {
    let list = block.array("content").unwrap_or_default();
    let whole = block.text("content").filter(|text| text.starts_with('{'));
    let whole = whole.as_deref().and_then(|text| Object::parse(text).ok());
    let mut successes = list
        .iter()
        .filter_map(|raw| Object::of(raw))
        .chain(whole)
        .map(|operation| {
            let success = operation.get("success")?;
            Some(success.get() == "true")
        });
    let Some(Some(first)) = successes.next() else {
        return ToolOutcome::Unstated;
    };
    match (first, successes.all(|success| success == Some(first))) {
        (true, true) => ToolOutcome::Success,
        (false, true) => ToolOutcome::Failure,
        (_, false) => ToolOutcome::Unstated,
    }
}
