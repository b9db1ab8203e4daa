//! Servers: the processes that are traced. Which of them run, and what their binaries hold for DTrace.

mod binary;
mod find;
mod image;
mod origin;

pub use binary::Binary;
pub use find::{SERVERS, by_name, describe, executable, in_path, version};
pub use origin::Origin;
