//! The log: columns, widths, escapes, and the tables below it.

use seatrace::model::{EventTable, Field, FieldType, FieldValue, Function, Query, QueryKind, Schema, Value};
use seatrace::units::Unit;

use crate::support::{key, options, queries, query, show, show_with, stacks, trace};

#[test]
fn one_line_a_query() {
    let trace = queries(&["SELECT name\n  FROM customers"]);
    assert_eq!(
        show("log", &trace, &[]),
        "TIME          CONN USER@HOST      DATABASE STATUS        ms QUERY
# 2026-11-30 UTC+01:00
11:53:12.790    35 app@web1       shop          0     0.162 SELECT name FROM customers
"
    );
    assert!(show("log", &trace, &["--utc"]).contains("# 2026-11-30 UTC\n10:53:12.790 "));
}

#[test]
fn a_terminal_gets_lines_of_its_width() {
    let long = format!("SELECT {}", "äöü漢字, ".repeat(2000));
    let mut trace = queries(&[&long, "SELECT 1"]);
    trace.query(Query { user: Some("a_very_long_user_name".into()), cut: true, ..query(&long) }).unwrap();
    let mut options = options(&[]);
    options.columns = Some(80);
    let text = show_with("log", &trace, &options);
    for line in text.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line}");
    }
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[2], "11:53:12.790    35 app@web1       shop          0     0.162 SELECT äöü漢字, äöü…");
    assert!(lines[4].starts_with("11:53:12.790    35 a_very_long_u… shop") && lines[4].ends_with("… [cut]"));
    options.wide = true;
    assert!(show_with("log", &trace, &options).contains(long.trim_end()));
}

#[test]
fn what_is_unknown_is_a_dash() {
    let mut trace = trace();
    trace.query(Query { text: "quit".into(), kind: QueryKind::Admin, ..Query::default() }).unwrap();
    trace.finish();
    let text = show("log", &trace, &[]);
    let line = text.lines().nth(1).unwrap();
    assert_eq!(line, "-                - -              -             -         - administrator command: quit");
}

#[test]
fn nothing_reaches_the_terminal_that_moves_it() {
    let trace = queries(&["\u{1b}[2J\u{9b}1m\u{202e}drop\r\n\tx\u{7f}\0\u{2066}é"]);
    let text = show("log", &trace, &[]);
    assert!(text.ends_with("\\x1b[2J\\x9b1m\\u{202e}drop x\\x7f\\x00\\u{2066}é\n"), "{text}");
}

#[test]
fn the_date_is_told_when_it_changes_and_order_is_the_dumps() {
    let mut trace = trace();
    for end in [1_000_000_000, 86_400_000_000_000, 500_000_000] {
        trace.query(Query { end: Some(end), ..query("x") }).unwrap();
    }
    trace.finish();
    let starts = |text: String| -> Vec<String> { text.lines().skip(1).map(|line| line[..12].to_owned()).collect() };
    let dumped = ["# 1970-01-01", "00:00:01.000", "# 1970-01-02", "00:00:00.000", "# 1970-01-01", "00:00:00.500"];
    assert_eq!(starts(show("log", &trace, &[])), dumped);
    let sorted = ["# 1970-01-01", "00:00:00.500", "00:00:01.000", "# 1970-01-02", "00:00:00.000"];
    assert_eq!(starts(show("log", &trace, &["--sort", "time"])), sorted);
}

#[test]
fn aggregations_by_key_are_rows_most_time_first() {
    let mut trace = trace();
    let keys = [key("query")];
    let sum = trace.series(Some("total"), Function::Sum, Unit::Nanoseconds, &keys, false);
    let count = trace.series(Some("queries"), Function::Count, Unit::Count, &keys, false);
    for (text, times, time) in [("SELECT 1", 9, 1_500_000), ("UPDATE t\nSET a=1", 2, 40_000_000)] {
        let id = trace.names.text(text.as_bytes());
        trace.row(sum, &[id], &[], Value::Number(time));
        trace.row(count, &[id], &[], Value::Number(times));
    }
    trace.notes.loss("12 drops on CPU 0", None);
    trace.finish();
    assert_eq!(
        show("log", &trace, &[]),
        "TOTAL ms QUERIES QUERY
  40.000       2 UPDATE t SET a=1
   1.500       9 SELECT 1
# warning: 12 drops on CPU 0
"
    );
}

#[test]
fn other_records_are_tables() {
    let field = |name: &str, kind| Field { name: name.into(), kind };
    let fields =
        vec![field("start", FieldType::Wall), field("file", FieldType::Text), field("took", FieldType::Duration)];
    let row = |file: &str, took| vec![FieldValue::Int(1_500_000_000), FieldValue::Text(file.into()), took];
    let mut trace = trace();
    trace.events.push(EventTable {
        schema: Schema { kind: "io".into(), fields },
        rows: vec![row("ibdata1", FieldValue::Int(2_000_000)), row("x", FieldValue::Unknown)],
    });
    assert_eq!(
        show("log", &trace, &[]),
        "# io (UTC)
START                   FILE    TOOK ms
1970-01-01 00:00:01.500 ibdata1   2.000
1970-01-01 00:00:01.500 x             -
"
    );
}

#[test]
fn stacks_are_no_log() {
    let trace = stacks(Unit::Count, &[("a", 1)]);
    let log = seatrace::view::by_name("log").unwrap();
    assert!((log.write)(&trace, &options(&[]), &mut Vec::new()).unwrap_err().to_string().contains("-f folded"));
}
