//! The rows and columns of an output, where it has some: JSON, tables with a head, lists of `name: value`.

use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;

/// Longest output that is taken apart.
const LONGEST: usize = 1 << 20;

/// Most rows: later ones are compared with nothing.
const MOST_ROWS: usize = 5000;

/// Most columns.
const MOST_COLUMNS: usize = 48;

/// Fewest rows that are worth comparing.
const FEWEST: usize = 5;

/// Longest cell; a longer one is a text.
const CELL: usize = 200;

/// Rows that have the same columns. A cell that is not there is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grid {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The cells of every row, as many as there are columns.
    pub rows: Vec<Vec<String>>,
}

/// The grid of an output.
pub(super) fn of(body: &str) -> Option<Grid> {
    if body.len() > LONGEST || body.len() < 20 {
        return None;
    }
    let trimmed = body.trim();
    let grid = match trimmed.starts_with(['{', '[']) {
        true => of_json(trimmed).or_else(|| of_lines(trimmed)),
        false => of_table(trimmed),
    };
    grid.filter(|grid| grid.rows.len() >= FEWEST && grid.columns.len() > 1)
}

fn of_json(text: &str) -> Option<Grid> {
    let value = json::value(text).ok()?;
    rows_in(value, 2)
}

/// The first list of objects in a value, or the value itself where its members are alike.
fn rows_in(value: Raw<'_>, depth: u32) -> Option<Grid> {
    match json::kind(value) {
        Kind::Array => {
            let elements = json::array(value)?;
            let objects: Vec<(Option<Box<str>>, Object<'_>)> = elements
                .into_iter()
                .take(MOST_ROWS)
                .filter_map(|element| Some((None, Object::of(element)?)))
                .collect();
            of_objects(objects)
        }
        Kind::Object => {
            let object = Object::of(value)?;
            let members: Vec<(Box<str>, Raw<'_>)> = object.members().take(MOST_ROWS).collect();
            let is_record = |value: Raw<'_>| json::kind(value) == Kind::Object;
            if members.len() >= FEWEST && members.iter().all(|(_, value)| is_record(value)) {
                let objects = members
                    .into_iter()
                    .filter_map(|(name, value)| Some((Some(name), Object::of(value)?)));
                return of_objects(objects.collect());
            }
            // Deeper than a wrapper in a wrapper, lists are parts of things.
            if depth == 0 {
                return None;
            }
            members.into_iter().find_map(|(_, value)| match json::kind(value) {
                Kind::Array | Kind::Object => rows_in(value, depth - 1).filter(|grid| grid.rows.len() >= FEWEST),
                Kind::String | Kind::Number | Kind::Bool | Kind::Null => None,
            })
        }
        Kind::String | Kind::Number | Kind::Bool | Kind::Null => None,
    }
}

/// An object a line; other lines may stand between them.
fn of_lines(text: &str) -> Option<Grid> {
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.trim().trim_end_matches(','))
        .take(MOST_ROWS)
        .collect();
    let objects: Vec<(Option<Box<str>>, Object<'_>)> = lines
        .iter()
        .filter(|line| line.starts_with('{') && line.ends_with('}'))
        .filter_map(|line| Some((None, Object::parse(line).ok()?)))
        .collect();
    (objects.len() * 10 >= lines.len() * 8)
        .then(|| of_objects(objects))
        .flatten()
}

fn of_objects(objects: Vec<(Option<Box<str>>, Object<'_>)>) -> Option<Grid> {
    if objects.len() < FEWEST {
        return None;
    }
    let mut grid = Grid::default();
    let has_names = objects.iter().any(|(name, _)| name.is_some());
    if has_names {
        grid.columns.push("name".to_owned());
    }
    let mut rows: Vec<Vec<(usize, String)>> = Vec::new();
    for (name, object) in &objects {
        let mut row: Vec<(usize, String)> = Vec::new();
        if let Some(name) = name {
            row.push((0, name.to_string()));
        }
        for (field, value) in object.members().take(MOST_COLUMNS) {
            match json::kind(value) {
                Kind::Object => {
                    for (inner, value) in Object::of(value).iter().flat_map(Object::members).take(8) {
                        grid.add(&mut row, format!("{field}.{inner}"), value);
                    }
                }
                _ => grid.add(&mut row, field.to_string(), value),
            }
        }
        rows.push(row);
    }
    let width = grid.columns.len();
    grid.rows = rows
        .into_iter()
        .map(|row| {
            let mut cells = vec![String::new(); width];
            row.into_iter().for_each(|(column, text)| cells[column] = text);
            cells
        })
        .collect();
    Some(grid)
}

impl Grid {
    fn add(&mut self, row: &mut Vec<(usize, String)>, name: String, value: Raw<'_>) {
        let text = match json::kind(value) {
            Kind::String => json::text(value).map(|text| text.to_string()).unwrap_or_default(),
            Kind::Number | Kind::Bool => value.get().to_owned(),
            Kind::Null => "null".to_owned(),
            Kind::Array => match json::array(value).unwrap_or_default().len() {
                0 => "[]".to_owned(),
                _ => "[…]".to_owned(),
            },
            Kind::Object => return,
        };
        let known = self.columns.iter().position(|column| *column == name);
        let column = match known {
            Some(column) => column,
            None if self.columns.len() < MOST_COLUMNS => {
                self.columns.push(name);
                self.columns.len() - 1
            }
            None => return,
        };
        if text.len() <= CELL {
            row.push((column, text));
        } else {
            row.push((column, "…".to_owned()));
        }
    }
}

fn of_table(text: &str) -> Option<Grid> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MOST_ROWS)
        .collect();
    if lines.len() < FEWEST {
        return None;
    }
    by_mark(&lines).or_else(|| by_place(&lines)).or_else(|| by_name(&lines))
}

/// Tables whose cells are parted by a mark, under a line that names the columns.
fn by_mark(lines: &[&str]) -> Option<Grid> {
    for mark in ['|', '\t', ',', ';'] {
        let cells = |line: &str| -> Vec<String> {
            let line = if mark == '|' {
                line.trim().trim_matches('|')
            } else {
                line
            };
            line.split(mark)
                .map(|cell| cell.trim().trim_matches('"').to_owned())
                .collect()
        };
        // Counts of rows and lines of dashes stand around the rows.
        let is_rule = |line: &str| line.chars().all(|letter| "-+|=: \t─┼│".contains(letter));
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut others = 0;
        let width = cells(lines[0]).len();
        if !(2..=MOST_COLUMNS).contains(&width) {
            continue;
        }
        for line in lines {
            let row = cells(line);
            match (is_rule(line), row.len() == width) {
                (true, _) => {}
                (false, true) => rows.push(row),
                (false, false) => others += 1,
            }
        }
        if others * 10 > rows.len() || rows.len() <= FEWEST {
            continue;
        }
        let columns = rows.remove(0);
        let is_head = columns.iter().all(|name| {
            !name.is_empty()
                && name.len() <= 40
                && !name.starts_with(|letter: char| letter.is_ascii_digit())
                && !name.contains(['(', '{', '='])
        });
        // Prose has commas too: a head is names, and the cells below are short.
        let is_short = rows.iter().flatten().all(|cell| cell.len() <= CELL);
        let is_prose = matches!(mark, ',' | ';') && columns.iter().any(|name| name.split(' ').count() > 3);
        if is_head && is_short && !is_prose {
            return Some(Grid { columns, rows });
        }
    }
    None
}

/// Tables of programs: a head in capitals, and cells below its words.
fn by_place(lines: &[&str]) -> Option<Grid> {
    let head = lines[0];
    let is_capital = head
        .chars()
        .filter(|letter| letter.is_alphabetic())
        .all(char::is_uppercase);
    let columns: Vec<String> = split_wide(head);
    if !is_capital || columns.len() < 2 || head.starts_with(' ') {
        return None;
    }
    let rows: Vec<Vec<String>> = lines[1..].iter().map(|line| split_wide(line)).collect();
    let width = columns.len();
    let fitting: Vec<Vec<String>> = rows.iter().filter(|row| row.len() == width).cloned().collect();
    (fitting.len() * 10 >= rows.len() * 8).then_some(Grid { columns, rows: fitting })
}

/// Cells that are parted by two spaces or more, or by a tab.
fn split_wide(line: &str) -> Vec<String> {
    let cells = line.split("  ").flat_map(|piece| piece.split('\t'));
    cells
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Lists of `name: value`, one a line, with short values.
fn by_name(lines: &[&str]) -> Option<Grid> {
    let rows: Vec<Vec<String>> = lines
        .iter()
        .filter_map(|line| {
            let (name, value) = line.split_once(": ").or_else(|| line.split_once('='))?;
            let (name, value) = (name.trim(), value.trim());
            // `src/a.rs:12` is where a search found something, and what stands there is code.
            let is_hit =
                name.contains('/') && name.ends_with(|letter: char| letter.is_ascii_digit()) && name.contains(':');
            let is_name = !name.is_empty() && name.len() <= 60 && !name.contains([' ', '(', '"', '\'']) && !is_hit;
            let is_value = value.len() <= 40 && value.split(' ').count() <= 3 && !value.ends_with([',', '{', '(', ';']);
            // An indented list is a part of a document.
            let is_flat = !line.starts_with([' ', '\t']);
            (is_name && is_value && is_flat).then(|| vec![name.to_owned(), value.to_owned()])
        })
        .collect();
    (rows.len() * 10 >= lines.len() * 9).then(|| Grid {
        columns: vec!["name".to_owned(), "value".to_owned()],
        rows,
    })
}
