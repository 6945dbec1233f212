#![no_main]
//! Fuzzes the reader of tau-bench.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read("tau-bench", data));
