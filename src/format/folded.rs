//! Folded stacks: `root;frame;leaf 42`, one stack a line, as FlameGraph's collapsers print them.
//!
//! Weights are integers; the frames are shown as they are. Source of the format: FlameGraph's README.

use super::{Fit, Format, Options};
use crate::error::Result;
use crate::input::Lines;
use crate::model::{Function, NameId, Trace, Value};
use crate::units::Unit;

/// Entry in the table of formats.
pub(super) const FORMAT: Format = Format { name: "folded", about: "folded stacks: `root;leaf 42`", fits, read };

fn fits(head: &[u8]) -> Fit {
    let mut seen = 0;
    for line in head.split(|&b| b == b'\n').filter(|line| !line.is_empty()).take(20) {
        if split(line).is_none() {
            return if seen > 3 {
                Fit::Likely
            } else {
                Fit::No(format!(
                    "no weight at the end of `{}`",
                    String::from_utf8_lossy(line.get(..60).unwrap_or(line))
                ))
            };
        }
        seen += 1;
    }
    if seen > 0 { Fit::Likely } else { Fit::No("no line".into()) }
}

fn read(lines: &mut Lines, trace: &mut Trace, _options: &Options) -> Result<()> {
    let series = trace.series(None, Function::Count, Unit::Unknown, &[], true);
    let mut stack: Vec<NameId> = Vec::new();
    while let Some(line) = lines.next() {
        let Some((frames, weight)) = split(line) else {
            if !line.iter().all(u8::is_ascii_whitespace) {
                let number = lines.number();
                trace.loss("line is no folded stack, skipped", number);
            }
            continue;
        };
        stack.clear();
        stack.extend(frames.split(|&b| b == b';').map(|frame| trace.names.text(frame)));
        trace.row(series, &[], &stack, Value::Number(weight));
    }
    Ok(())
}

fn split(line: &[u8]) -> Option<(&[u8], i128)> {
    let at = memchr::memrchr(b' ', line)?;
    let weight = std::str::from_utf8(line.get(at + 1..)?).ok()?.parse().ok()?;
    Some((line.get(..at)?, weight))
}
