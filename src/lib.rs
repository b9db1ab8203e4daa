//! seatrace: a DTrace companion for MariaDB and MySQL.
//!
//! The main path: [`cli`] opens a source, a [`live`] session or an [`input`]; a reader of [`format`](mod@format) turns its bytes into the
//! plain data of [`model`]; a [`view`] prints that to an [`output`]. `docs/architecture.md` walks along it.
#![deny(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice, clippy::panic)
)]

pub mod cli;
pub mod doctor;
pub mod error;
pub mod format;
#[doc(hidden)]
pub mod fuzzing;
pub mod input;
pub mod live;
pub mod model;
pub mod output;
pub mod progress;
pub mod scripts;
pub mod server;
pub mod sql;
pub mod symbol;
pub mod units;
pub mod view;
