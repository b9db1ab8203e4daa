//! Folded stacks: `root;frame;leaf 42`, sorted, safe for flamegraph.pl and inferno.

use std::io::Write;

use super::{Options, View};
use crate::error::Result;
use crate::model::Trace;

/// Entry in the table of views.
pub(super) const VIEW: View =
    View { name: "folded", extensions: &["folded"], about: "folded stacks, one a line", write };

fn write(trace: &Trace, _options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut lines: Vec<String> = Vec::new();
    for row in trace.series.iter().flat_map(|series| series.rows()) {
        let frames: Vec<&str> = row.keys.iter().chain(row.stack).map(|&id| trace.names.get(id)).collect();
        lines.push(format!("{} {}", frames.join(";"), row.value));
    }
    lines.sort_unstable();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
