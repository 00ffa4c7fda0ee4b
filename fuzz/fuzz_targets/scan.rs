//! See `scan::scan`.
#![no_main]

#[path = "../src/scan.rs"]
mod scan;

libfuzzer_sys::fuzz_target!(|data: &[u8]| scan::scan(data));
