//! JSON and lines of JSON: schema, first, last and odd elements, with the rest counted.
//!
//! Valid in, valid out: every marker is a string where a string may stand, keys keep their order and numbers their
//! spelling, because what stays is copied from the text. No recursion, and a fixed number of passes.

use std::collections::HashMap;
use std::collections::HashSet;
use std::hash::DefaultHasher;
use std::hash::Hasher;

use super::json_string;
use super::json_weight::Weight;
use super::json_weight::weigh;
use super::marker::CLOSE;
use super::marker::OPEN;
use super::shape::shape;
use super::tape::Tape;
use super::tape::Value;

/// How much of a document is kept.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Elements at the head of an array or object.
    head: usize,
    /// Elements at its tail.
    tail: usize,
    /// Odd elements between.
    odd: usize,
    /// Keys of one object before it is cut like an array; schemas stay below, maps do not.
    keys: usize,
    /// Levels below which values are only named.
    depth: usize,
    /// Bytes of a string, as a divisor of the goal.
    share: usize,
}

/// From generous to terse; the first that fits wins. Each step about halves a document of records.
const LEVELS: [Limits; 9] = [
    Limits {
        head: 24,
        tail: 6,
        odd: 24,
        keys: 200,
        depth: 64,
        share: 1,
    },
    Limits {
        head: 24,
        tail: 6,
        odd: 24,
        keys: 200,
        depth: 64,
        share: 2,
    },
    Limits {
        head: 12,
        tail: 4,
        odd: 16,
        keys: 120,
        depth: 24,
        share: 4,
    },
    Limits {
        head: 6,
        tail: 2,
        odd: 12,
        keys: 80,
        depth: 12,
        share: 8,
    },
    Limits {
        head: 4,
        tail: 1,
        odd: 8,
        keys: 64,
        depth: 9,
        share: 16,
    },
    Limits {
        head: 2,
        tail: 1,
        odd: 6,
        keys: 48,
        depth: 7,
        share: 24,
    },
    Limits {
        head: 1,
        tail: 1,
        odd: 4,
        keys: 32,
        depth: 5,
        share: 40,
    },
    Limits {
        head: 1,
        tail: 1,
        odd: 2,
        keys: 24,
        depth: 4,
        share: 64,
    },
    Limits {
        head: 1,
        tail: 1,
        odd: 1,
        keys: 12,
        depth: 3,
        share: 128,
    },
];

/// A string is never cut shorter than this; identifiers and most messages are below.
const SHORTEST: usize = 60;

/// Elements of one shape that report a failure and are kept before the rest of them collapses, as for lines.
const MOST_SIMILAR: usize = 8;

/// The shortened document or lines.
pub(super) fn shrink(tape: &Tape<'_>, most_bytes: usize) -> String {
    let weights = weigh(tape);
    let mut short = String::new();
    for limits in LEVELS {
        let writer = Writer {
            tape,
            weights: &weights,
            limits,
            most_string: (most_bytes / limits.share).max(SHORTEST),
        };
        short = writer.write();
        if short.len() <= most_bytes {
            break;
        }
    }
    short
}

/// What stands in a container, in order: values, and gaps between them.
enum Item {
    Keep(usize),
    Gap(usize),
}

/// A container that is being written.
struct Frame {
    node: usize,
    items: Vec<Item>,
    next: usize,
}

struct Writer<'a, 't> {
    tape: &'a Tape<'t>,
    weights: &'a [Weight],
    limits: Limits,
    most_string: usize,
}

/// Most white space copied between values: deeper indentation says nothing more.
const MOST_SPACE: usize = 64;

impl Writer<'_, '_> {
    fn write(&self) -> String {
        let mut out = String::new();
        let mut stack: Vec<Frame> = Vec::new();
        self.open(0, &mut out, &mut stack);
        while let Some(frame) = stack.last_mut() {
            let node = frame.node;
            let value = self.tape.nodes[node].value;
            let Some(item) = frame.items.get(frame.next) else {
                stack.pop();
                self.close(node, value, &mut out);
                continue;
            };
            let is_first = frame.next == 0;
            frame.next += 1;
            if !is_first {
                out.push_str(if value == Value::Lines { "\n" } else { "," });
            }
            match *item {
                Item::Gap(count) => {
                    // The gap is indented as its container's first value is.
                    if value != Value::Lines {
                        out.push_str(self.space_before(node + 1));
                    }
                    self.gap(node, count, &mut out);
                }
                Item::Keep(child) => {
                    if value != Value::Lines {
                        out.push_str(self.space_before(child));
                    }
                    if value == Value::Object {
                        out.push_str(&json_string::cut(self.tape.key(child), self.most_string));
                        out.push_str(self.colon(child));
                    }
                    self.open(child, &mut out, &mut stack);
                }
            }
        }
        out
    }

    /// Writes a value, or opens it when it holds others.
    fn open(&self, index: usize, out: &mut String, stack: &mut Vec<Frame>) {
        let node = &self.tape.nodes[index];
        match node.value {
            Value::Object | Value::Array => {
                let too_deep = stack.len() >= self.limits.depth && !self.weights[index].fails;
                if too_deep && node.children > 0 {
                    self.name(index, out);
                    return;
                }
                out.push(if node.value == Value::Object { '{' } else { '[' });
                stack.push(Frame {
                    node: index,
                    items: self.items(index),
                    next: 0,
                });
            }
            Value::Lines => stack.push(Frame {
                node: index,
                items: self.items(index),
                next: 0,
            }),
            Value::String => {
                let raw = self.tape.raw(index);
                out.push_str(&json_string::shrink(raw, self.most_string, self.weights[index].fails));
            }
            Value::Scalar => {
                let raw = self.tape.raw(index);
                if raw.len() > MOST_SCALAR {
                    out.push_str(&format!("\"{OPEN} number of {} digits{CLOSE}\"", raw.len()));
                } else {
                    out.push_str(raw);
                }
            }
            Value::Broken => out.push_str(&super::elide::elide(self.tape.raw(index), MOST_BROKEN)),
        }
    }

    fn close(&self, node: usize, value: Value, out: &mut String) {
        if value == Value::Lines {
            return;
        }
        if self.tape.nodes[node].children > 0 {
            let end = self.tape.nodes[node].end as usize - 1;
            out.push_str(self.space_until(end));
        }
        out.push(if value == Value::Object { '}' } else { ']' });
    }

    /// What stands for a container that is too deep.
    fn name(&self, index: usize, out: &mut String) {
        let children = self.tape.nodes[index].children;
        match self.tape.nodes[index].value {
            Value::Object => {
                let keys = self.keys(index);
                out.push_str(&format!("\"{OPEN} object of {children}: {keys}{CLOSE}\""));
            }
            _ => out.push_str(&format!("\"{OPEN} array of {children}{CLOSE}\"")),
        }
    }

    /// The first keys of an object, as they may stand inside a string.
    fn keys(&self, object: usize) -> String {
        // As many as fit a line.
        let mut names: Vec<&str> = Vec::new();
        for child in self.tape.children(object).take(12) {
            let key = self.tape.key(child);
            names.push(if key.len() > 42 { "…" } else { key.trim_matches('"') });
        }
        if self.tape.nodes[object].children as usize > names.len() {
            names.push("…");
        }
        names.join(", ")
    }

    fn gap(&self, node: usize, count: usize, out: &mut String) {
        let is_object = self.tape.nodes[node].value == Value::Object;
        let noun = match (self.tape.nodes[node].value, count) {
            (Value::Object, 1) => "more key",
            (Value::Object, _) => "more keys",
            (Value::Lines, 1) => "more line",
            (Value::Lines, _) => "more lines",
            (_, 1) => "more item",
            (_, _) => "more items",
        };
        let sample = node + 1;
        let keys = match self.tape.nodes[sample].value {
            Value::Object if self.tape.nodes[sample].children > 0 => format!(", keys {}", self.keys(sample)),
            _ => String::new(),
        };
        out.push_str(&format!("\"{OPEN} {count} {noun}{keys}{CLOSE}\""));
        if is_object {
            out.push_str(": null");
        }
    }

    /// Which values of a container stay.
    fn items(&self, index: usize) -> Vec<Item> {
        let node = &self.tape.nodes[index];
        let count = node.children as usize;
        let most = match node.value {
            Value::Object => self.limits.keys,
            // One more than is shown costs less than a marker on it.
            _ => self.limits.head + self.limits.tail + 1,
        };
        let all = self.tape.children(index);
        if count <= most {
            return all.map(Item::Keep).collect();
        }
        let (head, tail) = match node.value {
            Value::Object => (self.limits.keys - self.limits.keys / 4, self.limits.keys / 4),
            _ => (self.limits.head, self.limits.tail),
        };
        let similar = self.similar(index);
        let mut items = Vec::new();
        let mut gap = 0;
        let mut odd = 0;
        for (place, child) in all.enumerate() {
            let weight = self.weights[child];
            let is_end = place < head || place + tail >= count;
            let fails = weight.fails && !similar.contains(&child);
            let is_odd = !is_end && !fails && weight.odd && odd < self.limits.odd;
            odd += usize::from(is_odd);
            if is_end || fails || is_odd {
                if gap > 0 {
                    items.push(Item::Gap(gap));
                }
                gap = 0;
                items.push(Item::Keep(child));
            } else {
                gap += 1;
            }
        }
        if gap > 0 {
            items.push(Item::Gap(gap));
        }
        items
    }

    /// Values that report a failure and may still go: of many of one shape all but the first and the last.
    fn similar(&self, index: usize) -> HashSet<usize> {
        let mut by_shape: HashMap<u64, Vec<usize>> = HashMap::new();
        for child in self.tape.children(index).filter(|child| self.weights[*child].fails) {
            by_shape.entry(self.signature(child)).or_default().push(child);
        }
        let mut similar = HashSet::new();
        for same in by_shape.values().filter(|same| same.len() > MOST_SIMILAR) {
            similar.extend(&same[1..same.len() - 1]);
        }
        similar
    }

    /// What makes two values repeats of one message: the shapes of their own strings and numbers, or how they open. Values
    /// further down do not count, which keeps nested floods linear.
    fn signature(&self, index: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(shape(self.opening(index)));
        for field in self.tape.children(index) {
            if matches!(self.tape.nodes[field].value, Value::String | Value::Scalar) {
                hasher.write_u64(shape(self.opening(field)));
            }
        }
        hasher.finish()
    }

    /// As much of a value as tells it from others.
    fn opening(&self, index: usize) -> &str {
        let raw = self.tape.raw(index);
        &raw[..raw.floor_char_boundary(raw.len().min(OPENING))]
    }

    /// The white space before a value and its key.
    fn space_before(&self, index: usize) -> &str {
        let node = &self.tape.nodes[index];
        let start = if node.key == (0, 0) { node.start } else { node.key.0 };
        self.space_until(start as usize)
    }

    fn space_until(&self, end: usize) -> &str {
        let bytes = &self.tape.text.as_bytes()[end.saturating_sub(MOST_SPACE)..end];
        let space = bytes
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
        &self.tape.text[end - space..end]
    }

    /// The colon after a key, with a space where the text has one.
    fn colon(&self, index: usize) -> &'static str {
        let end = self.tape.nodes[index].key.1 as usize;
        let is_wide = self.tape.nodes[index].start as usize > end + 1;
        if is_wide { ": " } else { ":" }
    }
}

/// Longest number that is copied; no number that means something is longer.
const MOST_SCALAR: usize = 256;

/// Bytes of a value that are compared with others': a long message.
const OPENING: usize = 400;

/// Most bytes of a line that is no JSON.
const MOST_BROKEN: usize = 400;

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
