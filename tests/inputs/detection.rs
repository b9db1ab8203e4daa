//! Of every sample in the tree, whoever reads it, exactly one format is sure, and it is the one of its folder.

use std::fs;

use seatrace::format::{ALL, Fit};
use seatrace::input::Input;

use super::{FORMATS, data, fixtures, name};

fn sure(bytes: &[u8]) -> Vec<&'static str> {
    let mut input = Input::from_read("sample", Box::new(std::io::Cursor::new(bytes.to_vec()))).unwrap();
    let head = input.lines.head().to_vec();
    ALL.iter().filter(|format| (format.fits)(&head) == Fit::Sure).map(|format| format.name).collect()
}

#[test]
fn one_format_is_sure_of_its_samples() {
    for format in FORMATS {
        for path in fixtures(format) {
            assert_eq!(sure(&fs::read(&path).unwrap()), [*format], "{}", name(&path));
        }
    }
}

/// Formats whose samples are counted elsewhere: tests/replay, tests/queries.
const ELSEWHERE: &[&str] = &["dump", "dtrace", "query-time-table", "slow-log", "folded"];

#[test]
fn every_format_has_samples_that_are_counted() {
    let names = ALL.iter().map(|format| format.name);
    let left_out: Vec<&str> = names.filter(|name| !FORMATS.contains(name) && !ELSEWHERE.contains(name)).collect();
    assert!(
        left_out.is_empty(),
        "{left_out:?}: put it into FORMATS, its samples into tests/data, and a count into count.py"
    );
}

#[test]
fn no_reader_here_is_sure_of_other_files() {
    let mut folders = vec![data(), data().join("../../d-scripts")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                if !FORMATS.contains(&name(&path).as_str()) {
                    folders.push(path);
                }
                continue;
            }
            let found = sure(&fs::read(&path).unwrap());
            let wrong: Vec<_> = found.iter().filter(|format| FORMATS.contains(format)).collect();
            assert!(wrong.is_empty() && found.len() <= 1, "{}: {found:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} other files were found");
}
