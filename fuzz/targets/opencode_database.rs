#![no_main]
//! Fuzzes the reader of opencode's database files.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read_database("opencode", data));
