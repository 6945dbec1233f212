//! `mainstay redact` as a user meets it: any bytes in, the same bytes out but for what is hidden.
#![allow(clippy::unwrap_used, dead_code)]

mod home;

use serde_json::Value;

use crate::home::Home;

fn redact(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let home = Home::new();
    let output = home.filter(&[&["redact"], arguments].concat(), input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn bytes_that_are_no_text_pass_through() {
    let out = redact(&[], b"\xff\xfe password=Falcon-maple66? \x80\n");
    assert!(out.starts_with(b"\xff\xfe password=credential_ref:password:"));
    assert!(out.ends_with(b" \x80\n"));
    assert_eq!(redact(&[], b""), b"");
    assert_eq!(redact(&[], b"nothing to hide\r\n"), b"nothing to hide\r\n");
}

#[test]
fn json_gives_the_places() {
    let input = "ssh root@5.221.148.37 # пароль: Falcon-maple66?";
    let report: Value = serde_json::from_slice(&redact(&["--json"], input.as_bytes())).unwrap();
    let spans = report["spans"].as_array().unwrap();
    let kinds: Vec<_> = spans.iter().map(|span| span["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ip", "password"]);
    let place = |name: &str| spans[1][name].as_u64().unwrap() as usize;
    assert_eq!(&input[place("start")..place("end")], "Falcon-maple66?");
    assert!(report["text"].as_str().unwrap().contains("[REDACTED_IP]"));
    let kept = redact(&["--ips", "none"], input.as_bytes());
    assert!(kept.starts_with(b"ssh root@5.221.148.37"));
}
