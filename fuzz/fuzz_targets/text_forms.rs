//! See `legation_fuzz::text_forms`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::text_forms(data));
