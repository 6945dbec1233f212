//! Rows of data that differ from their neighbours, as a tool printed them: one line each, with what the row is known by.
//!
//! Rows come from JSON (a list of objects, an object of objects, an object a line), from tables with a head, and from lists of
//! `name: value`. A cell is odd when its value is rare in a column of few values, when its number is far from the others, or
//! when it is empty where the others are not. Linear in the number of cells.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use super::grid;
use super::grid::Grid;
use super::log_line::cut_at_word;
use super::records::times;
use super::shelf::Room;
use super::shelf::Shelf;
use super::shelf::Shelved;
use crate::decide::cut;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// Most rows of a conversation; the one seen longest ago makes room.
const MOST: Room = Room { all: 120, light: 120 };

/// Most rows of one output: where more differ, there is no usual.
const MOST_OF_ONE: usize = 4;

/// Fewer rows than this have no usual.
const FEWEST: usize = 5;

/// A value is rare up to one row in this many.
const RARE: usize = 25;

/// Most usual values of a column that has a usual at all.
const MOST_USUAL: usize = 5;

/// Most words of a usual value.
const MOST_USUAL_WORDS: usize = 3;

/// A number is far when it is this many median deviations away.
const FAR: f64 = 9.0;

/// Longest cell that is shown.
const CELL: usize = 60;

/// Longest line.
const LINE: usize = 200;

/// A row that differs from its neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OddRow {
    entry: Entry,
    source: Box<str>,
}

impl OddRow {
    /// What the row is known by, and what is odd about it.
    pub fn text(&self) -> &str {
        &self.entry.value
    }

    /// The command or call that showed it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The message that showed it last.
    pub fn last(&self) -> u32 {
        self.entry.last
    }

    /// The message that first showed it.
    pub fn first(&self) -> u32 {
        self.entry.first
    }

    /// Who said so: always a tool.
    pub fn author(&self) -> Author {
        self.entry.author
    }

    /// order MAD-2859: state paid_twice (others: paid) (from `list_orders`, m12)
    pub fn line(&self) -> String {
        let source = cut_at_word(&self.source, 80);
        format!(
            "{} (from `{source}`{}, m{})",
            self.text(),
            times(self.entry.times),
            self.entry.last
        )
    }
}

impl Shelved for OddRow {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        false
    }
}

/// The odd rows of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OddRows {
    rows: Shelf<OddRow>,
}

impl OddRows {
    /// The rows, the one seen longest ago first.
    pub(super) fn items(&self) -> impl Iterator<Item = &OddRow> {
        self.rows.items()
    }

    /// Takes in an output.
    pub(super) fn take_in(&mut self, message: u32, source: &str, body: &str) {
        let Some(grid) = grid::of(body) else { return };
        for text in odd(&grid) {
            let key = cut(&format!("{source} | {text}"), 300);
            let mut row = self.rows.take(&key).unwrap_or_else(|| {
                // The shelf finds its keys by the entry.
                let mut entry = Entry::new(Kind::Fact, &key, &text, Status::Current, Author::Tool, message);
                entry.times = 0;
                OddRow {
                    entry,
                    source: cut(source, 200).into(),
                }
            });
            row.entry.times += 1;
            row.entry.last = message;
            self.rows.put(&key, row, MOST);
        }
    }
}

/// The odd rows of a grid in words, those with most that is odd first.
fn odd(grid: &Grid) -> Vec<String> {
    let rows = grid.rows.len();
    if rows < FEWEST {
        return Vec::new();
    }
    let identity = identity(grid);
    let mut found: BTreeMap<usize, Vec<(usize, String)>> = BTreeMap::new();
    for column in 0..grid.columns.len() {
        if Some(column) != identity && !is_passing(&grid.columns[column]) {
            for (row, usual) in odd_cells(grid, column) {
                found.entry(row).or_default().push((column, usual));
            }
        }
    }
    // Where odd rows are more than a few, they are another group.
    if found.len() > MOST_OF_ONE.max(rows / RARE) {
        return Vec::new();
    }
    let mut odd: Vec<(usize, Vec<(usize, String)>)> = found.into_iter().collect();
    odd.sort_by_key(|(row, cells)| (usize::MAX - cells.len(), *row));
    odd.truncate(MOST_OF_ONE);
    odd.into_iter()
        .map(|(row, cells)| told(grid, identity, row, &cells))
        .collect()
}

fn told(grid: &Grid, identity: Option<usize>, row: usize, cells: &[(usize, String)]) -> String {
    let cell = |column: usize| match grid.rows[row][column].trim() {
        "" => "(missing)".to_owned(),
        text => cut_at_word(text, CELL),
    };
    let known = match identity {
        Some(column) => format!("{} {}", grid.columns[column], cell(column)),
        None => format!("row {}", row + 1),
    };
    let said = cells
        .iter()
        .map(|(column, usual)| format!("{} {} (others: {usual})", grid.columns[*column], cell(*column)));
    let said: Vec<String> = said.collect();
    cut_at_word(&format!("{}: {}", known.trim(), said.join("; ")), LINE)
}

/// The column by which rows are known: the first whose values are all different and no plain numbers, or else all different.
fn identity(grid: &Grid) -> Option<usize> {
    let is_distinct = |column: &usize| {
        let mut values: Vec<&str> = grid.rows.iter().map(|row| row[*column].as_str()).collect();
        values.sort_unstable();
        let count = values.len();
        values.dedup();
        // A few repeats do not make a name something else.
        values.len() * 10 >= count * 9 && !values.contains(&"")
    };
    let distinct: Vec<usize> = (0..grid.columns.len()).filter(is_distinct).collect();
    let is_name = |column: &&usize| {
        let name = grid.columns[**column].to_ascii_lowercase();
        [
            "id", "name", "key", "host", "path", "file", "sku", "code", "title", "ref",
        ]
        .iter()
        .any(|word| name == *word || name.ends_with(&format!("_{word}")) || name.ends_with(&format!(".{word}")))
    };
    let is_text = |column: &&usize| number(&grid.rows[0][**column]).is_none();
    let named = distinct.iter().find(is_name);
    named
        .or_else(|| distinct.iter().find(is_text))
        .or(distinct.first())
        .copied()
}

/// Columns that differ from row to row and mean nothing by it.
fn is_passing(column: &str) -> bool {
    let name = column.to_ascii_lowercase();
    [
        "time", "age", "uuid", "hash", "etag", "cursor", "duration", "elapsed", "pid", "cpu", "stamp",
    ]
    .iter()
    .any(|word| name == *word || name.ends_with(word))
}

/// The rows whose cell in a column is odd, each with what is usual there.
fn odd_cells(grid: &Grid, column: usize) -> Vec<(usize, String)> {
    let cells: Vec<&str> = grid.rows.iter().map(|row| row[column].trim()).collect();
    let rare = (cells.len() / RARE).max(1);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in &cells {
        *counts.entry(cell).or_default() += 1;
    }
    let usual: usize = counts.values().filter(|count| **count > rare).sum();
    // In a short table a single row is more than a tenth.
    if usual * 10 >= cells.len() * 9 || cells.len() - usual <= rare {
        let mut values: Vec<(&str, usize)> = counts
            .iter()
            .filter(|(_, count)| **count > rare)
            .map(|(value, count)| (*value, *count))
            .collect();
        values.sort_by_key(|(_, count)| usize::MAX - count);
        let odd = cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| counts[**cell] <= rare)
            .map(|(row, _)| row);
        let odd: Vec<usize> = odd.collect();
        // Numbers of a few sizes are told by their distance; sentences are no values.
        let is_counting = values.len() > 2 && values.iter().all(|(value, _)| number(value).is_some());
        let is_text = values
            .iter()
            .any(|(value, _)| value.split_whitespace().count() > MOST_USUAL_WORDS);
        if !is_counting && !is_text && values.len() <= MOST_USUAL && !odd.is_empty() {
            let shown: Vec<String> = values.iter().take(2).map(|(value, _)| shown(value)).collect();
            return odd.into_iter().map(|row| (row, shown.join(", "))).collect();
        }
    }
    if let Some(years) = years(&cells) {
        let years: Vec<&str> = years.iter().map(String::as_str).collect();
        return far_years(&years, rare);
    }
    far_cells(&cells, rare)
}

/// The years of a column of dates.
fn years(cells: &[&str]) -> Option<Vec<String>> {
    let year = |cell: &&str| {
        let is_date =
            cell.len() >= 8 && cell.as_bytes()[4] == b'-' && cell.bytes().take(4).all(|byte| byte.is_ascii_digit());
        is_date.then(|| cell[..4].to_owned())
    };
    let years: Vec<Option<String>> = cells.iter().map(year).collect();
    let known = years.iter().flatten().count();
    (known * 10 >= cells.len() * 9).then(|| years.into_iter().map(Option::unwrap_or_default).collect())
}

/// The rows whose date is years away from all others.
fn far_years(years: &[&str], rare: usize) -> Vec<(usize, String)> {
    let numbers = years.iter().filter_map(|year| year.parse::<f64>().ok());
    let centre = median(numbers.collect());
    // A few years apart are an archive; decades are a mistake.
    const DECADE: f64 = 10.0;
    let is_odd = |year: &str| year.parse::<f64>().map_or(true, |year| (year - centre).abs() >= DECADE);
    let odd: Vec<usize> = (0..years.len()).filter(|row| is_odd(years[*row])).collect();
    match odd.len() <= rare {
        true => odd.into_iter().map(|row| (row, format!("{centre}"))).collect(),
        false => Vec::new(),
    }
}

fn shown(value: &str) -> String {
    match value {
        "" => "empty".to_owned(),
        value => cut_at_word(value, 30),
    }
}

/// The rows whose number is far from the others of the column, or empty where nearly all have one.
fn far_cells(cells: &[&str], rare: usize) -> Vec<(usize, String)> {
    let numbers: Vec<(usize, f64)> = cells
        .iter()
        .enumerate()
        .filter_map(|(row, cell)| Some((row, number(cell)?)))
        .collect();
    let missing = cells.len() - numbers.len();
    if numbers.len() < FEWEST || missing > rare {
        return Vec::new();
    }
    let centre = median(numbers.iter().map(|(_, number)| *number).collect());
    let spread = median(numbers.iter().map(|(_, number)| (number - centre).abs()).collect());
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let is_negative_odd = numbers.iter().filter(|(_, number)| *number < 0.0).count() <= rare;
    let is_zero_odd = numbers.iter().filter(|(_, number)| *number == 0.0).count() <= rare
        && numbers.iter().all(|(_, number)| *number <= 0.0 || *number >= 5.0);
    let is_odd = |number: f64| {
        let distance = (number - centre).abs();
        let is_far = distance > FAR * spread && distance > centre.abs() * 2.0;
        let is_small = number > 0.0 && centre >= number * 50.0 && distance > FAR * spread;
        is_far || is_small || is_negative_odd && number < 0.0 || is_zero_odd && number == 0.0
    };
    let mut odd: Vec<usize> = Vec::new();
    for (row, number) in &numbers {
        match is_odd(*number) {
            true => odd.push(*row),
            false => (low, high) = (low.min(*number), high.max(*number)),
        }
    }
    odd.extend((0..cells.len()).filter(|row| number(cells[*row]).is_none()));
    if odd.is_empty() || odd.len() > rare {
        return Vec::new();
    }
    odd.sort_unstable();
    let usual = if low == high {
        format!("{low}")
    } else {
        format!("{low} to {high}")
    };
    odd.into_iter().map(|row| (row, usual.clone())).collect()
}

fn number(text: &str) -> Option<f64> {
    let plain = text
        .trim()
        .trim_start_matches(['$', '€', '£'])
        .trim_end_matches('%')
        .replace(',', "");
    let number = plain.parse::<f64>().ok().filter(|number| number.is_finite());
    // Words such as `inf` are no numbers here.
    number.filter(|_| plain.bytes().any(|byte| byte.is_ascii_digit()))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    let middle = numbers.len() / 2;
    *numbers.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Vec<String> {
        let mut rows = OddRows::default();
        rows.take_in(3, "list", body);
        rows.items().map(|row| row.text().to_owned()).collect()
    }

    #[test]
    fn odd_rows_of_json_tables_and_lists() {
        let json: Vec<String> = (0..30)
            .map(|n| match n {
                7 => r#"{"id": "x-7", "state": "held", "size": 4, "zone": {"name": "a"}}"#.to_owned(),
                9 => r#"{"id": "x-9", "state": "done", "size": 40000, "zone": {"name": "a"}}"#.to_owned(),
                12 => r#"{"id": "x-12", "state": "done", "size": -2, "zone": {"name": null}}"#.to_owned(),
                n => format!(
                    r#"{{"id": "x-{n}", "state": "done", "size": {}, "zone": {{"name": "a"}}}}"#,
                    1 + n % 5
                ),
            })
            .collect();
        let array = format!("[{}]", json.join(",\n"));
        let said = found(&array);
        for wanted in [
            "id x-7: state held (others: done)",
            "id x-12: zone.name null (others: a)",
        ] {
            assert!(said.iter().any(|line| line == wanted), "{wanted}: {said:?}");
        }
        assert_eq!(found(&format!("{{\"items\": {array}}}")), said);
        assert_eq!(found(&json.join("\n")), said);

        let csv = "name,version,count\na,1.2,40\nb,1.2,44\nc,1.1,41\nd,1.2,39\ne,1.2,0\nf,1.2,45\n";
        assert_eq!(
            found(csv),
            [
                "name c: version 1.1 (others: 1.2)",
                "name e: count 0 (others: 39 to 45)"
            ]
        );
        let pods = "NAME    READY   STATUS\na-1     1/1     Running\nb-1     1/1     Running\nc-1     0/1     Pending\nd-1     1/1     Running\ne-1     1/1     Running\n";
        assert_eq!(
            found(pods),
            ["NAME c-1: READY 0/1 (others: 1/1); STATUS Pending (others: Running)"]
        );
        let list = "api: up\nweb: up\ndb: up\nqueue: stuck\nmail: up\ncron: up\n";
        assert_eq!(found(list), ["name queue: value stuck (others: up)"]);
    }

    #[test]
    fn rows_that_are_alike_all_different_or_no_rows_have_none() {
        let same: Vec<String> = (0..20).map(|n| format!(r#"{{"id": {n}, "state": "a"}}"#)).collect();
        assert!(found(&format!("[{}]", same.join(","))).is_empty());
        let different: Vec<String> = (0..20).map(|n| format!(r#"{{"id": {n}, "state": "s{n}"}}"#)).collect();
        assert!(found(&format!("[{}]", different.join(","))).is_empty());
        for body in [
            "",
            "[1,2,3]",
            "{}",
            "a\nb\nc\nd\ne\nf",
            "fn a() {\n    b: c,\n}\n",
            "[{\"a\":1}]",
            "src/a.rs:3: fn a()\nsrc/b.rs:4: fn a()\nsrc/c.rs:5: fn a()\nsrc/d.rs:9: fn b()\nsrc/e.rs:7: fn a()\nsrc/f.rs:8: fn a()\n",
        ] {
            assert!(found(body).is_empty(), "{body}");
        }
    }

    #[test]
    fn what_is_shown_twice_is_one_row() {
        let list = "api: up\nweb: up\ndb: up\nqueue: stuck\nmail: up\ncron: up\n";
        let mut rows = OddRows::default();
        rows.take_in(3, "status", list);
        rows.take_in(8, "status", list);
        let lines: Vec<String> = rows.items().map(OddRow::line).collect();
        assert_eq!(lines, ["name queue: value stuck (others: up) (from `status` ×2, m8)"]);
    }
}
