//! Any bytes through the reader of any format, then through every view. The first byte chooses the format, so that one
//! corpus serves all and a reader is not fed what only detection would have kept from it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    seatrace::fuzzing::reader(bytes);
});
