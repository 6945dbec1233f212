#![no_main]
//! Fuzzes the reader of swe-agent.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read("swe-agent", data));
