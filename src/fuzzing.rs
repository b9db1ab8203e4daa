//! What the fuzz targets run and `cargo test` replays over their corpora: the laws that hold for any bytes.
//!
//! Not part of the library's interface.

use std::io;

use crate::format::{self, Options};
use crate::input::Lines;
use crate::model::Trace;
use crate::sql;
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

/// Folded output is a fixed point: read and written again it is the same, and no weight is lost. Whether stacks were cut is judged anew by
/// what all of them look like.
pub fn folded_round_trip(bytes: &[u8]) {
    let Some(once) = fold(bytes) else { return };
    let twice = fold(&once).unwrap_or_default();
    let [once, twice] = [once, twice].map(|bytes| {
        let mut lines: Vec<String> = text(&bytes).lines().map(|line| line.replace("[stack cut];", "")).collect();
        lines.sort();
        lines
    });
    assert_eq!(once, twice);
}

/// Cleaning a symbol never panics, and its result is no longer than a small multiple of the name.
pub fn symbol(bytes: &[u8]) {
    let raw = String::from_utf8_lossy(bytes);
    for params in [false, true] {
        let cleaner = Cleaner { params, ..Cleaner::default() };
        assert!(!cleaner.clean(&raw).text.contains('\n') || raw.contains('\n'));
    }
}

/// A fingerprint holds no literal, whole or cut, and a worker that is used again gives the same.
pub fn fingerprint(bytes: &[u8]) {
    let mut worker = sql::Fingerprinter::default();
    for cut in [false, true] {
        let once = worker.fingerprint(bytes, cut).to_vec();
        let again = worker.fingerprint(bytes, cut);
        assert_eq!(text(again), text(&once), "the same twice");
        let is_literal = |token: &sql::Token<'_>| matches!(token.kind, sql::Kind::Text | sql::Kind::Number);
        let literal = sql::Lexer::new(&once).find(is_literal);
        assert!(literal.is_none(), "{:?} is left of {:?}", literal.map(|token| text(token.text)), text(bytes));
    }
}

/// A plan in JSON, a tree or a table: no step's own time is below 0, and the folded output holds what the trace holds.
pub fn plan(bytes: &[u8]) {
    let Some(trace) = format::by_name("plan").ok().and_then(|format| read_as(format, bytes)) else { return };
    for row in trace.series.iter().flat_map(|series| series.rows()) {
        assert!(row.value >= 0, "a step's own time is {}", row.value);
    }
    show(&trace);
}

/// What a script prints is read back as it was: texts by `%S`, numbers, keys of aggregations. The bytes are cut into fields at 0xff.
pub fn dump_round_trip(bytes: &[u8]) {
    let fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0xff).collect();
    let mut dump = b"# seatrace\t1\n# record\tquery\telapsed:ns\tuser:text\tquery:text\n".to_vec();
    for (number, pair) in fields.chunks(2).enumerate() {
        dump.extend_from_slice(format!("query\t{number}").as_bytes());
        for at in 0..2 {
            dump.push(b'\t');
            push_escaped(&mut dump, pair.get(at).copied().unwrap_or(&[]));
        }
        dump.push(b'\n');
    }
    dump.extend_from_slice(b"# aggregation\tkeys\tsum\tns\tkey:text\n");
    for field in &fields {
        push_escaped(&mut dump, field);
        dump.extend_from_slice(b"\t1\n");
    }
    dump.extend_from_slice(b"# end\tkeys\n# stop\t1\n");
    let Some(trace) = format::by_name("dump").ok().and_then(|format| read_as(format, &dump)) else { return };
    assert_eq!(trace.notes.losses().count(), 0, "nothing is lost");
    assert_eq!(trace.queries.len(), fields.len().div_ceil(2));
    for (query, pair) in trace.queries.iter().zip(fields.chunks(2)) {
        assert_eq!(query.user.as_deref(), pair.first().map(|user| text(user)).as_deref());
        assert_eq!(query.text, text(pair.get(1).copied().unwrap_or(&[])));
    }
    let total: i128 = trace.series.iter().map(|series| series.total()).sum();
    assert_eq!(usize::try_from(total), Ok(fields.len()));
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A text as `%S` prints it, its end mark included.
fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\t' => out.extend(b"\\t"),
            b'\r' => out.extend(b"\\r"),
            0x20..0x7f => out.push(byte),
            _ => out.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    out.extend(b"\\0");
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
