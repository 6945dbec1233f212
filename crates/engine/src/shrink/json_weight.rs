//! Which values of a document report a failure, and which are the odd ones of their array.

use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hasher;
use std::sync::LazyLock;

use regex::Regex;

use super::odd::Cell;
use super::odd::odd_columns as odd_columns_of;
use super::signals;
use super::signals::pattern;
use super::tape::Tape;
use super::tape::Value;

/// What speaks for keeping a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// It, or something in it, reports a failure.
    pub fails: bool,
    /// It differs from the other elements of its array.
    pub odd: bool,
}

/// Most bytes of a string compared with others: long ones are all different.
const COMPARED: usize = 80;

/// Most bytes of a string searched for words of failure by its shape alone; longer ones are prose or documents, where
/// only the report of a failure counts.
const SENTENCE: usize = 400;

/// The weight of every value, by its index on the tape. Every value is looked at once for itself and once as
/// a cell of its array's rows.
pub(super) fn weigh(tape: &Tape<'_>) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); tape.nodes.len()];
    for (index, weight) in weights.iter_mut().enumerate() {
        weight.fails = fails(tape, index);
    }
    // In tape order a value comes before what it holds, so going backwards children are done before parents.
    let mut open: Vec<usize> = Vec::new();
    for index in 0..tape.nodes.len() {
        while open
            .last()
            .is_some_and(|last| tape.nodes[*last].after as usize <= index)
        {
            let done = open.pop().unwrap_or(0);
            raise(&mut weights, done, open.last().copied());
        }
        open.push(index);
    }
    while let Some(done) = open.pop() {
        raise(&mut weights, done, open.last().copied());
    }
    for row in odd_columns(tape).into_keys() {
        weights[row].odd = true;
    }
    weights
}

/// The elements that differ from the others of their array, and the column in which they do.
pub(super) fn odd_columns(tape: &Tape<'_>) -> HashMap<usize, u64> {
    let mut found = HashMap::new();
    for index in 0..tape.nodes.len() {
        if matches!(tape.nodes[index].value, Value::Array | Value::Lines | Value::Object)
            && tape.nodes[index].children > 4
        {
            collect_odd(tape, index, &mut found);
        }
    }
    found
}

fn raise(weights: &mut [Weight], child: usize, parent: Option<usize>) {
    if let Some(parent) = parent {
        weights[parent].fails |= weights[child].fails;
    }
}

/// Keys whose value is the report of a failure, unless it says that there is none.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^.(?:.*[_-])?(?:errors?|err|error_?(?:message|code|type)|failures?|failed|exceptions?|stderr|traceback|stack_?trace|panic|fatal).$",
    )
});

/// Whether a field's key announces a failure, and its value is not that there was none.
pub(super) fn is_failure_field(key: &str, raw: &str) -> bool {
    !is_none(raw) && !key.is_empty() && key.len() < COMPARED && KEY.is_match(key)
}

/// Values that say none.
pub(super) fn is_none(raw: &str) -> bool {
    matches!(raw, "null" | "false" | "0" | "\"\"" | "[]" | "{}")
}

fn fails(tape: &Tape<'_>, index: usize) -> bool {
    let raw = tape.raw(index);
    match tape.nodes[index].value {
        Value::String if raw.len() > SENTENCE => signals::is_report(raw),
        Value::String if signals::is_mention(raw) => true,
        Value::String | Value::Scalar => is_failure_field(tape.key(index), raw),
        Value::Broken => true,
        Value::Object | Value::Array | Value::Lines => false,
    }
}

fn collect_odd(tape: &Tape<'_>, array: usize, found: &mut HashMap<usize, u64>) {
    let children: Vec<usize> = tape.children(array).collect();
    let rows: Vec<Vec<Cell<'_>>> = children
        .iter()
        .map(|child| match tape.nodes[*child].value {
            Value::Object => tape
                .children(*child)
                .map(|field| cell(tape, field, column(tape.key(field))))
                .collect(),
            _ => vec![cell(tape, *child, 0)],
        })
        .collect();
    for (child, odd) in children.iter().zip(odd_columns_of(&rows)) {
        if let Some(column) = odd {
            found.insert(*child, column);
        }
    }
}

/// The column of a key.
pub(super) fn column(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key.as_bytes());
    hasher.finish()
}

/// A value as the cell of a row: what holds others is told by its opening bracket and by being empty.
fn cell<'t>(tape: &Tape<'t>, index: usize, column: u64) -> Cell<'t> {
    let raw = tape.raw(index);
    let text = match tape.nodes[index].value {
        Value::Object | Value::Array | Value::Lines if tape.nodes[index].children == 0 => "empty",
        Value::Object => "{",
        Value::Array | Value::Lines => "[",
        Value::String | Value::Scalar | Value::Broken => &raw[..raw.floor_char_boundary(raw.len().min(COMPARED))],
    };
    Cell { column, text }
}
