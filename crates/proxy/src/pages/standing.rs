//! What stands in a conversation in place of what a compaction took out: the messages that differ between what came in and
//! what went out.

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_wire::element;
use mainstay_wire::reading::WireForm;
use mainstay_wire::request::Glance;
use serde::Serialize;

/// Bytes of texts on a page; a block of the ledger has some twenty thousand.
const MOST_BYTES: usize = 200_000;

/// One message; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Standing {
    pub(super) role: &'static str,
    pub(super) text: String,
}

/// The messages that stand there now, and how many are left out for want of room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Stood {
    /// Messages before them that stayed as they were.
    pub(super) unchanged_before: usize,
    pub(super) messages: Vec<Standing>,
    /// Messages behind them that stayed as they were.
    pub(super) unchanged_after: usize,
    pub(super) left_out: usize,
}

/// The form under a name.
fn form_named(name: &str) -> Option<WireForm> {
    let forms = [WireForm::Chat, WireForm::Responses, WireForm::Anthropic];
    forms.into_iter().find(|form| form.name() == name)
}

/// The messages of a request body, each as it is written.
fn elements(form: WireForm, body: &[u8]) -> Option<Vec<&str>> {
    let glance = Glance::of(form, body)?;
    let text = |range: &std::ops::Range<usize>| std::str::from_utf8(body.get(range.clone())?).ok();
    glance.elements.iter().map(text).collect()
}

/// What stands there now; `None` where the documents cannot be read as what they should be. Texts are cleaned whole before
/// anything is cut.
pub(super) fn standing(form: &str, original: &[u8], result: &[u8], clean: &dyn Fn(&str) -> String) -> Option<Stood> {
    let form = form_named(form)?;
    let (before, after) = (elements(form, original)?, elements(form, result)?);
    let ahead = before
        .iter()
        .zip(&after)
        .take_while(|(one, other)| one == other)
        .count();
    let rest = before[ahead..].iter().rev().zip(after[ahead..].iter().rev());
    let behind = rest.take_while(|(one, other)| one == other).count();
    let changed = &after[ahead..after.len() - behind];
    let mut room = MOST_BYTES;
    let mut messages = Vec::new();
    for text in changed {
        let Some(left) = room.checked_sub(text.len()) else {
            break;
        };
        room = left;
        messages.push(match element::read(form, text) {
            Some(message) => Standing {
                role: message.role.name(),
                text: clean(&said(&message)),
            },
            None => Standing {
                role: "unknown",
                text: clean(text),
            },
        });
    }
    Some(Stood {
        unchanged_before: ahead,
        left_out: changed.len() - messages.len(),
        messages,
        unchanged_after: behind,
    })
}

/// What a message says, with its calls and results named.
fn said(message: &Message) -> String {
    let parts = message.parts.iter().map(|part| match part {
        Part::Text(text) => text.to_string(),
        Part::Call(call) => format!("[call] {} {}", call.name, call.input.as_str()),
        Part::Result(result) => {
            let name = result.name.as_deref().unwrap_or_default();
            let pieces = result.content.iter().map(|piece| match piece {
                Content::Text(text) => text.to_string(),
                Content::Media(media) => format!("[{}]", media.kind.name()),
                Content::Opaque(opaque) => format!("[{}]", opaque.kind),
            });
            let pieces: Vec<String> = pieces.collect();
            format!("[result] {name}\n{}", pieces.join("\n"))
        }
        Part::Thinking(thinking) => format!("[reasoning] {}", thinking.text),
        Part::Media(media) => format!("[{}]", media.kind.name()),
        Part::Opaque(opaque) => format!("[{}]", opaque.kind),
    });
    parts.collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stood(before: &str, after: &str) -> Option<Stood> {
        let body = |list: &str| format!(r#"{{"model":"m","messages":[{list}]}}"#).into_bytes();
        standing("openai-chat", &body(before), &body(after), &|text| {
            text.replace("secret", "…")
        })
    }

    #[test]
    fn only_what_differs_stands_there() {
        let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let before = ["a", "b", "c", "d", "e"].map(message).join(",");
        let after = ["a", "the secret block", "e"].map(message).join(",");
        let stood = stood(&before, &after).unwrap();
        assert_eq!(
            (stood.unchanged_before, stood.unchanged_after, stood.left_out),
            (1, 1, 0)
        );
        assert_eq!(stood.messages.len(), 1);
        assert_eq!(
            (stood.messages[0].role, stood.messages[0].text.as_str()),
            ("user", "the … block")
        );
    }

    #[test]
    fn what_does_not_fit_a_page_is_counted() {
        let message = |text: String| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let after = [message("x".repeat(MOST_BYTES / 2)), message("y".repeat(MOST_BYTES))].join(",");
        let stood = stood(&message("a".to_owned()), &after).unwrap();
        assert_eq!((stood.messages.len(), stood.left_out), (1, 1));
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        assert_eq!(standing("openai-chat", b"{", b"{", &str::to_owned), None);
        assert_eq!(standing("of another kind", b"{}", b"{}", &str::to_owned), None);
        // The same in and out: nothing stands for anything.
        assert_eq!(stood("", "").map(|stood| stood.messages.len()), Some(0));
    }
}
