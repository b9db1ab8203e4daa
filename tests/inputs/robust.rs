//! Damage: samples cut at every byte and with bytes changed. A reader may complain, it must not panic, hang, or lose count of itself.

use std::fs;

use seatrace::format::{self, Options};
use seatrace::input::Lines;

use super::{FORMATS, empty, fixtures, try_read};

/// Whole lines up to about that size: a cut at every byte is quadratic.
const SMALL: usize = 450;

fn small(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .get(..SMALL)
        .and_then(|head| head.iter().rposition(|&b| b == b'\n'))
        .map_or(bytes.len().min(SMALL), |at| at + 1);
    &bytes[..end]
}

/// The first file of every kind that a format reads.
fn samples(format: &str) -> Vec<Vec<u8>> {
    let mut starts: Vec<Vec<u8>> = Vec::new();
    for path in fixtures(format) {
        let bytes = small(&fs::read(path).unwrap()).to_vec();
        let known = starts.iter().any(|start: &Vec<u8>| start.get(..8) == bytes.get(..8));
        if !known {
            starts.push(bytes);
        }
    }
    starts
}

/// Reads as that format, whatever it is; without the detour of a file, since this is done very often.
fn read_as(format: &str, bytes: &[u8]) {
    let mut trace = empty();
    trace.begin_input("sample");
    let _ = (format::by_name(format).unwrap().read)(&mut Lines::from_bytes(bytes), &mut trace, &Options::default());
    trace.finish();
}

#[test]
fn cut_anywhere() {
    for format in FORMATS {
        for bytes in samples(format) {
            for end in 0..bytes.len() {
                read_as(format, &bytes[..end]);
            }
        }
    }
}

#[test]
fn bytes_changed() {
    for format in FORMATS {
        for bytes in samples(format) {
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] = [b'\n', 0xff, b'9', b'"', 0, b'|', b'\t', damaged[at] ^ 0x20][at % 8];
                read_as(format, &damaged);
            }
        }
    }
}

#[test]
fn every_format_reads_every_file() {
    for format in FORMATS {
        for other in FORMATS {
            for bytes in samples(other) {
                read_as(format, &bytes);
            }
        }
    }
}

#[test]
fn deep_nesting_ends() {
    let deep: String =
        (0..3000).map(|level| format!("{}-> step (actual time=1..2 rows=1 loops=1)\n", "    ".repeat(level))).collect();
    assert!(try_read(deep.as_bytes(), Some("plan")).is_ok());
    let json = format!("{{\"query_block\": {}1{}}}", "{\"table\": ".repeat(100_000), "}".repeat(100_000));
    assert!(try_read(json.as_bytes(), Some("plan")).is_err());
    let rows: String = (1..5000).map(|id| format!("1\t{id}\t{}\tstage/sql/x\t{id}\n", id + 1)).collect();
    let chain = format!("thread_id\tevent_id\tnesting_event_id\tevent_name\ttimer_wait\n{rows}");
    assert!(try_read(chain.as_bytes(), None).is_ok());
}
