//! See `legation_fuzz::canonical`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::canonical(data));
