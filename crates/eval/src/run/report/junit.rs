//! The report as JUnit XML, which every build server shows.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::record::Run;
use crate::run::report::Miss;
use crate::run::report::Report;

/// One suite an arm of ours, one case a probe: a failure where the judge's score is a miss or something stale is given as current,
/// and for leaks and faults of states. What only lacks facts, without a judge, is noted.
pub fn junit(report: &Report, run: &Run) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let misses: BTreeMap<(&str, &str, &str), &Miss> = report
        .misses
        .iter()
        .map(|miss| ((miss.arm.as_str(), miss.fixture.as_str(), miss.probe.as_str()), miss))
        .collect();
    // By arm, fixture and probe: whether any repeat counts.
    let mut probes: BTreeMap<(&str, &str, &str), bool> = BTreeMap::new();
    for sample in &run.samples {
        let counts = probes.entry((&sample.arm, &sample.fixture, &sample.probe)).or_default();
        *counts |= sample.excluded.is_none();
    }
    for arm in report.arms.iter().filter(|arm| !arm.is_control) {
        let mut suite = Suite::default();
        let own = probes.iter().filter(|((name, _, _), _)| *name == arm.arm);
        for ((_, fixture, probe), counts) in own {
            let class = format!("{}.{fixture}", arm.arm);
            let outcome = match misses.get(&(arm.arm.as_str(), *fixture, *probe)) {
                _ if !counts => Outcome::Skipped,
                // Without a judge a missing fact is a figure, and no build is broken by it.
                Some(miss) if miss.score.is_some() || !miss.stale.is_empty() => Outcome::Failed(words(miss)),
                Some(miss) => Outcome::Noted(words(miss)),
                None => Outcome::Passed,
            };
            suite.add(&class, probe, &outcome);
        }
        for (name, count) in [("leaks", arm.leaks), ("faults", arm.flaws)] {
            let outcome = match count {
                0 => Outcome::Passed,
                count => Outcome::Failed(format!("{count} {name}")),
            };
            suite.add(&arm.arm, name, &outcome);
        }
        let Suite {
            cases,
            tests,
            failures,
            skipped,
        } = suite;
        let name = escape(&arm.arm);
        let _ = write!(
            text,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\">\n{cases}  </testsuite>\n"
        );
    }
    text.push_str("</testsuites>\n");
    text
}

enum Outcome {
    Passed,
    /// It passes, and there is something to say.
    Noted(String),
    Failed(String),
    Skipped,
}

#[derive(Default)]
struct Suite {
    cases: String,
    tests: usize,
    failures: usize,
    skipped: usize,
}

impl Suite {
    fn add(&mut self, class: &str, name: &str, outcome: &Outcome) {
        self.tests += 1;
        let head = format!(
            "    <testcase classname=\"{}\" name=\"{}\"",
            escape(class),
            escape(name)
        );
        let _ = match outcome {
            Outcome::Passed => writeln!(self.cases, "{head}/>"),
            Outcome::Noted(words) => writeln!(
                self.cases,
                "{head}><system-out>{}</system-out></testcase>",
                escape(words)
            ),
            Outcome::Failed(words) => {
                self.failures += 1;
                writeln!(self.cases, "{head}><failure message=\"{}\"/></testcase>", escape(words))
            }
            Outcome::Skipped => {
                self.skipped += 1;
                writeln!(self.cases, "{head}><skipped message=\"no judgement\"/></testcase>")
            }
        };
    }
}

fn words(miss: &Miss) -> String {
    let mut words = match miss.score {
        Some(score) => format!("score {score:.2}"),
        None => format!("{:.0} % of the expected facts", 100.0 * miss.recall),
    };
    for (what, list) in [("missing", &miss.missing), ("stale as current", &miss.stale)] {
        if !list.is_empty() {
            let _ = write!(words, "; {what}: {}", list.join(", "));
        }
    }
    if let Some(reason) = &miss.reason {
        let _ = write!(words, "; {reason}");
    }
    words
}

/// A text as the value of an attribute; characters that XML has no place for become replacement characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
