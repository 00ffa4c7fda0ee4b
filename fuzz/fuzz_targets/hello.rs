//! See `legation_fuzz::hello`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::hello(data));
