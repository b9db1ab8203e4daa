//! libdtrace's types as bindgen wrote them from `abi/libdtrace.h`.
//!
//! The output is committed, so that a build needs no libclang. `cargo test --features bindgen` writes it anew and
//! compares; `SEATRACE_BLESS=1` in its environment replaces the committed file.
#![allow(missing_docs, non_camel_case_types, unreachable_pub)]

include!("abi/bindings.rs");
