//! Events with the path to them: `statement/sql/select;stage/sql/executing`, as a recursive query puts it together.
//!
//! The time of a path includes that of the paths below it; what is left is the event's own. A path of plain words
//! (`wait;io;file`) is a stack whose number is its own already.

use std::collections::HashMap;

use super::super::client_table::Row;
use super::{text, time};
use crate::model::{Function, NameId, Severity, Trace, Value};
use crate::units::Unit;

/// All paths of an input with their times.
#[derive(Default)]
pub(super) struct Paths {
    index: HashMap<Vec<u8>, usize>,
    rows: Vec<(Vec<u8>, i128)>,
}

impl Paths {
    pub(super) fn row(&mut self, path: usize, time_at: usize, row: &Row, trace: &mut Trace) {
        let Some(path) = text(row, Some(path)) else {
            return trace.loss("row without a path, skipped", row.line);
        };
        let Some(time) = time(row, time_at, trace) else { return };
        if path.split(|&b| b == b';').next().is_some_and(|first| !first.contains(&b'/')) {
            return add(path, time, trace);
        }
        let at = *self.index.entry(path.to_vec()).or_insert_with(|| {
            self.rows.push((path.to_vec(), 0));
            self.rows.len() - 1
        });
        if let Some((_, sum)) = self.rows.get_mut(at) {
            *sum = sum.saturating_add(time);
        }
    }

    /// Takes the time of each path off that of the path above it, and hands all over.
    pub(super) fn finish(self, trace: &mut Trace) {
        let mut below = vec![0i128; self.rows.len()];
        for (path, time) in &self.rows {
            let above = path
                .iter()
                .rposition(|&b| b == b';')
                .and_then(|at| path.get(..at))
                .and_then(|above| self.index.get(above));
            if let Some(sum) = above.and_then(|&at| below.get_mut(at)) {
                *sum = sum.saturating_add(*time);
            }
        }
        for ((path, time), below) in self.rows.iter().zip(below) {
            add(path, own(*time, below, trace), trace);
        }
    }
}

/// An event's own time. Where its children took longer, the clocks or the history's limits are to blame: noted.
pub(super) fn own(time: i128, children: i128, trace: &mut Trace) -> i128 {
    let own = time.saturating_sub(children);
    if own < 0 {
        let text = "event with more time in its parts than in itself; its own time counts as 0, so the total is larger by that";
        trace.notes.add(Severity::Info, text.into(), 1, own.saturating_neg(), None);
    }
    own.max(0)
}

fn add(path: &[u8], time: i128, trace: &mut Trace) {
    let frames: Vec<NameId> = path.split(|&b| b == b';').map(|frame| trace.names.text(frame)).collect();
    let series = trace.series(None, Function::Sum, Unit::Picoseconds, &[], true);
    trace.row(series, &[], &frames, Value::Number(time));
}
