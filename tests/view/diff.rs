//! The difference of two traces.

use clap::{Args, FromArgMatches};
use proptest::prelude::*;
use seatrace::model::{Distribution, Function, KeyKind, Trace, Value};
use seatrace::units::Unit;
use seatrace::view::{Compare, Comparison};
use serde_json::Value as Json;

use crate::support::{key, options, queries, stacks, trace};

fn try_diff(before: &Trace, after: &Trace, form: &str, arguments: &[&str]) -> Result<String, String> {
    let command = Compare::augment_args(clap::Command::new("test").no_binary_name(true));
    let compare = Compare::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap();
    let mut out = Vec::new();
    let options = options(&[]);
    let comparison = Comparison { before, after, options: &options, compare: &compare };
    comparison.write(Some(form), None, &mut out).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(out).unwrap())
}

fn diff(before: &Trace, after: &Trace, form: &str, arguments: &[&str]) -> String {
    try_diff(before, after, form, arguments).unwrap()
}

#[test]
fn br_27_parents_show_the_change_of_their_children() {
    let before = stacks(Unit::Unknown, &[("p;a", 10), ("p;b", 10), ("q", 30)]);
    let after = stacks(Unit::Unknown, &[("p;a", 30), ("p;b", 30), ("q", 30)]);
    let svg = diff(&before, &after, "flame", &[]);
    for tooltip in [
        "all (50 -&gt; 90, +40, +80%; self 0)",
        "p (20 -&gt; 60, +40, +200%; self 0)",
        "a (10 -&gt; 30, +20, +200%; self 10 -&gt; 30, +20, +200%)",
        "q (30, unchanged; self 30, unchanged)",
    ] {
        assert!(svg.contains(&format!("<title>{tooltip}</title>")), "{tooltip}");
    }
    let fill = |name: &str| {
        let tail = svg.split_once(&format!("<title>{name} (")).unwrap().1;
        tail.split_once("fill=\"rgb(").unwrap().1.split_once(')').unwrap().0.to_owned()
    };
    assert_eq!((fill("q").as_str(), fill("p").as_str()), ("250,250,250", "255,55,55"));
    assert_eq!(
        diff(&before, &after, "table", &[]),
        "# total 50 -> 90, +40 (+80%)
SELF CHANGE  SELF BEFORE  SELF AFTER  TOTAL CHANGE         FRAME
        +20           10          30           +20  +200%  a
        +20           10          30           +20  +200%  b
          0            0           0           +40  +200%  p
"
    );
}

#[test]
fn json_has_one_form_whatever_is_compared() {
    let mut number = Distribution::new();
    number.add(1, 2, 3);
    let mut spread = trace();
    let series = spread.series(None, Function::Quantize, Unit::Nanoseconds, &[], false);
    spread.row(series, &[], &[], Value::Distribution(number));
    spread.finish();
    let changed =
        [(stacks(Unit::Samples, &[("main", 5)]), "change"), (queries(&["SELECT 1"]), "statement"), (spread, "bucket")];
    for (after, kind) in changed {
        let text = diff(&trace(), &after, "json", &[]);
        let kinds: Vec<Json> =
            text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()["type"].take()).collect();
        assert_eq!(kinds, ["seatrace-diff", kind, "total"], "{text}");
    }
}

#[test]
fn br_28_what_is_gone_is_shown_or_told() {
    let before = stacks(Unit::Samples, &[("main;gone", 90), ("main;keep", 10)]);
    let after = stacks(Unit::Samples, &[("main;keep", 10)]);
    let gone = "<title>gone (90 samples -&gt; 0 samples, -90 samples, gone; ";
    assert!(diff(&before, &after, "flame", &[]).contains(gone));
    assert!(diff(&before, &after, "flame", &["--show", "before"]).contains(gone));
    let svg = diff(&before, &after, "flame", &["--show", "after"]);
    assert!(!svg.contains(gone) && svg.contains("widths of AFTER; 90 samples of BEFORE have no place in it"));
    let json = diff(&before, &after, "json", &[]);
    assert!(json.contains(r#"{"type":"change","set":"gone","stack":["main","gone"],"unit":"samples","before":90,"after":0,"self_before":90,"self_after":0}"#));
    assert!(json.ends_with("{\"type\":\"total\",\"unit\":\"samples\",\"before\":100,\"after\":10,\"new\":0,\"gone\":1,\"grown\":0,\"shrunk\":1}\n"));
    assert_eq!(diff(&before, &after, "folded", &[]), "main;gone 90 0\nmain;keep 10 10\n");
}

#[test]
fn normalizing_takes_the_length_out_and_is_said() {
    let before = stacks(Unit::Samples, &[("a", 30), ("b", 10)]);
    let after = stacks(Unit::Samples, &[("a", 300), ("b", 100)]);
    assert!(
        diff(&before, &after, "table", &["--normalize"]).starts_with("# no difference: 400 samples -> 400 samples\n")
    );
    let svg = diff(&before, &after, "flame", &["--normalize"]);
    assert!(svg.contains("normalized: BEFORE, 40 samples, is scaled to the total of AFTER"));
}

#[test]
fn what_differs_in_every_run_is_no_change() {
    let make = |thread: &str, tid: &str, frame: &str| {
        let mut trace = trace();
        let mut number = key("tid");
        number.kind = KeyKind::Int;
        let series = trace.series(None, Function::Count, Unit::Count, &[key("thread"), number], true);
        let keys = [trace.names.text(thread.as_bytes()), trace.names.text(tid.as_bytes())];
        let frames = [trace.names.frame(frame.as_bytes()), trace.names.frame(b"0x7f00aa")];
        trace.row(series, &keys, &frames, Value::Number(3));
        trace.finish();
        trace
    };
    let (before, after) = (make("worker-12", "4711", "db`f.part.0+0x4"), make("worker-3", "12", "db`f+0x20"));
    assert!(diff(&before, &after, "table", &[]).starts_with("# no difference: 3 count -> 3 count"));
}

#[test]
fn only_like_can_be_compared() {
    let (time, size) = (stacks(Unit::Nanoseconds, &[("a", 1)]), stacks(Unit::Bytes, &[("a", 1)]));
    assert_eq!(
        try_diff(&time, &size, "table", &[]).unwrap_err(),
        "BEFORE is in ns, AFTER in bytes: they cannot be compared"
    );
    assert!(
        try_diff(&time, &queries(&["x"]), "table", &[])
            .unwrap_err()
            .contains("BEFORE holds stacks or rows, AFTER holds queries")
    );
    assert!(try_diff(&time, &time, "nosuch", &[]).unwrap_err().contains("there are table, flame"));
    // An empty BEFORE is allowed: everything is new.
    let json = diff(&trace(), &time, "json", &[]);
    assert!(json.contains(r#""set":"new","stack":["a"],"unit":"ns","before":0,"after":1"#));
}

fn spread(counts: &[(i128, i128)]) -> Trace {
    let mut distribution = Distribution::new();
    counts.iter().for_each(|&(low, count)| distribution.add(low, low * 2, count));
    let mut trace = trace();
    let series = trace.series(Some("latency"), Function::Quantize, Unit::Microseconds, &[key("query")], false);
    let id = trace.names.text(b"SELECT 1");
    trace.row(series, &[id], &[], Value::Distribution(distribution));
    trace.finish();
    trace
}

#[test]
fn distributions_are_compared_by_bucket() {
    let (before, after) = (spread(&[(1, 5), (2, 10)]), spread(&[(2, 10), (4, 7)]));
    assert_eq!(
        diff(&before, &after, "table", &[]),
        "latency  SELECT 1
BEFORE  AFTER  CHANGE  VALUES
     5      0      -5  1 us to 2 us
    10     10       0  2 us to 4 us
     0      7      +7  4 us to 8 us
count 15 -> 17
p50 2 us to 4 us -> 2 us to 4 us
p95 2 us to 4 us -> 4 us to 8 us
p99 2 us to 4 us -> 4 us to 8 us
"
    );
    let lines: Vec<Json> =
        diff(&before, &after, "json", &[]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4, "the bucket that did not change is left out");
    assert_eq!(diff(&before, &before, "table", &[]), "# no difference\n");
    assert_eq!(diff(&before, &before, "json", &[]).lines().count(), 2);
}

proptest! {
    /// A trace and itself have no difference; the changes of self weights add up to that of the totals.
    #[test]
    fn changes_add_up(rows in prop::collection::vec(("[a-d](;[a-d]){0,4}", 1i128..100, 0i128..100), 1..20)) {
        let before: Vec<(&str, i128)> = rows.iter().map(|(path, weight, _)| (path.as_str(), *weight)).collect();
        let after: Vec<(&str, i128)> = rows.iter().map(|(path, _, weight)| (path.as_str(), *weight)).collect();
        let (before, after) = (stacks(Unit::Count, &before), stacks(Unit::Count, &after));
        prop_assert_eq!(diff(&before, &before, "json", &[]).lines().count(), 2);
        prop_assert_eq!(diff(&before, &before, "table", &[]).lines().count(), 1);
        let json = diff(&before, &after, "json", &[]);
        let lines: Vec<Json> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let sum = |name: &str| lines.iter().filter_map(|line| line[name].as_i64()).sum::<i64>();
        let total = lines.last().unwrap();
        let changed = total["after"].as_i64().unwrap() - total["before"].as_i64().unwrap();
        prop_assert_eq!(sum("self_after") - sum("self_before"), changed);
    }
}
