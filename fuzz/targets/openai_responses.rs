#![no_main]
//! Fuzzes the reader of openai-responses.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read("openai-responses", data));
