#![no_main]
//! Fuzzes the reader of gemini-cli.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read("gemini-cli", data));
