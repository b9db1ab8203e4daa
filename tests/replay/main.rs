//! Saved inputs through readers and views: the binary is not started, the library is.

mod support;

mod cases;
mod dtrace;
mod help;
mod laws;
mod records;
mod sums;
mod threads;
