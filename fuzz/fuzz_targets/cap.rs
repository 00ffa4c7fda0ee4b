//! See `legation_fuzz::cap`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::cap(data));
