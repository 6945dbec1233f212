//! Reasoning that the provider has bound to what stood before it. Once a pass has changed that, the provider has to be told to
//! leave such blocks out, or it refuses the request.

use bytes::Bytes;
use bytes::BytesMut;
use mainstay_wire::reading::WireForm;
use mainstay_wire::request::Glance;

use crate::session::parsed_request::ParsedRequest;

/// The header, and what it has to name, for the provider to leave out reasoning that no longer belongs.
pub const DROPPING: (&str, &str) = ("anthropic-beta", "thinking-binding-controls-2026-08-01");
/// The setting that goes with it.
const DROP_BLOCK: &str = r#""block_binding":{"prefix_mismatch_behavior":"drop_block"}"#;

/// The body with the wish that reasoning which no longer belongs be left out; `None` where there is no reasoning, or the wish
/// stands there already.
pub fn told_to_drop(taken: &ParsedRequest, body: &Bytes) -> Option<Bytes> {
    if taken.form != WireForm::Anthropic {
        return None;
    }
    let thinking = Glance::of(taken.form, body)?.field(body, "thinking")?;
    let value = &body[thinking.clone()];
    if !value.ends_with(b"}") || memchr::memmem::find(value, b"block_binding").is_some() {
        return None;
    }
    let inside = value[1..value.len() - 1].trim_ascii();
    let mut out = BytesMut::with_capacity(body.len() + DROP_BLOCK.len() + 1);
    out.extend_from_slice(&body[..thinking.end - 1]);
    if !inside.is_empty() {
        out.extend_from_slice(b",");
    }
    out.extend_from_slice(DROP_BLOCK.as_bytes());
    out.extend_from_slice(&body[thinking.end - 1..]);
    Some(out.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_is_put_where_it_belongs_and_once() {
        let told = |body: &'static str| {
            let body = Bytes::from_static(body.as_bytes());
            let taken = ParsedRequest::new(WireForm::Anthropic, body.clone(), "", None).unwrap();
            told_to_drop(&taken, &body)
        };
        let body = told(r#"{"thinking":{"type":"adaptive"},"messages":[]}"#).unwrap();
        assert_eq!(
            body,
            r#"{"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"messages":[]}"#
        );
        assert_eq!(told(r#"{"messages":[]}"#), None);
        assert_eq!(told(r#"{"thinking":{"block_binding":{}},"messages":[]}"#), None);
    }
}
