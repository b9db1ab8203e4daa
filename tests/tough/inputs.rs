//! Inputs that are no plain files, and bytes that no format is made of.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::{notes, patiently, read, read_as, seatrace, show, text};

const SOON: Duration = Duration::from_secs(60);
const FOLDED: &str = "main;a 5\nmain;b 7\n";

pub(super) fn make_fifo(path: &Path) {
    let status = std::process::Command::new("/usr/bin/mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(status.success());
}

#[test]
fn a_directory_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = patiently(&mut seatrace(folder.path(), &["replay", "."]), SOON);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("is a directory: name the files in it"), "{}", text(&output.stderr));
}

#[test]
fn a_file_that_vanished_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = patiently(&mut seatrace(folder.path(), &["replay", "gone.dump"]), SOON);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "seatrace: gone.dump: No such file or directory (os error 2)\n");
}

#[test]
fn a_fifo_is_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe");
    make_fifo(&path);
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(path).expect("a reader comes");
        for line in FOLDED.lines() {
            writeln!(pipe, "{line}").expect("it is read");
            std::thread::sleep(Duration::from_millis(30));
        }
    });
    let output = patiently(&mut seatrace(folder.path(), &["replay", "pipe", "-f", "folded"]), SOON);
    writer.join().expect("it was read");
    assert_eq!(text(&output.stdout), FOLDED, "{}", text(&output.stderr));
}

#[test]
fn an_input_that_is_taken_away_while_it_is_read_is_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe");
    make_fifo(&path);
    let there = path.clone();
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::OpenOptions::new().write(true).open(&path).expect("a reader comes");
        pipe.write_all(b"main;a 5\n").expect("it is read");
        fs::remove_file(&path).expect("it is there");
        pipe.write_all(b"main;b 7\n").expect("it is read");
    });
    let output = patiently(&mut seatrace(folder.path(), &["replay", "pipe", "-f", "folded"]), SOON);
    writer.join().expect("it was read");
    assert!(!there.exists());
    assert_eq!(text(&output.stdout), FOLDED);
}

#[test]
fn cr_lf_is_lf() {
    let samples = ["dump/example-1.dump", "dump/example-2.dump", "psn/psn_kstack.txt", "bcc/offcputime_blocks.txt"];
    for name in samples.into_iter().chain(["qslower/dbslower.txt", "bcc-hist/ext4dist.txt", "plan/no_table.raw.json"]) {
        let bytes = fs::read_to_string(super::data(name)).expect("a sample");
        let [plain, with_cr] =
            [bytes.clone(), bytes.replace('\n', "\r\n")].map(|bytes| read(bytes.as_bytes()).expect(name));
        for view in ["json", "log", "folded"] {
            let [plain, with_cr] = [&plain, &with_cr].map(|trace| show(trace, view, &Default::default()).ok());
            assert_eq!(plain.map(|bytes| text(&bytes)), with_cr.map(|bytes| text(&bytes)), "{name} as {view}");
        }
    }
}

#[test]
fn nul_bytes_are_bytes() {
    let trace = read_as("folded", b"main;\0a 5\n\0;b 7\n").expect("it is read");
    assert_eq!(trace.series.iter().map(|series| series.total()).sum::<i128>(), 12);
    for format in seatrace::format::ALL {
        for size in [1, 4096, 1 << 20] {
            let _ = read_as(format.name, &vec![0; size]);
        }
    }
}

#[test]
fn numbers_at_and_over_64_bits() {
    for value in [i64::MAX as i128, i64::MIN as i128, u64::MAX as i128, u64::MAX as i128 + 1, i128::MAX] {
        let trace = read_as("folded", format!("a;b {value}\na;c 1\n").as_bytes()).expect("it is read");
        let total = trace.series.iter().map(|series| series.total()).sum::<i128>();
        let lost = notes(&trace);
        assert!(total == value.saturating_add(1) || !lost.is_empty(), "{value}: {total} {lost}");
        for view in seatrace::view::ALL {
            let _ = show(&trace, view.name, &Default::default());
        }
        let record = format!(
            "# seatrace\t1\n# record\tquery\tend:wall\telapsed:ms\tquery:text\nquery\t{value}\t{value}\tx\\0\nquery\t1\t1\ty\\0\n# stop\t1\n"
        );
        let trace = read_as("dump", record.as_bytes()).expect("it is read");
        assert!(trace.queries.len() == 2 || notes(&trace).contains("skipped") || !notes(&trace).is_empty());
        for view in seatrace::view::ALL {
            let _ = show(&trace, view.name, &Default::default());
        }
    }
    // What only the sum takes over the edge.
    let edge = i128::MAX;
    let trace = read_as("folded", format!("a;b {edge}\na;c {edge}\n").as_bytes()).expect("it is read");
    for view in seatrace::view::ALL {
        let _ = show(&trace, view.name, &Default::default());
    }
}
