//! See `legation_fuzz::lines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::lines(data));
