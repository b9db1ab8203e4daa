//! What these tests share: a log in, records or a view's text out; other tools beside ours.

use std::process::Command;

use clap::{Args, FromArgMatches};
use seatrace::format;
use seatrace::input::Input;
use seatrace::model::{Filter, Passes, Trace};
use seatrace::symbol::Cleaner;
use seatrace::view::{self, Options};

/// The slow log of MariaDB 11.8, with everything that its verbosity can say.
pub const MARIADB_LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/slowlog/mariadb-11.8.log");

/// Reads a log through that filter.
pub fn filtered(log: impl AsRef<[u8]>, filter: Filter) -> Trace {
    let mut trace = Trace::new(Cleaner::default(), filter, Passes::Auto);
    let mut input = Input::from_read("log", Box::new(std::io::Cursor::new(log.as_ref().to_vec()))).unwrap();
    format::read(&mut input, Some("slow-log"), &format::Options::default(), &mut trace).unwrap();
    trace.finish();
    trace
}

/// Reads a log.
pub fn read(log: impl AsRef<[u8]>) -> Trace {
    filtered(log, Filter::default())
}

/// Options as a command line gives them.
pub fn options(arguments: &[&str]) -> Options {
    let command = Options::augment_args(clap::Command::new("test").no_binary_name(true));
    Options::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap()
}

/// What a view prints of a trace.
pub fn show(name: &str, trace: &Trace, arguments: &[&str]) -> String {
    let mut out = Vec::new();
    (view::by_name(name).unwrap().write)(trace, &options(arguments), &mut out).unwrap();
    String::from_utf8(out).expect("views write UTF-8")
}

/// The notes of a trace, one a line.
pub fn notes(trace: &Trace) -> String {
    trace.notes.iter().map(|note| format!("{note}\n")).collect()
}

/// The standard output of a program; `None`, said, if it is not installed.
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(out) => {
            assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
            Some(String::from_utf8_lossy(&out.stdout).into_owned())
        }
        Err(_) => {
            println!("skipped: {program} is not installed");
            None
        }
    }
}
