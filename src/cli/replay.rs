//! `seatrace replay`: from saved files to a view.

use clap::Args;

use super::{Show, Threads};
use crate::error::{Error, Result};
use crate::format;
use crate::input::Input;
use crate::model::Trace;
use crate::view;

/// A test runs each.
const EXAMPLES: &str = "Examples:
  seatrace replay d-scripts/query-time.out
  seatrace replay d-scripts/query-time.out --min 5ms -f digest
  seatrace replay d-scripts/off-cpu.out -o off-cpu.svg
  dtrace -q -s d-scripts/on-cpu.d -p PID | seatrace replay -f folded";

/// Shown by `seatrace replay --help`: examples, and the tables of formats and views.
pub(super) fn help() -> String {
    let formats = format::ALL.iter().map(|format| line(format.name, format.about));
    let views = view::ALL.iter().map(|view| line(view.name, view.about));
    format!(
        "{EXAMPLES}\n\nFormats (--from):\n{}\nViews (-f):\n{}",
        formats.collect::<String>(),
        views.collect::<String>()
    )
}

fn line(name: &str, about: &str) -> String {
    format!("  {name:<17} {about}\n")
}

/// `seatrace replay [FILE...]`
#[derive(Args)]
pub(super) struct Replay {
    /// Saved files, also .gz; none or `-`: standard input
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Format of the input; default: found by its content
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    /// Lines of folded stacks have two counts, before and after
    #[arg(long)]
    two_counts: bool,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    show: Show,
}

impl Replay {
    /// Reads all files into one trace and shows it.
    pub(super) fn run(&self, quiet: bool) -> Result<Trace> {
        let mut trace = self.show.trace();
        let showing = self.show.begin(&mut trace)?;
        let stdin = ["-".to_owned()];
        let files = if self.files.is_empty() { &stdin[..] } else { &self.files };
        let options = format::Options { two_counts: self.two_counts, ahead: self.threads.ahead() };
        for file in files {
            let mut input = Input::open_watched(file, !quiet && self.show.leaves_terminal())?;
            format::read(&mut input, self.from.as_deref(), &options, &mut trace)?;
        }
        trace.finish();
        if trace.is_empty() {
            return Err(Error::Empty {
                file: files.join(", "),
                cause: format!("no record, no row{}", trace.why_empty()),
                remedy: "was the trace long enough, the server busy, and the right process traced?".into(),
            });
        }
        showing.end(&mut trace)?;
        Ok(trace)
    }
}
