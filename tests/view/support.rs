//! Traces and views for the tests.

use clap::{Args, FromArgMatches};
use seatrace::model::{Filter, Function, Key, KeyKind, Passes, Query, QueryKind, Trace, Value};
use seatrace::symbol::Cleaner;
use seatrace::units::Unit;
use seatrace::view::{self, Options};

/// An empty trace.
pub fn trace() -> Trace {
    Trace::new(Cleaner::default(), Filter::default(), Passes::Auto)
}

/// Options as a command line gives them.
pub fn options(arguments: &[&str]) -> Options {
    let command = Options::augment_args(clap::Command::new("test").no_binary_name(true));
    Options::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap()
}

/// What a view prints of a trace.
pub fn show(name: &str, trace: &Trace, arguments: &[&str]) -> String {
    show_with(name, trace, &options(arguments))
}

/// What a view prints of a trace.
pub fn show_with(name: &str, trace: &Trace, options: &Options) -> String {
    let mut out = Vec::new();
    (view::by_name(name).unwrap().write)(trace, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A key of that name.
pub fn key(name: &str) -> Key {
    Key { name: Some(name.into()), kind: KeyKind::Text }
}

/// Adds rows of stacks (`root;leaf`) with weights to a trace.
pub fn add_stacks(trace: &mut Trace, function: Function, unit: Unit, rows: &[(&str, Value)]) {
    let series = trace.series(None, function, unit, &[], true);
    for (path, value) in rows {
        let frames: Vec<_> = path
            .split(';')
            .filter(|frame| !frame.is_empty())
            .map(|frame| trace.names.frame(frame.as_bytes()))
            .collect();
        trace.row(series, &[], &frames, value.clone());
    }
}

/// A trace of stacks with weights.
pub fn stacks(unit: Unit, rows: &[(&str, i128)]) -> Trace {
    let mut trace = trace();
    let rows: Vec<(&str, Value)> = rows.iter().map(|&(path, weight)| (path, Value::Number(weight))).collect();
    add_stacks(&mut trace, Function::Sum, unit, &rows);
    trace.finish();
    trace
}

/// The query of docs/dump-format.md's example.
pub fn query(text: &str) -> Query<'_> {
    Query {
        end: Some(1_796_035_992_790_984_277),
        connection: Some(35),
        user: Some("app".into()),
        host: Some("web1".into()),
        database: Some("shop".into()),
        status: Some(0),
        elapsed: Some(162_345),
        kind: QueryKind::Direct,
        text: text.into(),
        ..Query::default()
    }
}

/// A trace of queries, in a zone one hour east.
pub fn queries(texts: &[&str]) -> Trace {
    let mut trace = trace();
    trace.heading.zone = Some(3600);
    for text in texts {
        trace.query(query(text)).unwrap();
    }
    trace.finish();
    trace
}
