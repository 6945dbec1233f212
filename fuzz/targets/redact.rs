#![no_main]
//! Fuzzes redaction: it returns, and redacting twice is redacting once.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::redact(data));
