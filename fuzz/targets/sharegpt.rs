#![no_main]
//! Fuzzes the reader of sharegpt.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read("sharegpt", data));
