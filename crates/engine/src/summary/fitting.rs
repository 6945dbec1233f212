//! A summary that is longer than its room: whole bullets and sentences of it, those first that an agent needs to go on.
//!
//! Nothing is written here. What stays stands in the words and in the order of the summary; `[…]` marks where a section was cut.

use std::collections::BTreeSet;

use crate::ledger::statements::sentences::split;
use crate::summary::sections::Heading;
use crate::summary::sections::Section;
use crate::summary::sections::Sections;
use crate::summary::sections::says_nothing;

/// Stands where something of a section was left out.
const GAP: &str = "[…]";
/// A selection is made at most this often: tokens of pieces do not add up to those of the whole.
const MOST_ATTEMPTS: usize = 6;

/// Whose turn a section is, and by how much each further sentence of it is put behind: the first sentences of all sections come before the
/// ends of the long ones. What an agent needs next comes first: the task, the point reached, the next steps, the rules. Lists of
/// files and values come last, because they are what the ledger and the disk have too.
fn turn(heading: Option<Heading>) -> (u32, u32) {
    match heading {
        Some(Heading::Goal) => (0, 4),
        Some(Heading::InProgress | Heading::Progress) => (1, 2),
        Some(Heading::NextSteps) => (2, 2),
        Some(Heading::Constraints) => (3, 2),
        Some(Heading::Blocked) => (4, 3),
        Some(Heading::Decisions) => (5, 3),
        Some(Heading::Done) => (6, 3),
        None => (6, 3),
        Some(Heading::Failed) => (8, 4),
        Some(Heading::Critical) => (9, 4),
        Some(Heading::Files) => (14, 5),
    }
}

/// As much of a summary as fits a budget.
pub fn fitted(text: &str, budget: u64, count: &dyn Fn(&str) -> u64) -> String {
    let text = text.trim();
    if count(text) <= budget {
        return text.to_owned();
    }
    let sections = Sections::parse(text);
    let sections: Vec<&Section<'_>> = sections.iter().collect();
    let pieces = pieces(&sections);
    let mut room = budget;
    for _ in 0..MOST_ATTEMPTS {
        let taken = choose(&sections, &pieces, room, count);
        if taken.is_empty() {
            break;
        }
        let written = write(&sections, &pieces, &taken);
        let tokens = count(&written);
        if tokens <= budget {
            return written;
        }
        room = room.saturating_sub(tokens - budget);
    }
    beginning(&pieces, budget, count)
}

/// Where no sentence fits: the first words of the one whose turn is first.
fn beginning(pieces: &[Piece], budget: u64, count: &dyn Fn(&str) -> u64) -> String {
    let prose = pieces.iter().filter(|piece| !piece.text.contains("```"));
    let Some(first) = prose.min_by_key(|piece| piece.turn) else {
        return String::new();
    };
    let text = first.text.trim();
    let ends: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    let cut = |end: &usize| format!("{} {GAP}", &text[..*end]);
    match ends.partition_point(|end| count(&cut(end)) <= budget) {
        0 => String::new(),
        fitting => cut(&ends[fitting - 1]),
    }
}

/// A sentence, or what cannot be taken apart.
struct Piece {
    section: usize,
    /// The bullet that it belongs to, with the lines below it, and the line.
    group: usize,
    line: usize,
    text: String,
    /// Its turn, the lowest first, and the turn of its section.
    turn: (u32, u32),
}

/// All pieces, in the order in which they stand.
fn pieces(sections: &[&Section<'_>]) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    let (mut group, mut line_number) = (0, 0);
    for (index, section) in sections.iter().enumerate() {
        let first = all.len();
        let (mut is_fenced, mut was_table) = (false, false);
        for line in &section.lines {
            let is_fence = line.trim_start().starts_with("```");
            // Code is of use as a whole or not at all.
            if is_fenced && let Some(code) = all.last_mut() {
                code.text.push('\n');
                code.text.push_str(line);
                is_fenced = !is_fence;
                continue;
            }
            is_fenced = is_fence;
            let is_table = line.starts_with('|');
            let is_below = is_fence || is_table && was_table || line.starts_with([' ', '\t']);
            was_table = is_table;
            if says_nothing(line) && !is_fence {
                continue;
            }
            group += usize::from(!is_below || all.len() == first);
            line_number += 1;
            let texts = if is_fence || is_table {
                vec![*line]
            } else {
                sentences(line)
            };
            all.extend(texts.into_iter().map(|text| Piece {
                section: index,
                group,
                line: line_number,
                text: text.to_owned(),
                turn: (0, 0),
            }));
        }
        give_turns(section.heading, &mut all[first..]);
    }
    all
}

/// Finished work is told oldest first, and the newest of it matters most; everything else begins with what matters most.
fn give_turns(heading: Option<Heading>, pieces: &mut [Piece]) {
    let (first, step) = turn(heading);
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    if heading == Some(Heading::Done) {
        order.sort_by_key(|index| (std::cmp::Reverse(pieces[*index].group), *index));
    }
    for (place, index) in (0..).zip(order) {
        pieces[index].turn = (first + step * place, first);
    }
}

/// The sentences of a line, its indentation and bullet with the first.
fn sentences(line: &str) -> Vec<&str> {
    let bare = line.trim_start().trim_start_matches(['-', '*', '+', '•']);
    let number = bare.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let bare = match number.strip_prefix(['.', ')']) {
        Some(rest) if number.len() < bare.len() => rest,
        Some(_) | None => bare,
    };
    let begin = line.len() - bare.len();
    let ends: Vec<usize> = split(bare).into_iter().map(|range| begin + range.end).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, end)| &line[start..*end]).collect()
}

/// Pieces by their turn while they fit. A sentence needs the one before it in its line, a line below a bullet needs the bullet.
fn choose(sections: &[&Section<'_>], pieces: &[Piece], room: u64, count: &dyn Fn(&str) -> u64) -> BTreeSet<usize> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|index| (pieces[*index].turn, *index));
    let mut taken = BTreeSet::new();
    let mut opened = BTreeSet::new();
    let mut used = 0;
    for index in order {
        let piece = &pieces[index];
        let is_known = |other: usize| taken.contains(&other);
        let before = index.checked_sub(1).filter(|before| pieces[*before].line == piece.line);
        let bullet = pieces[..index].partition_point(|other| other.group < piece.group);
        if before.is_some_and(|before| !is_known(before)) || bullet < index && !is_known(bullet) {
            continue;
        }
        let needed: Vec<usize> = headings_of(sections, piece.section)
            .filter(|section| !opened.contains(section))
            .collect();
        let titles = needed.iter().map(|section| title(sections[*section]));
        let titles: u64 = titles
            .filter(|title| !title.is_empty())
            .map(|title| count(&title) + 1)
            .sum();
        let cost = count(&piece.text) + u64::from(before.is_none()) + titles;
        if used + cost <= room {
            used += cost;
            opened.extend(needed);
            taken.insert(index);
        }
    }
    taken
}

/// A section, and the one that it stands below.
fn headings_of(sections: &[&Section<'_>], section: usize) -> impl Iterator<Item = usize> {
    let is_below = sections[section].heading.is_some_and(Heading::is_below_progress);
    let above = sections[..section]
        .iter()
        .rposition(|one| one.heading == Some(Heading::Progress));
    above.filter(|_| is_below).into_iter().chain([section])
}

fn title(section: &Section<'_>) -> String {
    section.heading.map_or_else(|| section.title.to_owned(), Heading::line)
}

fn write(sections: &[&Section<'_>], pieces: &[Piece], taken: &BTreeSet<usize>) -> String {
    let opened: BTreeSet<usize> = taken
        .iter()
        .flat_map(|index| headings_of(sections, pieces[*index].section))
        .collect();
    let mut out = String::new();
    for section in opened {
        let title = title(sections[section]);
        if !title.is_empty() {
            out.push_str(&title);
            out.push('\n');
        }
        let from = pieces.partition_point(|piece| piece.section < section);
        let until = pieces.partition_point(|piece| piece.section <= section);
        let (mut line, mut is_gap) = (None, false);
        for (index, piece) in pieces.iter().enumerate().take(until).skip(from) {
            if !taken.contains(&index) {
                is_gap = true;
                continue;
            }
            match line {
                None if is_gap => out.push_str(&format!("{GAP}\n")),
                Some(before) if before != piece.line => end_line(&mut out, is_gap),
                Some(_) | None => {}
            }
            out.push_str(&piece.text);
            (line, is_gap) = (Some(piece.line), false);
        }
        if line.is_some() {
            end_line(&mut out, is_gap);
        }
    }
    out.trim_end().to_owned()
}

fn end_line(out: &mut String, is_gap: bool) {
    if is_gap {
        out.push(' ');
        out.push_str(GAP);
    }
    out.push('\n');
}

#[cfg(test)]
#[path = "fitting_tests.rs"]
mod tests;
