#![no_main]
//! Fuzzes the reader of hermes's database files.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::read_database("hermes", data));
