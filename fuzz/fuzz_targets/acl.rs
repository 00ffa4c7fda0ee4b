//! See `legation_fuzz::acl`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| legation_fuzz::acl(data));
