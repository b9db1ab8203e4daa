//! libdtrace's types as bindgen wrote them from `abi/libdtrace.h`.
//!
//! The output is committed, so that a build needs no libclang. With `--features bindgen` it is written anew: a test compares the two, and
//! `SEATRACE_BLESS=1` in the environment of the build replaces the committed file.
#![allow(missing_docs, non_camel_case_types, unreachable_pub, clippy::all, clippy::indexing_slicing)]
// Generated: zeroing of plain C structs, which any bit pattern is valid for.
#![allow(clippy::undocumented_unsafe_blocks)]

include!("abi/bindings.rs");

#[cfg(all(test, feature = "bindgen"))]
mod tests {
    #[test]
    fn the_committed_bindings_are_those_of_the_header() {
        assert_eq!(include_str!(concat!(env!("OUT_DIR"), "/bindings.rs")), include_str!("abi/bindings.rs"));
    }
}
