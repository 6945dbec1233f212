//! What anyone would try first. A compactor that does not beat these has not earned its complexity.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

use crate::retention::characters::is_space;
use crate::retention::identifiers::Class;
use crate::retention::mersenne::Random;
use crate::retention::notes::Id;
use crate::retention::notes::Notes;
use crate::retention::trajectory::Line;
use crate::retention::trajectory::Speaker;

/// A simple way to come down to a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Baseline {
    /// The newest messages.
    KeepLast,
    /// A fifth of the budget from the start, the rest from the end.
    HeadTail,
    /// Old tool outputs become a placeholder.
    MaskTools,
    /// Every tool output is capped.
    TruncateTools,
    /// Lines at random.
    RandomLines,
    /// A bare list of identifiers for a quarter of the budget, the newest messages for the rest.
    LedgerTail,
}

/// What stands in for a masked output.
const PLACEHOLDER: &str = "[old tool output cleared]";
/// A message is cut where more than this many tokens are left for it, and then leaves [`SPARE`] of them.
const WORTH_CUTTING: usize = 24;
const SPARE: usize = 8;
/// The seed of the random lines.
const SEED: u32 = 7;
/// The share that `head_tail` gives to the start, and `ledger_tail` to its list.
const HEAD: f64 = 0.2;
const LIST: f64 = 0.25;

impl Baseline {
    /// All of them, in the order in which reports list them.
    pub const ALL: [Baseline; 6] = [
        Baseline::KeepLast,
        Baseline::HeadTail,
        Baseline::MaskTools,
        Baseline::TruncateTools,
        Baseline::RandomLines,
        Baseline::LedgerTail,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Baseline::KeepLast => "keep_last",
            Baseline::HeadTail => "head_tail",
            Baseline::MaskTools => "mask_tools",
            Baseline::TruncateTools => "trunc_tools",
            Baseline::RandomLines => "random_lines",
            Baseline::LedgerTail => "ledger_tail",
        }
    }

    /// The baseline of a name.
    pub fn named(name: &str) -> Option<Baseline> {
        Baseline::ALL.into_iter().find(|baseline| baseline.name() == name)
    }

    /// The messages brought down to a budget of tokens.
    pub(super) fn compact(self, notes: &mut Notes, lines: &[Line], budget: usize) -> Vec<Arc<str>> {
        match self {
            Baseline::KeepLast => keep_last(notes, lines, budget),
            Baseline::HeadTail => head_tail(notes, lines, budget),
            Baseline::MaskTools => mask_tools(notes, lines, budget),
            Baseline::TruncateTools => truncate_tools(notes, lines, budget),
            Baseline::RandomLines => random_lines(lines, budget),
            Baseline::LedgerTail => ledger_tail(notes, lines, budget),
        }
    }
}

/// The newest messages that fit, the one that does not fit cut.
pub(super) fn keep_last(notes: &mut Notes, lines: &[Line], budget: usize) -> Vec<Arc<str>> {
    let mut kept = Vec::new();
    let mut left = budget;
    for line in lines.iter().rev() {
        let cost = notes.count(&line.text);
        if cost > left {
            if left > WORTH_CUTTING {
                kept.push(notes.last(&line.text, left - SPARE));
            }
            break;
        }
        kept.push(Arc::clone(&line.text));
        left -= cost;
    }
    kept.reverse();
    kept
}

fn head_tail(notes: &mut Notes, lines: &[Line], budget: usize) -> Vec<Arc<str>> {
    let mut kept = Vec::new();
    let mut left = (budget as f64 * HEAD) as usize;
    // The message at which the head ended; it may stand in the tail as well.
    let mut reached = 0;
    for (index, line) in lines.iter().enumerate() {
        reached = index;
        let cost = notes.count(&line.text);
        if cost > left {
            if left > WORTH_CUTTING {
                kept.push(notes.first(&line.text, left - SPARE));
            }
            break;
        }
        kept.push(Arc::clone(&line.text));
        left -= cost;
    }
    let used: usize = kept.iter().map(|text| notes.count(text)).sum();
    let rest = if kept.is_empty() { lines } else { &lines[reached..] };
    kept.extend(keep_last(notes, rest, budget.saturating_sub(used)));
    kept
}

/// Everything but tool outputs, and the newest of those that fit. Where that is still too much: the first message of
/// the user and the newest messages.
fn mask_tools(notes: &mut Notes, lines: &[Line], budget: usize) -> Vec<Arc<str>> {
    let placeholder: Arc<str> = PLACEHOLDER.into();
    let least = notes.count(&placeholder);
    let is_masked = |notes: &mut Notes, line: &Line| line.speaker == Speaker::Tool && notes.count(&line.text) > least;
    let mut texts: Vec<Arc<str>> = Vec::with_capacity(lines.len());
    for line in lines {
        let masked = is_masked(notes, line);
        texts.push(Arc::clone(if masked { &placeholder } else { &line.text }));
    }
    let costs: Vec<usize> = texts.iter().map(|text| notes.count(text)).collect();
    let mut total: usize = costs.iter().sum();
    if total > budget {
        return newest_and_first(notes, lines, texts, &costs, budget);
    }
    for (index, line) in lines.iter().enumerate().rev() {
        if line.speaker == Speaker::Tool && texts[index] == placeholder {
            let more = notes.count(&line.text) - least;
            if total + more > budget {
                break;
            }
            total += more;
            texts[index] = Arc::clone(&line.text);
        }
    }
    texts
}

/// The first message of the user, in at most a quarter of the budget, and the newest ones.
fn newest_and_first(
    notes: &mut Notes,
    lines: &[Line],
    mut texts: Vec<Arc<str>>,
    costs: &[usize],
    budget: usize,
) -> Vec<Arc<str>> {
    let first = lines.iter().position(|line| line.speaker == Speaker::User).unwrap_or(0);
    let reserved = costs.get(first).map_or(0, |cost| (*cost).min(budget / 4));
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    let mut left = budget - reserved;
    for index in (0..lines.len()).rev().filter(|index| *index != first) {
        if costs[index] > left {
            if left > WORTH_CUTTING {
                texts[index] = notes.last(&texts[index], left - SPARE);
                kept.insert(index);
            }
            break;
        }
        kept.insert(index);
        left -= costs[index];
    }
    if let Some(text) = texts.get_mut(first) {
        *text = notes.first(text, reserved.saturating_sub(4));
        kept.insert(first);
    }
    kept.into_iter().map(|index| Arc::clone(&texts[index])).collect()
}

/// The largest cap on tool outputs that fits, found by halving; [`mask_tools`] where none of use does.
fn truncate_tools(notes: &mut Notes, lines: &[Line], budget: usize) -> Vec<Arc<str>> {
    /// The largest cap that is tried, how often, what a capped output costs beside it, and the least cap of use.
    const LARGEST: i64 = 4096;
    const TRIES: usize = 9;
    const AROUND: i64 = 16;
    const LEAST: i64 = 16;
    let costs: Vec<i64> = lines.iter().map(|line| notes.count(&line.text) as i64).collect();
    if costs.iter().sum::<i64>() <= budget as i64 {
        return lines.iter().map(|line| Arc::clone(&line.text)).collect();
    }
    let (mut low, mut high) = (0, LARGEST);
    let mut best = None;
    for _ in 0..TRIES {
        let cap = (low + high) / 2;
        let capped = |(line, cost): (&Line, &i64)| match line.speaker {
            Speaker::Tool => (*cost).min(cap + AROUND),
            Speaker::User | Speaker::Assistant | Speaker::System => *cost,
        };
        if lines.iter().zip(&costs).map(capped).sum::<i64>() <= budget as i64 {
            best = Some(cap);
            low = cap + 1;
        } else {
            high = cap - 1;
        }
        if low > high {
            break;
        }
    }
    let Some(cap) = best.filter(|cap| *cap >= LEAST) else {
        return mask_tools(notes, lines, budget);
    };
    let shorten = |line: &Line| match line.speaker {
        Speaker::Tool => notes.ends(&line.text, cap as usize),
        Speaker::User | Speaker::Assistant | Speaker::System => Arc::clone(&line.text),
    };
    lines.iter().map(shorten).collect()
}

/// Lines drawn at random until the budget is spent, in their order. A line costs about a third of its characters.
fn random_lines(lines: &[Line], budget: usize) -> Vec<Arc<str>> {
    let mut drawn: Vec<&str> = Vec::new();
    for line in lines {
        drawn.extend(line.text.split('\n').filter(|line| !line.chars().all(is_space)));
    }
    let mut order: Vec<usize> = (0..drawn.len()).collect();
    Random::new(SEED).shuffle(&mut order);
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    let mut left = budget;
    for place in order {
        let cost = drawn[place].chars().count() / 3 + 1;
        if cost > left {
            continue;
        }
        left -= cost;
        kept.insert(place);
        if left < 4 {
            break;
        }
    }
    kept.into_iter().map(|place| drawn[place].into()).collect()
}

/// A list of the identifiers that matter most by a simple weight, and the newest messages.
fn ledger_tail(notes: &mut Notes, lines: &[Line], budget: usize) -> Vec<Arc<str>> {
    let tail = keep_last(notes, lines, (budget as f64 * (1.0 - LIST)) as usize);
    let mut shown: HashSet<Id> = HashSet::new();
    for text in &tail {
        shown.extend(notes.find(text).iter().map(|(id, _)| *id));
    }
    let mut places: HashMap<Id, usize> = HashMap::new();
    let mut weighed: Vec<(Id, f64)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let trust = if line.speaker == Speaker::Tool { 0.35 } else { 1.0 };
        let weight = trust * (0.3 + 0.7 * (index + 1) as f64 / lines.len() as f64);
        for (id, class) in notes.find(&line.text).iter() {
            let place = *places.entry(*id).or_insert_with(|| {
                weighed.push((*id, 0.0));
                weighed.len() - 1
            });
            weighed[place].1 += weight * class_weight(*class);
        }
    }
    weighed.retain(|(id, _)| !shown.contains(id));
    weighed.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut left = (budget as f64 * LIST) as usize;
    let mut list = Vec::new();
    for (id, _) in weighed {
        let name = notes.name(id);
        let cost = name.chars().count() / 3 + 2;
        if cost > left {
            if left < 6 {
                break;
            }
            continue;
        }
        list.push(&**name);
        left -= cost;
    }
    let mut texts: Vec<Arc<str>> = vec![list.join(" ").into()];
    texts.extend(tail);
    texts
}

fn class_weight(class: Class) -> f64 {
    match class {
        Class::Path => 1.5,
        Class::Url | Class::Id | Class::Symbol => 1.0,
        Class::Number => 0.4,
    }
}
