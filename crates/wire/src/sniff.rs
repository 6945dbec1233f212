//! A first look at a source, from which every format decides whether it is theirs.
//!
//! Looking is bounded for line files (a megabyte); a single JSON document has to be scanned whole, which
//! happens once: the text is kept for the reader.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::ReadError;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;
use crate::tables::Tables;

/// How much of a line file is looked at.
const LOOK: u64 = 1 << 20;
/// How many records of a line file or elements of an array are looked at.
const MOST_RECORDS: usize = 200;

/// What a first look found, owned.
#[derive(Debug)]
pub struct Sample {
    name: String,
    shape: SampleShape,
}

/// The columns of every table of a database.
type Columns = BTreeMap<String, Vec<String>>;

#[derive(Debug)]
enum SampleShape {
    Empty,
    Directory(Vec<String>),
    Database(Vec<String>, Columns),
    Lines(String),
    Document(Arc<String>),
    Text,
}

/// What a first look found, taken apart.
#[derive(Debug)]
pub struct Sniff<'a> {
    /// The source's file name.
    pub name: &'a str,
    /// What it is made of.
    pub shape: Shape<'a>,
    columns: Option<&'a Columns>,
}

/// What a source is made of.
#[derive(Debug)]
pub enum Shape<'a> {
    /// Nothing at all.
    Empty,
    /// A directory with these names in it.
    Directory(&'a [String]),
    /// A database with these tables.
    Database(&'a [String]),
    /// Records, one a line; the first of them.
    Lines(Vec<Object<'a>>),
    /// One JSON object.
    Object(Object<'a>),
    /// One JSON array; its first elements.
    Array(Vec<Raw<'a>>),
    /// Something else: text, or JSON that is neither.
    Text,
}

impl Sample {
    /// Takes a first look.
    pub fn take(source: &Source) -> Result<Self, ReadError> {
        let path_name = |name: &str| name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
        let shape = if source.is_directory() {
            SampleShape::Directory(source.entries()?)
        } else if source.is_database()? {
            database(source)?
        } else {
            Self::look(source)?
        };
        Ok(Self {
            name: path_name(source.name()),
            shape,
        })
    }

    fn look(source: &Source) -> Result<SampleShape, ReadError> {
        let opening = source.opening(LOOK)?;
        let whole = (opening.len() as u64) < LOOK;
        let opening = String::from_utf8_lossy(&opening).replace('\0', "");
        let start = opening.trim_start_matches(BYTE_ORDER_MARK).trim_start();
        if start.is_empty() && whole {
            return Ok(SampleShape::Empty);
        }
        let first = start.lines().next().unwrap_or("");
        let first_is_complete = json::value(first).is_ok();
        let more_follows = !whole || start[first.len()..].trim().len() > 1;
        if first_is_complete && more_follows && first.starts_with('{') {
            return Ok(SampleShape::Lines(start.to_owned()));
        }
        if !start.starts_with(['{', '[']) {
            // A damaged first line is no reason to refuse the rest; a few records quoted in prose are no log.
            let lines = || start.lines().map(str::trim).filter(|line| !line.is_empty());
            let records = lines().filter(|line| line.starts_with('{') && json::value(line).is_ok());
            let mostly_records = 2 * records.count() >= lines().count();
            return Ok(if mostly_records {
                SampleShape::Lines(start.to_owned())
            } else {
                SampleShape::Text
            });
        }
        let text = source.text()?.text;
        if json::value(text.trim_start_matches(BYTE_ORDER_MARK)).is_ok() {
            return Ok(SampleShape::Document(text));
        }
        let lines = if whole { start.to_owned() } else { opening_lines(&text) };
        let any = lines.lines().any(|line| line.trim_end_matches('\r').starts_with('{'));
        Ok(if any {
            SampleShape::Lines(lines)
        } else {
            SampleShape::Text
        })
    }

    /// Whether the source is a file of records, one a line.
    pub fn is_lines(&self) -> bool {
        matches!(self.shape, SampleShape::Lines(_))
    }

    /// Takes it apart.
    pub fn sniff(&self) -> Sniff<'_> {
        let shape = match &self.shape {
            SampleShape::Empty => Shape::Empty,
            SampleShape::Directory(names) => Shape::Directory(names),
            SampleShape::Database(tables, _) => Shape::Database(tables),
            SampleShape::Text => Shape::Text,
            SampleShape::Lines(text) => {
                let records = text.lines().filter_map(|line| Object::parse(line).ok());
                Shape::Lines(records.take(MOST_RECORDS).collect())
            }
            SampleShape::Document(text) => {
                let text = text.trim_start_matches(BYTE_ORDER_MARK);
                let raw = json::value(text).expect("the look checked that it is JSON");
                match (Object::of(raw), json::array(raw)) {
                    (Some(object), _) => Shape::Object(object),
                    (None, Some(elements)) => Shape::Array(elements),
                    (None, None) => Shape::Text,
                }
            }
        };
        let columns = match &self.shape {
            SampleShape::Database(_, columns) => Some(columns),
            _ => None,
        };
        Sniff {
            name: &self.name,
            shape,
            columns,
        }
    }
}

impl<'a> Sniff<'a> {
    /// The first records: of a line file, or the object itself when the file is one object.
    pub fn records(&self) -> &[Object<'a>] {
        match &self.shape {
            Shape::Lines(records) => records,
            Shape::Object(object) => std::slice::from_ref(object),
            Shape::Empty | Shape::Directory(_) | Shape::Database(_) | Shape::Array(_) | Shape::Text => &[],
        }
    }

    /// The object, when the source is one JSON object.
    pub fn object(&self) -> Option<&Object<'a>> {
        match &self.shape {
            Shape::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether any of the first records satisfies a test.
    pub fn any_record(&self, test: impl Fn(&Object<'a>) -> bool) -> bool {
        self.records().iter().any(test)
    }

    /// The first elements of an array, as objects.
    pub fn elements(&self) -> Vec<Object<'a>> {
        match &self.shape {
            Shape::Array(elements) => elements
                .iter()
                .take(MOST_RECORDS)
                .filter_map(|raw| Object::of(raw))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a database has a table with all of these columns.
    pub fn has_columns(&self, table: &str, wanted: &[&str]) -> bool {
        let columns = self.columns.and_then(|columns| columns.get(table));
        columns.is_some_and(|columns| wanted.iter().all(|name| columns.iter().any(|column| column == name)))
    }
}

fn opening_lines(text: &str) -> String {
    let end = text
        .char_indices()
        .map(|(at, _)| at)
        .find(|at| *at as u64 >= LOOK)
        .unwrap_or(text.len());
    let end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    text[..end].trim_start_matches(BYTE_ORDER_MARK).to_owned()
}

fn database(source: &Source) -> Result<SampleShape, ReadError> {
    let store = Tables::open(source)?;
    let mut names = Vec::new();
    let query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    store.each(query, &[], |row| {
        names.extend(row.text("name").map(String::from));
        Ok(())
    })?;
    // A virtual table of a module that is not compiled in has no columns to show; it is not ours to read.
    let columns = names
        .iter()
        .map(|name| (name.clone(), store.columns(name).unwrap_or_default()))
        .collect();
    Ok(SampleShape::Database(names, columns))
}
