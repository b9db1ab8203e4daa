//! See `seatrace::fuzzing::plan`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    seatrace::fuzzing::plan(bytes);
});
