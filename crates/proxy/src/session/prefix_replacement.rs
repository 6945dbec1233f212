//! The bytes that stand for a compacted prefix: always the same from one pass to the next.

use bytes::Bytes;
use bytes::BytesMut;
use serde::Deserialize;
use serde::Serialize;

use crate::session::parsed_request::ParsedRequest;
use crate::session::parsed_request::PrefixKey;
use crate::session::parsed_request::hex;
use crate::session::result_trimming::TrimmedResults;

/// What a beginning of a conversation became.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixReplacement {
    /// How many messages it stands for, behind the instructions.
    pub covers: usize,
    /// The elements that stand there now, with the commas between them.
    pub text: String,
    /// Their tokens, as counted.
    pub tokens: u64,
    /// How many messages there were when it was made.
    pub made_at: usize,
    /// How it came about: the mode of a pass.
    pub mode: String,
    /// The checkpoint that holds what stood there before.
    #[serde(skip)]
    pub checkpoint: String,
}

/// The mode of a replacement in which nothing was left out.
const REPAIR: &str = "repair";

impl PrefixReplacement {
    /// What stands for a conversation whose calls and results did not belong together.
    pub fn repair(covers: usize, text: String, tokens: u64, checkpoint: String) -> Self {
        Self {
            covers,
            text,
            tokens,
            made_at: covers,
            mode: REPAIR.to_owned(),
            checkpoint,
        }
    }

    /// The name under which the store keeps the replacement of a prefix.
    pub fn name(key: &PrefixKey) -> String {
        format!("chain {}", hex(key))
    }

    /// As the store keeps it.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts and numbers are always valid JSON")
    }

    /// From what the store kept, under this checkpoint.
    pub fn from_bytes(bytes: &[u8], checkpoint: &str) -> Option<Self> {
        let mut replacement: Self = serde_json::from_slice(bytes).ok()?;
        checkpoint.clone_into(&mut replacement.checkpoint);
        Some(replacement)
    }
}

/// The body to send: a replacement in place of what it stands for, trimmed results, and everything else byte for byte.
pub fn compose(taken: &ParsedRequest, replacement: Option<&PrefixReplacement>, trims: &TrimmedResults) -> Bytes {
    let covered = replacement.map_or(0, |replacement| replacement.covers);
    let mut trimmed = trims.from(covered).peekable();
    if covered == 0 && trimmed.peek().is_none() {
        return taken.body.clone();
    }
    let elements = &taken.glance.elements[taken.lead..];
    let mut out = BytesMut::with_capacity(taken.body.len());
    let mut at = 0;
    if let (Some(replacement), Some(last)) = (replacement, covered.checked_sub(1)) {
        out.extend_from_slice(&taken.body[..elements[0].start]);
        out.extend_from_slice(replacement.text.as_bytes());
        at = elements[last].end;
    }
    for (index, text) in trimmed {
        let Some(range) = elements.get(index) else {
            break;
        };
        out.extend_from_slice(&taken.body[at..range.start]);
        out.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&taken.body[at..]);
    out.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_wire::reading::WireForm;

    fn taken(body: &'static str) -> ParsedRequest {
        ParsedRequest::new(WireForm::Chat, Bytes::from_static(body.as_bytes()), "", None).unwrap()
    }

    #[test]
    fn only_what_it_stands_for_is_replaced() {
        let taken = taken(r#"{"x":1.0, "messages":[ {"role":"system"} , 1 , 2 ,3], "y":[]}"#);
        let replacement = |covers| PrefixReplacement {
            covers,
            text: "\"E\"".into(),
            tokens: 1,
            made_at: 9,
            mode: String::new(),
            checkpoint: String::new(),
        };
        let composed = |covers| compose(&taken, Some(&replacement(covers)), &TrimmedResults::default());
        assert_eq!(
            composed(2),
            r#"{"x":1.0, "messages":[ {"role":"system"} , "E" ,3], "y":[]}"#
        );
        assert_eq!(
            composed(3),
            r#"{"x":1.0, "messages":[ {"role":"system"} , "E"], "y":[]}"#
        );
        assert_eq!(compose(&taken, None, &TrimmedResults::default()), taken.body);
        let mut trims = TrimmedResults::default();
        trims.put(0, "\"a\"".into());
        trims.put(2, "\"c\"".into());
        assert_eq!(
            compose(&taken, None, &trims),
            r#"{"x":1.0, "messages":[ {"role":"system"} , "a" , 2 ,"c"], "y":[]}"#
        );
        assert_eq!(
            compose(&taken, Some(&replacement(2)), &trims),
            r#"{"x":1.0, "messages":[ {"role":"system"} , "E" ,"c"], "y":[]}"#
        );
    }

    #[test]
    fn an_epoch_comes_back_from_the_store() {
        let replacement = PrefixReplacement {
            covers: 7,
            text: "{\"a\":\"ё\"}".into(),
            tokens: 9,
            made_at: 9,
            mode: "ledger".into(),
            checkpoint: "c1".into(),
        };
        assert_eq!(
            PrefixReplacement::from_bytes(&replacement.to_bytes(), "c1"),
            Some(replacement)
        );
        assert_eq!(PrefixReplacement::from_bytes(b"{}", "c1"), None);
    }
}
