//! The JSON records of a source, however they are packed: one a line, the elements of an array, or one
//! object.

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;

use crate::error::ReadError;
use crate::json;
use crate::json::Raw;
use crate::sniff::Sample;
use crate::sniff::Shape;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;

/// Shows every record to a visitor, in order; returns what was wrong with the source, and what the
/// visitor noted. Line files are read one line at a time.
pub(crate) fn each(
    source: &Source,
    mut visit: impl FnMut(Raw<'_>, Place, &mut Vec<Finding>),
) -> Result<Vec<Finding>, ReadError> {
    let is_document = matches!(Sample::take(source)?.sniff().shape, Shape::Object(_) | Shape::Array(_));
    if !is_document {
        return each_line(source, visit);
    }
    let text = source.text()?;
    let mut findings = text.findings;
    let whole = json::value(text.text.trim_start_matches(BYTE_ORDER_MARK))
        .map_err(|cause| ReadError::refused(source.name(), format!("not JSON: {cause}")))?;
    match json::array(whole) {
        Some(elements) => {
            for (index, raw) in (0..).zip(elements) {
                visit(raw, Place::Item(index), &mut findings);
            }
        }
        None => visit(whole, Place::Item(0), &mut findings),
    }
    Ok(findings)
}

fn each_line(
    source: &Source,
    mut visit: impl FnMut(Raw<'_>, Place, &mut Vec<Finding>),
) -> Result<Vec<Finding>, ReadError> {
    let mut lines = source.lines()?;
    while lines.advance()? {
        let place = lines.place();
        let mut findings = Vec::new();
        for raw in lines.records() {
            visit(raw, place, &mut findings);
        }
        lines.findings.append(&mut findings);
    }
    Ok(lines.findings)
}
