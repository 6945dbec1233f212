#![no_main]
//! Fuzzes the reader of openhands.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read("openhands", data));
