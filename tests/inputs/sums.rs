//! Sums of every sample against count.py, which counts them by other means.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use seatrace::model::{Function, Series, Trace};

use super::{FORMATS, fixtures, name, try_read};

/// What is counted in a file, how many rows (`-`: not told), their sum.
type Counts = BTreeMap<String, (Option<usize>, i128)>;

/// What count.py says of each file.
fn counted(format: &str, files: &[PathBuf]) -> Vec<Counts> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/count.py");
    let out = Command::new("python3").arg(script).arg(format).args(files).output().expect("these tests need python3");
    assert!(out.status.success(), "count.py {format}: {}", String::from_utf8_lossy(&out.stderr));
    let mut found: Vec<Counts> = Vec::new();
    for line in String::from_utf8(out.stdout).unwrap().lines() {
        if line.starts_with("== ") {
            found.push(Counts::new());
            continue;
        }
        let [what, rows, sum] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        found.last_mut().unwrap().insert(what.to_owned(), (rows.parse().ok(), sum.parse().unwrap()));
    }
    found
}

fn rows_and_sum<'a>(series: impl Iterator<Item = &'a Series>) -> (usize, i128) {
    series.fold((0, 0), |(rows, sum), series| {
        (rows + series.rows().count(), sum + series.rows().map(|row| row.value).sum::<i128>())
    })
}

/// The same from the trace.
fn ours(format: &str, what: &str, trace: &Trace) -> (usize, i128) {
    let plain = |series: &&Series| !series.is_distribution();
    if what == "queries" {
        return (trace.queries.len(), trace.queries.iter().map(|query| i128::from(query.elapsed.unwrap())).sum());
    }
    if let ("bpftrace", name) = (format, what) {
        let (name, spread) = name.strip_suffix(" hist").map_or((name, false), |name| (name, true));
        let wanted = Some(name).filter(|name| !name.is_empty());
        let found =
            trace.series.iter().filter(|series| series.name.as_deref() == wanted && series.is_distribution() == spread);
        let (_, sum) = rows_and_sum(found.clone());
        let rows = if spread { 0 } else { rows_and_sum(found).0 };
        return (rows, sum);
    }
    match what {
        "all" => rows_and_sum(trace.series.iter().filter(plain)),
        "hist" => (0, rows_and_sum(trace.series.iter().filter(|series| series.is_distribution())).1),
        _ => {
            let (function, unit) = what.split_once(' ').unwrap();
            let function = if function == "count" { Function::Count } else { Function::Sum };
            let plan = format == "plan";
            rows_and_sum(
                trace
                    .series
                    .iter()
                    .filter(|series| series.unit.to_string() == unit && (plan || series.function == function)),
            )
        }
    }
}

#[test]
fn every_sample_sums_up() {
    for format in FORMATS {
        let mut files = fixtures(format);
        // Plans with estimates only are refused.
        files.retain(|path| !name(path).starts_with("explain_json") && !name(path).starts_with("explain_tab"));
        for (path, counted) in files.iter().zip(counted(format, &files)) {
            let trace = try_read(&fs::read(path).unwrap(), None).unwrap();
            assert!(!counted.is_empty(), "{}", name(path));
            for (what, (rows, sum)) in counted {
                let (our_rows, our_sum) = ours(format, &what, &trace);
                assert_eq!(our_sum, sum, "{}: sum of {what}", name(path));
                if let Some(rows) = rows.filter(|_| our_rows > 0) {
                    assert!(our_rows <= rows, "{}: {our_rows} rows of {what}, counted {rows}", name(path));
                }
            }
        }
    }
}

#[test]
fn the_made_samples_have_their_right_results() {
    let of = |format: &str, file: &str| {
        let path = fixtures(format).into_iter().find(|path| name(path) == file).unwrap();
        super::folded(&try_read(&fs::read(path).unwrap(), None).unwrap())
    };
    let weight = |row: &String| row.rsplit(' ').next().unwrap().parse::<i128>().unwrap();
    let sum = |rows: &[String], wanted: &dyn Fn(&str) -> bool| {
        rows.iter().filter(|row| wanted(row)).map(weight).sum::<i128>()
    };
    let psn = of("psn", "psn_kstack.txt");
    assert_eq!(sum(&psn, &|row| row.contains(";Running (ON CPU);")), 71);
    assert_eq!(sum(&psn, &|row| !row.contains("Running")), 250);
    assert_eq!(psn.iter().filter(|row| !row.contains("Running")).count(), 2);
    let off_cpu = of("bcc", "offcputime_folded.txt");
    let threads: Vec<_> = off_cpu.iter().filter(|row| row.contains(";start_thread;")).cloned().collect();
    assert_eq!((threads.len(), sum(&threads, &|_| true)), (3, 5_300_000));
    let antijoin = of("plan", "explain_analyze_antijoin.txt");
    assert_eq!((antijoin.len(), sum(&antijoin, &|_| true)), (6, 139));
    let join = of("plan", "explain_analyze_join.txt");
    assert_eq!(sum(&join, &|_| true), 12_900);
    assert!(join.iter().any(|row| row.contains("Single-row index lookup on stock") && weight(row) == 0));
    let (before, after) = (of("perf-schema", "waits_before.tsv"), of("perf-schema", "waits_after.tsv"));
    let log = |row: &str| row.starts_with("wait;io;file;innodb;innodb_log_file ");
    assert_eq!((sum(&before, &log), sum(&after, &log)), (3_000_000, 9_000_000));
}
