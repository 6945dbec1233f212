//! The odd ones out among many rows of the same make.
//!
//! A row is odd when it has a value, a type or a set of columns that its neighbours do not: a rare value in a column
//! of few values, a number far from the others', a missing or additional column. Linear in the number of cells.

use std::collections::HashMap;

/// One cell: which column it is in, and what it says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'t> {
    /// The column, as a number or a hash of its name.
    pub column: u64,
    /// Its text.
    pub text: &'t str,
}

/// Fewer rows than this have no usual.
const FEWEST: usize = 5;

/// A value is rare up to one row in this many.
const RARE: usize = 25;

/// A number is far when it is this many median deviations away. Of evenly spread numbers none is, of normal ones
/// one in a billion.
const FAR: f64 = 9.0;

/// Which of the rows are odd.
pub(super) fn odd(rows: &[Vec<Cell<'_>>]) -> Vec<bool> {
    odd_columns(rows).iter().map(Option::is_some).collect()
}

/// The first column in which each row is odd; `None` where it is like its neighbours.
pub(super) fn odd_columns(rows: &[Vec<Cell<'_>>]) -> Vec<Option<u64>> {
    let mut found = vec![None; rows.len()];
    if rows.len() < FEWEST {
        return found;
    }
    let mut columns: HashMap<u64, usize> = HashMap::new();
    let mut names: Vec<u64> = Vec::new();
    let mut cells: Vec<Vec<(usize, &str)>> = Vec::new();
    for (row, line) in rows.iter().enumerate() {
        for cell in line {
            let place = *columns.entry(cell.column).or_insert_with(|| {
                names.push(cell.column);
                cells.push(Vec::new());
                cells.len() - 1
            });
            // A column that repeats within a row would count twice.
            if cells[place].last().is_none_or(|(last, _)| *last != row) {
                cells[place].push((row, cell.text));
            }
        }
    }
    for (column, name) in cells.iter().zip(names) {
        let mut marks = Marks {
            found: &mut found,
            column: name,
        };
        mark_missing(column, &mut marks);
        mark_far(column, &mut marks);
        mark_rare(column, &mut marks);
    }
    found
}

/// The rows found odd so far, and the column that is being looked at.
struct Marks<'m> {
    found: &'m mut [Option<u64>],
    column: u64,
}

impl Marks<'_> {
    fn mark(&mut self, row: usize) {
        self.found[row].get_or_insert(self.column);
    }
}

fn rare(rows: usize) -> usize {
    (rows / RARE).max(1)
}

/// Rows with a column that hardly any has, or without one that nearly all have.
fn mark_missing(column: &[(usize, &str)], marks: &mut Marks<'_>) {
    let rows = marks.found.len();
    if column.len() <= rare(rows) {
        column.iter().for_each(|(row, _)| marks.mark(*row));
    } else if column.len() < rows && rows - column.len() <= rare(rows) {
        let mut present = column.iter().map(|(row, _)| *row).peekable();
        for row in 0..rows {
            if present.peek() == Some(&row) {
                present.next();
            } else {
                marks.mark(row);
            }
        }
    }
}

/// Rows whose number is far from the others of the column.
fn mark_far(column: &[(usize, &str)], marks: &mut Marks<'_>) {
    let numbers: Vec<(usize, f64)> = column
        .iter()
        .filter_map(|(row, text)| number(text).map(|number| (*row, number)))
        .collect();
    // A column of numbers, give or take a few words for none.
    if numbers.len() < FEWEST || numbers.len() * 10 < column.len() * 8 {
        return;
    }
    let centre = median(numbers.iter().map(|(_, number)| *number).collect());
    let spread = median(numbers.iter().map(|(_, number)| (number - centre).abs()).collect());
    let far: Vec<usize> = numbers
        .iter()
        .filter(|(_, number)| (number - centre).abs() > FAR * spread)
        .map(|(row, _)| *row)
        .collect();
    // Many that are far are another group, not odd ones.
    if far.len() <= rare(column.len()) {
        far.into_iter().for_each(|row| marks.mark(row));
    }
}

fn number(text: &str) -> Option<f64> {
    let plain = text.trim().trim_start_matches('$').trim_end_matches('%');
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    let middle = numbers.len() / 2;
    *numbers.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Rows with a rare value in a column that has few.
fn mark_rare(column: &[(usize, &str)], marks: &mut Marks<'_>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (_, text) in column {
        *counts.entry(text).or_insert(0) += 1;
    }
    let rare = rare(column.len());
    let usual: usize = counts.values().filter(|count| **count > rare).sum();
    // Where usual values do not cover nearly all rows, every row is its own.
    if usual * 10 < column.len() * 9 {
        return;
    }
    for (row, _) in column.iter().filter(|(_, text)| counts[text] <= rare) {
        marks.mark(*row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<'t>(texts: &'t [Vec<String>]) -> Vec<Vec<Cell<'t>>> {
        let row = |texts: &'t Vec<String>| {
            let cells = texts.iter().enumerate();
            cells
                .map(|(column, text)| Cell {
                    column: column as u64,
                    text,
                })
                .collect()
        };
        texts.iter().map(row).collect()
    }

    #[test]
    fn rare_values_far_numbers_and_missing_columns_are_odd() {
        let mut texts: Vec<Vec<String>> = (0..100)
            .map(|n| vec![n.to_string(), "ok".into(), (200 + n % 7).to_string()])
            .collect();
        texts[17][1] = "broken".into();
        texts[42][2] = "9000".into();
        texts[63].pop();
        let flags = odd(&rows(&texts));
        let found: Vec<usize> = (0..100).filter(|row| flags[*row]).collect();
        assert_eq!(found, [17, 42, 63]);
    }

    #[test]
    fn rows_that_are_all_alike_or_all_different_have_none() {
        let same: Vec<Vec<String>> = (0..50).map(|_| vec!["a".into(), "1".into()]).collect();
        assert!(!odd(&rows(&same)).contains(&true));
        let different: Vec<Vec<String>> = (0..50).map(|n| vec![format!("name-{n}"), n.to_string()]).collect();
        assert!(!odd(&rows(&different)).contains(&true));
        assert!(odd(&[]).is_empty());
    }
}
