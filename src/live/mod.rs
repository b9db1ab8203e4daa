//! Live traces: libdtrace, and the system's dtrace(1) as a second source. Everything unsafe of the program is here.
//!
//! A [`Session`] runs D programs and is read like a saved dump: it gives the text that `dtrace -q` would print. What differs between the
//! DTraces of macOS, illumos, FreeBSD and Linux is data in [`Flavor`]; `library` loads the system's libdtrace, `handle` makes its calls
//! safe, `tracer` makes them in order, in a thread of its own, and `spool` keeps that thread from ever waiting for us.
#![allow(unsafe_code)]

mod bindings;
mod command;
mod error;
mod flavor;
mod handle;
mod library;
mod plan;
mod privilege;
mod process;
mod session;
mod signals;
mod spool;
mod tracer;

pub use error::{Circumstances, Failure, LiveError, Step};
pub use flavor::{CreateShape, Flavor, Traits};
pub use library::{LIBRARY_VARIABLE, loadable, override_path};
pub use plan::{Ended, Plan, Program, Target};
pub use privilege::{caller, is_root, temporary_folder};
pub use process::{Process, executable, processes};
pub use session::{Counts, Progress, Report, SecondSignal, Session, Text, Via};
pub use signals::received as signals_received;
