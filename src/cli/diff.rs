//! `seatrace diff`: what changed from one saved file to another.

use clap::Args;

use super::{Show, Threads};
use crate::error::{Error, Result};
use crate::format;
use crate::input::Input;
use crate::model::Trace;
use crate::view::{self, Compare, Comparison};

/// Shown by `seatrace diff --help`; a test runs each.
pub(super) const EXAMPLES: &str = "Examples:
  seatrace diff before.folded after.folded
  seatrace diff before.folded after.folded -o diff.svg
  seatrace diff before.folded after.folded --normalize -f json

Forms (-f):
  table   what changed most, first
  json    all that changed, one JSON object a line
  flame   differential flame graph (SVG), of stacks
  icicle  the same with its roots at the top
  folded  stacks with both weights, as difffolded.pl prints them";

/// `seatrace diff BEFORE AFTER`
#[derive(Args)]
pub(super) struct Diff {
    /// The first: a saved file of queries, stacks, rows or distributions; `-`: standard input
    before: String,
    /// The second, of the same kind and unit
    after: String,
    /// Format of both inputs; default: found by their content
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    compare: Compare,
    #[command(flatten)]
    show: Show,
}

impl Diff {
    /// Reads both and writes their difference.
    pub(super) fn run(&self, quiet: bool) -> Result<Trace> {
        if self.before == "-" && self.after == "-" {
            return Err(Error::Usage("only one of BEFORE and AFTER can be standard input".into()));
        }
        let (mut out, options) = self.show.open()?;
        let mut before = self.read(&self.before, true, quiet)?;
        let mut after = self.read(&self.after, false, quiet)?;
        if before.is_empty() {
            before.notes.info(format!("{} is empty: everything is new", self.before));
        }
        for trace in [&mut before, &mut after] {
            view::note_left_out(view::by_name("flame")?, trace, &options);
        }
        let comparison = Comparison { before: &before, after: &after, options: &options, compare: &self.compare };
        comparison.write(self.show.format.as_deref(), self.show.output.as_deref(), &mut out)?;
        out.finish()?;
        after.notes.merge(&before.notes);
        Ok(after)
    }

    /// One side. Nothing at all is an answer for BEFORE only.
    fn read(&self, file: &str, may_be_empty: bool, quiet: bool) -> Result<Trace> {
        let mut trace = self.show.trace();
        let mut input = Input::open_watched(file, !quiet && self.show.leaves_terminal())?;
        let options = format::Options { ahead: self.threads.ahead(), ..format::Options::default() };
        match format::read(&mut input, self.from.as_deref(), &options, &mut trace) {
            Err(Error::Empty { .. }) if may_be_empty => {}
            result => result?,
        }
        trace.finish();
        if trace.is_empty() && !may_be_empty {
            return Err(Error::Empty {
                file: file.to_owned(),
                cause: "no record, no row".into(),
                remedy: "are BEFORE and AFTER in the right order?".into(),
            });
        }
        Ok(trace)
    }
}
