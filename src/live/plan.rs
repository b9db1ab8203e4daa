//! What a trace is asked to do, before anything has started.

use std::path::PathBuf;
use std::time::Duration;

use super::flavor::Flavor;

/// What is traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// No process in particular: `$target` is not defined.
    System,
    /// A running process.
    Process(i32),
    /// A command to start: the file, then its arguments, untouched.
    Command(Vec<String>),
}

/// A D program with its macro arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name in messages, and `$0`.
    pub name: String,
    /// The D text.
    pub text: String,
    /// `$1`, `$2` ... as text.
    pub args: Vec<String>,
}

/// A trace: programs, options and target.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whose DTrace.
    pub flavor: Flavor,
    /// A library to load in place of the system's; see [`super::override_path`].
    pub library: Option<PathBuf>,
    /// At least one; all run in one handle.
    pub programs: Vec<Program>,
    /// Options as `-x` gives them; without a value: None.
    pub options: Vec<(String, Option<String>)>,
    /// What is traced.
    pub target: Target,
    /// How long from the moment that probes fire; None: until it is ended.
    pub duration: Option<Duration>,
    /// Diagnostics that stand at the beginning of the text, as if DTrace had said them: buffers that were made smaller.
    pub remarks: Vec<String>,
}

/// Why a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Ctrl-C, SIGTERM or SIGHUP.
    Signal,
    /// The time was over.
    Duration,
    /// The traced process ended.
    TargetExit,
    /// The D program called `exit()` with this status.
    Exit(i32),
    /// The reader wanted no more.
    Reader,
    /// libdtrace broke off.
    Aborted,
}
