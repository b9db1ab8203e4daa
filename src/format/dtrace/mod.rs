//! What dtrace(1) prints of any D program: aggregations in their default form, stacks, distributions, with or without -q.
//!
//! Rows are found by content, not by counting lines: keys by their widths, stacks by their frames, a number alone as the value. Units are not told,
//! and of numbers neither is the function: they add up. Text that is no row is passed over and counted. Printing with own formats
//! is read where a stack (`%k`) is followed by its value on a line. Sources: facts of `dt_consume.c` as DTrace 2.0.7 prints them
//! (tests/data/dtrace), Apple's and illumos' tests for the older layouts.

mod ahead;
mod bars;
mod hex;
mod line;
mod reader;
mod row;
mod section;

use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Filter, Passes, Trace};
use crate::symbol::Cleaner;
use reader::Reader;

/// Entry in the table of formats.
pub(super) const FORMAT: Format =
    Format { name: "dtrace", about: "output of dtrace(1): stacks, distributions, aggregations", fits, read };

/// Reads the beginning and looks at what came of it.
fn fits(head: &[u8]) -> Fit {
    if head.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"# seatrace\t")) {
        return Fit::No("a seatrace dump".into());
    }
    let mut scratch = Trace::new(Cleaner::default(), Filter::default(), Passes::Auto);
    let mut reader = Reader::default();
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| head.get(..end).unwrap_or(head));
    for (at, line) in whole.split(|&byte| byte == b'\n').enumerate() {
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        reader.line(text, text.len() < line.len(), at as u64, &mut scratch);
    }
    let found = reader.found();
    reader.finish(false, &mut scratch);
    if found.title || found.stacks > 0 || found.distributions > 0 {
        return Fit::Sure;
    }
    if found.rows > 0 || reader.found().stacks > 0 {
        return Fit::Likely;
    }
    Fit::No("no stack with a value, no distribution, no aggregation row in dtrace's columns".into())
}

fn read(lines: &mut Lines, trace: &mut Trace, options: &Options) -> Result<()> {
    let cleaner = trace.names.cleaner();
    let any_offset = !cleaner.offsets && !cleaner.addresses;
    let mut reader = Reader::of_marked(any_offset);
    if let Some(ahead) = &options.ahead {
        lines.read_ahead(ahead.clone(), ahead::marker(any_offset));
    }
    loop {
        if !lines.is_ready() {
            trace.idle()?;
        }
        reader.mark(lines.marked().and_then(|marked| marked.numbers.first().copied()));
        let number = lines.number().saturating_add(1);
        let Some(line) = lines.next_raw() else { break };
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        reader.line(text, text.len() < line.len(), number, trace);
        reader.known_frames(lines, trace);
    }
    if lines.is_unterminated() {
        trace.loss("the last line has no end: it may be cut", lines.number());
    }
    reader.finish(true, trace);
    Ok(())
}
