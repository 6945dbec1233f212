#![no_main]
//! Fuzzes token counting.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::count(data));
