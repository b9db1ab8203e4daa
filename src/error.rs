//! The errors of the library, worded for the person who ran the command.
//!
//! Each says what was asked for, what stood in the way and, where there is one, the way out. Losses that do not stop the work
//! are not errors but [`Note`](crate::model::Note)s.

use std::io;
use std::path::Path;

/// Why a command could not give its result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file, pipe or directory could not be read or written.
    #[error("{what}: {source}")]
    Io {
        /// The file or stream, and what was done to it.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// An input is of a known format, but something in it stops the reading of the rest.
    #[error("{file}:{line}: {cause}{}", way_out(.remedy))]
    Input {
        /// Name of the input; `<stdin>` for standard input.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// What is wrong there.
        cause: String,
        /// What to do; may be empty.
        remedy: String,
    },
    /// No reader knows the input, or several do.
    #[error("{file}: {cause}{}", way_out(.remedy))]
    Format {
        /// Name of the input.
        file: String,
        /// Unknown or ambiguous, with the candidates and the first line that did not fit.
        cause: String,
        /// What to do.
        remedy: String,
    },
    /// The input was read, but holds nothing to show.
    #[error("{file}: nothing to show: {cause}{}", way_out(.remedy))]
    Empty {
        /// Name of the input.
        file: String,
        /// What was found instead.
        cause: String,
        /// Likely reasons, and what to do.
        remedy: String,
    },
    /// The view cannot show this kind of data, or the options exclude each other.
    #[error("{0}")]
    Usage(String),
    /// A live trace could not start or had to stop.
    #[error("{cause}{}", way_out(.remedy))]
    Trace {
        /// What happened, with DTrace's own words.
        cause: String,
        /// What to do; may be empty.
        remedy: String,
    },
    /// `--strict` was given and something was lost.
    #[error("--strict: {0} kinds of loss, named above")]
    Strict(usize),
}

/// What every fallible function of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Io`] about `path`.
    pub fn io(path: &Path, source: io::Error) -> Error {
        Error::Io { what: path.display().to_string(), source }
    }

    /// Whether the reader of our output went away, which is no failure (`seatrace … | head`).
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<io::Error> for Error {
    /// For writers: every plain `io::Error` in a view comes from the output.
    fn from(source: io::Error) -> Error {
        Error::Io { what: "output".into(), source }
    }
}

fn way_out(remedy: &str) -> String {
    if remedy.is_empty() { String::new() } else { format!("\n  {remedy}") }
}
