//! See `seatrace::fuzzing::dump_round_trip`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    seatrace::fuzzing::dump_round_trip(bytes);
});
