//! A tool's output cut to a length by the kind of its content.

use std::borrow::Cow;

use crate::shrink::ContentKind;
use crate::shrink::Goal;
use crate::shrink::shrink;

use super::arguments;
use super::cut::core;

/// A tool's output in at most so many characters. Logs, listings, tables and the like are shrunk by their kind, which keeps
/// failures and odd ones out; prose keeps its ends.
pub(super) fn output(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Cow::Borrowed(text);
    };
    let small = shrink(text, Goal { most_bytes: end }).filter(|small| small.kind != ContentKind::Text);
    if arguments::is_json(text) {
        let short = small.map(|small| small.text).filter(|text| arguments::is_json(text));
        return Cow::Owned(arguments::fit(short.as_deref().unwrap_or(text), most));
    }
    match small {
        // Failures stay past the goal; where there are too many of them, some have to go.
        Some(small) => Cow::Owned(core(&small.text, most).into_owned()),
        None => core(text, most),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cut::length;
    use super::*;

    #[test]
    fn outputs_keep_their_failures() {
        let mut log = String::from("running 900 tests\n");
        for number in 0..900 {
            let ended = if number == 450 { "FAILED" } else { "ok" };
            log.push_str(&format!("test parses_{number} ... {ended}\n"));
        }
        log.push_str("test result: FAILED. 899 passed; 1 failed");
        let short = output(&log, 3000);
        assert!(length(&short) <= 3000);
        assert!(short.contains("parses_450 ... FAILED"), "{short}");
        // More failures than there is room for: the count at the end of the run stays, though the output goes on behind it.
        let mut many = String::new();
        for number in 0..300 {
            let name = (b'a' + (number % 26) as u8) as char;
            many.push_str(&format!(
                "error: the {name}{name}{name} step of case {number} did not end: {}\n",
                "x".repeat(40)
            ));
        }
        many.push_str("test result: FAILED. 12 passed; 300 failed\n");
        many.push_str(&"uploading the report to the archive, please wait\n".repeat(80));
        let short = output(&many, 3000);
        assert!(length(&short) <= 3000);
        assert!(short.contains("12 passed; 300 failed"), "{short}");
        let mut prose = "The service was looked at for some time, and it went on as it should.\n".repeat(100);
        prose.push_str("FATAL: disk quota exceeded on /var/lib/queue\n");
        prose.push_str(&"Then it was looked at again, and again nobody saw anything of note.\n".repeat(100));
        let short = output(&prose, 3000);
        assert!(
            length(&short) <= 3000 && short.contains("disk quota exceeded"),
            "{short}"
        );
        let json = format!(r#"{{"exit":1,"stdout":{}}}"#, crate::json::quote(&prose));
        let short = output(&json, 3000);
        assert!(arguments::is_json(&short) && length(&short) <= 3000);
        assert!(short.contains("disk quota exceeded"), "{short}");
        let rows: Vec<String> = (0..900)
            .map(|row| format!(r#"{{"id":{row},"name":"n{row}"}}"#))
            .collect();
        let json = format!("[{}]", rows.join(","));
        let short = output(&json, 3000);
        assert!(arguments::is_json(&short) && length(&short) <= 3000, "{short}");
    }
}
