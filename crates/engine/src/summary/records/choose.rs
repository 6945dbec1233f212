//! Which records are written when not all fit, and in which chunks.

use std::collections::BTreeMap;
use std::collections::HashMap;

use super::Records;
use super::Room;
use super::cut;
use super::guard::guarded;
use super::render::Item;

/// The part of the room that the newest and the oldest record may each take, as a divisor: both are in, and others too.
const END_SHARE: u64 = 4;
/// After so many records in a row that did not fit, only short ones are tried: what is left of the room is small.
const MOST_MISSES: usize = 64;
/// The text is written with other budgets at most this often.
const MOST_ATTEMPTS: u32 = 8;
/// The search ends when what is between a budget that holds and one that does not is the room divided by this: two hundredths.
const CLOSE_ENOUGH: u64 = 50;
/// A record that is still too long is cut to this many hundredths of what it was cut to before.
const CUT_STEP: u64 = 85;

/// Writes what fits.
pub(super) fn write(items: &[Item<'_>], room: Room, count: &dyn Fn(&str) -> u64) -> Records {
    let each = room.each.min(room.total);
    let mut drafts = Drafts {
        items,
        each,
        count,
        known: HashMap::new(),
    };
    // What the lines for gaps cost is known only when they are written: the largest budget that holds is searched for.
    let (mut fits, mut fails, mut total, mut most) = (0, room.total, room.total, each);
    let mut best = None;
    for attempt in 0..MOST_ATTEMPTS {
        let texts = choose(&mut drafts, total);
        let (chunks, used) = chunked(items, &texts, most, count);
        if used.all <= room.total && used.largest <= room.each {
            fits = total;
            best = Some(Records {
                chunks,
                shown: texts.len(),
                skipped: items.len() - texts.len(),
                collapsed: 0,
            });
        } else {
            fails = total;
        }
        if total == room.total && best.is_some() || best.is_some() && (fails - fits) * CLOSE_ENOUGH <= room.total {
            break;
        }
        if used.largest > room.each {
            most = most * CUT_STEP / 100;
        }
        let over = used.all.saturating_sub(room.total);
        total = match (best.is_some(), attempt < MOST_ATTEMPTS / 2) {
            (true, _) => fits.midpoint(fails),
            // One hundredth less at least, then two, four, eight.
            (false, true) => total.saturating_sub(over.max((room.total / 100) << attempt) + 1),
            (false, false) => total / 2,
        };
    }
    best.unwrap_or_else(|| Records {
        skipped: items.len(),
        ..Records::default()
    })
}

/// Records as they would be written, each made once.
struct Drafts<'a> {
    items: &'a [Item<'a>],
    each: u64,
    count: &'a dyn Fn(&str) -> u64,
    known: HashMap<usize, (String, u64)>,
}

impl Drafts<'_> {
    fn draft(&mut self, place: usize) -> (String, u64) {
        let make = || fitted(self.items[place].text(), self.each, self.count);
        self.known.entry(place).or_insert_with(make).clone()
    }
}

/// The chosen records with their texts, by their place.
fn choose(drafts: &mut Drafts<'_>, total: u64) -> BTreeMap<usize, String> {
    let items = drafts.items;
    let mut budget = Budget {
        texts: BTreeMap::new(),
        items: items.len(),
        used: 0,
        gaps: usize::from(!items.is_empty()),
        gap: gap_cost(items, drafts.count),
        total,
    };
    let Some(newest) = items.len().checked_sub(1) else {
        return budget.texts;
    };
    for end in [newest, 0] {
        let (text, _) = drafts.draft(end);
        let (text, cost) = fitted(text, total / END_SHARE, drafts.count);
        if !text.is_empty() && !budget.texts.contains_key(&end) {
            budget.admit(end, text, cost);
        }
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|place| (items[*place].class, std::cmp::Reverse(*place)));
    order.retain(|place| !budget.texts.contains_key(place));
    let mut denied = Vec::new();
    let mut misses = 0;
    for place in order {
        if misses >= MOST_MISSES && !items[place].is_short() {
            continue;
        }
        let (text, cost) = drafts.draft(place);
        match budget.admit(place, text, cost) {
            None => misses = 0,
            Some(_) => {
                misses += 1;
                denied.push(place);
            }
        }
    }
    // Gaps that have closed since have made room.
    for place in denied {
        let (text, cost) = drafts.draft(place);
        let _ = budget.admit(place, text, cost);
    }
    budget.texts
}

/// What was admitted, and what that costs with a line for every gap.
struct Budget {
    texts: BTreeMap<usize, String>,
    items: usize,
    used: u64,
    gaps: usize,
    gap: u64,
    total: u64,
}

impl Budget {
    /// Admits a record if it fits beside the lines for what is left out around it; gives its text back if not.
    fn admit(&mut self, place: usize, text: String, cost: u64) -> Option<String> {
        let is_closed = |neighbour: Option<usize>| match neighbour {
            Some(neighbour) if neighbour < self.items => self.texts.contains_key(&neighbour),
            Some(_) | None => true,
        };
        let closed = usize::from(is_closed(place.checked_sub(1))) + usize::from(is_closed(Some(place + 1)));
        // A record in the middle of a gap makes two of it; one that fills a gap ends it.
        let gaps = self.gaps + 1 - closed;
        let used = self.used + cost;
        if text.is_empty() || used + self.gap * gaps as u64 > self.total {
            return Some(text);
        }
        (self.used, self.gaps) = (used, gaps);
        self.texts.insert(place, text);
        None
    }
}

/// What a line for a gap costs mostly: one result is left out. Where longer lines are needed, less is written the next time.
fn gap_cost(items: &[Item<'_>], count: &dyn Fn(&str) -> u64) -> u64 {
    items.last().map_or(0, |last| {
        count(&format!("[m{}: left out: 1 tool result]\n", last.last()))
    })
}

/// A text that costs at most so much, cut inside where it has to be, and what it costs with its line break. Empty when
/// not even its header fits.
fn fitted(text: String, most: u64, count: &dyn Fn(&str) -> u64) -> (String, u64) {
    let cost = |text: &str| count(text) + 1;
    let tokens = cost(&text);
    if tokens <= most {
        return (text, tokens);
    }
    let header = text.find(']').map_or(text.len(), |end| end + 1);
    let (header, body) = text.split_at(header);
    let mut letters = (cut::length(body) as u64).saturating_mul(most) / tokens.max(1);
    let is_inline = body.starts_with(' ');
    while letters > 0 {
        // JSON that is cut anywhere is none any more. What is cut elsewhere may begin a line anew, like a header.
        let body = match is_inline {
            true => String::new(),
            false => guarded(&cut::ends(body.trim(), letters as usize)).into_owned(),
        };
        let short = match body.is_empty() {
            true => format!("{header} (too long to be shown)"),
            false => format!("{header}\n{body}"),
        };
        let tokens = cost(&short);
        if tokens <= most {
            return (short, tokens);
        }
        if is_inline {
            break;
        }
        letters = letters * CUT_STEP / 100;
    }
    let tokens = cost(header);
    match tokens <= most {
        true => (header.to_owned(), tokens),
        false => (String::new(), 0),
    }
}

/// What chunks cost.
#[derive(Default)]
struct Cost {
    all: u64,
    largest: u64,
}

/// The chosen records and the lines for the gaps, cut into chunks, and what they cost.
fn chunked(
    items: &[Item<'_>],
    texts: &BTreeMap<usize, String>,
    most: u64,
    count: &dyn Fn(&str) -> u64,
) -> (Vec<String>, Cost) {
    let mut chunks: Vec<String> = Vec::new();
    let (mut used, mut open, mut open_cost) = (Cost::default(), String::new(), 0);
    let mut close = |open: &mut String| {
        if !open.is_empty() {
            let cost = count(open);
            used.all += cost;
            used.largest = used.largest.max(cost);
            chunks.push(std::mem::take(open));
        }
    };
    for block in blocks(items, texts) {
        let (block, cost) = fitted(block, most, count);
        if block.is_empty() {
            continue;
        }
        let alone = open.len();
        if alone > 0 {
            open.push('\n');
        }
        open.push_str(&block);
        open_cost += cost;
        // Blocks cost a little less together than apart.
        if open_cost > most {
            open_cost = count(&open);
        }
        if open_cost > most && alone > 0 {
            open.truncate(alone);
            close(&mut open);
            open.push_str(&block);
            open_cost = cost;
        }
    }
    close(&mut open);
    (chunks, used)
}

/// Records and lines for gaps, in order.
fn blocks(items: &[Item<'_>], texts: &BTreeMap<usize, String>) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut from = 0;
    for (place, text) in texts {
        if *place > from {
            blocks.push(elision(&items[from..*place]));
        }
        blocks.push(text.clone());
        from = place + 1;
    }
    if from < items.len() {
        blocks.push(elision(&items[from..]));
    }
    blocks
}

/// `[m20–m41: 22 records left out: 15 tool results, 7 calls]`.
fn elision(items: &[Item<'_>]) -> String {
    let first = items.iter().map(Item::first).min().unwrap_or_default();
    let last = items.iter().map(Item::last).max().unwrap_or_default();
    let mut kinds: Vec<((&str, &str), usize)> = Vec::new();
    for noun in items.iter().map(Item::noun) {
        match kinds.iter_mut().find(|(known, _)| *known == noun) {
            Some((_, times)) => *times += 1,
            None => kinds.push((noun, 1)),
        }
    }
    kinds.sort_by_key(|(noun, times)| (std::cmp::Reverse(*times), *noun));
    let kinds: Vec<String> = kinds
        .iter()
        .map(|((one, many), times)| format!("{times} {}", if *times == 1 { one } else { many }))
        .collect();
    let numbers = match first == last {
        true => format!("m{first}"),
        false => format!("m{first}–m{last}"),
    };
    match items.len() {
        1 => format!("[{numbers}: left out: {}]", kinds.join(", ")),
        many => format!("[{numbers}: {many} records left out: {}]", kinds.join(", ")),
    }
}
