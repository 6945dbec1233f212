//! Requests with the definition of our tool in them.

use bytes::Bytes;
use bytes::BytesMut;
use mainstay_engine::json;
use mainstay_engine::json::Object;
use mainstay_engine::json::Raw;
use mainstay_wire::reading::WireForm;
use mainstay_wire::request::Glance;

use crate::recall::OFFERED;
use crate::recall::definition;

/// A request with the tool as its last. `None` where it is not offered: where there are no tools, where the client has one of
/// that name, where several answers are wanted at once, and where the provider keeps the history or the answer. What it keeps
/// would hold a call that only we know of, and the client could go on from there without us.
pub(super) fn offered(form: WireForm, body: &Bytes) -> Option<Bytes> {
    std::str::from_utf8(body).ok()?;
    let glance = Glance::of(form, body)?;
    let says = |key: &str| glance.value(body, key);
    let kept_elsewhere = [
        "previous_response_id",
        "conversation",
        "context_management",
        "compaction",
    ];
    if kept_elsewhere.into_iter().any(|key| says(key).is_some()) {
        return None;
    }
    let suits = match form {
        WireForm::Anthropic => true,
        WireForm::Chat => says("n").is_none_or(|n| n == b"1"),
        WireForm::Responses => says("store") == Some(b"false") && says("background") != Some(b"true"),
    };
    let range = glance.field(body, "tools").filter(|_| suits)?;
    let text = std::str::from_utf8(&body[range.clone()]).ok()?;
    let tools = json::array(json::value(text).ok()?)?;
    if tools.is_empty() || tools.iter().any(|tool| has_our_name(form, tool)) {
        return None;
    }
    let addition = format!(",{}", definition(form));
    Some(inserted(body, range.end - 1, &addition))
}

fn has_our_name(form: WireForm, tool: Raw<'_>) -> bool {
    let object = Object::of(tool);
    let named = match form {
        WireForm::Chat => object.and_then(|object| object.object("function")),
        WireForm::Anthropic | WireForm::Responses => object,
    };
    named
        .and_then(|named| named.text("name"))
        .is_some_and(|name| &*name == OFFERED)
}

/// A request with more elements at the end of its list. `None` where it has no list.
pub(super) fn continued(form: WireForm, body: &Bytes, elements: &[String]) -> Option<Bytes> {
    let glance = Glance::of(form, body)?;
    let mut addition = elements.join(",");
    let at = match glance.elements.last() {
        Some(last) => {
            addition.insert(0, ',');
            last.end
        }
        None => glance.list.start,
    };
    Some(inserted(body, at, &addition))
}

fn inserted(body: &Bytes, at: usize, addition: &str) -> Bytes {
    let mut out = BytesMut::with_capacity(body.len() + addition.len());
    out.extend_from_slice(&body[..at]);
    out.extend_from_slice(addition.as_bytes());
    out.extend_from_slice(&body[at..]);
    out.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(form: WireForm, body: &str) -> Option<String> {
        let offered = offered(form, &Bytes::copy_from_slice(body.as_bytes()))?;
        Some(String::from_utf8(offered.to_vec()).unwrap())
    }

    #[test]
    fn the_tool_is_the_last_and_everything_else_stays() {
        let body = r#"{"n":1, "tools" : [ {"type":"function","function":{"name":"a"}} ],"messages":[ ]}"#;
        let definition = definition(WireForm::Chat);
        assert_eq!(
            put(WireForm::Chat, body).unwrap(),
            body.replace(" ],\"m", &format!(" ,{definition}],\"m"))
        );
    }

    #[test]
    fn where_it_is_not_offered_nothing_changes() {
        for (form, body) in [
            (WireForm::Chat, r#"{"messages":[]}"#),
            (WireForm::Chat, r#"{"messages":[],"tools":[]}"#),
            (WireForm::Chat, r#"{"messages":[],"tools":null}"#),
            (
                WireForm::Chat,
                r#"{"messages":[],"n":2,"tools":[{"type":"function","function":{"name":"a"}}]}"#,
            ),
            (
                WireForm::Chat,
                r#"{"messages":[],"tools":[{"type":"function","function":{"name":"mainstay\u005frecall"}}]}"#,
            ),
            (
                WireForm::Anthropic,
                r#"{"messages":[],"tools":[{"name":"mainstay_recall"}]}"#,
            ),
            (
                WireForm::Anthropic,
                r#"{"messages":[],"tools":[{"name":"a"}],"context_management":{}}"#,
            ),
            (WireForm::Responses, r#"{"input":[],"tools":[{"name":"a"}]}"#),
            (
                WireForm::Responses,
                r#"{"input":[],"tools":[{"name":"a"}],"store":true}"#,
            ),
            (
                WireForm::Responses,
                r#"{"input":"a","tools":[{"name":"a"}],"store":false}"#,
            ),
            (
                WireForm::Responses,
                r#"{"input":[],"tools":[{"name":"a"}],"store":false,"previous_response_id":"r"}"#,
            ),
        ] {
            assert_eq!(put(form, body), None, "{body}");
        }
    }

    #[test]
    fn elements_follow_the_last() {
        let go_on = |body: &'static str| {
            let continued = continued(
                WireForm::Chat,
                &Bytes::from_static(body.as_bytes()),
                &["2".into(), "3".into()],
            );
            String::from_utf8(continued.unwrap().to_vec()).unwrap()
        };
        assert_eq!(go_on(r#"{"messages":[ 1 ],"x":0}"#), r#"{"messages":[ 1,2,3 ],"x":0}"#);
        assert_eq!(go_on(r#"{"messages":[]}"#), r#"{"messages":[2,3]}"#);
    }
}
