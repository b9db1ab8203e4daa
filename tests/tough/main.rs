//! Toughness: inputs that are cut, huge, hostile or no files at all; outputs that cannot be written; root's care. Each claim of
//! docs/security.md is a test here or is named there.
//!
//! What takes minutes or gigabytes runs at a tenth or a thousandth of its size unless `SEATRACE_TOUGH=1` is set, as tests/all does for
//! two limits.

mod corpus;
mod cuts;
mod hostile;
mod inputs;
mod limits;
mod outputs;
mod root;
mod terminal;

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use seatrace::error::Result;
use seatrace::format::{self, Options};
use seatrace::input::{Input, Lines};
use seatrace::model::{Passes, Trace};
use seatrace::view;

/// Whether tests take their full size.
fn in_full() -> bool {
    let full = std::env::var_os("SEATRACE_TOUGH").is_some();
    if !full {
        eprintln!("skipped: the full size, which SEATRACE_TOUGH=1 brings");
    }
    full
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Reads bytes as that format.
fn read_as(format: &str, bytes: &[u8]) -> Result<Trace> {
    let mut trace = Trace::new(Default::default(), Default::default(), Passes::Auto);
    trace.begin_input("sample");
    (format::by_name(format)?.read)(&mut Lines::from_bytes(bytes), &mut trace, &Options::default())?;
    trace.finish();
    Ok(trace)
}

/// Reads bytes as a file: compression, byte order mark and format are found by content.
fn read(bytes: &[u8]) -> Result<Trace> {
    let mut trace = Trace::new(Default::default(), Default::default(), Passes::Auto);
    let mut input = Input::from_read("sample", Box::new(std::io::Cursor::new(bytes.to_vec())))?;
    format::read(&mut input, None, &Options::default(), &mut trace)?;
    trace.finish();
    Ok(trace)
}

/// What a view prints.
fn show(trace: &Trace, name: &str, options: &view::Options) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    (view::by_name(name)?.write)(trace, options, &mut out)?;
    Ok(out)
}

fn notes(trace: &Trace) -> String {
    trace.notes.iter().map(|note| format!("{note}\n")).collect()
}

/// The command, in a folder.
fn seatrace(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrace"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

/// Runs a command to its end, which must come within `limit`. Its output goes to files: nobody drains pipes here.
fn patiently(command: &mut Command, limit: Duration) -> Output {
    let mut files = [tempfile::tempfile().expect("a file"), tempfile::tempfile().expect("a file")];
    let [out, err] = [0, 1].map(|at: usize| files[at].try_clone().expect("a descriptor"));
    let mut child = command.stdout(out).stderr(err).spawn().expect("it starts");
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().expect("it can be waited for") {
            Some(status) => break status,
            None if begin.elapsed() > limit => {
                let _ = child.kill();
                panic!("{command:?} takes longer than {limit:?}");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let [stdout, stderr] = [0, 1].map(|at: usize| {
        let mut bytes = Vec::new();
        files[at].rewind().expect("it is a file");
        files[at].read_to_end(&mut bytes).expect("it can be read");
        bytes
    });
    Output { status, stdout, stderr }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
