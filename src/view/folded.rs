//! Folded stacks: `root;frame;leaf 42`, sorted, safe for flamegraph.pl and inferno.

use std::io::Write;

use super::stacks::{Stacks, safe_frame};
use super::{Options, View};
use crate::error::Result;
use crate::model::Trace;

/// Entry in the table of views.
pub(super) const VIEW: View =
    View { name: "folded", extensions: &["folded"], about: "folded stacks, one a line", write, stream: None };

fn write(trace: &Trace, options: &Options, out: &mut dyn Write) -> Result<()> {
    let stacks = Stacks::select(trace, options)?;
    let mut text = String::new();
    let mut lines: Vec<(usize, usize, i128)> = Vec::new();
    stacks.each(|frames, weight| {
        let start = text.len();
        for frame in frames {
            if text.len() > start {
                text.push(';');
            }
            text.push_str(&safe_frame(frame));
        }
        lines.push((start, text.len(), weight));
    });
    let path = |&(start, end, _): &(usize, usize, i128)| text.get(start..end).unwrap_or("");
    lines.sort_by(|a, b| path(a).cmp(path(b)));
    for equal in lines.chunk_by(|a, b| path(a) == path(b)) {
        let weight = equal.iter().fold(0i128, |sum, line| sum.saturating_add(line.2));
        writeln!(out, "{} {weight}", equal.first().map_or("", path))?;
    }
    Ok(())
}
