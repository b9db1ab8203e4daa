//! Formats: one file a format of input, from bytes to the [`model`](crate::model).
//!
//! A new format is a file here, a line in [`ALL`], and a folder of fixtures in tests/data. A reader never panics, never gives up a
//! file for one bad record, counts what it skips, and names the line.

// Text that DTrace prints, and folded stacks.
mod diagnostic;
mod distribution;
mod dtrace;
mod dump;
mod eight;
mod escape;
mod folded;
mod number;
mod query_time_table;
mod stack;

// Output of other tools of the trade.
mod bcc;
mod bcc_hist;
mod bpftrace;
mod client_table;
mod lookahead;
mod perf_schema;
mod plans;
mod psn;
mod slower;
mod xstack;

// Logs of queries.
mod slow_log;

use std::io;

use crate::error::{Error, Result};
use crate::input::{Ahead, Died, Input, Lines};
use crate::model::Trace;

/// How well an input fits a format, judged by its first 64 KiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It cannot be this format; why, with the first line that does not fit.
    No(String),
    /// It could be; taken if no format is sure and no other could.
    Likely,
    /// It is.
    Sure,
}

/// What a command tells the readers.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The second count of folded lines is a count, not a part of the last frame.
    pub two_counts: bool,
    /// A second thread reads ahead, where the format can use one.
    pub ahead: Option<Ahead>,
}

/// One format.
pub struct Format {
    /// Its name for `--from`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How well the first bytes of an input fit.
    pub fits: fn(&[u8]) -> Fit,
    /// Reads an input of this format.
    pub read: fn(&mut Lines, &mut Trace, &Options) -> Result<()>,
}

/// All formats, the more special ones first.
pub static ALL: &[Format] = &[
    // Text that DTrace prints.
    dump::FORMAT,
    dtrace::FORMAT,
    query_time_table::FORMAT,
    // Logs of queries.
    slow_log::FORMAT,
    // Other tools.
    perf_schema::FORMAT,
    plans::FORMAT,
    psn::FORMAT,
    bcc::FORMAT,
    bcc_hist::FORMAT,
    bpftrace::FORMAT,
    slower::FORMAT,
    xstack::FORMAT,
    // The least special one.
    folded::FORMAT,
];

/// Reads one input into the trace; finds its format unless `from` names it.
pub fn read(input: &mut Input, from: Option<&str>, options: &Options, trace: &mut Trace) -> Result<()> {
    let format = match from {
        Some(name) => by_name(name)?,
        None => by_content(&input.name, input.lines.head())?,
    };
    trace.begin_input(&input.name);
    (format.read)(&mut input.lines, trace, options)?;
    if input.lines.failure().and_then(io::Error::get_ref).is_some_and(|inner| inner.is::<Died>()) {
        return Err(Error::Io { what: input.name.clone(), source: io::Error::other(Died) });
    }
    let (cut, failure) = (input.lines.cut_lines(), input.lines.failure().map(|error| error.to_string()));
    if cut > 0 {
        trace.losses(format!("line longer than {} MB, cut", crate::input::MAX_LINE >> 20), cut);
    }
    if let Some(failure) = failure {
        trace.losses(format!("{}: reading stopped before the end: {failure}", input.name), 1);
    }
    Ok(())
}

/// The format of that name.
pub fn by_name(name: &str) -> Result<&'static Format> {
    ALL.iter().find(|format| format.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|format| format.name).collect();
        Error::Usage(format!("--from {name}: no such format; there are {}", names.join(", ")))
    })
}

/// The format that the first bytes fit; an error names the candidates.
pub fn by_content(name: &str, head: &[u8]) -> Result<&'static Format> {
    let fits: Vec<(&Format, Fit)> = ALL.iter().map(|format| (format, (format.fits)(head))).collect();
    for level in [Fit::Sure, Fit::Likely] {
        let found: Vec<&Format> = fits.iter().filter(|(_, fit)| *fit == level).map(|(format, _)| *format).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one),
            many => {
                let names: Vec<&str> = many.iter().map(|format| format.name).collect();
                return Err(Error::Format {
                    file: name.into(),
                    cause: format!("could be any of {}", names.join(", ")),
                    remedy: format!("say which with --from {}", names.first().unwrap_or(&"")),
                });
            }
        }
    }
    Err(unknown(name, head, &fits))
}

fn unknown(name: &str, head: &[u8], fits: &[(&Format, Fit)]) -> Error {
    if head.iter().all(u8::is_ascii_whitespace) {
        return Error::Empty {
            file: name.into(),
            cause: "the input is empty".into(),
            remedy: "was the trace long enough, the server busy, and the right process traced?".into(),
        };
    }
    let start = String::from_utf8_lossy(head.get(..512).unwrap_or(head));
    if start.contains("<svg") {
        return Error::Format {
            file: name.into(),
            cause: "this is a picture (SVG), not the data that it was drawn from".into(),
            remedy: "give the folded file or the dump".into(),
        };
    }
    let reasons: Vec<String> = fits
        .iter()
        .filter_map(|(format, fit)| match fit {
            Fit::No(why) => Some(format!("\n  {}: {why}", format.name)),
            _ => None,
        })
        .collect();
    Error::Format {
        file: name.into(),
        cause: format!("no known format fits{}", reasons.concat()),
        remedy: "say which with --from, if it is one of these".into(),
    }
}
