//! What DTrace says of itself: lines that begin with `dtrace: `, wherever they stand.
//!
//! Drops become losses that are summed up (DTrace tells them once a buffer check), probe errors are counted by their fault; the rest is
//! information. Source of the words: dt_handle.c and what DTrace 2.0.7 printed.

use crate::model::Trace;

const PREFIX: &[u8] = b"dtrace: ";

/// Whether the line is one.
pub(super) fn is_one(line: &[u8]) -> bool {
    line.starts_with(PREFIX)
}

/// Takes the line if it is a diagnostic.
pub(super) fn read(line: &[u8], trace: &mut Trace) -> bool {
    let Some(text) = line.strip_prefix(PREFIX) else { return false };
    trace.diagnostic(&String::from_utf8_lossy(text));
    true
}
