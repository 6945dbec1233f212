//! Lines of a JSONL file, one at a time, whatever state the file is in.
//!
//! Writers die in the middle of a line, pad with NULs after a crash, glue the next record onto a torn one,
//! and prepend byte order marks. Each of these costs only itself, and each is a finding with its line.

use std::io::BufRead;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use serde_json::value::RawValue;

use crate::error::ReadError;
use crate::json::Raw;

/// How many places in a broken line are tried as the start of a whole record.
const MOST_RESTARTS: usize = 64;

/// Reads lines and keeps the findings.
pub struct Lines {
    name: String,
    reader: Box<dyn BufRead>,
    buffer: Vec<u8>,
    text: String,
    number: u64,
    terminated: bool,
    /// What was wrong so far.
    pub findings: Vec<Finding>,
}

impl Lines {
    /// Reads from a stream.
    pub fn new(name: &str, reader: Box<dyn BufRead>) -> Self {
        Self {
            name: name.to_owned(),
            reader,
            buffer: Vec::new(),
            text: String::new(),
            number: 0,
            terminated: true,
            findings: Vec::new(),
        }
    }

    /// The number of the current line, from one.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The current line's place.
    pub fn place(&self) -> Place {
        Place::Line(self.number)
    }

    /// Adds a finding about the current line.
    pub fn note(&mut self, rule: Rule, detail: impl Into<String>) {
        self.findings.push(Finding::new(rule, Place::Line(self.number), detail));
    }

    /// Goes to the next line that is not blank; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            self.buffer.clear();
            let read = self
                .reader
                .read_until(b'\n', &mut self.buffer)
                .map_err(|cause| ReadError::Io {
                    name: self.name.clone(),
                    cause,
                })?;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            self.trim();
            if !self.buffer.is_empty() {
                self.decode();
                return Ok(true);
            }
        }
    }

    fn trim(&mut self) {
        self.terminated = self.buffer.last() == Some(&b'\n');
        if self.terminated {
            self.buffer.pop();
        }
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
            if !self
                .findings
                .iter()
                .any(|finding| finding.rule == Rule::CarriageReturns)
            {
                self.note(Rule::CarriageReturns, "");
            }
        }
        if self.number == 1 && self.buffer.starts_with(b"\xEF\xBB\xBF") {
            self.buffer.drain(..3);
            self.note(Rule::ByteOrderMark, "");
        }
        // A raw NUL is valid nowhere in JSON, so removing it can only help.
        if self.buffer.contains(&0) {
            let before = self.buffer.len();
            self.buffer.retain(|byte| *byte != 0);
            let removed = before - self.buffer.len();
            self.note(Rule::NulBytes, format!("{removed} bytes"));
        }
        if self.buffer.iter().all(u8::is_ascii_whitespace) {
            self.buffer.clear();
        }
    }

    fn decode(&mut self) {
        let bytes = std::mem::take(&mut self.buffer);
        match String::from_utf8(bytes) {
            Ok(text) => {
                // Hand the old text's allocation back to the next read.
                self.buffer = std::mem::replace(&mut self.text, text).into_bytes();
            }
            Err(error) => {
                self.text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                self.buffer = error.into_bytes();
                self.note(Rule::InvalidUtf8, "");
            }
        }
    }

    /// The current line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The JSON values on the current line: one, unless it is damaged. What cannot be read is a finding.
    pub fn records(&mut self) -> Vec<Raw<'_>> {
        let mut findings = Vec::new();
        let records = records(&self.text, self.terminated, self.number, &mut findings);
        self.findings.append(&mut findings);
        records
    }
}

/// Splits a line into its JSON values, recovering what stands whole.
fn records<'a>(line: &'a str, terminated: bool, number: u64, findings: &mut Vec<Finding>) -> Vec<Raw<'a>> {
    let failure = match serde_json::from_str::<Raw<'a>>(line) {
        Ok(record) => return vec![record],
        Err(failure) => failure,
    };
    let place = Place::Line(number);
    let (mut records, mut used) = whole_values(line);
    if used == line.len() {
        findings.push(Finding::new(
            Rule::GluedRecords,
            place,
            format!("{} records", records.len()),
        ));
        return records;
    }
    // The rest is broken; a whole record may have been glued onto it.
    let broken_from = used;
    let starts = line[used..]
        .match_indices("{\"")
        .map(|(at, _)| used + at)
        .filter(|at| *at > broken_from);
    for start in starts.take(MOST_RESTARTS) {
        let (tail, length) = whole_values(&line[start..]);
        if length == line.len() - start && tail.iter().all(|raw| raw.get().starts_with('{')) {
            used = start;
            records.extend(tail);
            findings.push(Finding::new(
                Rule::GluedRecords,
                place,
                format!("{} records", records.len()),
            ));
            break;
        }
    }
    let lost = if used == broken_from {
        line.len() - used
    } else {
        used - broken_from
    };
    let torn = failure.is_eof() || !terminated || used != broken_from;
    let rule = if torn { Rule::TornRecord } else { Rule::BadRecord };
    findings.push(Finding::new(rule, place, format!("{lost} bytes: {failure}")));
    records
}

/// The JSON values at the start of a text, and where the last of them ends.
fn whole_values(text: &str) -> (Vec<&RawValue>, usize) {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut values = Vec::new();
    let mut end = 0;
    while let Some(Ok(value)) = stream.next() {
        // A bare word or number inside a broken line is debris, not a record.
        if !value.get().starts_with('{') {
            break;
        }
        values.push(value);
        end = stream.byte_offset();
    }
    let rest = text[end..].trim_start();
    if rest.is_empty() {
        (values, text.len())
    } else {
        (values, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<String>, Vec<(Rule, Place)>) {
        let mut lines = Lines::new("test", Box::new(std::io::Cursor::new(bytes.to_vec())));
        let mut found = Vec::new();
        while lines.advance().unwrap() {
            found.extend(lines.records().iter().map(|raw| raw.get().to_owned()));
        }
        let findings = lines
            .findings
            .iter()
            .map(|finding| (finding.rule, finding.place))
            .collect();
        (found, findings)
    }

    #[test]
    fn a_clean_file_has_no_findings() {
        let (records, findings) = read(b"{\"a\":1}\n\n{\"b\":2}\n{\"c\":3}");
        assert_eq!(records, ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
        assert!(findings.is_empty());
    }

    #[test]
    fn each_kind_of_damage_costs_only_itself() {
        for (bytes, records, rules) in [
            (
                &b"\xEF\xBB\xBF{\"a\":1}\r\n{\"b\":2}\r\n"[..],
                2,
                vec![Rule::CarriageReturns, Rule::ByteOrderMark],
            ),
            (b"{\"a\":1}\n{\"b\":", 1, vec![Rule::TornRecord]),
            (b"{\"a\":1}\nnonsense\n{\"c\":3}\n", 2, vec![Rule::BadRecord]),
            (b"{\"a\":1}{\"b\":2}\n", 2, vec![Rule::GluedRecords]),
            (
                b"{\"type\":\"us{\"type\":\"user\",\"n\":{\"x\":1}}\n",
                1,
                vec![Rule::GluedRecords, Rule::TornRecord],
            ),
            (
                b"{\"a\":1}\n\0\0\0\0{\"b\":2}\n\0\0\n",
                2,
                vec![Rule::NulBytes, Rule::NulBytes],
            ),
            (b"{\"a\":\"\xFF\"}\n", 1, vec![Rule::InvalidUtf8]),
            (b"{\"m\":{\"role\":\"user\"},\"u\":\"cut of", 0, vec![Rule::TornRecord]),
        ] {
            let (read, findings) = read(bytes);
            let found: Vec<_> = findings.iter().map(|(rule, _)| *rule).collect();
            assert_eq!(
                (read.len(), found),
                (records, rules),
                "{:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    #[test]
    fn a_cut_at_every_byte_of_the_last_record_is_reported_and_costs_nothing_else() {
        let whole = b"{\"a\":1}\n{\"b\":{\"c\":[1,2],\"d\":\"x}y\"}}\n";
        for cut in 9..whole.len() - 1 {
            let (records, findings) = read(&whole[..cut]);
            let complete = cut == whole.len() - 2;
            if complete {
                continue;
            }
            assert_eq!(records, ["{\"a\":1}"], "cut at {cut}");
            assert_eq!(findings, [(Rule::TornRecord, Place::Line(2))], "cut at {cut}");
        }
    }
}
