//! Folded stacks: one line a stack that every tool reads back as it was.

use proptest::prelude::*;
use seatrace::model::{Distribution, Function, KeyKind, Value};
use seatrace::units::Unit;

use crate::support::{add_stacks, key, show, stacks, trace};

#[test]
fn br_02_frames_are_read_back_as_they_were() {
    let trace = stacks(Unit::Count, &[("conn;SELECT 1", 5), ("conn;Limit: 3 7", 9)]);
    // The blanks before the numbers are no-break spaces: no tool takes the number for a second count.
    assert_eq!(show("folded", &trace, &[]), "conn;Limit: 3\u{a0}7 9\nconn;SELECT\u{a0}1 5\n");
}

#[test]
fn a_semicolon_in_a_frame_is_replaced() {
    let mut trace = trace();
    let series = trace.series(None, Function::Count, Unit::Count, &[key("query")], true);
    let (query, frame) = (trace.names.text(b"a; b"), trace.names.text(b"main"));
    trace.row(series, &[query], &[frame], Value::Number(4));
    trace.finish();
    assert_eq!(show("folded", &trace, &[]), "a: b;main 4\n");
}

#[test]
fn br_33_an_empty_stack_keeps_its_weight() {
    let trace = stacks(Unit::Count, &[("", 4), ("main", 1)]);
    assert_eq!(show("folded", &trace, &[]), "[no stack] 4\nmain 1\n");
}

#[test]
fn br_37_sums_beyond_64_bits_are_exact() {
    let trace = stacks(Unit::Unknown, &[("a", 18_446_744_073_709_551_615), ("a ", 1)]);
    assert_eq!(show("folded", &trace, &[]), "a 18446744073709551616\n");
    assert!(show("flame", &trace, &[]).contains("total weight 18,446,744,073,709,551,616"));
}

#[test]
fn br_13_the_share_of_unresolved_frames_is_told() {
    let rows = [("db`main+0x8;db`0x1a2b;0x18bc3d388", 3), ("db`main+0x8;db`0x1a2f;0x18bc3d390", 2)];
    let trace = stacks(Unit::Samples, &rows);
    assert_eq!(show("folded", &trace, &[]), "db`main;db`[unknown];[unknown] 5\n");
    assert!(trace.notes.iter().any(|note| note.to_string().starts_with("67% of frames unresolved")));
}

#[test]
fn br_37_values_that_wrapped_around_are_told() {
    let trace = stacks(Unit::Nanoseconds, &[("a", 18_446_744_073_709_551_615), ("b", 1)]);
    assert!(trace.notes.iter().any(|note| note.to_string().starts_with("value near 2^64: likely an underflow")));
}

#[test]
fn br_48_direct_recursion_folds_on_request() {
    let trace = stacks(Unit::Count, &[("main;fib;fib;fib", 4), ("main;fib", 1), ("main;ev;fib;ev;fib", 2)]);
    assert_eq!(show("folded", &trace, &["--fold-recursion"]), "main;ev;fib;ev;fib 2\nmain;fib 5\n");
    assert_eq!(show("folded", &trace, &[]), "main;ev;fib;ev;fib 2\nmain;fib 1\nmain;fib;fib;fib 4\n");
}

#[test]
fn br_11_distributions_weigh_their_count_or_an_estimate() {
    let mut distribution = Distribution::new();
    distribution.add(512, 1024, 3);
    distribution.add(1024, 2048, 1);
    let mut trace = trace();
    add_stacks(&mut trace, Function::Quantize, Unit::Bytes, &[("db`main;db`leaf", Value::Distribution(distribution))]);
    trace.finish();
    assert_eq!(show("folded", &trace, &[]), "db`main;db`leaf 4\n");
    // Middles of 512..=1023 and 1024..=2047, rounded down: 767 and 1535.
    assert_eq!(show("folded", &trace, &["--weight", "time"]), "db`main;db`leaf 3836\n");
}

#[test]
fn keys_stand_before_frames_and_paths_are_frames() {
    let mut trace = trace();
    let mut path = key("event");
    path.kind = KeyKind::Path;
    let series = trace.series(None, Function::Sum, Unit::Nanoseconds, &[key("thread"), path], false);
    let keys = [trace.names.text(b"worker"), trace.names.text(b"wait;io;file")];
    trace.row(series, &keys, &[], Value::Number(7));
    trace.finish();
    assert_eq!(show("folded", &trace, &[]), "worker;wait;io;file 7\n");
}

#[test]
fn one_unit_only_and_the_rest_is_named() {
    let mut trace = stacks(Unit::Nanoseconds, &[("a", 5)]);
    add_stacks(&mut trace, Function::Count, Unit::Count, &[("a", Value::Number(1))]);
    trace.finish();
    let options = crate::support::options(&[]);
    seatrace::view::note_left_out(seatrace::view::by_name("folded").unwrap(), &mut trace, &options);
    assert_eq!(show("folded", &trace, &[]), "a 5\n");
    let notes: Vec<String> = trace.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes.last().unwrap(), "left out: aggregation of another kind or unit, total 1 count");
}

proptest! {
    /// A line has as many frames as the stack, ends in one number, and both peers would read it so; the weight is kept.
    #[test]
    fn any_frames_make_one_line(frames in prop::collection::vec(".{0,12}|[0-9 ;#.]{1,6}", 1..5), weight in 1i128..1000) {
        let mut trace = trace();
        let series = trace.series(None, Function::Count, Unit::Count, &[], true);
        let ids: Vec<_> = frames.iter().map(|frame| trace.names.text(frame.as_bytes())).collect();
        trace.row(series, &[], &ids, Value::Number(weight));
        trace.finish();
        let text = show("folded", &trace, &[]);
        prop_assert_eq!(text.matches('\n').count(), 1);
        let (path, count) = text.trim_end_matches('\n').rsplit_once(' ').unwrap();
        prop_assert_eq!(count, weight.to_string());
        prop_assert_eq!(path.split(';').count(), frames.len());
        prop_assert!(!path.starts_with("# ") && path.trim() == path);
        let last = path.rsplit(' ').next().unwrap();
        prop_assert!(!path.contains(' ') || last.is_empty() || !last.chars().all(|c| c.is_ascii_digit() || c == '.'));
        prop_assert!(!path.chars().any(char::is_control));
    }
}
