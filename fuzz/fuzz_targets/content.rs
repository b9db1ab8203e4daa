//! See `seatrace::fuzzing::content`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    seatrace::fuzzing::content(bytes);
});
