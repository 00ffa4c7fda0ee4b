//! See `legation_fuzz::vlp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::vlp(data));
