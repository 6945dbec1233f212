//! Documents and lines of JSON: valid, in order, with what matters.

use super::*;

fn shrunk(text: &str, most: usize) -> String {
    let tape = Tape::document(text).or_else(|| Tape::lines(text)).unwrap();
    shrink(&tape, most)
}

fn records(count: usize) -> String {
    let record = |n: usize| {
        let status = if n == 217 { "retired" } else { "active" };
        let latency = if n == 318 { 90_000 } else { 20 + n % 9 };
        format!(r#"{{"id": {n}, "name": "user-{n}", "status": "{status}", "latency_ms": {latency}, "score": 1.50e0}}"#)
    };
    let records: Vec<String> = (0..count).map(record).collect();
    format!("[\n  {}\n]", records.join(",\n  "))
}

#[test]
fn first_last_and_odd_records_stay_with_their_spelling() {
    let short = shrunk(&records(500), 1500);
    assert!(short.len() <= 1500, "{}", short.len());
    let value: serde_json::Value = serde_json::from_str(&short).unwrap();
    for kept in [
        r#"{"id": 0, "name": "user-0""#,
        r#""id": 499"#,
        "\"retired\"",
        "90000",
        "1.50e0",
    ] {
        assert!(short.contains(kept), "{kept} in {short}");
    }
    assert!(
        short.contains("more items, keys id, name, status, latency_ms, score⟧\""),
        "{short}"
    );
    let counted: usize = value
        .as_array()
        .unwrap()
        .iter()
        .map(|item| match item.as_str() {
            Some(marker) => marker.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap(),
            None => 1,
        })
        .sum();
    assert_eq!(counted, 500);
}

#[test]
fn failures_stay_wherever_they_are() {
    let mut items: Vec<String> = (0..400)
        .map(|n| format!(r#"{{"n":{n},"error":null,"log":"fine"}}"#))
        .collect();
    items[123] = r#"{"n":123,"error":"disk full on /dev/sda1","log":"fine"}"#.into();
    items[321] = r#"{"n":321,"error":null,"log":"java.lang.OutOfMemoryError: heap"}"#.into();
    let text = format!(
        r#"{{"deep":{{"deeper":{{"items":[{}]}}}},"exit_code":1}}"#,
        items.join(",")
    );
    let short = shrunk(&text, 400);
    serde_json::from_str::<serde_json::Value>(&short).unwrap();
    assert!(
        short.contains("disk full on /dev/sda1") && short.contains("OutOfMemoryError"),
        "{short}"
    );
    assert!(short.contains(r#""exit_code":1"#));
    assert!(short.len() < 900, "{}", short.len());
}

#[test]
fn long_strings_are_cut_inside() {
    let text = format!(
        r#"{{"title":"a","body":"{}","end":true}}"#,
        "prose and more prose, ".repeat(400)
    );
    let short = shrunk(&text, 600);
    let value: serde_json::Value = serde_json::from_str(&short).unwrap();
    assert!(value["body"].as_str().unwrap().contains(" bytes dropped⟧"));
    assert_eq!(value["end"], true);
}

#[test]
fn maps_with_many_keys_are_cut_like_arrays() {
    let entries: Vec<String> = (0..3000)
        .map(|n| format!(r#""pkg-{n}":{{"version":"1.{n}.0"}}"#))
        .collect();
    let short = shrunk(&format!("{{{}}}", entries.join(",")), 2000);
    let value: serde_json::Value = serde_json::from_str(&short).unwrap();
    assert!(value["pkg-0"].is_object() && value["pkg-2999"].is_object());
    assert!(
        short.contains("more keys, keys version⟧\": null") && short.len() <= 2000,
        "{short}"
    );
}

#[test]
fn lines_stay_lines_of_json() {
    let mut lines: Vec<String> = (0..300)
        .map(|n| format!(r#"{{"ts":{n},"level":"info","msg":"tick","worker":{}}}"#, n % 4))
        .collect();
    lines[150] = r#"{"ts":150,"level":"error","msg":"lost connection","worker":2}"#.into();
    lines.push(r#"{"ts":300,"level":"in"#.into());
    let short = shrunk(&lines.join("\n"), 700);
    assert!(
        short.contains("lost connection") && short.starts_with(r#"{"ts":0,"#),
        "{short}"
    );
    let broken = short
        .lines()
        .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_err())
        .count();
    assert_eq!(broken, 1);
    assert!(short.contains("more lines, keys ts, level, msg, worker⟧\""));
    assert!(short.len() <= 700, "{}", short.len());
}

#[test]
fn depth_and_width_cost_nothing_but_their_length() {
    for depth in [10, 1000, 100_000] {
        let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let short = shrunk(&text, 200);
        assert!(Tape::document(&short).is_some() && short.len() <= text.len());
    }
    let objects = format!("{}null{}", r#"{"a":"#.repeat(50_000), "}".repeat(50_000));
    assert!(shrunk(&objects, 300).len() < 300);
    let failing = format!("{}\"error: deep\"{}", "[0,".repeat(20_000), "]".repeat(20_000));
    assert!(shrunk(&failing, 300).contains("error: deep"));
    let digits = format!("[{}]", "7".repeat(100_000));
    assert!(shrunk(&digits, 300).len() < 300);
}

#[test]
fn what_is_cut_is_still_valid() {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just("null".to_owned()),
        "-?[1-9][0-9]{0,5}(\\.[0-9]{1,3})?".prop_map(|number| number),
        "[a-zé\\\\\"\\n ]{0,300}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        Just(r#""error: \ud83d\ude00""#.to_owned()),
    ];
    let value = leaf.prop_recursive(6, 200, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(("[a-c]{1,2}", inner), 0..20).prop_map(|entries| {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("\"{key}\":{value}"))
                    .collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    });
    proptest!(ProptestConfig::with_cases(96), |(text in value, most in 10_usize..600)| {
        let short = shrunk(&text, most);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&short).is_ok(), "{} -> {}", text, short);
    });
}
