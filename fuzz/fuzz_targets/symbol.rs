//! See `seatrace::fuzzing::symbol`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    seatrace::fuzzing::symbol(bytes);
});
