//! See `seatrace::fuzzing::fingerprint`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    seatrace::fuzzing::fingerprint(bytes);
});
