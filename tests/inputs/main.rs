//! Files of other tools: every sample gives the sums that a second program counts, the cases from practice give their right results, one
//! reader is sure of a file, and no damage makes a reader panic.

mod cases;
mod detection;
mod guides;
mod robust;
mod sums;

use std::fs;
use std::path::{Path, PathBuf};

use seatrace::format::{self, Options};
use seatrace::input::Input;
use seatrace::model::{Passes, Trace};

/// The formats that are read here; each has a folder of fixtures.
const FORMATS: &[&str] = &["perf-schema", "plan", "psn", "bcc", "bcc-hist", "bpftrace", "qslower", "xstack"];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The fixtures of a format, sorted.
fn fixtures(format: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(data().join(format)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn empty() -> Trace {
    Trace::new(Default::default(), Default::default(), Passes::Auto)
}

/// Reads bytes as a file whose format is found by content, or as `from`.
fn try_read(bytes: &[u8], from: Option<&str>) -> seatrace::error::Result<Trace> {
    let mut trace = empty();
    let mut input = Input::from_read("sample", Box::new(std::io::Cursor::new(bytes.to_vec())))?;
    format::read(&mut input, from, &Options::default(), &mut trace)?;
    trace.finish();
    Ok(trace)
}

fn read(text: &str) -> Trace {
    try_read(text.as_bytes(), None).unwrap()
}

/// Rows of all series as folded stacks, in order of first occurrence.
fn folded(trace: &Trace) -> Vec<String> {
    let rows = trace.series.iter().flat_map(|series| series.rows());
    rows.map(|row| {
        let frames: Vec<&str> = row.keys.iter().chain(row.stack).map(|&id| trace.names.get(id)).collect();
        format!("{} {}", frames.join(";"), row.value)
    })
    .collect()
}

fn notes(trace: &Trace) -> String {
    trace.notes.iter().map(|note| format!("{note}\n")).collect()
}
