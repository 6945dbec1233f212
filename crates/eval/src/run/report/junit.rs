//! The report as JUnit XML, which every build server shows.

use std::fmt::Write;

use crate::record::Run;
use crate::run::report::Miss;
use crate::run::report::Report;

/// One suite an arm of ours, one case a probe; what the report calls a miss is a failure, and so are leaks and faults of a
/// state.
pub fn junit(report: &Report, run: &Run) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for arm in report.arms.iter().filter(|arm| !arm.is_control) {
        let mut cases = String::new();
        let (mut tests, mut failures, mut skipped) = (0, 0, 0);
        let mut probes: Vec<(&str, &str)> = run
            .samples
            .iter()
            .filter(|sample| sample.arm == arm.arm)
            .map(|sample| (sample.fixture.as_str(), sample.probe.as_str()))
            .collect();
        probes.sort_unstable();
        probes.dedup();
        for (fixture, probe) in probes {
            tests += 1;
            let _ = write!(
                cases,
                "    <testcase classname=\"{}\" name=\"{}\"",
                escape(&format!("{}.{fixture}", arm.arm)),
                escape(probe)
            );
            let is_this = |miss: &&Miss| miss.fixture == fixture && miss.probe == probe && miss.arm == arm.arm;
            let mut own = run
                .samples
                .iter()
                .filter(|sample| sample.arm == arm.arm && sample.fixture == fixture && sample.probe == probe);
            if let Some(miss) = report.misses.iter().find(is_this) {
                failures += 1;
                let _ = writeln!(
                    cases,
                    ">\n      <failure message=\"{}\"/>\n    </testcase>",
                    escape(&words(miss))
                );
            } else if own.all(|sample| sample.excluded.is_some()) {
                skipped += 1;
                let _ = writeln!(cases, "><skipped message=\"no judgement\"/></testcase>");
            } else {
                let _ = writeln!(cases, "/>");
            }
        }
        for (name, count) in [("leaks", arm.leaks), ("structure", arm.flaws), ("size", arm.inflated)] {
            tests += 1;
            let _ = write!(
                cases,
                "    <testcase classname=\"{}\" name=\"{name}\"",
                escape(&arm.arm)
            );
            match count {
                0 => cases.push_str("/>\n"),
                count => {
                    failures += 1;
                    let _ = writeln!(cases, "><failure message=\"{count}\"/></testcase>");
                }
            }
        }
        let _ = write!(
            text,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\">\n{cases}  </testsuite>\n",
            escape(&arm.arm)
        );
    }
    text.push_str("</testsuites>\n");
    text
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
