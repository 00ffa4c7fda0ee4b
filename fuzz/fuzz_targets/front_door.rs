//! See `legation_fuzz::front_door`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::front_door(data));
