//! Input that wants to break us: deep, huge, torn, half-encoded. Each gets a clear error or a repaired result.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::account::Family;
use mainstay_engine::account::Tally;
use mainstay_engine::transcript::Rule;
use mainstay_wire::document::Document;
use mainstay_wire::error::ReadError;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;

fn read(bytes: impl Into<Vec<u8>>) -> Result<Document, ReadError> {
    format::read(&Source::memory("test", bytes.into()), None, &Request::default())
}

fn rules(document: &Document) -> Vec<Rule> {
    document.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn nesting_of_a_hundred_thousand_levels_is_carried() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for nested in [&deep, &deep_object] {
        let bodies = [
            format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{nested}}}]}}"),
            format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"x\",\"y\":{nested}}}],\"z\":{nested}}}"),
            format!("{{\"messages\":[{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{nested}}}]}}]}}"),
            format!(
                "{{\"system\":\"s\",\"messages\":[{{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"n\",\"input\":{nested}}}]}}]}}"
            ),
            format!("{{\"model\":\"m\",\"input\":[{{\"type\":\"message\",\"role\":\"user\",\"content\":{nested}}}]}}"),
            format!(
                "{{\"messages\":[{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"id\":\"1\",\"function\":{{\"name\":\"n\",\"arguments\":\"{}\"}}}}]}}]}}",
                nested.replace('"', "\\\"")
            ),
        ];
        for body in bodies {
            let document = read(body.clone()).unwrap();
            assert_eq!(document.write(), body);
            Tally::new(Family::O200k).extend(document.transcript.messages());
        }
        // Nothing but nesting is no conversation.
        assert!(read(nested.clone()).is_err());
    }
}

#[test]
fn lone_surrogates_are_read_noted_and_written_back() {
    let body = r#"{"messages":[{"role":"user","content":"a\ud800b"},{"role":"assistant","content":"\ud83d\ude00"}]}"#;
    let document = read(body).unwrap();
    assert_eq!(rules(&document), [Rule::LoneSurrogate]);
    assert_eq!(document.write(), body);
}

#[test]
fn nul_bytes_and_invalid_utf8_cost_only_themselves() {
    let escaped = r#"{"messages":[{"role":"user","content":"a\u0000b"}]}"#;
    assert_eq!(read(escaped).unwrap().write(), escaped);

    let raw_nul = b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\0b\"}]}";
    assert!(matches!(read(raw_nul.to_vec()), Err(ReadError::Refused { .. })));

    let invalid = b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\xFF\xFEb\"}]}";
    let document = read(invalid.to_vec()).unwrap();
    assert_eq!(rules(&document), [Rule::InvalidUtf8]);

    let lines = b"{\"role\":\"user\",\"content\":\"one\"}\n\0\0\0\n{\"role\":\"user\",\"content\":\"t\xFFo\"}\nnot json\n{\"role\":\"user\"";
    let document = read(lines.to_vec()).unwrap();
    assert_eq!(document.transcript.messages().len(), 2);
    assert_eq!(
        rules(&document),
        [Rule::NulBytes, Rule::InvalidUtf8, Rule::BadRecord, Rule::TornRecord]
    );
}

#[test]
fn what_is_no_conversation_is_refused_in_words() {
    for (bytes, words) in [
        (&b""[..], "it is empty"),
        (b"\xEF\xBB\xBF  \n", "it is empty"),
        (b"{}", "a JSON object with the keys (none)"),
        (b"[]", "an empty JSON array"),
        (b"null", "neither JSON nor a database"),
        (b"hello world", "neither JSON nor a database"),
        (b"{\"messages\":{}}", "a JSON object with the keys messages"),
        (b"{\"messages\":[", "no conversation format matches"),
        (b"\x28\xB5\x2F\xFDgarbage", "test"),
        (b"SQLite format 3\0 but not really", "a database must be a file"),
        (b"\x7FELF\x02\x01\x01\0\0\0\0", "neither JSON"),
    ] {
        let error = read(bytes.to_vec())
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            error.contains(words),
            "{:?} gives {error:?}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn a_decompression_bomb_is_a_file_like_any_other() {
    // A gigabyte of spaces in a few kilobytes: the reader sees one blank line and stops.
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    let block = vec![b' '; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&block).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 100_000);
    assert!(read(bomb).is_err());
}

#[test]
fn ids_that_are_missing_repeated_or_wrong_are_mended() {
    let body = r#"{"messages":[
        {"role":"tool","tool_call_id":"early","content":"before its call"},
        {"role":"assistant","content":"","tool_calls":[
            {"id":"same","function":{"name":"a","arguments":"{}"}},
            {"id":"same","function":{"name":"b","arguments":"{\"broken\":"}},
            {"function":{"name":"c","arguments":{"x":1}}}]},
        {"role":"tool","tool_call_id":"same","content":"one"},
        {"role":"tool","tool_call_id":"same","content":"two"},
        {"role":"tool","content":"three"},
        {"role":"tool","tool_call_id":"same","content":"four"},
        {"role":"assistant","content":"","tool_calls":[{"id":"never","function":{"name":"d"}}]},
        {"role":"user","content":"next"}]}"#;
    let document = read(body).unwrap();
    let mut found = rules(&document);
    found.sort();
    found.dedup();
    let mut expected = vec![
        Rule::OrphanResult,
        Rule::DuplicateCallId,
        Rule::MalformedArguments,
        Rule::MissingCallId,
        Rule::DuplicateResult,
        Rule::UnansweredCall,
    ];
    expected.sort();
    assert_eq!(found, expected);
    assert!(document.transcript.pairs().iter().all(|pair| pair.result.is_some()));
    assert_eq!(document.write(), body, "reading alone changes nothing");
}

#[test]
fn a_million_tool_calls_with_one_id_take_linear_time() {
    let mut body = String::from("{\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[");
    for index in 0..100_000 {
        body.push_str(if index == 0 { "" } else { "," });
        body.push_str("{\"id\":\"x\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}");
    }
    body.push_str("]}");
    for _ in 0..100_000 {
        body.push_str(",{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"y\"}");
    }
    body.push_str("]}");
    let document = read(body).unwrap();
    assert_eq!(document.transcript.pairs().len(), 100_000);
}

/// The kernel's record of this process's peak memory, in bytes; `None` where there is none.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

const CHILD: &str = "MAINSTAY_TEST_READS";

/// Does nothing by itself; `peak_of_reading` runs it in a process of its own.
#[test]
fn child_that_reads_a_file() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let before = peak_memory().unwrap_or(0);
    let source = Source::open(Path::new(&path)).unwrap();
    let document = format::read(&source, None, &Request::default()).unwrap();
    let messages = document.transcript.messages().len();
    let peak = peak_memory().unwrap_or(0);
    println!("\nmessages={messages} before={before} peak={peak}");
}

/// Reads a file in a process of its own; gives the number of messages and the memory it took.
fn peak_of_reading(path: &Path) -> Option<(u64, u64)> {
    peak_memory()?;
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_reads_a_file", "--nocapture"])
        .env(CHILD, path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let figure = |name: &str| -> u64 {
        let found = text.split_whitespace().find_map(|word| word.strip_prefix(name));
        found
            .and_then(|value| value.parse().ok())
            .unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    Some((figure("messages="), figure("peak=") - figure("before=")))
}

fn write_file(folder: &Path, name: &str, write: impl FnOnce(&mut dyn std::io::Write)) -> (PathBuf, u64) {
    let path = folder.join(name);
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    write(&mut file);
    file.into_inner().unwrap().sync_all().unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    (path, size)
}

#[test]
fn a_million_messages_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, size) = write_file(folder.path(), "million.json", |file| {
        write!(file, "{{\"messages\":[{{\"role\":\"user\",\"content\":\"go\"}}").unwrap();
        for index in 1..1_000_000 {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            write!(
                file,
                ",{{\"role\":\"{role}\",\"content\":\"message number {index} of a very long talk\"}}"
            )
            .unwrap();
        }
        write!(file, "]}}").unwrap();
    });
    let Some((messages, memory)) = peak_of_reading(&path) else {
        eprintln!("skipped: this system does not tell a process's peak memory");
        return;
    };
    assert_eq!(messages, 1_000_000);
    // A message of 40 letters costs more to hold than to spell.
    println!("a million messages: {:.2} × the file", memory as f64 / size as f64);
    assert!(memory < 6 * size, "{memory} bytes for a file of {size}");
}

#[test]
fn two_hundred_megabytes_take_at_most_three_times_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = String::new();
    for line in 0..500 {
        let _ = write!(output, "{line:>5}| let value_{line} = compute(\\\"{line}\\\");\\n");
    }
    let count = 200_000_000 / output.len();
    let (body, body_size) = write_file(folder.path(), "body.json", |file| {
        write!(file, "{{\"messages\":[{{\"role\":\"user\",\"content\":\"go\"}}").unwrap();
        for _ in 0..count {
            write!(file, ",{{\"role\":\"user\",\"content\":\"{output}\"}}").unwrap();
        }
        write!(file, "]}}").unwrap();
    });
    let (lines, lines_size) = write_file(folder.path(), "lines.jsonl", |file| {
        for _ in 0..count {
            writeln!(file, "{{\"role\":\"user\",\"content\":\"{output}\"}}").unwrap();
        }
    });
    assert!(body_size >= 199_000_000 && lines_size >= 199_000_000);
    for (path, size) in [(body, body_size), (lines, lines_size)] {
        let Some((messages, memory)) = peak_of_reading(&path) else {
            eprintln!("skipped: this system does not tell a process's peak memory");
            return;
        };
        assert!(messages as usize >= count);
        assert!(
            memory <= 3 * size,
            "{}: {memory} bytes for a file of {size}",
            path.display()
        );
        println!("{}: {:.2} × the file", path.display(), memory as f64 / size as f64);
    }
}
