//! One text by its reference, page by page.

use mainstay_engine::decide::marker::thousands;
use mainstay_session::QUOTATION_NOTICE;
use mainstay_store::reference_in;
use serde::Serialize;

use crate::recall::RecallAnswer;
use crate::recall::RecallError;
use crate::recall::arguments;
use crate::recall::page;
use crate::recall::page::MOST_TOKENS;
use crate::recall::page::Page;
use crate::recall::recall_store::RecallStore;
use crate::recall::search::Place;

/// Stands between a reference and an offset, where both are given as one word.
pub(super) const AT: char = '@';

/// The answer for a program.
#[derive(Debug, Serialize)]
struct Fetched {
    notice: &'static str,
    reference: String,
    text: String,
    offset: usize,
    next_offset: Option<usize>,
    size: usize,
    #[serde(flatten)]
    place: Place,
}

pub(super) fn fetch(desk: &RecallStore, asked: &arguments::Fetch) -> Result<RecallAnswer, RecallError> {
    let (wanted, offset) = place_in(&asked.reference);
    let offset = asked.offset.or(offset).unwrap_or(0);
    let reference = reference_in(wanted).unwrap_or_else(|| wanted.trim().to_owned());
    let fetched = desk.fetch(&reference)?.ok_or_else(|| RecallError::NoReference {
        reference,
        place: if desk.is_wide() { "" } else { " in this conversation" },
    })?;
    let whole = desk.clean(&String::from_utf8_lossy(&fetched.original));
    let start = usize::try_from(offset).ok().filter(|start| *start <= whole.len());
    let Some(start) = start else {
        return Err(RecallError::BehindTheEnd {
            reference: fetched.reference,
            size: whole.len(),
            offset,
        });
    };
    let page = page::page(&whole, start, MOST_TOKENS);
    let place = Place::new(&fetched.mention);
    Ok(RecallAnswer {
        text: told(desk, &fetched.reference, &place, &page, whole.len()),
        structured: serde_json::json!(Fetched {
            notice: QUOTATION_NOTICE,
            reference: fetched.reference,
            offset: page.start,
            next_offset: (page.end < whole.len()).then_some(page.end),
            size: whole.len(),
            text: page.quoted,
            place,
        }),
    })
}

/// Whether words are a reference, with or without a place in its text.
pub(super) fn is_reference(words: &str) -> bool {
    reference_in(place_in(words).0).is_some()
}

/// A reference and the place in its text, where both are given as one word.
fn place_in(text: &str) -> (&str, Option<u64>) {
    let Some((reference, offset)) = text.rsplit_once(AT) else {
        return (text, None);
    };
    let digits = offset.trim().trim_end_matches(|letter: char| !letter.is_ascii_digit());
    match digits.parse() {
        Ok(offset) => (reference, Some(offset)),
        Err(_) => (text, None),
    }
}

fn told(desk: &RecallStore, reference: &str, place: &Place, page: &Page, size: usize) -> String {
    let is_whole = page.start == 0 && page.end == size;
    let part = match is_whole {
        true => String::new(),
        false => format!(
            "; bytes {} to {} of {}",
            thousands(page.start as u64),
            thousands(page.end as u64),
            thousands(size as u64)
        ),
    };
    let head = format!("{reference}: {}{part}", place.line(desk.is_wide()));
    let more = match page.end < size {
        true => format!(
            "\nThis is not all of it. The next page: reference {reference}{AT}{} (or offset {0}).",
            page.end
        ),
        false => String::new(),
    };
    format!("{head}\n{}{more}", desk.framed(&page.quoted))
}
