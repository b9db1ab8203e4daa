//! A second thread that reads ahead changes nothing: whatever the input, where its blocks end and which of them are marked, every view and every note
//! is that of one thread.

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::Path;

use proptest::prelude::*;
use seatrace::error::Error;
use seatrace::format::{self, Options};
use seatrace::input::{Ahead, Input};
use seatrace::model::{Filter, Passes, Trace};
use seatrace::symbol::Cleaner;
use seatrace::view;

/// What can be seen of an input: bytes of views, or their errors, and the notes.
fn seen(
    source: Box<dyn Read + Send>,
    from: Option<&str>,
    cleaner: &Cleaner,
    ahead: Option<Ahead>,
) -> Result<Vec<String>, Error> {
    let mut trace = Trace::new(cleaner.clone(), Filter::default(), Passes::Auto);
    let mut input = Input::from_read("input", source)?;
    format::read(&mut input, from, &Options { ahead, ..Options::default() }, &mut trace)?;
    trace.finish();
    let mut all: Vec<String> = trace.notes.iter().map(|note| note.to_string()).collect();
    all.push(trace.names.len().to_string());
    // All that a trace holds is in these; the others draw it.
    for view in view::ALL.iter().filter(|view| ["folded", "json", "csv", "hist", "top"].contains(&view.name)) {
        let mut out = Vec::new();
        let result = (view.write)(&trace, &view::Options::default(), &mut out);
        all.push(format!("{}: {result:?}\n{}", view.name, String::from_utf8_lossy(&out)));
    }
    Ok(all)
}

/// Blocks of that size: all marked, or one of so many as far as the moment has it.
fn ahead(block: usize, each: u64) -> Option<Ahead> {
    Some(Ahead { after: 0, block, each, waits: each == 1 })
}

/// Gives at most so many bytes a read.
struct Drops(Cursor<Vec<u8>>, usize);

impl Read for Drops {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = out.len().min(self.1);
        self.0.read(&mut out[..length])
    }
}

fn assert_same(bytes: &[u8], from: Option<&str>, cleaner: &Cleaner, settings: impl IntoIterator<Item = Option<Ahead>>) {
    let whole = || Box::new(Cursor::new(bytes.to_vec()));
    let alone = seen(whole(), from, cleaner, None).map_err(|error| error.to_string());
    for ahead in settings {
        let both = seen(whole(), from, cleaner, ahead.clone()).map_err(|error| error.to_string());
        assert_eq!(both, alone, "{ahead:?}");
    }
}

/// All samples, by the name of their folder.
fn samples() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn samples_of_all_formats_are_the_same_with_two_threads() {
    for (name, bytes) in samples() {
        println!("{name}");
        let settings = [(300, 1), (5000, 2), (64 << 10, 1)];
        let settings = settings.map(|(block, each)| ahead(block, each));
        assert_same(&bytes, None, &Cleaner::default(), settings);
    }
}

/// Two passes of stacks with and without keys, a distribution, notes of a helper, numbers and texts among frames, bytes that are not UTF-8, and line
/// ends of two kinds.
fn mixed() -> Vec<u8> {
    let mut text =
        b"CPU     ID                    FUNCTION:NAME\n  0  64091                         :tick-1s \n".to_vec();
    let frames =
        ["m`_ZN3THD5awakeEv+0x4", "m`f+0x1", "m`f+0x2c", "m`0x55d0", "0xfe", "m`g", "[ note ]", "a b c", "m`h+0xzz"];
    for pass in 0..2 {
        for row in 0..7usize {
            text.extend_from_slice(if row % 3 == 0 {
                b"\n"
            } else {
                b"\n  key                                               \n"
            });
            for frame in (0..=row).map(|at| frames[(at * (row + pass)) % frames.len()]) {
                text.extend_from_slice(
                    format!("              {frame}{}\n", if row == 5 { "\r" } else { "" }).as_bytes(),
                );
            }
            match row {
                2 => text.extend_from_slice(b"              m`\xff\xfe+0x1\n              12\n"),
                3 => text.extend_from_slice(
                    b"            m`less+0x1\n              m`after+0x1\n\n              k`second+0x1\n",
                ),
                4 => text.extend_from_slice(b"dtrace: 3 drops on CPU 0\n              m`behind \n"),
                _ => {}
            }
            text.extend_from_slice(format!("{:>17}\n", row * 10 + pass).as_bytes());
        }
    }
    text.extend_from_slice(b"\n              m`last+0x1\n");
    text
}

#[test]
fn blocks_may_end_anywhere() {
    let bytes = mixed();
    let settings = (1..=bytes.len()).step_by(3).map(|block| ahead(block, 1));
    assert_same(&bytes, Some("dtrace"), &Cleaner::default(), settings);
    let settings = (1..200).map(|block| ahead(block, 2));
    let kept = Cleaner { offsets: true, addresses: true, ..Cleaner::default() };
    assert_same(&bytes, Some("dtrace"), &kept, settings);
}

#[test]
fn the_thread_may_begin_anywhere() {
    let bytes = mixed();
    let source = || Box::new(Drops(Cursor::new(bytes.clone()), 5));
    let alone = seen(source(), Some("dtrace"), &Cleaner::default(), None).unwrap();
    for after in (0..bytes.len() as u64).step_by(7) {
        let ahead = Ahead { after, block: 250, each: 1, waits: true };
        assert_eq!(seen(source(), Some("dtrace"), &Cleaner::default(), Some(ahead)).unwrap(), alone, "{after}");
    }
}

#[test]
fn damaged_gzip_gives_what_one_thread_gets_of_it() {
    let whole = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dtrace/oncpu.out.gz")).unwrap();
    for at in (100..whole.len()).step_by(whole.len() / 20) {
        let mut bad = whole.clone();
        bad[at] ^= 0x55;
        let settings = [ahead(1000, 1), ahead(100_000, 2)];
        assert_same(&bad, Some("dtrace"), &Cleaner::default(), settings.clone());
        assert_same(&whole[..at], Some("dtrace"), &Cleaner::default(), settings);
    }
}

/// Fails behind its text.
struct Fails(Cursor<Vec<u8>>);

impl Read for Fails {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::other("the disk is gone")),
            length => Ok(length),
        }
    }
}

#[test]
fn a_failed_read_is_told_as_by_one_thread() {
    let source = || Box::new(Fails(Cursor::new(mixed())));
    let alone = seen(source(), Some("dtrace"), &Cleaner::default(), None).unwrap();
    assert!(alone.iter().any(|note| note.contains("input: reading stopped before the end: the disk is gone")));
    assert_eq!(seen(source(), Some("dtrace"), &Cleaner::default(), ahead(100, 1)).unwrap(), alone);
}

/// Rows without end; the thread that reads ahead gets none.
struct Endless;

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        assert_ne!(std::thread::current().name(), Some("ahead"), "as this test wants it");
        std::thread::sleep(std::time::Duration::from_millis(1));
        Cursor::new(b"\n              m`f+0x1\n               12\n").read(out)
    }
}

#[test]
fn a_thread_that_dies_is_an_error() {
    let error = seen(Box::new(Endless), Some("dtrace"), &Cleaner::default(), ahead(100, 1)).unwrap_err().to_string();
    assert!(error.starts_with("input: the thread that reads ahead"), "{error}");
}

/// A line that may stand anywhere, also where it has no business.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let indent = prop_oneof![8 => Just(14usize), 1 => Just(12usize), 1 => 0..20usize];
    let text = prop_oneof![
        4 => "m`[a-c]\\+0x[0-9a-f]{1,2}",
        2 => "m`[a-c]",
        1 => "m`_ZN1[a-c]1fEv\\+0x[1-9]",
        1 => "m`[a-c]\\+0x[1-9]\\+0x[1-9]",
        1 => "(m`)?0x[0-9a-f]{1,3}(\\+0x[1-3])?",
        1 => "\\[ [a-c] \\]",
        1 => "[a-c]{1,2}( [0-9])?",
        2 => "[0-9]{1,3}",
        1 => "m`[a-c][ \t\r]{1,2}",
        1 => "dtrace: [0-9] drops on CPU 0",
    ];
    prop_oneof![
        12 => (indent, text).prop_map(|(indent, text)| (" ".repeat(indent) + &text).into_bytes()),
        3 => (0..1000u32).prop_map(|value| format!("{value:>17}").into_bytes()),
        3 => Just(Vec::new()),
        1 => "[a-c]{1,3}".prop_map(|key| format!("  {key:<50}").into_bytes()),
        1 => Just(b"              m`a\xff+0x1".to_vec()),
        1 => Just(b"           value  ------------- Distribution ------------- count    ".to_vec()),
        1 => Just(b"               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 2        ".to_vec()),
    ]
}

proptest! {
    #[test]
    fn any_lines_are_the_same_with_two_threads(
        lines in proptest::collection::vec(line(), 0..60),
        block in 1..500usize,
        each in 1..3u64,
        offsets in any::<bool>(),
        addresses in any::<bool>(),
        ended in any::<bool>(),
    ) {
        let mut bytes = lines.join(&b'\n');
        bytes.extend_from_slice(if ended { b"\n" } else { b"" });
        let cleaner = Cleaner { offsets, addresses, ..Cleaner::default() };
        assert_same(&bytes, Some("dtrace"), &cleaner, [ahead(block, each)]);
    }
}
