//! See `legation_fuzz::vcp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::vcp(data));
