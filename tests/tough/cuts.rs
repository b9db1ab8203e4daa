//! One sample of each format, cut at every byte: no panic, and what was complete before the cut is there.

use std::io::Read;

use seatrace::format;
use seatrace::model::Trace;

use super::{data, read, read_as};

/// Format, its sample, and how much of it is taken: a cut at every byte is quadratic.
const SAMPLES: &[(&str, &str, usize)] = &[
    ("dump", "dump/example-1.dump", 4000),
    ("dump", "dump/example-2.dump", 4000),
    ("dtrace", "dtrace/vm-p3-kstack.txt.gz", 3000),
    ("dtrace", "dtrace/aggs_quant.out.gz", 3000),
    ("query-time-table", "query_time_table/mariadb.out", 2500),
    ("slow-log", "slowlog/mariadb-11.8.log", 3000),
    ("perf-schema", "perf-schema/waits_before.tsv", 2500),
    ("perf-schema", "perf-schema/waits_summary_global.vertical.txt", 2500),
    ("plan", "plan/filesort_limit.raw.json", 4000),
    ("plan", "plan/explain_analyze_join.txt", 3000),
    ("plan", "plan/analyze_tab_join3.table.txt", 3000),
    ("psn", "psn/psn_kstack.txt", 2500),
    ("bcc", "bcc/offcputime_blocks.txt", 2500),
    ("bcc-hist", "bcc-hist/ext4dist.txt", 2500),
    ("bpftrace", "bpftrace/ustack.out", 2500),
    ("qslower", "qslower/mysqld_qslower.txt", 2500),
    ("xstack", "xstack/xstack.txt", 2500),
];

fn sample(path: &str, size: usize) -> Vec<u8> {
    let bytes = std::fs::read(data(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = Vec::new();
    match bytes.starts_with(&[0x1f, 0x8b]) {
        true => _ = flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).expect("it is whole"),
        false => text = bytes,
    }
    text.truncate(size);
    let end = text.iter().rposition(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
    text.truncate(end);
    text
}

/// How many records and rows a trace holds.
fn count(trace: &Trace) -> usize {
    let events: usize = trace.events.iter().map(|table| table.rows.len()).sum();
    let rows: usize = trace.series.iter().map(|series| series.len()).sum();
    trace.queries.len() + events + rows
}

/// Cuts at every byte; at a cut there is no less than at the last end of a line before it, but for a record that the cut itself damages.
fn cut_everywhere(format: &str, bytes: &[u8]) -> usize {
    let (mut at_line, mut before) = (0, 0);
    for end in 0..=bytes.len() {
        // A document of JSON is whole or nothing: refusing it is right.
        let found = read_as(format, &bytes[..end]).map_or(0, |trace| count(&trace));
        if format != "plan" {
            let least = at_line.min(before);
            assert!(found + 1 >= least, "{format}, cut at {end}: {found} records, {least} before");
        }
        if bytes[..end].ends_with(b"\n") {
            (before, at_line) = (at_line, found);
        }
    }
    bytes.len() + 1
}

#[test]
fn every_format_is_cut_at_every_byte() {
    let mut positions = 0;
    for (format, path, size) in SAMPLES {
        let bytes = sample(path, *size);
        let whole = read_as(format, &bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(count(&whole) > 0, "{path} shows nothing");
        positions += cut_everywhere(format, &bytes);
    }
    let folded: String = (0..60).map(|at| format!("main;f{};leaf {}\n", at % 7, at)).collect();
    positions += cut_everywhere("folded", folded.as_bytes());
    let json = "{\"type\": \"attached_probes\", \"data\": {\"probes\": 2}}\n{\"type\": \"stats\", \"data\": {\"@avg\": {\"select 1\": 29}}}\n\
                {\"type\": \"map\", \"data\": {\"@n\": {\"a,b\": 5, \"c\": 6}}}\n\
                {\"type\": \"hist\", \"data\": {\"@us\": [{\"min\": 16, \"max\": 31, \"count\": 2}, {\"min\": 32, \"max\": 63, \"count\": 7}]}}\n";
    positions += cut_everywhere("bpftrace", json.as_bytes());
    println!("{positions} cuts of {} samples", SAMPLES.len() + 2);
    let left_out = format::ALL
        .iter()
        .find(|format| format.name != "folded" && !SAMPLES.iter().any(|(name, _, _)| *name == format.name));
    assert!(left_out.is_none(), "no sample of {}", left_out.map_or("", |format| format.name));
}

/// Every cut of a compressed file gives what came before it, and says that the rest is missing.
#[test]
fn a_compressed_file_is_cut_at_every_byte() {
    use std::io::Write;
    let text: String = (0..300).map(|at| format!("main;f{};leaf{} {}\n", at % 13, at * at % 101, at)).collect();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).expect("memory can be written");
    let bytes = packer.finish().expect("memory can be written");
    let whole = count(&read(&bytes).expect("it is whole"));
    for end in 3..bytes.len() {
        let Ok(trace) = read(&bytes[..end]) else { continue };
        assert!(count(&trace) <= whole);
        assert!(
            super::notes(&trace).contains("reading stopped before the end"),
            "cut at {end}: {}",
            super::notes(&trace)
        );
    }
}

/// UTF-16 of either order, cut at every byte.
#[test]
fn utf_16_is_cut_at_every_byte() {
    let text = "\u{feff}main;caf\u{e9} 5\r\nmain;\u{1f42c} 7\r\n";
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(order).collect();
        let trace = read(&bytes).expect("it is read");
        let folded = super::show(&trace, "folded", &Default::default()).expect("it is shown");
        assert_eq!(super::text(&folded), "main;caf\u{e9} 5\nmain;\u{1f42c} 7\n");
        for end in 0..bytes.len() {
            if let Ok(trace) = read(&bytes[..end]) {
                assert!(count(&trace) <= 2);
            }
        }
    }
}
