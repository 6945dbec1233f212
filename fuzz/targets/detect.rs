#![no_main]
//! Fuzzes detection and reading together.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::detect(data));
