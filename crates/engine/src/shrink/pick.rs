//! Choosing lines under a goal, and saying what was left out.
//!
//! Every kind that works line by line hands over its lines with a rank; the choice, the collapsing of repeats, the
//! cutting of long lines and the markers are here, once. Lines of rank [`MUST`] stay whatever the goal.

use std::collections::HashMap;
use std::fmt::Write;

use super::elide::elide;
use super::marker::CLOSE;
use super::marker::OPEN;
use super::marker::is_marker;
use super::shape::shape;
use super::shape::spread;
use super::signals;

/// The rank of lines that stay even past the goal.
pub(super) const MUST: u8 = 0;
/// The rank of lines that are only kept where a marker would be longer.
pub(super) const NOISE: u8 = u8::MAX;

/// The label of repeats.
const SIMILAR: &str = "similar";

/// Repeats of one shape kept before the rest of them collapses. Compilers report the same complaint at a handful of
/// places in one run, and each place matters; past that the list is a flood.
const MOST_SIMILAR: usize = 8;

/// The same for failing tests: their numbers are their names.
const MOST_SIMILAR_TESTS: usize = 64;

/// Repeats that are the same to the letter: once is enough, but the ends show how far they reach.
const MOST_SAME: usize = 3;

/// A line, its rank, and what to call it when it is dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    /// The line without its end.
    pub text: &'t str,
    /// How early it is taken: lower is earlier.
    pub rank: u8,
    /// What the marker calls it; empty when there is nothing to say.
    pub label: &'static str,
}

impl<'t> Line<'t> {
    /// A line of a rank.
    pub fn new(text: &'t str, rank: u8, label: &'static str) -> Line<'t> {
        Line { text, rank, label }
    }
}

/// Raises lines around those that must stay: `after` lines behind each to rank 1, then as many again to rank 2, and
/// `before` lines ahead to rank 2. Noise stays noise.
pub(super) fn surround(lines: &mut [Line<'_>], before: usize, after: usize) {
    let must: Vec<bool> = lines.iter().map(|line| line.rank == MUST).collect();
    let mut since = usize::MAX;
    for (line, must) in lines.iter_mut().zip(&must) {
        since = if *must { 0 } else { since.saturating_add(1) };
        if line.rank != NOISE && line.rank != MUST && since <= 2 * after {
            line.rank = line.rank.min(if since <= after { 1 } else { 2 });
        }
    }
    let mut until = usize::MAX;
    for (line, must) in lines.iter_mut().zip(&must).rev() {
        until = if *must { 0 } else { until.saturating_add(1) };
        if line.rank != NOISE && line.rank != MUST && until <= before {
            line.rank = line.rank.min(2);
        }
    }
}

/// The chosen lines as text, with markers where lines were left out.
pub(super) fn pick(mut lines: Vec<Line<'_>>, most_bytes: usize) -> String {
    fix_ends(&mut lines);
    for index in 1..lines.len() {
        if lines[index].text.trim().is_empty() && lines[index - 1].text.trim().is_empty() {
            lines[index].rank = NOISE;
        }
    }
    collapse(&mut lines);
    // Markers are only known once lines are chosen, so the budget is found by halving: what comes out of it must fit.
    let must: Vec<bool> = lines.iter().map(|line| line.rank == MUST).collect();
    let mut best = emit(&lines, &must, most_bytes);
    let (mut low, mut high) = (0, most_bytes + 1);
    for _ in 0..HALVINGS {
        let budget = low + (high - low) / 2;
        let text = emit(&lines, &choose(&lines, budget), most_bytes);
        if text.len() <= most_bytes {
            best = text;
            low = budget;
        } else {
            high = budget;
        }
    }
    best
}

/// Halvings of the budget: the last step is a hundredth of the goal, less than a line.
const HALVINGS: usize = 7;

/// The first and the last line that say something always stay, and so do markers of an earlier shrinking.
fn fix_ends(lines: &mut [Line<'_>]) {
    let says = |line: &Line<'_>| !line.text.trim().is_empty();
    if let Some(first) = lines.iter().position(says) {
        lines[first].rank = MUST;
    }
    if let Some(last) = lines.iter().rposition(says) {
        lines[last].rank = MUST;
    }
    for line in lines.iter_mut().filter(|line| is_marker(line.text)) {
        line.rank = MUST;
    }
}

/// Of many lines that must stay and differ only in numbers, the first and the last stay; so they do of lines that do not
/// differ at all.
fn collapse(lines: &mut [Line<'_>]) {
    let must: Vec<usize> = (0..lines.len())
        .filter(|index| lines[*index].rank == MUST && !is_marker(lines[*index].text))
        .collect();
    let shapes: Vec<u64> = must.iter().map(|index| shape(lines[*index].text)).collect();
    let by_shape = Repeats::of(shapes.iter().copied());
    let by_text = Repeats::of(must.iter().map(|index| lines[*index].text));
    for (place, index) in must.iter().enumerate() {
        let line = &mut lines[*index];
        let is_test = signals::is_failing(line.text);
        let most = if is_test { MOST_SIMILAR_TESTS } else { MOST_SIMILAR };
        if by_shape.drops(&shapes[place], place, most) || by_text.drops(&line.text, place, MOST_SAME) {
            line.rank = NOISE;
            line.label = SIMILAR;
        }
    }
}

/// How often keys occur, and where first and last.
struct Repeats<K> {
    seen: HashMap<K, (usize, usize, usize)>,
}

impl<K: std::hash::Hash + Eq> Repeats<K> {
    fn of(keys: impl Iterator<Item = K>) -> Repeats<K> {
        let mut seen = HashMap::new();
        for (place, key) in keys.enumerate() {
            let (count, _, last) = seen.entry(key).or_insert((0, place, place));
            *count += 1;
            *last = place;
        }
        Repeats { seen }
    }

    /// Whether the key at a place is neither the first nor the last of more than so many.
    fn drops(&self, key: &K, place: usize, most: usize) -> bool {
        let repeats = self.seen.get(key);
        repeats.is_some_and(|(count, first, last)| *count > most && *first != place && *last != place)
    }
}

/// Takes lines rank by rank while they fit. Within a rank that does not fit as a whole, two from its head for
/// one from its tail: beginnings say what a thing is, ends say how it went.
fn choose(lines: &[Line<'_>], budget: usize) -> Vec<bool> {
    let mut chosen = vec![false; lines.len()];
    let mut ranks: Vec<Vec<usize>> = vec![Vec::new(); usize::from(NOISE)];
    let most_line = line_limit(budget, lines.len());
    let cost = |line: &Line<'_>| line.text.len().min(most_line) + 1;
    let mut spent = 0;
    for (index, line) in lines.iter().enumerate() {
        if line.rank == MUST {
            chosen[index] = true;
            spent += line.text.len() + 1;
        } else if line.rank != NOISE {
            ranks[usize::from(line.rank)].push(index);
        }
    }
    for rank in ranks.iter().filter(|rank| !rank.is_empty()) {
        let (mut head, mut tail, mut turn) = (0, rank.len(), 0);
        while head < tail {
            turn += 1;
            let index = if turn % 3 == 0 { rank[tail - 1] } else { rank[head] };
            spent += cost(&lines[index]);
            if spent > budget {
                return chosen;
            }
            chosen[index] = true;
            if turn % 3 == 0 {
                tail -= 1;
            } else {
                head += 1;
            }
        }
    }
    chosen
}

/// Most bytes of one ordinary line: an eighth of the goal, so that no single line crowds out the rest, but a
/// sentence at least and a page at most. Where lines are few, their share of the goal.
fn line_limit(most_bytes: usize, lines: usize) -> usize {
    (most_bytes / 8).clamp(160, 1000).max(most_bytes / lines.max(1))
}

/// Most bytes of a line that must stay: messages end well before that, minified bundles do not.
const MUST_LIMIT: usize = 2000;

fn emit(lines: &[Line<'_>], chosen: &[bool], most_bytes: usize) -> String {
    let mut text = String::new();
    let mut index = 0;
    while index < lines.len() {
        if chosen[index] {
            let most = if lines[index].rank == MUST {
                MUST_LIMIT
            } else {
                line_limit(most_bytes, lines.len())
            };
            text.push_str(&elide(lines[index].text, most));
            text.push('\n');
            index += 1;
            continue;
        }
        let end = index + chosen[index..].iter().take_while(|chosen| !**chosen).count();
        let gap = &lines[index..end];
        let marker = marker(gap);
        let size: usize = gap.iter().map(|line| line.text.len() + 1).sum();
        // Where the lines themselves are hardly longer than a note on them, the lines say more.
        if size <= marker.len() + marker.len() / 4 {
            for line in gap {
                text.push_str(line.text);
                text.push('\n');
            }
        } else {
            text.push_str(&marker);
            text.push('\n');
        }
        index = end;
    }
    text.pop();
    text
}

/// The line that stands for a gap.
fn marker(gap: &[Line<'_>]) -> String {
    if gap.iter().all(|line| line.label == SIMILAR) {
        let texts: Vec<&str> = gap.iter().map(|line| line.text).collect();
        let one_shape = texts.windows(2).all(|pair| shape(pair[0]) == shape(pair[1]));
        let values = spread(&texts).filter(|_| one_shape).map(|values| format!(": {values}"));
        return format!("{OPEN} ×{} similar{}{CLOSE}", gap.len(), values.unwrap_or_default());
    }
    let mut labels: Vec<(&str, usize)> = Vec::new();
    for line in gap.iter().filter(|line| !line.label.is_empty()) {
        match labels.iter_mut().find(|(label, _)| *label == line.label) {
            Some((_, count)) => *count += 1,
            None => labels.push((line.label, 1)),
        }
    }
    let mut text = format!("{OPEN} {} dropped", counted(gap.len(), "line"));
    match labels.as_slice() {
        [] => {}
        [(label, count)] if *count == gap.len() => {
            let _ = write!(text, ": {label}");
        }
        labels => {
            let named: Vec<_> = labels.iter().map(|(label, count)| format!("{count} {label}")).collect();
            let _ = write!(text, ": {}", named.join(", "));
        }
    }
    text + CLOSE
}

/// A number with its noun.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(ranked: &[(&'static str, u8)]) -> Vec<Line<'static>> {
        ranked
            .iter()
            .map(|(text, rank)| Line::new(text, *rank, "chatter"))
            .collect()
    }

    #[test]
    fn ranks_are_taken_in_order_and_gaps_are_counted() {
        let mut ranked = vec![("first", 5)];
        ranked.extend([("some chatter that nobody will miss at all", 5); 20]);
        ranked.push(("error: here", MUST));
        ranked.extend([("some chatter that nobody will miss at all", 5); 20]);
        ranked.push(("last", 5));
        let text = pick(lines(&ranked), 120);
        let expected = "first\n⟦… 20 lines dropped: chatter⟧\nerror: here\n⟦… 20 lines dropped: chatter⟧\nlast";
        assert_eq!(text, expected);
    }

    #[test]
    fn floods_of_one_error_collapse_to_their_ends_and_values() {
        let flood: Vec<String> = (1..=500)
            .map(|n| format!("error: shard {n} is not reachable"))
            .collect();
        let lines = flood.iter().map(|text| Line::new(text, MUST, "")).collect();
        let text = pick(lines, 100);
        assert_eq!(
            text,
            "error: shard 1 is not reachable\n⟦… ×498 similar: 2-499⟧\nerror: shard 500 is not reachable"
        );
    }

    #[test]
    fn what_must_stay_stays_past_the_goal() {
        let names = ["alpha", "beta", "gamma", "delta"];
        let errors: Vec<String> = names.iter().map(|name| format!("error: {name} is broken")).collect();
        let lines = errors.iter().map(|text| Line::new(text, MUST, "")).collect();
        assert_eq!(pick(lines, 10), errors.join("\n"));
    }
}
