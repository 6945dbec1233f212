//! The telling fields of JSON outputs: what failed, how it ended, which thing it was, how many there are.
//!
//! A document is read as rows: the root with all that is not inside a list of objects, and every object of a list. A row
//! that fails or differs from its neighbours becomes a line of its own, `key: value` after `key: value`, without brackets
//! and quotes. A string that holds lines is an output in its own right and is offered as one; reading it is up to the caller.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::json_string;
use super::json_weight;
use super::offered_line::LineSignal;
use super::offered_line::OfferedLine;
use super::signals;
use super::signals::pattern;
use super::tape::Tape;
use super::tape::Value;
use super::telling_noise::MOST_CHARACTERS;
use super::telling_noise::without_noise;

/// Keys that say what a thing is and how it is, the most telling first. Compared without `_` and `-`, in lower case.
const TELLING_KEYS: [&str; 26] = [
    "status",
    "state",
    "result",
    "outcome",
    "conclusion",
    "message",
    "msg",
    "reason",
    "detail",
    "summary",
    "success",
    "ok",
    "id",
    "key",
    "number",
    "name",
    "title",
    "path",
    "file",
    "url",
    "count",
    "total",
    "totalcount",
    "size",
    "type",
    "version",
];
/// Among them those whose value says how something went.
const STATE_KEYS: usize = 5;

/// Where the key of a count stands among them.
const COUNT_KEY: usize = 20;

/// Keys of an exit code.
const EXIT_KEYS: [&str; 4] = ["exitcode", "returncode", "exitstatus", "rc"];

/// Values of a state that went wrong, beside the words of failure that all outputs share.
static BAD_STATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^.(?:error|failed|failing|failure|cancell?ed|rejected|blocked|unhealthy|down|killed|lost).$")
});

/// The most bytes of a string shown as a field. A longer one, or one with lines, is looked into.
const FIELD: usize = 120;

/// What a leaf says about its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FieldSignal {
    /// It reports a failure.
    Fails,
    /// It is the exit code of a command that failed.
    Exits,
    /// It makes the row odd.
    Odd,
    /// It has a telling key; a smaller number tells more.
    Told(usize),
    /// It has words of failure in it, somewhere.
    Mentions,
    /// Any other short value.
    Other,
    /// It says that there is none, or that a command ended well.
    Calm,
}

/// What a document offers at one place.
pub(super) enum JsonOffer {
    /// A line.
    Line(OfferedLine),
    /// A string that is an output in its own right, to be read as one.
    Output { place: usize },
}

impl JsonOffer {
    /// A line, unless nothing is left of it without its noise.
    fn line(signal: LineSignal, place: usize, line: &str) -> Option<Self> {
        OfferedLine::of(signal, place, line).map(Self::Line)
    }

    fn place(&self) -> usize {
        match self {
            Self::Line(line) => line.place,
            Self::Output { place } => *place,
        }
    }
}

/// What a document offers, in the order of its rows.
pub(super) fn offers(tape: &Tape<'_>) -> Vec<JsonOffer> {
    let odd = json_weight::odd_columns(tape);
    let owners = owners(tape);
    let mut rows: BTreeMap<usize, Vec<(FieldSignal, usize)>> = BTreeMap::new();
    let mut offers = Vec::new();
    let mut sample = String::new();
    for (index, owner) in owners.iter().enumerate() {
        let node = &tape.nodes[index];
        match node.value {
            Value::Broken => offers.extend(JsonOffer::line(LineSignal::Plain, index, tape.raw(index))),
            Value::String | Value::Scalar => {
                if node.value == Value::String && holds_lines(tape.raw(index)) {
                    offers.push(JsonOffer::Output { place: index });
                    continue;
                }
                let is_odd = odd
                    .get(owner)
                    .is_some_and(|column| *column == json_weight::column(tape.key(index)));
                let signal = field_signal(tape.key(index), tape.raw(index), is_odd);
                rows.entry(*owner).or_default().push((signal, index));
            }
            // How many there are of something tells as much as a field that counts them.
            Value::Array if node.children > 1 && *owner == 0 => {
                rows.entry(0).or_default().push((FieldSignal::Told(COUNT_KEY), index));
            }
            Value::Array | Value::Object | Value::Lines => {}
        }
    }
    let is_list = matches!(
        tape.nodes.first().map(|root| root.value),
        Some(Value::Array | Value::Lines)
    );
    let first_row = rows.keys().find(|owner| **owner != 0).copied();
    for (owner, fields) in &mut rows {
        fields.sort();
        // How many rows a list has says little without one of them.
        if is_list && Some(*owner) == first_row {
            sample = render(tape, fields);
        }
    }
    for (owner, fields) in rows {
        let strongest = fields[0].0;
        let signal = match strongest {
            FieldSignal::Fails => LineSignal::Failure,
            FieldSignal::Exits => LineSignal::Summary,
            FieldSignal::Odd => LineSignal::Odd,
            _ if owner != 0 && odd.contains_key(&owner) => LineSignal::Odd,
            FieldSignal::Told(_) if owner == 0 => LineSignal::State,
            FieldSignal::Mentions => LineSignal::Mention,
            FieldSignal::Calm => LineSignal::Calm,
            FieldSignal::Told(_) | FieldSignal::Other => LineSignal::Plain,
        };
        let mut line = render(tape, &fields);
        if owner == 0 && !sample.is_empty() {
            line = format!("{line}, first: {sample}");
        }
        offers.extend(JsonOffer::line(signal, owner, &line));
    }
    offers.sort_by_key(JsonOffer::place);
    offers
}

/// The row that every value belongs to: the innermost object that is an element of a list, else the root.
fn owners(tape: &Tape<'_>) -> Vec<usize> {
    let mut owners = vec![0; tape.nodes.len()];
    // Parents come before what they hold, so that one pass is enough.
    let mut open: Vec<usize> = Vec::new();
    for (index, node) in tape.nodes.iter().enumerate() {
        while open
            .last()
            .is_some_and(|last| tape.nodes[*last].after as usize <= index)
        {
            open.pop();
        }
        let parent = open.last().copied();
        let is_row = node.value == Value::Object
            && parent.is_some_and(|parent| {
                matches!(tape.nodes[parent].value, Value::Array | Value::Lines) && tape.nodes[parent].children > 1
            });
        owners[index] = match parent {
            _ if is_row => index,
            Some(parent) => owners[parent],
            None => 0,
        };
        open.push(index);
    }
    owners
}

fn holds_lines(raw: &str) -> bool {
    raw.len() > FIELD
        && (raw.contains("\\n") || raw.len() > 2 * MOST_CHARACTERS || raw.starts_with("\"{") || raw.starts_with("\"["))
}

/// A key without quotes, in lower case, without what parts its words.
fn plain_key(key: &str) -> String {
    let inner = key.trim_matches('"');
    inner
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .take(FIELD)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

fn field_signal(key: &str, raw: &str, is_odd: bool) -> FieldSignal {
    let plain = plain_key(key);
    let told = TELLING_KEYS.iter().position(|telling| *telling == plain);
    if EXIT_KEYS.contains(&plain.as_str()) {
        return if raw == "0" {
            FieldSignal::Calm
        } else {
            FieldSignal::Exits
        };
    }
    let is_state = told.is_some_and(|place| place < STATE_KEYS);
    let is_refusal = matches!(plain.as_str(), "success" | "ok" | "passed" | "valid") && raw == "false";
    let is_http = matches!(plain.as_str(), "status" | "statuscode" | "httpstatus" | "code")
        && raw.parse::<u16>().is_ok_and(|code| (400..600).contains(&code));
    let says_failure = raw.starts_with('"') && signals::is_report(raw.trim_matches('"'));
    if is_refusal
        || is_http
        || says_failure
        || json_weight::is_failure_field(key, raw)
        || is_state && BAD_STATE.is_match(raw)
    {
        return FieldSignal::Fails;
    }
    if is_odd {
        return FieldSignal::Odd;
    }
    if json_weight::is_none(raw) {
        return FieldSignal::Calm;
    }
    match told {
        Some(place) => FieldSignal::Told(place),
        None if raw.starts_with('"') && signals::is_mention(raw) => FieldSignal::Mentions,
        None => FieldSignal::Other,
    }
}

/// A row as `key: value, key: value`, the most telling first.
fn render(tape: &Tape<'_>, fields: &[(FieldSignal, usize)]) -> String {
    let calm_only = fields.iter().all(|(signal, _)| *signal == FieldSignal::Calm);
    let mut line = String::new();
    for (signal, index) in fields {
        if line.len() > MOST_CHARACTERS * 2 {
            break;
        }
        if *signal == FieldSignal::Calm && !calm_only {
            continue;
        }
        let raw = tape.raw(*index);
        let value = match tape.nodes[*index].value {
            Value::Array => format!("{} entries", tape.nodes[*index].children),
            Value::String => without_noise(&json_string::read(raw).unwrap_or_default()).unwrap_or_default(),
            _ => raw.to_owned(),
        };
        if value.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        let key = tape.key(*index).trim_matches('"');
        if !key.is_empty() {
            line.push_str(key);
            line.push_str(": ");
        }
        line.push_str(&value);
    }
    line
}
