//! What the fuzz targets run and `cargo test` replays over their corpora: the laws that hold for any bytes.
//!
//! Not part of the library's interface.

use std::io;

use crate::format::{self, Options};
use crate::input::Lines;
use crate::model::Trace;
use crate::symbol::Cleaner;
use crate::view;

/// No reader and no view panics or hangs. The first byte chooses the format.
pub fn reader(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let chosen = format::ALL.iter().cycle().nth(usize::from(*first));
    if let Some(trace) = chosen.and_then(|format| read_as(format, rest)) {
        show(&trace);
    }
}

/// Finding a format by content never panics; what is found can be read and shown.
pub fn content(bytes: &[u8]) {
    if let Some(trace) =
        format::by_content("bytes", Lines::from_bytes(bytes).head()).ok().and_then(|format| read_as(format, bytes))
    {
        show(&trace);
    }
}

/// Folded output is a fixed point: read and written again it is the same, and no weight is lost.
pub fn folded_round_trip(bytes: &[u8]) {
    let Some(once) = fold(bytes) else { return };
    assert_eq!(fold(&once).as_ref().map(|bytes| String::from_utf8_lossy(bytes)), Some(String::from_utf8_lossy(&once)));
}

/// Cleaning a symbol never panics, and its result is no longer than a small multiple of the name.
pub fn symbol(bytes: &[u8]) {
    let raw = String::from_utf8_lossy(bytes);
    for params in [false, true] {
        let cleaner = Cleaner { params, ..Cleaner::default() };
        assert!(!cleaner.clean(&raw).text.contains('\n') || raw.contains('\n'));
    }
}

fn read_as(format: &format::Format, bytes: &[u8]) -> Option<Trace> {
    let mut trace = Trace::default();
    trace.begin_input("bytes");
    (format.read)(&mut Lines::from_bytes(bytes), &mut trace, &Options::default()).ok()?;
    trace.finish();
    Some(trace)
}

fn show(trace: &Trace) {
    for view in view::ALL {
        // A view may refuse the data; it may not panic.
        let _ = (view.write)(trace, &view::Options::default(), &mut io::sink());
    }
}

fn fold(bytes: &[u8]) -> Option<Vec<u8>> {
    let trace = read_as(format::by_name("folded").ok()?, bytes)?;
    let mut out = Vec::new();
    (view::by_name("folded").ok()?.write)(&trace, &view::Options::default(), &mut out).ok()?;
    Some(out)
}
