//! A list of messages inside a text: a request body, or a bare list.

use std::ops::Range;
use std::sync::Arc;

use mainstay_engine::transcript::Finding;

use crate::error::ReadError;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;

/// A JSON document that is an object with a list in it, or the list itself.
pub struct Body<'a> {
    /// The object around the list; empty for a bare list.
    pub around: Object<'a>,
    /// The list's elements.
    pub elements: Vec<Raw<'a>>,
    /// The range of the text between the list's brackets.
    pub list: Range<usize>,
    text: &'a str,
}

impl<'a> Body<'a> {
    /// Finds the list under the given key. An object without the key, or with something else there, is no
    /// body.
    pub fn find(name: &str, text: &'a str, key: &str) -> Result<Self, ReadError> {
        let start = if text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len_utf8()
        } else {
            0
        };
        let whole =
            json::value(&text[start..]).map_err(|cause| ReadError::refused(name, format!("not JSON: {cause}")))?;
        let (around, list) = match Object::of(whole) {
            Some(object) => {
                let list = object.get(key);
                (object, list)
            }
            None => (Object::default(), Some(whole)),
        };
        let refused = || ReadError::refused(name, format!("there is no list of messages under {key:?} in it"));
        let list = list.ok_or_else(refused)?;
        let elements = json::array(list).ok_or_else(refused)?;
        let range = range_in(text, list);
        Ok(Self {
            around,
            elements,
            list: range.start + 1..range.end - 1,
            text,
        })
    }

    /// Where an element stands in the text.
    pub fn range(&self, raw: Raw<'a>) -> Range<usize> {
        range_in(self.text, raw)
    }
}

/// Where a raw value that was parsed from this text stands in it.
pub(crate) fn range_in(text: &str, raw: Raw<'_>) -> Range<usize> {
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + raw.get().len()
}

/// The text of a source that is one JSON document.
pub fn document_text(source: &Source) -> Result<(Arc<String>, Vec<Finding>), ReadError> {
    let text = source.text()?;
    Ok((text.text, text.findings))
}
