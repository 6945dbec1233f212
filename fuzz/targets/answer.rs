#![no_main]
//! Fuzzes what a model may answer when it is asked for a summary.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| mainstay_fuzz::answer(data));
